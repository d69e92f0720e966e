"""Lets Python look for cycles of objects more seldom while work is done.

An item in flight is many objects that are soon free without that; with a thousand at once, looking through them again
and again is a tenth of what keval adds to a call.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

THRESHOLDS = (50_000, 20, 1_000)
"""New objects before the youngest are looked through, and rounds of that before the older ones are."""


@contextmanager
def seldom_collected() -> Iterator[None]:
    """Collect seldom until left, and leave out what was there before: modules and a config stay anyway.

    Where the process left something out already, all stays so: Python cannot take back a part of it.
    """
    before = gc.get_threshold()
    leaves_out = gc.get_freeze_count() > 0
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        if not leaves_out:
            gc.unfreeze()
