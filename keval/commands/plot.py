"""Draw a log as a picture for papers and slides: PNG, SVG or PDF."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from keval.commands.messages import say, warn
from keval.commands.newest import chosen
from keval.commands.options import ALLOW_MIXED, EVERYTHING, LOGS, PATH, SKIP_INVALID
from keval.commands.report import reports, with_details
from keval.errors import UsageError
from keval.logs.collect import check_named_not_empty, collected
from keval.logs.outputs import STDIN, check_no_input, check_output, replaced
from keval.plots.kinds import KINDS, drawn

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from keval.commands.report import Adding
    from keval.projections.log_file import LogFile
    from keval.reports.metric_tables import MetricTable
    from keval.reports.model import Report


@click.command(epilog="Example: keval plot run.jsonl --kind forest -o forest.svg")
@LOGS
@click.option("-k", "--kind", type=click.Choice(KINDS), required=True,
              help=f"{'; '.join(f'{name}: {kind.about}' for name, kind in KINDS.items())}.")  # fmt: skip
@click.option("-o", "--output", metavar="FILE", type=PATH, required=True,
              help="Write to FILE, which ends in .png, .svg or .pdf.")  # fmt: skip
@click.option("--metric", "metrics", metavar="[JUDGE/]METRIC", multiple=True,
              help="Draw this metric; may be repeated (default: all).")  # fmt: skip
@EVERYTHING
@ALLOW_MIXED
@SKIP_INVALID
def command(
    logs: tuple[Path, ...],
    kind: str,
    output: Path,
    metrics: tuple[str, ...],
    everything: bool,
    allow_mixed: bool,
    skip_invalid: bool,
) -> None:
    """Draw a log as a picture for papers and slides.

    Reads logs, or stdin; where nothing is piped in, the newest log of this folder. The numbers and
    marks are those of `keval report -f html`. Of several evaluations each has its own file, named
    after FILE and the evaluation; the names of these files are printed. Needs Matplotlib:
    pip install 'keval[plots]'.
    """
    from keval.plots.picture import check_library, is_own

    read = chosen(logs)
    ending = _ending(output)
    check_no_input(output, read or [STDIN])
    check_library()
    check_output(output, read or [STDIN], lambda head: is_own(head, ending))
    with collected(read, warn, skip_invalid=skip_invalid) as files:
        check_named_not_empty(read, files)
        chosen_metrics = _ChosenMetrics(metrics, with_details if KINDS[kind].of_samples else None)
        found = reports(files, chosen_metrics, everything=everything, allow_mixed=allow_mixed)
        chosen_metrics.check()
        found = [report for report in found if report.metrics or not metrics]
        pictures = [drawn(report, kind, ending) for report in found]
    named = [output] if len(found) == 1 else paths(output, [report.header.name or "" for report in found])
    _write([(path, picture.content) for path, picture in zip(named, pictures, strict=True)], read, ending)
    lacking = sorted(set().union(*(picture.lacking for picture in pictures)))
    if lacking and ending != "svg":
        warn(f"the font lacks {len(lacking)} of the characters, such as {lacking[0]}; an .svg keeps them as text")


@dataclass
class _ChosenMetrics:
    """Leaves in a report the metrics that are wanted, all if none is named; and adds to it what is shown of these."""

    wanted: Sequence[str]
    adding: Adding | None
    _tables: list[MetricTable] = field(default_factory=list)
    """All metrics of all reports."""

    def __call__(self, report: Report, connection: DuckDBPyConnection, logs: Sequence[LogFile]) -> Report:
        self._tables.extend(report.metrics)
        if self.wanted:
            left = tuple(table for table in report.metrics if not set(self.wanted).isdisjoint(table.names))
            report = replace(report, metrics=left)
        return report if self.adding is None else self.adding(report, connection, logs)

    def check(self) -> None:
        """Raise UsageError for a metric that no report has."""
        from keval.reports.chosen_metrics import check_chosen

        check_chosen(self.wanted, ((table.metric, table.judge, table.judge_id) for table in self._tables))


def _ending(output: Path) -> str:
    """Return what a picture is to be, by the ending of its file. Raises UsageError."""
    from keval.plots.picture import ENDINGS

    ending = output.suffix.removeprefix(".").lower()
    if ending not in ENDINGS:
        raise UsageError(f"{output}: a plot is a file that ends in {', '.join(f'.{each}' for each in ENDINGS)}")
    return ending


def paths(output: Path, names: Sequence[str]) -> list[Path]:
    """Return a file for each evaluation; names that come to the same are numbered."""
    from keval.formats import part_of_path

    parts = list(map(part_of_path, names))
    found = []
    for place, part in enumerate(parts):
        number = f"-{parts[:place].count(part) + 1}" if parts.count(part) > 1 else ""
        found.append(output.with_name(f"{output.stem}-{part}{number}{output.suffix}"))
    return found


def _write(pictures: Sequence[tuple[Path, bytes]], logs: Sequence[Path], ending: str) -> None:
    """Write all pictures, or where one may not be written none."""
    from keval.plots.picture import is_own

    with ExitStack() as written:
        for path, content in pictures:
            temporary = written.enter_context(replaced(path, logs or [STDIN], lambda head: is_own(head, ending)))
            temporary.write_bytes(content)
    if len(pictures) > 1:
        for path, _ in pictures:
            say(str(path))
