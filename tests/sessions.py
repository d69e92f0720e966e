"""Sessions of stages whose agent and judges are scripted."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from keval.config.model import Config, Execution, JudgeConfig
from keval.execution.budget import Ledger
from keval.execution.session import Session
from keval.executors.answering import Answerer
from keval.executors.in_process import InProcess
from keval.executors.judge_calls import JudgeCaller
from keval.logs.sinks import Sink
from keval.models.prices import Prices
from keval.retry import Retry
from keval.scheduling.interrupt import Stops
from keval.secrets.variables import Secrets


def session_of(config: Config, sink: Sink, ledger: Ledger, env: Mapping[str, str]) -> Session:
    """Return a session that asks a config's agent; `env` is the environment of its processes."""
    execution = config.execution
    answerer = Answerer(
        agent=config.agent.agent,
        folder=config.path.parent,
        env=env,
        secrets=config.secrets,
        timeout_s=execution.timeout_s,
        idle_timeout_s=execution.idle_timeout_s,
    )
    executor = InProcess(answerer, JudgeCaller(judges={}, env={}, program_env={}, prices=config.prices))
    return Session(
        run_id="run", sink=sink, executor=executor, ledger=ledger, execution=execution,
        secrets=config.secrets, mock=True, stops=Stops(asyncio.Event(), asyncio.Event()),
    )  # fmt: skip


def judging_session(judges: Sequence[JudgeConfig], sink: Sink, env: Mapping[str, str], prices: Prices) -> Session:
    """Return a session that asks judges; `env` is what reaches their models."""
    by_id = {judge.judge_id: judge.judge for judge in judges}
    judge_caller = JudgeCaller(judges=by_id, env=env, program_env={}, prices=prices)
    return Session(
        run_id="run", sink=sink, executor=InProcess(None, judge_caller), ledger=Ledger(),
        execution=Execution(max_concurrent=2, retry=Retry(3, 0, 1)), secrets=Secrets({}),
        mock=True, stops=Stops(asyncio.Event(), asyncio.Event()),
    )  # fmt: skip
