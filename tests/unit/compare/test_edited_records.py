from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from keval import ids, projections
from keval.compare.edited_records import LeftOut, leave_out_edited_records, records_of
from keval.compare.side_by_side import put_side_by_side
from keval.ids import JsonObject
from keval.projections import rows
from keval.projections.log_file import as_log_file
from tests.builders import JUDGE_ID, judge_entry, judgment_event, response_event, run_event, write_log

BLIND = "f" * 24
"""The id of a judge that is given the question alone."""

ANSWER, TOPIC = (LeftOut(field, frozenset({JUDGE_ID})) for field in ("answer", "topic"))

GOLDEN = ["question", "answer"]
"""What most judges are given."""


def written(path: Path, edited: Mapping[str, object], given: Sequence[str] | None) -> Path:
    """Write a log of two samples, the second with these fields, and two judges, of which one is given some, or all."""
    judges = [judge_entry(), judge_entry(judge_id=BLIND, name="blind")]
    events: list[JsonObject] = [run_event(["docs"], judges=judges)]
    for name in ("q1", "q2"):
        answer = response_event(name, "docs")
        record = answer["sample"] | (edited if name == "q2" else {})
        answer |= {"sample": record, "sample_sha256": ids.sample_sha256(record)}
        blindly = judgment_event(answer, 4, judge_id=BLIND, sample_fields=["question"])
        events += [answer, judgment_event(answer, 3, sample_fields=given), blindly]
    return write_log(path, events)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("edited", "given", "told", "kept"),
    [
        (
            {"answer": "Other."},
            GOLDEN,
            {"q2": ANSWER},
            {(JUDGE_ID, "q1"), (BLIND, "q1"), (BLIND, "q2")},
        ),
        ({"topic": None}, None, {"q2": TOPIC}, {(JUDGE_ID, "q1"), (BLIND, "q1"), (BLIND, "q2")}),
        ({"question": "How?"}, GOLDEN, {}, {(JUDGE_ID, "q1"), (JUDGE_ID, "q2"), (BLIND, "q1"), (BLIND, "q2")}),
        ({"topic": "law"}, GOLDEN, {}, {(JUDGE_ID, "q1"), (JUDGE_ID, "q2"), (BLIND, "q1"), (BLIND, "q2")}),
    ],
)
def test_a_sample_is_left_out_for_the_judges_that_are_given_what_was_edited(
    tmp_path: Path, edited: JsonObject, given: list[str] | None, told: dict[str, LeftOut], kept: set[tuple[str, str]]
) -> None:
    """Which fields these are is told; what nobody is given may be edited."""
    logs = [as_log_file(written(tmp_path / f"{n}.jsonl", fields, given)) for n, fields in enumerate(({}, edited))]
    with projections.connect(logs, apart=True) as connection:
        put_side_by_side(connection, ("one", "other"), [(1, "docs", 2, "docs")])

        def records(number: int, names: Sequence[str]) -> dict[str, JsonObject]:
            return records_of(connection, f"log_{number}.samples", names)

        assert leave_out_edited_records(connection, 1, 2, records) == told
        assert {(row["judge_id"], row["sample_id"]) for row in rows(connection, "from sample_means")} == kept
