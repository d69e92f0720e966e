"""Each conclusion, and what it is not drawn from."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keval import schema
from keval.stats.conclusions import Conclusion, concluded
from keval.stats.reasons import ALL_ALIKE


def body(**changes: object) -> dict[str, Any]:
    """Return the body of a comparison of 30 samples that shows a difference."""
    found: dict[str, Any] = {
        "difference": 0.3, "n_paired": 30, "ci_lower": 0.1, "ci_upper": 0.5, "p": 0.01, "p_holm": 0.02,
        "family_size": 3, "p_equivalent": None, "reasons": {},
    }  # fmt: skip
    return found | changes


def aggregate(condition: str, **changes: object) -> dict[str, Any]:
    """Return the body of an aggregate of 90 tasks, all scored."""
    found: dict[str, Any] = {
        "condition": condition, "planned": 90, "scored": 90, "agent_failed": 0, "not_measured": 0, "not_done": 0,
        "mean_lower": 3.0, "mean_upper": 3.0,
    }  # fmt: skip
    return found | changes


NO_INTERVAL = {"ci_lower": None, "ci_upper": None}


@pytest.mark.parametrize(
    ("changes", "conclusion"),
    [
        ({}, "higher"),
        ({"difference": -0.3, "ci_lower": -0.5, "ci_upper": -0.1}, "lower"),
        ({"ci_lower": -0.1, "p": 0.2}, "no difference shown"),
        ({"ci_lower": 0.0, "p": 0.06}, "no difference shown"),
        ({"p": 0.0625}, "borderline"),
        ({"ci_lower": -0.01}, "borderline"),
        ({"ci_lower": -0.1, "p": 0.2, "p_equivalent": 0.04}, "no difference within margin"),
        ({"ci_lower": -0.1, "p": 0.2, "p_equivalent": 0.06}, "no difference shown"),
        ({"ci_lower": -0.1, "p": 0.2, "p_equivalent": 0.0}, "no difference within margin"),
        ({"p": 0.0}, "higher"),
        ({"p_equivalent": 0.04}, "higher"),
        ({"n_paired": 4}, "cannot tell"),
        (NO_INTERVAL | {"difference": 0.0, "p": 1.0}, "cannot tell"),
        (NO_INTERVAL | {"difference": None, "n_paired": 0, "p": None}, "cannot tell"),
        (NO_INTERVAL | {"difference": -1.0, "p": 2**-7, "n_paired": 8}, "lower"),
        (NO_INTERVAL | {"difference": 1.0, "p": 2**-4, "n_paired": 5}, "cannot tell"),
    ],
)
def test_interval_and_test_conclude_together(changes: dict[str, object], conclusion: str) -> None:
    """Higher and lower take both; where they disagree it is borderline; without an interval the test decides."""
    found = concluded(body(**changes), None, None)
    assert found["conclusion"] == conclusion
    assert ("conclusion" in found["reasons"]) == (conclusion == "cannot tell")


@pytest.mark.parametrize(("n_clusters", "few"), [(None, "30 samples"), (5, "5 clusters")])
def test_a_difference_that_is_the_same_of_every_sample_says_what_is_too_few(n_clusters: int | None, few: str) -> None:
    """It is what the test flips, not that no sample differs otherwise: of more the same amount would be shown."""
    alike = NO_INTERVAL | {"reasons": {"ci_lower": ALL_ALIKE}, "p": 2**-4, "n_clusters": n_clusters}
    why = concluded(body(**alike), None, None)["reasons"]["conclusion"]
    assert why == f"{ALL_ALIKE}, and {few} are too few to rule out chance"


@pytest.mark.parametrize(
    ("changes", "qualification"),
    [
        ({}, None),
        ({"p_holm": 0.051}, "not after adjusting for 3 comparisons"),
        ({"p_holm": None}, None),
        ({"p_holm": 0.3, "p": 0.2, "ci_lower": -0.1}, None),
    ],
)
def test_what_does_not_survive_the_adjustment_says_so(changes: dict[str, object], qualification: str | None) -> None:
    """Only a difference that is shown, of a primary metric, has something to survive."""
    assert concluded(body(**changes), None, None)["qualification"] == qualification


@pytest.mark.parametrize(("scored", "conclusion"), [(0, "cannot tell"), (1, "no difference shown")])
def test_a_condition_of_nothing_but_failures_is_like_no_other(scored: int, conclusion: str) -> None:
    """A failure counts as the least score, so it would be like one that answers everything wrong."""
    failing = aggregate("docs", scored=scored, agent_failed=90 - scored)
    assert concluded(body(ci_lower=-0.1, p=0.2), aggregate("baseline"), failing)["conclusion"] == conclusion
    assert concluded(body(), aggregate("baseline"), failing)["conclusion"] == "higher"


@pytest.mark.parametrize("state", ["not_measured", "not_done"])
@pytest.mark.parametrize(
    ("missing", "worst", "conclusion"), [(4, -0.1, "higher"), (9, -0.1, "cannot tell"), (9, 0.1, "higher")]
)
def test_more_than_a_twentieth_missing_has_to_survive_the_worst_case(
    state: str, missing: int, worst: float, conclusion: str
) -> None:
    """10 % that could turn the result round: nothing can be told; 4 %, or a better worst case: it stands."""
    lacking = aggregate("docs", scored=90 - missing, **{state: missing})
    found = concluded(body(difference_lower=worst, difference_upper=0.7), aggregate("baseline"), lacking)
    assert found["conclusion"] == conclusion
    if conclusion == "cannot tell":
        why = "answers not measured or not done: docs 10 %; they could change the result"
        assert found["reasons"]["conclusion"] == why


def test_a_missing_plan_counts_what_is_known() -> None:
    """Without a run event the share of what is missing is taken of what was seen."""
    lacking = aggregate("docs", planned=None, not_done=None, scored=45, not_measured=45, mean_lower=2.0, mean_upper=4.0)
    found = concluded(body(), aggregate("baseline"), lacking)
    assert found["reasons"]["conclusion"].startswith("answers not measured or not done: docs 50 %")


def test_what_is_not_sampled_or_not_applicable_dilutes_no_share() -> None:
    """4 of 40 answers that could be a number are missing, which is a tenth also where 160 more are planned."""
    lacking = aggregate(
        "docs", planned=200, scored=36, not_measured=4, not_sampled=100, not_applicable=60,
        mean_lower=2.9, mean_upper=3.7,
    )  # fmt: skip
    found = concluded(body(), aggregate("baseline"), lacking)
    assert found["reasons"]["conclusion"].startswith("answers not measured or not done: docs 10 %")


@given(st.floats(-4, 4), st.floats(-4, 4), st.floats(0, 1), st.floats(0, 1) | st.none())
def test_the_order_of_two_conditions_never_matters(
    one: float, other: float, p: float, equivalent: float | None
) -> None:
    """With the conditions exchanged the conclusion is the opposite one, and no conclusion contradicts its interval."""
    lower, upper = sorted((one, other))
    given_so = body(difference=(lower + upper) / 2, ci_lower=lower, ci_upper=upper, p=p, p_equivalent=equivalent)
    exchanged = given_so | {"difference": -given_so["difference"], "ci_lower": -upper, "ci_upper": -lower}
    found, back = (concluded(each, None, None)["conclusion"] for each in (given_so, exchanged))
    assert back == {"higher": "lower", "lower": "higher"}.get(found, found)
    assert (found == "higher") == (lower > 0 and p <= 0.05)


def test_the_schema_has_the_same_conclusions() -> None:
    """What an event may say is what can be concluded."""
    assert tuple(schema.document("comparison")["properties"]["conclusion"]["enum"]) == get_args(Conclusion)
