"""Check logs, datasets and configs, and say where each is wrong."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import click
import orjson

from keval import datasets
from keval.config_file import load, load_judge
from keval.errors import InputError, KevalError
from keval.options import say, warn
from keval.stream import Reader


@click.command(epilog="Example: keval validate run.jsonl eval.yaml questions.jsonl")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path))
def command(files: tuple[Path, ...]) -> None:
    """Check logs, datasets, configs and judges against their schemas.

    A .yaml file is a config, or a judge when it has no dataset. A .jsonl file whose lines have a
    type is a log; anything else is a dataset with the keys id, question and answer.
    """
    problems = [problem for path in files for problem in _problems(path)]
    if problems:
        raise InputError(*problems)


def _problems(path: Path) -> Sequence[str]:
    """Check one file; say on stdout what it is, or return what is wrong."""
    try:
        say(f"{path}: {_validator(path)(path)}")
    except OSError as error:
        return [f"{path}: {error.strerror}"]
    except KevalError as error:
        return error.problems
    return ()


def _validator(path: Path) -> Callable[[Path], str]:
    if path.suffix in {".yaml", ".yml"}:
        return _config if b"dataset" in path.read_bytes() else _judge
    return _log if path.suffix == ".jsonl" and _is_log(path) else _dataset


def _is_log(path: Path) -> bool:
    """Return whether the first line is an event, or at least not a sample."""
    with path.open("rb") as source:
        first = source.readline()
    try:
        record = orjson.loads(first)
    except orjson.JSONDecodeError:
        return b'"type"' in first
    return isinstance(record, dict) and "type" in record and "v" in record


def _log(path: Path) -> str:
    problems: list[str] = []
    with path.open("rb") as source:
        reader = Reader(source, str(path), problems.append, skip_invalid=True)
        number = sum(1 for _ in reader)
    if reader.skipped:
        shown = [problem.replace("skipped: ", "") for problem in problems[:20]]
        more = [f"… and {len(problems) - 20} more"] if len(problems) > len(shown) else []
        raise InputError(*shown, *more)
    for problem in problems:
        warn(problem)
    return f"a log of {number} valid events"


def _config(path: Path) -> str:
    config = load(path)
    return f"a valid config: {len(config.conditions)} conditions, {len(config.judges)} judges"


def _judge(path: Path) -> str:
    return f"a valid judge: {load_judge(path).name}"


def _dataset(path: Path) -> str:
    return f"a valid dataset of {len(datasets.read(path).samples)} samples"
