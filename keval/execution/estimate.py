"""Estimates what a run will cost: from answers that were really paid, else from stated assumptions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from keval.config.model import Condition, Config, JudgeConfig
from keval.execution.budget import Ledger
from keval.execution.preparation import Prepared
from keval.logs.history import Spent
from keval.logs.stream import read
from keval.models.prices import Prices
from keval.usage import Usage

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


def measured(path: Path, agent_id: str, warn: Callable[[str], None], *, skip_invalid: bool = False) -> Measured:
    """Return what a log's real (not mock) answers and judgments of an agent cost."""
    found = Measured()
    for line in read(path, warn, skip_invalid=skip_invalid) if path.exists() else ():
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
    items = [_answers(config, condition, answers, so_far) for condition in config.conditions]
    for judge in config.judges:
        number = answers * len(config.conditions) * judge.replicates
        if judge.judge.uses_models:
            assumed = config.prices.cost_usd(judge.model, ASSUMED_JUDGMENT)
            items.append(_item(judge.name, number, so_far.mean(judge.judge_id), assumed))
        else:
            items.append(Item(judge.name, number, 0.0, measured=True))
    return items


def _answers(config: Config, condition: Condition, number: int, so_far: Measured) -> Item:
    if not config.agent.agent.uses_models:
        return Item(condition.name, number, 0.0, measured=True)
    usage = ASSUMED_ANSWER_WITH_SERVERS if condition.mcp_servers else ASSUMED_ANSWER
    assumed = config.prices.cost_usd(config.agent.model, usage)
    return _item(condition.name, number, so_far.mean(condition.condition_id), assumed)


def _item(name: str, number: int, mean: float | None, assumed: float | None) -> Item:
    each = assumed if mean is None else mean
    return Item(name, number, None if each is None else each * number, measured=mean is not None)


def ledger(prepared: Prepared, today: Spent, warn: Callable[[str], None]) -> Ledger:
    """Return the ledger of a run, with what each kind of item is assumed to cost.

    `today` is what the log's events of today cost already. Raises UsageError when the config sets
    a budget and a price is unknown.
    """
    execution = prepared.config.execution
    made = empty_ledger(execution.budget_usd, execution.daily_budget_usd, today, warn)
    for item in estimate(prepared, Measured()):
        made.assume(item.name, None if item.cost_usd is None else item.cost_usd / max(item.number, 1))
    return made


def judges_ledger(judges: Sequence[JudgeConfig], empty: Ledger, prices: Prices) -> Ledger:
    """Return the ledger of judging alone. Raises UsageError when a price is unknown under a budget."""
    for judge in judges:
        empty.assume(judge.name, prices.cost_usd(judge.model, ASSUMED_JUDGMENT) if judge.judge.uses_models else 0.0)
    return empty


def empty_ledger(
    budget_usd: float | None, daily_budget_usd: float | None, today: Spent, warn: Callable[[str], None]
) -> Ledger:
    """Return a ledger that holds both budgets; `today` is what the log's events of today cost already."""
    if daily_budget_usd is not None and today.unknown:
        warn(f"daily_budget_usd: what {today.unknown} of today's attempts cost is unknown; they count as nothing")
    return Ledger(budget_usd, daily_budget_usd, today.usd)
