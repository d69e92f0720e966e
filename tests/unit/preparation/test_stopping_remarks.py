"""Properties of what is said before a run that stops when decided."""

from __future__ import annotations

from dataclasses import replace

from keval.preparation.stopping_remarks import remarks
from keval.stats.recorded_rule import Member, RecordedRule
from keval.stats.stopping_rule import StoppingRule

FIVE_POINTS = Member("docs", "c", "rubric", "j", "accuracy", 1, 5, 0.2)
RULE = RecordedRule(StoppingRule(1), "none", "b", "a", 80, 1, 0, "sha", (FIVE_POINTS,))


def said(rule: RecordedRule) -> str:
    """Return all that is said of a rule."""
    return "\n".join(remarks(rule))


def test_a_margin_that_takes_more_than_the_dataset_has_is_named() -> None:
    """Equality within 0.2 on a scale of five points takes 121 samples, and with 121 nothing is said of it."""
    assert "margin 0.2 on a scale of 1 to 5 needs at least 121 samples; the dataset has 80" in said(RULE)
    assert "needs at least" not in said(replace(RULE, samples=121))


def test_few_samples_never_stop_early() -> None:
    """Nine samples are the fewest that decide anything: with nine there is nothing to save."""
    assert "cannot stop early: not even the largest difference is decided before 9 samples" in said(
        replace(RULE, samples=9)
    )


def test_what_it_costs_not_to_stop_is_said_in_power() -> None:
    """Half of alpha makes intervals wider; a smaller share costs less, all of it leaves no ordinary test."""
    assert "1.15 times as wide" in said(RULE)
    assert "is found in 71%" in said(RULE)
    sparing = replace(RULE, rule=StoppingRule(1, early_share=0.2))
    assert "is found in 77%" in said(sparing)
    assert "no ordinary test" in said(replace(RULE, rule=StoppingRule(1, early_share=1)))


def test_without_a_margin_equality_costs_all() -> None:
    """Who declares no margin is told what conditions that are alike cost."""
    assert "without a margin" in said(replace(RULE, family=(replace(FIVE_POINTS, margin=None),)))
