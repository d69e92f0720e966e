from __future__ import annotations

import io
import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from keval.logs.endable_input import EndableInput


def test_lines_are_read_as_they_come_and_to_the_end() -> None:
    """A line is there before the pipe is closed, and the last one is read when it is."""
    reading, writing = os.pipe()
    with EndableInput(reading) as source:
        lines = io.BufferedReader(source)
        os.write(writing, b"one\ntw")
        assert lines.readline() == b"one\n"
        os.write(writing, b"o")
        os.close(writing)
        assert lines.read() == b"two"
    os.close(reading)


def test_a_read_that_waits_can_be_ended() -> None:
    """A thread that reads from a silent pipe ends when it is told to, with an error and not with an end of file."""
    reading, writing = os.pipe()
    with EndableInput(reading) as source, ThreadPoolExecutor(max_workers=1) as thread:
        waiting = thread.submit(io.BufferedReader(source).readline)
        source.end()
        with pytest.raises(OSError, match="cancel"):
            waiting.result(timeout=30)
    os.close(writing)
    os.close(reading)
