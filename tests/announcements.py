"""What `generate` and `run` say before they ask, which tests of other words leave out."""

from __future__ import annotations

import re

ANNOUNCED = re.compile(r"(?m)^keval: (the log is .*|.* will be asked for.*|.* will count no more: .*)\n")


def without_announcements(stderr: str) -> str:
    """Return stderr without which log it is, what will count no more, and how much will be asked for."""
    return ANNOUNCED.sub("", stderr)
