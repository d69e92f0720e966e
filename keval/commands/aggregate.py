"""Print means, variances and intervals per condition, judge and metric, and the differences."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from keval.commands.messages import warn
from keval.commands.options import EVERYTHING, LOGS, SKIP_INVALID
from keval.errors import UsageError
from keval.events import encode, event, new_run_id
from keval.execution.appending import append_all
from keval.execution.run_events import bare_run_event
from keval.ids import JsonObject, digest
from keval.logs.collect import collected
from keval.logs.outputs import STDIN, check_stdout
from keval.logs.stream import Line

if TYPE_CHECKING:
    from keval.projections.log_file import LogFile

LEVELS = {"condition": {"condition"}, "sample": {"sample"}, "all": {"condition", "sample"}}
KEY = ("level", "baseline_id", "condition_id", "agent_id", "judge_id", "metric", "sample_id")
"""What makes two aggregates the same number at different times."""


@click.command(epilog="Example: keval aggregate run.jsonl | jq 'select(.type == \"comparison\")'")
@LOGS
@click.option("--level", type=click.Choice(list(LEVELS)), default="condition", show_default=True,
              help="One event per condition, per sample, or both.")  # fmt: skip
@click.option("--append", is_flag=True, help="Append the events to LOG instead of printing them.")
@EVERYTHING
@SKIP_INVALID
def command(logs: tuple[Path, ...], level: str, append: bool, everything: bool, skip_invalid: bool) -> None:
    """Print `aggregate` and `comparison` events computed from logs.

    Without LOG, or with -, reads stdin and passes its events through first.
    """
    if append and (len(logs) != 1 or logs[0] == STDIN):
        raise UsageError("--append takes one LOG to append to")
    if not append:
        check_stdout(logs or [STDIN], "--append appends to a LOG")
    with collected(logs, warn, skip_invalid=skip_invalid, on_line=_pass_on) as files:
        events = list(_events(files, level, run_id := new_run_id(), everything=everything))
    if append:
        append_all(logs[0], ("aggregate",), bare_run_event("aggregate", run_id), events, warn)
    else:
        sys.stdout.buffer.writelines(map(encode, events))
    sys.stdout.flush()


def _pass_on(line: Line) -> None:
    sys.stdout.buffer.write(line.raw)


def _events(logs: Sequence[LogFile], level: str, run_id: str, *, everything: bool) -> Iterator[JsonObject]:
    from keval import projections
    from keval.stats.aggregates import aggregate

    with projections.connect(logs, everything=everything) as connection:
        for body in aggregate(connection, levels=LEVELS[level]):
            yield _with_envelope(body, run_id)


def _with_envelope(body: Mapping[str, Any], run_id: str) -> JsonObject:
    kind = str(body["type"])
    fields = {name: value for name, value in body.items() if name != "type"}
    return event(kind, digest(kind, [body.get(name) for name in KEY]), run_id, **fields)
