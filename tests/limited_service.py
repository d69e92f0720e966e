"""A service of known capacity, in virtual time, and a stage that asks it as keval asks a real one.

A call that is one too many is refused within a moment; a good one takes long. What is measured is work done in
simulated seconds, so the same numbers come out on any machine.
"""

from __future__ import annotations

import asyncio
import itertools
import math
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar

from keval.agents import Answer
from keval.events import EncodedEvent
from keval.execution.budget import Ledger
from keval.execution.progress import Progress
from keval.execution.recording import Recorder
from keval.execution.stage import Stage
from keval.executors.in_process import InProcess
from keval.executors.judge_calls import JudgeCaller
from keval.executors.specs import Outcome
from keval.ids import JsonObject
from keval.models import prices
from keval.retry import Failed, Retry
from keval.secrets.variables import Secrets
from tests import virtual_time
from tests.builders import Kept

Capacity = Callable[[float], float]
"""What a service can do at a second of the simulation."""


@dataclass
class Service:
    """Serves so many calls at once, or so many a second, or whichever is less; it refuses the others."""

    at_once: Capacity | None = None
    per_second: Capacity | None = None
    bucket: float = 1.0
    """How many calls may come together, where they are counted per second."""
    latency_s: float = 10.0
    jitter: float = 0.3
    """The spread of latencies: the sigma of their logarithm."""
    refusal_s: float = 0.05
    tells_when: bool = False
    """Whether a refusal says how long to wait."""
    in_flight: int = 0
    served: int = 0
    refused: int = 0
    _tokens: float = field(init=False)
    _refilled_s: float = 0.0
    _random: random.Random = field(default_factory=lambda: random.Random(7))  # noqa: S311 - a simulation

    def __post_init__(self) -> None:
        self._tokens = self.bucket

    async def call(self) -> Failed | None:
        """Serve one call, or refuse it."""
        if (wait_s := self._refusal()) is not None:
            self.refused += 1
            await asyncio.sleep(self.refusal_s)
            return Failed("infra_error", "429", retryable=True, overloaded=True, retry_after_s=wait_s or None)
        self.in_flight += 1
        latency_s = self.latency_s * self._random.lognormvariate(-(self.jitter**2) / 2, self.jitter)
        await asyncio.sleep(latency_s)
        self.in_flight -= 1
        self.served += 1
        return None

    def _refusal(self) -> float | None:
        """Return how long to wait if a call is refused now, 0 for an unknown time, None if it is taken."""
        now_s = asyncio.get_running_loop().time()
        if self.at_once is not None and self.in_flight + 1 > self.at_once(now_s):
            return self.latency_s / 10 if self.tells_when else 0.0
        if self.per_second is not None:
            rate = self.per_second(now_s)
            self._tokens = min(self.bucket, self._tokens + (now_s - self._refilled_s) * rate)
            self._refilled_s = now_s
            if self._tokens < 1:
                return (1 - self._tokens) / rate if self.tells_when and rate else 0.0
            self._tokens -= 1
        return None


@dataclass(frozen=True, kw_only=True)
class Asking(Stage[int, Answer]):
    """A stage like `generate`, for a service that is only simulated."""

    service: Service
    broken: ClassVar[str] = "agent_error"

    def row(self, item: int) -> str:  # noqa: ARG002 - the base's signature
        return "all"

    def account(self, item: int) -> str:  # noqa: ARG002 - the base's signature
        return "all"

    async def perform(self, item: int) -> Outcome[Answer]:  # noqa: ARG002 - the base's signature
        return Outcome(Answer("answered", "", cost_usd=0.0), 1, await self.service.call())

    def examined(self, item: int, outcome: Outcome[Answer]) -> Outcome[Answer]:  # noqa: ARG002 - the base's signature
        return outcome

    def event(self, item: int, outcomes: list[Outcome[Answer]]) -> JsonObject:
        return {"item": item, "failed": outcomes[-1].failed is not None}

    def reduced(self, known: Answer, *, cost: bool, usage: bool) -> Answer:  # noqa: ARG002 - the base's signature
        return known


class Unwritten(Recorder):
    """A recorder that keeps nothing: the simulation is of calls, not of logs."""

    def encoded(self, unredacted: JsonObject) -> EncodedEvent:
        return EncodedEvent(unredacted, b"", unredacted)

    async def write(self, encoded: EncodedEvent) -> None:
        pass


@dataclass(frozen=True)
class Measured:
    """What came of so many simulated seconds."""

    share: float
    """Of the work that the service could have done."""
    served: int
    refused: int
    failed_items: int
    """Items all of whose attempts were refused."""


def always(capacity: float) -> Capacity:
    """Return a capacity that stays the same."""
    return lambda _: capacity


def less_between(usual: float, less: float, from_s: float, to_s: float) -> Capacity:
    """Return a capacity that falls for a while."""
    return lambda now_s: less if from_s <= now_s < to_s else usual


def measure(service: Service, seconds: float, most: int = 100, retry: Retry | None = None) -> Measured:
    """Ask a service for so long, as fast as it goes, and return how much of its capacity was used."""
    stage = Asking(
        service=service,
        executor=InProcess(None, JudgeCaller(judges={}, env={}, program_env={}, prices=prices.load())),
        recorder=Unwritten(run_id="run", sink=Kept(), mock=True, secrets=Secrets({})),
        progress=Progress("generate"),
        ledger=Ledger(),
        stop=asyncio.Event(),
        retry=retry or Retry(),
        max_concurrent=most,
    )
    return virtual_time.run(_measured(stage, seconds))


async def _measured(stage: Asking, seconds: float) -> Measured:
    service = stage.service
    working = asyncio.create_task(stage.work_off(itertools.count()))
    await asyncio.sleep(seconds)
    share = service.served / possible(service, seconds, stage.max_concurrent)
    measured = Measured(share, service.served, service.refused, stage.progress.failed)
    stage.stop.set()
    await working
    return measured


def possible(service: Service, seconds: float, most: int) -> float:
    """Return how many calls the service could have served, in steps of a tenth of a second."""
    step_s = 0.1
    total = service.bucket if service.per_second is not None else 0.0
    for step in range(math.ceil(seconds / step_s)):
        now_s = step * step_s
        rates = [most / service.latency_s]
        if service.at_once is not None:
            rates.append(service.at_once(now_s) / service.latency_s)
        if service.per_second is not None:
            rates.append(service.per_second(now_s))
        total += min(rates) * step_s
    return total
