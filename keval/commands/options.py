"""Command-line options that several commands share."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from keval.commands.named_logs import matching, paths_of
from keval.errors import InputError, UsageError
from keval.json_text import LARGEST_SIGNED_INT
from keval.logs import addresses
from keval.readable import written_number

if TYPE_CHECKING:
    from keval.preparation.request import Request

Command = TypeVar("Command", bound=Callable[..., object])

RequestContext = AbstractContextManager["Request"]
"""What a command gets of `requesting`: it yields the request while it is entered, and the mock runs."""


class _LocalPath(click.Path):
    """A path of this machine: what looks like an address of an object store or a web server would be another file."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401 - as click types it
        """Return the path. Raises UsageError for an address."""
        if isinstance(value, str) and addresses.scheme_of(value) is not None and not os.path.lexists(value):
            raise UsageError(
                f"{addresses.shown(value)}: only a file of this machine is taken here; docs/storage.md says which "
                "commands read addresses, and `keval push` copies a log to one"
            )
        return super().convert(value, param, ctx)


class _InputFile(_LocalPath):
    """A file that a command reads; one that is not there is as wrong as a log that is not there."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401 - as click types it
        """Return the path. Raises InputError where there is no file."""
        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        if not os.path.exists(path) or os.path.isdir(path):  # noqa: PTH110, PTH112 - a Path raises what it is refused
            raise InputError(f"{path}: {'is a folder' if path.is_dir() else 'No such file or directory'}")
        return path


PATH = _LocalPath(path_type=Path, readable=False)
"""A file or a folder; whoever reads it says why it cannot be read."""
PATH_OR_STDIN = _LocalPath(path_type=Path, readable=False, allow_dash=True)
INPUT_FILE = _InputFile(path_type=Path, readable=False)


def matching_files(_context: click.Context, _argument: click.Parameter, names: Sequence[Path]) -> tuple[Path, ...]:
    """Return the files that the names on a command line mean, of which some may be patterns. Raises InputError."""
    return tuple(matching(names))


CONFIG = click.argument("config_path", metavar="CONFIG", type=PATH)
LOGS = click.argument(
    "logs", metavar="[LOG]...", nargs=-1, callback=lambda _context, _argument, names: tuple(paths_of(names))
)


def _to_append_to(_context: click.Context, _argument: click.Parameter, log: Path) -> Path:
    """Return a log that exists as a file. Raises UsageError, InputError."""
    if str(log) == "-":
        raise UsageError("what is said of a log is appended to it, so it has to be a file, not -")
    if not log.is_file():
        raise InputError(f"{log}: {'is a folder' if log.is_dir() else 'No such file or directory'}")
    return log


APPENDED_LOG = click.argument("log", metavar="LOG", type=PATH, callback=_to_append_to)
OUTPUT = click.option("-o", "--output", metavar="LOG", type=PATH, help="Append to this log.")
QUIET = click.option("-q", "--quiet", is_flag=True, help="No progress on stderr.")


class FiniteRange(click.FloatRange):
    """A range of numbers that has neither `nan`, which is in no range, nor infinity."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401 - as click types it
        """Return the number, or tell what is wrong with it."""
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a finite number", param, ctx)
        return number


SEED = click.IntRange(0, LARGEST_SIGNED_INT)
"""The seed of a random number generator: a number that an event can hold."""

