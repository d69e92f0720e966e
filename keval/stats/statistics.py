"""Defines each statistic once: its name, unit and words, its formula, and where it is computed.

Schemas, `aggregate` and `comparison` events, CSV columns, rows of reports and docs/numbers.md follow from these tables.
A new statistic is one row here with `required=False`, its SQL column or Python function with a test, and `make docs`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from keval.ids import JsonObject
from keval.stats import reasons
from keval.stats.intervals import interval

Level = Literal["condition", "sample", "comparison"]
Kind = Literal["total", "total_or_null", "failed_by_kind", "score_or_null", "beyond_scale", "spread", "variance"]
Unit = Literal["tasks", "samples", "responses", "judgments", "score", "score²"]

VIEWS: Mapping[Level, str] = {
    "condition": "condition_scores",
    "sample": "sample_scores",
    "comparison": "comparisons",
}
"""The view whose columns a level's statistics are."""

BOTH: tuple[Level, ...] = ("condition", "sample")
CONDITION: tuple[Level, ...] = ("condition",)
COMPARISON: tuple[Level, ...] = ("comparison",)


@dataclass(frozen=True, kw_only=True, slots=True)
class Statistic:
    """One number of a condition, of a sample of it, or of a comparison."""

    name: str
    levels: tuple[Level, ...]
    """Where it is defined; at other levels of the same event it is null."""
    kind: Kind
    """What values it may have: a part of `schemas/parts.schema.json`."""
    unit: Unit
    label: str
    """What people call it. Statistics of one label share a row of a report."""
    description: str
    formula: str
    """In the notation of docs/numbers.md, with its source where it is not a plain count or mean."""
    why_null: Callable[[JsonObject], str] | None = None
    """Says why it is null in a row of numbers; None for one that never is."""
    null_when: str = ""
    """The same in general, for docs/numbers.md."""
    compute: Callable[[JsonObject], float | None] | None = None
    """Computes it from the view's row; None where it is the view's column of that name."""
    required: bool = True
    """Whether every event must have it. One that came later is not: older logs have events without it."""
    shown: bool = True
    """Whether reports for people show it; events, `json` and `csv` have all."""

    def value(self, row: JsonObject) -> Any:  # noqa: ANN401 - a number, or counts by kind
        """Return the statistic of a row of its view; None at a level at which it is not defined.

        A row without a `level` is of a comparison.
        """
        if row.get("level", "comparison") not in self.levels:
            return None
        return row[self.name] if self.compute is None else self.compute(row)

    @property
    def computed_in(self) -> str:
        """Where it is computed, for people."""
        if self.compute is not None:
            return "`keval/stats/statistics.py`"
        return ", ".join(f"`{VIEWS[level]}`" for level in self.levels)


def _table(rows: Iterable[Statistic]) -> Mapping[str, Statistic]:
    return {row.name: row for row in rows}


