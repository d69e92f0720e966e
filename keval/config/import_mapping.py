"""Reads how saved answers of any origin become events: a YAML file, rules on the command line, or neither.

What is not said is taken from a row's field of the same name, so that a file in keval's own words needs no mapping.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from keval import ids, schema
from keval.documents import yaml_document
from keval.documents.mapping import Rule, Value, fields, rules
from keval.errors import InputError, UsageError
from keval.ids import JsonObject

if TYPE_CHECKING:
    from keval.documents.yaml_document import Document, Keys

IMPORTED = "imported"
"""The type of agents and judges that worked elsewhere."""

RESPONSE = (
    *("text", "failure", "condition", "repetition", "time", "model", "sources"),
    *("input_tokens", "output_tokens", "cost_usd", "duration_ms", "num_turns"),
)
"""What a row may say of its answer, its tool calls apart."""


@dataclass(frozen=True)
class ToolCalls:
    """How a row lists its tool calls; the rules of a call read the call."""

    each: str
    rules: Mapping[str, Rule]


@dataclass(frozen=True)
class ForeignMetric:
    """One metric of a judge elsewhere, and where a row has its score."""

    score: Rule
    reasoning: Rule | None
    scale: JsonObject
    """As a `run` event holds it."""


@dataclass(frozen=True)
class ForeignJudge:
    """A judge elsewhere."""

    name: str
    model: str | None
    metrics: Mapping[str, ForeignMetric]

    @property
    def judge_id(self) -> str:
        """The identity of the judge: what is known of it are its name, its model and its scales, in whatever order."""
        metrics = (metric.scale for _, metric in sorted(self.metrics.items()))
        scales = [{key: scale[key] for key in ("name", "min", "max")} for scale in metrics]
        return ids.judge_id(IMPORTED, self.model, {"name": self.name, "metrics": scales})

    def described(self) -> JsonObject:
        """Return the judge's entry in a `run` event."""
        return {
            "name": self.name,
            "type": IMPORTED,
            "model": self.model,
            "judge_id": self.judge_id,
            "replicates": 1,
            "parameters": {},
            "texts": {},
            "metrics": [metric.scale for metric in self.metrics.values()],
        }


@dataclass(frozen=True)
class ImportMapping:
    """How the rows of one file become events."""

    name: str
    columns: tuple[str, ...]
    baseline: str | None
    """The condition that others are compared with, if the mapping names it."""
    has_golden_answers: bool
    sample: Mapping[str, Rule]
    response: Mapping[str, Rule]
    tool_calls: ToolCalls | None
    agent_name: str
    agent_model: str | None
    judges: tuple[ForeignJudge, ...]
    as_written: JsonObject

    @property
    def agent_id(self) -> str:
        """The identity of the agent: what is known of it are its name and its model."""
        return ids.agent_id(IMPORTED, self.agent_model, {"name": self.agent_name})

    @property
    def fields(self) -> frozenset[str]:
        """The fields of a row that may be read, by rules or because they are called like what they say."""
        of_sample = ("id", "question", *(["answer"] if self.has_golden_answers else ()))
        by_name = {name for name in of_sample if name not in self.sample}
        by_name |= {name for name in RESPONSE if name not in self.response}
        metrics = [metric for judge in self.judges for metric in judge.metrics.values()]
        read = [*self.sample.values(), *self.response.values(), *(metric.score for metric in metrics)]
        read += [metric.reasoning for metric in metrics if metric.reasoning is not None]
        read += [] if self.tool_calls is None else [Value(self.tool_calls.each)]
        return frozenset(by_name.union(*map(fields, read)))


def load(path: Path | None, given: Mapping[str, str], default_name: str) -> ImportMapping:
    """Read a mapping from a file, if there is one, and from rules by name, which come before the file's.

    Raises UsageError for the rules given, InputError that lists all that is wrong with the file with its lines.
    """
    draft = _Draft(None if path is None else yaml_document.read(path), given)
    draft.check()
    mapping = draft.mapping(default_name)
    draft.check_problems()
    return mapping


def of_results(written: JsonObject) -> ImportMapping:
    """Return the mapping of a file of another tool, as the tool's origin says it."""
    draft = _Draft(None, {})
    draft.written = written
    return draft.mapping(str(written["name"]))


