"""Reads how long a service asks to wait before it is asked again."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from email.utils import mktime_tz, parsedate_tz


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Return the wait that a Retry-After header asks for, in seconds or as a date (RFC 9110, 10.2.3)."""
    written = headers.get("retry-after", "")
    try:
        seconds = float(written)
    except ValueError:
        date = parsedate_tz(written)
        if date is None:
            return None
        seconds = mktime_tz(date) - time.time()
    return max(seconds, 0.0) if math.isfinite(seconds) else None
