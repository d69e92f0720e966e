"""Show people what a log says: conditions side by side, failures and costs included."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from keval import plugins
from keval.commands.messages import warn
from keval.commands.options import EVERYTHING, LOGS, SKIP_INVALID
from keval.logs.collect import collected
from keval.logs.outputs import STDIN, check_output, replaced

if TYPE_CHECKING:
    from keval.exports import Export
    from keval.projections.log_file import LogFile


@click.command(epilog="Example: keval report run.jsonl -f markdown -o report.md")
@LOGS
@click.option("-f", "--format", "export_name", metavar="FORMAT", default="text", show_default=True,
              help="text, markdown, json, csv, or another that `keval plugins` lists.")  # fmt: skip
@click.option("-o", "--output", metavar="FILE", type=click.Path(path_type=Path), help="Write to FILE, not to stdout.")
@EVERYTHING
@SKIP_INVALID
def command(
    logs: tuple[Path, ...], export_name: str, output: Path | None, everything: bool, skip_invalid: bool
) -> None:
    """Show people what a log says.

    Reads logs, or stdin. The numbers are computed from the events that the newest plan of a config
    asks for, or with --all from all that are current; where the input holds only `aggregate` and
    `comparison` events, those are shown.
    """
    export = _export(export_name, output)
    if output is not None:
        check_output(output, logs or [STDIN], export.is_own)
    with collected(logs, warn, skip_invalid=skip_invalid) as files:
        rendered = _rendered(files, export, everything=everything)
    if output is None:
        _print(rendered)
        return
    with replaced(output, logs or [STDIN], export.is_own) as temporary:
        temporary.write_bytes(rendered)


def show(logs: Sequence[LogFile], export_name: str, *, everything: bool) -> None:
    """Print the report of files with valid events."""
    _print(_rendered(logs, _export(export_name, None), everything=everything))


def _export(name: str, output: Path | None) -> Export:
    from keval.exports import Export

    made: Export = plugins.load("export", Export, name)(**_for_terminal(name, output))
    return made


def _rendered(logs: Sequence[LogFile], export: Export, *, everything: bool) -> bytes:
    from keval import projections
    from keval.reports import builder

    with projections.connect(logs, everything=everything) as connection:
        return export.render(builder.compose(connection, logs, builder.saved_aggregates(logs)))


def _print(rendered: bytes) -> None:
    sys.stdout.buffer.write(rendered)
    sys.stdout.flush()


def _for_terminal(export_name: str, output: Path | None) -> dict[str, Any]:
    """Return the options that make the text report fit the terminal it is shown on."""
    if export_name != "text" or output is not None or not sys.stdout.isatty():
        return {}
    import shutil

    return {"width": shutil.get_terminal_size().columns, "color": True}
