"""Samples of lm-evaluation-harness, as `lm_eval --log_samples` writes them: samples_TASK_TIME.jsonl.

The condition is the model, which the folder of the file is called after. A task with several filters has a row for
each; their metrics stand beside each other, as METRIC,FILTER where there are several.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema_rs
import orjson

from keval.errors import InputError
from keval.ids import JsonObject
from keval.origins import GoldenAnswers, Origin, Results, as_score, named_scores, refuse_unfit, told, without_scale
from keval.origins._files import rows_of

FILE = re.compile(r"samples_(.+?)_\d{4}-\d{2}-\d{2}T.*")
"""The name of a file: the task, and when it was written."""

ROW = jsonschema_rs.validator_for({
    "type": "object", "required": ["doc_id", "resps"],
    "properties": {
        "doc_id": {"type": ["integer", "string"]}, "resps": {"type": "array"},
        "metrics": {"type": ["array", "null"], "items": {"type": "string"}},
        "arguments": {"type": ["object", "array", "null"]},
    },
})  # fmt: skip
"""What is read of a row."""

NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?|-?inf", re.ASCII)
"""How likely a choice is, as a logarithm."""

OWN = {"doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter"}
"""Fields of a row that are no metrics."""

ASKED = ("doc", "target", "arguments", "resps")
"""Fields that are the same whatever the filter."""

SCORED_TOGETHER = {"not_applicable": "lm-evaluation-harness scores repeated answers together, in the first"}

_LIKELIHOOD = 2
"""A choice has a pair: how likely it is, and whether it would be the greedy answer."""


@dataclass(frozen=True, kw_only=True)
class LmEval(Origin):
    """Reads samples of lm-evaluation-harness: what was asked and answered, and its metrics."""

    def fits(self, head: bytes) -> bool:
        """Return whether it begins with a sample."""
        return re.match(rb'\A\s*\{\s*"doc_id"\s*:', head) is not None and b'"resps"' in head

    def read(self, path: Path) -> Results:
        """Read a file; what is kept of each row is in memory."""
        found: dict[object, tuple[JsonObject, dict[tuple[str, str], object]]] = {}
        filters: dict[str, None] = {}
        times: Counter[object] = Counter()
        seen: set[tuple[object, str]] = set()
        for row in rows_of(path, ROW):
            first, _ = found.get(row["doc_id"], (row, {}))
            times[row["doc_id"]] += 1
            # Rows of older versions do not name their filter: they are of one task if all else is alike.
            used = str(row["filter"]) if "filter" in row else f"filter {times[row['doc_id']]}"
            filters[used] = None
            is_other = "filter" not in row and any(row.get(name) != first.get(name) for name in ASKED)
            if (row["doc_id"], used) in seen or is_other:
                raise InputError(f"doc_id {row['doc_id']!r} is there twice, with filter {used}: are these two tasks?")
            seen.add((row["doc_id"], used))
            _, scores = found.setdefault(row["doc_id"], (row, {}))
            scores |= {(name, used): row.get(name) for name in _names(row)}
        documents = [
            (row, {_metric(name, used, len(filters)): score for (name, used), score in scores.items()})
            for row, scores in found.values()
            if _answers(row)
        ]
        unanswered = Counter({"no answer is in it": missing} if (missing := len(found) - len(documents)) else {})
        metrics, unscaled = named_scores(scores for _, scores in documents)
        named = FILE.fullmatch(path.name)
        golden = GoldenAnswers()
        for row, _ in documents:
            golden.take(_target(row))

        def records() -> Iterator[JsonObject]:
            for row, scores in documents:
                placed = {place: as_score(scores.get(name)) for name, place in metrics.items()}
                yield from _records(row, path.resolve().parent.name or "model", placed, has_golden=golden.are_taken)

        return Results(
            named[1] if named else path.name.partition(".")[0],
            records,
            "lm-evaluation-harness",
            metrics,
            has_golden_answers=golden.are_taken,
            left_out=[*told(unanswered), *golden.left_out(), *without_scale(unscaled)],
        )


def _names(row: JsonObject) -> Sequence[str]:
    """Return the names of a row's metrics; rows of older versions do not say which of their fields these are."""
    if "metrics" in row:
        return row["metrics"] or ()
    return [name for name, value in row.items() if name not in OWN and isinstance(value, int | float)]


def _metric(name: str, used: str, filters: int) -> str:
    return name if filters == 1 else f"{name},{used}"


