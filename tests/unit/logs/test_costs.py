from __future__ import annotations

from keval.logs.costs import Cost, MeasuredCosts, Spent
from tests.builders import JUDGE_ID, judgment_event, response_event, unasked_judgment_event


def test_only_real_and_known_costs_are_measured_each_in_its_place() -> None:
    """A mock, another agent, an unknown cost, and what nobody was asked for say nothing of what the next one costs."""
    answer = response_event("q1", cost_usd=0.25)
    costs = MeasuredCosts()
    for event in (
        answer,
        response_event("q2", cost_usd=0.75),
        response_event("q3", cost_usd=9.0, mock=True),
        response_event("q4", cost_usd=9.0, agent_id="another-agent"),
        response_event("q5", cost_usd=None),
        judgment_event(answer, cost_usd=0.125),
        unasked_judgment_event(response_event("q2")),
        judgment_event(answer, cost_usd=0.0, other_response_id=answer["id"]),
    ):
        costs.add(event)
    assert costs.of_answers(answer["agent_id"], answer["condition_id"]) == Cost(2, 1.0, 0.75)
    assert costs.of_judgments(JUDGE_ID) == Cost(1, 0.125, 0.125)
    assert costs.of_answers(answer["agent_id"], "another") is None
    assert costs.of_judgments("another") is None


def test_failed_attempts_were_paid_for_too() -> None:
    """What each cost is added up, and those whose cost nobody knows are counted."""
    spent = Spent()
    spent.add(response_event(cost_usd=1.0, failed_attempts=[{"cost_usd": 0.25}, {"cost_usd": None}]))
    assert spent == Spent(1.25, 1)
