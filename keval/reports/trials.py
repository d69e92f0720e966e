"""Says of each sample how often it passed: pass@k, pass^k and how flaky it is."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING

import orjson

from keval.ids import JsonObject
from keval.projections import rows
from keval.projections.sql_file import load
from keval.reports.verdicts import verdicts
from keval.stats.condition_passes import NOTHING, Alike, Estimate, estimate, why_no_interval
from keval.stats.intervals import Interval
from keval.stats.pass_k import pass_at_k, pass_at_k_plugin, pass_every_k, pass_every_k_plugin

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


@dataclass(frozen=True)
class SampleTrials:
    """All trials of one sample under one condition."""

    sample: JsonObject
    condition: str
    k: int
    planned: int
    """How many trials there are to be, without those that no judge is to judge, as it judges a share."""
    trials: Sequence[JsonObject]
    """Those that there are, as rows of `trials.sql`."""
    is_sampled: bool = True
    """Whether one of the planned trials is in the share of a judge, be it that it was not tried yet."""

    @property
    def passes(self) -> int:
        """How many trials passed."""
        return sum(trial["passed"] is True for trial in self.trials)

    @property
    def failures(self) -> int:
        """How many trials did not pass."""
        return sum(trial["passed"] is False for trial in self.trials)

    @property
    def is_judged(self) -> bool:
        """Whether any judge is for the sample, and has one of the trials in its share."""
        return self.is_sampled and not any(trial["is_outside"] for trial in self.trials)

    @property
    def cluster(self) -> str | None:
        """What it has in common with the samples that belong to it; None if it has nothing, or nobody asks."""
        found: str | None = self.trials[0]["cluster"]
        return found

    @property
    def lacks_cluster(self) -> bool:
        """Whether nobody knows which samples belong to it, though the config names a field for that."""
        return self.cluster is None and bool(self.trials[0]["is_clustered"])

    @cached_property
    def why_unknown(self) -> str | None:
        """Why nothing can be said: a trial that was not measured is no trial that failed. None if all is known."""
        if not self.is_judged:
            return "no judge is for it" if self.is_sampled else "in the share of no judge"
        sampled = [trial for trial in self.trials if not trial["not_sampled"]]
        unknown = [trial["why"] for trial in sampled if trial["passed"] is None]
        if unknown:
            return f"{len(unknown)} of {self.planned} trials not measured ({', '.join(sorted(set(unknown)))})"
        if len(sampled) < self.planned:
            return f"{self.planned - len(sampled)} of {self.planned} trials not done"
        return None if self.k <= self.planned else f"k exceeds trials ({self.k} of {self.planned})"

    @property
    def pass_at_k(self) -> float | None:
        """The chance that at least one of k trials passes; unbiased."""
        return None if self.why_unknown else pass_at_k(self.passes, self.planned, self.k)

    @property
    def pass_every_k(self) -> float | None:
        """The chance that all of k trials pass; unbiased."""
        return None if self.why_unknown else pass_every_k(self.passes, self.planned, self.k)

    @property
    def flakiness(self) -> float | None:
        """How far the two are apart: 0 for a sample that always passes or never."""
        at, every = self.pass_at_k, self.pass_every_k
        return None if at is None or every is None else max(0.0, at - every)

    def as_json(self) -> JsonObject:
        """Return the sample's trials as one JSON object, with the names that agent-eval-harness gives them."""
        known = self.why_unknown is None
        rest = {name: value for name, value in self.sample.items() if name not in {"id", "question", "answer"}}
        return {
            "id": self.sample["id"],
            "input": self.sample["question"],
            "hint": self.sample["answer"],
            "condition": self.condition,
            "k": self.k,
            "n": self.planned,
            "passes": self.passes,
            "passRate": self.passes / self.planned if known else None,
            "passAtK": self.pass_at_k,
            "passExpK": self.pass_every_k,
            "passAtKPlugin": pass_at_k_plugin(self.passes, self.planned, self.k) if known else None,
            "passExpKPlugin": pass_every_k_plugin(self.passes, self.planned, self.k) if known else None,
            "flakiness": self.flakiness,
            "reason": self.why_unknown,
            "trials": list(map(_trial, self.trials)),
            "metadata": rest,
        }


@dataclass(frozen=True)
class Chances:
    """What the samples of one condition come to, with intervals."""

    at_k: Estimate
    every_k: Estimate


@dataclass(frozen=True)
class ConditionTrials:
    """The trials of all samples of one condition that a judge judges.

    A number is null as soon as one of them is not known: the lucky ones are no fair choice.
    """

    condition: str
    samples: int
    not_judged: int
    """Samples beside these: no judge is for them, or they are in the share of none."""
    flaky: int
    unknown: int
    """Samples of which nothing can be said."""
    pass_at_k: float | None
    pass_at_k_interval: Interval
    pass_every_k: float | None
    pass_every_k_interval: Interval
    why_no_interval: str | None = None
    """Why numbers that are known have none."""
    worst: Chances | None = None
    """If every trial of which nothing is known had failed; None where all is known, and where that does not help."""
    best: Chances | None = None
    """If it had passed."""


NOTHING_KNOWN = Chances(NOTHING, NOTHING)


