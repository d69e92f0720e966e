"""Writes down what a run plans: which questions, in parts that a log holds once.

A report counts what the newest run of a config plans. What that run event names by its `plan_id`
stands in events of type `plan`, made from their content: a run that plans the same adds none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from keval.events import event
from keval.ids import JsonObject, digest

MOST_IN_A_PART = 5_000
"""Question ids in one event: a line of some 135 kB."""


def plan_id(question_ids: Sequence[str]) -> str:
    """Return the identity of a plan: its questions, in order."""
    return digest("plan", question_ids)


def plan_events(plan: str, question_ids: Sequence[str], run_id: str) -> Iterator[JsonObject]:
    """Yield the parts of a plan as events; `plan` is its identity."""
    parts = -(-len(question_ids) // MOST_IN_A_PART)
    for part in range(1, parts + 1):
        first = (part - 1) * MOST_IN_A_PART
        yield event(
            "plan",
            digest("plan part", plan, part),
            run_id,
            plan_id=plan,
            part=part,
            parts=parts,
            question_ids=list(question_ids[first : first + MOST_IN_A_PART]),
        )
