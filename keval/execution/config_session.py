"""Begins the work of a config: `keval generate` for answers alone, `keval run` for judgments too."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from keval.config.model import Config
from keval.counted import counted
from keval.errors import UsageError, Warn
from keval.execution.config_work import ConfigWork
from keval.execution.interrupted import in_pipe
from keval.execution.stopping import refuse_without_judges
from keval.executors.batch_executor import agent_caller
from keval.executors.executor import Executor
from keval.logs.outputs import check_stdout
from keval.logs.past import Past, of_log
from keval.logs.sinks import Sink, Stdout
from keval.logs.writer import open_log
from keval.preparation import recorded_plan
from keval.preparation.prepared import Prepared, unread, with_questions
from keval.preparation.readiness import set_up
from keval.preparation.request import Request


def generate(config: Config, log: Path | None, request: Request, warn: Warn) -> int:
    """Ask the agent for every response that a log lacks, or for all of them in a pipe.

    Returns how many tasks failed, now, or in earlier runs if these are not tried again.
    """
    prepared = unread(config, request.mock_url, log)
    may_be_done = recorded_plan.may_serve(log, request)
    if not may_be_done:
        prepared = with_questions(prepared, request.limit, warn=warn)
    if request.batch:
        _check_batches(log, prepared)
    set_up(prepared, _at_once_here(request))  # what is missing is told before anything is written
    _warn_of_gone_workspaces(config, warn)
    with _sink(log, prepared.inputs, warn, mock=request.mock) as sink, past(log, request, warn) as found:
        refuse_without_judges(request, found, config.name)
        if may_be_done and not recorded_plan.is_same(config, found, request):
            prepared = with_questions(prepared, request.limit, warn=warn)
        return ConfigWork(prepared, sink, found, request, warn).do()


def _at_once_here(request: Request) -> int | None:
    """Return how many tasks run in this process, None for as many as the config allows."""
    return None if request.cluster is None else 0


def _check_batches(log: Path | None, prepared: Prepared) -> None:
    """Raise UsageError if no answer of a config can be asked for in a batch."""
    if log is None:
        raise UsageError("--batch needs -o LOG: what a batch was asked for has to be on disk before it is paid for")
    agent_caller(prepared.config, (), prepared.agent_env)


def _warn_of_gone_workspaces(config: Config, warn: Warn) -> None:
    """Say which judges will find nothing to look at when they are asked later."""
    names = [judge.name for judge in config.judges if judge.judge.uses_workspace]
    if names and config.agent.workspace.keep != "all":
        warn(f"{', '.join(names)}: needs the workspaces, which will be gone by then; set `workspace: {{keep: all}}`")


def run_all(config: Config, log: Path, request: Request, warn: Warn, executor: Executor | None = None) -> int:
    """Generate what a log lacks and judge it as it comes, and between that what earlier runs left unjudged.

    `executor` does the work in the place of this process, as tests want it. Returns how many tasks and judgments
    failed, as `generate` does.
    """
    prepared = with_questions(unread(config, request.mock_url, log), request.limit, warn=warn)
    set_up(prepared, _at_once_here(request))
    check_stdout((log, *prepared.inputs), "send the report to another file")
    with open_log(log, ("generate", "judge"), warn, prepared.inputs) as sink, past(log, request, warn) as found:
        return ConfigWork(prepared, sink, found, request, warn, judges=config.judges, executor=executor).do()


def default_log(config: Config, *, mock: bool) -> Path:
    """Return the log of a run that names none; a mock run has one of its own."""
    return Path(f"{config.name}.mock.jsonl" if mock else f"{config.name}.jsonl")


@contextmanager
def past(log: Path | None, request: Request, warn: Warn) -> Iterator[Past]:
    """Give what a log holds; what stood in lines that are left out is asked for again, and that is said."""
    if log is None:
        yield Past(Path())
        return
    with of_log(log, warn, skip_invalid=request.skip_invalid) as found:
        if found.skipped:
            lines = f"{counted(found.skipped, 'line')} {'was' if found.skipped == 1 else 'were'}"
            warn(f"{log}: {lines} skipped; a response that stood there is asked for again")
        yield found


@contextmanager
def _sink(output: Path | None, inputs: Sequence[Path], warn: Warn, *, mock: bool) -> Iterator[Sink]:
    if output is not None:
        if output.suffix in {".yaml", ".yml"}:
            raise UsageError(f"{output} looks like a config; -o names the log that is appended to")
        with open_log(output, ("generate",), warn, inputs) as log:
            yield log
        return
    check_stdout(inputs, "-o LOG appends to a log")
    with Stdout() as stdout, in_pipe(mock=mock):
        yield stdout
