"""Reads how long a service asks to wait before it is asked again."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Return the wait that a Retry-After header asks for, in seconds or as a date (RFC 9110, 10.2.3)."""
    written = headers.get("retry-after", "")
    try:
        seconds = float(written)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(written).timestamp() - time.time()
        except (ValueError, OverflowError):  # no date, or one of no calendar: of the year 99999
            return None
    return max(seconds, 0.0) if math.isfinite(seconds) else None
