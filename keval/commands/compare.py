"""Compare conditions of several logs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from shlex import quote

import click

from keval.commands.messages import warn
from keval.commands.options import ALLOW_MIXED, EVERYTHING, PASS_FROM, PATH, SKIP_INVALID, matching_files
from keval.commands.report import write
from keval.commands.report_format import export, format_options
from keval.errors import UsageError
from keval.logs.collect import check_not_empty, collected
from keval.logs.outputs import check_output


@click.command(epilog="Example: keval compare before.jsonl after.jsonl")
@click.argument("logs", metavar="LOG LOG...", nargs=-1, required=True, type=PATH, callback=matching_files)
@click.option("--condition", "same", metavar="A=B", multiple=True,
              help="Compare condition A of a log with condition B of a later one; may be repeated.")  # fmt: skip
@format_options
@click.option("--strategy", type=click.Choice(["weighted", "trials"]),
              help="Add house scores: one number of quality, latency and tool errors, or of trials.")  # fmt: skip
@PASS_FROM
@EVERYTHING
@ALLOW_MIXED
@SKIP_INVALID
def command(
    logs: tuple[Path, ...],
    same: tuple[str, ...],
    export_name: str | None,
    options: tuple[str, ...],
    output: Path | None,
    strategy: str | None,
    pass_from: Mapping[str, float],
    everything: bool,
    allow_mixed: bool,
    skip_invalid: bool,
) -> None:
    """Compare conditions of several logs.

    Conditions of one name are compared, sample by sample, by the rules of `keval report`; the log
    named first is the baseline, and of more than two logs each is compared with those named before it.
    Logs that no judge has scored alike, that asked other questions under the same ids, of which one
    is a rehearsal, or that has answers of several agents under one condition, are refused. Where
    the logs' agents differ, the report says so.
    """
    if len(logs) < 2:  # noqa: PLR2004 - one log is compared by `report`
        raise UsageError("compare takes two logs or more; keval report LOG compares the conditions of one")
    written = list(map(_pair, same))
    made = export(export_name, options, output)
    if output is not None:
        check_output(output, logs, made.is_own)  # before the logs are read, which takes minutes if they are large
    with collected(logs, warn, skip_invalid=skip_invalid) as files:
        from keval.compare.compared_logs import compare

        for file in files:
            check_not_empty([file])
        if not written:  # else conditions of one log may be compared with each other
            _warn_of_twice(logs)
        found = compare(
            files, written, everything=everything, allow_mixed=allow_mixed, strategy=strategy, pass_from=pass_from
        )
    write(found, made, output, logs)


def _warn_of_twice(logs: Sequence[Path]) -> None:
    """Tell people of a log that is named again: it cannot differ from itself."""
    seen: set[Path] = set()
    for log in filter(Path.is_file, logs):
        if log.resolve() in seen:
            warn(
                f"{log} is named twice, and no log differs from itself; `keval report {quote(str(log))}` compares its"
                " conditions"
            )
        seen.add(log.resolve())


def _pair(written: str) -> tuple[str, str]:
    one, equals, other = written.partition("=")
    if not (one and equals and other):
        raise UsageError(f"--condition {written!r}: write A=B, two names of conditions")
    return one, other
