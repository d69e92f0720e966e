"""Properties of a read that goes on after the first Ctrl-C."""

from __future__ import annotations

import io
import os
import pty
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from keval.processes.interrupted_input import read_to_the_end


@pytest.fixture(autouse=True)
def handler(monkeypatch: pytest.MonkeyPatch) -> Iterator[object]:
    """Return what Ctrl-C does here, where stdin is no terminal, and have it so again afterwards."""
    monkeypatch.setattr("sys.stdin", io.StringIO())
    before = signal.getsignal(signal.SIGINT)
    yield before
    signal.signal(signal.SIGINT, before)


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
            os.kill(os.getpid(), signal.SIGINT)
            assert len(said) == 1
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        interrupted_twice()
    assert signal.getsignal(signal.SIGINT) is handler


def test_without_an_interrupt_nothing_is_said(handler: object) -> None:
    """The next one ends what comes after."""
    said: list[str] = []
    with read_to_the_end(said.append):
        assert signal.getsignal(signal.SIGINT) is not handler
    assert (said, signal.getsignal(signal.SIGINT)) == ([], handler)


def test_a_command_in_the_background_takes_no_notice() -> None:
    """A shell has it ignore Ctrl-C, and it does, as often as one comes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    said: list[str] = []
    with read_to_the_end(said.append):
        for _ in range(2):
            os.kill(os.getpid(), signal.SIGINT)
    assert said == []


def test_another_thread_changes_nothing(handler: object) -> None:
    """Only the main one may say what a signal does."""

    def looked() -> object:
        with read_to_the_end(print):
            return signal.getsignal(signal.SIGINT)

    with ThreadPoolExecutor(max_workers=1) as thread:
        assert thread.submit(looked).result() is handler
