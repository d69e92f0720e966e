"""Properties of a read that goes on after the first Ctrl-C."""

from __future__ import annotations

import io
import os
import pty
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from keval.processes.interrupted_input import STOPPING, read_to_the_end


@pytest.fixture(autouse=True)
def handler(monkeypatch: pytest.MonkeyPatch) -> Iterator[object]:
    """Return what Ctrl-C does here, where stdin is no terminal, and have all signals as they were afterwards."""
    monkeypatch.setattr("sys.stdin", io.StringIO())
    before = {number: signal.getsignal(number) for number in STOPPING}
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # the tests may run under `nohup`
    yield before[signal.SIGINT]
    for number, what in before.items():
        signal.signal(number, what)


def test_at_a_terminal_nothing_changes(handler: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody else is told to end what comes in, so the first Ctrl-C has to end it."""
    ours, theirs = pty.openpty()
    with os.fdopen(ours), os.fdopen(theirs) as terminal:
        monkeypatch.setattr("sys.stdin", terminal)
        with read_to_the_end(print):
            assert signal.getsignal(signal.SIGINT) is handler


def test_without_a_stdin_nothing_changes(handler: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """With stdin closed there is nothing to read on; that it is closed is for the reader to say."""
    monkeypatch.setattr("sys.stdin", None)
    with read_to_the_end(print):
        assert signal.getsignal(signal.SIGINT) is handler


def test_the_first_interrupt_is_said_and_the_second_one_stops(handler: object) -> None:
    """What was read by then is read; afterwards Ctrl-C is what it was."""
    said: list[str] = []

    def interrupted_twice() -> None:
        with read_to_the_end(said.append):
            signal.raise_signal(signal.SIGINT)
            assert len(said) == 1
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        interrupted_twice()
    assert signal.getsignal(signal.SIGINT) is handler


@pytest.mark.parametrize("second", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("first", [signal.SIGINT, signal.SIGTERM])
def test_whoever_ends_processes_is_heard_as_ctrl_c_is(first: int, second: int) -> None:
    """Of the two that may come, each can be the first one, which reads on, or the second one, which stops."""
    said: list[str] = []

    def interrupted_twice() -> None:
        with read_to_the_end(said.append):
            signal.raise_signal(first)
            assert len(said) == 1
            signal.raise_signal(second)

    with pytest.raises(KeyboardInterrupt):
        interrupted_twice()
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL


def test_a_terminal_that_goes_away_stops_nothing() -> None:
    """However often it says so; nobody is there to be told, and Ctrl-C may still come twice."""
    said: list[str] = []
    with read_to_the_end(said.append):
        for number in (signal.SIGHUP, signal.SIGHUP, signal.SIGINT, signal.SIGHUP):
            signal.raise_signal(number)
    assert len(said) == 1


def test_after_the_end_of_what_comes_in_each_stops() -> None:
    """Nothing more would be lost."""

    def ended_by(number: int) -> None:
        with read_to_the_end(print) as reading:
            reading.end()
            signal.raise_signal(number)

    for number in STOPPING:
        with pytest.raises(KeyboardInterrupt):
            ended_by(number)


def test_without_an_interrupt_nothing_is_said(handler: object) -> None:
    """The next one ends what comes after."""
    said: list[str] = []
    with read_to_the_end(said.append):
        assert signal.getsignal(signal.SIGINT) is not handler
    assert (said, signal.getsignal(signal.SIGINT)) == ([], handler)


def test_a_command_in_the_background_takes_no_notice() -> None:
    """A shell has it ignore Ctrl-C, and it does, as often as one comes."""
    for number in (signal.SIGINT, signal.SIGHUP):  # a shell does the first, and `nohup` the other one
        signal.signal(number, signal.SIG_IGN)
        said: list[str] = []
        with read_to_the_end(said.append):
            for _ in range(2):
                signal.raise_signal(number)
        assert (said, signal.getsignal(number)) == ([], signal.SIG_IGN)


def test_another_thread_changes_nothing(handler: object) -> None:
    """Only the main one may say what a signal does."""

    def looked() -> object:
        with read_to_the_end(print):
            return signal.getsignal(signal.SIGINT)

    with ThreadPoolExecutor(max_workers=1) as thread:
        assert thread.submit(looked).result() is handler
