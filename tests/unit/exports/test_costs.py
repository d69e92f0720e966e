"""Properties of the sentence that says what a difference cost."""

from __future__ import annotations

import dataclasses

from keval.exports._costs import costs
from tests.reports import small_report, summary


def said(**changes: object) -> list[str]:
    """Return the sentences of the small report with other numbers of `with_docs`."""
    conditions = (summary("baseline"), summary("with_docs", **changes))
    return list(costs(dataclasses.replace(small_report(), conditions=conditions)))


def test_what_was_gained_stands_beside_what_it_cost() -> None:
    """Money and time per answer, each with its sign and how many times as much it is."""
    (sentence,) = said(agent_cost_per_answer_usd=0.0164, median_duration_ms=500.0)
    assert sentence == (
        "with_docs beside baseline: +0.38 completeness (higher), for +$0.0082 (2.0 times the cost) and -0.50 s "
        "(0.5 times the median time) per answer."
    )


def test_what_is_not_known_is_not_said() -> None:
    """An unknown cost is never 0; of nothing known there is no sentence."""
    assert said(agent_cost_per_answer_usd=None) == [
        "with_docs beside baseline: +0.38 completeness (higher), for the same median time per answer."
    ]
    assert not said(agent_cost_per_answer_usd=None, median_duration_ms=None)


def test_nothing_is_said_to_be_no_times_as_much() -> None:
    """What is free, or nearly, is so much less, which says it all."""
    for cost in (0.0, 0.0001):
        (sentence,) = said(agent_cost_per_answer_usd=cost)
        assert "times the cost" not in sentence
        assert "for -$0.008" in sentence
