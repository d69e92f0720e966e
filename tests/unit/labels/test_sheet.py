"""What a sheet shows to a person; what is read of it when it is filled in: see test_filled_sheet.py."""

from __future__ import annotations

import json
from dataclasses import replace

from keval.labels import sheet
from keval.labels.draw import Entry

ENTRY = Entry(
    response_id="r1", judge_id="j1", judge="rubric", metric="completeness", passed=False, score=2, min=1, max=5,
    pass_from=4, reasoning="It lacks a fact.", question="Why?", golden_answer="Because.", answer="No idea.",
    tools=("search",), draw={"method": "by_verdict", "seed": 0}, judgment="j 2026-01-01T00:00:00.000Z",
)  # fmt: skip


def test_a_verdict_is_shown_with_all_that_it_is_judged_by() -> None:
    """The judge's verdict and reasons, the tools that were called, and what may be said; the condition is not told."""
    shown = sheet.markdown([ENTRY], "ada")
    for text in ("Labeler: ada", "> Why?", "> Because.", "> No idea.", "> It lacks a fact.", "**Tools called** search"):
        assert f"\n{text}" in shown
    assert "**Judge** rubric/completeness: FAILED, score 2, passes from 4" in shown
    assert [line.split(":")[0] for line in shown.splitlines() if line.startswith("- [ ] ")] == [
        "- [ ] valid_failure", "- [ ] judge_bug", "- [ ] ambiguous",
    ]  # fmt: skip


def test_a_sheet_knows_when_its_verdict_was_given() -> None:
    """A later verdict is another one. Of an answer that is scored the judge's does not matter, and is not told."""
    blind = replace(ENTRY, draw={"method": "random", "seed": 1}, asks="Is all of it there?", judgment=None)
    verdict, score = (json.loads(sheet.jsonl([entry], None)) for entry in (ENTRY, blind))
    assert (verdict["judgment"], "judgment" in score, score["asks"]) == (
        "j 2026-01-01T00:00:00.000Z",
        False,
        "Is all of it there?",
    )
