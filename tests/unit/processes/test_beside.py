"""Properties of a function that runs in another thread."""

from __future__ import annotations

from threading import Event

from keval.processes.beside import Beside


def test_its_end_tells_what_it_raised() -> None:
    """An error is not lost, though it was raised in another thread."""
    failing, passing = Beside(lambda: 1 // 0), Beside(lambda: 1)
    assert failing.end() is None
    failing.begin()
    passing.begin()
    assert isinstance(failing.end(), ZeroDivisionError)
    assert isinstance(failing.end(), ZeroDivisionError)
    assert passing.end() is None


def test_it_runs_meanwhile() -> None:
    """It is done when its end comes, and not before whoever began it went on."""
    goes_on, done = Event(), Event()

    def wait() -> None:
        goes_on.wait()
        done.set()

    beside = Beside(wait)
    beside.begin()
    assert not done.is_set()
    goes_on.set()
    beside.end()
    assert done.is_set()