UNTIL_OPTIONS = (
    click.option("--until", type=click.Choice(["decided", "complete"]),
                 help="Stop when every primary comparison is decided, or ask all whatever config and log say."),
    click.option("--margin", type=FiniteRange(min=0, min_open=True), metavar="SCORE",
                 help="With --until: the smallest difference that matters; without one no equality is concluded."),
    click.option("--alpha", type=FiniteRange(0.0001, 0.5), metavar="SHARE",
                 help="With --until: how often any conclusion may be false (0.05)."),
    click.option("--early-share", type=FiniteRange(0, 1, min_open=True), metavar="SHARE",
                 help="With --until: the part of alpha that pays for stopping early (0.5)."),
    click.option("--min-samples", type=click.IntRange(min=1), metavar="N",
                 help="With --until: conclude nothing before so many samples (10)."),
)  # fmt: skip
"""When a run is to stop."""
EVERYTHING = click.option(
    "--all",
    "everything",
    is_flag=True,
    help="Also count answers and judges that the newest run no longer has, such as what --limit left out.",
)
ALLOW_MIXED = click.option(
    "--allow-mixed", is_flag=True, help="Pool answers of several models, or versions of Claude Code; the report warns."
)
SKIP_INVALID = click.option(
    "--skip-invalid", is_flag=True, help="Leave out lines that are not valid events, and name them."
)
LIMIT = click.option(
    "--limit", type=click.IntRange(min=1), metavar="N", help="Plan only the first N samples of each dataset."
)
CHOSEN_SAMPLES = click.option(
    "--sample", "samples", metavar="ID", multiple=True,
    help="Only samples whose id is this name, or matches a pattern such as 'law-*'; may be repeated.",
)  # fmt: skip
CHOSEN_CONDITIONS = click.option(
    "--condition", "conditions", metavar="NAME", multiple=True,
    help="Only this condition, or those that a pattern means; may be repeated.",
)  # fmt: skip
SHARD = click.option(
    "--shard", metavar="I/N",
    help="Only the I-th of N parts of the samples: one command per machine; cat merges their logs.",
)  # fmt: skip
RETRY_FAILED = click.option(
    "--retry-failed/--no-retry-failed",
    default=True,
    show_default=True,
    help="Try again what failed in earlier runs; what a gate refused only with retry_gates.",
)
PASS_FROM = click.option(
    "--pass-from", "pass_from", metavar="[JUDGE/]METRIC=SCORE", multiple=True,
    callback=lambda _context, _option, given: dict(map(_threshold, given)),
    help="The lowest score of a metric that passes, whatever the judge says; may be repeated.",
)  # fmt: skip
SAMPLE_RATE = click.option(
    "--sample-rate", type=FiniteRange(min=0, min_open=True, max=1), metavar="SHARE",
    help="Judge this share of all tasks, the same ones in every condition and after a resume.",
)  # fmt: skip
MAX_CONCURRENT = click.option(
    "--max-concurrent", type=click.IntRange(min=1), metavar="N", help="Judgments at once (the config's, else 5)."
)
BATCH = click.option("--batch", is_flag=True, help="Let models answer in batches, at half the price.")
DETACH = click.option(
    "--detach", is_flag=True, help="With --batch: submit and leave; the same command collects what has ended."
)
EXECUTOR = click.option(
    "--executor", type=click.Choice(["process", "ray"]), default="process", show_default=True,
    help="Who does the work: this process, or workers on a Ray cluster.",
)  # fmt: skip
ADDRESS = click.option(
    "--address", metavar="ADDRESS", envvar="RAY_ADDRESS",
    help="With --executor ray: the cluster's address, or auto for the one that this machine belongs to; without one, "
    "Ray is started on this machine.",
)  # fmt: skip
FRESH = click.option("--fresh", is_flag=True, help="Ask for every response again; LOG keeps the old ones too.")

REQUEST_FIELDS = {
    name: name
    for name in (
        "limit",
        "retry_failed",
        "fresh",
        "max_concurrent",
        "sample_rate",
        "skip_invalid",
        "quiet",
        "batch",
        "detach",
    )
} | {"everything": "judge_all"}
"""The fields of a `Request` by the names of the options that say them."""


def _cluster(executor: str, address: str | None) -> str | None:
    """Return the address of the cluster that does the work, None for this process. Raises UsageError."""
    if executor == "ray":
        return address or "local"
    context = click.get_current_context()
    if context.get_parameter_source("address") is click.core.ParameterSource.COMMANDLINE:
        raise UsageError("--address goes with --executor ray")
    return None


