"""Reads JSON, and tells too little memory from a text that is no JSON."""

from __future__ import annotations

from typing import Any

import orjson

NO_MEMORY = "Not enough memory"
"""How orjson begins to say that it found no room for what it reads."""


def loads(raw: bytes | str) -> Any:  # noqa: ANN401 - any JSON value
    """Return the value of a JSON text. Raises orjson.JSONDecodeError, but MemoryError if there is too little memory."""
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        if error.msg.startswith(NO_MEMORY):  # it is no fault of the text
            raise MemoryError(f"a line of {len(raw):,} bytes") from error
        raise
