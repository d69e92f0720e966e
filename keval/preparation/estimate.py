"""Estimates what a run will cost: from answers that were really paid, else from stated assumptions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from keval.config.model import Condition, Config, JudgeConfig
from keval.logs.costs import Cost, MeasuredCosts
from keval.models.prices import BATCH_SHARE, Prices
from keval.preparation.prepared import Prepared
from keval.usage import Usage, known_sum

ASSUMED_ANSWER = Usage(2_000, 500, 0, 0)
ASSUMED_ANSWER_WITH_SERVERS = Usage(12_000, 800, 0, 0)
ASSUMED_JUDGMENT = Usage(2_500, 700, 0, 0)
"""Tokens of one answer or judgment before anything was measured; a pilot replaces them."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """The estimate for one condition's answers, or one judge's judgments."""

    name: str
    account: str
    """The id of the condition or judge, under which a ledger knows it."""
    number: int
    each_usd: float | None
    """For one of them: the mean of what was measured, else an assumption; None without a known price."""
    max_cost_usd: float | None
    """The most that one of them has cost, else the same assumption."""
    measured: bool
    free: bool = False
    """Whether none of them can cost anything."""
    calls_each: int = 1
    """How many calls one of them takes: a judge of pairs asks in both orders."""

    @property
    def cost_usd(self) -> float | None:
        """For all of them; None when the model has no known price."""
        return None if self.each_usd is None else self.each_usd * self.number


def estimate(prepared: Prepared, so_far: MeasuredCosts, judges: Sequence[JudgeConfig]) -> list[Estimate]:
    """Return the estimate of all answers of the plan and of their judgments by `judges`, conditions first."""
    config = prepared.config
    repetitions, conditions = config.execution.repetitions, config.conditions
    items = [_answers(config, each, len(prepared.samples) * repetitions, so_far) for each in conditions]
    for judge in judges:
        samples = sum(map(judge.asks_about, prepared.samples))
        # The baseline's answers would be pairs with themselves: nobody is asked about them.
        judged = len(conditions) - 1 if judge.judge.unit == "pair" else len(conditions)
        items += estimate_judgments([judge], samples * repetitions * judged, config.prices, so_far)
    return items


def _answers(config: Config, condition: Condition, number: int, so_far: MeasuredCosts) -> Estimate:
    name, account = condition.name, condition.condition_id
    paid = so_far.of_answers(config.agent.agent_id, account)
    if config.agent.agent.is_free:
        return _free(name, account, number)
    usage = ASSUMED_ANSWER_WITH_SERVERS if condition.mcp_servers else ASSUMED_ANSWER
    assumed = config.prices.cost_usd(config.agent.model, usage) if config.agent.agent.uses_models else None
    if paid is None and assumed is None and config.agent.agent.says_costs:
        # What it asks is its own affair; a budget holds it by what its answers say that they cost.
        return Estimate(name, account, number, None, 0.0, measured=False)
    return _estimate_of(name, account, number, paid, assumed)


def estimate_judgments(
    judges: Sequence[JudgeConfig], responses: int, prices: Prices, so_far: MeasuredCosts
) -> Iterator[Estimate]:
    """Yield the estimate of each judge's judgments of so many responses."""
    for judge in judges:
        number = judge.judgments_of(responses)
        if judge.judge.uses_models:
            assumed = known_sum([prices.cost_usd(model, ASSUMED_JUDGMENT) for model in judge.judge.calls])
            found = _estimate_of(judge.name, judge.judge_id, number, so_far.of_judgments(judge.judge_id), assumed)
            yield replace(found, calls_each=len(judge.judge.calls) or 1)
        else:
            yield _free(judge.name, judge.judge_id, number)


def in_batches(items: Iterable[Estimate]) -> Iterator[Estimate]:
    """Yield estimates at the price of batches."""
    for item in items:
        if item.each_usd is None or item.max_cost_usd is None:
            yield item
        else:
            each, most = item.each_usd * BATCH_SHARE, item.max_cost_usd * BATCH_SHARE
            yield replace(item, each_usd=each, max_cost_usd=most)


def _free(name: str, account: str, number: int) -> Estimate:
    return Estimate(name, account, number, 0.0, 0.0, measured=True, free=True)


def _estimate_of(name: str, account: str, number: int, paid: Cost | None, assumed: float | None) -> Estimate:
    if paid is None:
        return Estimate(name, account, number, assumed, assumed, measured=False)
    return Estimate(name, account, number, paid.total_usd / paid.number, paid.max_cost_usd, measured=True)
