"""The stopping rule of a run as its log has it: what is compared, in which order, and with which part of alpha."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from math import isfinite
from typing import Any

from keval.ids import JsonObject, digest
from keval.stats.stopping_rule import NAME, Compared, Look, StoppingRule

MemberKey = tuple[str, str, str]
"""What names a comparison of the family in a log: the ids of condition and judge, and the metric."""


@dataclass(frozen=True, slots=True)
class Member:
    """One comparison of the family: a condition with the baseline, by one metric."""

    condition: str
    condition_id: str
    judge: str
    judge_id: str
    metric: str
    min: float
    max: float
    margin: float | None
    sample_rate: float = 1.0
    """The share of the tasks that its judge judges."""

    @property
    def key(self) -> MemberKey:
        """What names it in a log."""
        return self.condition_id, self.judge_id, self.metric

    def named(self) -> JsonObject:
        """Return what events name it by."""
        return {name: getattr(self, name) for name in ("condition", "condition_id", "judge", "judge_id", "metric")}


@dataclass(frozen=True, slots=True)
class RecordedRule:
    """All that may not change while a run goes on."""

    rule: StoppingRule
    baseline: str
    baseline_id: str
    agent_id: str
    samples: int
    repetitions: int
    seed: int
    answers_sha256: str
    family: tuple[Member, ...]

    def compared(self, member: Member) -> Compared:
        """Return what one comparison's looks have to know."""
        return Compared(member.max - member.min, self.samples, member.margin)

    def as_json(self) -> JsonObject:
        """Return the rule as its event holds it."""
        rule = asdict(self.rule)
        return {
            "name": NAME,
            **{name: rule[name] for name in ("target", "alpha", "early_share", "min_samples")},
            **{name: getattr(self, name) for name in ("baseline", "baseline_id", "agent_id", "samples")},
            **{name: getattr(self, name) for name in ("repetitions", "seed")},
            "failures": "minimum",
            "answers_sha256": self.answers_sha256,
            "family": [asdict(member) for member in self.family],
        }

    @property
    def rule_id(self) -> str:
        """The rule's identity; names of conditions and judges are in it, too."""
        return digest("until_rule", self.as_json())


def from_json(found: Mapping[str, Any]) -> RecordedRule:
    """Return the rule that an event holds."""
    family = tuple(Member(**each) for each in found["family"])
    names = ("alpha", "early_share", "min_samples", "target")
    return RecordedRule(
        rule=StoppingRule(len(family), **{name: found[name] for name in names}),
        family=family,
        **{
            name: found[name]
            for name in ("baseline", "baseline_id", "agent_id", "samples", "repetitions", "seed", "answers_sha256")
        },
    )


_IN_WORDS = {
    "alpha": "alpha",
    "early_share": "early_share",
    "min_samples": "min_samples",
    "target": "target",
    "name": "the rule's version",
    "samples": "the number of samples",
    "repetitions": "repetitions",
    "seed": "the seed",
    "baseline": "the baseline",
    "baseline_id": "the baseline's content",
    "agent_id": "the agent",
    "answers_sha256": "the golden answers, or what else of the samples judges are given",
    "family": "the primary metrics, their margins, judges, sample rates or conditions",
}


def changed(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Return in words what two rules, as events hold them, do not agree on; empty for one rule."""
    differing = [name for name in _IN_WORDS if before.get(name) != now.get(name)]
    if "samples" in differing and "answers_sha256" in differing:
        differing.remove("answers_sha256")  # of fewer samples there are other golden answers
    return [_IN_WORDS[name] for name in differing]


def look_fields(member: Member, found: Look, planned: int) -> JsonObject:
    """Return what events say of a look at one comparison."""
    return {
        **member.named(),
        "n": found.n,
        "n_measured": found.measured,
        "difference": found.mean,
        "ci_lower": found.lower,
        "ci_upper": found.upper,
        "p": found.p,
        "log_up": found.log_up if isfinite(found.log_up) else None,
        "log_down": found.log_down if isfinite(found.log_down) else None,
        "conclusion": found.outcome,
        "half": "none" if not found.is_decided else "early" if found.n < planned else "complete",
    }
