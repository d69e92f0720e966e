"""Samples of lm-evaluation-harness, as `lm_eval --log_samples` writes them: samples_TASK_TIME.jsonl.

The condition is the model, which the folder of the file is called after. A task with several filters has a row for
each; their metrics stand beside each other, as METRIC,FILTER where there are several.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema_rs
import orjson

from keval.errors import InputError
from keval.ids import JsonObject
from keval.origins import Origin, Results, as_score, named_scores
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
        seen: set[tuple[object, str]] = set()
        for row in rows_of(path, ROW):
            used = str(row.get("filter"))
            filters[used] = None
            if (row["doc_id"], used) in seen:
                raise InputError(f"doc_id {row['doc_id']!r} is there twice, with filter {used}: are these two tasks?")
            seen.add((row["doc_id"], used))
            _, scores = found.setdefault(row["doc_id"], (row, {}))
            scores |= {(name, used): row.get(name) for name in row.get("metrics") or []}
        documents = [
            (row, {_metric(name, used, len(filters)): score for (name, used), score in scores.items()})
            for row, scores in found.values()
        ]
        metrics, without_scale = named_scores(scores for _, scores in documents)
        named = FILE.fullmatch(path.name)
        has_golden = all(_target(row).strip() for row, _ in documents)

        def records() -> Iterator[JsonObject]:
            for row, scores in documents:
                placed = {place: as_score(scores.get(name)) for name, place in metrics.items()}
                yield from _records(row, path.resolve().parent.name or "model", placed, has_golden=has_golden)

        return Results(
            named[1] if named else path.name.partition(".")[0],
            records,
            "lm-evaluation-harness",
            metrics,
            has_golden_answers=has_golden,
            left_out=[f"no scale is known of: {', '.join(without_scale)}"] if without_scale else [],
        )


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
            **(scores if repetition == 1 else dict.fromkeys(scores)),
        }


def _requests(row: JsonObject) -> list[Any]:
    arguments = row.get("arguments") or {}
    found = list(arguments.values()) if isinstance(arguments, dict) else list(arguments)
    listed = [list(each.values()) if isinstance(each, dict) else each for each in found]
    return [each for each in listed if isinstance(each, list)]


def _question(row: JsonObject) -> str:
    requests = _requests(row)
    return str(requests[0][0]) if requests and requests[0] else orjson.dumps(row.get("doc")).decode()


def _is_choice(response: object) -> bool:
    if not isinstance(response, list) or len(response) != _LIKELIHOOD or str(response[1]) not in {"True", "False"}:
        return False
    return isinstance(response[0], int | float | str) and NUMBER.fullmatch(str(response[0])) is not None


def _choices(row: JsonObject) -> Sequence[Any] | None:
    """Return how likely each choice is, or None where the model wrote an answer."""
    found = [each[0] for each in row["resps"] if isinstance(each, list) and len(each) == 1 and _is_choice(each[0])]
    return found if found and len(found) == len(row["resps"]) else None


def _answers(row: JsonObject) -> list[str]:
    choices = _choices(row)
    if choices is None:
        first = row["resps"][0] if row["resps"] else []
        return [str(each) for each in (first if isinstance(first, list) else [first])]
    best = max(range(len(choices)), key=lambda place: float(choices[place][0]))
    return [_choice(row, best)]


def _target(row: JsonObject) -> str:
    """Return the golden answer; of a choice its text, where the target is its place."""
    target = str(row.get("target", ""))
    is_place = _choices(row) is not None and re.fullmatch(r"\d{1,9}", target, re.ASCII) is not None
    return _choice(row, int(target)) if is_place else target


def _choice(row: JsonObject, place: int) -> str:
    """Return the text of a choice, or its place where the row has no text of it."""
    requests = _requests(row)
    has_text = place < len(requests) and len(requests[place]) > 1
    return str(requests[place][1]).strip() if has_text else str(place)
