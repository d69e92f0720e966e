"""Reads files of other tools, so that whatever is in them is either read or told in words."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from keval.documents.packed import opened
from keval.errors import InputError
from keval.ids import JsonObject
from keval.origins import Validator, check

LARGEST_DOCUMENT = 2**30
"""Bytes of a document, unpacked, that are read at once: a small packed file may hold more than a memory does."""

_NO_NUMBER = re.compile(rb"\b(NaN|Infinity)\b")

LONGEST_IMPORTED_LINE = 2**26
"""Bytes of a line that are read."""


def document_of(path: Path) -> bytes:
    """Return all of a file, unpacked. Raises InputError if it is too large, OSError if it is damaged."""
    with opened(path) as file:
        content = file.read(LARGEST_DOCUMENT + 1)
    if len(content) > LARGEST_DOCUMENT:
        raise InputError(f"larger than {LARGEST_DOCUMENT >> 20} MiB; split it")
    return content


def rows_of(path: Path, validator: Validator) -> Iterator[JsonObject]:
    """Yield the rows of JSON lines, one at a time. Raises InputError for one of another form."""
    with opened(path) as file:
        number = 0
        while line := file.readline(LONGEST_IMPORTED_LINE + 1):
            number += 1
            if len(line) > LONGEST_IMPORTED_LINE:
                raise InputError(f"line {number} is longer than {LONGEST_IMPORTED_LINE >> 20} MiB")
            if line.strip():
                yield row_in(line, number, validator)


def parsed(content: bytes) -> Any:  # noqa: ANN401 - any JSON value
    """Return what JSON says; NaN and Infinity, which Python writes all the same, are null. Raises JSONDecodeError."""
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError:
        if not _NO_NUMBER.search(content):
            raise
        try:
            return json.loads(content, parse_constant=lambda _: None)
        except (ValueError, RecursionError):
            pass
        raise


def row_in(line: bytes, number: int, validator: Validator) -> JsonObject:
    """Return the row in a line. Raises InputError for one of another form."""
    try:
        found = parsed(line)
    except orjson.JSONDecodeError as error:
        raise InputError(f"line {number} is not JSON: {error}") from error
    return check(validator, found, f"line {number}")
