from __future__ import annotations

import errno
import fcntl
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from pathlib import Path

import pytest

from keval.errors import EnvironmentLacksError, UsageError
from keval.logs import locks

HOLDS = """
import os, sys, time
from keval.logs import locks
descriptor = os.open(sys.argv[1], os.O_RDWR)
with locks.held(descriptor, sys.argv[1], "generate"), locks.writing(descriptor, sys.argv[1], print):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Return a log with a line in it."""
    path = tmp_path / "run.jsonl"
    path.write_text("{}\n")
    return path


@contextmanager
def opened(path: Path) -> Iterator[int]:
    """Open a file to read and write."""
    descriptor = os.open(path, os.O_RDWR)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def held_by_another(path: Path) -> Iterator[subprocess.Popen[str]]:
    """Let another process generate for a log, and write to it."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLDS, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        try:
            yield other
        finally:
            other.kill()


def test_a_stage_that_is_held_is_refused_with_the_process_that_holds_it(log: Path) -> None:
    """Also through a link, and while it writes; another stage, and the same stage of another log, are free."""
    link, copy = log.with_name("link"), log.with_name("copy")
    link.symlink_to(log)
    copy.write_bytes(log.read_bytes())
    with held_by_another(log) as other, opened(link) as descriptor:
        with (
            pytest.raises(UsageError, match=rf"link: another command is already writing .*pid {other.pid}\)"),
            locks.held(descriptor, link, "generate"),
        ):
            pass
        with locks.held(descriptor, link, "judge"), opened(copy) as free, locks.held(free, copy, "generate"):
            pass


def test_a_process_that_ends_while_the_holder_is_looked_for_is_none(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine some always do: the folder of one is gone before it is listed."""

    def without_own(listed: Callable[..., object]) -> Callable[..., object]:
        def refusing(path: str | Path = ".") -> object:
            if str(path) == f"/proc/{os.getpid()}/fd":
                raise FileNotFoundError(path)
            return listed(path)

        return refusing

    with held_by_another(log) as other, opened(log) as descriptor:
        for name in ("scandir", "listdir"):
            monkeypatch.setattr(os, name, without_own(getattr(os, name)))
        with pytest.raises(UsageError, match=rf"pid {other.pid}"), locks.held(descriptor, log, "generate"):
            pass


def test_a_process_that_is_killed_holds_nothing(log: Path) -> None:
    """The system lets go of both locks: the next command neither waits nor is refused."""
    with held_by_another(log) as other, opened(log) as descriptor:
        other.kill()
        other.wait()
        with locks.held(descriptor, log, "generate"), locks.writing(descriptor, log, print):
            pass


def test_a_stage_ends_with_its_block(log: Path) -> None:
    """Whether it was done or failed, the next one may begin in the same process."""
    with opened(log) as first, opened(log) as second:
        with pytest.raises(ValueError, match="broken"), locks.held(first, log, "aggregate"):
            raise ValueError("broken")
        with (
            locks.held(second, log, "aggregate"),
            pytest.raises(UsageError, match=f"pid {os.getpid()}"),
            locks.held(first, log, "aggregate"),
        ):
            pass


def test_locks_are_no_part_of_a_log(log: Path) -> None:
    """They lie behind any byte that a log has: it stays as long as it was, and nothing is beside it."""
    with opened(log) as descriptor, locks.held(descriptor, log, "judge"), locks.writing(descriptor, log, print):
        assert log.read_text() == "{}\n"
        assert list(log.parent.iterdir()) == [log]


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("/usr/bin/python /venv/bin/keval run eval.yaml", "run"),
        ("/usr/bin/python3 -I -m keval judge run.jsonl", "judge"),
        ("keval generate eval.yaml", "generate"),
        ("python -m keval", None),
        ("python -m keval --version", None),
        ("python own.py keval run", None),
        ("python -c code keval run", None),
        ("", None),
    ],
)
def test_a_command_is_named_as_it_was_typed(line: str, command: str | None) -> None:
    """Whoever runs keval in a way that does not show which command it is goes without a name."""
    assert locks.command_in(line.split(" ")) == command


def test_a_log_that_is_kept_closed_is_written_to_by_nobody(log: Path) -> None:
    """Several may keep it so, also by a file that is open to read; who holds a stage keeps them from it."""
    with log.open("rb") as first, log.open("rb") as second, opened(log) as writer:
        with (
            locks.closed(first.fileno(), log),
            locks.closed(second.fileno(), log),
            pytest.raises(UsageError, match=rf"\(pid {os.getpid()}\)"),
            locks.held(writer, log, "judge"),
        ):
            pass
        with locks.held(writer, log, "judge"), pytest.raises(UsageError), locks.closed(first.fileno(), log):
            pass
        with locks.closed(first.fileno(), log):
            pass


@pytest.mark.skipif(locks._SET is None, reason="only Linux locks parts of files for one opening")  # noqa: SLF001 - asked by tests alone
def test_who_holds_a_log_that_is_waited_for_is_told(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A writer that waits for one who keeps the log closed says so once, and goes on as soon as it may."""
    monkeypatch.setattr(locks, "SILENT_S", 0.05)
    told: list[str] = []
    is_told = threading.Event()

    def warn(line: str) -> None:
        told.append(line)
        is_told.set()

    with opened(log) as writer, log.open("rb") as reader:
        with locks.writing(writer, log, warn):
            pass
        with ExitStack() as kept:
            kept.enter_context(locks.closed(reader.fileno(), log))

            def end() -> None:
                is_told.wait(10)
                kept.close()

            ends = threading.Thread(target=end)
            ends.start()
            with locks.writing(writer, log, warn):
                ends.join()
    assert told == [
        f"{log}: another command is already writing to this log (pid {os.getpid()}); waiting until it is done"
    ]


@pytest.mark.parametrize("locked", [partial(locks.writing, warn=print), locks.closed])
def test_a_file_system_without_locks_is_named_as_what_is_missing(
    locked: Callable[[int, Path], AbstractContextManager[None]], log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as some network disks: nothing is written or copied there."""

    def refuse(*_: object) -> None:
        raise OSError(errno.EOPNOTSUPP, "Operation not supported")

    monkeypatch.setattr(fcntl, "fcntl", refuse)
    with opened(log) as descriptor, pytest.raises(EnvironmentLacksError, match="local disk"), locked(descriptor, log):
        pass
