"""Makes `label` events of what people say of verdicts, and counts those that a log holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from keval.errors import InputError
from keval.events import event
from keval.ids import JsonObject, digest
from keval.labels.draw import Wanted
from keval.labels.error_rates import ForeignCalibration, PassShare, RatesCorrection, corrected_by, rates_as_json
from keval.logs.line_at import event_at
from keval.passing import passes
from keval.projections import rows
from keval.projections.sql_file import literal, load
from keval.reports.verdicts import READ as READ_FOR_VERDICTS
from keval.stats.calibration import Calibration, Labelled
from keval.stats.rogan_gladen import ErrorRates

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

READ = (
    *READ_FOR_VERDICTS,
    "facts",
    "label_facts",
    "labels",
    "newest_samples",
    "pair_judges",
    "run_facts",
    "samples",
    "scores",
)
"""The tables and views that are asked to draw verdicts, and to count and to use what people said of them."""

SAYS = {
    "valid_failure": "the answer is bad",
    "valid_pass": "the answer is good",
    "judge_bug": "the judge is wrong",
    "ambiguous": "nobody can tell, by this question and golden answer",
}
"""What a person may say of a verdict."""

CURE = "remove its entry, or make a new sheet"

Target = tuple[str, str, str]
"""What a label is about: response, judge and metric, by their ids."""

Key = TypeVar("Key")


@dataclass(frozen=True, slots=True)
class Said:
    """What one person says of one verdict."""

    target: Target
    labeler: str
    verdict: str | None = None
    score: float | None = None
    """Instead of a verdict: the person's own score by the metric."""
    note: str | None = None
    draw: JsonObject | None = None
    """How the response came to be labelled; None if nobody says."""
    passed: bool | None = None
    """What the judge said of the response; None if the person was not told."""
    answer_sha256: str | None = None
    """Of the answer that the person read."""

    def for_all(self, judges: Iterable[str]) -> tuple[Said, ...]:
        """Return this, and a score also as said of the metric of the same name and scale of other judges."""
        response_id, _, metric = self.target
        others = judges if self.verdict is None else ()
        return (self, *(replace(self, target=(response_id, judge_id, metric), passed=None) for judge_id in others))

    @property
    def identity(self) -> str:
        """The label's id: a score of an answer that was drawn at random takes the place of no verdict."""
        parts = ("label", *self.target, self.labeler)
        is_random = self.draw is not None and self.draw["method"] == "random"
        return digest(*parts, "random") if is_random else digest(*parts)

    def event(self, run_id: str) -> JsonObject:
        """Return the label as an event; the same person's next word on the same verdict takes its place."""
        response_id, judge_id, metric = self.target
        said = {"scores": {metric: self.score}} if self.verdict is None else {"verdict": self.verdict}
        about = {"response_id": response_id, "judge_id": judge_id, "metric": metric}
        known = {"answer_sha256": self.answer_sha256, "passed": self.passed, "draw": self.draw}
        more = {name: value for name, value in known.items() if value is not None}
        return event("label", self.identity, run_id, **about, labeler=self.labeler, **said, note=self.note, **more)


@dataclass(frozen=True)
class Known:
    """The labels of a log: the newest of each person and verdict."""

    events: tuple[JsonObject, ...]

    def lacks(self, said: Said) -> bool:
        """Return whether the log does not hold exactly this yet."""
        made = said.event("")
        names = ("response_id", "judge_id", "metric", "labeler", "verdict", "scores", "note", "passed")
        return not any(
            all(known.get(name) == made.get(name) for name in names) for known in self._by_id.get(made["id"], ())
        )

    def has(self, target: Target, labeler: str | None = None, *, random: bool = False) -> bool:
        """Return whether a verdict has a label; of this person, if one is named; of a draw at random, if asked."""
        return any(
            labeler in {None, known["labeler"]} and (not random or is_random(known))
            for known in self._by_target.get(target, ())
        )

    @cached_property
    def _by_id(self) -> Mapping[str, Sequence[JsonObject]]:
        return _grouped((known["id"], known) for known in self.events)

    @cached_property
    def _by_target(self) -> Mapping[Target, Sequence[JsonObject]]:
        return _grouped((_target(known), known) for known in self.events)


def _grouped(keyed: Iterable[tuple[Key, JsonObject]]) -> dict[Key, list[JsonObject]]:
    """Return labels by a key of each."""
    found: dict[Key, list[JsonObject]] = {}
    for key, known in keyed:
        found.setdefault(key, []).append(known)
    return found


def is_random(label: JsonObject) -> bool:
    """Return whether a label is of an answer that was drawn at random."""
    return bool(label.get("draw", {}).get("method") == "random")


