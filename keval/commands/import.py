"""Make events of answers that were saved elsewhere, to judge, compare and query them."""

# ruff: noqa: N999 - the file is named after the command

from __future__ import annotations

import sys
from pathlib import Path

import click

from keval import plugins
from keval.commands.messages import warn
from keval.commands.options import INPUT_FILE, OUTPUT, PATH, SKIP_INVALID
from keval.config.import_mapping import load, mistyped, of_results
from keval.counted import counted
from keval.datasets import format_of
from keval.documents.packed import opened
from keval.errors import InputError, UsageError
from keval.imports.importing import AnswerFile, import_answers
from keval.logs.foreign import PEEKED_BYTES
from keval.logs.log_head import begins_with_event
from keval.logs.outputs import check_stdout
from keval.logs.sinks import Stdout
from keval.logs.writer import open_log
from keval.origins import Origin


@click.command(epilog='Example: keval import answers.csv --map text="{output}" --map condition="{model}" -o run.jsonl')
@click.argument("answers", metavar="FILE", type=INPUT_FILE)
@click.option("-c", "--config", "mapping_path", metavar="MAPPING", type=PATH,
              help="YAML that says how rows become events.")  # fmt: skip
@click.option("--from", "origin", metavar="TOOL",
              help="The tool that wrote FILE (default: what FILE looks like); see `keval plugins origin`.")  # fmt: skip
@click.option("-m", "--map", "rules", metavar="NAME=RULE", multiple=True,
              help="Make one field by a template, such as question={prompt}.")  # fmt: skip
@OUTPUT
@SKIP_INVALID
def command(
    answers: Path,
    mapping_path: Path | None,
    origin: str | None,
    rules: tuple[str, ...],
    output: Path | None,
    skip_invalid: bool,
) -> None:
    """Make events of answers that were saved elsewhere, to judge, compare and query them.

    FILE is jsonl, json, csv or parquet, also packed (.gz). Each row is an answer, with its question and,
    if there are any, its scores. What no rule says is taken from the row's field of the same name. A
    result file of a tool that keval knows needs no rules.
    Appends to LOG what LOG does not hold yet; without -o events go to stdout.
    """
    known = _of_another_tool(answers, origin, mapped=bool(mapping_path or rules))
    found = known or _table(answers, mapping_path, rules)
    mapping, inputs = found.mapping, [answers, *([] if mapping_path is None else [mapping_path])]
    if output is None and sys.stdout.isatty():
        output = Path(f"{mapping.name}.jsonl")
        warn(f"writing to {output}")
    if output is None:
        check_stdout(inputs, "-o LOG appends to a log")
    events = found.events()  # what is wrong with the file is told before a log is begun
    if output is None or not output.exists():
        events.check_baseline(())
    if known is None and events.survey.unused:
        unused = ", ".join(each or repr(each) for each in events.survey.unused)
        warn(f"not used: {unused}; a rule (-c MAPPING or --map) names a field to be imported")
    if said := events.survey.of_uneven_repetitions():
        warn(said)
    if output is None:
        with Stdout() as stdout:
            written, there = import_answers(events, stdout, None, warn)
    else:
        with open_log(output, ("generate",), warn, inputs) as log:
            written, there = import_answers(events, log, output, warn, skip_invalid=skip_invalid)
    warn(f"{counted(written, 'event')} imported; {there:,} there already")


def _of_another_tool(path: Path, name: str | None, *, mapped: bool) -> AnswerFile | None:
    """Return the answers of a tool's result file; None for a table, and for a file that rules are given for."""
    if name is None and mapped:
        return None
    if mapped:
        raise UsageError(f"--from {name}: rules are for tables; {name} says itself what is what")
    try:
        chosen = name or _tool(path)
        if chosen is None:
            return None
        results = plugins.load("origin", Origin, chosen)().read(path)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from error
    except InputError as error:
        raise InputError(
            f"{path}: {error}",
            f"it was read as a file of {chosen}; --from names another tool, rules (-c, --map) make it a table",
        ) from error
    for sentence in results.left_out:
        warn(f"{path}: {sentence}")
    return AnswerFile(path, of_results(results.mapping()), results.rows)


def _tool(path: Path) -> str | None:
    with opened(path) as file:
        head = file.read(PEEKED_BYTES)
    if begins_with_event(head):
        raise UsageError(f"{path} is a log of keval, which needs no import: name it, or merge it with others by `cat`")
    return next((name for name in plugins.find("origin") if plugins.load("origin", Origin, name)().fits(head)), None)


def _table(path: Path, mapping_path: Path | None, rules: tuple[str, ...]) -> AnswerFile:
    format_of(path)
    given = dict(map(_rule, rules))
    mapping = load(mapping_path, given, path.name.partition(".")[0] or path.name)
    for name, meant in mistyped(given):
        warn(f"--map {name}: a field of the sample, as no other is called so; did you mean {meant!r}?")
    return AnswerFile(path, mapping)


def _rule(text: str) -> tuple[str, str]:
    name, found, template = text.partition("=")
    if not found or not name:
        raise UsageError(f"--map {text!r} is not a rule; write it as in --map question={{prompt}}")
    return name, template
