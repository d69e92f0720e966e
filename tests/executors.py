"""An executor of two processes: what the seam between deciding and doing promises, put to use."""

from __future__ import annotations

import asyncio
import itertools
import multiprocessing
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, cast

from keval.agents import Answer
from keval.config.reader import load
from keval.executors.config_executor import config_executor
from keval.executors.specs import AnswerSpec, JudgeSpec, Outcome
from keval.judges import Judgment
from keval.preparation.prepared import prepare

PROCESSES = 2


class TwoProcesses:
    """Hands each spec to one of two processes, which know no more than where the config is."""

    def __init__(self, connections: list[Connection]) -> None:
        self._turns = itertools.cycle(connections)
        self._numbers = itertools.count()
        self._waiting: dict[int, tuple[asyncio.AbstractEventLoop, asyncio.Future[Any]]] = {}
        self._by_workspace: dict[Path, Connection] = {}
        self.done: dict[int, int] = dict.fromkeys(range(len(connections)), 0)
        for place, connection in enumerate(connections):
            threading.Thread(target=self._receive, args=(place, connection), daemon=True).start()

    async def answer(self, spec: AnswerSpec) -> Outcome[Answer]:
        """Let a process ask the agent once."""
        return cast("Outcome[Answer]", await self._do("answer", spec))

    async def judge(self, spec: JudgeSpec) -> Outcome[Judgment]:
        """Let a process ask a judge once."""
        return cast("Outcome[Judgment]", await self._do("judge", spec))

    def release(self, workspace: Path) -> None:
        """Let the process that made a folder remove it."""
        self._by_workspace.pop(workspace).send((-1, "release", workspace))

    async def move(self, workspace: Path, place: Path) -> None:
        """Let the process that made a folder move it."""
        await self._send(self._by_workspace[workspace], "move", (workspace, place))

    async def close(self) -> None:
        """Keep what the processes keep: each of them ends it when it ends."""

    async def _do(self, what: str, spec: AnswerSpec | JudgeSpec) -> Any:  # noqa: ANN401 - either outcome
        connection = next(self._turns)
        outcome = await self._send(connection, what, spec)
        if outcome.workspace is not None:
            self._by_workspace[outcome.workspace] = connection
        return outcome

    async def _send(self, connection: Connection, what: str, told: Any) -> Any:  # noqa: ANN401 - whatever it is about
        number = next(self._numbers)
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()
        self._waiting[number] = (loop, future)
        connection.send((number, what, told))
        return await future

    def _receive(self, place: int, connection: Connection) -> None:
        while True:
            try:
                number, outcome = connection.recv()
            except EOFError:
                return
            self.done[place] += 1
            loop, future = self._waiting.pop(number)
            loop.call_soon_threadsafe(future.set_result, outcome)


@contextmanager
def two_processes(config: Path, mock_url: str, log: Path) -> Iterator[TwoProcesses]:
    """Run two processes that do the work of a config while this is entered."""
    context = multiprocessing.get_context("spawn")
    pairs = [context.Pipe() for _ in range(PROCESSES)]
    workers = [context.Process(target=_work, args=(theirs, config, mock_url, log)) for _, theirs in pairs]
    for worker in workers:
        worker.start()
    try:
        yield TwoProcesses([ours for ours, _ in pairs])
    finally:
        for ours, _ in pairs:
            ours.send(None)
        for worker in workers:
            worker.join(30)
            assert worker.exitcode == 0


def _work(connection: Connection, config: Path, mock_url: str, log: Path) -> None:
    """Do specs until told to end."""
    asyncio.run(_serve(connection, config, mock_url, log))


async def _serve(connection: Connection, path: Path, mock_url: str, log: Path) -> None:
    config = load(path)
    prepared = prepare(config, mock_url, None, log, warn=lambda _: None)
    executor = config_executor(prepared, config.judges, prepared.mark)

    async def do(number: int, what: str, spec: Any) -> None:  # noqa: ANN401 - of either kind
        if what == "move":
            await executor.move(*spec)
            connection.send((number, None))
            return
        outcome = await (executor.answer(spec) if what == "answer" else executor.judge(spec))
        connection.send((number, outcome))

    async with asyncio.TaskGroup() as group:
        while (told := await asyncio.to_thread(connection.recv)) is not None:
            number, what, spec = told
            if what == "release":
                executor.release(spec)
            else:
                group.create_task(do(number, what, spec))
    await executor.close()