def mistyped(given: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield rules that may be typing errors, as a sample may have any field, and what they are near to."""
    known = ("id", "question", "answer", *RESPONSE)
    for name in given:
        near = [] if name in known else difflib.get_close_matches(name, known, n=1, cutoff=0.7)
        yield from ((name, meant) for meant in near)


class _Draft:
    """A mapping while it is checked; each problem is kept."""

    def __init__(self, document: Document | None, given: Mapping[str, str]) -> None:
        self.document = document
        self.problems = [] if document is None else list(document.problems)
        self.given = {(_section(name), name): template for name, template in given.items()}
        self.wrongly_given: list[str] = []
        self.written: JsonObject = {} if document is None else document.value

    def problem(self, keys: Keys, message: str) -> None:
        """Take note of what is wrong: with a rule given, or with the file."""
        if keys in self.given:
            self.wrongly_given.append(f"--map {keys[-1]}: {message}")
        elif self.document is not None:
            self.problems.append((self.document.line(keys), keys, message))

    def check_problems(self) -> None:
        """Raise the error that lists all problems, if there are any."""
        if self.wrongly_given:
            raise UsageError(*self.wrongly_given)
        if self.document is not None and self.problems:
            raise InputError(*map(self.document.described, sorted(self.problems, key=lambda problem: problem[0])))

    def check(self) -> None:
        """Check the file's structure, and let the rules given take their places. Raises InputError."""
        for found in [] if self.problems else schema.problems("import", self.written):
            self.problem(found.keys, found.message)
        self.check_problems()
        sections = {name: {**self.written.get(name, {})} for name in ("sample", "response")}
        for (section, name), template in self.given.items():
            sections[section][name] = template
        self.written = {**self.written, **sections}

    def mapping(self, default_name: str) -> ImportMapping:
        """Return the mapping; what is wrong in it was noted."""
        written, agent = self.written, self.written.get("agent", {})
        response = {name: each for name, each in written["response"].items() if name != "tool_calls"}
        return ImportMapping(
            name=written.get("name", default_name),
            columns=tuple(written.get("columns", ())),
            baseline=written.get("baseline"),
            has_golden_answers=written.get("golden_answers", True),
            sample=self._rules(written["sample"], ("sample",)),
            response=self._rules(response, ("response",)),
            tool_calls=self._tool_calls(written["response"].get("tool_calls")),
            agent_name=agent.get("name", IMPORTED),
            agent_model=agent.get("model"),
            judges=tuple(self._judges(written.get("judges", ()))),
            as_written=written,
        )

    def _rules(self, written: JsonObject, keys: Keys) -> dict[str, Rule]:
        return rules(written, lambda name, message: self.problem((*keys, name), message))

    def _tool_calls(self, written: JsonObject | None) -> ToolCalls | None:
        if written is None:
            return None
        of_a_call = {name: each for name, each in written.items() if name != "each"}
        return ToolCalls(written["each"], self._rules(of_a_call, ("response", "tool_calls")))

    def _judges(self, written: Sequence[JsonObject]) -> Iterator[ForeignJudge]:
        names: set[str] = set()
        for index, judge in enumerate(written):
            if judge["name"] in names:
                self.problem(("judges", index, "name"), f"two judges are called {judge['name']!r}")
            names.add(judge["name"])
            found = {name: self._metric(name, each, ("judges", index, "metrics", name))
                     for name, each in judge["metrics"].items()}  # fmt: skip
            metrics = {name: metric for name, metric in found.items() if metric is not None}
            yield ForeignJudge(judge["name"], judge.get("model"), metrics)

    def _metric(self, name: str, written: JsonObject, keys: Keys) -> ForeignMetric | None:
        low, high, passes = written["min"], written["max"], written.get("pass_from")
        if not low < high:
            self.problem((*keys, "min"), f"min {low} is not below max {high}")
        elif passes is not None and not low <= passes <= high:
            self.problem((*keys, "pass_from"), f"{passes} is outside of the scale, {low} to {high}")
        read = self._rules({key: written[key] for key in ("score", "reasoning") if key in written}, keys)
        scale = {"name": name, "min": low, "max": high, "type": written.get("type", "continuous"), "pass_from": passes}
        if "score" not in read:
            return None
        return ForeignMetric(read["score"], read.get("reasoning"), {**scale, "label": None, "description": None})


def _section(name: str) -> str:
    """Return the section in which a rule of a name stands."""
    return "response" if name in RESPONSE else "sample"