def _records(row: JsonObject, condition: str, scores: JsonObject, *, has_golden: bool) -> Iterator[JsonObject]:
    """Yield a record for each repetition; the harness scores them together, and so the first has the scores."""
    for repetition, text in enumerate(_answers(row), start=1):
        yield {
            "id": str(row["doc_id"]),
            "question": _question(row),
            **({"answer": _target(row)} if has_golden else {}),
            "text": text,
            "condition": condition,
            "repetition": repetition,
            **(scores if repetition == 1 else dict.fromkeys(scores, SCORED_TOGETHER)),
        }


def _requests(row: JsonObject) -> list[list[Any]]:
    arguments = row.get("arguments") or {}
    found = list(arguments.values()) if isinstance(arguments, dict) else list(arguments)
    listed = [list(each.values()) if isinstance(each, dict) else each for each in found]
    return [each for each in listed if isinstance(each, list)]


def _question(row: JsonObject) -> str:
    requests = _requests(row)
    is_shared = bool(requests) and bool(requests[0]) and not _differ_before(_choices(row) or ())
    if is_shared:
        return str(requests[0][0])
    refuse_unfit({"doc": row.get("doc")}, f"doc_id {row['doc_id']!r}")
    return orjson.dumps(row.get("doc")).decode()


def _is_likelihood(response: object) -> bool:
    if not isinstance(response, list) or len(response) != _LIKELIHOOD or str(response[1]) not in {"True", "False"}:
        return False
    return isinstance(response[0], int | float | str) and NUMBER.fullmatch(str(response[0])) is not None


@dataclass(frozen=True, slots=True)
class _Choice:
    """One of the texts whose likelihood the model was asked for."""

    likelihood: float
    context: str
    """What stands before it; empty where the row does not say it."""
    text: str
    """The choice, or its place where the row has no text of it."""


def _choices(row: JsonObject) -> Sequence[_Choice] | None:
    """Return the choices, or None where the model wrote an answer.

    `acc_mutual_info` asks for each choice without its context, too, which is no answer to the question. Raises
    InputError for a text that the model had no choice of: how likely it is does not say what the model answers.
    """
    found = [each[0] for each in row["resps"] if isinstance(each, list) and len(each) == 1 and _is_likelihood(each[0])]
    if not found or len(found) != len(row["resps"]):
        return None
    if len(found) == 1:
        raise _not_an_answer(row)
    requests = _requests(row)
    made = [
        _choice(likely, requests[place] if place < len(requests) else [], place) for place, likely in enumerate(found)
    ]
    return [each for each in made if each.context.strip()] or made


def _not_an_answer(row: JsonObject) -> InputError:
    return InputError(
        f"doc_id {row['doc_id']!r} says how likely one text is, not what the model answered; "
        "samples of tasks with choices or with written answers can be imported"
    )


def _choice(likelihood: Sequence[Any], request: Sequence[Any], place: int) -> _Choice:
    has_text = len(request) > 1
    context, text = (str(request[0]), str(request[1]).strip()) if has_text else ("", str(place))
    return _Choice(float(str(likelihood[0])), context, text)  # of an integer beyond a float Python would make none


def _differ_before(choices: Sequence[_Choice]) -> bool:
    """Return whether the choices differ in what stands before the text, as in winogrande."""
    return len({each.context for each in choices}) > 1


def _answers(row: JsonObject) -> list[str]:
    choices = _choices(row)
    if choices is None:
        first = row["resps"][0] if row["resps"] else []
        written = [each for each in (first if isinstance(first, list) else [first]) if each is not None]
        if any(_is_measured(each, row) for each in written):
            raise _not_an_answer(row)
        return [str(each) for each in written]
    best = max(choices, key=lambda choice: choice.likelihood)
    return [f"{best.context.strip()} {best.text}" if _differ_before(choices) else best.text]


def _is_measured(response: object, row: JsonObject) -> bool:
    """Return whether a response is how likely a text is, as in wikitext: it was asked for with nothing but the text."""
    if isinstance(response, int | float):
        return True
    is_text_alone = any(len(request) == 1 for request in _requests(row))
    return is_text_alone and isinstance(response, str) and NUMBER.fullmatch(response) is not None


def _target(row: JsonObject) -> str:
    """Return the golden answer, of a choice its text where the target is its place; empty if nothing says it."""
    target, choices = str(row.get("target", "")), _choices(row)
    if choices is None:
        return target
    if _differ_before(choices):
        return ""  # the target is the text that all have
    is_place = re.fullmatch(r"\d{1,9}", target, re.ASCII) is not None and int(target) < len(choices)
    return choices[int(target)].text if is_place else target
