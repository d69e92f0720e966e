"""Each example works when its folder is copied anywhere, on files in the formats of the published ones."""

from __future__ import annotations

import asyncio
import gzip
import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest
from ruamel.yaml import YAML

from keval import datasets
from keval.config.reader import load
from keval.datasets import Layout
from keval.documents.mapping import rule
from keval.ids import JsonObject
from keval.processes import environment, servers

EXAMPLES = Path(__file__).parent.parent / "examples"
BENCHMARKS = ("gsm8k", "humaneval", "mmlu")

MMLU_PARQUET = (
    r'question: "{question}\n(A) {choices[0]}\n(B) {choices[1]}\n(C) {choices[2]}\n(D) {choices[3]}"',
    "answer: {field: answer, choices: ABCD}",
)
"""What a comment of the example says to write for MMLU's Parquet files."""

ANSWERER = """\
import json, pathlib, sys
answers = json.loads((pathlib.Path(__file__).parent / "answers.json").read_text())
print(answers[json.load(sys.stdin)["question"]], end="")
"""
"""An agent that knows some answers by heart."""

Keval = Callable[..., "subprocess.CompletedProcess[str]"]


def copied(name: str, folder: Path) -> Path:
    """Return a copy of an example's folder, far from the others."""
    return Path(shutil.copytree(EXAMPLES / name, folder / "elsewhere"))


def samples(folder: Path) -> tuple[JsonObject, ...]:
    """Return the samples of the config in a folder."""
    (dataset,) = load(folder / "eval.yaml", environ={}).datasets
    return tuple(datasets.read(dataset.path, dataset.layout).samples)


@pytest.mark.parametrize("name", ["gsm8k", "humaneval", "mmlu", "wikipedia"])
def test_an_example_is_valid_wherever_it_lies(name: str, tmp_path: Path) -> None:
    """Its config names nothing outside of its folder, and each record becomes a sample."""
    assert len(samples(copied(name, tmp_path))) >= 3


@pytest.mark.slow
@pytest.mark.parametrize("name", BENCHMARKS)
def test_right_answers_score_and_wrong_ones_do_not(name: str, tmp_path: Path, keval: Keval) -> None:
    """Run as it is but for the agent, which knows all golden answers and gives the last one to another question."""
    folder = copied(name, tmp_path)
    found = samples(folder)
    answers = {sample["question"]: sample["answer"] for sample in found}
    (folder / "answers.json").write_text(json.dumps({**answers, found[-1]["question"]: "not at all"}))
    (folder / "answerer.py").write_text(ANSWERER)
    config = YAML(typ="safe").load(folder / "eval.yaml")
    config["agent"] = {"type": "command", "command": ["python", "{folder}/answerer.py"]}
    (folder / "eval.yaml").write_text(json.dumps(config))
    log = folder / "run.jsonl"
    done = keval("run", folder / "eval.yaml", "-o", log, "-q")
    assert done.returncode == 0, done.stderr
    judgments = [event for event in map(json.loads, log.read_text().splitlines()) if event["type"] == "judgment"]
    scores = {event["sample_id"]: score["score"] for event in judgments for score in event["scores"].values()}
    assert scores == {sample["id"]: float(sample is not found[-1]) for sample in found}


def test_gsm8ks_golden_answer_is_the_number_alone(tmp_path: Path) -> None:
    """The calculation is kept as the reference; commas and the marker are gone, and a sign stays."""
    found = samples(copied("gsm8k", tmp_path))
    assert [sample["answer"] for sample in found] == ["36", "1800", "72", "-12", "24"]
    assert all(sample["reference"].splitlines()[-1].startswith("#### ") for sample in found)


def test_mmlus_choices_are_in_the_question(tmp_path: Path) -> None:
    """The agent is asked with all four, and the golden answer is the letter."""
    first, *_ = samples(copied("mmlu", tmp_path))
    assert first["question"].splitlines()[1:] == ["(A) Venus", "(B) Mercury", "(C) Mars", "(D) The Moon"]
    assert (first["id"], first["answer"], first["choices"][1]) == ("astronomy-1", "B", "Mercury")


def test_mmlus_parquet_files_give_the_same_samples(tmp_path: Path) -> None:
    """There the choices are a list and the answer a number from 0: the rules in the config's comment carry them."""
    folder = copied("mmlu", tmp_path)
    from_csv = samples(folder)
    path = folder / "test.parquet"
    rows = [
        (sample["question"].splitlines()[0], "astronomy", sample["choices"], "ABCD".index(sample["answer"]))
        for sample in from_csv
    ]
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t (question VARCHAR, subject VARCHAR, choices VARCHAR[], answer BIGINT)")
        connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", rows)
        connection.execute(f"COPY t TO '{path}'")
    assert all(f"  #   {line}\n" in (folder / "eval.yaml").read_text() for line in MMLU_PARQUET)
    fields = YAML(typ="safe").load("\n".join(["id: '{subject}-{@row}'", *MMLU_PARQUET]))
    read = datasets.read(path, Layout(fields={name: rule(written) for name, written in fields.items()}))
    of_both = ("id", "question", "choices", "answer")
    assert [[sample[name] for name in of_both] for sample in read.samples] == [
        [sample[name] for name in of_both] for sample in from_csv
    ]


def test_humaneval_is_read_packed_as_it_is_published(tmp_path: Path) -> None:
    """`HumanEval.jsonl.gz` in the config's place of `HumanEval.jsonl` gives the same samples, tests included."""
    folder = copied("humaneval", tmp_path)
    plain = samples(folder)
    (folder / "HumanEval.jsonl.gz").write_bytes(gzip.compress((folder / "HumanEval.jsonl").read_bytes()))
    (folder / "HumanEval.jsonl").unlink()
    config = folder / "eval.yaml"
    config.write_text(config.read_text().replace("path: HumanEval.jsonl", "path: HumanEval.jsonl.gz"))
    assert samples(folder) == plain
    assert all(sample["question"] == sample["prompt"] for sample in plain)


@pytest.mark.slow
def test_the_encyclopedia_is_ready_and_has_what_is_expected(tmp_path: Path) -> None:
    """Started as the config says it offers two tools, and every expected source is a page whose text has the answer."""
    folder = copied("wikipedia", tmp_path)
    written = load(folder / "eval.yaml", environ={}).mcp_servers["wiki"]
    launchable = {"wiki": servers.launchable(written, folder)}
    infos = asyncio.run(servers.inspect(launchable, {}, environment.allowed(os.environ), timeout_s=60))
    assert (infos["wiki"].error, infos["wiki"].tools) == (None, ("wikipedia_search", "get_page"))
    for sample in samples(folder):
        pages = [folder / "pages" / f"{title.replace(' ', '_')}.md" for title in sample["expected_sources"]]
        assert sample["answer"].removeprefix("the ") in " ".join(page.read_text() for page in pages)


@pytest.mark.slow
def test_the_encyclopedia_is_searched_in_a_mock_run(tmp_path: Path, keval: Keval) -> None:
    """The real agent calls the server's tool under one condition, and nothing fails."""
    folder = copied("wikipedia", tmp_path)
    log = folder / "run.jsonl"
    done = keval("run", folder / "eval.yaml", "--mock", "--limit", "1", "-o", log, "-q")
    assert done.returncode == 0, done.stderr
    asked = keval("sql", log, "SELECT DISTINCT condition, name FROM tool_calls", "-f", "json")
    assert "wikipedia_search" in asked.stdout
    assert '"memory"' not in asked.stdout
