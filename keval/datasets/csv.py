"""Values separated by commas or semicolons, with a header line or named columns; every value is a string."""

from __future__ import annotations

import codecs
import csv
import sys
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from keval.datasets import NOT_UTF_8, Dataset, Row, not_json, opened
from keval.plugins import option

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Csv(Dataset):
    """Reads CSV with double quotes, one record at a time."""

    columns: tuple[str, ...] = field(
        default=(), metadata=option("names of the columns, for a file whose first line is a record already")
    )

    def rows(self, path: Path) -> Iterator[Row]:
        """Yield a row for each record, after the header if there is one; its line is the one on which it begins."""
        # Python's limit of 128 KiB a field is for the whole process; a long answer is not an error.
        csv.field_size_limit(sys.maxsize)
        records = _records(path, self.delimiter(_first_record(path)))
        header = (1, list(self.columns), None) if self.columns else next(records, None)
        if header is None:
            return
        line, names, problem = header
        problem = problem or _header_problem(names)
        if problem:
            yield Row(line, problem=problem)
            return
        for line, values, problem in records:
            yield Row(line, problem=problem) if problem else _row(line, names, values)

    def delimiter(self, first: Sequence[str]) -> str:
        """Return what stands between two values: a semicolon if, by commas, the first record is a single value."""
        return ";" if len(first) == 1 and ";" in first[0] else ","


def _first_record(path: Path) -> list[str]:
    """Return the values of the first record as commas divide it; none if it is no CSV."""
    found = next(_records(path, ","), None)
    return [] if found is None else found[1]


def _header_problem(names: list[str]) -> str | None:
    twice = sorted(repr(name) for name, times in Counter(names).items() if times > 1)
    return f"the header names a column twice: {', '.join(twice)}" if twice else None


def _row(line: int, names: list[str], values: list[str]) -> Row:
    if len(values) != len(names):
        return Row(
            line,
            problem=f"{len(values)} values under a header of {len(names)}; a separator inside needs quotes",
        )
    return Row(line, dict(zip(names, values, strict=True)))


def _records(path: Path, delimiter: str) -> Iterator[tuple[int, list[str], str | None]]:
    """Yield the first line and the values of each record that is not a blank line, or its problem."""
    with opened(path) as file:
        reader = csv.reader(_lines(file), strict=True, delimiter=delimiter)
        while True:
            line = reader.line_num + 1
            try:
                values = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                yield line, [], f"not CSV: {error}"
                continue
            if values:
                yield line, values, NOT_UTF_8 if not_json(values) else None


def _lines(file: Iterable[bytes]) -> Iterator[str]:
    """Yield lines that only a line feed ends; bytes that are not UTF-8 stay visible as surrogates."""
    for number, line in enumerate(file):
        content = line if number else line.removeprefix(codecs.BOM_UTF8)
        yield content.decode(errors="surrogateescape")
