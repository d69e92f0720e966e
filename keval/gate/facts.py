"""Finds in a log what a gate's rules ask about: each as a number with what is known of its uncertainty."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import orjson

from keval.compare.earlier_log import Since, differences_since
from keval.counted import counted
from keval.failure_kinds import AGENT_FAILED
from keval.ids import JsonObject
from keval.metric_names import full_name
from keval.reports.condition_trials import ConditionTrials, condition_trials
from keval.reports.metric_tables import ConditionScore, Difference, MetricTable, metric_tables, statistic, within
from keval.reports.queries import Queries, Rows
from keval.reports.tool_use import ToolUse, server_use, tool_use
from keval.reports.trials import alike_trials
from keval.reports.verdicts import deciding, undecided
from keval.stats.aggregates import aggregate
from keval.stats.asked import Asked
from keval.stats.conclusions import MOST_MISSING, Conclusion
from keval.stats.intervals import LEVEL
from keval.stats.reasons import ALL_ALIKE
from keval.stats.stopped_run import DESCRIPTIVE, has_stopped

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from duckdb import DuckDBPyConnection

    from keval.reports.model import ServerUse

NO_CALLS = "no tool was called"


@dataclass(frozen=True, slots=True)
class Found:
    """A number of a log."""

    value: float | None
    lower: float | None = None
    upper: float | None = None
    """The ends of its interval; None for what is counted, and where there is none."""
    level: float = LEVEL
    """The confidence level of the interval: another one where the run stops when decided, by its alpha."""
    counted: bool = False
    """Whether it says what happened in this log, and estimates nothing."""
    of: str = ""
    """Of how many it is, for people."""
    unknown: str | None = None
    """Why there is no number, or no interval."""
    worst: float | None = None
    best: float | None = None
    """The ends between which it lies whatever the missing answers would have scored; None where few are missing."""
    missing: float = 0.0
    """The share of answers that are missing, of those that are, or could be, a number."""
    all_failed: bool = False
    """Whether the agent failed whatever was asked, so that it is the value of failures alone."""
    conclusion: Conclusion | None = None
    """What a difference shows, as the report says it; None for other numbers."""
    doubt: str | None = None
    """Why it shows nothing, where that is known."""
    qualification: str | None = None
    """What the report says beside the conclusion, such as that it does not hold after adjusting for all comparisons."""

    @property
    def is_sure(self) -> bool:
        """Whether it is a difference that is the same of every sample, of so many that the test alone is enough."""
        return self.conclusion in {"higher", "lower"} and self.unknown == ALL_ALIKE

    @property
    def why_no_interval(self) -> str:
        """Why no ends of an interval are known; where all samples differ alike, why that is not enough."""
        return (self.doubt if self.unknown == ALL_ALIKE else None) or self.unknown or "none is given"


def unknown(why: str) -> Found:
    """Return that nothing is found, and why."""
    return Found(None, unknown=why)


@dataclass(frozen=True, eq=False)
class Facts:
    """What a log says; two of the same log are two."""

    connection: DuckDBPyConnection
    pass_from: Mapping[str, float]
    _compared: dict[Facts, dict[tuple[str, str, str], Since]] = field(default_factory=dict, init=False, repr=False)
    """The differences to earlier logs, by the facts of these."""
    _groups: dict[str, dict[str, tuple[MetricTable, ...]]] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def queries(self) -> Queries:
        """The queries of the log: rules ask some of them of each condition."""
        return Queries(self.connection)

    @cached_property
    def tables(self) -> tuple[MetricTable, ...]:
        """The metrics with their scores and differences, those that are computed last."""
        return metric_tables(aggregate(self.connection, levels={"condition"}))

    def groups(self, field: str) -> dict[str, tuple[MetricTable, ...]]:
        """Return the metrics of each group of samples by a field, as `tables` has them, in the order of its values.

        The connection needs its views of texts.
        """
        if field not in self._groups:
            grouped: dict[str, list[JsonObject]] = {}
            for body in aggregate(self.connection, levels={"condition"}, asked=Asked(by=(field,))):
                if "by" in body:
                    of_group = {name: value for name, value in body.items() if name != "by"} | {"level": "condition"}
                    grouped.setdefault(body["by"][field], []).append(of_group)
            self._groups[field] = {value: metric_tables(bodies) for value, bodies in sorted(grouped.items())}
        return self._groups[field]

    @cached_property
    def never_asked(self) -> int:
        """How many planned samples nobody was asked, where they are so many that they could turn what groups show."""
        (row,) = self.queries.ask("never_asked", "gate")
        number: int = row["never_asked"]
        return number if number > MOST_MISSING * row["planned"] else 0

    @cached_property
    def conditions(self) -> list[str]:
        """The conditions in the config's order."""
        return [row["condition"] for row in self._answers(0.5)]

    @cached_property
    def baseline(self) -> str:
        """The condition that others are compared with, as in the report; the first one where nothing is compared."""
        compared = (each.baseline for table in self.tables for each in table.differences)
        return next(compared, self.conditions[0])

    @cached_property
    def mock(self) -> bool:
        """Whether a stand-in answered or judged anything of it."""
        return bool(self.queries.ask("mocked"))

    @cached_property
    def configured(self) -> object:
        """The section `gate` of the config of the newest run, null if it has none."""
        (row,) = self.queries.ask("recorded_rules", "gate")
        return None if row["gate"] is None else orjson.loads(row["gate"])

    def name(self, table: MetricTable) -> str:
        """Return what a metric is called, as a rule may name it: by its judge's id where two judges have one name."""
        judged = [other for other in self.tables if other.judge == table.judge and other.computed is None]
        return full_name(table.judge_id if len({other.judge_id for other in judged}) > 1 else table.judge, table.metric)

    def score(self, table: MetricTable, condition: str) -> Found:
        """Return the mean of a metric under a condition."""
        score = table.score(condition)
        if score is None:
            return unknown("no scores")
        lacking = score.missing_share > MOST_MISSING
        lower, upper = within(table, score)
        return Found(
            score.mean,
            lower,
            upper,
            of=f"{counted(score.n_samples, 'sample')}{_in_clusters(score)}",
            unknown=score.reasons.get("mean" if score.mean is None else "ci_lower"),
            worst=score.mean_lower if lacking else None,
            best=score.mean_upper if lacking else None,
            missing=score.missing_share,
            all_failed=bool(score.agent_failed) and not score.scored and not lacking,
        )

    def difference(self, table: MetricTable, condition: str) -> Found:
        """Return the difference of a metric between a condition and the baseline, paired by sample."""
        found = next((each for each in table.differences if each.condition == condition), None)
        if found is None:
            return unknown("nothing to compare")
        pair = table.score(condition), table.score(found.baseline)
        return _with_missing(found, *pair)

    def since(self, before: Facts, table: MetricTable, condition: str) -> Found:
        """Return the difference of a metric between this log and an earlier one, paired by sample."""
        earlier = next(
            (each for each in before.tables if (each.judge_id, each.metric) == (table.judge_id, table.metric)), None
        )
        if earlier is None:
            return unknown("the earlier log has no scores by this judge; by another one they are another scale")
        if condition not in before.conditions:
            return unknown("the earlier log does not have the condition")
        if before.mock != self.mock:
            return unknown("one of the two logs is a rehearsal")
        found = self._since(before).get((condition, table.judge_id, table.metric))
        if found is None:
            return unknown("no sample that was asked and judged alike has a value in both logs")
        return _with_missing(found.difference, found.now, found.before)

    def missing(self, condition: str) -> Found:
        """Return the largest share of answers, over all metrics, that were not measured or not done."""
        found = self._scores(condition)
        if not found:
            return unknown("no metric was judged")
        score, table = max(found, key=lambda each: each[0].missing_share)
        lacking = score.not_measured + (score.not_done or 0)
        without = f", {lacking:,} without {self.name(table)}" if lacking else ""
        return Found(score.missing_share, counted=True, of=f"{counted(score.expected, 'answer')}{without}")

    def failures(self, condition: str) -> Found:
        """Return the share of planned answers that the agent failed, whatever is judged of them."""
        row = next(row for row in self.queries.ask("shown_conditions") if row["condition"] == condition)
        tried = row["completed"] + row["failed"]
        planned = tried if row["planned"] is None else row["planned"]
        if not planned:
            return unknown("no answers")
        failed = sum(number for kind, number in row["failed_by_kind"].items() if kind in AGENT_FAILED)
        share, open_share = failed / planned, (planned - row["completed"] - failed) / planned
        found = Found(share, counted=True, of=counted(planned, "answer"), missing=open_share)
        return found if open_share <= MOST_MISSING else replace(found, worst=min(share + open_share, 1.0), best=share)

    def tool_errors(self, condition: str) -> Found:
        """Return the share of tool calls that failed; where no answer has any, of calls of servers in what failed."""
        use = tool_use(self.queries).get(self._key(condition))
        if use is None or use.calls == 0:
            servers = server_use(self.queries).get(self._key(condition), [])
            called, failed = sum(each.called for each in servers), sum(each.failed for each in servers)
            use = ToolUse(called, failed) if called else use
        if use is None or use.calls is None or use.failed is None:
            return unknown("the agent does not report its tool calls" if use else "no answers")
        if not use.calls:
            return unknown(NO_CALLS)
        return Found(use.failed / use.calls, counted=True, of=counted(use.calls, "call"))

    def cost_per_answer(self, condition: str) -> Found:
        """Return what the agent's answers cost on the mean, in US dollars; unknown if one of them is."""
        row = self._row(condition, 0.5)
        if not row["answers"]:
            return unknown("no answers")
        if row["priced"] < row["paid"]:
            return unknown(f"the cost of {row['paid'] - row['priced']} of {row['paid']} answers is not known")
        return Found(row["cost_usd"], counted=True, of=counted(row["paid"], "answer"))

    def latency(self, condition: str, percent: int) -> Found:
        """Return within how many seconds so many percent of the answers came."""
        row = self._row(condition, percent / 100)
        if row["duration_ms"] is None:
            return unknown("no answer says how long it took" if row["answers"] else "no answers")
        return Found(row["duration_ms"] / 1000, counted=True, of=counted(row["timed"], "answer"))

    def passes(self, condition: str, k: int, *, every: bool) -> Found:
        """Return pass^k, or pass@k, of a condition's samples; of one trial both are the pass rate."""
        if (nobody := self._nobody_decides or self._not_begun) is not None:
            return unknown(nobody)
        found = self._trials(condition, k)
        if found is None:
            return unknown("no answers, or no run says how many are planned")
        of = f"{counted(found.samples, 'sample')}{self._by_several}"
        value = found.pass_every_k if every else found.pass_at_k
        lower, upper = found.pass_every_k_interval if every else found.pass_at_k_interval
        if value is None:
            whatever = replace(_of_all_ways(found, every=every), of=of)
            return replace(whatever, lower=None, upper=None) if self._has_stopped else whatever
        if self._has_stopped:
            return Found(value, of=of, unknown=DESCRIPTIVE)
        return Found(value, lower, upper, of=of, unknown=found.why_no_interval)

    @cached_property
    def _has_stopped(self) -> bool:
        return has_stopped(self.connection)

    @cached_property
    def _nobody_decides(self) -> str | None:
        """Why no answer passes or fails: no metric says from which score; None if one does."""
        silent = undecided(self.connection, self.pass_from)
        judged = [table for table in self.tables if table.computed is None]
        if len(silent) < len(judged):
            return None
        return f"nothing says from which score an answer passes; --pass-from {(silent or ['METRIC'])[0]}=SCORE does"

    @cached_property
    def _not_begun(self) -> str | None:
        """Which judges have not begun, though they may decide what passes; None if there is none."""
        names = [str(row["judge"]) for row in self.queries.ask("judges_not_begun", "gate")]
        return f"not judged yet by {', '.join(names)}: keval judge LOG" if names else None

    @cached_property
    def _by_several(self) -> str:
        """What all has to pass for an answer to pass, where it is several metrics; of one there is nothing to say."""
        names = deciding(self.connection, self.pass_from)
        return f" by {', '.join(names)}" if len(names) > 1 else ""

    def _trials(self, condition: str, k: int) -> ConditionTrials | None:
        planned = self._row(condition, 0.5)["repetitions"]
        found = alike_trials(self.connection, k, planned or 0, self.pass_from, [condition])
        return next(condition_trials(found), None)

    def servers(self) -> Iterator[tuple[str, list[ServerUse]]]:
        """Yield each condition with what became of its MCP servers."""
        found = server_use(self.queries)
        for name in self.conditions:
            yield name, found.get(self._key(name), [])

    def _scores(self, condition: str) -> list[tuple[ConditionScore, MetricTable]]:
        """Return a condition's scores by each metric that is judged."""
        judged = ((table.score(condition), table) for table in self.tables if table.computed is None)
        return [(score, table) for score, table in judged if score is not None]

    def _row(self, condition: str, share: float) -> JsonObject:
        return next(row for row in self._answers(share) if row["condition"] == condition)

    def _key(self, condition: str) -> tuple[str, str]:
        row = self._row(condition, 0.5)
        return row["condition_id"], row["agent_id"]

    def _answers(self, share: float) -> Rows:
        return self.queries.ask("answers", "gate", share=str(share))

    def _since(self, before: Facts) -> dict[tuple[str, str, str], Since]:
        if before not in self._compared:
            there = [name for name in self.conditions if name in before.conditions]
            found = differences_since((before.connection, self.connection), (before.tables, self.tables), there)
            self._compared[before] = found
        return self._compared[before]


