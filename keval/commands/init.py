"""Write a first config from MCP servers and a file of questions, and a workflow for a hosted CI."""

from __future__ import annotations

import os
import re
import shlex
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import click
import orjson

from keval import schema
from keval.commands.messages import say, warn
from keval.commands.options import INPUT_FILE, PATH
from keval.counted import counted
from keval.errors import EnvironmentLacksError, KevalError, UsageError
from keval.secrets.variables import Secrets, variables
from keval.starters import columns, config_text, server_option, workflows
from keval.starters.columns import Columns
from keval.starters.config_text import AskedServer, Start
from keval.starters.server_option import Server

CONFIG = "eval.yaml"
QUESTIONS = "questions.jsonl"
SCHEMA = "eval.schema.json"

HINTS = {CONFIG: "name another folder: keval init FOLDER", QUESTIONS: "to begin with it: --questions {}"}
"""What to do about a file that is there, by its name."""

MANY = 20
"""With more questions than that, a rehearsal of a few of them is suggested."""


@click.command(epilog="Example: keval init --server docs='python server.py' --questions questions.csv")
@click.argument("folder", metavar="[FOLDER]", type=PATH, default=".")
@click.option("-s", "--server", "servers", metavar="NAME=COMMAND|URL", multiple=True,
              help="An MCP server to compare with, such as docs='python server.py'; may be repeated.")  # fmt: skip
@click.option("--header", "headers", metavar="NAME:VALUE", multiple=True,
              help="Sent to servers with a URL, as 'Authorization: Bearer ${TOKEN}'; may be repeated.")  # fmt: skip
@click.option("--questions", metavar="FILE", type=INPUT_FILE,
              help="Your questions: jsonl, json, csv, tsv or parquet (default: three examples).")  # fmt: skip
@click.option("--ci", type=click.Choice(list(workflows.FILES)),
              help="Also write a workflow for this CI; where a config is there, only that.")  # fmt: skip
def command(
    folder: Path, servers: tuple[str, ...], headers: tuple[str, ...], questions: Path | None, ci: str | None
) -> None:
    """Write a first config into a folder, by default this one.

    Each server is asked for its tools and gets a condition of its own. In a file of questions, the columns
    with question, golden answer and id are found by their names. Nothing that is there is overwritten.
    """
    named = _read(servers, headers, folder)
    config = folder / CONFIG
    begins = ci is None or not config.exists() or bool(servers or headers or questions)
    root = _shown(workflows.root_of(folder, Path.cwd()))
    workflow = None if ci is None else root / workflows.FILES[ci]
    template = folder / QUESTIONS if questions is None else None
    described = _schema(folder / SCHEMA)
    _check_free([*((config, template, *described) if begins else ()), workflow])
    if begins:
        found = Columns(samples=config_text.EXAMPLES) if questions is None else columns.of_file(questions)
        start = _start(folder, _asked(named, folder), questions or folder / QUESTIONS, found)
        _say_questions(questions or folder / QUESTIONS, found, are_examples=template is not None)
        _write(config, config_text.text(start))
        if template is not None:
            _write(template, config_text.TEMPLATE)
        for path, content in described.items():
            _write(path, content)
    if ci is not None and workflow is not None:
        _write_workflow(workflow, ci, config, root)
    if begins:
        _say_next(config, found)


def _schema(path: Path) -> dict[Path, str]:
    """Return the file with the config's JSON Schema, for editors; none if just that is there."""
    content = orjson.dumps(schema.document("config"), option=orjson.OPT_INDENT_2).decode() + "\n"
    return {} if path.is_file() and path.read_bytes() == content.encode() else {path: content}


def _check_free(paths: Iterable[Path | None]) -> None:
    """Raise UsageError for files that are there already."""
    there = [path for path in paths if path is not None and os.path.lexists(path)]
    if there:
        raise UsageError(*(f"{path} is there already, and nothing is overwritten{_hint(path)}" for path in there))


def _hint(path: Path) -> str:
    hint = HINTS.get(path.name)
    return "" if hint is None else f"; {hint.format(shlex.quote(str(path)))}"


def _shown(path: Path) -> Path:
    """Return a path as people type it: from here, if it is in here."""
    here = Path.cwd().resolve()
    return path.relative_to(here) if path.is_relative_to(here) else path


def _read(options: Sequence[str], headers: Sequence[str], folder: Path) -> dict[str, Server]:
    """Return the servers by their names. Raises UsageError."""
    sent = dict(server_option.header(each, os.environ) for each in headers)
    given = [server_option.with_header(server_option.read(each, os.environ), sent) for each in options]
    servers = {each.name: server_option.placed(each, Path.cwd(), folder) for each in given}
    if sent and not any("url" in each.written for each in given):
        raise UsageError("--header goes with a --server that has a URL, such as docs=https://example.com/mcp")
    if len(servers) < len(given):
        raise UsageError("--server: two servers have one name; give each a name of its own")
    return servers


