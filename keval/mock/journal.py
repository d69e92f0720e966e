"""What the mock was asked: counters, and the last requests themselves."""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

import orjson

from keval.ids import JsonObject


def json_object(raw: bytes) -> JsonObject:
    """Return the JSON object that a body holds; an empty one when it holds none."""
    try:
        parsed = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return {}
    return parsed if isinstance(parsed, dict) else {}


@dataclass(frozen=True, slots=True)
class Recorded:
    """One request as it arrived."""

    method: str
    path: str
    headers: Mapping[str, str]
    """Names in lower case."""
    raw: bytes
    """The body, unparsed because most are never looked at."""
    outcome: str

    @property
    def body(self) -> JsonObject:
        """The body as a JSON object; empty where it is none."""
        return json_object(self.raw)


@dataclass(frozen=True, slots=True)
class Requests:
    """Counters of everything that arrived."""

    total: int
    by_path: Mapping[str, int]
    """By method and route, such as `POST /v1/messages`."""
    by_outcome: Mapping[str, int]
    """`ok`, the HTTP status of an error, or the name of a fault."""
    by_kind: Mapping[str, int]
    """Messages that were answered, by `stand_in.ReplyKind`."""
    most_at_once: int
    """The largest number of requests that were being answered at one time."""


@dataclass(slots=True)
class Journal:
    """Written by the server's thread, read by any; keeps the last `keep` requests."""

    keep: int
    _recorded: deque[Recorded] = field(init=False)
    _paths: Counter[str] = field(default_factory=Counter)
    _outcomes: Counter[str] = field(default_factory=Counter)
    _kinds: Counter[str] = field(default_factory=Counter)
    _answering: int = 0
    _most_at_once: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self._recorded = deque(maxlen=self.keep)

    @contextmanager
    def answering(self) -> Iterator[None]:
        """Count a request as being answered."""
        with self._lock:
            self._answering += 1
            self._most_at_once = max(self._most_at_once, self._answering)
        try:
            yield
        finally:
            with self._lock:
                self._answering -= 1

    def add(self, route: str, recorded: Recorded, kind: str | None) -> None:
        """Count and keep one request."""
        with self._lock:
            self._recorded.append(recorded)
            self._paths[route] += 1
            self._outcomes[recorded.outcome] += 1
            if kind:
                self._kinds[kind] += 1

    def requests(self) -> Requests:
        """Return the counters as they are now."""
        with self._lock:
            return Requests(
                self._paths.total(), dict(self._paths), dict(self._outcomes), dict(self._kinds), self._most_at_once
            )

    def recorded(self) -> list[Recorded]:
        """Return the last requests, oldest first."""
        with self._lock:
            return list(self._recorded)
