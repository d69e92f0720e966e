"""Writes the text of a first config, from the servers that answered and the columns of the questions."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from keval.ids import JsonObject
from keval.printable import printable_json
from keval.starters.columns import Columns

BASELINE = "baseline"
OTHER_PROMPT = "with_instructions"
"""The condition beside the baseline where there is no server."""

_EXAMPLES = (
    ("example-1", "How many days does a customer have to return a lamp?", "30 days from delivery."),
    ("example-2", "Which command shows the version of the program?", "It is `program --version`."),
    ("example-3", "Who approves an expense above 500 euros?", "The head of the department."),
)
"""Questions that no model could know the answers of, so that they show what is asked for."""

EXAMPLES = len(_EXAMPLES)

TEMPLATE = "".join(
    json.dumps({"id": sample_id, "question": question, "answer": answer}) + "\n"
    for sample_id, question, answer in _EXAMPLES
)
"""Questions for a user to replace, as JSON lines."""

_PLAIN = re.compile(r"(?:\.{0,2}/)*[A-Za-z][A-Za-z0-9_./+-]*")
_TAKEN = {"true", "false", "null", "yes", "no", "on", "off", "y", "n", "inf", "nan"}
"""Words that some readers of YAML take for something else than text."""

_COMMENT_AT = 33
_LONGEST_EXAMPLE = 60


@dataclass(frozen=True, slots=True)
class AskedServer:
    """A server that was asked, as the config names it."""

    name: str
    written: JsonObject
    tools: tuple[str, ...]
    destructive: tuple[str, ...] = ()
    """The tools that it marks as destroying something."""


@dataclass(frozen=True, slots=True)
class Start:
    """What a first config is made of."""

    name: str
    questions: str
    """The file, relative to the config."""
    columns: Columns
    servers: Sequence[AskedServer] = ()
    config: str = "eval.yaml"
    """What the file itself will be called."""
    schema: str | None = None
    """The file of the config's JSON Schema, relative to the config."""

    @property
    def conditions(self) -> tuple[str, ...]:
        """The names of the conditions that are compared with the baseline."""
        return tuple(f"with_{server.name}" for server in self.servers) or (OTHER_PROMPT,)


def text(start: Start) -> str:
    """Return the config."""
    parts = (_head, _dataset, _agent, _servers, _conditions, _judge, _gate, _execution)
    return "\n".join("\n".join(part(start)) + "\n" for part in parts)


def scalar(value: object) -> str:
    """Return a value as YAML writes it in one line, without quotes where a text needs none."""
    if isinstance(value, str) and _PLAIN.fullmatch(value) and value.casefold() not in _TAKEN:
        return value
    return quoted(value)


def quoted(value: object) -> str:
    """Return a value as JSON, which is YAML in one line; nothing in a text can end the line or act on a terminal."""
    return printable_json(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")).decode()


def _line(written: str, comment: str) -> str:
    """Return a line with a comment, in the column where the others stand if that is free."""
    return f"{written:<{_COMMENT_AT - 3}}   # {comment}"


def _head(start: Start) -> Iterator[str]:
    if start.schema is not None:
        # The first line: editors with a YAML language server look for it there.
        yield f"# yaml-language-server: $schema={start.schema}"
    asked = " or ".join(f"the MCP server {server.name}" for server in start.servers) or "another system prompt"
    yield f"# Does {asked} help an agent to answer these questions?"
    yield "#"
    for command, comment in (
        ("check", "the servers, the questions, the number of calls"),
        ("run", "rehearse it: real processes, no model, no cost"),
    ):
        yield f"#   {f'keval {command} {start.config} --mock':<32} {comment}"
    yield f"#   {f'keval run {start.config}':<32} do it, with a key in ANTHROPIC_API_KEY"
    yield "#"
    yield "# keval's docs/config.md has every key; unknown keys are errors."
    yield ""
    yield _line(f"name: {scalar(start.name)}", f"the log is {start.name}.jsonl unless -o says otherwise")
    yield 'version: "1"'


def _dataset(start: Start) -> Iterator[str]:
    yield "dataset:"
    yield _line(f"  path: {scalar(start.questions)}", "relative to this file")
    columns = start.columns
    said = {"question_key": "the question", "answer_key": "the golden answer", "id_key": "the name of a question"}
    for key, name in columns.keys.items():
        comment = "there are no golden answers" if name is None else f"the column with {said[key]}"
        yield _line(f"  {key}: {scalar(name)}", comment)
    if columns.are_told and columns.could_be_id is not None:
        yield _line(
            f"  # id_key: {scalar(columns.could_be_id)}", "names each of them; without it an edited row is a new one"
        )
    if columns.made:
        yield _line("  fields:", "numbers in the file that become text")
        yield from (f"    {name}: {scalar(template)}" for name, template in columns.made.items())
    if not columns.are_told:
        yield from _to_be_filled_in(columns)


def _to_be_filled_in(columns: Columns) -> Iterator[str]:
    yield "  # TO DO: no name in the file says what is what. It has these fields, here with their first values:"
    for name, example in columns.examples.items():
        yield f"  #   {scalar(name)}: {_beginning(example)}"
    yield "  # Take away the # before these lines, and put the names of the fields in:"
    if columns.question is None:
        yield _line("  # question_key: FIELD", "the question")
    if columns.answer is None:
        yield _line("  # answer_key: FIELD", "the golden answer; null if there is none (then see judge, too)")
    if "id_key" not in columns.keys:
        yield _line(
            "  # id_key: FIELD",
            "what names a sample; without it an edited row is a new one. Leave it out if there is none",
        )
    if columns.maybe_headless:
        yield "  # If these names are the first question already, name all columns instead, in their order:"
        yield "  # columns: [question, answer]"


def _beginning(example: object) -> str:
    shown = scalar(example)
    return shown if len(shown) <= _LONGEST_EXAMPLE else f"{shown[:_LONGEST_EXAMPLE]}…"


def _agent(_start: Start) -> Iterator[str]:
    yield _line("agent:", "what answers: the same in every condition")
    yield _line("  type: claude", "Claude Code, sealed off from your settings, files and keys")
    yield "  model: claude-sonnet-5"
    yield "  # Another agent: docs/agents.md (any program, a web service, a model without Claude Code)."


def _servers(start: Start) -> Iterator[str]:
    if not start.servers:
        yield "# An MCP server to compare with: take away the #, and add a condition with `mcp_servers: [docs]`."
        yield "# mcp_servers:"
        yield "#   docs: {type: stdio, command: python, args: [server.py]}"
        yield '#   wiki: {type: http, url: "ADDRESS", headers: {Authorization: "Bearer ${WIKI_TOKEN}"}}'
        return
    yield _line("mcp_servers:", "what conditions may use")
    for server in start.servers:
        yield from _server(server)


def _server(server: AskedServer) -> Iterator[str]:
    yield f"  {server.name}:"
    for key, value in server.written.items():
        comment = {
            "type": "started in the folder of this file",
            "command": "the Python that runs keval" if value == "python" else "",
            "env": "${VAR} is read from the environment, and never gets into the log",
        }
        written = f"    {key}: {_flow(value)}"
        said = comment.get(key, "") if server.written["type"] == "stdio" else ""
        yield _line(written, said) if said else written
    if server.written["type"] != "stdio" and "headers" not in server.written:
        yield '    # headers: {Authorization: "Bearer ${TOKEN}"}   # what the server asks for, from the environment'
    yield "    # What it offered. Without the # before it, no question is asked if one of them is missing:"
    yield f"    # expect_tools: {_flow(list(server.tools))}"
    if server.destructive:
        yield f"    # It marks as destroying something: {_flow(list(server.destructive))}. A real run may call that."


def _flow(value: object) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(scalar, value))}]"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{scalar(key)}: {quoted(item)}' for key, item in value.items())}}}"
    return scalar(value)


