"""Knows a log by its first bytes, and an event by how its line begins."""

from __future__ import annotations

import os
import re

import orjson

from keval.events import VERSION
from keval.schema import EVENT_TYPES

HEAD_BYTES = 65536
"""How much of the beginning of a file says what it is; a longer first line of a log is read whole."""

LONGEST_FIRST_LINE = 64 * 1024 * 1024
"""A first line is not read further to learn whether it is an event."""

MOST_BLANKS = 64 * 1024 * 1024
"""Bytes of blank lines that may stand before it."""

ENVELOPE = ("type", "id", "time", "run_id")
"""The texts that every event has."""

FIRST_KEY = b'{"type":'
"""How keval begins each line."""

_AFTER_TYPE = f',"v":{VERSION},"id":"'.encode()
"""What keval writes after the type of an event."""

_WRITTEN = re.compile(rb'\{"type":"[a-z_]+"' + _AFTER_TYPE)
"""How a line begins that keval wrote, also of a type that is not known here."""


def line_begins(event_type: str) -> bytes:
    """Return how keval begins the line of an event of a type."""
    return FIRST_KEY + f'"{event_type}"'.encode()


_WHOLE_BEGINNINGS = tuple(line_begins(event_type) + _AFTER_TYPE for event_type in EVENT_TYPES)
"""How the first event of a log may begin: a crash in its middle may have left less than that."""


def is_by_keval(head: bytes) -> bool:
    """Return whether keval wrote what begins so: the first line of a log is as keval writes events."""
    return _WRITTEN.match(head) is not None


def begins_with_event(head: bytes) -> bool:
    """Return whether what begins so is a log whose first event is of a type that is known."""
    return head.startswith(_WHOLE_BEGINNINGS)


def begins_as_log(descriptor: int) -> bool:
    """Return whether an open file begins as a log: one of its first lines is an event, or the cut-off front of one.

    Lines before it that are no events do not make a log another kind of file.
    """
    start = _after_blanks(descriptor)
    head = os.pread(descriptor, HEAD_BYTES, start)
    if is_by_keval(head) or (head and any(begins.startswith(head) for begins in _WHOLE_BEGINNINGS)):
        return True
    while b"\n" not in head and len(head) < LONGEST_FIRST_LINE:
        longer = os.pread(descriptor, 2 * len(head), start)
        if len(longer) <= len(head):
            break
        head = longer
    whole, newline, rest = head.rpartition(b"\n")
    return any(_is_envelope(line) for line in (whole.split(b"\n") if newline else [rest]))


def _after_blanks(descriptor: int) -> int:
    """Return at which byte the first line that is not blank begins."""
    start = 0
    while (head := os.pread(descriptor, HEAD_BYTES, start)).isspace() and start < MOST_BLANKS:
        start += len(head)
    return start + len(head) - len(head.lstrip())


def _is_envelope(line: bytes) -> bool:
    """Return whether a line has what every event has; whether the rest of it is valid is not asked here."""
    try:
        event = orjson.loads(line)
    except orjson.JSONDecodeError:
        return False
    if not isinstance(event, dict) or event.get("v") != VERSION:
        return False
    return all(isinstance(event.get(key), str) for key in ENVELOPE)
