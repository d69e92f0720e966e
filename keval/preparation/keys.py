"""Knows which keys agents and judges need, what reaches them, and whether their services take the keys."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from keval.agents import Agent
from keval.config.model import Config, JudgeConfig
from keval.errors import EnvironmentLacksError
from keval.judges import Judge
from keval.models.services import Service
from keval.processes import environment

if TYPE_CHECKING:
    from keval.secrets.variables import Secrets


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


def judge_keys(judges: Iterable[JudgeConfig]) -> set[str]:
    """Return the names of the keys that judges need."""
    return {name for judge in judges if judge.judge.uses_models for name in judge.judge.secret_names}


def judge_services(judges: Iterable[JudgeConfig]) -> list[Service]:
    """Return the services that judges ask."""
    return [service for judge in judges if judge.judge.uses_models for service in services(judge.judge)]


def services(asks: Agent | Judge) -> list[Service]:
    """Return the services that an agent or a judge asks; one that only names keys is taken to ask the usual one."""
    return [asks.service] if asks.service else [Service(api_key_env=name) for name in asks.secret_names]


async def check_keys(env: Mapping[str, str], services: Iterable[Service]) -> None:
    """Ask each service whether it takes its key, before anything is begun.

    A wrong key would otherwise show as a task that hangs until its timeout. Raises
    EnvironmentLacksError.
    """
    from keval.models import messages_api

    refusals = [refusal for each in dict.fromkeys(services) if (refusal := await messages_api.refusal(env, each))]
    if refusals:
        raise EnvironmentLacksError(*refusals)