_PROMPT = "Answer in one to three sentences. If you do not know the answer, say so."


def _conditions(start: Start) -> Iterator[str]:
    yield _line("conditions:", "what is compared; the first one is the baseline")
    yield f"  {BASELINE}:"
    yield "    system_prompt: >-"
    yield f"      {_PROMPT}"
    for server, name in zip(start.servers, start.conditions, strict=False):
        yield f"  {name}:"
        yield "    # The same prompt but for the server: what differs is what is measured."
        yield "    system_prompt: >-"
        yield f"      Use the tools of the MCP server {server.name} first."
        yield f"      {_PROMPT}"
        yield f"    mcp_servers: [{scalar(server.name)}]"
        yield "    # require_mcp_tool_use: true   # an answer without a call of its tools is a failure"
    if not start.servers:
        yield f"  {OTHER_PROMPT}:"
        yield "    # Put in its place what you want to try: what differs between two prompts is what is measured."
        yield "    system_prompt: >-"
        yield "      Think of what the question is really about before you answer."
        yield f"      {_PROMPT}"


def _judge(start: Start) -> Iterator[str]:
    yield _line("judge:", "what scores the answers; docs/judging.md has others")
    if start.columns.has_no_answer:
        yield "  type: rubric"
        yield _line("  rubric: relevance", "needs no golden answer: does the answer address the question?")
    else:
        yield _line("  type: rubric", "by the golden answer: three metrics, each from 1 to 5")
    if start.columns.answer is None and not start.columns.has_no_answer:
        yield _line("  # rubric: relevance", "instead, if there are no golden answers")
    yield _line("  model: claude-opus-5", "not the model that answers")


def _gate(start: Start) -> Iterator[str]:
    margin = "0.1" if start.columns.has_no_answer else "0.5"
    yield _line("gate:", "what `keval gate` holds a log to, such as in CI; docs/gate.md")
    yield "  rules:"
    yield _line("    - missing <= 5%", "answers that were not measured")
    yield _line("    - failures <= 10%", "answers that the agent failed")
    if start.servers:
        yield _line("    - tool errors <= 10%", "calls of a server that failed: such scores say nothing about it")
    for number, name in enumerate(start.conditions):
        rule = f"    - {name} not lower than {BASELINE} by {margin}"
        yield rule if number else _line(rule, "in points of the scale")


def _execution(_start: Start) -> Iterator[str]:
    yield "execution:"
    yield _line("  repetitions: 3", "independent answers to each question: agents vary")
    yield _line("  max_concurrent: 4", "answers at once")
    yield _line("  timeout_s: 300", "for one answer")
    yield _line("  # budget_usd: 5", "the most that one command may spend")
