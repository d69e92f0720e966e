"""Reads a file while it is written, piece by piece: DuckDB reads a file as it is, and cannot wait for more."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue

from keval.errors import EnvironmentLacksError
from keval.processes import temporary
from keval.processes.beside import taken
from keval.processes.file_parts import copy_part

PIECE = 64 * 2**20
"""Bytes of a piece: smaller ones cost a query each, larger ones leave the reader idle at first."""


class BrokenOffError(Exception):
    """A file that was read while it grew will not be finished."""


class GrowingFile:
    """A file of lines that one thread writes and another one reads; the writer says how far it has come."""

    def __init__(self, path: Path, piece: int = PIECE) -> None:
        self.path = path
        self.piece = piece
        """Bytes that are read at once, at least, as long as the file grows."""
        self._end = 0
        self._told = 0
        self._is_whole = False
        self._is_broken_off = False
        self._news: SimpleQueue[None] = SimpleQueue()

    def reaches(self, end: int) -> None:
        """Say that the file has all lines up to this byte, at which one ends."""
        self._end = end
        if end - self._told >= self.piece:
            self._told = end
            self._news.put(None)

    def ends(self) -> None:
        """Say that the file is whole."""
        self._is_whole = True
        self._news.put(None)

    def breaks_off(self) -> None:
        """Say that the file will not be whole, or that nobody needs it any more."""
        self._is_broken_off = True
        self._news.put(None)

    def pieces(self) -> Iterator[tuple[Path, bool]]:
        """Yield files with the lines that have come, each gone after its turn, and of each whether it is the last one.

        The last one has what was left when the file was whole, be it nothing. Raises BrokenOffError, and
        EnvironmentLacksError where there is no room for a piece, and for as much again while the file grows.
        """
        start, is_last = 0, False
        while not is_last:
            if not self._is_whole:
                taken(self._news)
            if self._is_broken_off:
                raise BrokenOffError
            is_last, end = self._is_whole, self._end  # in this order: a whole file grows no more
            if is_last or end - start >= self.piece:
                self._check_room(end - start, 0 if is_last else end)
                with self._cut_out(start, end) as piece:
                    if self._is_broken_off:
                        raise BrokenOffError
                    yield piece, is_last
                start = end

    def _check_room(self, size: int, more: int) -> None:
        """Raise EnvironmentLacksError where a piece would take the room that the file may still need."""
        if shutil.disk_usage(self.path.parent).free < size + more:
            raise EnvironmentLacksError(f"{self.path.parent}: no room for a part of a file beside it")

    @contextmanager
    def _cut_out(self, start: int, end: int) -> Iterator[Path]:
        with temporary.folder() as folder:
            piece = folder / "piece.jsonl"
            with temporary.needing_room(piece):
                copy_part(self.path, start, end, piece)
            yield piece
