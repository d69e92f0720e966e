"""Scores of one imported file count beside those of another one that has more, or other, fields of its samples."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from keval import projections
from keval.config.import_mapping import load
from keval.ids import JsonObject
from keval.imports.changes import ImportedChanges
from keval.imports.importing import AnswerFile, import_answers
from keval.logs.writer import open_log
from keval.processes.disk_map import DiskMap
from keval.reports.builder import compose
from tests.builders import ask, judgment_event, response_event

MAPPING = """
sample: {id: "{id}", question: "{question}", answer: "{answer}", tries: "{tries}"}
response: {text: "{text}", condition: "{model}"}
judges: [{name: tool, metrics: {match: {score: {field: match}, min: 0, max: 1}}}]
"""


def rows(model: str, scores: list[int], **fields: object) -> list[JsonObject]:
    """Return an answer of a model to each of some questions, with its score."""
    return [
        {"id": f"q{n}", "question": f"{n}+1?", "answer": str(n + 1), "text": "2", "model": model, "match": score,
         "tries": "1", **fields}
        for n, score in enumerate(scores)
    ]  # fmt: skip


def imported(folder: Path, answers: list[JsonObject], mapped: str = MAPPING) -> tuple[int, list[str]]:
    """Import rows into one log; return how many events that were, and what was warned of."""
    path, mapping, log = folder / "rows.jsonl", folder / "mapping.yaml", folder / "log.jsonl"
    said: list[str] = []
    path.write_bytes(b"".join(map(orjson.dumps, answers)).replace(b"}{", b"}\n{"))
    mapping.write_text(mapped)
    events = AnswerFile(path, load(mapping, {}, "saved")).events()
    with open_log(log, ("generate",), said.append) as sink:
        new, _ = import_answers(events, sink, log, said.append)
    return new, said


def means(folder: Path) -> dict[str, float | None]:
    """Return the mean of each condition."""
    rows = ask(folder / "log.jsonl", "select condition, mean from condition_scores")
    return {row["condition"]: row["mean"] for row in rows}


def test_scores_stay_where_another_file_has_another_field(tmp_path: Path) -> None:
    """A field that nobody judged by, such as what a solver wrote, outdates no score, and importing again nothing."""
    first, second = rows("a", [1, 1, 0]), rows("b", [0, 1, 0], tries="2")
    imported(tmp_path, first)
    assert imported(tmp_path, second) == (1 + 3 * 3, [])  # a run; of each row a change, a response and a judgment
    assert means(tmp_path) == pytest.approx({"a": 2 / 3, "b": 1 / 3})
    lines = [orjson.loads(line) for line in (tmp_path / "log.jsonl").read_bytes().splitlines()]
    changes = [each for each in lines if each["type"] == "sample_change"]
    assert {tuple(each["changed"]) for each in changes} == {("tries",)}
    assert len({each["id"] for each in changes}) == 3
    assert [imported(tmp_path, again) for again in (first, second)] == [(0, []), (0, [])]


def test_a_record_that_changed_is_noted_once(tmp_path: Path) -> None:
    """Before the first answer that has it, be it in this file or in one that an earlier import brought."""
    imported(tmp_path, rows("a", [1]))
    new, _ = imported(tmp_path, [*rows("b", [1], tries="2"), *rows("c", [1], tries="2")])
    assert new == 1 + 1 + 2 * 2  # a run, a change; of each row a response and a judgment
    assert imported(tmp_path, rows("d", [1], tries="2"))[0] == 1 + 2


def test_it_is_said_where_another_golden_answer_outdates_scores(tmp_path: Path) -> None:
    """They were given for another answer, and no number says so."""
    imported(tmp_path, rows("a", [1, 1, 1, 1]))
    _, (said,) = imported(tmp_path, rows("b", [0, 1, 1, 1], answer="other"))
    assert said.startswith(
        "4 samples (q0, q1, q2, q3) of this file and of the log differ in the golden answer, which tool"
    )
    assert means(tmp_path) == {"a": None, "b": 0.75}


@pytest.mark.parametrize("fields", [["question", "tries"], None])
def test_it_is_said_where_a_field_that_a_judge_of_the_log_was_given_outdates_scores(fields: list[str] | None) -> None:
    """Judges that were given all fields of a sample judged by this one, too."""
    changes = ImportedChanges(DiskMap())
    response = response_event(sample={"id": "q1", "question": "?", "answer": "!", "tries": "1"})
    for event in (response, judgment_event(response, 3, sample_fields=fields)):
        changes.take(event)
    assert list(changes.warnings()) == []
    later = response_event("q1", "b", sample={**response["sample"], "tries": "2"} | ({"new": 1} if fields else {}))
    assert changes.change_before(later) is not None
    (said,) = changes.warnings()
    assert said.startswith("1 sample (q1) of this file and of the log differs in tries, which rubric judged by")


@pytest.mark.slow
def test_an_earlier_file_that_is_imported_again_counts_again(tmp_path: Path) -> None:
    """Its plan, its judge's scale and its golden answers: what the log has since takes its place no longer."""
    whole, part, other = rows("a", [1, 0, 0]), rows("a", [1]), rows("a", [0, 0, 1], answer="other")
    for _ in range(2):
        assert imported(tmp_path, whole)[0] > 0
        assert means(tmp_path) == {"a": pytest.approx(1 / 3)}
        assert imported(tmp_path, whole) == (0, [])
        assert imported(tmp_path, part)[0] > 0
        assert means(tmp_path) == {"a": 1}
        imported(tmp_path, other)
        assert means(tmp_path) == {"a": pytest.approx(1 / 3)}
        imported(tmp_path, whole, MAPPING.replace("max: 1", "max: 2"))
        assert means(tmp_path) == {"a": pytest.approx(1 / 3)}


