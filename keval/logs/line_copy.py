"""Copies lines that come only once, such as those of a pipe, to a file in which they can be read again."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from keval.errors import EnvironmentLacksError, KevalError
from keval.logs.stream import Stretch
from keval.projections.growing import GrowingFile
from keval.projections.log_file import Lines


class LineCopy:
    """A copy that is made of valid lines, in two parts: of much, the second one is read while it is made."""

    def __init__(
        self,
        growing: GrowingFile,
        stretches: Iterator[Stretch],
        on_lines: Callable[[bytes], None] | None = None,
        on_end: Callable[[], None] = lambda: None,
    ) -> None:
        """Copy into `growing`; call `on_lines` with lines that are valid, and `on_end` when no more are copied."""
        self.growing = growing
        self.is_whole = False
        """Whether all lines have been copied."""
        self._stretches = stretches
        self._on_lines = on_lines
        self._on_end = on_end
        self._failure: BaseException | None = None
        self._are_taken = True
        self._offsets = array("q")
        self._longest = 0
        self._end = 0

    def begin(self) -> None:
        """Copy what comes until it is enough for a piece, or all of it. Raises what the source does, and as `rest`."""
        self._copy(self.growing.piece)

    def rest(self) -> Lines:
        """Copy what has not been copied, and return where all lines lie. Raises EnvironmentLacksError."""
        if self._failure is not None:  # what comes after it is not the rest
            raise self._failure
        if not self.is_whole:
            self._copy()
        return Lines(self._offsets, self._longest)

    def _copy(self, enough: int | None = None) -> None:
        try:
            self.is_whole = self._copy_stretches(enough)
        except BaseException as error:
            self._failure = error
            self.growing.breaks_off()
            self._on_end()
            raise
        if self.is_whole:
            self.growing.ends()
            self._on_end()

    def _copy_stretches(self, enough: int | None) -> bool:
        """Return whether there are no more."""
        with writing_copy(self.growing.path), self.growing.path.open("ab") as target:
            for stretch in self._stretches:
                self._pass_on(stretch)
                target.write(stretch.raw)
                target.flush()
                self._note(stretch)
                self.growing.reaches(self._end)
                if enough is not None and self._end >= enough:
                    return False
        return True

    def pass_on_rest(self, _: object, error: BaseException | None, __: object) -> None:
        """Take in and pass on what was not copied, for `ExitStack.push`: what writes into a pipe can write to its end.

        Not after an interruption, nor where nobody takes it. Raises InputError, unless there was an error before.
        """
        if self.is_whole or not self._are_taken or not (error is None or isinstance(error, Exception)):
            return
        try:
            for stretch in self._stretches:
                self._pass_on(stretch)
        except KevalError:
            if error is None:
                raise

    def _pass_on(self, stretch: Stretch) -> None:
        if self._on_lines is not None:
            self._are_taken = False
            self._on_lines(stretch.raw)
            self._are_taken = True

    def _note(self, stretch: Stretch) -> None:
        self._longest = max(self._longest, *stretch.lengths)
        for length in stretch.lengths:
            self._offsets.append(self._end)
            self._end += length


def copied(stretches: Iterable[Stretch], path: Path) -> Lines:
    """Write lines to a file, and return where they lie in it. Raises EnvironmentLacksError."""
    return LineCopy(GrowingFile(path), iter(stretches)).rest()


@contextmanager
def writing_copy(copy: Path) -> Iterator[None]:
    """Turn what the system says of a temporary copy that is written meanwhile into EnvironmentLacksError."""
    try:
        yield
    except OSError as error:  # of the copy: what is read and what is passed on have errors of their own
        raise EnvironmentLacksError(f"{copy}: {error.strerror}; TMPDIR names another folder") from error
