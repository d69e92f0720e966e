"""Reads a file while it is written, piece by piece: DuckDB reads a file as it is, and cannot wait for more."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue

from keval.processes import temporary
from keval.processes.beside import taken
from keval.processes.file_parts import copy_part

PIECE = 64 * 2**20
"""Bytes of a piece: of smaller ones each takes a query of its own, larger ones come late."""


@dataclass
class Growing:
    """A file of lines that one thread writes and another one reads; the writer says how far it has come."""

    path: Path
    piece: int = PIECE
    """Bytes that are read at once, at least, while the file grows."""
    _start: int = 0
    _end: int = 0
    _told: int = 0
    _is_whole: bool = False
    _is_left: bool = False
    _news: SimpleQueue[None] = field(default_factory=SimpleQueue)

    def reaches(self, end: int) -> None:
        """Say that the file has all lines up to this byte, at which one ends."""
        self._end = end
        if end - self._told >= self.piece:
            self._told = end
            self._news.put(None)

    def ends(self) -> None:
        """Say that nothing more will come, be it that the writer failed."""
        self._is_whole = True
        self._news.put(None)

    def leave(self) -> None:
        """Say that what has come since the last piece need not be read: there was an error."""
        self._is_left = True
        self.ends()

    def pieces(self) -> Iterator[Path]:
        """Yield files with the lines that have come, each gone after its turn, as long as more may come.

        Raises EnvironmentLacksError where there is no room for them.
        """
        while not self._is_whole:
            taken(self._news)
            end = self._end
            if end - self._start >= self.piece:
                with self._cut_out(end) as piece:
                    yield piece

    @contextmanager
    def rest(self) -> Iterator[Path]:
        """Give a file with the lines that were in no piece, of which there may be none. Raises as `pieces`."""
        with self._cut_out(self._start if self._is_left else self._end) as rest:
            yield rest

    @contextmanager
    def _cut_out(self, end: int) -> Iterator[Path]:
        with temporary.folder() as folder:
            piece = folder / "piece.jsonl"
            with temporary.needing_room(piece):
                copy_part(self.path, self._start, end, piece)
            yield piece
        self._start = end
