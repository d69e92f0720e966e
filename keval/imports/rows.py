"""Reads one row of saved answers by a mapping: its sample, what was answered, and what judges elsewhere said.

Everything that a row lacks, or has in another form, is said at once, and no value is guessed.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from keval.config.import_mapping import ForeignMetric, ImportMapping
from keval.datasets import ROW
from keval.documents.foreign_json import not_json, parse_json, unfit
from keval.documents.mapping import Rule, UnfitError, kind, look_up
from keval.failure_kinds import FAILURE_KINDS
from keval.ids import JsonObject, digest, sample_sha256
from keval.passing import passes
from keval.preparation.tasks import question_id
from keval.usage import LARGEST_COST_USD, LARGEST_COUNT

NONE = (None, "")
"""How rows say that they do not know; a CSV file has nothing but texts."""

NO_SCORE = "the imported row has no score"
"""What is said of a score that a row should have; one that it cannot have says why, as {"not_applicable": REASON}."""

LARGEST_REPETITION = 10_000

_TRUTHS = {"True": True, "true": True, "TRUE": True, "False": False, "false": False, "FALSE": False}
"""How CSV files write true and false: as pandas, databases or spreadsheets do."""

_FLAGS = {
    **dict.fromkeys(("", "0", "false", "no", "none", "null", "nan", "n/a"), False),
    **dict.fromkeys(("1", "true", "yes"), True),
}
"""How a column says whether something failed, in any case; any other text says why."""


@dataclass
class ImportedRow:
    """What one row says; it is good if it has no problems."""

    problems: list[str] = field(default_factory=list)
    sample: JsonObject = field(default_factory=dict)
    condition: str = "imported"
    repetition: int | None = None
    """None: the rows are to be counted."""
    time: str | None = None
    """None: when the file was last changed."""
    text: str = ""
    is_counted: bool = False
    """Whether nothing but its place says which repetition it is."""
    failure: JsonObject | None = None
    """Kind and message, where there is no answer; then there are no scores."""
    turns: list[JsonObject] = field(default_factory=list)
    fields: JsonObject = field(default_factory=dict)
    """Further fields of the response, or of the failure."""
    scores: dict[str, JsonObject] = field(default_factory=dict)
    """The scores of each judge, by its name; one that gave none has only said so if it gave some before."""
    unused: list[str] = field(default_factory=list)
    """Fields of the file that nothing was taken from."""

    @cached_property
    def question_id(self) -> str:
        """The identity of what was asked."""
        return question_id(self.sample)

    @cached_property
    def sample_sha256(self) -> str:
        """The hash of the sample's whole record."""
        return sample_sha256(self.sample)


class RowReader:
    """Reads the rows of one file."""

    def __init__(self, mapping: ImportMapping) -> None:
        self._mapping = mapping
        self._used = mapping.fields | {ROW}

    def read(self, record: JsonObject) -> ImportedRow:
        """Return what a row says."""
        row, mapping = ImportedRow(unused=[name for name in record if name not in self._used]), self._mapping
        said = _Said(record, mapping.response, row.problems)
        row.failure = said.value("failure", _failure)
        row.sample = self._sample(record, row.problems, is_answered=row.failure is None)
        row.text = said.required("text", _text) if row.failure is None else _partial_text(record, mapping)
        row.condition = said.value("condition", _name) or "imported"
        row.repetition = said.value("repetition", _repetition)
        row.time = said.value("time", _time)
        model = said.value("model", _name)
        row.turns = self._turns(record, row)
        row.fields = {
            "usage": _usage(said.value("input_tokens", _count), said.value("output_tokens", _count)),
            "cost_usd": said.value("cost_usd", _cost),
            "duration_ms": said.value("duration_ms", _count),
        }
        if row.failure is not None:
            return row
        row.fields |= {
            "sources": said.value("sources", _texts) or [],
            "num_turns": said.value("num_turns", _count),
            **({} if model is None else {"models": [model]}),
        }
        for judge in mapping.judges:
            row.scores[judge.name] = {
                name: _score(record, name, metric, row.problems) for name, metric in judge.metrics.items()
            }
        return row

    def _sample(self, record: JsonObject, problems: list[str], *, is_answered: bool) -> JsonObject:
        said = _Said(record, self._mapping.sample, problems)
        made: JsonObject = {"id": said.value("id", _filled)} if said.has("id") else {}
        made["question"] = said.required("question", _question)
        made["answer"] = None
        if self._mapping.has_golden_answers:
            # What was not answered is not judged; but without an id the answer is a part of what a sample is known by.
            may_lack = "id" in made and not is_answered
            made["answer"] = said.value("answer", _name) if may_lack else said.required("answer", _filled)
        made |= {name: said.value(name, _anything) for name in self._mapping.sample if name not in made}
        return made if problems or "id" in made else {"id": digest(made), **made}

    def _turns(self, record: JsonObject, row: ImportedRow) -> list[JsonObject]:
        turns: list[JsonObject] = []
        if self._mapping.tool_calls is not None:
            turns = list(self._calls(record, row.problems))
        return [*turns, {"type": "text", "text": row.text}] if row.text else turns

    def _calls(self, record: JsonObject, problems: list[str]) -> list[JsonObject]:
        mapped = self._mapping.tool_calls
        assert mapped is not None  # noqa: S101 - for mypy
        try:
            calls = look_up(record, mapped.each)
        except UnfitError as error:
            problems.append(f"tool_calls: {error}")
            return []
        if calls in NONE:
            return []
        if not isinstance(calls, list) or not all(isinstance(call, Mapping) for call in calls):
            problems.append(f"tool_calls: {mapped.each!r} is not a list of objects")
            return []
        return [_call(_Said(call, mapped.rules, problems, "tool_calls: ")) for call in calls]


