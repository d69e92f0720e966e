"""What is remembered on disk."""

from __future__ import annotations

from contextlib import closing

import pytest

from keval.errors import EnvironmentLacksError
from keval.processes.disk_map import DiskMap


def test_the_last_value_of_a_key_is_remembered() -> None:
    """And what was there before is returned; counts begin at one."""
    with closing(DiskMap()) as seen:
        assert (seen.get("a"), seen.set("a", "x"), seen.set("a", "y"), seen.get("a")) == (None, None, "x", "y")
        assert (seen.count("b"), seen.count("b"), seen.get("b")) == (1, 2, 2)


def test_a_file_without_room_ends_the_command_with_what_to_do() -> None:
    """A full disk is no bug: nothing was written to the log yet, or what was written is whole."""
    with closing(DiskMap()) as seen:
        seen._database.execute("PRAGMA max_page_count = 8")  # noqa: SLF001 - the real file, made to be full
        with pytest.raises(EnvironmentLacksError, match=r"full; SQLITE_TMPDIR or TMPDIR may name another folder"):
            seen.set("key", "x" * 100_000)
