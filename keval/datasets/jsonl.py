"""One JSON object per line.

Only a line feed ends a line: other separators that Unicode knows are data inside a string. Blank
lines are skipped; a byte order mark, carriage returns and a last line without its end are accepted.
"""

from __future__ import annotations

import codecs
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from keval.datasets import NOT_UTF_8, Dataset, Row, not_json, opened, parse_json

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Jsonl(Dataset):
    """Reads JSONL, one line at a time."""

    def rows(self, path: Path) -> Iterator[Row]:
        """Yield a row for each line that is not blank."""
        with opened(path) as file:
            for number, line in enumerate(file, start=1):
                content = line.removeprefix(codecs.BOM_UTF8) if number == 1 else line
                if content.strip():
                    yield _row(number, content)

    def count(self, path: Path) -> int:
        """Return how many lines are not blank."""
        with opened(path) as file:
            return sum(1 for line in file if line.strip())


def _row(number: int, line: bytes) -> Row:
    try:
        record = parse_json(line.decode())
    except UnicodeDecodeError as error:
        return Row(number, problem=f"{NOT_UTF_8} (byte {error.start + 1} of the line)")
    except json.JSONDecodeError as error:
        return Row(number, problem=f"not JSON: {error.msg} (column {error.colno})")
    if not isinstance(record, dict):
        return Row(number, problem=not_json(record) or "not a JSON object")
    return Row(number, record)
