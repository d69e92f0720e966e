"""Between what a difference lies, whatever its missing answers would have scored."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from statistics import fmean

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from keval import projections
from keval.ids import JsonObject
from keval.preparation.tasks import question_id
from tests.builders import (
    ask,
    failure_event,
    judgment_event,
    plan_event,
    response_event,
    run_event,
    sample,
    write_log,
)

LOWEST, HIGHEST = 1, 5
LOST, UNTRIED, NOT_ASKED = "lost", "untried", "not asked"
States = Mapping[int, float | str]
"""What becomes of each sample under a condition: its score, or why there is none."""

states = st.dictionaries(
    st.integers(0, 5), st.one_of(st.integers(LOWEST, HIGHEST), st.sampled_from([LOST, UNTRIED])), max_size=6
)


def of_condition(name: str, found: States) -> list[JsonObject]:
    """Return the events of a condition, which was imported by itself: its plan has no other samples than its own."""
    asked = [sample(f"q{number}") for number in sorted(found)]
    plan = plan_event([question_id(each) for each in asked])
    events = [
        run_event([name], samples=len(found), command="import", config_name="saved", plan_id=plan["plan_id"]),
        plan,
    ]
    for number, state in found.items():
        answer = response_event(f"q{number}", name)
        if not isinstance(state, str):
            events += [answer, judgment_event(answer, state)]
        elif state == LOST:
            events.append(failure_event(answer, "infra_error"))
    return events


def bounds(folder: Path, baseline: States, condition: States) -> tuple[float | None, ...]:
    """Return the bounds that the log of two conditions gives."""
    log = write_log(folder / "log.jsonl", [*of_condition("baseline", baseline), *of_condition("docs", condition)])
    ((lower, upper),) = (row.values() for row in ask(log, "select difference_lower, difference_upper from comparisons"))
    return lower, upper


def expected(baseline: States, condition: States) -> tuple[float | None, ...]:
    """Return them by their definition, from the samples that both conditions are asked."""
    both = baseline.keys() & condition.keys()
    if not both or all(not isinstance(state, str) for each in (baseline, condition) for state in each.values()):
        return None, None

    def end(state: float | str, extreme: int) -> float:
        return extreme if isinstance(state, str) else state

    lower = fmean(end(condition[each], LOWEST) - end(baseline[each], HIGHEST) for each in both)
    return lower, fmean(end(condition[each], HIGHEST) - end(baseline[each], LOWEST) for each in both)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(states, states)
def test_bounds_are_those_of_the_samples_that_both_are_asked(baseline: States, condition: States) -> None:
    """What only one condition is asked moves neither end, be it scored, lost or never tried."""
    scored = [any(not isinstance(state, str) for state in each.values()) for each in (baseline, condition)]
    lone = [
        any(state == UNTRIED and number not in other for number, state in one.items())
        for one, other in ((baseline, condition), (condition, baseline))
    ]
    assume(all(scored) and not all(lone))
    with tempfile.TemporaryDirectory() as name:
        assert bounds(Path(name), baseline, condition) == pytest.approx(expected(baseline, condition))


def test_a_difference_lies_between_its_bounds(tmp_path: Path) -> None:
    """Also where one condition has samples of another kind, which only its own mean is of."""
    baseline = dict.fromkeys(range(8), 4) | dict.fromkeys(range(20, 28), 1)
    condition = {number: LOST if number > 5 else 5 for number in range(8)}
    assert bounds(tmp_path, baseline, condition) == pytest.approx(((6 - 6) / 8, (6 + 2) / 8))


@pytest.mark.parametrize("tenths", [2, 7, 8])
def test_a_worst_case_of_no_difference_is_zero(tenths: int, tmp_path: Path) -> None:
    """What the lost answers may take away is all that the others gained; float noise would be a side of it."""
    baseline = dict.fromkeys(range(20), LOWEST + 9 * tenths / 100)
    condition = {number: LOST if number > 17 else LOWEST + tenths / 10 for number in range(20)}
    assert bounds(tmp_path, baseline, condition)[0] == 0.0


def test_what_is_no_more_planned_has_its_place_where_all_counts(tmp_path: Path) -> None:
    """A later run was limited to two samples: with everything, the bounds are those of a log without it."""
    names = ("baseline", "docs")
    plans = [plan_event([question_id(sample(f"q{number}")) for number in range(size)]) for size in (8, 2)]
    runs = [
        run_event(names, samples=size, plan_id=plan["plan_id"], id=f"r{size}", run_id=f"r{size}")
        for size, plan in zip((8, 2), plans, strict=True)
    ]
    events: list[JsonObject] = [runs[0], plans[0]]
    for number in range(8):
        for name in names:
            answer = response_event(f"q{number}", name)
            lost = name == "docs" and number > 5
            events += (
                [failure_event(answer, "infra_error")]
                if lost
                else [answer, judgment_event(answer, 2 + (name == "docs"))]
            )
    query = "select difference, difference_lower, difference_upper from comparisons"
    found = []
    for more in ([], [runs[1], plans[1]]):
        log = write_log(tmp_path / "log.jsonl", [*events, *more])
        with projections.connect([log], everything=True, texts=False, tools=False) as connection:
            found.append(connection.execute(query).fetchall())
    assert found[0] == found[1] == [(1.0, pytest.approx((6 - 2) / 8), pytest.approx((6 + 6) / 8))]
