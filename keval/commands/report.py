"""Show people what a log says: conditions side by side, failures and costs included."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from keval import plugins
from keval.collect import collected
from keval.errors import EnvironmentLacksError
from keval.options import LOGS, SKIP_INVALID, warn


@click.command(epilog="Example: keval report run.jsonl -f markdown -o report.md")
@LOGS
@click.option("-f", "--format", "export_name", metavar="FORMAT", default="text", show_default=True,
              help="text, markdown, json, csv, or another that `keval plugins` lists.")  # fmt: skip
@click.option("-o", "--output", metavar="FILE", type=click.Path(path_type=Path), help="Write to FILE, not to stdout.")
@SKIP_INVALID
def command(logs: tuple[Path, ...], export_name: str, output: Path | None, skip_invalid: bool) -> None:
    """Show people what a log says.

    Reads logs, or stdin. The numbers are computed from the events; where the input holds only
    `aggregate` and `comparison` events, those are shown.
    """
    with collected(logs, warn, skip_invalid=skip_invalid) as paths:
        write(paths, export_name, output)


def write(paths: list[Path], export_name: str, output: Path | None) -> None:
    """Write the report of files with valid events to a file or to stdout."""
    from keval import compose, projections
    from keval.exports import Export

    export = plugins.load("export", Export, export_name)(**_for_terminal(export_name, output))
    with projections.connect(paths) as connection:
        rendered = export.render(compose.compose(connection, paths, compose.saved_aggregates(paths)))
    if output is None:
        sys.stdout.buffer.write(rendered)
        sys.stdout.flush()
        return
    try:
        output.write_bytes(rendered)
    except OSError as error:
        raise EnvironmentLacksError(f"{output}: {error.strerror}") from error


def _for_terminal(export_name: str, output: Path | None) -> dict[str, Any]:
    """Return the options that make the text report fit the terminal it is shown on."""
    if export_name != "text" or output is not None or not sys.stdout.isatty():
        return {}
    import shutil

    return {"width": shutil.get_terminal_size().columns, "color": True}