def sample_trials(
    connection: DuckDBPyConnection,
    k: int,
    planned: int,
    pass_from: Mapping[str, float],
    conditions: Container[str],
) -> Iterator[SampleTrials]:
    """Yield the first `planned` trials of each condition's samples, with what was asked and answered.

    `conditions` are those of the config by name: the log may hold others, and more trials of another config.
    """
    trials = load("reports", "trials", trials=_counted(connection, pass_from))
    return _of_samples(rows(connection, trials), k, planned, conditions)


def bare_trials(
    connection: DuckDBPyConnection,
    k: int,
    planned: int,
    pass_from: Mapping[str, float],
    conditions: Container[str],
) -> Iterator[SampleTrials]:
    """Yield the same as `sample_trials` without any text, which takes no view that reads texts."""
    return _of_samples(rows(connection, _counted(connection, pass_from)), k, planned, conditions)


def _counted(connection: DuckDBPyConnection, pass_from: Mapping[str, float]) -> str:
    return load("reports", "trial_verdicts", verdicts=verdicts(connection, pass_from))


def _of_samples(
    everything: Iterable[JsonObject], k: int, planned: int, conditions: Container[str]
) -> Iterator[SampleTrials]:
    found = (row for row in everything if row["condition"] in conditions and row["repetition"] <= planned)
    for (condition, sample_id), of_sample in groupby(found, key=lambda row: (row["condition"], row["sample_id"])):
        all_of_them = list(of_sample)
        sampled = [trial for trial in all_of_them if not trial["not_sampled"]]
        to_judge = max(planned - sum(repetition <= planned for repetition in all_of_them[0]["unsampled"]), len(sampled))
        # Of a sample that the agent always failed, a log of an older version has no record.
        unknown = {"id": sample_id, "question": None, "answer": None}
        sample = unknown if all_of_them[0]["sample"] is None else orjson.loads(all_of_them[0]["sample"])
        # Of a sample in no share the trials say at least that.
        yield SampleTrials(sample, condition, k, to_judge or planned, sampled or all_of_them, is_sampled=to_judge > 0)


def condition_trials(all_trials: Sequence[SampleTrials]) -> Iterator[ConditionTrials]:
    """Yield what the samples of each condition come to."""
    for condition, found in groupby(all_trials, key=lambda trials: trials.condition):
        tried = list(found)
        samples = [trials for trials in tried if trials.is_judged]
        untried = max(0, (tried[0].trials[0]["planned_samples"] or 0) - len(tried))
        unknown = sum(trials.why_unknown is not None for trials in samples) + untried
        known = NOTHING_KNOWN if unknown or not samples else _chances(samples, 0, best=False)
        yield ConditionTrials(
            condition=condition,
            samples=len(samples) + untried,
            not_judged=len(tried) - len(samples),
            flaky=sum(0 < trials.passes < len(trials.trials) for trials in samples if trials.why_unknown is None),
            unknown=unknown,
            pass_at_k=known.at_k[0],
            pass_at_k_interval=known.at_k[1],
            pass_every_k=known.every_k[0],
            pass_every_k_interval=known.every_k[1],
            why_no_interval=None if known is NOTHING_KNOWN or known.at_k[1][0] is not None else _why_not(samples),
            worst=_chances(samples, untried, best=False) if unknown and _may_be_bounded(samples, untried) else None,
            best=_chances(samples, untried, best=True) if unknown and _may_be_bounded(samples, untried) else None,
        )


def _may_be_bounded(samples: Sequence[SampleTrials], untried: int) -> bool:
    """Return whether only scores are unknown: not how many trials there are, nor what a sample belongs to."""
    if not samples or any(trials.k > trials.planned for trials in samples):
        return False
    return not untried or not samples[0].trials[0]["is_clustered"]


def _chances(samples: Sequence[SampleTrials], untried: int, *, best: bool) -> Chances:
    """Return pass@k and pass^k, as `aggregate` estimates them; `best`: all that is unknown passed, else it failed.

    `untried` samples were never tried.
    """
    k, planned = samples[0].k, max(trials.planned for trials in samples)
    groups = _groups(samples, best=best)
    if untried:
        groups.append(Alike(planned, planned if best else 0, untried))
    found = (
        estimate(groups, lambda passed, n: pass_at_k(passed, n, k)),
        estimate(groups, lambda passed, n: pass_every_k(passed, n, k)),
    )
    if any(trials.lacks_cluster for trials in samples):
        return Chances(*((share, (None, None), method) for share, _, method in found))
    return Chances(*found)


def _groups(samples: Sequence[SampleTrials], *, best: bool) -> list[Alike]:
    return [
        Alike(each.planned, each.planned - each.failures if best else each.passes, 1, each.cluster) for each in samples
    ]


def _why_not(samples: Sequence[SampleTrials]) -> str:
    return why_no_interval(_groups(samples, best=False), sum(trials.lacks_cluster for trials in samples))


def _trial(row: JsonObject) -> JsonObject:
    scores = row["scores"]
    return {
        "trialNum": row["repetition"],
        "output": row["text"],
        "trajectory": row["turns"]
        and [turn | {"input": turn["input"] and orjson.loads(turn["input"])} for turn in row["turns"]],
        "duration": row["duration_ms"],
        "pass": row["passed"],
        "score": scores[0]["score"] if len(scores) == 1 else None,
        "scores": {f"{each['judge']}/{each['metric']}": each["score"] for each in scores},
        "reason": row["why"],
    }
