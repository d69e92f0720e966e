from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keval.scheduling.concurrency import Begun, Concurrency
from tests.limited_service import Service, always, less_between, measure
from tests.suites import slow_but

A_BURST = 100


def refuse_together(concurrency: Concurrency, refused: int, taken: int) -> None:
    """Let so many attempts that began together be refused, beside others that are taken."""
    begun = Begun(0.0, concurrency.window)
    for left in reversed(range(refused)):
        concurrency.refuse(begun, left + taken)


def succeed(concurrency: Concurrency, times: int) -> None:
    """Let so many attempts succeed, each of which takes ten seconds."""
    for _ in range(times):
        concurrency.succeed(Begun(0.0, concurrency.window), 10.0)


@given(taken=st.integers(1, A_BURST - 1))
def test_a_burst_of_refusals_leaves_what_was_taken(taken: int) -> None:
    """Whatever the number of those that are refused together: not 1 is left, but as many as still run."""
    concurrency = Concurrency(A_BURST)
    refuse_together(concurrency, A_BURST - taken, taken)
    assert concurrency.allowed == pytest.approx(min(taken, A_BURST * 0.95), abs=1)
    assert concurrency.window == 1


def test_one_window_has_one_decrease() -> None:
    """Attempts that began before the last decrease take only their own places with them."""
    concurrency = Concurrency(50)
    early = Begun(0.0, concurrency.window)
    concurrency.refuse(early, 48)
    assert 48 < concurrency.allowed < 50
    for _ in range(10):
        concurrency.refuse(early, 48)
    assert concurrency.allowed == 48
    concurrency.refuse(Begun(1.0, concurrency.window), 47)
    assert 47 < concurrency.allowed < 48


def test_far_fewer_than_are_allowed_say_that_capacity_is_gone() -> None:
    """What came too close takes little; a service that refuses beside few others takes much less than it did."""
    close, gone = Concurrency(100), Concurrency(100)
    close.refuse(Begun(0.0, 0), 90)
    gone.refuse(Begun(0.0, 0), 10)
    assert close.allowed == 98
    assert gone.allowed == 80


def test_after_a_burst_all_places_are_back_within_a_few_rounds() -> None:
    """From 10 to 100 it takes fewer successes than twice the places, not thousands."""
    concurrency = Concurrency(100)
    refuse_together(concurrency, 90, 10)
    succeed(concurrency, 200)
    assert concurrency.allowed == 100


def test_capacity_that_was_gone_for_long_is_found_again_soon() -> None:
    """Steps of one, four, sixteen: from 2 known to be taken to 100 in a few hundred successes."""
    concurrency = Concurrency(100)
    while concurrency.allowed > 3:
        concurrency.refuse(Begun(0.0, concurrency.window), round(concurrency.allowed))
    succeed(concurrency, 400)
    assert concurrency.allowed == 100


def test_the_same_question_is_asked_ever_more_seldom() -> None:
    """A service that takes 4 and no more refuses a fifth after ever more successes, and is never given up asking."""
    concurrency = Concurrency(100)
    refuse_together(concurrency, 95, 5)
    between = []
    for _ in range(8):
        successes = 0
        while concurrency.allowed < 5:
            succeed(concurrency, 1)
            successes += 1
        between.append(successes)
        concurrency.refuse(Begun(0.0, concurrency.window), 4)
    assert between == sorted(between)
    assert between[-2:] == [32, 32]


def test_an_attempt_that_is_refused_alone_says_nothing_of_the_number() -> None:
    """One at a time is tried, and after the first success all that was known comes back with one success each."""
    concurrency = Concurrency(20)
    for count in range(1, 6):
        concurrency.refuse(Begun(0.0, concurrency.window), 0)
        assert (concurrency.allowed, concurrency.refused_alone) == (1, count)
    succeed(concurrency, 19)
    assert (concurrency.allowed, concurrency.refused_alone) == (20, 0)


def test_starts_are_spread_only_while_fewer_than_the_most_are_allowed() -> None:
    """A service that refuses nothing is never kept waiting."""
    concurrency = Concurrency(10)
    succeed(concurrency, 5)
    assert concurrency.interval_s == 0
    concurrency.refuse(Begun(0.0, 0), 9)
    assert 10 / concurrency.allowed / 1.3 < concurrency.interval_s < 10 / concurrency.allowed
    succeed(concurrency, 100)
    assert concurrency.interval_s == 0


@given(
    most=st.integers(1, 50),
    told=st.lists(st.tuples(st.booleans(), st.integers(0, 60), st.integers(0, 2)), max_size=200),
)
def test_at_least_one_and_at_most_all_are_allowed(most: int, told: list[tuple[bool, int, int]]) -> None:
    """Whatever comes of attempts, old and new: the run goes on, and never beyond what the user allows."""
    concurrency = Concurrency(most)
    for is_taken, running, age in told:
        begun = Begun(0.0, max(0, concurrency.window - age))
        if is_taken:
            concurrency.succeed(begun, 1.0)
        else:
            concurrency.refuse(begun, running)
        assert 1 <= concurrency.allowed <= most
        assert concurrency.interval_s >= 0


SERVICES = {
    "10 at once": Service(at_once=always(10)),
    "37 at once": Service(at_once=always(37)),
    "80 at once": Service(at_once=always(80)),
    "100 at once": Service(at_once=always(100)),
    "37 at once, latencies from seconds to minutes": Service(at_once=always(37), jitter=0.8),
    "37 at once, of 200 ms": Service(at_once=always(37), latency_s=0.2, refusal_s=0.01),
    "37 at once, refusals are slow too": Service(at_once=always(37), refusal_s=3.0),
    "37 at once, and it says how long to wait": Service(at_once=always(37), tells_when=True),
    "80 at once, for a while 10": Service(at_once=less_between(80, 10, 600, 1200)),
    "80 at once, for a minute none": Service(at_once=less_between(80, 0, 600, 660)),
    "5 a second, 5 together": Service(per_second=always(5), bucket=5),
    "5 a second, no two together": Service(per_second=always(5), bucket=1),
    "8 a second, and it says how long to wait": Service(per_second=always(8), bucket=8, tells_when=True),
    "5 a second, 60 together": Service(per_second=always(5), bucket=60),
    "5 a second, for a while 1": Service(per_second=less_between(5, 1, 600, 1200), bucket=5),
    "50 at once and 3 a second": Service(at_once=always(50), per_second=always(3), bucket=3),
}


FEW = {"10 at once", "37 at once, refusals are slow too", "80 at once, for a while 10", "5 a second, 5 together"}


@pytest.mark.slow
@pytest.mark.parametrize("name", slow_but(SERVICES, FEW))
def test_nine_tenths_of_what_a_service_can_do_are_used(name: str) -> None:
    """Its first answer and its worst minutes included, and nearly no item is refused to the end."""
    random.seed(name)  # jitter is chance, and a test is none
    measured = measure(SERVICES[name], 2000 if SERVICES[name].latency_s > 1 else 60)
    assert measured.share >= 0.9, measured
    assert measured.failed_items <= measured.served / 1000
