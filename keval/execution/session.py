"""What the stages of one command share: who does the work, where it is recorded, what it may cost, when to stop.

`config_session.py` makes a session for a config, `judge_session.py` one for a log or a pipe and its judges.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from keval.config.model import Config, Execution
from keval.execution.budget import Ledger
from keval.execution.executors import Executor
from keval.execution.generation import Generation
from keval.execution.judging import Judging
from keval.execution.progress import Progress
from keval.execution.recording import EncodedEvent, Recorder
from keval.logs.stream import Sink
from keval.models.prices import Prices
from keval.secrets.variables import Secrets

Warn = Callable[[str], None]
OnWritten = Callable[[EncodedEvent], Awaitable[None]]


@dataclass(frozen=True, kw_only=True)
class Request:
    """What a user asks of a command, beside a config or a log."""

    mock_url: str | None = None
    """The address of the mock that stands for the Messages API."""
    limit: int | None = None
    """Only the first samples, so many."""
    retry_failed: bool = True
    """Try again what failed in earlier runs."""
    fresh: bool = False
    """Ask for every response again."""
    judge_all: bool = False
    """Judge also what answers a current question and is not in the newest plan."""
    max_concurrent: int | None = None
    """Judgments at once; else what the config says."""
    skip_invalid: bool = False
    quiet: bool = False

    @property
    def mock(self) -> bool:
        """Whether this is a mock run."""
        return self.mock_url is not None


@dataclass(frozen=True, kw_only=True)
class Session:
    """One command's work over one log or pipe."""

    run_id: str
    sink: Sink
    executor: Executor
    ledger: Ledger
    execution: Execution
    prices: Prices
    secrets: Secrets
    mock: bool
    stop: asyncio.Event

    def generation(self, config: Config, progress: Progress, on_written: OnWritten | None = None) -> Generation:
        """Return the stage that asks the agent."""
        return Generation(
            config=config,
            executor=self.executor,
            recorder=self._recorder(),
            progress=progress,
            ledger=self.ledger,
            stop=self.stop,
            retry=self.execution.retry,
            max_concurrent=self.execution.max_concurrent,
            on_written=on_written,
        )

    def judging(self, progress: Progress) -> Judging:
        """Return the stage that asks the judges."""
        return Judging(
            prices=self.prices,
            executor=self.executor,
            recorder=self._recorder(),
            progress=progress,
            ledger=self.ledger,
            stop=self.stop,
            retry=self.execution.retry,
            max_concurrent=self.execution.max_concurrent,
        )

    def _recorder(self) -> Recorder:
        return Recorder(run_id=self.run_id, sink=self.sink, mock=self.mock, secrets=self.secrets)