AGGREGATE = _table((
    Statistic(
        name="planned", levels=BOTH, kind="total_or_null", unit="tasks", label="scored / planned",
        description="Number of tasks planned; null if no run says.",
        formula="all tasks",
        why_null=reasons.no_plan,
        null_when="no `run` event says how much was planned, or the newest plan does not have the condition; "
        "a warning says so",
    ),
    Statistic(
        name="scored", levels=BOTH, kind="total", unit="tasks", label="scored / planned",
        description="Number of tasks with a response that this judge scored.",
        formula="tasks with a score",
    ),
    Statistic(
        name="agent_failed", levels=BOTH, kind="total", unit="tasks", label="agent failed",
        description="Number of tasks that the agent failed; they count as min in mean.",
        formula="tasks that the agent failed; they are in the mean",
    ),
    Statistic(
        name="not_measured", levels=BOTH, kind="total", unit="tasks", label="not measured",
        description="Number of tasks that could not be measured through no fault of the agent.",
        formula="tasks that could not be measured; they are not in the mean",
    ),
    Statistic(
        name="not_applicable", levels=BOTH, kind="total", unit="tasks", label="not applicable", required=False,
        description="Number of tasks whose response this judge found the metric not to apply to.",
        formula="tasks whose response the metric does not apply to; they are in no mean and in no bound",
    ),
    Statistic(
        name="not_done", levels=BOTH, kind="total_or_null", unit="tasks", label="not done",
        description="Number of tasks planned and not done yet; null if no run says how many were planned.",
        formula="tasks that were planned and not done yet",
        why_null=reasons.no_plan,
        null_when="as `planned`",
    ),
    Statistic(
        name="failed", levels=BOTH, kind="failed_by_kind", unit="tasks", label="failures by kind",
        description="Number of failed tasks by kind of failure.",
        formula="failed tasks by [kind](concepts.md#kinds-of-failure)",
    ),
    Statistic(
        name="n_samples", levels=BOTH, kind="total", unit="samples", label="samples",
        description="Number of samples with a score.",
        formula="n, samples with a value",
    ),
    Statistic(
        name="n_responses", levels=BOTH, kind="total", unit="responses", label="responses",
        description="Number of responses with a score.",
        formula="Σ r_i, the agent's failures left out", shown=False,
    ),
    Statistic(
        name="n_judgments", levels=BOTH, kind="total", unit="judgments", label="judgments",
        description="Number of judgments.",
        formula="judgments of those responses", shown=False,
    ),
    Statistic(
        name="mean", levels=BOTH, kind="score_or_null", unit="score", label="mean",
        description="The headline: mean over samples in which the agent's failures count as min; null if undefined.",
        formula="ȳ, in which the agent's own failures count as the scale's minimum",
        why_null=reasons.no_score, null_when="no task was scored and none was failed by the agent",
    ),
    Statistic(
        name="mean_complete_case", levels=BOTH, kind="score_or_null", unit="score", label="complete-case mean",
        description="Mean over samples of what was scored; null if nothing was.",
        formula="the mean over what was scored, failures left out",
        why_null=reasons.no_score, null_when="no task was scored",
    ),
    Statistic(
        name="mean_lower", levels=BOTH, kind="score_or_null", unit="score", label="worst and best case",
        description="The mean if all that was not measured had scored min; null if undefined.",
        formula="the mean if all that was not measured or not done had scored the minimum (Manski 2003, worst case)",
        why_null=reasons.nothing_tried, null_when="nothing was planned or tried",
    ),
    Statistic(
        name="mean_upper", levels=BOTH, kind="score_or_null", unit="score", label="worst and best case",
        description="The mean if all that was not measured had scored max; null if undefined.",
        formula="the same with the maximum",
        why_null=reasons.nothing_tried, null_when="nothing was planned or tried",
    ),
    Statistic(
        name="var_between_samples", levels=CONDITION, kind="variance", unit="score²",
        label="variance between samples", shown=False,
        description="Variance of the samples' means; null if undefined.",
        formula="s_b²",
        why_null=reasons.no_second_sample, null_when="there are fewer than 2 samples",
    ),
    Statistic(
        name="sd_between_samples", levels=CONDITION, kind="spread", unit="score", label="SD between samples",
        description="Standard deviation of the samples' means; null if undefined.",
        formula="s_b = √( Σ (ȳ_i − ȳ)² / (n − 1) )",
        why_null=reasons.no_second_sample, null_when="there are fewer than 2 samples",
    ),
    Statistic(
        name="var_within_sample", levels=BOTH, kind="variance", unit="score²",
        label="variance within samples", shown=False,
        description="Variance of the repetitions of one sample, pooled over samples; null if undefined.",
        formula="s_w²",
        why_null=reasons.no_second_repetition, null_when="no sample has 2 repetitions with a value",
    ),
    Statistic(
        name="sd_within_sample", levels=BOTH, kind="spread", unit="score", label="SD within samples",
        description="Standard deviation of the repetitions of one sample, pooled over samples; null if undefined.",
        formula="s_w = √( Σ (r_i − 1) s_i² / Σ (r_i − 1) ), s_i being the SD of sample i's ȳ_il, the agent's failures "
        "included (pooled variance of one-way ANOVA)",
        why_null=reasons.no_second_repetition, null_when="no sample has 2 repetitions with a value",
    ),
    Statistic(
        name="se", levels=CONDITION, kind="spread", unit="score", label="standard error", shown=False,
        description="Standard error of mean; null if undefined.",
        formula="SE = s_b / √n (clustered by sample: Miller 2024, arXiv 2411.00640, section 2)",
        why_null=reasons.no_second_sample, null_when="there are fewer than 2 samples",
    ),
    Statistic(
        name="ci_lower", levels=CONDITION, kind="beyond_scale", unit="score", label="95 % CI",
        description="Lower end of the confidence interval; null if undefined.",
        formula="ȳ − t · SE with n − 1 degrees of freedom (Student 1908); a report for people cuts it at the end of "
        "the scale, the event does not",
        why_null=reasons.no_interval,
        null_when="there are fewer than 5 samples, or all samples have the same mean",
        compute=lambda row: interval(row["mean"], row["se"], row["n_samples"])[0],
    ),
    Statistic(
        name="ci_upper", levels=CONDITION, kind="beyond_scale", unit="score", label="95 % CI",
        description="Upper end of the confidence interval; null if undefined.",
        formula="ȳ + t · SE",
        why_null=reasons.no_interval, null_when="as `ci_lower`",
        compute=lambda row: interval(row["mean"], row["se"], row["n_samples"])[1],
    ),
))  # fmt: skip
"""The statistics of an `aggregate` event, in its order."""

