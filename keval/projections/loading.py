"""Fills a database with the lines of logs: what is stored of them already is copied, the rest is read.

`lines` has what numbers are made from, `line_offsets` where each line begins, in the same order, and `declarations`
what only few lines have: those of runs, plans and changed samples.
"""

from __future__ import annotations

import os
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import accumulate, chain
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from keval.processes import memory, temporary
from keval.processes.beside import Beside
from keval.projections.growing import GrowingFile
from keval.projections.line_text import descriptors_of, line_in
from keval.projections.log_file import DECLARING, ChangedError, Lines, LogFile
from keval.projections.sql_file import literal, load, verbatim
from keval.projections.tool_use import IN_SQL
from keval.projections.views import inserted, made

if TYPE_CHECKING:
    import duckdb

READ = ("lines", "line_offsets", "declarations")
"""The tables that are read from a log, not computed."""

SHORTEST_LINE = 2**20
"""Bytes that DuckDB is told a line may have, at least; it reserves twice as much for each thread that reads."""

LINES_PER_THREAD, MOST_THREADS = 8, 4
"""Of the longest line so many have to fit into memory for each thread that reads; more than these gain little."""

MOST_FOR_LOADING = 800 * 2**20
"""Bytes that DuckDB takes at most to read lines; with less, only one thread fills a table of so many columns."""

MOST_TOGETHER, SMALL = 1000, 4 * 2**20
"""So many logs are read by one query at most, each of so many bytes at most: a query takes longer than they do."""

FEW = 20_000
"""So many numbers are handed over as they are; more of them as an array, for which numpy is loaded."""


