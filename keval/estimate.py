"""Estimates what a run will cost: from answers that were really paid, else from stated assumptions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from keval import prices
from keval.agents import Usage
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
    model = config.agent.model if config.agent.agent.uses_models else None
    items = [
        _item(condition.name, answers, so_far.mean(condition.condition_id), model,
              ASSUMED_ANSWER_WITH_SERVERS if condition.mcp_servers else ASSUMED_ANSWER)
        for condition in config.conditions
    ]  # fmt: skip
    for judge in config.judges:
        number = answers * len(config.conditions) * judge.replicates
        if judge.judge.uses_models:
            items.append(
                _item(judge.name, number, so_far.mean(judge.judge_id), judge.model, ASSUMED_JUDGMENT)
            )
        else:
            items.append(Item(judge.name, number, 0.0, measured=True))
    return items


def _item(name: str, number: int, mean: float | None, model: str | None, assumed: Usage) -> Item:
    each = prices.load().cost_usd(model, assumed) if mean is None else mean
    return Item(name, number, None if each is None else each * number, measured=mean is not None)
