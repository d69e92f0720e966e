"""What the stopping rule of a run says of its comparisons, in the place of what a fixed number of samples would say.

All is computed anew from the log: of the samples that are finished, in the run's order, up to where each condition was
decided. Numbers that are true only of a number of samples that was fixed before are null, with that reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import orjson

from keval.ids import JsonObject
from keval.projections import rows
from keval.projections.sql_file import literal, load
from keval.stats.paired_series import Measured, Series
from keval.stats.reasons import NOTHING_SCORED
from keval.stats.recorded_rule import Member, MemberKey, RecordedRule, from_json
from keval.stats.stopping_rule import CONTRADICTION, Look

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

READ = ("facts", "metrics", "newest_config", "sample_means")
"""The tables and views that are asked."""

METHOD = "betting"
"""The `ci_method` of intervals that hold at every number of samples."""

OF_FIXED_SAMPLES = "the run stops when decided: this is true only of a number of samples that was fixed before"
DESCRIPTIVE = "descriptive: other numbers decide when the run stops"

_FIXED = (
    "se", "se_clustered", "p_holm", "p_smallest", "p_draws", "p_seed", "p_t", "p_not_lower", "p_equivalent",
    "p_failure_rate", "p_bh", "friedman_chi2", "p_friedman", "kendall_w",
)  # fmt: skip

_BOUNDS = {"mean_lower", "mean_upper"}
"""Ends that are of no interval: they hold however many samples there are."""


@dataclass(frozen=True, slots=True)
class StoppedRun:
    """A run that stops when decided, as far as its log has it."""

    rule: RecordedRule
    rule_id: str
    asked: Mapping[str, int]
    """By the id of each condition that was decided early: of how many samples its answers count."""
    looks: Mapping[MemberKey, Look]
    """What is known of each comparison."""
    finished: Mapping[MemberKey, JsonObject]
    """The numbers of each comparison's finished samples, as the view `comparisons` calls them."""

    @property
    def is_partial(self) -> bool:
        """Whether not all samples count of each condition."""
        return bool(self.asked) or any(found.n < self.rule.samples for found in self.looks.values())

    def members(self) -> Iterator[tuple[Member, Look]]:
        """Yield each comparison of the family with what is known of it."""
        for member in self.rule.family:
            yield member, self.looks[member.key]

    def of_finished(self, row: JsonObject) -> JsonObject:
        """Return a row of the view `comparisons` with the numbers of the samples that the rule looks at.

        In a run that was interrupted there may be answers to later ones than the first that is not finished.
        """
        found = self.finished.get(self._key(row))
        if found is None or not self._is_of_family(row) or found["n_paired"] == row["n_paired"]:
            return row  # of the same samples it has all digits
        return row | found

    def described(self, body: JsonObject) -> JsonObject:
        """Return the body of an `aggregate` event: of a run that stopped, no interval of a condition is one."""
        if not self.is_partial or not body["current"]:
            return body
        ends = [name for name in body if name.endswith(("_lower", "_upper")) and body[name] is not None]
        ends = [name for name in ends if name not in _BOUNDS]
        reasons = body["reasons"] | dict.fromkeys(ends, DESCRIPTIVE)
        chances = {"pass_k": list(map(_without_interval, body["pass_k"]))} if body.get("pass_k") else {}
        return body | dict.fromkeys(ends) | chances | {"reasons": reasons}

    def concluded(self, body: JsonObject) -> JsonObject:
        """Return the body of a `comparison` event with the interval, p and conclusion of the rule.

        Of a comparison outside of the family no conclusion is drawn if the run stopped because of others.
        """
        found = self.looks.get(self._key(body))
        if not body["current"] or body["agent_id"] != self.rule.agent_id:
            return body
        if found is None or not self._is_of_family(body):
            return descriptive(body) if self.is_partial else body
        member = next(each for each in self.rule.family if each.key == (*self._key(body),))
        given, reason = _conclusion(found, self.rule.samples)
        own = {"ci_lower", "ci_upper", "p", "conclusion", *([] if member.margin is None else ["margin"])}
        reasons = {name: why for name, why in body["reasons"].items() if name not in own}
        fixed = {name: OF_FIXED_SAMPLES for name in _FIXED if name in body}
        ends = dict.fromkeys(("ci_lower", "ci_upper"), found.reason) if found.lower is None else {}
        return body | dict.fromkeys(fixed) | {
            "difference": found.mean, "n_paired": found.measured, "n_dropped": found.n - found.measured,
            "ci_lower": found.lower, "ci_upper": found.upper, "p": found.p, "margin": member.margin,
            "family_size": len(self.rule.family), "ci_level": 1 - self.rule.rule.alpha, "ci_method": METHOD,
            "conclusion": given, "qualification": "but by less than the margin" if found.is_small else None,
            "until": {"rule_id": self.rule_id, "n": found.n, "samples": self.rule.samples},
            "reasons": reasons | fixed | ends | ({} if reason is None else {"conclusion": reason}),
        }  # fmt: skip

    def explored(self, body: JsonObject) -> JsonObject:
        """Return the body of a `comparison` event of groups, of which none is in the family."""
        concerns = self.is_partial and body["current"] and body["agent_id"] == self.rule.agent_id
        return descriptive(body) if concerns else body

    def _is_of_family(self, body: JsonObject) -> bool:
        """Return whether a comparison is one of those that the rule decides, if its key is that of one."""
        of_rule = self.rule.agent_id, self.rule.baseline_id
        return bool(body["current"]) and (body["agent_id"], body["baseline_id"]) == of_rule

    @staticmethod
    def _key(body: JsonObject) -> MemberKey:
        return body["condition_id"], body["judge_id"], body["metric"]


