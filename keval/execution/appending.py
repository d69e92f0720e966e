"""Appends what a command made without agent or judge to a log: aggregates, labels, references, a retraction."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from keval.execution import interrupt
from keval.execution.session import Warn
from keval.ids import JsonObject
from keval.logs.stream import Announced
from keval.logs.writer import open_log


def append_all(
    path: Path,
    stages: tuple[str, ...],
    announcement: JsonObject | None,
    events: Sequence[JsonObject],
    warn: Warn,
    *inputs: Path,
) -> None:
    """Append events to a log as the only writer of the stages.

    Before the first one, the command's `run` event is appended, unless none is given because it is there already.
    `inputs` are what the command reads: none of them is the log. Raises InterruptError when the user ends it: what was
    written by then stays.
    """
    with open_log(path, stages, warn, inputs) as log:
        sink = Announced(log, *([] if announcement is None else [announcement]))

        async def main(_: asyncio.Event) -> None:
            for event in events:
                await sink.append(event)

        interrupt.run(main, warn)
