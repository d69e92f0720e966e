"""What a machine runs out of: open files, memory, processes, space.

That is nobody's bad answer. Who did not get what the machine no longer has is tried again, with
fewer at once; and what cannot fit from the start is refused before anything is asked.
"""

from __future__ import annotations

import errno
import os
import resource
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from keval.errors import UsageError

SCARCE = frozenset(
    {
        errno.EMFILE,
        errno.ENFILE,
        errno.ENOMEM,
        errno.ENOBUFS,
        errno.ENOSPC,
        errno.EDQUOT,
        errno.EADDRNOTAVAIL,
    }
)
"""What the system says when it has no more of something, whoever asks."""

NO_THREAD = "can't start new thread"
"""What Python says instead of the system's EAGAIN when there is no thread to be had."""

MOST_FILES = 65_536
"""Open files that keval allows itself: some programs that inherit the limit go through all that there might be, and
in a container it may be a thousand million."""

RESERVE = 24
"""Open files that the command needs beside its items: the log, the event loop, what is imported or looked at."""


def exhausted(error: BaseException) -> str | None:
    """Return what the machine had no more of, if that is why an error was raised, or None.

    Decided by the system's error number, on the error and on those it was raised from.
    """
    return next((said for each, direct in _chain(error) if (said := _said(each, direct=direct))), None)


def _said(error: BaseException, *, direct: bool) -> str | None:
    if isinstance(error, OSError):
        # A stream that has nothing to read yet says EAGAIN, too; whoever handles that has it as context only.
        scarce = error.errno in SCARCE or (direct and error.errno == errno.EAGAIN)
        return error.strerror or str(error) if scarce else None
    if isinstance(error, MemoryError):
        return os.strerror(errno.ENOMEM)
    if isinstance(error, RuntimeError) and str(error) == NO_THREAD:
        return NO_THREAD
    return None


def _chain(error: BaseException) -> Iterator[tuple[BaseException, bool]]:
    """Yield an error and all that it came from, each with whether it was raised from it on purpose."""
    seen: set[int] = set()
    todo = [(error, True)]
    while todo:
        each, direct = todo.pop(0)
        if id(each) in seen:
            continue
        seen.add(id(each))
        yield each, direct
        if isinstance(each, BaseExceptionGroup):
            todo += [(inner, direct) for inner in each.exceptions]
        if each.__cause__ is not None:
            todo.append((each.__cause__, direct))
        elif each.__context__ is not None and not each.__suppress_context__:
            todo.append((each.__context__, False))


_given = resource.getrlimit(resource.RLIMIT_NOFILE)
"""The limit of open files that keval was started with."""


def raise_limit() -> None:
    """Allow this process as many open files as the system lets it, up to `MOST_FILES`; never fewer than before."""
    soft, hard = _given
    wanted = MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(ValueError, OSError):  # macOS names a hard limit that it does not grant
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def own_limit() -> str:
    """Return the limit of open files that keval was started with, as a shell's `ulimit -Sn` takes it."""
    return "unlimited" if _given[0] == resource.RLIM_INFINITY else str(_given[0])


def give_own_limit(pid: int) -> None:
    """Give a program that was just started the limit that keval was started with, where the system can do that.

    With more open files than it was made for a program may fail, as one does that uses `select`. It
    has the raised limit for its first moment, in which no program has opened that many.
    """
    if hasattr(resource, "prlimit"):
        with suppress(OSError):  # it has ended by now
            resource.prlimit(pid, resource.RLIMIT_NOFILE, _given)


def check_fits(max_concurrent: int, files_each: int) -> None:
    """Raise UsageError when so many items at once need more open files than the process may have."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if limit == resource.RLIM_INFINITY or not files_each:
        return
    free = limit - _open_files() - RESERVE
    if max_concurrent * files_each > free:
        fits = max(0, free // files_each)
        what = f"at most {fits} fit" if fits else "not even one fits"
        raise UsageError(
            f"max_concurrent: {max_concurrent} does not fit: each needs up to {files_each} open files, and of the "
            f"{limit} that this process may have {max(0, free)} are free for them, so {what}; "
            f"lower execution.max_concurrent, or raise the limit (ulimit -Hn)"
        )


def _open_files() -> int:
    try:
        return len(list(Path("/dev/fd").iterdir()))
    except OSError:
        return 0
