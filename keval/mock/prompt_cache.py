"""The prompt cache of the Messages API: what a request marks with `cache_control` and another one began with too.

An entry is there for all requests that come after the one that writes it, and is kept while it is used. In the real
service requests that are sent at once may each write it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from keval.ids import JsonObject, digest
from keval.mock.conversation import blocks_of
from keval.mock.stand_in import tokens
from keval.models import prices

KEPT_S = 300.0
"""How long an entry is kept after its last use."""

OTHERWISE = 1024
"""Tokens from which on a prompt of a model that is of which that is not known is kept."""


@dataclass(slots=True)
class PromptCache:
    """The entries of one service."""

    clock: Callable[[], float] = time.monotonic
    _last_used: dict[str, float] = field(default_factory=dict)

    def use(self, request: JsonObject) -> tuple[int, int]:
        """Return how many tokens of a request are read from the cache, and how many are written to it."""
        shortest = prices.load().shortest_cached(request["model"]) or OTHERWISE
        prefixes = [(digest(request["model"], prefix), tokens(prefix)) for prefix in _prefixes(request)]
        kept = [(entry, length) for entry, length in prefixes if length >= shortest]
        now = self.clock()
        read = max((length for entry, length in kept if now - self._last_used.get(entry, -KEPT_S) < KEPT_S), default=0)
        self._last_used |= {entry: now for entry, _ in kept}
        return read, max((length for _, length in kept), default=read) - read


def _prefixes(request: JsonObject) -> Iterator[list[object]]:
    """Yield what a request begins with up to each mark: tools first, then the system prompt, then the messages.

    A mark of the request itself is one after each message: an earlier request of the conversation ended there.
    """
    read: list[object] = []
    for part in _parts(request):
        if request.get("cache_control") and "role" in part and read:
            yield list(read)
        read.append({key: value for key, value in part.items() if key != "cache_control"})
        if part.get("cache_control"):
            yield list(read)
    if request.get("cache_control"):
        yield list(read)


def _parts(request: JsonObject) -> Iterator[JsonObject]:
    yield from request.get("tools") or []
    yield from blocks_of(request.get("system") or [])
    for message in request["messages"]:
        yield {"role": message["role"]}
        yield from blocks_of(message["content"])
