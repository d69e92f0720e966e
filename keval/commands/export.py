"""Write a log into files for other tools: Parquet, Every Eval Ever, OpenTelemetry."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from errno import EEXIST
from pathlib import Path
from typing import TYPE_CHECKING

import click

from keval import __version__, plugins, projections
from keval.commands.messages import say, warn
from keval.commands.newest import chosen
from keval.commands.options import ALLOW_MIXED, EVERYTHING, LOGS, PATH, SKIP_INVALID
from keval.commands.report_format import FORMAT_OPTION, with_options
from keval.errors import EnvironmentLacksError, UsageError
from keval.logs.collect import check_not_empty, collected
from keval.processes import temporary

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from keval.formats import Format
    from keval.projections.log_file import LogFile

FILES = "files"
"""What the folder is called in which files are written before they come to where they belong."""


@click.command(epilog="Example: keval export run.jsonl -f parquet -o run.parquet.d")
@LOGS
@click.option("-f", "--format", "name", metavar="FORMAT", required=True,
              help="parquet, every_eval_ever, evaluation_json, or another that `keval plugins` lists.")  # fmt: skip
@FORMAT_OPTION
@click.option("-o", "--output", "folder", metavar="FOLDER", type=PATH, required=True,
              help="Write into this folder, which is new or empty.")  # fmt: skip
@EVERYTHING
@ALLOW_MIXED
@SKIP_INVALID
def command(
    logs: tuple[Path, ...],
    name: str,
    options: tuple[str, ...],
    folder: Path,
    everything: bool,
    allow_mixed: bool,
    skip_invalid: bool,
) -> None:
    """Write a log into files for other tools.

    Reads logs, or stdin; where nothing is piped in, the newest log of this folder. The files are
    written together: FOLDER has all of them, or none. Their names are printed.
    """
    from keval.formats import Format, part_of_path
    from keval.logs.evaluations import evaluations
    from keval.reports import builder

    if name in plugins.find("export"):
        raise UsageError(f"{name!r} is a format of a report; `keval report -f {name}` writes it")
    made = with_options(plugins.load("format", Format, name), name, options)
    with collected(chosen(logs), warn, skip_invalid=skip_invalid) as files, filled(folder) as temporary:
        check_not_empty(files)
        with projections.connect(files, everything=everything) as connection:
            names = builder.evaluation_names(connection)
            if len(names) <= 1:
                written = _written(made, connection, files, temporary, allow_mixed=allow_mixed)
        if len(names) > 1:
            written = []
            with evaluations(files, names) as parts:
                for evaluation, part in zip(names, parts, strict=True):
                    place = temporary / part_of_path(evaluation)
                    with projections.connect(part, everything=everything) as connection:
                        written += _written(made, connection, part, place, allow_mixed=allow_mixed)
    for path in written:
        say(str(folder / path.relative_to(temporary)))


def _written(
    made: Format, connection: DuckDBPyConnection, logs: Sequence[LogFile], folder: Path, *, allow_mixed: bool
) -> list[Path]:
    """Write one evaluation."""
    from keval.formats import Source
    from keval.reports import builder, mixed_answers

    mixed_answers.refuse_mixed(connection, allow=allow_mixed)
    report = builder.compose(connection, builder.saved_aggregates(connection, logs), logs=logs)
    folder.mkdir(exist_ok=True)
    return list(made.write(Source(connection, report, __version__), folder))


@contextmanager
def filled(folder: Path) -> Iterator[Path]:
    """Give a folder whose files are in another one when all is written.

    Raises UsageError for one that has files, and EnvironmentLacksError where it cannot be written.
    """
    is_there = folder.exists()
    if is_there and (not folder.is_dir() or _has_files(folder)):
        raise UsageError(f"{folder} has files in it, or is one; name a folder that is new or empty")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        # Within a folder that is there: it may be one that nothing takes the place of, such as a mount point.
        beside, remove = temporary.beside(folder / FILES if is_there else folder)
        try:
            made = beside / FILES
            made.mkdir()
            yield made
            if is_there:
                _move_in(sorted(made.iterdir()), folder)
            else:
                made.rename(folder)
        finally:
            remove()
    except OSError as error:
        raise EnvironmentLacksError(f"{folder}: {error.strerror or error}; nothing was written there") from error


def _has_files(folder: Path) -> bool:
    """Return whether there is anything in a folder but what a killed export left, which the next one removes."""
    return any(not each.name.startswith(f"{FILES}.{temporary.PREFIX}") for each in folder.iterdir())


def _move_in(files: Sequence[Path], folder: Path) -> None:
    """Move files and folders into a folder, all or none. Raises OSError."""
    moved: list[tuple[Path, Path]] = []
    try:
        for path in files:
            target = folder / path.name
            _move(path, target)
            moved.append((target, path))
    except BaseException:
        for target, path in moved:
            target.rename(path)
        raise


def _move(path: Path, target: Path) -> None:
    """Move a file or a folder to where nothing is. Raises OSError."""
    if os.path.lexists(target):
        raise FileExistsError(EEXIST, os.strerror(EEXIST), str(target))
    path.rename(target)
