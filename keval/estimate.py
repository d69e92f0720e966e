"""Estimates what a run will cost: from answers that were really paid, else from stated assumptions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from keval import prices
from keval.agents import Usage
from keval.budget import Ledger
from keval.config import AgentConfig, Condition, JudgeConfig
from keval.prepare import Prepared
from keval.stream import read

ASSUMED_ANSWER = Usage(2_000, 500, 0, 0)
ASSUMED_ANSWER_WITH_SERVERS = Usage(12_000, 800, 0, 0)
ASSUMED_JUDGMENT = Usage(2_500, 700, 0, 0)
"""Tokens of one answer or judgment before anything was measured; a pilot replaces them."""


@dataclass
class Measured:
    """What answers and judgments cost so far, by condition id and by judge id."""

    costs: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    def mean(self, identity: str) -> float | None:
        """Return the mean known cost in USD, or None when nothing was measured."""
        known = self.costs.get(identity)
        return sum(known) / len(known) if known else None


@dataclass(frozen=True, slots=True)
class Item:
    """The estimate for one condition's answers, or one judge's judgments."""

    name: str
    number: int
    cost_usd: float | None
    """For all of them; None when the model has no known price."""
    measured: bool


def measured(path: Path, agent_id: str, warn: Callable[[str], None]) -> Measured:
    """Return what a log's real (not mock) answers and judgments of an agent cost."""
    found = Measured()
    for line in read(path, warn) if path.exists() else ():
        event = line.event
        if event["type"] not in {"response", "judgment"} or event.get("mock") or event["cost_usd"] is None:
            continue
        if event["agent_id"] == agent_id:
            identity = event["condition_id"] if event["type"] == "response" else event["judge_id"]
            found.costs[identity].append(event["cost_usd"])
    return found


def estimate(prepared: Prepared, so_far: Measured) -> list[Item]:
    """Return the estimate of the whole plan, conditions first, then judges."""
    config = prepared.config
    answers = len(prepared.samples) * config.execution.repetitions
    items = [_answers(config.agent, condition, answers, so_far) for condition in config.conditions]
    for judge in config.judges:
        number = answers * len(config.conditions) * judge.replicates
        if judge.judge.uses_models:
            items.append(_item(judge.name, number, so_far.mean(judge.judge_id), judge.model, ASSUMED_JUDGMENT))
        else:
            items.append(Item(judge.name, number, 0.0, measured=True))
    return items


def _answers(agent: AgentConfig, condition: Condition, number: int, so_far: Measured) -> Item:
    if not agent.agent.uses_models:
        return Item(condition.name, number, 0.0, measured=True)
    assumed = ASSUMED_ANSWER_WITH_SERVERS if condition.mcp_servers else ASSUMED_ANSWER
    return _item(condition.name, number, so_far.mean(condition.condition_id), agent.model, assumed)


def ledger(prepared: Prepared) -> Ledger:
    """Return the ledger of a run, with what each kind of item is assumed to cost.

    Raises UsageError when the config sets a budget and a price is unknown.
    """
    made = Ledger(prepared.config.execution.budget_usd)
    for item in estimate(prepared, Measured()):
        made.assume(item.name, None if item.cost_usd is None else item.cost_usd / max(item.number, 1))
    return made


def judges_ledger(judges: Sequence[JudgeConfig], limit_usd: float | None) -> Ledger:
    """Return the ledger of judging alone. Raises UsageError when a price is unknown under a limit."""
    made = Ledger(limit_usd)
    for judge in judges:
        made.assume(judge.name, _assumed_usd(judge.model, ASSUMED_JUDGMENT) if judge.judge.uses_models else 0.0)
    return made


def _assumed_usd(model: str | None, usage: Usage) -> float | None:
    return prices.load().cost_usd(model, usage)


def _item(name: str, number: int, mean: float | None, model: str | None, assumed: Usage) -> Item:
    each = _assumed_usd(model, assumed) if mean is None else mean
    return Item(name, number, None if each is None else each * number, measured=mean is not None)
