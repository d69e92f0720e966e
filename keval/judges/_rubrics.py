"""Reads a rubric, the data of an LLM judge.

A rubric is a YAML file like `judges/methodology.yaml`: a name, the role's instructions, what of a case the judge gets,
and metrics with their scale, question, level texts and lists. Nothing of a file is taken on trust: all that is wrong
with it is said at once.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from keval.documents import yaml_document
from keval.documents.yaml_document import Keys
from keval.errors import InputError
from keval.ids import JsonObject
from keval.judges._judgment import Metric

Mistake = tuple[Keys, str]
"""Where in a rubric, and what is wrong there."""

FOLDER = Path(__file__).parent
"""Where keval's own rubrics are, each a file with its name."""

METHODOLOGY = FOLDER / "methodology.yaml"
"""The rubric of a judge that names none."""

CLAIMS = "unverified_claims"
"""The key of a reply beside the metrics."""

TEXTS = ("question", "golden_answer", "tool_results", "answer")
"""What a judge can be given of a case, in the order of its prompt."""

CRITERIA = FOLDER / "custom_criteria.yaml"
"""A rubric whose one metric stands for each criterion of a config; it cannot be used by itself."""

GIVES = ("question", "golden_answer", "answer")
"""What a judge is given unless its rubric says otherwise."""

RUBRIC_KEYS = {"name": True, "summary": False, "instructions": True, "gives": False, "metrics": True}
METRIC_KEYS = {
    "name": True, "title": True, "type": False, "min": True, "max": True, "pass_from": False, "question": True,
    "note": False, "lists": False, "share": False, "levels": True,
}  # fmt: skip
"""The keys of a rubric and of a metric, and whether each must be there."""

SHARE_KEYS = {"for": True, "half": False, "against": True}
"""How the lists of a metric make its score: what counts for the answer, what half, and what against it."""

TYPES = ("ordinal", "continuous")
"""What a metric of a rubric can be: steps of one, or a number in hundredths of its scale."""

NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
"""What a metric, and a list of a metric, can be called."""

RANGE = re.compile(r"(?P<low>[-\d.]+)(?: to (?P<high>[-\d.]+))?")
"""Which scores a level describes: `3`, or `0.6 to 0.8` on a continuous scale."""

WIDEST_SCALE = 100
"""Steps of a scale; each is an allowed value in the schema of the reply."""


def shipped() -> dict[str, Path]:
    """Return keval's own rubrics by name, sorted."""
    return {path.stem: path for path in sorted(FOLDER.glob("*.yaml")) if path != CRITERIA}


def find(path: Path) -> Path:
    """Return the file that a config means: the one it names, else keval's own of that name. Raises InputError."""
    if path.exists() or path.suffix:
        return path
    if path.name not in shipped():
        raise InputError(f"{path}: no such rubric: neither a file nor one of keval's own ({', '.join(shipped())})")
    return shipped()[path.name]


def load(path: Path) -> JsonObject:
    """Return the rubric in a file.

    Raises InputError with everything that is wrong with it, each with file and line.
    """
    found = yaml_document.read(path)
    problems = list(found.problems)
    if found.value is not None or not problems:
        problems += [(found.line(keys), keys, message) for keys, message in _rubric_problems(found.value)]
    if problems:
        raise InputError(*(found.described(problem) for problem in sorted(problems, key=_line)))
    rubric: JsonObject = found.value
    return rubric


def _line(problem: yaml_document.Problem) -> int:
    return problem[0]


def gives(rubric: Mapping[str, Any]) -> tuple[str, ...]:
    """Return which texts of a case a judge with this rubric is given, in the order of its prompt."""
    return tuple(name for name in TEXTS if name in rubric.get("gives", GIVES))


def metrics(rubric: Mapping[str, Any]) -> tuple[Metric, ...]:
    """Return a rubric's metrics; its titles and questions say to people what they are."""
    return tuple(
        Metric(
            metric["name"],
            metric["min"],
            metric["max"],
            type=metric.get("type", "ordinal"),
            pass_from=metric.get("pass_from"),
            label=metric["title"],
            description=metric["question"],
        )
        for metric in rubric["metrics"]
    )


def lists(rubric: Mapping[str, Any]) -> JsonObject:
    """Return the names of each metric's lists, and how they make its score, of the metrics that have any."""
    return {
        metric["name"]: {"lists": list(metric["lists"]), "share": metric.get("share")}
        for metric in rubric["metrics"]
        if "lists" in metric
    }


def is_name(name: object) -> bool:
    """Return whether a metric can be called so."""
    return isinstance(name, str) and NAME.fullmatch(name) is not None and name != CLAIMS


def range_of(level: str) -> tuple[float, float] | None:
    """Return the lowest and highest score that a level describes, or None for a level that is not a score."""
    found = RANGE.fullmatch(level)
    try:
        return None if found is None else (float(found["low"]), float(found["high"] or found["low"]))
    except ValueError:
        return None