@dataclass
class _Said:
    """What a record says by some rules, or by fields of the same name."""

    record: Mapping[str, Any]
    rules: Mapping[str, Rule]
    problems: list[str]
    about: str = ""

    def has(self, name: str) -> bool:
        """Return whether there is a rule or a field for something."""
        return name in self.rules or name in self.record

    def required(self, name: str, read: Callable[[Any], Any]) -> Any:  # noqa: ANN401 - whatever `read` makes of it
        """Return what every row has to say; an empty text where it does not, which is a problem."""
        if not self.has(name):
            fields = ", ".join(map(repr, self.record)) or "none"
            without = ", or say `golden_answers: false`" if name == "answer" else ""
            told = f"{self.about}{name}: missing; map it, or name a field so{without}; the row's fields: {fields}"
            self.problems.append(told)
        return self.value(name, read) or ""

    def value(self, name: str, read: Callable[[Any], Any]) -> Any:  # noqa: ANN401 - whatever `read` makes of it
        """Return what is said of something in its own form; None if nothing is, or not what it should be."""
        if not self.has(name):
            return None
        try:
            value = self.rules[name].of(self.record) if name in self.rules else self.record[name]
            return read(value)
        except UnfitError as error:
            self.problems.append(f"{self.about}{name}: {error}")
            return None


def _anything(value: object) -> object:
    return value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise UnfitError(f"must be a text, not {kind(value)}")
    return value


def _name(value: object) -> str | None:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return None if value is None or not _text(value).strip() else _text(value)


def _failure(value: object) -> JsonObject | None:
    """Return kind and message of a failure, None where the row says that there is none."""
    if isinstance(value, Mapping):
        kinds = [row.kind for row in FAILURE_KINDS if "generate" in row.stages]
        if value.get("kind") not in kinds:
            raise UnfitError(f"kind must be one of {', '.join(kinds)}, not {kind(value.get('kind'))}")
        return {"kind": value["kind"], "message": _text(value.get("message") or "")}
    flag = _flag(value)
    if flag is not None:
        return {"kind": "agent_error", "message": "the file does not say why"} if flag else None
    return {"kind": "agent_error", "message": _text(value)}


def _flag(value: object) -> bool | None:
    """Return whether a value says that something failed, None where it is no word or number for that."""
    return _FLAGS.get(str(value).strip().lower())


def _filled(value: object) -> str:
    name = _name(value)
    if name is None:
        raise UnfitError("is blank")
    return name


def _question(value: object) -> str | list[str]:
    """Return one message, or the list of messages of a conversation."""
    if not isinstance(value, list):
        return _filled(value)
    if not value or not all(isinstance(message, str) and message.strip() for message in value):
        raise UnfitError("must be a text, or a list of texts of which none is blank")
    return value


def _texts(value: object) -> list[str] | None:
    if value in NONE:
        return None
    if not isinstance(value, list):
        raise UnfitError(f"must be a list of texts, not {kind(value)}")
    return [_text(item) for item in value]


def _number(value: object) -> float | None:
    if value in NONE:
        return None
    if isinstance(value, str) and re.fullmatch(r"\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*", value, re.ASCII):
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise UnfitError(f"must be a number, not {kind(value)}")
    return value