def _as_found(found: Difference) -> Found:
    why = found.reasons.get("difference" if found.difference is None else "ci_lower")
    return Found(
        found.difference,
        found.ci_lower,
        found.ci_upper,
        of=f"{counted(found.n_paired, 'sample')} paired{_in_clusters(found)}",
        unknown=why,
        conclusion=found.conclusion,
        doubt=found.reasons.get("conclusion"),
        qualification=found.qualification,
        level=found.ci_level,
    )


def _in_clusters(found: ConditionScore | Difference) -> str:
    """Return in how many clusters samples are, on which an interval rests; nothing where each is one of its own."""
    clusters = statistic(found, "n_clusters")
    return "" if clusters is None else f" in {counted(clusters, 'cluster')}"


def _of_all_ways(found: ConditionTrials, *, every: bool) -> Found:
    """Return where pass^k, or pass@k, lies whatever the missing scores would have been: there is no number then."""
    why = f"not known of {found.unknown} of {counted(found.samples, 'sample')}"
    if found.worst is None or found.best is None:
        return unknown(why)
    ends = [chances.every_k if every else chances.at_k for chances in (found.worst, found.best)]
    (worst, (lower, _), _), (best, (_, upper), _) = ends
    return Found(None, lower, upper, unknown=why, worst=worst, best=best)


def _with_missing(found: Difference, one: ConditionScore | None, other: ConditionScore | None) -> Found:
    """Return a difference with the ends that it has whatever the missing answers of both would have scored."""
    share = max((score.missing_share for score in (one, other) if score is not None), default=0.0)
    if share <= MOST_MISSING or found.difference is None:
        return _as_found(found)
    worst, best = (statistic(found, f"difference_{end}") for end in ("lower", "upper"))
    return replace(_as_found(found), worst=worst, best=best, missing=share)