def _rubric_problems(rubric: object) -> Iterator[Mistake]:
    if not isinstance(rubric, dict):
        yield (), "expected a mapping with the keys name, instructions, metrics"
        return
    yield from _key_problems((), rubric, RUBRIC_KEYS)
    yield from _text_problems((), rubric, ("name", "summary", "instructions"))
    yield from _gives_problems(rubric.get("gives", list(GIVES)))
    metrics = rubric.get("metrics", [])
    if not isinstance(metrics, list) or ("metrics" in rubric and not metrics):
        yield ("metrics",), "expected a list of at least one metric"
        return
    names: list[object] = []
    for position, metric in enumerate(metrics):
        keys = ("metrics", position)
        yield from _metric_problems(keys, metric)
        name = metric.get("name") if isinstance(metric, dict) else None
        if name is not None and name in names:
            yield (*keys, "name"), f"another metric is called {name!r} too"
        names.append(name)


def _gives_problems(given: object) -> Iterator[Mistake]:
    if not isinstance(given, list) or not set(map(str, given)) <= set(TEXTS) or "answer" not in given:
        yield ("gives",), f"expected a list of {', '.join(TEXTS)}, with answer among them"


def _metric_problems(keys: Keys, metric: object) -> Iterator[Mistake]:
    if not isinstance(metric, dict):
        yield keys, "expected a mapping"
        return
    yield from _key_problems(keys, metric, METRIC_KEYS)
    yield from _text_problems(keys, metric, ("title", "question", "note"))
    if "name" in metric and not is_name(metric["name"]):
        yield (*keys, "name"), f"{metric['name']!r} cannot be a metric's name (small letters, digits, _; not {CLAIMS})"
    if metric.get("type", "ordinal") not in TYPES:
        yield (*keys, "type"), f"{metric['type']!r} is not one of {', '.join(TYPES)}"
    if "lists" in metric or "share" in metric:
        yield from _list_problems(keys, metric)
    if "min" in metric and "max" in metric:
        yield from _scale_problems(keys, metric)


def _list_problems(keys: Keys, metric: Mapping[str, Any]) -> Iterator[Mistake]:
    described = metric.get("lists")
    if not isinstance(described, dict) or not described:
        yield (*keys, "lists"), "expected a mapping from the names of lists to what each holds"
        return
    for name in described:
        if not NAME.fullmatch(name) or name in ("reasoning", "score"):
            yield (*keys, "lists", name), f"{name!r} cannot be a list's name (small letters, digits, _)"
    yield from _text_problems((*keys, "lists"), described, described)
    if "share" in metric:
        if metric.get("type") != "continuous":
            yield (*keys, "share"), "only a metric of the type continuous can be a share"
        yield from _share_problems((*keys, "share"), metric["share"], described)


def _share_problems(keys: Keys, share: object, described: Mapping[str, Any]) -> Iterator[Mistake]:
    if not isinstance(share, dict):
        yield keys, "expected a mapping with the keys for and against"
        return
    yield from _key_problems(keys, share, SHARE_KEYS)
    counted: set[str] = set()
    for part, names in share.items():
        if not isinstance(names, list) or not set(map(str, names)) <= set(described):
            yield (*keys, part), f"expected a list of the metric's lists ({', '.join(described)})"
            continue
        if part == "for" and not names:
            yield (*keys, part), f"expected at least one of the metric's lists ({', '.join(described)})"
        for name in names:
            if name in counted:
                yield (*keys, part), f"{name!r} counts already: a list can be named once"
            counted.add(name)


def _scale_problems(keys: Keys, metric: Mapping[str, Any]) -> Iterator[Mistake]:
    low, high, continuous = metric["min"], metric["max"], metric.get("type") == "continuous"
    if continuous and not (_is_number(low) and _is_number(high) and low < high):
        yield keys, "min and max must be numbers, max above min"
        return
    if not continuous and (type(low) is not int or type(high) is not int or not 0 < high - low <= WIDEST_SCALE):
        yield keys, f"min and max must be whole numbers, max above min and at most {WIDEST_SCALE} above it"
        return
    passing = metric.get("pass_from", low)
    if not _is_number(passing) or not low <= passing <= high:
        yield (*keys, "pass_from"), f"expected a score from {low} to {high}"
    yield from _level_problems((*keys, "levels"), metric, continuous=continuous)


def _level_problems(keys: Keys, metric: Mapping[str, Any], *, continuous: bool) -> Iterator[Mistake]:
    low, high, levels = metric["min"], metric["max"], metric.get("levels", {})
    if not isinstance(levels, dict) or ("levels" in metric and not levels):
        yield keys, "expected a mapping from scores to texts"
        return
    scores = [] if continuous else [str(score) for score in range(low, high + 1)]
    ranges = {level: range_of(level) for level in levels if continuous or level in scores}
    for level in levels:
        found = ranges.get(level)
        if found is None or not low <= found[0] <= found[1] <= high:
            yield (*keys, level), f"{level!r} is not a score from {low} to {high}"
    yield from _text_problems(keys, levels, ranges)
    ends = {end for found in ranges.values() if found for end in found}
    if levels and not {low, high} <= ends:
        yield keys, f"{low} and {high}, the ends of the scale, must be described"


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _key_problems(keys: Keys, found: Mapping[str, Any], known: Mapping[str, bool]) -> Iterator[Mistake]:
    for key in found:
        if key not in known:
            yield (*keys, key), f"unknown key {key!r} (known: {', '.join(known)})"
    yield from ((keys, f"{key!r} is missing") for key, required in known.items() if required and key not in found)


def _text_problems(keys: Keys, found: Mapping[str, Any], names: Iterable[str]) -> Iterator[Mistake]:
    for name in names:
        if name in found and (not isinstance(found[name], str) or not found[name].strip()):
            yield (*keys, name), "expected a text"
