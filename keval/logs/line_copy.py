"""Copies lines that come only once, such as those of a pipe, to a file in which they can be read again."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from keval.errors import EnvironmentLacksError
from keval.logs.stream import Stretch
from keval.projections.growing import Growing
from keval.projections.log_file import Lines


@dataclass
class LineCopy:
    """A copy that is made of valid lines, in two parts: of much, the second one is read while it is made."""

    growing: Growing
    """The file that it becomes."""
    stretches: Iterator[Stretch]
    on_lines: Callable[[bytes], None] | None = None
    """Called for lines when they have been copied."""
    on_end: Callable[[], None] | None = None
    """Called when no more lines will come."""
    is_whole: bool = field(default=False, init=False)
    """Whether no more lines will come."""
    _offsets: array[int] = field(default_factory=lambda: array("q"), init=False)
    _longest: int = field(default=0, init=False)
    _end: int = field(default=0, init=False)

    @property
    def lines(self) -> Lines:
        """Where the lines lie that were copied."""
        return Lines(self._offsets, self._longest)

    def begin(self) -> None:
        """Copy what comes until it is enough for a piece, or all of it. Raises what the source does, and as `rest`."""
        self._copy(self.growing.piece)

    def rest(self) -> Lines:
        """Copy what has not been copied, and return where all lines lie. Raises EnvironmentLacksError."""
        try:
            self._copy()
        finally:
            self.growing.ends()
        return self.lines

    def _copy(self, enough: int | None = None) -> None:
        with writing_copy(self.growing.path), self.growing.path.open("ab") as target:
            for stretch in self.stretches:
                target.write(stretch.raw)
                if self.on_lines is not None:
                    self.on_lines(stretch.raw)
                self._note(stretch)
                target.flush()
                self.growing.reaches(self._end)
                if enough is not None and self._end >= enough:
                    return
        self.is_whole = True
        if self.on_end is not None:
            self.on_end()

    def _note(self, stretch: Stretch) -> None:
        self._longest = max(self._longest, *stretch.lengths)
        for length in stretch.lengths:
            self._offsets.append(self._end)
            self._end += length


def copied(stretches: Iterable[Stretch], path: Path) -> Lines:
    """Write lines to a file, and return where they lie in it. Raises EnvironmentLacksError."""
    return LineCopy(Growing(path), iter(stretches)).rest()


@contextmanager
def writing_copy(copy: Path) -> Iterator[None]:
    """Turn what the system says of a temporary copy that is written meanwhile into EnvironmentLacksError."""
    try:
        yield
    except OSError as error:  # of the copy: what is read and what is passed on have errors of their own
        raise EnvironmentLacksError(f"{copy}: {error.strerror}; TMPDIR names another folder") from error
