"""Turns a config file into what a run needs: its samples, its environment, its `run` event."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from keval import datasets, schema
from keval.config.model import Config, JudgeConfig
from keval.errors import EnvironmentLacksError
from keval.execution.plan import plan_id
from keval.execution.tasks import question_id
from keval.processes import environment, machine, temporary, tree
from keval.secrets import checks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from keval.datasets import Samples
    from keval.ids import JsonObject
    from keval.processes.servers import ServerInfo
    from keval.secrets.variables import Secrets


@dataclass(frozen=True)
class Prepared:
    """A config with everything that it names read and found."""

    config: Config
    dataset: Samples
    samples: tuple[JsonObject, ...]
    """The samples of this run: all of the dataset, or the first ones with --limit."""
    mock_url: str | None
    log: Path | None = None
    """The log that is worked for; None in a pipe."""
    servers: Mapping[str, ServerInfo] = field(default_factory=dict)
    """What each MCP server turned out to be, once they were asked (`identify`)."""

    @cached_property
    def question_ids(self) -> tuple[str, ...]:
        """The plan: what is to be answered under each condition, in the dataset's order."""
        return tuple(map(question_id, self.samples))

    @cached_property
    def plan_id(self) -> str:
        """The identity of the plan."""
        return plan_id(self.question_ids)

    @property
    def inputs(self) -> tuple[Path, ...]:
        """The files that nothing may be written over."""
        return (self.config.path, self.config.dataset.path)

    @property
    def agent_env(self) -> dict[str, str]:
        """The environment of the agent's processes. Raises EnvironmentLacksError for a missing key."""
        return agent_env(self.config, self.mock_url)

    @property
    def mark(self) -> dict[str, str]:
        """The environment variables that mark each process we start as ours; empty without a log."""
        return tree.mark_of(self.log) if self.log else {}

    @property
    def judge_env(self) -> dict[str, str]:
        """What reaches the judges' models. Raises EnvironmentLacksError for a missing key."""
        return judge_env(self.config.judges, self.config.secrets, self.mock_url, self.config.environ)


def prepare(
    config: Config,
    mock_url: str | None,
    limit: int | None = None,
    log: Path | None = None,
    *,
    warn: Callable[[str], None],
) -> Prepared:
    """Read what the config names.

    Raises InputError for a bad dataset, EnvironmentLacksError for a variable that is not set, and
    UsageError for a secret that stands in the dataset or in a system prompt.
    """
    missing = config.missing_variables()
    if missing:
        raise EnvironmentLacksError(f"{config.path}: not set: {', '.join(missing)}; export them and try again")
    read = datasets.read(
        config.dataset.path,
        id_key=config.dataset.id_key,
        question_key=config.dataset.question_key,
        answer_key=config.dataset.answer_key,
    )
    prepared = Prepared(config, read, read.samples[:limit], mock_url, log)
    config.secrets.register({*config.agent.agent.secret_names, *judge_keys(config.judges)})
    prompts = {condition.name: condition.system_prompt for condition in config.conditions}
    for warning in checks.check(config.secrets, prepared.samples, prompts):
        warn(warning)
    return prepared


def set_up(prepared: Prepared) -> None:
    """Make this process ready to start agents, and the machine free of what killed commands left in folders.

    Raises UsageError when so many tasks at once do not fit into the limit of open files, and
    EnvironmentLacksError for what the agent cannot work without.
    """
    check_fits(prepared)
    check_program(prepared)
    schema.load_events()  # later there may be no file to read them with
    temporary.remove_abandoned()
    tree.adopt_orphans()


def check_fits(prepared: Prepared) -> None:
    """Raise UsageError when so many tasks at once do not fit into the limit of open files."""
    machine.check_fits(prepared.config.execution.max_concurrent, _open_files(prepared.config))


def _open_files(config: Config) -> int:
    """Return how many open files a task and its judgment need at most."""
    agent = config.agent.agent
    # A task's folder is held open, too, and so is that of one which waits for another attempt.
    folders = 2 if agent.uses_workspace else 0
    judges = 2 if any(judge.judge.uses_models for judge in config.judges) else 0
    return agent.open_files + folders + judges


def check_program(prepared: Prepared) -> None:
    """Raise EnvironmentLacksError for a missing key, and for a program of the agent that cannot be started."""
    agent, folder = prepared.config.agent, prepared.config.path.parent
    missing = agent.agent.missing(folder, prepared.agent_env)
    if missing is not None:
        raise EnvironmentLacksError(f"agent {agent.name!r}: {missing}; nothing was asked")


def agent_env(config: Config, mock_url: str | None) -> dict[str, str]:
    """Return the whole environment of the agent's processes. Raises EnvironmentLacksError."""
    agent = config.agent.agent
    keys = agent.secret_names
    config.secrets.register(keys)
    if mock_url is not None and agent.uses_models:
        keys = keys or ("ANTHROPIC_API_KEY",)  # an agent that names no key may still look for the usual one
    elif not keys:
        return environment.allowed(config.environ)
    return environment.allowed(config.environ) | environment.for_models(config.environ, keys, mock_url)


def judge_env(
    judges: Sequence[JudgeConfig], secrets: Secrets, mock_url: str | None, environ: Mapping[str, str]
) -> dict[str, str]:
    """Return what reaches the judges' models. Raises EnvironmentLacksError."""
    keys = judge_keys(judges)
    secrets.register(keys)
    return environment.for_models(environ, sorted(keys), mock_url) if keys else {}


async def check_keys(env: Mapping[str, str], names: Iterable[str]) -> None:
    """Ask the service whether it takes the keys of these names, before anything is begun.

    A wrong key would otherwise show as a task that hangs until its timeout. Raises
    EnvironmentLacksError.
    """
    from keval.models import messages_api

    refusals = [refusal for name in sorted(set(names)) if (refusal := await messages_api.refusal(env, name))]
    if refusals:
        raise EnvironmentLacksError(*refusals)


async def check_agent_keys(prepared: Prepared) -> None:
    """Check the keys of the agent. Raises EnvironmentLacksError."""
    agent = prepared.config.agent.agent
    if agent.uses_models and agent.secret_names:
        await check_keys(prepared.agent_env, agent.secret_names)


async def check_judge_keys(prepared: Prepared) -> None:
    """Check the keys of the config's judges. Raises EnvironmentLacksError."""
    await check_keys(prepared.judge_env, judge_keys(prepared.config.judges))


def judge_keys(judges: Iterable[JudgeConfig]) -> set[str]:
    """Return the names of the keys that judges need."""
    return {name for judge in judges if judge.judge.uses_models for name in judge.judge.secret_names}


async def end_orphans(prepared: Prepared, warn: Callable[[str], None]) -> None:
    """End what an earlier command for the same log, which was killed, left running: it may cost money."""
    names = await tree.end_orphans(prepared.log) if prepared.log else []
    if names:
        warn(f"{prepared.log}: ended what an earlier command that was killed had left running: {', '.join(names)}")


async def end_unmarked(warn: Callable[[str], None]) -> None:
    """End what tasks left behind of which nobody can tell whose it was, and name it. For the end of a run."""
    names = await tree.end_unmarked()
    if names:
        warn(f"ended what tasks had left running, unmarked, so that no event names it: {', '.join(names)}")