def test_an_earlier_file_counts_again_after_its_golden_answers_went_and_came_back(tmp_path: Path) -> None:
    """Its scores were outdated meanwhile, and what came back is another record, as in what a solver wrote."""
    first = rows("a", [0, 0], tries="2")
    imported(tmp_path, first)
    for answer in ("other", "1"):
        changed = rows("b", [0, 0])
        changed[0]["answer"] = answer
        imported(tmp_path, changed)
    query = "select scored, not_done from condition_scores where current and condition = 'a'"
    assert ask(tmp_path / "log.jsonl", query) == [{"scored": 1, "not_done": 1}]
    assert imported(tmp_path, first) == (1, [])
    assert ask(tmp_path / "log.jsonl", query) == [{"scored": 2, "not_done": 0}]
    assert imported(tmp_path, first) == (0, [])


def test_another_mapping_takes_the_place_of_the_one_before_under_its_own_condition_alone(tmp_path: Path) -> None:
    """A file that is imported anew with a corrected scale has no scores of both; the judge still counts elsewhere."""
    for condition, mapping in (("a", MAPPING), ("b", MAPPING), ("a", MAPPING.replace("max: 1", "max: 2"))):
        imported(tmp_path, rows(condition, [1]), mapping)
    scales = ask(tmp_path / "log.jsonl", "select condition, max, mean from condition_scores order by all")
    assert scales == [{"condition": "a", "max": 2, "mean": 1}, {"condition": "b", "max": 1, "mean": 1}]
    with projections.connect([tmp_path / "log.jsonl"]) as connection:
        told = [warning.text for warning in compose(connection).warnings if warning.code == "older_judges"]
    assert [text.partition(": ")[2] for text in told] == ["1 (tool 1); --all takes them"]


def test_the_order_of_metrics_makes_no_other_judge(tmp_path: Path) -> None:
    """Tools write scores in the order in which they come."""
    both = "metrics: {match: {score: {field: match}, min: 0, max: 1}, n: {score: {field: n}, min: 0, max: 1}}"
    turned = "metrics: {n: {score: {field: n}, min: 0, max: 1}, match: {score: {field: match}, min: 0, max: 1}}"
    begin = MAPPING.partition("metrics:")[0]
    imported(tmp_path, rows("a", [1], n=1), f"{begin}{both}}}]")
    assert imported(tmp_path, rows("b", [1], n=1), f"{begin}{turned}}}]")[1] == []


def test_another_metric_of_a_judge_is_said(tmp_path: Path) -> None:
    """An import tells of it: the scores of two judges are compared nowhere."""
    imported(tmp_path, rows("a", [1]))
    _, (said,) = imported(tmp_path, rows("b", [1]), MAPPING.replace("match: {score", "words: {score"))
    assert said.startswith("the judge tool has words from 0 to 1 here, and match from 0 to 1 in the log")
