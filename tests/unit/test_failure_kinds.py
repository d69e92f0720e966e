from __future__ import annotations

from typing import get_args

import orjson
import pytest

from keval import failure_kinds, schema
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


def test_the_view_has_a_row_for_each_kind_and_stage() -> None:
    """A join on kind and stage finds one row: a kind of two stages stands twice, with the same of everything else."""
    rows = failure_kinds.view_rows()
    assert {len(row) for row in rows} == {len(failure_kinds.VIEW_COLUMNS)}
    assert [row[:2] for row in rows if row[0] == "budget"] == [("budget", "generate"), ("budget", "judge")]
    assert len({row[:2] for row in rows}) == len(rows)
