"""What the stages of one command share: who does the work, where it is recorded, what it may cost, when to stop.

`config_work.py` makes a session for a config, `judge_session.py` one for a log or a pipe and its judges.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Container
from dataclasses import dataclass, field

from keval.config.model import Config, Execution
from keval.documents import event_lines
from keval.events import EncodedEvent
from keval.execution.budget import Ledger
from keval.execution.generation import Generation
from keval.execution.judging import UNASKED, Judging
from keval.execution.progress import Progress
from keval.execution.recording import Recorder
from keval.executors.executor import Executor
from keval.executors.workspaces import Kept
from keval.logs.sinks import Sink
from keval.scheduling.interrupt import Stops
from keval.secrets.variables import Secrets

OnWritten = Callable[[EncodedEvent], Awaitable[None] | None]


@dataclass(frozen=True, kw_only=True)
class Session:
    """One command's work over one log or pipe."""

    run_id: str
    sink: Sink
    executor: Executor
    ledger: Ledger
    execution: Execution
    secrets: Secrets
    mock: bool
    stops: Stops
    kept: Kept = field(default_factory=Kept)
    """Which of the folders stay in which the agent works."""
    silent_agents: Container[str] = frozenset()
    """The ids of the agents that do not report their tool calls."""
    again_costs: float = 1
    """How many times the price of a first attempt another one may cost."""
    items: int = 0
    """About how many there are to be done, where that is known: many are checked in another way."""

    def check_budget(self) -> None:
        """Raise BudgetReachedError if a budget ended the work, and not the user."""
        if not self.stops.user.is_set():
            self.ledger.check()

    def let_free_go_on(self) -> None:
        """Let judgments that cost nothing be made when a budget is reached, be it that nobody is asked about them."""
        self.ledger.free.add(UNASKED)
        self.ledger.enough = self.stops.enough

    @property
    def judges_stop(self) -> asyncio.Event:
        """What ends the work of the judges: not a budget where what is free goes on."""
        return self.stops.enough if self.ledger.enough is None else self.stops.user

    def generation(self, config: Config, progress: Progress, on_written: OnWritten | None = None) -> Generation:
        """Return the stage that asks the agent."""
        return Generation(
            config=config,
            kept=self.kept,
            executor=self.executor,
            recorder=self._recorder(),
            progress=progress,
            ledger=self.ledger,
            stop=self.stops.enough,
            retry=self.execution.retry,
            max_concurrent=self.execution.max_concurrent,
            again_costs=self.again_costs,
            on_written=on_written,
        )

    def judging(self, progress: Progress, on_written: OnWritten | None = None) -> Judging:
        """Return the stage that asks the judges."""
        return Judging(
            kept=self.kept,
            silent_agents=self.silent_agents,
            executor=self.executor,
            recorder=self._recorder(),
            progress=progress,
            ledger=self.ledger,
            stop=self.judges_stop,
            retry=self.execution.retry,
            max_concurrent=self.execution.max_concurrent,
            again_costs=self.again_costs,
            on_written=on_written,
        )

    def _recorder(self) -> Recorder:
        problem_of = event_lines.checker(self.items)
        return Recorder(run_id=self.run_id, sink=self.sink, mock=self.mock, secrets=self.secrets, problem_of=problem_of)
