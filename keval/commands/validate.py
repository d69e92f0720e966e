"""Check logs, datasets, configs, judges and rubrics, and say where each is wrong."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import islice
from pathlib import Path

import click
import orjson

from keval import datasets
from keval.commands.messages import say, warn
from keval.commands.options import PATH_OR_STDIN, matching_files
from keval.counted import counted
from keval.datasets import Layout
from keval.documents import packed
from keval.documents.packed import unpacked_name
from keval.errors import EnvironmentLacksError, InputError, KevalError, PluginError
from keval.logs.outputs import STDIN, check_stdout
from keval.logs.stream import count_events, log_reader, standard_input
from keval.processes.interrupted_input import read_to_the_end

MOST_SHOWN = 20
"""Problems of one log that are listed before the rest is only counted."""

CONFIG_KEYS = {"dataset", "datasets", "conditions"}
"""Keys by which a config is told from a judge and a rubric, which have none of them."""

RUBRIC_KEYS = {"instructions", "metrics"}
"""Keys by which a rubric is told from a judge that lacks its type."""

LOOKED_AT = 10
"""Lines by which a log is told from a dataset: the first one may be what is wrong."""


@click.command(epilog="Example: keval validate run.jsonl eval.yaml questions.jsonl")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=PATH_OR_STDIN, callback=matching_files)
@click.option("--question-key", metavar="NAME", default="question", show_default=True,
              help="What a dataset calls the question.")  # fmt: skip
@click.option("--answer-key", metavar="NAME", default="answer", show_default=True,
              help="What it calls the golden answer; '' if it has none.")  # fmt: skip
@click.option("--id-key", metavar="NAME", default="id", show_default=True, help="What it calls the id.")
def command(files: tuple[Path, ...], question_key: str, answer_key: str, id_key: str) -> None:
    """Check logs, datasets, configs, judges and rubrics against their schemas.

    A .yaml file with a dataset or conditions is a config, one with instructions or metrics and no
    type a rubric, and any other a judge. A .jsonl file
    whose lines have a type is a log, and so is an empty one, stdin (-) and a pipe such as
    <(zcat run.jsonl.gz); anything else is a dataset with the keys id, question and answer, or those
    that you name. Files that end in .gz or .zst are unpacked.
    """
    layout = Layout(id_key=id_key, question_key=question_key, answer_key=answer_key or None)
    check_stdout(files, "write to another file")
    errors: list[KevalError] = []
    for path in files:
        try:
            valid = _validator(path, layout)(path)
        except OSError as error:
            errors.append(InputError(f"{path}: {error.strerror}"))
        except KevalError as error:
            errors.append(error)
        else:
            say(f"{path}: {valid}")
    if errors:
        raise _all(errors)


def _all(errors: Sequence[KevalError]) -> KevalError:
    """Return one error of all: of files that are right, and name what is missing or broken, it is about that."""
    kinds = {type(error) for error in errors}
    kind = next(iter(kinds)) if len(kinds) == 1 and kinds <= {EnvironmentLacksError, PluginError} else InputError
    return kind(*(problem for error in errors for problem in error.problems))


def _validator(path: Path, layout: Layout) -> Callable[[Path], str]:
    if path == STDIN or _is_pipe(path):
        return _log  # it can be read only once, so nothing is tried
    if path.suffix in {".yaml", ".yml"}:
        return _of_yaml(_keys(path))
    return _log if unpacked_name(path).suffix == ".jsonl" and _may_be_log(path) else partial(_dataset, layout)


def _keys(path: Path) -> Collection[object]:
    from keval.documents import yaml_document

    value = yaml_document.read(path).value
    return value.keys() if isinstance(value, dict) else ()


def _of_yaml(keys: Collection[object]) -> Callable[[Path], str]:
    if not CONFIG_KEYS.isdisjoint(keys):
        return _config
    return _judge if "type" in keys or RUBRIC_KEYS.isdisjoint(keys) else _rubric


def _is_pipe(path: Path) -> bool:
    return path.exists() and not path.is_file() and not path.is_dir()


def _may_be_log(path: Path) -> bool:
    """Return whether one of the first lines is an event, or at least no sample; an empty file is an empty log."""
    with packed.opened(path) as source:
        first = list(islice((line for line in source if line.strip()), LOOKED_AT))
    return not first or any(map(_is_event, first))


def _is_event(line: bytes) -> bool:
    try:
        record = orjson.loads(line)
    except orjson.JSONDecodeError:
        return b'"type"' in line
    return isinstance(record, dict) and "type" in record and "v" in record


class FirstProblems:
    """The first problems of a log, and how many there are: a log may have millions."""

    def __init__(self) -> None:
        self.first: list[str] = []
        self.number = 0

    def add(self, problem: str) -> None:
        """Count a problem, and keep it if it is one of the first."""
        self.number += 1
        if len(self.first) < MOST_SHOWN:
            self.first.append(problem)


def _log(path: Path) -> str:
    problems = FirstProblems()
    with ExitStack() as stack:
        if path == STDIN:
            stack.enter_context(read_to_the_end(warn))
        reader = (
            standard_input(problems.add, skip_invalid=True)
            if path == STDIN
            else stack.enter_context(log_reader(path, problems.add, skip_invalid=True))
        )
        number = count_events(reader)
    if reader.skipped:
        shown = [problem.replace("skipped: ", "") for problem in problems.first]
        more = [f"… and {problems.number - MOST_SHOWN} more"] if problems.number > MOST_SHOWN else []
        raise InputError(*shown, *more)
    for problem in problems.first:
        warn(problem)
    return f"a log of {counted(number, 'valid event')}" if number else "empty: a log of 0 events"


def _config(path: Path) -> str:
    from keval.config.reader import load
    from keval.preparation.gate_check import check_rules

    config = load(path)
    check_rules(config, warn)
    return f"a valid config: {counted(len(config.conditions), 'condition')}, {counted(len(config.judges), 'judge')}"


def _judge(path: Path) -> str:
    from keval.config.reader import load_judge

    return f"a valid judge: {load_judge(path).name}"


def _rubric(path: Path) -> str:
    from keval.judges.rubric import checked

    rubric = checked(path)
    return f"a valid rubric: {rubric['name']}, {counted(len(rubric['metrics']), 'metric')}"


def _dataset(layout: Layout, path: Path) -> str:
    return f"a valid dataset of {counted(len(datasets.read(path, layout).samples), 'sample')}"
