"""Check a config, its dataset, keys, prices and MCP servers before a cent is spent."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from shlex import quote

import click

from keval.commands.messages import say, warn
from keval.commands.options import CONFIG, PATH, SKIP_INVALID, mock_service, until_options
from keval.config import until_section
from keval.config.reader import load
from keval.config.until_section import Given
from keval.counted import counted
from keval.errors import UsageError
from keval.execution.config_check import check
from keval.execution.config_session import default_log
from keval.execution.identification import server_failure, stray_output
from keval.logs.outputs import check_stdout, same_input
from keval.models.prices import Prices
from keval.preparation.estimate import Estimate
from keval.processes.servers import ServerInfo


@click.command(epilog="Example: keval check eval.yaml")
@CONFIG
@click.option("--log", metavar="LOG", type=PATH,
              help="Estimate from this log's answers, no mock's (default: <name>.jsonl, if it is there).")  # fmt: skip
@click.option("--mock", is_flag=True, help="Check what a mock run needs: everything but keys and the service.")
@SKIP_INVALID
@until_options
def command(config_path: Path, log: Path | None, mock: bool, skip_invalid: bool, given: Given) -> None:
    """Check a config and everything that it names, connect to each MCP server, and print the plan."""
    config = load(config_path)
    inputs = (config_path, *(dataset.path for dataset in config.datasets))
    log = _log(log, default_log(config, mock=mock), config_path, inputs)
    check_stdout((*inputs, log), "write to another file")
    with mock_service(mock, None, None) as mock_url:
        found = check(
            config, log, warn,
            mock_url=mock_url, skip_invalid=skip_invalid, until=until_section.wanted(config.as_written, given),
        )  # fmt: skip
    say(f"config    {config_path}: {config.name}, valid")
    for dataset, read in zip(config.datasets, found.prepared.datasets, strict=True):
        say(f"dataset   {dataset.written}: {counted(len(read.samples), 'sample')}")
    for info in found.servers.values():
        say(f"server    {info.name}: {described(info)}")
    _print_plan(found.estimates, config_path, config.prices, has_answers=found.has_answers, mock=mock)
    for told in found.ahead:
        say(f"ahead     {log}: {told}")
    if found.errors:
        raise type(found.errors[0])(*found.problems)


def _log(named: Path | None, default: Path, config_path: Path, inputs: Sequence[Path]) -> Path:
    """Return the log that estimates come from. Raises UsageError where a run would refuse to write to it."""
    log = named or default
    read = same_input(log, inputs)
    if read is not None and named is not None:
        raise UsageError(f"{log} is what the config reads; --log names a log of earlier answers")
    if read is not None:
        raise UsageError(
            f"keval run {quote(str(config_path))} would write its log to {log}, which the config reads ({read});"
            " run it with -o LOG and check it with --log LOG, or give the config another name"
        )
    if named is not None and not log.exists():
        warn(f"{log} is not there; nothing is compared with it")
    return log


def described(info: ServerInfo) -> str:
    """Return what a server turned out to be, in one line."""
    failure = server_failure(info)
    if failure is not None:
        return f"FAILED: {failure}"
    orphans = f"; orphaned processes: {', '.join(info.orphaned_processes)}" if info.orphaned_processes else ""
    stray = stray_output(info)
    noise = f"; {stray}" if stray else ""
    who = " ".join(filter(None, (info.server_name, info.version)))
    return f"connected, {who}, tools: {', '.join(info.tools or ())}{orphans}{noise}"


def _print_plan(items: Sequence[Estimate], config_path: Path, prices: Prices, *, has_answers: bool, mock: bool) -> None:
    for item in items:
        say(f"plan      {item.name}: {counted(item.number * item.calls_each, 'call')}, {_cost(item)}")
    unknown = [item.name for item in items if item.cost_usd is None]
    total = sum(item.cost_usd or 0.0 for item in items)
    without = f"; not counted, as their price is unknown: {', '.join(unknown)}" if unknown else ""
    if total:
        say(f"estimate  ${total:.2f}{' for all calls, also those made already' if has_answers else ''}{without}")
    else:
        say(
            f"estimate  unknown: {', '.join(unknown)} {'has' if len(unknown) == 1 else 'have'} no known price"
            if unknown
            else "estimate  free"
        )
    if not all(item.measured or item.cost_usd is None for item in items):
        listed = f"list prices of {prices.as_of}{' where the config gives none' if prices.own else ''}; "
        of_mock = "what the mock answers has no price; " if mock else ""
        pilot = f"run a pilot (keval run {quote(str(config_path))} --limit 2)"
        say(f"          rough: {listed}{of_mock}{pilot} and check again")


def _cost(item: Estimate) -> str:
    if item.free:
        return "free"
    if item.cost_usd is None:
        return "price unknown"
    return f"${item.cost_usd:.2f} ({'measured' if item.measured else 'assumed'})"
