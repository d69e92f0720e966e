from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keval.events import encode
from keval.execution.piped_pairs import PipedPairs
from keval.ids import JsonObject
from keval.preparation.pairs import Pair
from tests.builders import condition_id, response_event

BASELINE = condition_id("baseline")
CONDITIONS = ("baseline", "with_docs", "with_graph")
RESPONSES = [
    response_event(name, condition, repetition)
    for name in ("q1", "q2")
    for condition in CONDITIONS
    for repetition in (1, 2)
]


def pairs_of(*runs: tuple[Sequence[JsonObject], Sequence[str]], mock: bool = False) -> list[Pair]:
    """Return the pairs of a pipe that brings the responses of runs, each with the conditions that are in force then."""
    return list(_pairs_of(runs, mock=mock))


def _pairs_of(runs: Sequence[tuple[Sequence[JsonObject], Sequence[str]]], *, mock: bool) -> Iterator[Pair]:
    with closing(PipedPairs(mock=mock)) as pairs:
        for responses, conditions in runs:
            for response in responses:
                if pairs.add(response, encode(response)):
                    yield from pairs.completed_by(response, BASELINE, conditions)
            yield from pairs.left([BASELINE], conditions)


def later(response: JsonObject, **changes: object) -> JsonObject:
    """Return a response of another run."""
    return {**response, "run_id": "a later run", **changes}


@given(st.permutations(RESPONSES))
def test_each_response_is_paired_with_the_baselines_once_in_whatever_order_they_come(
    responses: list[JsonObject],
) -> None:
    """Also the baseline's with itself."""
    found = pairs_of((responses, [condition_id(name) for name in CONDITIONS]))
    assert sorted(str(this["id"]) for this, _ in found) == sorted(str(each["id"]) for each in RESPONSES)
    for this, other in found:
        assert other["condition_id"] == BASELINE
        assert [this[key] for key in ("question_id", "repetition")] == [
            other[key] for key in ("question_id", "repetition")
        ]


def test_a_response_that_comes_twice_stands_for_no_other() -> None:
    """The baseline's is kept for conditions that come after it, as in `cat a.jsonl b.jsonl`."""
    baseline, with_docs = response_event("q1", "baseline"), response_event("q1", "with_docs")
    found = pairs_of(([baseline, baseline, with_docs], [BASELINE, condition_id("with_docs")]))
    assert found[-1] == (with_docs, baseline)


def test_a_condition_that_a_later_run_brings_is_compared_with_the_baseline_of_an_earlier_one() -> None:
    """Whether it was edited or added, and though all conditions of the earlier run had come."""
    baseline, old = response_event("q1", "baseline"), response_event("q1", "with_docs")
    edited = later(response_event("q1", "with_docs", prompt="Look it up."))
    added = later(response_event("q1", "with_graph"))
    before = ([baseline, old], [BASELINE, old["condition_id"]])
    after = ([edited, added], [BASELINE, edited["condition_id"], added["condition_id"]])
    assert pairs_of(before, after)[-2:] == [(edited, baseline), (added, baseline)]


@pytest.mark.parametrize("mock", [False, True])
def test_a_real_response_is_compared_with_one_of_the_mock_by_the_mock_only(*, mock: bool) -> None:
    """As in a log: to whoever pays, a rehearsal's baseline is none."""
    baseline = response_event("q1", "baseline", mock=True)
    real = later(response_event("q1", "with_docs"))
    runs = ([baseline], [BASELINE]), ([real], [BASELINE, real["condition_id"]])
    assert ((real, baseline) in pairs_of(*runs, mock=mock)) is mock


def test_a_baseline_that_failed_and_is_asked_again_is_compared_with_the_conditions_in_force() -> None:
    """What was answered under a condition that was edited since is paid for by no judge."""
    old, graph = response_event("q1", "with_docs"), response_event("q1", "with_graph")
    edited = later(response_event("q1", "with_docs", prompt="Look it up."))
    baseline = later(response_event("q1", "baseline"))
    before = ([old, graph], [BASELINE, old["condition_id"], graph["condition_id"]])
    after = ([edited, baseline], [BASELINE, edited["condition_id"], graph["condition_id"]])
    assert pairs_of(before, after) == [(baseline, baseline), (edited, baseline), (edited, baseline), (graph, baseline)]


def test_what_is_asked_afresh_is_compared_with_the_fresh_baseline() -> None:
    """And with that of the run before at no time, whichever of the two comes first."""
    baseline, answer = response_event("q1", "baseline"), response_event("q1", "with_docs")
    fresh_baseline, fresh = later(baseline, text="another"), later(answer, text="also another")
    conditions = [BASELINE, answer["condition_id"]]
    before = ([baseline, answer], conditions)
    for after in ([fresh, fresh_baseline], [fresh_baseline, fresh]):
        found = pairs_of(before, (after, conditions))
        assert found[:2] == [(baseline, baseline), (answer, baseline)]
        assert all(pair in ((fresh_baseline, fresh_baseline), (fresh, fresh_baseline)) for pair in found[2:])
        assert (fresh, fresh_baseline) in found


def test_a_stand_ins_answer_takes_the_place_of_no_real_one() -> None:
    """As in a log, where the real one counts."""
    baseline, answer = response_event("q1", "baseline"), response_event("q1", "with_docs")
    conditions = [BASELINE, answer["condition_id"]]
    found = pairs_of(([baseline, later(baseline, mock=True), answer], conditions))
    assert found == [(baseline, baseline), (answer, baseline)]
