"""Says by what else a judge's scores go than an answer's worth: length, order, own model, time, the end of the scale.

Each has an interval and a sentence that claims no more than the interval shows. None of them proves a bias: a longer
answer may be the better one. They say where to look.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import fmean
from typing import TYPE_CHECKING

from keval.ids import JsonObject
from keval.readable import share
from keval.reports import people_scores
from keval.reports.queries import ask
from keval.stats.aggregates import rounded
from keval.stats.agreement import FEWEST_PAIRS, correlations, rank_correlation_interval
from keval.stats.intervals import FEWEST_SAMPLES, Interval, interval
from keval.stats.proportions import share_interval

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MUCH_AT_THE_CEILING = 0.5
"""From this share of scores at the end of the scale on, better answers can hardly be told from good ones."""


READ = (
    "conditions",
    "judgment_facts",
    "judgments",
    "labels",
    "metrics",
    "response_facts",
    "responses",
    "score_facts",
)
"""The tables and views that are asked."""


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One thing that a judge's scores may go by."""

    name: str
    judge: str
    judge_id: str
    metric: str
    value: float | None
    ci_lower: float | None
    ci_upper: float | None
    n: int
    """Samples that it rests on."""
    sentence: str
    reason: str | None
    """Why there is no value, or no interval."""


def diagnostics(connection: DuckDBPyConnection) -> tuple[Diagnostic, ...]:
    """Return what there is to say of each judge and metric."""
    people_scores.make_table(connection)
    found = (
        *_of_metrics(connection, "answer_lengths", _length),
        *_of_metrics(connection, "pair_orders", _order),
        *_of_metrics(connection, "pair_orders", _first),
        *(_own_model(row) for row in ask(connection, "own_model")),
        *_of_metrics(connection, "score_times", _drift),
        *_of_metrics(connection, "ceiling_scores", _ceiling),
    )
    return tuple(found)


def _of_metrics(
    connection: DuckDBPyConnection, name: str, make: Callable[[Sequence[JsonObject]], Diagnostic]
) -> Iterator[Diagnostic]:
    for _, of_metric in groupby(ask(connection, name), key=lambda row: row["place"]):
        yield make(list(of_metric))


@dataclass(frozen=True, slots=True)
class _Measured:
    """A number with its interval, the samples it rests on, and why something of it is missing."""

    value: float | None
    limits: Interval
    samples: int
    reason: str | None = None

    def said(self, words: tuple[str, str, str], middle: float = 0.0) -> str:
        """Return what the interval shows: a number above the middle, below it, or not shown to be either."""
        low, high = self.limits
        if low is None or high is None:
            return f"cannot tell: {self.reason}"
        if low > middle:
            return words[0]
        return words[1] if high < middle else words[2]


def _made(name: str, row: JsonObject, found: _Measured, sentence: str) -> Diagnostic:
    low, high = map(rounded, found.limits)
    who = (row["judge"], row["judge_id"], row["metric"])
    return Diagnostic(name, *who, rounded(found.value), low, high, found.samples, sentence, found.reason)


def _length(of_metric: Sequence[JsonObject]) -> Diagnostic:
    words = ("longer answers score higher", "longer answers score lower", "no relation between length and score shown")
    found = _correlation(of_metric, "score", "length")
    return _made("length", of_metric[0], found, found.said(words))


def _drift(of_metric: Sequence[JsonObject]) -> Diagnostic:
    words = ("later judgments are higher", "later judgments are lower", "no drift over time shown")
    found = _correlation(of_metric, "deviation", "time")
    return _made("time", of_metric[0], found, found.said(words))


def _correlation(found: Sequence[JsonObject], one: str, other: str) -> _Measured:
    """Return Spearman's rank correlation, with as many independent cases as there are samples."""
    samples = len({row["sample_id"] for row in found})
    value = correlations([row[one] for row in found], [row[other] for row in found])["spearman"]
    if value is None:
        why = f"{one} or {other} does not vary" if len(found) >= FEWEST_PAIRS else f"fewer than {FEWEST_PAIRS} scores"
        return _Measured(None, (None, None), samples, why)
    limits = rank_correlation_interval(value, samples)
    few = f"fewer than {FEWEST_SAMPLES} samples" if samples < FEWEST_SAMPLES else "all are in one order"
    return _Measured(value, limits, samples, few if limits[0] is None else None)


def _order(of_metric: Sequence[JsonObject]) -> Diagnostic:
    found = _share([row["dependent"] / row["pairs"] for row in of_metric], sum(row["pairs"] for row in of_metric))
    sentence = f"in {share(found.value)} of pairs the verdict depends on the order of the answers; these are ties"
    return _made("order decides", of_metric[0], found, sentence)


def _first(of_metric: Sequence[JsonObject]) -> Diagnostic:
    told = [(row["first"], row["first"] + row["second"]) for row in of_metric if row["first"] + row["second"]]
    if not told:
        found = _Measured(None, (None, None), 0, "no verdict depends on the order")
    else:
        found = _share([first / both for first, both in told], sum(both for _, both in told))
    words = (
        "where the order decides, the first answer is preferred",
        "where the order decides, the second answer is preferred",
        "where the order decides, no preferred place is shown",
    )
    return _made("first place", of_metric[0], found, found.said(words, middle=0.5))


def _share(shares: Sequence[float], number: int) -> _Measured:
    """Return the mean of the samples' shares, of so many cases altogether."""
    return _Measured(fmean(shares), share_interval(shares, number), len(shares))


def _own_model(row: JsonObject) -> Diagnostic:
    limits = interval(row["difference"], row["se"], row["samples"])
    words = (
        "it gives answers of its own model more than others give them",
        "it gives answers of its own model less than others give them",
        "no preference for its own model shown",
    )
    reason = _why_not_told(row) if limits[0] is None else None
    found = _Measured(row["difference"], limits, row["samples"], reason)
    return _made("own model", row, found, found.said(words))


def _why_not_told(row: JsonObject) -> str:
    """Return why nothing, or no interval, is known of a judge's preference for its own model."""
    if not row["has_own"]:
        return "no answer is of the judge's own model"
    if not row["has_others"]:
        return "all answers are of the judge's own model"
    if not row["has_raters"]:
        return "nobody else scored these answers by this metric: no person, and no judge of another model"
    if not row["samples"]:
        return "no sample has answers of both kinds that others scored too"
    return f"fewer than {FEWEST_SAMPLES} samples" if row["se"] != 0 else "all samples differ by the same"


def _ceiling(of_metric: Sequence[JsonObject]) -> Diagnostic:
    found = _share([row["share"] for row in of_metric], sum(row["scores"] for row in of_metric))
    much = ": the scale has little room to show that answers become better"
    is_much = found.value is not None and found.value >= MUCH_AT_THE_CEILING
    sentence = f"{share(found.value)} of scores are the highest there is{much if is_much else ''}"
    return _made("highest score", of_metric[0], found, sentence)
