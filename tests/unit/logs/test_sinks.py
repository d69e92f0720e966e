from __future__ import annotations

import asyncio
import os

import orjson
import pytest

from keval.errors import ReaderGoneError
from keval.ids import JsonObject
from keval.logs.sinks import Announced, Stdout
from tests.builders import small_event


async def test_a_reader_who_leaves_is_told_apart_from_other_errors() -> None:
    """Writing to a pipe that nobody reads raises ReaderGoneError."""
    out, descriptor = os.pipe()
    os.close(out)
    stdout = Stdout(descriptor)
    with pytest.raises(ReaderGoneError):
        await stdout.append(small_event(1))
    stdout.close()
    os.close(descriptor)


class Kept:
    """A sink that keeps what it is given."""

    def __init__(self) -> None:
        self.events: list[JsonObject] = []

    async def append(self, event: JsonObject) -> None:
        self.events.append(event)

    async def write(self, line: bytes) -> None:
        self.events.append(orjson.loads(line))

    def tell(self, stop: asyncio.Event) -> None:
        raise AssertionError(stop)


async def test_a_run_event_comes_before_the_first_event_and_only_then() -> None:
    """Nothing to write means no `run` event; the first event brings it, once."""
    kept = Kept()
    announced = Announced(kept, {"type": "run"})
    assert kept.events == []
    await announced.append({"type": "a"})
    await announced.write(b'{"type":"b"}')
    assert [each["type"] for each in kept.events] == ["run", "a", "b"]
