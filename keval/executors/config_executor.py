"""Who does the work of a config in this process: its agent and its judges, with what reaches each of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from keval.config.model import JudgeConfig
from keval.executors.answering import Answerer
from keval.executors.in_process import InProcess, judge_caller_of
from keval.executors.workspaces import Workspaces
from keval.preparation.prepared import Prepared
from keval.processes import environment


def config_executor(prepared: Prepared, judges: Sequence[JudgeConfig], mark: Mapping[str, str]) -> InProcess:
    """Return who does the work of a config in this process; `mark` is in the environment of all that is started."""
    config, judge_env = prepared.config, prepared.judge_env if judges else {}
    program_env = {**environment.allowed(config.environ), **mark}
    judge_caller = judge_caller_of(judges, judge_env, program_env, config.prices)
    return InProcess(config_answerer(prepared, mark), judge_caller)


def config_answerer(prepared: Prepared, mark: Mapping[str, str]) -> Answerer:
    """Return who asks a config's agent in this process."""
    config = prepared.config
    return Answerer(
        agent=config.agent.agent,
        folder=config.path.parent,
        env={**prepared.agent_env, **mark},
        secrets=config.secrets,
        timeout_s=config.execution.timeout_s,
        idle_timeout_s=config.execution.idle_timeout_s,
        files=config.agent.files,
        workspaces=Workspaces(config.agent.workspace.template),
        prices=config.prices,
    )
