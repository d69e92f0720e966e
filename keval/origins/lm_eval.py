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

from keval.documents.packed import opened
from keval.errors import InputError
from keval.ids import JsonObject
from keval.origins import Origin, Results, as_score, check, named_scores

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
        by_document: dict[object, JsonObject] = {}
        filters: dict[str, None] = {}
        for row in _rows(path):
            filters[str(row.get("filter"))] = None
            first = by_document.setdefault(row["doc_id"], row)
            first.setdefault("scores", {}).update(
                {(name, str(row.get("filter"))): row.get(name) for name in row.get("metrics") or []}
            )
        for row in by_document.values():
            row["scores"] = {_metric(name, used, len(filters)): score for (name, used), score in row["scores"].items()}
        metrics, without_scale = named_scores(row["scores"] for row in by_document.values())
        named = FILE.fullmatch(path.name)
        has_golden = all(_target(row).strip() for row in by_document.values())

        def records() -> Iterator[JsonObject]:
            for row in by_document.values():
                yield from _records(row, path.resolve().parent.name or "model", metrics, has_golden=has_golden)

        return Results(
            named[1] if named else path.name.partition(".")[0],
            records,
            "lm-evaluation-harness",
            metrics,
            has_golden_answers=has_golden,
            left_out=[f"no scale is known of: {', '.join(without_scale)}"] if without_scale else [],
        )


def _rows(path: Path) -> Iterator[JsonObject]:
    with opened(path) as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            try:
                row = orjson.loads(line)
            except orjson.JSONDecodeError as error:
                raise InputError(f"line {number} is not JSON: {error}") from error
            yield check(ROW, row, f"line {number}")


def _metric(name: str, used: str, filters: int) -> str:
    return name if filters == 1 else f"{name},{used}"


def _records(row: JsonObject, condition: str, metrics: dict[str, str], *, has_golden: bool) -> Iterator[JsonObject]:
    """Yield a record for each repetition; the harness scores them together, and so the first has the scores."""
    for repetition, text in enumerate(_answers(row), start=1):
        scores = row["scores"] if repetition == 1 else {}
        yield {
            "id": str(row["doc_id"]),
            "question": _question(row),
            **({"answer": _target(row)} if has_golden else {}),
            "text": text,
            "condition": condition,
            "repetition": repetition,
            **{place: as_score(scores.get(name)) for name, place in metrics.items()},
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
    return isinstance(response, list) and len(response) == _LIKELIHOOD and str(response[1]) in {"True", "False"}


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
    requests = _requests(row)
    return [str(requests[best][1]).strip() if best < len(requests) else str(best)]


def _target(row: JsonObject) -> str:
    """Return the golden answer; of a choice its text, where the target is its place."""
    target = str(row.get("target", ""))
    requests = _requests(row)
    if _choices(row) is not None and target.isdecimal() and int(target) < len(requests):
        return str(requests[int(target)][1]).strip()
    return target
