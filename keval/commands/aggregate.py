"""Print means, variances and intervals per condition, judge and metric, and the differences."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from keval.commands.caveats import READ_FOR_SEVERAL, warn_of_several, warn_of_ungrouped
from keval.commands.messages import warn
from keval.commands.newest import chosen
from keval.commands.options import ALLOW_MIXED, EVERYTHING, LOGS, PASS_FROM, SEED, SKIP_INVALID
from keval.errors import UsageError
from keval.events import encode, event, new_run_id
from keval.ids import JsonObject, digest
from keval.logs.collect import check_named_not_empty, collected
from keval.logs.outputs import STDIN, check_stdout
from keval.stats.asked import Asked

if TYPE_CHECKING:
    from keval.projections.log_file import LogFile

LEVELS = {"condition": {"condition"}, "sample": {"sample"}, "all": {"condition", "sample"}}
KEY = ("level", "baseline_id", "condition_id", "agent_id", "judge_id", "metric", "sample_id", "by")
"""What makes two aggregates the same number at different times."""
_OF_GROUPS = {"by"}
"""What only some of them have, and is in the id of those alone."""


@click.command(epilog="Example: keval aggregate run.jsonl | jq 'select(.type == \"comparison\")'")
@LOGS
@click.option("--level", type=click.Choice(list(LEVELS)), default="condition", show_default=True,
              help="One event per condition, per sample, or both.")  # fmt: skip
@click.option(
    "--append", is_flag=True, help="Append the events that say something new to LOG instead of printing them."
)
@click.option("--by", metavar="FIELD", multiple=True,
              help="Add events of groups of samples, one per value of this field; a list has several.")  # fmt: skip
@click.option("--k", "ks", metavar="K,...", callback=lambda _context, _option, given: _numbers(given),
              help="The k of pass@k and pass^k; default: 1, and the number of repetitions.")  # fmt: skip
@PASS_FROM
@click.option("--ci", type=click.Choice(["default", "exact"]), default="default", show_default=True,
              help="The interval of a pass rate: Wilson's, or that of Clopper and Pearson.")  # fmt: skip
@click.option("--bootstrap", is_flag=True, help="A second interval by resampling, where there are 20 samples or more.")
@click.option("--seed", type=SEED, default=0, show_default=True, help="The seed of the resampling.")
@click.option(
    "--friedman",
    is_flag=True,
    help="Beside each comparison, whether any of three conditions or more differs, by ranks.",
)
@EVERYTHING
@ALLOW_MIXED
@SKIP_INVALID
def command(
    logs: tuple[Path, ...],
    level: str,
    append: bool,
    by: tuple[str, ...],
    ks: tuple[int, ...],
    pass_from: Mapping[str, float],
    ci: str,
    bootstrap: bool,
    seed: int,
    friedman: bool,
    everything: bool,
    allow_mixed: bool,
    skip_invalid: bool,
) -> None:
    """Print `aggregate` and `comparison` events computed from logs.

    Without LOG, or with -, reads stdin and passes its events through first; where nothing is piped
    in, reads the newest log of this folder.
    """
    asked = Asked(
        full=True, ks=ks, exact=ci == "exact", bootstrap=bootstrap, seed=seed, friedman=friedman,
        by=tuple(dict.fromkeys(by)),
    )  # fmt: skip
    if append and (len(logs) != 1 or logs[0] == STDIN):
        raise UsageError("--append takes one LOG to append to")
    logs = tuple(chosen(logs))
    if not append:
        check_stdout(logs or [STDIN], "--append appends to a LOG")
    with collected(logs, warn, skip_invalid=skip_invalid, on_lines=_pass_on) as files:
        check_named_not_empty(logs, files)
        run_id = new_run_id()
        events = list(
            _events(
                files, level, run_id, asked, pass_from,
                everything=everything, only_new=append, allow_mixed=allow_mixed,
            )
        )  # fmt: skip
    if append:
        from keval.execution.appending import append_all
        from keval.preparation.bare_run import bare_run_event

        append_all(logs[0], ("aggregate",), bare_run_event("aggregate", run_id), events, warn)
        if not events:
            warn(f"{logs[0]} holds these numbers already; nothing was appended")
    else:
        sys.stdout.buffer.writelines(map(encode, events))
    sys.stdout.flush()


def _pass_on(lines: bytes) -> None:
    sys.stdout.buffer.write(lines)


def _numbers(written: str | None) -> tuple[int, ...]:
    try:
        found = sorted({int(each) for each in (written or "").split(",") if each.strip()})
    except ValueError:
        found = [0]
    if any(k < 1 for k in found):
        raise click.BadParameter(f"{written!r} is not numbers from 1, such as 1,3,5")
    return tuple(found)


def _events(
    logs: Sequence[LogFile],
    level: str,
    run_id: str,
    asked: Asked,
    pass_from: Mapping[str, float],
    *,
    everything: bool,
    only_new: bool,
    allow_mixed: bool,
) -> Iterator[JsonObject]:
    from keval import projections
    from keval.reports import mixed_answers
    from keval.reports.verdicts import verdicts
    from keval.stats.aggregates import READ, aggregate, saved

    needed = (
        projections.ALL
        if asked.by or pass_from or level != "condition"
        else (*READ, *mixed_answers.READ, *READ_FOR_SEVERAL)
    )
    with projections.connect(
        logs, everything=everything, texts=bool(asked.by), tools=False, asked=needed
    ) as connection:
        for sentence in mixed_answers.refuse_mixed(connection, allow=allow_mixed):
            warn(sentence)
        warn_of_several(connection)
        if pass_from:
            asked = replace(asked, verdicts=verdicts(connection, pass_from))
        if asked.by:
            warn_of_ungrouped(connection, asked.by)
        known = {each["id"]: _said(each) for each in saved(connection, logs)} if only_new else {}
        for body in aggregate(connection, levels=LEVELS[level], asked=asked):
            made = _with_envelope(body, run_id)
            if known.get(made["id"]) != _said(made):
                yield made


def _said(event: JsonObject) -> JsonObject:
    """Return what an event says, without when and by which run it was made."""
    return {name: value for name, value in event.items() if name not in {"time", "run_id"}}


def _with_envelope(body: Mapping[str, Any], run_id: str) -> JsonObject:
    kind = str(body["type"])
    fields = {name: value for name, value in body.items() if name != "type"}
    return event(
        kind, digest(kind, [body.get(name) for name in KEY if name in body or name not in _OF_GROUPS]), run_id, **fields
    )
