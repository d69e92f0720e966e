"""Logs of Inspect, as `inspect eval` writes them: `.eval` files and JSON.

The condition is the model, an epoch is a repetition. A sample that ended in an error has no answer and no score.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import ascii_uppercase
from typing import Any

import orjson

from keval.errors import InputError
from keval.ids import JsonObject
from keval.origins import (
    NUMBER,
    OBJECT,
    OBJECTS,
    GoldenAnswers,
    Origin,
    Results,
    as_score,
    check,
    failure,
    named_scores,
    shape,
    tool_call,
    without_scale,
)
from keval.origins._archive import Archive
from keval.origins._files import document_of, parsed

GRADES = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
"""Correct, incorrect, partially correct, no answer: as Inspect's own `value_to_float` counts them."""

TRUTHS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
DIGITS = re.compile(r"-?\d+(\.\d+)?", re.ASCII)

CHOICES = {"type": ["array", "null"], "items": {"type": "object", "properties": {"message": OBJECT}}}
"""What is read of the answers to one question, of which the first counts."""

SAMPLE = shape(
    scores=OBJECT, metadata=OBJECT,
    output={"type": ["object", "null"], "properties": {"choices": CHOICES, "usage": OBJECT}},
    model_usage={"type": ["object", "null"], "additionalProperties": {"type": "object"}}, total_time=NUMBER,
    messages={"type": ["array", "null"], "items": {"type": "object", "properties": {"tool_calls": OBJECTS}}},
)  # fmt: skip
"""What is read of a sample."""

HEADER = shape(eval=OBJECT)

KNOWN = {"id", "question", "answer"}
"""Fields that a sample has whatever its metadata says."""

START = "_journal/start.json"
"""What stands in for the header where a run was ended before it was written."""


@dataclass(frozen=True, kw_only=True)
class Inspect(Origin):
    """Reads logs of Inspect: answers, tool calls, scores, tokens and time."""

    def fits(self, head: bytes) -> bool:
        """Return whether it is an archive of samples, or JSON that begins as a log."""
        if head.startswith(b"PK\x03\x04"):
            return re.search(rb"(_journal/|samples/|header\.json)", head) is not None
        begins = re.match(rb'\A\s*\{\s*"version"\s*:', head)
        return begins is not None and re.search(rb'"eval"\s*:\s*\{', head) is not None

    def read(self, path: Path) -> Results:
        """Read a file; an archive's samples are read one at a time, twice."""
        header, samples = _archive(path) if _is_archive(path) else _json(path)
        about = header.get("eval") or {}
        scores, golden, metadata = [], GoldenAnswers(), _Metadata()
        explained: set[str] = set()
        for sample in samples():
            metadata.take(sample)
            if not sample.get("error"):
                golden.take(_target(sample.get("target")))
                scores.append(_scores(sample))
                explained |= _explanations(sample).keys()
        metrics, unscaled = named_scores(scores)
        reasons = {name: f"reason_{place}" for place, name in enumerate(metrics) if name in explained}
        named = {name: f"metadata_{place}" for place, name in enumerate(metadata.of_samples)}

        def records() -> Iterator[JsonObject]:
            for sample in samples():
                record = _record(sample, str(about.get("model") or "model"), about.get("created"), metrics)
                known = sample.get("metadata") or {}
                record |= {place: known.get(name) for name, place in named.items()}
                said = _explanations(sample)
                record |= {place: said.get(name) for name, place in reasons.items()}
                yield record if golden.are_taken else {name: each for name, each in record.items() if name != "answer"}

        name = str(about.get("task") or path.name.partition(".")[0])
        return Results(
            name, records, "inspect", metrics, reasons=reasons, sample_fields=named,
            has_golden_answers=golden.are_taken, has_tool_calls=True,
            left_out=[*golden.left_out(), *without_scale(unscaled)],
        )  # fmt: skip


class _Metadata:
    """What a log's samples say of themselves, such as a category."""

    def __init__(self) -> None:
        self._first: dict[str, JsonObject] = {}
        self._names: dict[str, bool] = {}

    def take(self, sample: JsonObject) -> None:
        """Note the metadata of one epoch of a sample."""
        known = sample.get("metadata") or {}
        first = self._first.setdefault(str(sample.get("id")), known)
        for name in first.keys() | known.keys():
            is_same = first.get(name) == known.get(name)
            self._names[name] = self._names.get(name, True) and is_same

    @property
    def of_samples(self) -> list[str]:
        """The names in order, without those that a solver wrote to: their values differ by epoch."""
        return sorted(name for name, is_of_sample in self._names.items() if is_of_sample and name not in KNOWN)


