"""Looks before a run at everything that a config names, and connects to each MCP server: not a cent is spent."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from keval.config.model import Config
from keval.errors import EnvironmentLacksError, KevalError
from keval.execution.estimate import Item, estimate
from keval.execution.identification import identify, offered
from keval.execution.preparation import Prepared, check_agent_keys, check_fits, check_judge_keys, check_program, prepare
from keval.logs import history
from keval.processes.servers import ServerInfo


@dataclass(frozen=True, slots=True)
class Findings:
    """What a run of a config would meet."""

    prepared: Prepared
    servers: Mapping[str, ServerInfo]
    estimates: tuple[Item, ...]
    problems: tuple[str, ...]
    """What a run would fail of."""


def check(config: Config, log: Path, warn: Callable[[str], None], *, skip_invalid: bool = False) -> Findings:
    """Check a config and all that it names; estimates start from what a log's answers have cost.

    Raises InputError, EnvironmentLacksError and UsageError for what makes it impossible to look any further.
    """
    prepared = prepare(config, mock_url=None, warn=warn)
    lacking = dict.fromkeys(_lacking(prepared))
    refused, servers = asyncio.run(_asked(prepared, ask_keys=not lacking))
    unreachable = [f"MCP server {info.name!r}: {info.error}" for info in servers.values() if info.error]
    past = history.of_log(log, warn, skip_invalid=skip_invalid)
    identified = identify(prepared, servers, past.newest_run(config.name, mock=False))
    estimates = tuple(estimate(identified, past.costs, config.judges))
    return Findings(identified, servers, estimates, (*lacking, *refused, *unreachable))


def _lacking(prepared: Prepared) -> Iterator[str]:
    for look in (check_fits, check_program, lambda prepared: prepared.judge_env):
        try:
            look(prepared)
        except KevalError as error:
            yield from error.problems


async def _asked(prepared: Prepared, *, ask_keys: bool) -> tuple[list[str], dict[str, ServerInfo]]:
    """Return the keys that the service refuses, and what each server says."""
    refused: list[str] = []
    for look in (check_agent_keys, check_judge_keys) if ask_keys else ():
        try:
            await look(prepared)
        except EnvironmentLacksError as error:
            refused += error.problems
    return refused, await offered(prepared)
