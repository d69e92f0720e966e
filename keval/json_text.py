"""What JSON text can hold, and how it is read: too little memory is told from a text that is no JSON."""

from __future__ import annotations

from typing import Any

import orjson

SMALLEST_INT, LARGEST_INT = -(2**63), 2**64 - 1
"""The integers that orjson reads and writes to the last digit, as few readers of JSON do beyond 64 bits."""

LARGEST_SIGNED_INT = 2**63 - 1
"""The largest integer that 64 bits hold beside a sign: what msgspec compares, and a number in YAML may be."""

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
