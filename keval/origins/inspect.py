"""Logs of Inspect, as `inspect eval` writes them: `.eval` files and JSON.

The condition is the model, an epoch is a repetition. A sample that ended in an error has no answer and no score.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from keval.errors import InputError
from keval.ids import JsonObject
from keval.origins import NUMBER, OBJECT, OBJECTS, Origin, Results, as_score, check, named_scores, shape, told

GRADES = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
"""Correct, incorrect, partially correct, no answer: as Inspect's own `value_to_float` counts them."""

SAMPLE = shape(
    scores=OBJECT, output={"type": ["object", "null"], "properties": {"choices": OBJECTS, "usage": OBJECT}},
    model_usage={"type": ["object", "null"], "additionalProperties": {"type": "object"}}, total_time=NUMBER,
    messages={"type": ["array", "null"], "items": {"type": "object", "properties": {"tool_calls": OBJECTS}}},
)  # fmt: skip
"""What is read of a sample."""

HEADER = shape(eval=OBJECT)

MOST_BYTES = 2**30
"""The largest member of an archive that is read: a file that says more of itself may be made to fill a memory."""


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
        scores, errors, has_golden = [], 0, True
        for sample in samples():
            if sample.get("error"):
                errors += 1
            else:
                scores.append(_scores(sample))
                has_golden = has_golden and bool(_target(sample.get("target")).strip())
        metrics, without_scale = named_scores(scores)
        left_out = told(Counter({"the sample ended in an error": errors} if errors else {}))
        unscaled = [f"no scale is known of: {', '.join(without_scale)}"] if without_scale else []

        def records() -> Iterator[JsonObject]:
            for sample in samples():
                if not sample.get("error"):
                    record = _record(sample, str(about.get("model") or "model"), about.get("created"), metrics)
                    yield record if has_golden else {name: each for name, each in record.items() if name != "answer"}

        name = str(about.get("task") or path.name.partition(".")[0])
        return Results(
            name, records, "inspect", metrics,
            has_golden_answers=has_golden, has_tool_calls=True, left_out=[*left_out, *unscaled],
        )  # fmt: skip


def _is_archive(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(2) == b"PK"


def _json(path: Path) -> tuple[JsonObject, Any]:
    try:
        document = orjson.loads(path.read_bytes())
    except orjson.JSONDecodeError as error:
        raise InputError(f"not JSON: {error}") from error
    found = document.get("samples") if isinstance(document, dict) else None
    if not isinstance(found, list):
        raise InputError("no samples in it: write the log with its samples, `inspect log convert --to json`")
    samples = [check(SAMPLE, sample, f"samples[{place}]") for place, sample in enumerate(found)]
    return check(HEADER, document, "the log"), lambda: iter(samples)


def _archive(path: Path) -> tuple[JsonObject, Any]:
    if sys.version_info >= (3, 14):
        import zipfile
    else:
        from backports.zstd import zipfile
    try:
        with zipfile.ZipFile(path) as archive:
            names = sorted(name for name in archive.namelist() if re.fullmatch(r"samples/.+\.json", name))
            is_whole = "header.json" in archive.namelist()
            header = check(HEADER, _member(archive, "header.json" if is_whole else "_journal/start.json"), "header")
    except (zipfile.BadZipFile, KeyError, OSError, EOFError) as error:
        raise InputError(f"cannot be read as an archive of Inspect: {error}") from error

    def samples() -> Iterator[JsonObject]:
        with zipfile.ZipFile(path) as archive:
            for name in names:
                yield check(SAMPLE, _member(archive, name), name)

    return header, samples


def _member(archive: Any, name: str) -> object:  # noqa: ANN401 - a ZipFile of one of two packages
    if archive.getinfo(name).file_size > MOST_BYTES:
        raise InputError(f"{name} is larger than 1 GiB")
    try:
        found = orjson.loads(archive.read(name))
    except orjson.JSONDecodeError as error:
        raise InputError(f"{name} is not JSON: {error}") from error
    return found


def _scores(sample: JsonObject) -> dict[str, object]:
    """Return the scores by scorer; of one that gives several, each by both names."""
    found: dict[str, object] = {}
    for scorer, score in (sample.get("scores") or {}).items():
        value = score.get("value") if isinstance(score, dict) else score
        if isinstance(value, dict):
            found |= {f"{scorer},{name}": _graded(each) for name, each in value.items()}
        else:
            found[scorer] = _graded(value)
    return found


def _graded(value: object) -> object:
    return GRADES.get(value, value) if isinstance(value, str) else value


def _record(sample: JsonObject, model: str, created: str | None, metrics: Mapping[str, str]) -> JsonObject:
    output, scores = sample.get("output") or {}, _scores(sample)
    usage = (sample.get("model_usage") or {}).get(model) or output.get("usage") or {}
    seconds = sample.get("total_time")
    return {
        "id": str(sample.get("id")),
        "question": _question(sample.get("input")),
        "answer": _target(sample.get("target")),
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


def _question(asked: object) -> str:
    """Return what was asked; of messages what the user said in them."""
    if isinstance(asked, list):
        messages = [each for each in asked if isinstance(each, dict) and each.get("role") == "user"]
        return "\n\n".join(_content(each.get("content")) for each in messages)
    return str(asked or "")


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
    results = {each.get("tool_call_id"): each for each in messages if each.get("role") == "tool"}
    return [
        {
            "name": str(call.get("function") or "tool"),
            "input": call.get("arguments") if isinstance(call.get("arguments"), dict) else {},
            "result": _content((results.get(call.get("id")) or {}).get("content")),
        }
        for each in messages
        for call in each.get("tool_calls") or []
        if isinstance(call, dict)
    ]
