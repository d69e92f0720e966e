from __future__ import annotations

import asyncio
import os
import threading

import orjson
import pytest

from keval.errors import InterruptError, ReaderGoneError
from keval.ids import JsonObject
from keval.logs import sinks
from keval.logs.sinks import Announced, Stdout
from tests.builders import small_event


async def test_a_reader_who_leaves_is_told_apart_from_other_errors() -> None:
    """Writing to a pipe that nobody reads raises ReaderGoneError."""
    out, descriptor = os.pipe()
    os.close(out)
    with Stdout(descriptor) as stdout, pytest.raises(ReaderGoneError):
        await stdout.append(small_event(1))
    os.close(descriptor)


@pytest.mark.parametrize("reads", [True, False])
async def test_after_an_interruption_a_reader_has_a_moment_for_what_is_left(
    monkeypatch: pytest.MonkeyPatch, *, reads: bool
) -> None:
    """Who still reads gets all of it, and who does not keeps nobody waiting."""
    monkeypatch.setattr(sinks, "GRACE_S", 60 if reads else 0.01)
    out, descriptor = os.pipe()
    line = b"x" * 2**18  # more than a pipe holds
    reader = threading.Thread(target=lambda: taken.append(sum(map(len, iter(lambda: os.read(out, 2**16), b"")))))
    taken: list[int] = []
    stdout = Stdout(descriptor)
    writing = asyncio.ensure_future(stdout.write(line))
    await asyncio.sleep(0)
    if reads:
        reader.start()
    stdout.__exit__(None, InterruptError("stop"), None)
    assert writing.cancel()
    if reads:
        os.close(descriptor)
        reader.join()
        assert taken == [len(line)]
    os.close(out)
    if not reads:
        os.close(descriptor)  # the write has failed: nobody reads


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
