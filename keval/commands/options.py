"""Command-line options that several commands share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import click

from keval.errors import UsageError

Command = TypeVar("Command", bound=Callable[..., object])

CONFIG = click.argument("config_path", metavar="CONFIG", type=click.Path(path_type=Path))
LOGS = click.argument("logs", metavar="[LOG]...", nargs=-1, type=click.Path(path_type=Path, allow_dash=True))
OUTPUT = click.option("-o", "--output", metavar="LOG", type=click.Path(path_type=Path), help="Append to this log.")
QUIET = click.option("-q", "--quiet", is_flag=True, help="No progress on stderr.")
EVERYTHING = click.option(
    "--all", "everything", is_flag=True, help="Take what answers a current question, even if the newest plan lacks it."
)
SKIP_INVALID = click.option(
    "--skip-invalid", is_flag=True, help="Leave out lines that are not valid events, and name them."
)
LIMIT = click.option(
    "--limit", type=click.IntRange(min=1), metavar="N", help="Only the first N samples of the dataset."
)
RETRY_FAILED = click.option(
    "--retry-failed/--no-retry-failed",
    default=True,
    show_default=True,
    help="Try again what failed in earlier runs; what a gate refused only with retry_gates.",
)
FRESH = click.option("--fresh", is_flag=True, help="Ask for every response again; LOG keeps the old ones too.")


def mock_options(command: Command) -> Command:
    """Add --mock and its companions to a command."""
    for option in (
        click.option("--mock-errors", metavar="SPEC", help="Errors the mock makes, such as 429:0.1,529:0.05,cut:0.02."),
        click.option("--mock-latency-ms", metavar="MS", type=click.IntRange(min=0), help="How long the mock thinks."),
        click.option("--mock", is_flag=True, help="Let a loopback stand-in answer instead of the paid service."),
    ):
        command = option(command)
    return command


@contextmanager
def mock_service(mock: bool, latency_ms: int | None, errors: str | None) -> Iterator[str | None]:
    """Run the mock while entered and yield its address; None without --mock."""
    if not mock:
        if latency_ms is not None or errors is not None:
            raise UsageError("--mock-latency-ms and --mock-errors go with --mock")
        yield None
        return
    from keval.mock import Mock

    with Mock(latency_ms=latency_ms or 0, errors=errors or "", keep=0) as service:
        yield service.base_url
