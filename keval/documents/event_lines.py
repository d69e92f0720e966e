"""Tells of most lines of a log that they are valid, several times faster than parsing and validating each.

A line is accepted if it decodes to the type of its event and has no key twice, so that every reader reads the same. Of
any other line nothing is said: it may be valid all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

from keval import schema
from keval.ids import JsonObject

MANY = 5_000
"""For so many events it is worth while to compile their types; fewer are checked by the validator that is there."""


def stand_as_written(raw: bytes) -> bool:
    """Return whether all lines of a piece of a log are valid and stand as keval writes them, each with its newline.

    It is faster than `accepted`, which takes other spaces and orders, too.
    """
    codec = _codec()
    try:
        return raw.endswith(b"\n") and codec.encode_lines(codec.decode_lines(raw)) == raw
    except codec.refusals:
        return False


def accepted(lines: Sequence[bytes], first: int = 0) -> int:
    """Return where, from `first` on, the first line stands that is not known to be valid; `len(lines)` if all are.

    Lines are without their newlines. What is accepted, `strict_json.parse` and `schema.event_problem` accept too.
    """
    decode, encode, _, _, refusals = _codec()
    place = first
    try:
        for place in range(first, len(lines)):
            line = lines[place]
            written = encode(decode(line))
            if written != line and not _has_each_key_once(line, written):
                return place
    except refusals:
        return place
    return len(lines)


def _has_each_key_once(line: bytes, written: bytes) -> bool:
    """Return whether a line, which is `written` again with other spaces or in another order, has each of its keys once.

    A key that stands twice is read once, so its colon is missing when the line is written again. Spaces, orders and
    numbers have no colons, and one that a text has stays in it: unless it was escaped, of such lines nothing is said.
    """
    return written.count(b":") == line.count(b":") and b"\\u003" not in line


def checker(events: int) -> Callable[[JsonObject], str | None]:
    """Return what does the work of `schema.event_problem` for about so many events that are to be written.

    Many are looked at as their types first, in a form in which no number becomes null, as it would in JSON.
    """
    if events < MANY:
        return schema.event_problem
    import msgspec

    decode, encode = msgspec.msgpack.Decoder(_types()).decode, msgspec.msgpack.Encoder().encode

    def problem(event: JsonObject) -> str | None:
        try:
            decode(encode(event))
        except (msgspec.MsgspecError, TypeError, ValueError, RecursionError, OverflowError):
            return schema.event_problem(event)
        return None

    return problem


@cache
def _types() -> Any:  # noqa: ANN401 - a union that is made from the schemas has no type of its own
    from keval.documents.event_types import event_types

    return event_types()


class _Codec(NamedTuple):
    """What reads events and what writes them, one or many, and the errors by which either refuses."""

    decode: Callable[[bytes], Any]
    encode: Callable[[Any], bytes]
    decode_lines: Callable[[bytes], list[Any]]
    encode_lines: Callable[[list[Any]], bytes]
    refusals: tuple[type[Exception], ...]


@cache
def _codec() -> _Codec:
    import msgspec

    decoder, encoder = msgspec.json.Decoder(_types()), msgspec.json.Encoder()
    # ValueError is what is no UTF-8; a line can be nested deeper than Python calls.
    refusals = (msgspec.MsgspecError, ValueError, RecursionError)
    return _Codec(decoder.decode, encoder.encode, decoder.decode_lines, encoder.encode_lines, refusals)
