from __future__ import annotations

import gc

import pytest

from keval.execution.gc_tuning import THRESHOLDS, seldom_collected


def fail_unless(is_as_before: bool) -> None:
    if not is_as_before:
        raise LookupError


def test_cycles_are_collected_as_before_once_the_work_is_over() -> None:
    """Also after an error, and what was set aside is looked through again."""
    gc.unfreeze()
    before = gc.get_threshold(), gc.get_freeze_count()
    with pytest.raises(LookupError), seldom_collected():
        fail_unless(gc.get_threshold() != THRESHOLDS)
    assert (gc.get_threshold(), gc.get_freeze_count()) == before


def test_cycles_are_collected_while_work_is_done() -> None:
    """More objects than the threshold never pile up."""
    with seldom_collected():
        for _ in range(3 * THRESHOLDS[0]):
            cycle: list[object] = []
            cycle.append(cycle)
        assert gc.get_count()[0] <= THRESHOLDS[0]