def known_labels(connection: DuckDBPyConnection, log: Path) -> Known:
    """Return the labels that count: not retracted, and of the answer, or the verdict, that counts."""
    return Known(tuple(event_at(log, row["line_offset"]) for row in rows(connection, load("labels", "labels"))))


def check_targets(connection: DuckDBPyConnection, answers: Mapping[str, str], judged: Mapping[Target, str]) -> None:
    """Raise InputError for responses that a log does not hold, or not with the answer of this hash.

    And for verdicts by other judgments than these: by another golden answer, maybe.
    """
    found = rows(connection, load("labels", "answers", ids=_literals(answers)))
    there = {row["id"]: row["answer_sha256"] for row in found}
    gone = [each for each in answers if each not in there]
    other = [each for each in answers if each in there and there[each] != answers[each]]
    newest = rows(connection, load("labels", "newest_judgments", ids=_literals(answers)))
    now = {_target(row): row["judgment"] for row in newest}
    anew = sorted({target[0] for target in judged if now.get(target) != judged[target]}.difference(gone))
    if gone or other or anew:
        raise InputError(
            *(
                f"the log has no response {each}: it was retracted, or the sheet is of another log; {CURE}"
                for each in gone
            ),
            *(f"response {each} was answered again since the sheet was written; {CURE}" for each in other),
            *(f"the verdict on response {each} changed since the sheet was written; {CURE}" for each in anew),
        )


def check_metrics_of(connection: DuckDBPyConnection, labels: Iterable[Said]) -> None:
    """Raise InputError for labels of metrics that a log does not have, and for scores that are not on their scales."""
    scales = {(row["judge_id"], row["metric"]): (row["min"], row["max"]) for row in rows(connection, "from metrics")}
    problems: dict[str, None] = {}
    for said in labels:
        response_id, judge_id, metric = said.target
        low, high = scales.get((judge_id, metric), (None, None))
        if low is None or high is None:
            problems[
                f"the log has no metric {metric!r} of judge {judge_id}: the sheet is of another log, or damaged"
            ] = None
        elif said.score is not None and not low <= said.score <= high:
            problems[
                f"response {response_id}: the score {said.score:g} is not from {low:g} to {high:g}, as {metric} is"
            ] = None
    if problems:
        raise InputError(*problems)


@dataclass(frozen=True, slots=True)
class CalibratedJudge:
    """What labels say of one judge's verdicts under one condition."""

    condition: str
    judge: str
    judge_id: str
    metric: str
    by: str
    """The values of the fields by which the verdicts were divided."""
    calibration: Calibration
    error_rates: ErrorRates | None
    """Of answers that were drawn at random; None unless both kinds were."""
    shares: Mapping[str, PassShare]
    """By sample."""

    def corrected_by(self, elsewhere: ForeignCalibration) -> RatesCorrection:
        """Return the pass rate corrected by error rates from elsewhere."""
        rates, reason = elsewhere.of(self.judge, self.judge_id, self.metric)
        return corrected_by(rates, reason, self.shares)

    def as_json(self) -> JsonObject:
        """Return it as one JSON object; what is not known is null, with a reason."""
        found = self.calibration
        return {
            "condition": self.condition,
            "judge": self.judge,
            "judge_id": self.judge_id,
            "metric": self.metric,
            "by": self.by or None,
            "pass_rate": found.pass_rate,
            "corrected_pass_rate": found.corrected,
            "ci_lower": found.interval[0],
            "ci_upper": found.interval[1],
            "passes_taken_for_right": found.assumes_passes,
            "failures": _as_json(found.failures),
            "passes": _as_json(found.passes),
            "sensitivity": found.sensitivity,
            "specificity": found.specificity,
            "error_rates": None if self.error_rates is None else rates_as_json(self.error_rates),
            "reason": found.why_unknown,
        }


