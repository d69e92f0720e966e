from __future__ import annotations

import orjson
from hypothesis import given
from hypothesis import strategies as st

from keval import schema
from keval.preparation.plan_events import MOST_IN_A_PART, plan_events, plan_id


@given(st.integers(1, 3 * MOST_IN_A_PART))
def test_the_parts_together_are_the_plan(number: int) -> None:
    """Each question stands in exactly one part, in order, and no part is longer than a line should be."""
    questions = [f"q{position}" for position in range(number)]
    parts = list(plan_events(plan_id(questions), questions, "run"))
    assert [question for part in parts for question in part["question_ids"]] == questions
    assert [part["part"] for part in parts] == list(range(1, parts[0]["parts"] + 1))
    assert max(len(part["question_ids"]) for part in parts) <= MOST_IN_A_PART


def test_a_part_is_a_valid_event_that_is_made_from_its_content() -> None:
    """The same plan gives the same ids in every run; another order is another plan."""
    questions = ["a" * 24, "b" * 24]
    (one,), (other,) = (list(plan_events(plan_id(questions), questions, run)) for run in ("r1", "r2"))
    assert schema.event_problem(orjson.loads(orjson.dumps(one))) is None
    assert one["id"] == other["id"]
    assert plan_id(questions) != plan_id(questions[::-1])