def threads(longest: int) -> int:
    """Return how many threads may read lines that have so many bytes at most."""
    limit = memory.for_queries()
    return max(min(os.cpu_count() or 1, MOST_THREADS, limit // (LINES_PER_THREAD * bound(longest))), 1)


def bound(longest: int) -> int:
    """Return the bytes that DuckDB is told a line may have."""
    return 1 + max(SHORTEST_LINE, longest)


def lines_query(file: int, path: str, longest: int, limit: str = "") -> str:
    """Return the query for the lines of a file, none of which has more bytes; path and limit are SQL."""
    return load(
        "projections", "lines", file=str(file), path=path, longest_line=str(bound(longest)), limit=limit, **IN_SQL
    )


def name_files(connection: duckdb.DuckDBPyConnection, count: int, before: int = 0) -> None:
    """Make the view of what files are called that stand in `session.files` after so many others `before`."""
    named = load("projections", "named_files", before=str(before), count=str(count))
    connection.execute(made("VIEW", "files", named))


def load_lines(connection: duckdb.DuckDBPyConnection, logs: Sequence[LogFile], before: int = 0) -> None:
    """Make the tables of lines, one log after the other; `before` as in `name_files`. Raises InputError."""
    name_files(connection, len(logs), before)
    connection.execute("CREATE TABLE line_offsets (position BIGINT, line_offset BIGINT)")
    number, lines = 1, 0
    for group in _read_together(logs):
        if len(group) > 1:
            lines = _load_together(connection, number, lines, group)
        else:
            lines = _load(connection, number, lines, group[0])
        number += len(group)


def _read_together(logs: Sequence[LogFile]) -> Iterator[list[LogFile]]:
    """Yield the logs in order, those in one list that one query may read."""
    group: list[LogFile] = []
    for log in logs:
        if group and not (len(group) < MOST_TOGETHER and _is_small(log) and _is_small(group[-1])):
            yield group
            group = []
        group.append(log)
    if group:
        yield group


def _is_small(log: LogFile) -> bool:
    return log.stored is None and log.is_checked and log.path.stat().st_size <= SMALL


def _load_together(connection: duckdb.DuckDBPyConnection, number: int, before: int, logs: Sequence[LogFile]) -> int:
    """Append the lines of small logs after so many others, and return how many there are then."""
    counts = [len(log.where.offsets) for log in logs]
    with temporary.folder() as folder:
        together = folder / "lines.jsonl"
        with temporary.needing_room(together), together.open("wb") as target:
            for log in logs:
                target.write(_checked_part(log))
        each = lines_query(0, literal(verbatim(together)), max(log.where.longest for log in logs))
        query = load(
            "projections",
            "lines_together",
            lines=each,
            files=str(list(range(number, number + len(logs)))),
            counts=str(counts),
        )
        connection.execute(made("OR REPLACE TABLE", "lines", query) if number == 1 else inserted("lines", query))
    after = before + sum(counts)
    if _events(connection) != after:
        raise ChangedError(", ".join(log.name for log in logs))
    _note_offsets(connection, before, array("q", chain.from_iterable(log.where.offsets for log in logs)))
    _read_declarations(connection, before, logs, is_first=number == 1)
    return after


def _checked_part(log: LogFile) -> bytes:
    """Return the lines of a small log that were checked, without what a writer has added since. Raises ChangedError."""
    if not log.where.offsets:
        return b""
    read = log.path.read_bytes()
    last = log.where.offsets[-1]
    lines, _newline, _ = read[last:].partition(b"\n")
    if not lines.strip():
        raise ChangedError(log.name)
    return read[:last] + lines + b"\n"


def _load(connection: duckdb.DuckDBPyConnection, number: int, before: int, log: LogFile) -> int:
    """Append the lines of a log after so many others, and return how many there are then."""
    copied = 0
    if log.stored is not None:
        _copy(connection, number, before, log.stored.path)
        copied = log.stored.lines
    where = _read(connection, number, log)
    _note_offsets(connection, before + copied, where.offsets)
    _check_unchanged(connection, log, before, copied)
    _read_declarations(connection, before + copied, [log], is_first=number == 1 and log.stored is None)
    return before + copied + len(where.offsets)


def _copy(connection: duckdb.DuckDBPyConnection, number: int, before: int, stored: Path) -> None:
    """Append the lines that a stored database has."""
    connection.execute(f"ATTACH {literal(str(stored))} AS stored (READ_ONLY)")
    lines = load("projections", "stored_lines", file=str(number))
    connection.execute(inserted("lines", lines) if number > 1 else made("TABLE", "lines", lines))
    connection.execute(inserted("line_offsets", load("projections", "stored_offsets", before=str(before))))
    declarations = load("projections", "stored_declarations", before=str(before))
    connection.execute(
        inserted("declarations", declarations) if number > 1 else made("TABLE", "declarations", declarations)
    )
    connection.execute("DETACH stored")


def _read(connection: duckdb.DuckDBPyConnection, number: int, log: LogFile) -> Lines:
    """Append the lines that are not stored, and return where they lie."""
    if not log.is_checked:
        return _read_meanwhile(connection, number, log)
    # DuckDB heeds a limit with one thread alone: it is set only where a writer may have added lines.
    limit = f"limit {len(log.where.offsets)}" if log.rest is None else ""
    is_first = number == 1 and log.stored is None
    longest = log.where.longest
    if log.rest is None:
        # What a writer adds to a log that was checked long ago may be large: DuckDB meets the next line at most.
        longest = max(longest, next(_lengths_behind(log, log.where), 0))
    _append(connection, number, log.rest or log.path, longest, limit, is_first=is_first)
    return log.where


def _lengths_behind(log: LogFile, where: Lines) -> Iterator[int]:
    """Yield how many bytes each line has behind the last one that was checked: it is cut off, invalid or new."""
    with log.path.open("rb") as file:
        if where.offsets:
            file.seek(where.offsets[-1])
            _length_of_line(file)
        while length := _length_of_line(file):
            yield length


def _length_of_line(file: BinaryIO) -> int:
    """Return how many bytes the next line has, and pass over it."""
    length = 0
    while piece := file.readline(SHORTEST_LINE):
        length += len(piece)
        if piece.endswith(b"\n"):
            break
    return length


def _read_meanwhile(connection: duckdb.DuckDBPyConnection, number: int, log: LogFile) -> Lines:
    """Make the table of lines while they are checked, and return where they lie: such a log is read alone."""
    growing = log.growing
    read = partial(_append, connection, number, log.path, is_first=True)
    appended = Beside(read if growing is None else partial(_append_growing, connection, number, growing))
    try:
        appended.begin()
        where = log.where
        error = appended.end()
    except BaseException:
        if growing is not None:
            growing.breaks_off()
        connection.interrupt()
        appended.end()
        raise
    # Where there was no room for pieces beside what grew, there may be now.
    longest = max(where.longest, *_lengths_behind(log, where), 0)
    if longest > SHORTEST_LINE or (error is not None and growing is not None):
        connection.execute(f"SET threads = {threads(longest)}")
        read(longest=longest)
    elif error is not None:
        raise error
    # What a writer has added since is not looked at.
    connection.execute(load("projections", "cut_off", lines=str(len(where.offsets))))
    return where


def _append(  # noqa: PLR0913 - what the query needs, and where its rows go
    connection: duckdb.DuckDBPyConnection, number: int, path: Path, longest: int = 0, limit: str = "", *, is_first: bool
) -> None:
    """Append the lines of a file, of the first one as a new table; other arguments as in `lines_query`."""
    query = lines_query(number, literal(verbatim(path)), longest, limit)
    connection.execute(made("OR REPLACE TABLE", "lines", query) if is_first else inserted("lines", query))


def _append_growing(connection: duckdb.DuckDBPyConnection, number: int, growing: GrowingFile) -> None:
    """Make the table of lines of a file that is written meanwhile, by one thread as long as another one writes.

    All of it is one transaction: to commit each piece takes as long as to read it.
    """
    ((all_threads,),) = connection.execute("SELECT current_setting('threads')").fetchall()
    connection.execute("SET threads = 1")
    connection.begin()
    is_first = True
    try:
        for piece, is_last in growing.pieces():
            if is_last:
                connection.execute(f"SET threads = {all_threads}")
            _append(connection, number, piece, is_first=is_first)
            is_first = False
    except BaseException:
        connection.rollback()
        raise
    connection.commit()


def _note_offsets(connection: duckdb.DuckDBPyConnection, before: int, offsets: array[int]) -> None:
    if len(offsets) <= FEW:
        query = load(
            "projections", "new_offsets", before=str(before), given="(select unnest(?::bigint[]) as line_offset)"
        )
        connection.execute(inserted("line_offsets", query), [offsets.tolist()])
        return
    import numpy as np

    connection.register("given_offsets", {"line_offset": np.frombuffer(offsets, dtype=np.int64)})
    query = load("projections", "new_offsets", before=str(before), given="given_offsets")
    connection.execute(inserted("line_offsets", query)).fetchall()  # or the array could not be given back
    connection.unregister("given_offsets")


def _read_declarations(
    connection: duckdb.DuckDBPyConnection, before: int, logs: Sequence[LogFile], *, is_first: bool
) -> None:
    """Append what few lines have, from a file of these lines alone; they come after so many lines of other logs."""
    found = connection.execute(
        load("projections", "declaring", types=", ".join(map(literal, DECLARING)), before=str(before))
    ).fetchall()
    ends = list(accumulate((len(log.where.offsets) for log in logs), initial=before))[1:]
    with temporary.folder() as folder, ExitStack() as open_:
        few, longest = folder / "declarations.jsonl", 0
        reading: LogFile | None = None
        descriptor = -1
        with temporary.needing_room(few), few.open("wb") as target:
            for position, offset in found:
                if (log := logs[bisect_left(ends, position)]) is not reading:
                    open_.close()
                    (descriptor,) = open_.enter_context(descriptors_of([log]))
                    reading = log
                line = f"{line_in(descriptor, offset)}\n".encode()
                longest = max(longest, len(line) - 1)
                target.write(line)
        declared = load("projections", "declarations", path=literal(verbatim(few)), longest_line=str(bound(longest)))
        query = load("projections", "placed_declarations", positions="?", declarations=declared)
        statement = made("OR REPLACE TABLE", "declarations", query) if is_first else inserted("declarations", query)
        connection.execute(statement, [[position for position, _ in found]])


def _check_unchanged(connection: duckdb.DuckDBPyConnection, log: LogFile, known: int, copied: int) -> None:
    """Raise InputError if there are fewer lines than were checked: somebody wrote over a log or cut it off."""
    checked = copied + len(log.where.offsets)
    if _events(connection) != known + checked or log.lines not in {None, checked}:
        raise ChangedError(log.name)


def _events(connection: duckdb.DuckDBPyConnection) -> int:
    ((_, events),) = connection.execute(load("projections", "count_lines")).fetchall()
    return int(events)