def _count(value: object) -> int | None:
    number = _number(value)
    if number is not None and not (0 <= number <= LARGEST_COUNT and number == int(number)):
        raise UnfitError(f"must be a whole number from 0 to {LARGEST_COUNT:,}, not {kind(value)}")
    return None if number is None else int(number)


def _cost(value: object) -> float | None:
    number = _number(value)
    if number is not None and not 0 <= number <= LARGEST_COST_USD:
        raise UnfitError(f"must be an amount from 0 to {LARGEST_COST_USD:,}, not {kind(value)}")
    return number


def _repetition(value: object) -> int | None:
    number = _count(value)
    if number is not None and not 1 <= number <= LARGEST_REPETITION:
        raise UnfitError(f"must be from 1 to {LARGEST_REPETITION}, not {kind(value)}")
    return number


def _time(value: object) -> str | None:
    if value in NONE:
        return None
    try:
        time = datetime.fromisoformat(_text(value))
    except ValueError:
        raise UnfitError(f"must be a time such as 2026-03-01T12:00:00Z, not {kind(value)}") from None
    if time.tzinfo is None:
        raise UnfitError(f'{value!r} has no time zone; add Z or an offset to it, as in "{{time}}Z"')
    try:
        return written_time(time)
    except OverflowError:
        raise UnfitError(f"{value!r} is no year of four digits in UTC") from None


def written_time(time: datetime) -> str:
    """Return a time as events write it."""
    return time.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _partial_text(record: JsonObject, mapping: ImportMapping) -> str:
    """Return what there is of the answer in a row that failed; a rule that does not fit such a row finds nothing."""
    return _Said(record, mapping.response, []).value("text", _name) or ""


def _usage(input_tokens: int | None, output_tokens: int | None) -> JsonObject | None:
    if input_tokens is None and output_tokens is None:
        return None
    unknown = {"cache_read_input_tokens": None, "cache_creation_input_tokens": None}
    return {"input_tokens": input_tokens, "output_tokens": output_tokens, **unknown}


def _call(said: _Said) -> JsonObject:
    result = said.value("result", _result)
    return {
        "type": "tool_call",
        "id": None,
        "name": said.value("name", _text) or "",
        "server": said.value("server", _name),
        "input": said.value("input", _arguments),
        "result": result,
        # Of a call whose answer was not kept nobody knows that it failed.
        "error": said.value("error", _failed) or False,
        "duration_ms": said.value("duration_ms", _milliseconds),
    }


def _failed(value: object) -> bool:
    if value in NONE or isinstance(value, bool):
        return bool(value)
    return _flag(_text(value)) is not False


def _milliseconds(value: object) -> int | None:
    number = _number(value)
    return _count(None if number is None else round(number))


def _result(value: object) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _arguments(value: object) -> JsonObject | None:
    read = value
    if isinstance(value, str) and value:
        try:
            read = parse_json(value)
        except ValueError:
            raise UnfitError(f"must be an object or JSON text of one, not {kind(value)}") from None
    if read in NONE:
        return None
    problem = unfit(read) if isinstance(read, dict) else not_json(read)
    if problem:
        raise UnfitError(f"no event can hold {kind(value)}: {problem}")
    if not isinstance(read, dict):
        raise UnfitError(f"must be an object or JSON text of one, not {kind(value)}")
    return read


def _score(record: JsonObject, name: str, metric: ForeignMetric, problems: list[str]) -> JsonObject:
    low, high, pass_from = (metric.scale[key] for key in ("min", "max", "pass_from"))
    score, reasoning, why_none = None, None, NO_SCORE
    try:
        value = metric.score.of(record)
        if isinstance(value, Mapping) and isinstance(value.get("not_applicable"), str):
            why_none, value = value["not_applicable"], None
        truth = _TRUTHS.get(value.strip()) if isinstance(value, str) else value
        score = (high if truth else low) if isinstance(truth, bool) else _number(value)
        if score is not None and not low <= score <= high:
            problems.append(f"{name}: the score {score:g} is outside of the scale, {low:g} to {high:g}")
        reasoning = None if metric.reasoning is None else _name(metric.reasoning.of(record))
    except UnfitError as error:
        problems.append(f"{name}: {error}")
    passed = None if pass_from is None or score is None else passes(score, pass_from)
    why = {} if score is not None else {"not_applicable": why_none}
    return {"score": score, "reasoning": reasoning, "min": low, "max": high, "passed": passed, **why}
