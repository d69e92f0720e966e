"""Says of an interrupted command what goes on with it, where that is not the same command."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from keval.errors import InterruptError


@contextmanager
def in_pipe(*, mock: bool) -> Iterator[None]:
    """Say of an interrupted command that writes to stdout what goes on with it: the same command would begin anew."""
    option = " --mock" if mock else ""
    try:
        yield
    except InterruptError:
        does_the_rest = f"`keval generate CONFIG -o LOG{option}` and `keval judge LOG{option}` do the rest"
        raise InterruptError(f"interrupted; if stdout was saved as LOG, {does_the_rest}") from None


@contextmanager
def asking_afresh(*, fresh: bool) -> Iterator[None]:
    """Say of an interrupted command with --fresh what goes on with it: with that option all is asked for again."""
    try:
        yield
    except InterruptError:
        if not fresh:
            raise
        raise InterruptError(
            "interrupted; the same command without --fresh keeps the new answers, and the old ones where none is new; "
            "with it all are asked for again"
        ) from None
