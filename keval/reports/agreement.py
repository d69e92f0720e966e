"""Says how far raters agree that scored the same answers: judges, replicates of one judge, and people.

All coefficients are shown together, for each has cases in which it misleads. What is undefined is None, with a reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from keval.errors import UsageError
from keval.ids import JsonObject
from keval.projections import rows
from keval.projections.sql_file import literal, load
from keval.readable import share
from keval.reports import people_scores
from keval.reports.queries import ask
from keval.stats.aggregates import rounded
from keval.stats.agreement import (
    FEW_PAIRS,
    coefficients,
    correlations,
    kappa_interval,
    resampled_kappa_interval,
)
from keval.stats.intervals import FEWEST_SAMPLES, Interval, interval
from keval.stats.judge_variance import JudgeVariance

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

RaterKind = Literal["judges", "replicates", "labels", "people"]

READ = ("conditions", "labels", "metrics", "score_facts", "variance_components")
"""The tables and views that are asked."""

PARADOX_EXACT = 0.9
PARADOX_KAPPA = 0.4

FIXED = "every judgment is repeated exactly: the judge is deterministic or cached, which is no evidence of accuracy"

_NO_STEPS = "there are no categories: a score lies between whole steps, or the scale has more than 100 of them"
_ONE_CATEGORY = "both used one and the same category only: chance alone would agree always"
_NO_VARIATION = "no score differs from another"
_SAME_DRAWS = "samples drawn again give all the same, or too often nothing that is defined"
_CONSTANT = "one side does not vary, or there are fewer than 3 pairs"


@dataclass(frozen=True, slots=True)
class Raters:
    """Which raters are to be compared; all that a log holds unless something is asked for."""

    judges: tuple[str, str] | None = None
    """Two judges by name, or by the beginning of their id."""
    replicates: bool = False
    labels: bool = False
    seed: int = 0
    """Of the samples that are drawn again for intervals."""

    @property
    def takes_replicates(self) -> bool:
        """Whether what one judge says again and again is wanted."""
        return self.replicates or (self.judges is None and not self.labels)


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far two raters agree by one metric. `a` is the first one's score, `b` the second one's."""

    kind: RaterKind
    first: str
    second: str
    first_id: str
    second_id: str | None
    metric: str
    min: float
    max: float
    pairs: int
    responses: int
    samples: int
    exact: float
    within_one: float | None
    """The share of pairs that are at most one step apart."""
    bias: float
    """The mean of a - b."""
    bias_lower: float | None
    bias_upper: float | None
    mae: float
    qwk: float | None
    """Cohen's kappa with quadratic weights."""
    qwk_lower: float | None
    qwk_upper: float | None
    qwk_method: Literal["formula", "samples drawn again"] | None
    qwk_seed: int | None
    kappa: float | None
    ac1: float | None
    ac2: float | None
    alpha_nominal: float | None
    alpha_ordinal: float | None
    alpha_interval: float | None
    pearson: float | None
    spearman: float | None
    kendall: float | None
    categories: tuple[float, ...]
    confusion: tuple[tuple[int, ...], ...]
    """Rows are the first one's scores, columns the second one's."""
    notes: tuple[str, ...]
    reasons: Mapping[str, str]
    """Why a number is None, by its name."""


@dataclass(frozen=True, slots=True)
class JudgeVariation:
    """How much a judge varies by one metric under one condition."""

    judge: str
    judge_id: str
    metric: str
    condition: str
    variance: JudgeVariance


def agreements(connection: DuckDBPyConnection, raters: Raters) -> tuple[Agreement, ...]:
    """Return how far raters agree, judges first. Raises UsageError for a judge that the log does not have."""
    people_scores.make_table(connection)
    twice = load("reports", "rated_twice")
    connection.execute(f"create or replace table session.rated_twice as {twice}")
    series = load("reports", "rated_series", wanted=_condition(connection, raters))
    connection.execute(f"create or replace table session.compared_series as {series}")
    compared = load("reports", "compared_pairs")
    connection.execute(f"create or replace table session.compared_pairs as {compared}")
    pairs = "from session.compared_pairs"
    found = coefficients(connection, pairs, load("reports", "agreement_ratings"))
    summaries = {row["series"]: row for row in rows(connection, load("stats", "pair_summary", pairs=pairs))}
    sums = _by_series(ask(connection, "pair_sums"), "sums")
    cells = _by_series(ask(connection, "confusion"))
    names = _names(connection)
    made = []
    for row in list(rows(connection, "from session.compared_series order by series")):
        number = row["series"]
        values = {**summaries[number], **found.get(number, {}), **_correlated(connection, number)}
        material = _Material(row, values, sums.get(number, []), cells.get(number, []), raters.seed)
        made.append(_agreement(material, names))
    return tuple(made)