def _threshold(written: str) -> tuple[str, float]:
    metric, found, score = written.rpartition("=")
    number = written_number(score)
    if not metric or not found or number is None or not math.isfinite(number):
        raise click.BadParameter(f"{written!r} is not a metric and a score, such as completeness=4")
    return metric, number


def requesting(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """Add options that become a `Request`, then those of the mock and --quiet, to a command.

    The command gets them as `asked`, a `RequestContext`.
    """

    def decorated(command: Command) -> Command:
        @wraps(command)
        def with_request(*arguments: object, **given: Any) -> object:  # noqa: ANN401 - whatever click reads
            mock = [given.pop(name) for name in ("mock", "mock_latency_ms", "mock_errors")]
            wanted = {field: given.pop(name) for name, field in REQUEST_FIELDS.items() if name in given}
            wanted["cluster"] = _cluster(given.pop("executor", "process"), given.pop("address", None))
            chosen: dict[str, Any] = {
                name: given.pop(name) for name in ("samples", "conditions", "shard") if name in given
            }
            return command(*arguments, asked=_asked(mock, chosen, wanted), **given)

        for option in (QUIET, _mock_options, *reversed(options)):
            with_request = option(with_request)
        return cast("Command", with_request)

    return decorated


def until_options(command: Command) -> Command:
    """Add the options that say when a run is to stop; the command gets them as `given`."""

    @wraps(command)
    def with_given(*arguments: object, **options: Any) -> object:  # noqa: ANN401 - whatever click reads
        from keval.config.until_section import Given

        names = ("until", "margin", "alpha", "early_share", "min_samples")
        return command(*arguments, given=Given(**{name: options.pop(name) for name in names}), **options)

    for option in reversed(UNTIL_OPTIONS):
        with_given = option(with_given)
    return cast("Command", with_given)


@contextmanager
def _asked(mock: Sequence[Any], chosen: Mapping[str, Any], wanted: Mapping[str, Any]) -> Iterator[Request]:
    from keval.preparation.chosen import Chosen, Shard
    from keval.preparation.request import Request

    if wanted.get("detach") and (mock[0] or not wanted.get("batch")):
        raise UsageError("--detach goes with --batch, and without --mock: the mock ends with this command")
    if wanted.get("batch") and wanted.get("cluster"):
        raise UsageError("--batch leaves the work to a service, --executor ray to a cluster: choose one")
    part = chosen.get("shard")
    named = Chosen(**{**chosen, "shard": Shard() if part is None else Shard.read(part)})
    with mock_service(*mock) as mock_url:
        yield Request(mock_url=mock_url, chosen=named, **wanted)


def _mock_options(command: Command) -> Command:
    """Add --mock and its companions to a command."""
    for option in (
        click.option("--mock-errors", metavar="SPEC", help="Errors the mock makes, such as 429:0.1,529:0.05,cut:0.02."),
        click.option("--mock-latency-ms", metavar="MS", type=click.IntRange(min=0), help="How long the mock thinks."),
        click.option("--mock", is_flag=True, help="Let a loopback stand-in answer instead of the paid service."),
    ):
        command = option(command)
    return command


def drawing_options(command: Command) -> Command:
    """Add what says which verdicts people are asked about to a command."""
    for option in (
        click.option("--seed", type=SEED, default=0, show_default=True, help="The seed of the draw."),
        click.option("--scores", is_flag=True,
                     help="Draw answers at random, and ask for a score by each metric instead of a verdict."),
        click.option("--by", metavar="FIELD", multiple=True, help="Divide by a field of the sample, too."),
        click.option("--metric", "metrics", metavar="[JUDGE/]METRIC", multiple=True,
                     help="Ask about this metric; may be repeated (default: all)."),
        click.option("--include-passes", "passes", is_flag=True, help="Draw as many passes as failures."),
        click.option("-n", "--n", "--number", "number", type=click.IntRange(min=1), default=10, show_default=True,
                     metavar="N", help="How many failures, or with --scores answers, to draw."),
    ):  # fmt: skip
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
