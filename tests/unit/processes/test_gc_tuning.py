from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from keval.processes.gc_tuning import THRESHOLDS, seldom_collected


def fail_unless(is_as_before: bool) -> None:
    if not is_as_before:
        raise LookupError


@pytest.fixture
def nothing_left_out() -> Iterator[None]:
    """Have nothing left out, as in a program that only uses keval; the tests' own process leaves out the tests."""
    gc.unfreeze()
    yield
    gc.freeze()


@pytest.mark.usefixtures("nothing_left_out")
def test_cycles_are_collected_as_before_once_the_work_is_over() -> None:
    """Also after an error, and what was set aside is looked through again."""
    before = gc.get_threshold()
    with pytest.raises(LookupError), seldom_collected():
        fail_unless(gc.get_threshold() != THRESHOLDS)
    assert (gc.get_threshold(), gc.get_freeze_count()) == (before, 0)


@pytest.mark.usefixtures("nothing_left_out")
def test_what_the_process_left_out_before_stays_so() -> None:
    """A command leaves out what it imported, and ends soon: to look through it again would be for nothing."""
    gc.freeze()
    before = gc.get_freeze_count()
    with seldom_collected():
        pass
    assert gc.get_freeze_count() >= before


def test_cycles_are_collected_while_work_is_done() -> None:
    """More objects than the threshold never pile up."""
    with seldom_collected():
        for _ in range(3 * THRESHOLDS[0]):
            cycle: list[object] = []
            cycle.append(cycle)
        assert gc.get_count()[0] <= THRESHOLDS[0]
