from __future__ import annotations

from pathlib import Path
from typing import get_args

import orjson
import pytest

from keval import failure_kinds, projections, schema
from keval.failure_kinds import FAILURE_KINDS, AgentFailureKind, FailureKind, JudgeFailureKind


def test_each_kind_has_one_row() -> None:
    """No kind stands in the table twice, so every question about a kind has one answer."""
    assert len(set(failure_kinds.NAMES)) == len(FAILURE_KINDS)


@pytest.mark.parametrize(("stage", "raised"), [("generate", AgentFailureKind), ("judge", JudgeFailureKind)])
def test_what_a_stage_can_raise_is_what_the_table_says(stage: str, raised: object) -> None:
    """Type checkers know the kinds of a stage that the table has, `budget` aside, which no plug-in raises."""
    assert {row.kind for row in FAILURE_KINDS if stage in row.stages and row.fault != "budget"} == set(get_args(raised))


def test_every_schema_takes_the_kinds_from_one_list() -> None:
    """The kinds stand in one schema alone, in the table's order: the others refer to it."""
    having = [name for name in [*schema.names(), "parts"] if '"judge_invalid"' in schema.text(name)]
    assert having == ["parts"]
    assert orjson.loads(schema.text("parts"))["$defs"]["failure_kind"]["enum"] == list(failure_kinds.NAMES)


@pytest.mark.parametrize("row", FAILURE_KINDS, ids=lambda row: row.kind)
def test_people_are_told_what_happened_and_what_to_do(row: FailureKind) -> None:
    """Each kind has its words, which stand in docs/concepts.md as they are in the table."""
    page = (schema.locate().parent / "docs" / "concepts.md").read_text(encoding="utf-8")
    assert row.happened
    assert f"| `{row.kind}` | {row.happened} |" in page
    assert row.next_step in page


@pytest.mark.slow
def test_the_view_is_the_table_with_a_row_for_each_stage(tmp_path: Path) -> None:
    """A query finds each kind as the table has it, once for each of its stages: a join on both finds one row."""
    log = tmp_path / "empty.jsonl"
    log.touch()
    with projections.connect([log]) as connection:
        found = list(projections.rows_of(connection, "failure_kinds"))
    expected = [
        {name: value for name, value in row._asdict().items() if name != "stages"} | {"stage": stage}
        for row in FAILURE_KINDS
        for stage in row.stages
    ]
    assert found == expected
    assert len({(row["kind"], row["stage"]) for row in found}) == len(found) == len(FAILURE_KINDS) + 1
