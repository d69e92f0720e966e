"""What an origin is: another tool, whose result files become answers and scores in keval's own words."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import jsonschema_rs

from keval.documents.foreign_json import unfit
from keval.errors import InputError
from keval.ids import JsonObject

if TYPE_CHECKING:
    from collections.abc import Callable

    from keval.failure_kinds import AgentFailureKind

Validator = jsonschema_rs.Validator
LONGEST_MESSAGE = 200
OBJECT: JsonObject = {"type": ["object", "null"]}
LIST: JsonObject = {"type": ["array", "null"]}
OBJECTS: JsonObject = {"type": ["array", "null"], "items": {"type": "object"}}
NUMBER: JsonObject = {"type": ["number", "null"]}

OF_A_CALL = ("server", "input", "result", "error", "duration_ms")
"""What a record says of a tool call beside its name."""

SERVER = re.compile(r"mcp__(.+?)__.+", re.DOTALL)
"""How a tool of an MCP server is called."""


@dataclass(frozen=True, slots=True)
class Results:
    """What a result file holds."""

    name: str
    """What the tool calls the evaluation."""
    rows: Callable[[], Iterator[JsonObject]]
    """Yields a record for each answer, or failure: fields of an import in keval's words, and one for each metric."""
    judge: str
    metrics: Mapping[str, str] = field(default_factory=dict)
    """The tool's metrics, each with the field of a record that has its score, from 0 to 1."""
    reasons: Mapping[str, str] = field(default_factory=dict)
    """Of those the ones of which the tool says why, each with the field of a record that says it."""
    scaled: Mapping[str, JsonObject] = field(default_factory=dict)
    """Metrics of which the tool says more, each as a mapping writes it: its scale, and where its reasoning stands."""
    sample_fields: Mapping[str, str] = field(default_factory=dict)
    """Further fields of a sample, each with the field of a record that has it."""
    has_golden_answers: bool = True
    has_tool_calls: bool = False
    """Whether the tool says which tools an agent called; else it is not known."""
    left_out: Sequence[str] = ()
    """What of the file becomes no record, in sentences."""

    def mapping(self) -> JsonObject:
        """Return how the records become events, as the file of a mapping says it."""
        call = {"each": "tool_calls", "name": "{name}", **{name: {"field": name} for name in OF_A_CALL}}
        unscaled = {
            name: {
                "score": {"field": place},
                **({"reasoning": {"field": self.reasons[name]}} if name in self.reasons else {}),
                "min": 0,
                "max": 1,
                "type": "continuous",
            }
            for name, place in self.metrics.items()
        }
        metrics = {**self.scaled, **unscaled}
        judges = [{"name": self.judge, "metrics": metrics}] if metrics else []
        return {
            "name": self.name,
            "golden_answers": self.has_golden_answers,
            "sample": {name: {"field": place} for name, place in self.sample_fields.items()},
            "response": {"tool_calls": call} if self.has_tool_calls else {},
            "judges": judges,
        }


class Origin(ABC):
    """Base of all origins: a tool whose files are read."""

    @abstractmethod
    def fits(self, head: bytes) -> bool:
        """Return whether a file that begins so is one of the tool's."""

    @abstractmethod
    def read(self, path: Path) -> Results:
        """Read a file. Raises InputError, without the path in its message, for one that is none of the tool's."""


@dataclass
class GoldenAnswers:
    """How many answers come with a golden one: a dataset has them for all of its samples, or for none."""

    there: int = 0
    missing: int = 0

    def take(self, golden: str | None) -> None:
        """Count one answer's, which may be blank."""
        if golden is None or not golden.strip():
            self.missing += 1
        else:
            self.there += 1

    @property
    def are_taken(self) -> bool:
        """Whether no answer lacks one."""
        return not self.missing

    def left_out(self) -> list[str]:
        """Return what is said of those that are there and not taken."""
        if not self.there or self.are_taken:
            return []
        return [f"golden answers are left out: {self.missing:,} of {self.there + self.missing:,} answers have none"]


def without_scale(names: Sequence[str]) -> list[str]:
    """Return what is said of metrics whose scores are left out because it is not known where they end."""
    return [f"no scale is known of: {', '.join(names)}"] if names else []


def named_scores(found: Iterable[Mapping[str, Any]]) -> tuple[dict[str, str], list[str]]:
    """Return the metrics whose scores all lie from 0 to 1, with a field for each, and the names of the others.

    A tool that writes scores says nothing of their scale. Of what leaves 0 to 1 it is not known where it ends. Where a
    sample has no score, its metric is as good as without the sample.
    """
    seen: dict[str, bool] = {}
    for scores in found:
        for name, score in scores.items():
            if score is not None:
                seen[name] = seen.get(name, True) and as_score(score) is not None
    kept, others = ([name for name, fits in seen.items() if fits is wanted] for wanted in (True, False))
    return {name: f"score_{place}" for place, name in enumerate(kept)}, others


def check(validator: Validator, found: object, where: str) -> JsonObject:
    """Return a record that has the form which its tool gives it. Raises InputError that says what has another one."""
    for error in validator.iter_errors(found):
        place = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in error.instance_path)
        raise InputError(f"{where}{place}: {error.message[:LONGEST_MESSAGE]}")
    return cast("JsonObject", found)


def refuse_unfit(found: JsonObject, where: str) -> None:
    """Raise InputError for what no event can hold, before a text or an id is made of it."""
    if problem := unfit(found):
        raise InputError(f"{where}: {problem}")


def shape(required: Sequence[str] = (), **fields: object) -> Validator:
    """Return what holds an object to types of some of its fields: a JSON Schema of each; others may be anything."""
    return jsonschema_rs.validator_for({"type": "object", "required": list(required), "properties": fields})


def tool_call(
    name: str,
    arguments: object = None,
    result: str | None = None,
    *,
    failed: bool = False,
    duration_ms: float | None = None,
) -> JsonObject:
    """Return a tool call of a record; its server is known by its name."""
    of_a_server = SERVER.fullmatch(name)
    return {
        "name": name,
        "server": of_a_server and of_a_server[1],
        "input": arguments if isinstance(arguments, dict) else None,
        "result": result,
        "error": failed,
        "duration_ms": duration_ms,
    }


def as_score(value: object) -> float | None:
    """Return a number from 0 to 1, or None: true is 1."""
    if isinstance(value, bool | int | float) and 0 <= value <= 1:
        return float(value)
    return None


def failure(kind: AgentFailureKind, message: object, otherwise: str) -> JsonObject:
    """Return what a record says of an answer that is not there; `otherwise` where the tool does not say why."""
    return {"kind": kind, "message": message if isinstance(message, str) and message.strip() else otherwise}


def told(kinds: Counter[str]) -> list[str]:
    """Return a sentence for each kind of record that is left out, with how many there are."""
    return [f"{times:,} {'row is' if times == 1 else 'rows are'} left out: {kind}" for kind, times in kinds.items()]
