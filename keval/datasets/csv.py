"""Comma-separated values with a header line; every value is a string."""

from __future__ import annotations

import codecs
import csv
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from keval.datasets import Dataset, Row, not_json

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Csv(Dataset):
    """Reads CSV with double quotes, one record at a time."""

    def rows(self, path: Path) -> Iterator[Row]:
        """Yield a row for each record after the header; its line is the one on which it begins."""
        # Python's limit of 128 KiB a field is for the whole process; a long answer is not an error.
        csv.field_size_limit(sys.maxsize)
        records = _records(path)
        header = next(records, None)
        if header is None:
            return
        line, names, problem = header
        problem = problem or _header_problem(names)
        if problem:
            yield Row(line, problem=problem)
            return
        for line, values, problem in records:
            yield Row(line, problem=problem) if problem else _row(line, names, values)


def _header_problem(names: list[str]) -> str | None:
    twice = sorted({repr(name) for name in names if names.count(name) > 1})
    return f"the header names a column twice: {', '.join(twice)}" if twice else not_json(names)


def _row(line: int, names: list[str], values: list[str]) -> Row:
    if len(values) != len(names):
        return Row(line, problem=f"{len(values)} values under a header of {len(names)}; a comma inside needs quotes")
    return Row(line, dict(zip(names, values, strict=True)))


def _records(path: Path) -> Iterator[tuple[int, list[str], str | None]]:
    """Yield the first line and the values of each record that is not a blank line, or its problem."""
    with path.open("rb") as file:
        reader = csv.reader(_lines(file), strict=True)
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
                yield line, values, None


def _lines(file: Iterator[bytes]) -> Iterator[str]:
    """Yield lines that only a line feed ends; bytes that are not UTF-8 stay visible as surrogates."""
    for number, line in enumerate(file):
        content = line if number else line.removeprefix(codecs.BOM_UTF8)
        yield content.decode(errors="surrogateescape")