PAIRED = _table((
    Statistic(
        name="n_paired", levels=COMPARISON, kind="total", unit="samples", label="paired",
        description="Number of samples measured under both conditions.",
        formula="n, samples with a value under both conditions",
    ),
    Statistic(
        name="n_dropped", levels=COMPARISON, kind="total", unit="samples", label="paired",
        description="Number of samples measured under one of them only, which are left out.",
        formula="samples with a value under one of them only",
    ),
    Statistic(
        name="difference", levels=COMPARISON, kind="beyond_scale", unit="score", label="difference",
        description="Mean over paired samples of condition minus baseline; null if undefined.",
        formula="d̄, the mean of the d_i",
        why_null=reasons.no_second_pair, null_when="no sample has a value under both conditions",
    ),
    Statistic(
        name="sd_difference", levels=COMPARISON, kind="spread", unit="score",
        label="SD of the differences", shown=False,
        description="Standard deviation of the paired differences; null if undefined.",
        formula="s_d = √( Σ (d_i − d̄)² / (n − 1) )",
        why_null=reasons.no_second_pair, null_when="there are fewer than 2 paired samples",
    ),
    Statistic(
        name="se", levels=COMPARISON, kind="spread", unit="score", label="standard error", shown=False,
        description="Standard error of difference; null if undefined.",
        formula="SE = s_d / √n (paired: Miller 2024, arXiv 2411.00640, section 4.2)",
        why_null=reasons.no_second_pair, null_when="there are fewer than 2 paired samples",
    ),
    Statistic(
        name="wins", levels=COMPARISON, kind="total", unit="samples", label="win / tie / loss",
        description="Number of paired samples in which the condition is better than the baseline.",
        formula="samples on which the condition is better",
    ),
    Statistic(
        name="ties", levels=COMPARISON, kind="total", unit="samples", label="win / tie / loss",
        description="Number of paired samples in which both are equal.",
        formula="samples on which both are equal",
    ),
    Statistic(
        name="losses", levels=COMPARISON, kind="total", unit="samples", label="win / tie / loss",
        description="Number of paired samples in which the condition is worse than the baseline.",
        formula="samples on which the condition is worse",
    ),
    Statistic(
        name="ci_lower", levels=COMPARISON, kind="beyond_scale", unit="score", label="95 % CI",
        description="Lower end of the confidence interval; null if undefined.",
        formula="d̄ − t · SE with n − 1 degrees of freedom (Student 1908)",
        why_null=reasons.no_interval_of_pairs,
        null_when="there are fewer than 5 paired samples, or all differences are equal",
        compute=lambda row: interval(row["difference"], row["se"], row["n_paired"])[0],
    ),
    Statistic(
        name="ci_upper", levels=COMPARISON, kind="beyond_scale", unit="score", label="95 % CI",
        description="Upper end of the confidence interval; null if undefined.",
        formula="d̄ + t · SE",
        why_null=reasons.no_interval_of_pairs, null_when="as `ci_lower`",
        compute=lambda row: interval(row["difference"], row["se"], row["n_paired"])[1],
    ),
))  # fmt: skip
"""The statistics of a `comparison` event, in its order."""
