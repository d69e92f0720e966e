"""Check a config, its dataset, keys, prices and MCP servers before a cent is spent."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from keval.commands.messages import say, warn
from keval.commands.options import CONFIG, SKIP_INVALID
from keval.config.reader import load
from keval.errors import EnvironmentLacksError
from keval.execution.config_check import check
from keval.execution.estimate import Item
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
    found = check(config, log, warn, skip_invalid=skip_invalid)
    say(f"config    {config_path}: {config.name}, valid")
    say(f"dataset   {config.dataset.written}: {len(found.prepared.samples)} samples")
    for info in found.servers.values():
        say(f"server    {info.name}: {_described(info)}")
    _print_plan(found.estimates, config_path)
    if found.problems:
        raise EnvironmentLacksError(*found.problems)


def _described(info: ServerInfo) -> str:
    if info.error:
        return f"FAILED: {info.error}"
    orphans = f"; orphaned processes: {', '.join(info.orphaned_processes)}" if info.orphaned_processes else ""
    return f"connected, {info.server_name} {info.version or ''}, tools: {', '.join(info.tools or ())}{orphans}"


def _print_plan(items: Sequence[Item], config_path: Path) -> None:
    for item in items:
        say(f"plan      {item.name}: {item.number} calls, {_cost(item)}")
    unknown = [item.name for item in items if item.cost_usd is None]
    total = sum(item.cost_usd or 0.0 for item in items)
    without = f", without {', '.join(unknown)} (price unknown)" if unknown else ""
    say(f"estimate  ${total:.2f}{without}")
    if not all(item.measured for item in items):
        say(f"          rough: run a pilot (keval run {config_path} --limit 2) and check again")


def _cost(item: Item) -> str:
    if item.cost_usd is None:
        return "price unknown"
    return f"${item.cost_usd:.2f} ({'measured' if item.measured else 'assumed'})"