def judge_variations(connection: DuckDBPyConnection) -> tuple[JudgeVariation, ...]:
    """Return how much each judge varies that judged some response several times."""
    names = _names(connection)
    return tuple(
        JudgeVariation(
            judge=names[row["judge_id"]],
            **{name: row[name] for name in ("judge_id", "metric", "condition")},
            variance=JudgeVariance.of(row),
        )
        for row in ask(connection, "judge_variations")
    )


def is_mock(connection: DuckDBPyConnection) -> bool:
    """Return whether a stand-in made any of the scores."""
    return any(row["mock"] for row in ask(connection, "mock_scores"))


def _condition(connection: DuckDBPyConnection, raters: Raters) -> str:
    """Return the SQL of which pairs are wanted."""
    chosen = []
    if raters.judges is not None:
        first, second = (_judge_ids(connection, name) for name in raters.judges)
        both = f"(first_id in {first} and second_id in {second}) or (first_id in {second} and second_id in {first})"
        chosen.append(f"(kind = 'judges' and ({both}))")
    if raters.replicates:
        chosen.append("kind = 'replicates'")
    if raters.labels:
        chosen.append("kind in ('labels', 'people')")
    return " or ".join(chosen) or "true"


def without_common_metric(connection: DuckDBPyConnection, judges: tuple[str, str]) -> str | None:
    """Return what two judges score, if no metric of one has the name and the scale of one of the other."""
    scored = [list(rows(connection, _metrics_of(connection, name))) for name in judges]
    first, second = ({(row["metric"], row["min"], row["max"]) for row in each} for each in scored)
    if not first.isdisjoint(second):
        return None
    told = (
        f"{name} scores {', '.join(f'{metric} ({low:g} to {high:g})' for metric, low, high in sorted(found))}"
        for name, found in zip(judges, (first, second), strict=True)
    )
    return f"{'; '.join(told)}: no metric of both has one name and scale, so nothing of them is compared"


def _metrics_of(connection: DuckDBPyConnection, name: str) -> str:
    return f"from metrics where computed is null and judge_id in {_judge_ids(connection, name)}"


def _judge_ids(connection: DuckDBPyConnection, name: str) -> str:
    there = {row["judge_id"]: row["judge"] for row in rows(connection, "from metrics where computed is null")}
    found = [judge_id for judge_id, judge in there.items() if judge == name or judge_id.startswith(name)]
    if not found:
        known = ", ".join(f"{judge} ({judge_id[:8]})" for judge_id, judge in there.items()) or "none"
        raise UsageError(f"--judges {name}: no such judge in the log; there are: {known}")
    return f"({', '.join(map(literal, found))})"


def _names(connection: DuckDBPyConnection) -> dict[str, str]:
    """Return what people call each judge: its name, with the beginning of its id where several have that name."""
    there = {row["judge_id"]: row["judge"] for row in rows(connection, "from metrics order by place")}
    names = list(there.values())
    return {judge_id: f"{name} ({judge_id[:8]})" if names.count(name) > 1 else name for judge_id, name in there.items()}


def _by_series(found: Iterator[JsonObject], column: str | None = None) -> dict[int, list[Any]]:
    of: dict[int, list[Any]] = {}
    for row in found:
        of.setdefault(row["series"], []).append(row if column is None else row[column])
    return of


def _correlated(connection: DuckDBPyConnection, series: int) -> dict[str, float | None]:
    found = list(rows(connection, load("reports", "scores_of_pair", series=str(series))))
    return correlations([row["a"] for row in found], [row["b"] for row in found])


@dataclass(frozen=True, slots=True)
class _Material:
    """What an agreement is made of."""

    row: JsonObject
    """The series: who is compared, and by which metric."""
    values: JsonObject
    """Its numbers by name."""
    sums: Sequence[Sequence[float]]
    cells: Sequence[JsonObject]
    seed: int


