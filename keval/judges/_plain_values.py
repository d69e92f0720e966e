"""Writes plain values of Python as JSON and reads them back: with their types, and with nothing else.

Any other value is sent as a reference: a number by which its owner finds it again.
"""

# ruff: noqa: ANN401 - what passes here is any value of any code

from __future__ import annotations

import collections
import datetime as dt
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import PurePath
from typing import Any


def encoded(value: Any, remote: Callable[[Any], int]) -> Any:
    """Return a value as JSON holds it; `remote` does so for all but plain values."""
    if value is None or isinstance(value, bool):
        return value
    fields = getattr(type(value), "_fields", None)
    if isinstance(value, tuple) and isinstance(fields, tuple) and len(fields) == len(value):
        return {"n": [type(value).__name__, list(fields), [encoded(item, remote) for item in value]]}
    for kind, write in PLAIN:
        if isinstance(value, kind):
            return write(value, remote)
    return {"r": remote(value)}


def _items(tag: str) -> Callable[[Any, Callable[[Any], int]], Any]:
    return lambda value, remote: {tag: [encoded(item, remote) for item in value]}


KEYS: type = type({}.keys())
"""The keys of a dict."""

PLAIN: tuple[tuple[type, Callable[[Any, Callable[[Any], int]], Any]], ...] = (
    (int, lambda value, _: {"i": hex(int(value))}),
    (float, lambda value, _: {"f": float.hex(float(value))}),
    (complex, lambda value, _: {"c": [float.hex(value.real), float.hex(value.imag)]}),
    (str, lambda value, _: {"s": str.__str__(value)}),
    (bytes, lambda value, _: {"b": bytes(value).hex()}),
    (bytearray, lambda value, _: {"a": bytes(value).hex()}),
    (range, lambda value, _: {"g": [hex(value.start), hex(value.stop), hex(value.step)]}),
    (Decimal, lambda value, _: {"D": Decimal.__str__(value)}),
    (Fraction, lambda value, _: {"F": [hex(value.numerator), hex(value.denominator)]}),
    (dt.datetime, lambda value, _: {"T": dt.datetime.isoformat(value)}),
    (dt.date, lambda value, _: {"Y": dt.date.isoformat(value)}),
    (dt.time, lambda value, _: {"C": dt.time.isoformat(value)}),
    (dt.timedelta, lambda value, _: {"P": [value.days, value.seconds, value.microseconds]}),
    (collections.deque, lambda value, remote: {"q": [value.maxlen, [encoded(item, remote) for item in value]]}),
    (list, _items("l")),
    (tuple, _items("t")),
    (frozenset, _items("z")),
    (set, _items("e")),
    (KEYS, _items("k")),
    (PurePath, lambda value, _: {"p": str(value)}),
    (dict, lambda value, remote: {"d": [[encoded(k, remote), encoded(v, remote)] for k, v in dict.items(value)]}),
)


def decoded(value: Any, local: Callable[[Any], Any]) -> Any:
    """Return a value from JSON; `local` returns what a reference stands for."""
    if value is None or isinstance(value, bool):
        return value
    ((tag, content),) = value.items()
    if tag in "ltze":
        return {"l": list, "t": tuple, "z": frozenset, "e": set}[tag](decoded(item, local) for item in content)
    if tag == "d":
        return {decoded(key, local): decoded(item, local) for key, item in content}
    kinds: dict[str, Callable[[Any], Any]] = {
        "i": lambda text: int(text, 16),
        "f": float.fromhex,
        "s": str,
        "b": bytes.fromhex,
        "a": bytearray.fromhex,
        "c": lambda parts: complex(*map(float.fromhex, parts)),
        "n": lambda parts: collections.namedtuple(*parts[:2])(*(decoded(each, local) for each in parts[2])),  # noqa: PYI024 - its names are known here only
        "q": lambda parts: collections.deque((decoded(each, local) for each in parts[1]), parts[0]),
        "g": lambda numbers: range(*(int(each, 16) for each in numbers)),
        "D": Decimal,
        "F": lambda numbers: Fraction(*(int(each, 16) for each in numbers)),
        "T": dt.datetime.fromisoformat,
        "Y": dt.date.fromisoformat,
        "C": dt.time.fromisoformat,
        "P": lambda numbers: dt.timedelta(*numbers),
        "k": lambda items: dict.fromkeys(decoded(item, local) for item in items).keys(),
        "p": PurePath,
        "r": local,
    }
    return kinds[tag](content)
