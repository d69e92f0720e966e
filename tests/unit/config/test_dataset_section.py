"""What a config says of a dataset is checked before the dataset is read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from keval.config.model import DatasetConfig
from keval.config.reader import load
from keval.datasets import Draw
from keval.errors import InputError

CONFIG = """\
name: demo
agent: {{type: echo}}
conditions: {{plain: {{system_prompt: Answer.}}}}
judge: {{type: exact_match}}
dataset:
{dataset}
"""


def dataset(folder: Path, text: str) -> DatasetConfig:
    """Return the dataset of a config with this section."""
    for name in ("q.csv", "q.jsonl"):
        (folder / name).touch()
    path = folder / "eval.yaml"
    path.write_text(CONFIG.format(dataset="\n".join(f"  {line}" for line in text.splitlines())))
    return load(path, environ={}).datasets[0]


def test_rules_columns_and_a_draw_are_read(tmp_path: Path) -> None:
    """A file without a header becomes samples by what the config says alone."""
    read = dataset(
        tmp_path,
        "path: q.csv\ncolumns: [q, A, B, right]\ndraw: {samples: 10.0, seed: 0.0, evenly_by: subject}\n"
        'fields:\n  question: "{q} $${{x}} (A) {A}"\n  answer: {field: right}\n  choices: ["{A}", "{B}"]',
    )
    record = {"q": "Why?", "A": "a", "B": "b", "right": "A"}
    made, problems = read.layout.mapped(record, 1)
    assert (made["question"], made["answer"], made["choices"], problems) == ("Why? ${x} (A) a", "A", ["a", "b"], [])
    assert (read.layout.columns, repr(read.layout.draw)) == (
        ("q", "A", "B", "right"),
        repr(Draw(10, evenly_by="subject")),  # 10.0 and 0.0 would draw others
    )


def test_samples_that_belong_together_have_their_cluster_as_a_field(tmp_path: Path) -> None:
    """The field keeps its own name, too; a record that lacks it is in no cluster, which is a mistake."""
    layout = dataset(tmp_path, "path: q.jsonl\ncluster_key: document").layout
    made, problems = layout.mapped({"question": "Why?", "answer": "So.", "document": 7}, 1)
    assert (made["cluster"], made["document"], problems) == (7, 7, [])
    for value, said in ((None, "must be a text or a number"), (" ", "is not blank"), (["a"], "must be a text")):
        (problem,) = layout.mapped({"question": "Why?", "document": value}, 1)[1]
        assert problem.startswith("document (the cluster): ")
        assert said in problem
    missing = "document (the cluster): missing; the record's fields: 'question'; every sample belongs to one"
    assert layout.mapped({"question": "Why?"}, 1)[1] == [missing]
    assert layout.mapped({"document": "a", "cluster": "b"}, 1)[1] == [
        (
            "cluster: cluster_key makes a field of this name out of 'document', but the record has one of its own; "
            "rename the record's, or write `cluster_key: cluster`, which takes its values"
        )
    ]


def test_a_path_to_a_cluster_is_refused_with_the_field_to_make_of_it(tmp_path: Path) -> None:
    """It is not missing; what the message says, written into the config, gives the samples their cluster."""
    record = {"question": "Why?", "doc": 1, "meta": {"doc": "a"}}
    assert dataset(tmp_path, "path: q.jsonl\ncluster_key: meta.doc").layout.mapped(record, 1)[1] == [
        (
            "meta.doc (the cluster): stands inside a field, and cluster_key names a field: "
            "`fields: {meta_doc: {field: meta.doc}}` makes meta_doc one"
        )
    ]
    mended = "path: q.jsonl\ncluster_key: meta_doc\nfields: {meta_doc: {field: meta.doc}}"
    made, problems = dataset(tmp_path, mended).layout.mapped(record, 1)
    assert (made["cluster"], problems) == ("a", [])


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ('path: q.jsonl\nfields: {question: "{q"}', "7: $.dataset.fields.question: expected '}' before end"),
        ("path: q.jsonl\nfields: {answer: {feild: a}}", "unknown key 'feild'; did you mean 'field'?"),
        ("path: q.jsonl\nfields: {answer: {field: 'a['}}", "7: $.dataset.fields.answer: 'a[' is not a path"),
        ("path: q.jsonl\nfields: {answer: 7}", "7: $.dataset.fields.answer: expected a string"),
        ("path: q.jsonl\nfields: {answer: x}\nanswer_key: gold", "$.dataset.fields.answer: answer_key says where"),
        ("path: q.jsonl\ncolumns: [a]", "$.dataset.path: columns: a jsonl file names its fields itself"),
        ("path: q.csv\ndraw: {evenly_by: a}", "$.dataset.draw: 'samples' is missing"),
        ("path: q.csv\ndraw: {samples: 0}", "$.dataset.draw.samples: 0 is less than 1"),
    ],
)
def test_what_cannot_work_is_said_with_its_line(tmp_path: Path, section: str, message: str) -> None:
    """A mistake in a rule is a mistake in the config, not one in each record."""
    with pytest.raises(InputError) as caught:
        dataset(tmp_path, section)
    assert message in str(caught.value)


def test_a_folder_in_the_place_of_a_file_is_one_problem(tmp_path: Path) -> None:
    """That it has no ending that could be read is no second one."""
    with pytest.raises(InputError) as found:
        dataset(tmp_path, "path: ./")
    assert len(found.value.problems) == 2, "the problem, and how many there are"
    assert "is a folder" in str(found.value)


def test_a_pipe_is_no_dataset(tmp_path: Path) -> None:
    """Such as a shell's <(…): what was read from it once is gone, and resuming asks for it again."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError) as found:
        dataset(tmp_path, "path: pipe")
    assert len(found.value.problems) == 2, "the problem, and how many there are"
    assert "pipe is a pipe or a device, and a dataset is read more than once" in str(found.value)
