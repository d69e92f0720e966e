"""Holds many JSON objects in little memory: each as its JSON, from which it is made anew whenever it is asked for.

As Python objects, the samples of a dataset take three times as much.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Self, overload

import orjson

from keval.ids import JsonObject


class JsonObjects(Sequence[JsonObject]):
    """JSON objects in order, none of which changes: a change of one that was taken out is a change of a copy.

    What they hold has to be JSON: see `foreign_json.unfit`.
    """

    __slots__ = ("_texts",)

    def __init__(self, objects: Iterable[JsonObject] = ()) -> None:
        self._texts = list(map(_text, objects))

    def append(self, one: JsonObject) -> None:
        """Add an object to the end."""
        self._texts.append(_text(one))

    def at(self, places: Iterable[int]) -> Self:
        """Return the objects that stand at some places, in the order of these."""
        return self._of(self._texts[place] for place in places)

    def __add__(self, other: JsonObjects) -> Self:
        return self._of([*self._texts, *other._texts])

    def __len__(self) -> int:
        return len(self._texts)

    @overload
    def __getitem__(self, place: int) -> JsonObject: ...
    @overload
    def __getitem__(self, place: slice) -> Self: ...
    def __getitem__(self, place: int | slice) -> JsonObject | Self:
        if isinstance(place, slice):
            return self._of(self._texts[place])
        return _made(self._texts[place])

    def _of(self, texts: Iterable[bytes]) -> Self:
        found = type(self)()
        found._texts = list(texts)  # noqa: SLF001 - of the same class
        return found


def _text(one: JsonObject) -> bytes:
    # A copy: what orjson returns keeps the buffer that it was written into, which has some kilobytes.
    return bytes(memoryview(orjson.dumps(one)))


def _made(text: bytes) -> JsonObject:
    found: JsonObject = orjson.loads(text)
    return found