def _is_archive(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(2) == b"PK"


def _json(path: Path) -> tuple[JsonObject, Any]:
    try:
        document = parsed(document_of(path))
    except orjson.JSONDecodeError as error:
        raise InputError(f"not JSON: {error}") from error
    found = document.get("samples") if isinstance(document, dict) else None
    if not isinstance(found, list):
        raise InputError("no samples in it: write the log with its samples, `inspect log convert --to json`")
    samples = [check(SAMPLE, sample, f"samples[{place}]") for place, sample in enumerate(found)]
    return check(HEADER, document, "the log"), lambda: iter(samples)


def _archive(path: Path) -> tuple[JsonObject, Any]:
    with Archive(path) as archive:
        names = sorted(name for name in archive.names if re.fullmatch(r"samples/.+\.json", name))
        header = check(HEADER, archive.member("header.json" if "header.json" in archive.names else START), "header")

    def samples() -> Iterator[JsonObject]:
        with Archive(path) as archive:
            for name in names:
                yield check(SAMPLE, archive.member(name), name)

    return header, samples


def _scores(sample: JsonObject) -> dict[str, object]:
    """Return the scores by scorer; of one that gives several, each by both names."""
    found: dict[str, object] = {}
    for scorer, score in (sample.get("scores") or {}).items():
        value = score.get("value") if isinstance(score, dict) else score
        several = (
            {f"{scorer},{name}": each for name, each in value.items()} if isinstance(value, dict) else {scorer: value}
        )
        for name, each in several.items():
            if name in found:
                raise InputError(f"two scores of sample {sample.get('id')!r} are called {name!r}")
            found[name] = _graded(each)
    return found


def _explanations(sample: JsonObject) -> dict[str, str]:
    """Return why each score was given, by its name in `_scores`, where the scorer says it."""
    found: dict[str, str] = {}
    for scorer, score in (sample.get("scores") or {}).items():
        why, value = (score.get("explanation"), score.get("value")) if isinstance(score, dict) else (None, None)
        if isinstance(why, str):
            found |= dict.fromkeys([f"{scorer},{name}" for name in value] if isinstance(value, dict) else [scorer], why)
    return found


def _graded(value: object) -> object:
    """Return a score as a number where Inspect's own `value_to_float` takes its text for one."""
    if not isinstance(value, str):
        return value
    if value in GRADES:
        return GRADES[value]
    return float(value) if DIGITS.fullmatch(value) else TRUTHS.get(value.lower(), value)


def _record(sample: JsonObject, model: str, created: str | None, metrics: Mapping[str, str]) -> JsonObject:
    output, scores = sample.get("output") or {}, _scores(sample)
    usage = (sample.get("model_usage") or {}).get(model) or output.get("usage") or {}
    seconds = sample.get("total_time")
    return {
        "id": str(sample.get("id")),
        "question": _with_choices(_question(sample.get("input")), sample.get("choices")),
        "answer": _target(sample.get("target")),
        "failure": _failure(sample.get("error")),
        "text": _completion(output),
        "condition": model,
        "repetition": sample.get("epoch") or 1,
        "time": created,
        "input_tokens": usage.get("input_tokens"),
        "output_tokens": usage.get("output_tokens"),
        "duration_ms": round(1000 * seconds) if isinstance(seconds, int | float) else None,
        "tool_calls": _calls(sample.get("messages") or []),
        **{place: as_score(scores.get(name)) for name, place in metrics.items()},
    }


def _failure(error: object) -> JsonObject | None:
    """Return why a sample ended without an answer, None where it did not; in Inspect's numbers it does not count."""
    message = error.get("message") if isinstance(error, dict) else error
    return failure("infra_error", message, "the sample ended in an error") if error else None


def _question(asked: object) -> str:
    """Return what was asked; of messages what the user said in them."""
    if isinstance(asked, list):
        messages = [each for each in asked if isinstance(each, dict) and each.get("role") == "user"]
        return "\n\n".join(_content(each.get("content")) for each in messages)
    return str(asked or "")


def _with_choices(question: str, choices: object) -> str:
    """Return a question with the answers to choose from, lettered as Inspect does; golden answers are letters, too."""
    if not isinstance(choices, list) or not choices:
        return question
    letters = [*ascii_uppercase, *map(str, range(1, len(choices)))]
    lettered = [f"{letter}) {choice}" for letter, choice in zip(letters, choices, strict=False)]
    return question if all(each in question for each in lettered) else "\n".join([question, "", *lettered])


def _content(content: object) -> str:
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict) and part.get("text"))
    return str(content or "")


def _target(target: object) -> str:
    return " | ".join(map(str, target)) if isinstance(target, list) else str(target or "")


def _completion(output: JsonObject) -> str:
    if isinstance(output.get("completion"), str):
        return str(output["completion"])
    choices = output.get("choices") or [{}]
    return _content((choices[0].get("message") or {}).get("content"))


def _calls(messages: Sequence[JsonObject]) -> list[JsonObject]:
    """Return the tool calls with their results, which come as messages of their own."""
    results = {str(each.get("tool_call_id")): each for each in messages if each.get("role") == "tool"}
    return [
        _call(call, results.get(str(call.get("id"))))
        for each in messages
        for call in each.get("tool_calls") or []
        if isinstance(call, dict)
    ]


def _call(call: JsonObject, answer: JsonObject | None) -> JsonObject:
    """Return a call; one that was never answered failed, without a result."""
    name, arguments = str(call.get("function") or "tool"), call.get("arguments")
    if answer is None:
        return tool_call(name, arguments, failed=True)
    error = answer.get("error")
    why = str(error.get("message") or "") if isinstance(error, dict) else ""
    return tool_call(name, arguments, _content(answer.get("content")) or why, failed=bool(error))
