"""Scores of one imported file count beside those of another one that has more, or other, fields of its samples."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from keval import projections
from keval.config.import_mapping import load
from keval.execution.importing import AnswerFile, import_answers
from keval.ids import JsonObject
from keval.logs.writer import open_log

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


def imported(folder: Path, answers: list[JsonObject]) -> tuple[int, list[str]]:
    """Import rows into one log; return how many events that were, and what was warned of."""
    path, mapping, log = folder / "rows.jsonl", folder / "mapping.yaml", folder / "log.jsonl"
    said: list[str] = []
    path.write_bytes(b"".join(map(orjson.dumps, answers)).replace(b"}{", b"}\n{"))
    mapping.write_text(MAPPING)
    events = AnswerFile(path, load(mapping, {}, "saved")).events()
    with open_log(log, ("generate",), said.append) as sink:
        new, _ = import_answers(events, sink, log, said.append)
    return new, said


def means(folder: Path) -> dict[str, float | None]:
    """Return the mean of each condition."""
    with projections.connect([folder / "log.jsonl"]) as connection:
        return dict(connection.execute("select condition, mean from condition_scores").fetchall())


def test_scores_stay_where_another_file_has_another_field(tmp_path: Path) -> None:
    """A field that nobody judged by, such as what a solver wrote, outdates no score, and importing again nothing."""
    first, second = rows("a", [1, 1, 0]), rows("b", [0, 1, 0], tries="2")
    imported(tmp_path, first)
    assert imported(tmp_path, second) == (1 + 3 * 3, [])  # a run; of each row a change, a response and a judgment
    assert means(tmp_path) == pytest.approx({"a": 2 / 3, "b": 1 / 3})
    lines = [orjson.loads(line) for line in (tmp_path / "log.jsonl").read_bytes().splitlines()]
    assert {tuple(each["changed"]) for each in lines if each["type"] == "sample_change"} == {("tries",)}
    assert [imported(tmp_path, again) for again in (first, second)] == [(0, []), (0, [])]


def test_it_is_said_where_another_golden_answer_outdates_scores(tmp_path: Path) -> None:
    """They were given for another answer, and no number says so."""
    imported(tmp_path, rows("a", [1, 1]))
    _, (said,) = imported(tmp_path, rows("b", [0, 1], answer="other"))
    assert said.startswith("the golden answer of 2 samples (q0, q1) is another one than in the log: of the scores")
    assert means(tmp_path) == {"a": None, "b": 0.5}
