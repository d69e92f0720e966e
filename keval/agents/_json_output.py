"""The JSON output of a program or a service: its answer, tokens and cost, each at a path."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import orjson

from keval.agents import AgentError, Answer, Turn
from keval.counted import first_of
from keval.secrets.excerpts import beginning_of
from keval.usage import Usage, known_cost_usd, known_usage

HEAD = 200
"""So much of an output that cannot be read is shown."""

JsonPath = tuple[str | int, ...]
"""The keys and positions that lead to a value inside a JSON document."""

_STEP = re.compile(r"""\.([^.\[\]'"\s]+)|\[(\d+)\]|\[(?:"([^"]*)"|'([^']*)')\]""")


def json_path(text: str) -> JsonPath:
    """Parse a path such as `$.items[0].text` or `$["a key"]`.

    Raises ValueError for anything else.
    """
    if not text.startswith("$"):
        raise ValueError(f"{text!r} is not a JSON path: it begins with $, as in $.result.text")
    steps: list[str | int] = []
    position = 1
    while position < len(text):
        match = _STEP.match(text, position)
        if match is None:
            raise ValueError(f"{text!r} is not a JSON path: cannot read {text[position:]!r}")
        name, index, *quoted = match.groups()
        steps.append(int(index) if index else next(part for part in (name, *quoted) if part is not None))
        position = match.end()
    return tuple(steps)


def look_up(document: object, path: JsonPath) -> object:
    """Return the value at a path.

    Raises LookupError when there is none.
    """
    found: Any = document
    for step in path:
        if isinstance(found, str):
            raise KeyError(step)
        try:
            found = found[step]
        except TypeError as error:
            raise KeyError(step) from error
    return found


@dataclass(frozen=True, slots=True)
class JsonOutput:
    """One JSON document, and the word for where it was read."""

    document: object
    where: str

    @classmethod
    def read(cls, text: str | bytes, where: str) -> Self:
        """Parse the output. Raises AgentError if it is not JSON."""
        try:
            return cls(orjson.loads(text), where)
        except orjson.JSONDecodeError as error:
            shown = text if isinstance(text, str) else text.decode(errors="replace")
            begins = f"it begins: {beginning_of(shown.strip(), HEAD)}" if shown.strip() else "it is empty"
            raise AgentError("agent_error", f"{where} is not JSON: {error}; {begins}") from error

    def answer(self, answer_path: str, usage_path: str | None, cost_path: str | None) -> Answer:
        """Return the answer with its tokens and cost. Raises AgentError when there is none."""
        return as_answer(self.text(answer_path), self.usage(usage_path), self.cost_usd(cost_path))

    def text(self, path: str) -> str:
        """Return the text at a path. Raises AgentError when there is none."""
        try:
            value = look_up(self.document, json_path(path))
        except LookupError as error:
            raise AgentError("agent_error", f"{self.where} has nothing at {path}; it is {self._form}") from error
        if not isinstance(value, str):
            raise AgentError("agent_error", f"{self.where} has {_kind(value)} at {path}, not a text")
        return value

    @property
    def _form(self) -> str:
        """What the whole document is, in words."""
        if isinstance(self.document, Mapping) and self.document:
            return f"an object with {beginning_of(first_of([*map(repr, self.document)]), HEAD)}"
        return "a text" if isinstance(self.document, str) else _kind(self.document)

    def usage(self, path: str | None) -> Usage | None:
        """Return the tokens at a path, None where there is no object."""
        value = self._known(path)
        return known_usage(value) if isinstance(value, Mapping) else None

    def cost_usd(self, path: str | None) -> float | None:
        """Return the cost at a path, None where there is no amount."""
        return known_cost_usd(self._known(path))

    def _known(self, path: str | None) -> object:
        """Return the value at a path, None where there is none: what is not known is not guessed."""
        try:
            return None if path is None else look_up(self.document, json_path(path))
        except LookupError:
            return None


def as_answer(text: str, usage: Usage | None = None, cost_usd: float | None = None) -> Answer:
    """Return the answer of an agent of which nothing else is known."""
    return Answer(
        status="answered" if text.strip() else "empty",
        text=text,
        turns=(Turn("text", text=text),) if text else (),
        usage=usage,
        cost_usd=cost_usd,
    )


def _kind(value: object) -> str:
    names = {type(None): "null", bool: "true or false", dict: "an object", list: "a list"}
    return names.get(type(value), "a number")
