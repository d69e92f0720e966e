from __future__ import annotations

import asyncio
import io
import logging
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from keval.errors import InterruptError, UsageError
from keval.scheduling import interrupt
from keval.secrets.variables import Secrets


def test_the_first_signal_lets_what_is_in_flight_finish() -> None:
    """After one Ctrl-C the work ends by itself, and then the interruption is told."""
    finished = []

    async def main(stop: asyncio.Event) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        await stop.wait()
        await asyncio.sleep(0.01)
        finished.append(True)

    said: list[str] = []
    with pytest.raises(InterruptError):
        interrupt.run(main, said.append)
    assert finished
    assert "Ctrl-C again" in said[0]


def test_the_second_signal_stops_at_once() -> None:
    """Two Ctrl-C cancel what is in flight."""
    cleaned_up = []

    async def main(stop: asyncio.Event) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        await stop.wait()
        os.kill(os.getpid(), signal.SIGINT)
        try:
            await asyncio.sleep(60)
        finally:
            cleaned_up.append(True)

    with pytest.raises(InterruptError):
        interrupt.run(main, lambda _: None)
    assert cleaned_up


def test_work_that_is_cancelled_by_nobody_is_not_done() -> None:
    """Whatever code did so, it is a bug: the command does not end as if all was well."""

    async def main(_: asyncio.Event) -> None:
        raise asyncio.CancelledError

    with pytest.raises(RuntimeError, match="nobody had asked"):
        interrupt.run(main, lambda _: None)


@pytest.fixture
def _hang_up_counts() -> Iterator[None]:
    """Undo what `nohup` may have set for the tests."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.usefixtures("_hang_up_counts")
@pytest.mark.parametrize("then", [signal.SIGHUP, signal.SIGTERM])
def test_what_a_closed_terminal_sends_does_not_stop_at_once(then: signal.Signals) -> None:
    """Shell, kernel and system may each send a signal when a session ends: paid work is finished all the same."""
    finished = []

    async def main(stop: asyncio.Event) -> None:
        os.kill(os.getpid(), signal.SIGHUP)
        await stop.wait()
        os.kill(os.getpid(), then)
        await asyncio.sleep(0.05)
        finished.append(True)

    with pytest.raises(InterruptError):
        interrupt.run(main, lambda _: None)
    assert finished


@pytest.mark.usefixtures("_hang_up_counts")
@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM])
def test_what_only_asks_ends_at_once(number: signal.Signals) -> None:
    """There is nothing to be finished; what it started is ended, and an answer that is there is returned."""
    cleaned_up = []

    async def question() -> int:
        os.kill(os.getpid(), number)
        try:
            await asyncio.sleep(60)
        finally:
            cleaned_up.append(True)
        return 7

    with pytest.raises(InterruptError):
        interrupt.ask(question())
    assert cleaned_up
    assert interrupt.ask(asyncio.sleep(0, 7)) == 7


def test_an_error_about_the_run_comes_out_of_its_task_group() -> None:
    """What a task of a group raises about the run is raised as itself."""

    async def fail() -> None:
        raise UsageError("no such judge")

    async def main(_: asyncio.Event) -> None:
        async with asyncio.TaskGroup() as outer, asyncio.TaskGroup() as inner:
            outer.create_task(asyncio.sleep(0))
            inner.create_task(fail())

    with pytest.raises(UsageError, match="no such judge"):
        interrupt.run(main, lambda _: None)


def test_a_bug_is_not_mistaken_for_an_error_about_the_run() -> None:
    """An unexpected exception in a group stays what it is."""

    async def fail() -> None:
        raise ZeroDivisionError

    async def main(_: asyncio.Event) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(fail())

    with pytest.raises(ExceptionGroup):
        interrupt.run(main, lambda _: None)


def test_a_run_ends_in_the_folder_in_which_it_began(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a function of the user's that runs in it did: what follows a run names files from there."""
    monkeypatch.chdir(tmp_path)

    async def main(_: asyncio.Event) -> None:
        os.chdir("/")

    interrupt.run(main, print)
    assert Path.cwd() == tmp_path


@pytest.mark.parametrize("begin", [
    lambda: interrupt.run(lambda _: asyncio.sleep(0), print),
    lambda: interrupt.ask(asyncio.sleep(0)),
])  # fmt: skip
def test_what_a_library_prints_has_no_secret(begin: Callable[[], object], monkeypatch: pytest.MonkeyPatch) -> None:
    """A server may send the value back in a message that makes its library complain, with a traceback."""
    printed = io.StringIO()
    handler = logging.StreamHandler(printed)
    monkeypatch.setattr(logging, "lastResort", handler)
    secrets = Secrets({"TOKEN": "t0ken-of-a-server"})
    secrets.resolve("${TOKEN}")
    begin()
    handler.handle(logging.makeLogRecord({"msg": "unknown message: t0ken-of-a-server"}))
    assert printed.getvalue() == "unknown message: ${TOKEN}\n"


@pytest.mark.parametrize("who", ["the user", "a budget"])
async def test_a_budget_ends_the_work_and_the_user_ends_the_command(who: str) -> None:
    """Whoever sets the event of the user's sets that of the work, and not the other way round."""
    stop = asyncio.Event()
    async with interrupt.stops_of(stop) as stops:
        (stops.user if who == "the user" else stops.enough).set()
        await asyncio.wait_for(stops.enough.wait(), 5)
    assert stop.is_set() is (who == "the user")
