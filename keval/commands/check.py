"""Check a config, its dataset, keys, prices and MCP servers before a cent is spent."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from pathlib import Path

import click

from keval.commands.messages import say, warn
from keval.commands.options import CONFIG, SKIP_INVALID
from keval.config.reader import load
from keval.errors import EnvironmentLacksError, KevalError
from keval.execution.estimate import Item, estimate, measured
from keval.execution.preparation import Prepared, check_all_keys, check_fits, check_program, identify, offered, prepare
from keval.logs.outputs import check_stdout
from keval.processes.servers import ServerInfo


@click.command(epilog="Example: keval check eval.yaml")
@CONFIG
@click.option("--log", metavar="LOG", type=click.Path(path_type=Path),
              help="Estimate from the answers in this log (default: <name>.jsonl, if there is one).")  # fmt: skip
@SKIP_INVALID
def command(config_path: Path, log: Path | None, skip_invalid: bool) -> None:
    """Check a config and everything that it names, connect to each MCP server, and print the plan."""
    config = load(config_path)
    log = log or Path(f"{config.name}.jsonl")
    check_stdout((config_path, config.dataset.path, log), "write to another file")
    prepared = prepare(config, mock_url=None, warn=warn)
    say(f"config    {config_path}: {config.name}, valid")
    say(f"dataset   {config.dataset.written}: {len(prepared.samples)} samples")
    problems = list(dict.fromkeys(_missing(prepared))) or asyncio.run(_refused_keys(prepared))
    infos = asyncio.run(offered(prepared))
    for info in infos.values():
        say(f"server    {info.name}: {_described(info)}")
    problems += _unreachable(infos)
    _print_plan(identify(prepared, infos, None), log, skip_invalid=skip_invalid)
    if problems:
        raise EnvironmentLacksError(*problems)


def _missing(prepared: Prepared) -> Iterable[str]:
    for check in (check_fits, check_program, lambda prepared: prepared.judge_env):
        try:
            check(prepared)
        except KevalError as error:
            yield from error.problems


async def _refused_keys(prepared: Prepared) -> list[str]:
    try:
        await check_all_keys(prepared)
    except EnvironmentLacksError as error:
        return list(error.problems)
    return []


def _unreachable(infos: Mapping[str, ServerInfo]) -> list[str]:
    return [f"MCP server {info.name!r}: {info.error}" for info in infos.values() if info.error]


def _described(info: ServerInfo) -> str:
    if info.error:
        return f"FAILED: {info.error}"
    left = f"; left processes behind: {', '.join(info.leaked)}" if info.leaked else ""
    return f"connected, {info.server_name} {info.version or ''}, tools: {', '.join(info.tools or ())}{left}"


def _print_plan(prepared: Prepared, log: Path, *, skip_invalid: bool) -> None:
    items = estimate(prepared, measured(log, prepared.config.agent.agent_id, warn, skip_invalid=skip_invalid))
    for item in items:
        say(f"plan      {item.name}: {item.number} calls, {_cost(item)}")
    unknown = [item.name for item in items if item.cost_usd is None]
    total = sum(item.cost_usd or 0.0 for item in items)
    without = f", without {', '.join(unknown)} (price unknown)" if unknown else ""
    say(f"estimate  ${total:.2f}{without}")
    if not all(item.measured for item in items):
        say(f"          rough: run a pilot (keval run {prepared.config.path} --limit 2) and check again")


def _cost(item: Item) -> str:
    if item.cost_usd is None:
        return "price unknown"
    return f"${item.cost_usd:.2f} ({'measured' if item.measured else 'assumed'})"
