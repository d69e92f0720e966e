"""The least that a program does which asks, judges and writes both down safely: what `keval run` is compared with.

    python -m benchmarks.bare_pool TASKS WORKERS FILE ANSWER_S

Asyncio workers take tasks from a counter. Each task waits for so many seconds, as for an answer, and becomes a response
and a judgment; each of the two is encoded, checked against keval's schema, appended to one file, and on disk by a
shared fsync before the worker goes on. There is no config, resume, lock, budget, retry, redaction, identity or report.
Prints how many tasks were done, as JSON.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import jsonschema_rs
import orjson

from benchmarks.synthetic_log import events
from keval import schema
from keval.ids import JsonObject


class GroupedFile:
    """A file whose writers share an fsync."""

    def __init__(self, path: Path) -> None:
        self._descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        self._lines: list[bytes] = []
        self._waiting: list[asyncio.Future[None]] = []
        self._syncing = False

    async def write(self, line: bytes) -> None:
        """Append a line; it is on disk when this returns."""
        loop = asyncio.get_running_loop()
        safe = loop.create_future()
        self._lines.append(line)
        self._waiting.append(safe)
        if not self._syncing:
            self._syncing = True
            loop.call_soon(self._sync)
        await safe

    def _sync(self) -> None:
        waiting, self._waiting = self._waiting, []
        os.write(self._descriptor, b"".join(self._lines))
        self._lines.clear()
        loop = asyncio.get_running_loop()
        loop.run_in_executor(None, os.fdatasync, self._descriptor).add_done_callback(lambda _: self._done(waiting))

    def _done(self, waiting: list[asyncio.Future[None]]) -> None:
        for safe in waiting:
            safe.set_result(None)
        self._syncing = bool(self._waiting)
        if self._syncing:
            self._sync()


class Checked:
    """Makes lines of one type of event."""

    def __init__(self, event: JsonObject) -> None:
        self._event = event
        self._is_valid = jsonschema_rs.validator_for(schema.document(event["type"]), validate_formats=True).is_valid

    def line(self, number: int) -> bytes:
        """Return the line of an event of its own id and time."""
        time_ = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        event = {**self._event, "id": f"{number:024x}", "time": time_}
        if not self._is_valid(event):
            raise SystemExit(f"no valid event: {event}")
        return orjson.dumps(event, option=orjson.OPT_APPEND_NEWLINE)


async def pool(path: Path, tasks: int, workers: int, answer_s: float) -> int:
    """Do so many tasks with so many workers; returns how many were done."""
    file = GroupedFile(path)
    responses, judgments = map(Checked, events(1))
    numbers: Iterator[int] = iter(range(tasks))
    done = 0

    async def work() -> None:
        nonlocal done
        for number in numbers:
            if answer_s:  # else not even a turn of the event loop is lost
                await asyncio.sleep(answer_s)
            await file.write(responses.line(number))
            await file.write(judgments.line(number))
            done += 1

    async with asyncio.TaskGroup() as group:
        for _ in range(workers):
            group.create_task(work())
    return done


def main() -> None:
    """Do the tasks that the arguments ask for."""
    tasks, workers, path, answer_s = sys.argv[1:]
    done = asyncio.run(pool(Path(path), int(tasks), int(workers), float(answer_s)))
    print(json.dumps({"done": done}))


if __name__ == "__main__":
    main()