def descriptive(body: JsonObject) -> JsonObject:
    """Return the body of a `comparison` event of a run that other comparisons stopped: nothing is concluded from it."""
    names = [name for name in (*_FIXED, "ci_lower", "ci_upper", "p") if name in body]
    reasons = body["reasons"] | dict.fromkeys((*names, "conclusion"), DESCRIPTIVE)
    fields = {"conclusion": "cannot tell", "qualification": None, "reasons": reasons, "family_size": 0}
    return body | dict.fromkeys(names) | fields


def _without_interval(chance: JsonObject) -> JsonObject:
    """Return a chance for one k without the interval that it may have."""
    if chance["ci_lower"] is None:
        return chance
    return {**chance, "ci_lower": None, "ci_upper": None, "reason": DESCRIPTIVE}


def _conclusion(found: Look, samples: int) -> tuple[str, str | None]:
    """Return what a comparison shows in the words of all comparisons, and why it is nothing."""
    if found.outcome != "cannot tell":
        return found.outcome, None
    if found.reason in {CONTRADICTION, NOTHING_SCORED}:
        return found.outcome, found.reason
    if found.n < samples:
        return found.outcome, f"not decided after {found.n} of {samples} samples"
    return found.outcome, f"not decided by all {samples} samples"


def stopped_run(connection: DuckDBPyConnection) -> StoppedRun | None:
    """Return what the rule says by which the newest run of a log stops; None if it has none."""
    for row in rows(connection, load("projections", "stopping_rule")):
        rule = from_json(orjson.loads(row["rule"]))
        asked = dict(row["asked"] or {})
        series = {each.member.key: each for each in _series(connection, rule, row["plan_id"], asked)}
        looks = {key: each.look() for key, each in series.items()}
        return StoppedRun(rule, row["rule_id"], asked, looks, {key: each.as_row() for key, each in series.items()})
    return None


def has_stopped(connection: DuckDBPyConnection) -> bool:
    """Return whether not all samples count, as the newest run of a log stops when decided.

    How many there are depends on what its own comparisons show, and so no other interval of its numbers is one.
    """
    found = stopped_run(connection)
    return found is not None and found.is_partial


def _series(
    connection: DuckDBPyConnection, rule: RecordedRule, plan_id: str, asked: Mapping[str, int]
) -> Iterator[Series]:
    """Yield the finished samples of each comparison."""
    found: dict[MemberKey, dict[int, Measured]] = {}
    scales = {(member.judge_id, member.metric): member for member in rule.family}
    sql = load("projections", "finished_samples", plan_id=literal(plan_id), agent_id=literal(rule.agent_id))
    for row in rows(connection, sql):
        scale = scales.get((row["judge_id"], row["metric"]))
        if scale is not None:
            key = row["condition_id"], row["judge_id"], row["metric"]
            least, greatest = row["least"], row["greatest"]
            known = Measured(
                row["mean"],
                scale.min if least is None else least,
                scale.max if greatest is None else greatest,
                row["expected"],
                row["missing"],
                row["scored"],
                row["failure_rate"],
                tells_of_failures=row["tells_of_failures"],
            )
            found.setdefault(key, {})[row["place"]] = known
    for member in rule.family:
        series = Series(rule, member)
        condition = found.get(member.key, {})
        baseline = found.get((rule.baseline_id, member.judge_id, member.metric), {})
        for place in range(1, asked.get(member.condition_id, rule.samples) + 1):
            if place not in condition or place not in baseline:
                break
            series.add(condition[place], baseline[place])
        yield series
