"""What is remembered on disk."""

from __future__ import annotations

from contextlib import closing

from keval.execution.remembered import Remembered


def test_the_last_value_of_a_key_is_remembered() -> None:
    """And what was there before is returned; counts begin at one."""
    with closing(Remembered()) as seen:
        assert (seen.get("a"), seen.set("a", "x"), seen.set("a", "y"), seen.get("a")) == (None, None, "x", "y")
        assert (seen.count("b"), seen.count("b"), seen.get("b")) == (1, 2, 2)