@dataclass(slots=True)
class _Cell:
    """The verdicts of one judge and metric under one condition, as they are counted."""

    row: JsonObject
    kinds: dict[bool, Labelled] = field(default_factory=lambda: {True: Labelled(), False: Labelled()})
    drawn: Counter[tuple[bool, bool]] = field(default_factory=Counter)
    """Of answers drawn at random: whether they passed, and whether they should have."""
    shares: dict[str, PassShare] = field(default_factory=dict)
    redrawn: bool = False
    """Whether some were drawn as a pass and fail by now, or the other way round."""

    def take(self, passed: bool, said: Sequence[JsonObject], row: JsonObject) -> None:
        """Count what people say of one verdict."""
        right = _is_right(said, row)
        self.redrawn |= any(_told(known, row) is not passed and not is_random(known) for known in said)
        self.kinds[passed] = self.kinds[passed].with_label(right)
        if right is not None and any(map(is_random, said)):
            self.drawn[passed, passed is right] += 1

    @property
    def error_rates(self) -> ErrorRates | None:
        """How often the judge is right of good and of bad answers; None unless some of both were drawn."""
        failing = self.drawn[False, False] + self.drawn[True, False]
        passing = self.drawn[False, True] + self.drawn[True, True]
        if not failing or not passing:
            return None
        return ErrorRates(self.drawn[False, False] / failing, self.drawn[True, True] / passing, failing, passing)

    def calibrated(self) -> CalibratedJudge:
        """Return what was counted."""
        who = {name: self.row[name] for name in ("condition", "judge", "judge_id", "metric", "by")}
        found = Calibration(self.kinds[True], self.kinds[False], redrawn=self.redrawn)
        return CalibratedJudge(**who, calibration=found, error_rates=self.error_rates, shares=self.shares)


def calibrated(connection: DuckDBPyConnection, known: Known, wanted: Wanted) -> Iterator[CalibratedJudge]:
    """Return what labels say of each judge, metric and condition, divided as the labels were drawn."""
    words, strata = _words(known.events), wanted.strata(connection)
    cells: dict[tuple[str, ...], _Cell] = {}
    for row in rows(connection, load("labels", "counted", strata=strata)):
        cells.setdefault(_stratum(row), _Cell(row)).kinds[row["passed"]] = Labelled(row["verdicts"])
    for row in rows(connection, load("labels", "pass_shares", strata=strata)):
        share = PassShare(row["share"], row["verdicts"], row["cluster"], row["is_clustered"])
        cells[_stratum(row)].shares[row["sample_id"]] = share
    labelled = _literals(response_id for response_id, _, _ in words)
    for row in rows(connection, load("labels", "verdicts_of", strata=strata, ids=labelled)):
        of_verdict, of_response = (row["response_id"], row["judge_id"], row["metric"]), (row["response_id"], "", "")
        said = [known for known in (*words.get(of_verdict, ()), *words.get(of_response, ())) if _is_about(known, row)]
        if said:
            cells[_stratum(row)].take(row["passed"], said, row)
    return (cell.calibrated() for cell in cells.values())


def _stratum(row: JsonObject) -> tuple[str, ...]:
    return row["condition_id"], row["agent_id"], str(row["series"]), row["by"]


def _literals(ids: Iterable[str]) -> str:
    return ", ".join(map(literal, sorted(set(ids)))) or "null"


def _words(events: Iterable[JsonObject]) -> dict[Target, list[JsonObject]]:
    found: dict[Target, list[JsonObject]] = {}
    for known in events:
        found.setdefault(_target(known), []).append(known)
    return found


def _target(known: JsonObject) -> Target:
    return known["response_id"], known.get("judge_id") or "", known.get("metric") or ""


def _is_about(known: JsonObject, row: JsonObject) -> bool:
    """Return whether a label says anything of a verdict: a score does so only where a threshold tells what passes."""
    if known.get("verdict") is not None:
        return True
    return row["threshold"] is not None and known["scores"].get(row["metric"]) is not None


def _is_right(said: Iterable[JsonObject], row: JsonObject) -> bool | None:
    """Return whether people say that a verdict is right; None if they cannot tell, or do not agree."""
    opinions = {_opinion(known, row) for known in said}
    return opinions.pop() if len(opinions) == 1 else None


def _opinion(known: JsonObject, row: JsonObject) -> bool | None:
    passed: bool = row["passed"]
    match known.get("verdict"):
        case "judge_bug":
            return _told(known, row) is not passed
        case "valid_failure":
            return not passed
        case "valid_pass":
            return passed
        case "ambiguous":
            return None
    return passes(known["scores"][row["metric"]], row["threshold"]) is passed


def _told(known: JsonObject, row: JsonObject) -> bool:
    """Return what the person was told that the judge said; as long as nobody says otherwise, what it says now."""
    return bool(known.get("passed", row["passed"]))


def _as_json(labelled: Labelled) -> JsonObject:
    return {
        "verdicts": labelled.verdicts,
        "right": labelled.right,
        "wrong": labelled.wrong,
        "ambiguous": labelled.ambiguous,
        "predictive_value": labelled.share_right,
        "ci_lower": labelled.interval[0],
        "ci_upper": labelled.interval[1],
        "wrong_lower": labelled.wrong_bounds[0],
        "wrong_upper": labelled.wrong_bounds[1],
    }
