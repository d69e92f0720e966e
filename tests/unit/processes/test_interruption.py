from __future__ import annotations

import io
import signal
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import duckdb
import pytest

from keval import projections
from keval.processes import interruption
from keval.processes.interrupted_input import STOPPING, read_to_the_end
from tests.builders import run_event, write_log


def disguised(number: int = signal.SIGINT) -> None:
    """Raise what DuckDB raises when a Ctrl-C comes while it loads a module of Python's."""
    try:
        signal.raise_signal(number)
    except KeyboardInterrupt:
        raise duckdb.InvalidInputException("'numpy' is required for this operation, but it wasn't installed") from None


def test_an_error_after_ctrl_c_is_an_interruption(tmp_path: Path) -> None:
    """Of the log, which it would be blamed on, nothing is said; afterwards Ctrl-C does what it did before."""
    before = signal.getsignal(signal.SIGINT)
    log = write_log(tmp_path / "log.jsonl", [run_event()])
    with pytest.raises(KeyboardInterrupt), projections.connect([log]):
        disguised()
    assert signal.getsignal(signal.SIGINT) == before


def test_other_errors_stay_as_they_are() -> None:
    """Before any Ctrl-C, where it is ignored or means something else, and in another thread, which none reaches."""
    with pytest.raises(ValueError, match="a mistake"), interruption.told_as_such():
        raise ValueError("a mistake")
    with ThreadPoolExecutor(1) as thread, pytest.raises(ValueError, match="a mistake"):
        thread.submit(_mistake).result()
    for handler in (signal.SIG_IGN, lambda *_: None):
        before = signal.signal(signal.SIGINT, handler)
        try:
            with pytest.raises(ValueError, match="a mistake"):
                _mistake(signal.SIGINT)
        finally:
            signal.signal(signal.SIGINT, before)


def test_what_was_opened_here_may_be_closed_in_another_thread() -> None:
    """As the viewer does, where no handler can be set; Ctrl-C still does what it did, and is told as such."""
    before, opened = signal.getsignal(signal.SIGINT), ExitStack()
    try:
        opened.enter_context(interruption.told_as_such())
        with ThreadPoolExecutor(1) as thread:
            thread.submit(opened.close).result()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt), interruption.told_as_such():
            disguised()
    finally:
        signal.signal(signal.SIGINT, before)


def test_who_means_something_else_by_ctrl_c_meanwhile_is_left_alone() -> None:
    """A run begins while a log is read, and closes it when it has read it."""
    before, heard = signal.getsignal(signal.SIGINT), list[int]()
    try:
        with interruption.told_as_such():
            signal.signal(signal.SIGINT, lambda number, _: heard.append(number))
        signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)
    assert heard == [signal.SIGINT]


def test_ctrl_c_while_a_pipe_is_read_is_none_until_the_second_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first one changes nothing of an error; one that comes when the pipe has ended is told as such."""
    monkeypatch.setattr("sys.stdin", io.StringIO())
    before, said = signal.getsignal(signal.SIGINT), list[str]()
    with read_to_the_end(said.append), pytest.raises(ValueError, match="a mistake"):
        _mistake(signal.SIGINT)
    assert len(said) == 1
    with read_to_the_end(said.append) as reading, pytest.raises(KeyboardInterrupt):
        _disguised_after(reading.end)
    assert len(said) == 1
    assert signal.getsignal(signal.SIGINT) == before


@pytest.mark.parametrize("number", STOPPING)
def test_what_ends_a_command_that_has_read_its_pipe_is_told_as_such(
    number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Be it Ctrl-C, `kill` or a terminal that goes away, and also where Ctrl-C is ignored, as in the background."""
    monkeypatch.setattr("sys.stdin", io.StringIO())
    ctrl_c, hang_up = signal.getsignal(signal.SIGINT), signal.signal(signal.SIGHUP, signal.SIG_DFL)
    try:
        for of_ctrl_c in (ctrl_c, *([] if number == signal.SIGINT else [signal.SIG_IGN])):
            signal.signal(signal.SIGINT, of_ctrl_c)
            before = signal.getsignal(number)
            with read_to_the_end(print) as reading, pytest.raises(KeyboardInterrupt):
                _disguised_after(reading.end, number)
            assert signal.getsignal(number) == before
    finally:
        signal.signal(signal.SIGINT, ctrl_c)
        signal.signal(signal.SIGHUP, hang_up)


def _disguised_after(end: Callable[[], None], number: int = signal.SIGINT) -> None:
    with interruption.told_as_such():
        end()
        disguised(number)


def _mistake(*signals: int) -> None:
    with interruption.told_as_such():
        for number in signals:
            signal.raise_signal(number)
        raise ValueError("a mistake")


def test_what_is_made_while_an_interruption_is_held_back_is_removed() -> None:
    """It comes between a folder and whoever removes it, and waits until both are there."""
    steps: list[str] = []

    def make_and_use() -> None:
        with ExitStack() as beside:
            with interruption.held_back():
                signal.raise_signal(signal.SIGINT)
                steps.append("made")
                beside.callback(steps.append, "removed")
            steps.append("used")

    with pytest.raises(KeyboardInterrupt):
        make_and_use()
    assert steps == ["made", "removed"]