def _agreement(material: _Material, names: Mapping[str, str]) -> Agreement:
    row, values = material.row, material.values
    has_steps = row["span"] is not None
    categories = tuple(row["min"] + step for step in range(int(row["span"]) + 1)) if has_steps else ()
    counts = {(cell["a"], cell["b"]): cell["pairs"] for cell in material.cells}
    low, high, method = _kappa_interval(material)
    bias_lower, bias_upper = interval(values["bias"], values["bias_se"], values["samples"])
    measured = ("pairs", "responses", "samples", "exact", "bias", "mae")
    coefficient = ("qwk", "kappa", "ac1", "ac2", "alpha_nominal", "alpha_ordinal", "alpha_interval")
    found = Agreement(
        **{name: row[name] for name in ("kind", "first_id", "second_id", "metric", "min", "max")},
        first=names.get(row["first_id"], row["first"]),
        second=names.get(row["second_id"], row["second"]),
        **{name: rounded(values[name]) for name in measured},
        within_one=rounded(values["within_one"]) if has_steps else None,
        bias_lower=rounded(bias_lower),
        bias_upper=rounded(bias_upper),
        **{name: rounded(values.get(name)) for name in (*coefficient, "pearson", "spearman", "kendall")},
        qwk_lower=rounded(low),
        qwk_upper=rounded(high),
        qwk_method=method,
        qwk_seed=material.seed if method == "samples drawn again" else None,
        categories=categories,
        confusion=tuple(tuple(counts.get((a, b), 0) for b in categories) for a in categories),
        notes=(),
        reasons={},
    )
    return replace(found, notes=tuple(_notes(found, row["not_random"])), reasons=dict(_reasons(found, values)))


def _kappa_interval(
    material: _Material,
) -> tuple[float | None, float | None, Literal["formula", "samples drawn again"] | None]:
    """Return the interval: by the formula for many pairs of different samples, else by drawing samples again."""
    values = material.values
    if values.get("qwk") is None:
        return None, None, None
    if values["pairs"] == values["samples"] >= FEW_PAIRS:
        return *kappa_interval(values["qwk"], values["qwk_se"]), "formula"
    found: Interval = resampled_kappa_interval(material.sums, material.seed)
    return *found, None if found[0] is None else "samples drawn again"


def _notes(found: Agreement, not_random: int) -> Iterator[str]:
    """Yield what must be read beside the coefficients."""
    if found.samples < FEWEST_SAMPLES:
        yield f"fewer than {FEWEST_SAMPLES} samples: no interval is shown, the numbers only describe these answers"
    if found.qwk is not None and found.exact >= PARADOX_EXACT and found.qwk < PARADOX_KAPPA:
        yield (
            f"exact agreement is {share(found.exact)} and yet QWK is {found.qwk:.2f}: nearly all scores are the same, "
            f"so that chance alone would agree nearly always; AC2 ({found.ac2:.2f}) allows for that"
        )
    if found.kind == "replicates" and found.exact == 1:
        yield FIXED
    if not_random:
        yield (
            f"{not_random} of {found.pairs} pairs are of answers that were not drawn at random: how far the two agree "
            "on these need not be how far they agree on all (keval label --scores draws at random)"
        )


def _reasons(found: Agreement, values: JsonObject) -> Iterator[tuple[str, str]]:
    """Yield why numbers are not there."""
    of_steps = ("within_one", "qwk", "kappa", "ac1", "ac2")
    why_not = dict.fromkeys(of_steps, _NO_STEPS if not found.categories else _ONE_CATEGORY)
    why_not |= dict.fromkeys(("alpha_nominal", "alpha_ordinal", "alpha_interval"), _NO_VARIATION)
    why_not |= dict.fromkeys(("pearson", "spearman", "kendall"), _CONSTANT)
    yield from ((name, reason) for name, reason in why_not.items() if getattr(found, name) is None)
    too_few = f"fewer than {FEWEST_SAMPLES} samples"
    if found.bias_lower is None:
        yield "bias_lower", too_few if found.samples < FEWEST_SAMPLES else "all differences are the same"
    if found.qwk_lower is None:
        undefined = why_not["qwk"] if values.get("qwk") is None else _SAME_DRAWS
        yield "qwk_lower", too_few if found.samples < FEWEST_SAMPLES and found.qwk is not None else undefined
