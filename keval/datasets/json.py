"""A JSON array of objects."""

from __future__ import annotations

import codecs
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from keval.datasets import NOT_UTF_8, Dataset, Row, not_json, opened, parse_json
from keval.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Json(Dataset):
    """Reads a JSON array, which has to be in memory as a whole."""

    def rows(self, path: Path) -> Iterator[Row]:
        """Yield a row for each element."""
        with opened(path) as file:
            content = file.read().removeprefix(codecs.BOM_UTF8)
        try:
            records = parse_json(content.decode())
        except UnicodeDecodeError as error:
            line = content.count(b"\n", 0, error.start) + 1
            yield Row(line, problem=NOT_UTF_8)
            return
        except json.JSONDecodeError as error:
            yield Row(error.lineno, problem=f"not JSON: {error.msg} (column {error.colno})")
            return
        if not isinstance(records, list):
            raise InputError("not a JSON array; for one object per line call the file .jsonl")
        for record in records:
            if isinstance(record, dict):
                yield Row(None, record)
            else:
                yield Row(None, problem=not_json(record) or "not a JSON object")
