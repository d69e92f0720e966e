"""Says below a report what its numbers are: what a mean counts, what intervals rest on, how a metric is computed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from keval.ids import JsonObject
from keval.reports import prompt_cache
from keval.reports.metric_tables import MetricTable
from keval.reports.model import Header
from keval.reports.queries import Queries
from keval.stats.declared import Declared
from keval.stats.intervals import LEVEL

_OF_FIXED_SAMPLES = "Intervals are {level} intervals: Student's t over {cases}."
_OF_RULE = (
    "Intervals of differences are {level} intervals, those of the rule by which the run stops, and hold however often "
    "was looked."
)
_EMPTY = "The log is empty: there is nothing to report."


def notes(
    queries: Queries, header: Header, tables: Sequence[MetricTable], bodies: Sequence[JsonObject], *, measured: bool
) -> Iterator[str]:
    """Yield the notes of a report; `measured`: the log holds answers, and not aggregates or plans alone."""
    yield from _of_numbers(header, tables, _how_failures_count(bodies), measured=measured)
    yield from _formulas(queries, tables)
    yield from _pairs(queries)
    yield from prompt_cache.notes(queries, header)


def of_declared(declaration: Declared) -> Iterator[str]:
    """Yield which metrics the config declares primary, if it does."""
    if declaration.primary:
        names = ", ".join(declaration.primary)
        yield f"Declared primary in the config: {names}. Comparisons are adjusted for these alone; p as shown is not."


def _how_failures_count(bodies: Sequence[JsonObject]) -> str:
    """Return how failures of the agent count, and what is left out of the means beside."""
    if any(body.get("failures") == "exclude" for body in bodies):
        return (
            "The config excludes failures of the agent: they are in no mean, nor is what was not measured, so a "
            "condition that fails more often is compared on fewer answers. Worst and best case put the scale's ends in "
            "the place of what was not measured."
        )
    return (
        "A failure of the agent counts as the scale's minimum in the mean; what was not measured is left out. "
        "Worst and best case put the scale's ends in its place."
    )


def _of_numbers(header: Header, tables: Sequence[MetricTable], failures: str, *, measured: bool) -> Iterator[str]:
    methods = {score.ci_method for table in tables for score in table.scores if score.ci_lower is not None}
    is_clustered = any(method.endswith("clustered") for method in methods)
    if tables:
        yield "A mean is the mean of the samples' means: each sample weighs the same, however often it was answered."
        yield failures
        by_rule = [each.ci_level for table in tables for each in table.differences if each.until is not None]
        said = _OF_RULE if by_rule else _OF_FIXED_SAMPLES
        level = f"{100 * (by_rule[0] if by_rule else LEVEL):g} %"
        cases = "clusters of samples" if is_clustered else "samples"
        yield (
            f"{said.format(level=level, cases=cases)} Differences are paired by sample; whether two conditions differ "
            "is read from their difference, never from two intervals."
        )
    if any(method.startswith("wilson") for method in methods):
        yield "The interval of a pass rate is Wilson's, over as many independent cases as vary like the samples."
    if is_clustered:
        yield "Samples that belong together are one cluster; intervals and tests rest on the clusters."
    if not measured and tables:
        yield (
            "The log holds aggregates only: costs, durations, tool calls, unverified claims and messages of failures "
            "are not in the input."
        )
    elif not measured:
        yield "The log holds no response: there is nothing to report." if header.runs else _EMPTY


def _pairs(queries: Queries) -> Iterator[str]:
    """Yield what counts of a pair that lacks an answer."""
    for row in queries.ask("pairs_without_answer"):
        yield (
            f"{row['metric']} of {row['judge']}: any answer is better than none. Where the agent failed one answer of "
            "a pair, the other one has the best score and it the worst, unasked; two failures are a tie."
        )


def _formulas(queries: Queries, tables: Sequence[MetricTable]) -> Iterator[str]:
    """Yield how each metric is computed that no judge scored."""
    shown = {table.metric for table in tables if table.computed is not None}
    for row in queries.ask("computed"):
        if row["metric"] in shown:
            caution = "; a rule of thumb: the tokens are the agent's" if row["computed"] == "combined" else ""
            yield f"{row['metric']} is computed, no judge scored it: {row['formula']}{caution}."