def _asked(servers: Mapping[str, Server], folder: Path) -> list[AskedServer]:
    """Ask the servers for their tools. Raises EnvironmentLacksError for one that cannot be asked."""
    if not servers:
        return []
    from keval.commands.check import described
    from keval.execution.identification import first_offered, server_failure

    written = {name: each.written for name, each in servers.items()}
    with _folder(folder):
        infos = first_offered(written, folder.absolute(), os.environ, Secrets(os.environ))
        failed = {name: failure for name, info in infos.items() if (failure := server_failure(info))}
        if failed:
            unknown = [name for name in failed if infos[name].tools is None]
            raise EnvironmentLacksError(
                *(f"MCP server {name!r}: {failure}" for name, failure in failed.items()),
                *dict.fromkeys(hint for name in unknown for hint in _hints(servers[name], folder, failed[name])),
                "nothing was written; correct it and start again",
            )
    for name, info in infos.items():
        say(f"server    {name}: {described(info)}")
        if info.destructive:
            marked = ", ".join(info.destructive)
            warn(f"MCP server {name!r} marks as destroying something: {marked}; in a real run an agent may call it")
    return [
        AskedServer(name, each, tools=infos[name].tools or (), destructive=infos[name].destructive)
        for name, each in written.items()
    ]


@contextmanager
def _folder(path: Path) -> Iterator[None]:
    """Give a folder for servers to start in; one that was not there is gone again if they cannot be asked."""
    is_new = not path.exists()
    _make(path)
    try:
        yield
    except KevalError:
        if is_new:
            with suppress(OSError):  # a server may have left something there
                path.rmdir()
        raise


def _hints(server: Server, folder: Path, failure: str) -> list[str]:
    """Return what may be the reason that a server cannot be asked, and is nobody's mistake."""
    if server.written["type"] != "stdio":
        may_ask = "headers" not in server.written and not failure.startswith("ConnectError")
        return ["if it asks for a key: --header 'Authorization: Bearer ${TOKEN}', with the key in TOKEN"] * may_ask
    words = shlex.join([server.written["command"], *server.written.get("args", [])])
    return [
        f"it was started in the folder {folder}, where the config will be, as: {words}",
        *(["python is the Python that runs keval; for another one write its path"] * words.startswith("python ")),
        "it has no variables but those that you name: --server NAME='TOKEN=${TOKEN} COMMAND'",
    ]


def _start(folder: Path, asked: Sequence[AskedServer], questions: Path, found: Columns) -> Start:
    plain = unicodedata.normalize("NFKD", folder.resolve().name).encode("ascii", "ignore").decode()
    called = re.sub(r"[^A-Za-z0-9_.-]+", "-", plain).strip("-.") or "eval"
    is_log = questions.name in {f"{called}.jsonl", f"{called}.mock.jsonl"}
    return Start(
        name=f"{called}-eval" if is_log else called,
        questions=os.path.relpath(questions.parent.resolve() / questions.name, folder.resolve()),
        columns=found,
        servers=asked,
        config=CONFIG,
        schema=SCHEMA,
    )


def _say_questions(path: Path, found: Columns, *, are_examples: bool) -> None:
    if are_examples:
        say(f"questions {path}: {found.samples} examples; put your own in their place")
    elif found.are_told:
        would_do = f"`id_key: {found.could_be_id}` would do" if found.could_be_id else "add ids"
        parts = (
            f"question {found.question!r}",
            f"golden answer {found.answer!r}" if found.answer else "no golden answers",
            f"id {found.id!r}"
            if found.id
            else f"ids are hashes of the records: {would_do}, or an edit is another sample",
        )
        say(f"questions {path}: {counted(found.samples, 'sample')}, {', '.join(parts)}")
    else:
        there, lines = ", ".join(map(repr, found.examples)), " and ".join(_to_fill_in(found))
        unknown = "the golden answer" if found.question else "the question" if found.answer else "what"
        warn(f"{path}: no name tells what is {unknown}; it has {there}, and {CONFIG} has a line for {lines}")


def _make(folder: Path) -> None:
    """Make a folder, if it is not there yet. Raises UsageError for a place where none can be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{folder}: {error.strerror or error}") from error


def _write(path: Path, content: str) -> None:
    """Write a file that is not there yet. Raises UsageError for a place where none can be."""
    _make(path.parent)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(content)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from error
    say(f"wrote     {path}")


def _write_workflow(path: Path, ci: str, config: Path, root: Path) -> None:
    from keval.config.reader import load
    from keval.preparation.keys import judge_keys

    begun = load(config)
    needed = {*begun.agent.agent.secret_names, *judge_keys(begun.judges), *variables(begun.as_written)}
    package = workflows.package()
    written = os.path.relpath(config.resolve(), root.resolve())
    _write(path, workflows.Workflow(ci, written, needed, package).text())
    where = ", to be set in the settings of the CI" if needed else ""
    say(f"secrets   {', '.join(sorted(needed)) or 'none'}{where}")
    if package is None:
        warn(f"{path}: fill in KEVAL, what pip can install there: this keval is from a folder of this machine")
    if "gate" not in begun.as_written:
        warn(f"{config} has no section gate, so the gate of the workflow has no rules; docs/gate.md shows some")


def _say_next(config: Path, found: Columns) -> None:
    few = " --limit 5" if found.samples > MANY else ""
    path = shlex.quote(str(config))
    steps = [f"keval check {path} --mock", f"keval run {path} --mock{few}"]
    if not found.are_told:
        steps.insert(0, f"in {config}, below TO DO, fill in {' and '.join(_to_fill_in(found))}")
    for number, step in enumerate(steps):
        say(f"{'' if number else 'next':<9} {step}")


def _to_fill_in(found: Columns) -> list[str]:
    """Return the keys of the config that nobody but the user knows."""
    keys = {"question_key": found.question, "answer_key": found.answer}
    return [key for key, field in keys.items() if field is None]
