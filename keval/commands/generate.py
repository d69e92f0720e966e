"""Ask the agent for every response that is still missing."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from pathlib import Path

import click

from keval.commands.messages import warn
from keval.commands.options import CONFIG, OUTPUT, QUIET, SKIP_INVALID, mock_options, mock_service
from keval.config.model import Config
from keval.config.reader import load
from keval.errors import UsageError
from keval.events import new_run_id
from keval.execution import interrupt
from keval.execution.budget import Ledger
from keval.execution.changes import changes
from keval.execution.estimate import ledger
from keval.execution.generation import Generation, OnResponse
from keval.execution.preparation import (
    Prepared,
    check_keys,
    end_orphans,
    end_unmarked,
    identify,
    is_recorded,
    offered,
    prepare,
    run_event,
    run_records,
    set_up,
)
from keval.execution.progress import Progress, shown
from keval.execution.tasks import remaining
from keval.logs import history
from keval.logs.history import History
from keval.logs.outputs import check_stdout
from keval.logs.stream import Sink, Stdout
from keval.logs.writer import Log, open_log
from keval.processes.servers import ServerInfo

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


@click.command(epilog="Example: keval generate eval.yaml -o run.jsonl")
@CONFIG
@OUTPUT
@LIMIT
@RETRY_FAILED
@FRESH
@SKIP_INVALID
@mock_options
@QUIET
@click.pass_context
def command(
    context: click.Context,
    config_path: Path,
    output: Path | None,
    limit: int | None,
    retry_failed: bool,
    fresh: bool,
    skip_invalid: bool,
    mock: bool,
    mock_latency_ms: int | None,
    mock_errors: str | None,
    quiet: bool,
) -> None:
    """Ask the agent for every response that is still missing.

    Appends to LOG what LOG does not hold yet, or writes all events to stdout in a pipe. On a
    terminal without -o the log is <name>.jsonl, or <name>.mock.jsonl with --mock. The same command
    again does only what is missing.
    """
    config = load(config_path)
    if output is None and sys.stdout.isatty():
        output = default_log(config, mock=mock)
        warn(f"writing to {output}")
    progress = Progress("generate")
    with mock_service(mock, mock_latency_ms, mock_errors) as mock_url:
        prepared = prepare(config, mock_url, limit, output, warn=warn)
        set_up(prepared)  # what is missing is told before anything is written
        with _sink(output, (config.path, config.dataset.path)) as sink, shown(progress, quiet=quiet):
            done = past(output, skip_invalid=skip_invalid) if output else History()
            prepared = identified(prepared, done)
            skipped = to_skip(done, config, mock=mock, retry_failed=retry_failed, fresh=fresh)
            left_failed = failed_before(prepared, skipped, done)
            number = plan(prepared, skipped, progress, left_failed)
            books = ledger(prepared, done.spent_today(mock=mock), warn)

            async def main(stop: asyncio.Event) -> None:
                if isinstance(sink, Log):
                    sink.tell(stop)
                await check_keys(prepared.agent_env, config.agent.agent.secret_names)
                run_id = new_run_id()
                await sink.append(run_event(prepared, "generate", run_id))
                for record in run_records(prepared, done, run_id):
                    await sink.append(record)
                tasks = remaining(prepared.config, prepared.samples, skipped)
                await generation(prepared, run_id, sink, progress, books, stop).work_off(tasks)
                await end_unmarked(warn)
                books.check()

            if number or not is_recorded(prepared, done):
                interrupt.run(main, warn)
    context.exit(1 if progress.failed or left_failed else 0)


def past(log: Path, *, skip_invalid: bool) -> History:
    """Return what a log holds; what stood in lines that are left out is asked for again, and that is said."""
    found = history.of_log(log, warn, skip_invalid=skip_invalid)
    if found.skipped:
        lines = "1 line was" if found.skipped == 1 else f"{found.skipped} lines were"
        warn(f"{log}: {lines} skipped; a response that stood there is asked for again")
    return found


def identified(prepared: Prepared, done: History) -> Prepared:
    """Return the config with what its servers turned out to be, and say what changed and is asked again for it."""
    newest = done.newest_run(prepared.config.name, mock=prepared.mock_url is not None)

    async def asked() -> dict[str, ServerInfo]:
        await end_orphans(prepared, warn)
        return await offered(prepared)

    known = identify(prepared, asyncio.run(asked()), newest)
    for change in changes(newest, known, done):
        warn(change)
    return known


def default_log(config: Config, *, mock: bool) -> Path:
    """Return the log of a run that names none; a rehearsal has one of its own."""
    return Path(f"{config.name}.mock.jsonl" if mock else f"{config.name}.jsonl")


def to_skip(done: History, config: Config, *, mock: bool, retry_failed: bool, fresh: bool) -> AbstractSet[str]:
    """Return the ids of the responses that are not asked for again."""
    if fresh:
        return set()
    responses = done.responses_done(mock=mock)
    if not retry_failed:
        return responses | done.failed
    retried = {condition.condition_id for condition in config.conditions if condition.gates.retry_gates}
    return responses | {target for target, condition in done.gated.items() if condition not in retried}


def failed_before(prepared: Prepared, skipped: AbstractSet[str], done: History) -> int:
    """Return how many tasks failed in earlier runs and are not tried again."""
    left = done.failed & skipped
    return sum(task.response_id in left for task in remaining(prepared.config, prepared.samples, set())) if left else 0


def plan(prepared: Prepared, skipped: AbstractSet[str], progress: Progress, left_failed: int) -> int:
    """Tell the progress how many tasks remain per condition, and return how many in all."""
    number = 0
    for task in remaining(prepared.config, prepared.samples, skipped):
        progress.plan(task.condition.name, 1)
        number += 1
    if not number and left_failed:
        tasks = "1 task" if left_failed == 1 else f"{left_failed} tasks"
        warn(f"nothing to generate: {tasks} failed earlier and will not be tried again; every other has its response")
    elif not number:
        warn("nothing to generate: every task has its response")
    return number


def generation(
    prepared: Prepared,
    run_id: str,
    sink: Sink,
    progress: Progress,
    books: Ledger,
    stop: asyncio.Event,
    on_response: OnResponse | None = None,
) -> Generation:
    """Return the stage that does the tasks of a prepared config."""
    return Generation(
        config=prepared.config,
        run_id=run_id,
        sink=sink,
        retry=prepared.config.execution.retry,
        max_concurrent=prepared.config.execution.max_concurrent,
        secrets=prepared.config.secrets,
        env=prepared.agent_env | prepared.mark,
        mock=prepared.mock_url is not None,
        progress=progress,
        ledger=books,
        stop=stop,
        on_response=on_response,
    )


@contextmanager
def _sink(output: Path | None, inputs: Sequence[Path]) -> Iterator[Sink]:
    if output is not None:
        if output.suffix in {".yaml", ".yml"}:
            raise UsageError(f"{output} looks like a config; -o names the log that is appended to")
        with open_log(output, ("generate",), warn, inputs) as log:
            yield log
        return
    check_stdout(inputs, "-o LOG appends to a log")
    stdout = Stdout()
    try:
        yield stdout
    finally:
        stdout.close()
