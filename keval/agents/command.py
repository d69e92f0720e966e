"""Starts any program once per task: the question goes in, its answer comes out.

The program reads one JSON object from stdin, `{"question", "turns", "system_prompt",
"mcp_servers", "repetition", "workspace"}`, and writes its answer to stdout. It runs in the task's
empty workspace, in a session of its own, with no more of the environment than an allow-list and
`env`. When it ends, or the task does, everything that it started is ended too.

Exit status 0 is an answer; 75 (`EX_TEMPFAIL`) asks to be tried again later; 126 and 127 mean that what
was to run was not found or cannot run, which is no answer of the agent; any other is its failure, reported
with the end of stderr.
"""

from __future__ import annotations

import re
import signal
import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Literal

import orjson

from keval.agents import Agent, AgentError, Answer, Prompt, Turn
from keval.failure_kinds import AgentFailureKind
from keval.plugins import option
from keval.processes import local_files, program
from keval.processes.local_files import LocalFile
from keval.processes.program import ProgramError
from keval.secrets.excerpts import end_of
from keval.usage import Usage

JsonPath = tuple[str | int, ...]
"""The keys and positions that lead to a value inside a JSON document."""

PLACEHOLDERS = ("question", "system_prompt", "workspace", "folder", "repetition")
"""What an argument of the command may contain in braces."""

NOT_STARTED = (126, 127)
"""By which `env` and shells say that they cannot run a program, or do not find it."""

TEMPORARY_FAILURE = 75
"""`EX_TEMPFAIL` of sysexits.h: what failed may well succeed later."""

KNOWN_BEFORE = ("folder",)
"""Those of them that are known before there is a task."""

STDERR_TAIL = 2000
"""So many last characters of stderr go into a failure."""

_STEP = re.compile(r"""\.([^.\[\]'"\s]+)|\[(\d+)\]|\[(?:"([^"]*)"|'([^']*)')\]""")


def json_path(text: str) -> JsonPath:
    """Parse a path such as `$.items[0].text` or `$["a key"]`.

    Raises ValueError for anything else.
    """
    if not text.startswith("$"):
        raise ValueError(f"{text!r} is not a JSON path: it begins with $, as in $.result.text")
    steps: list[str | int] = []
    position = 1
    while position < len(text):
        match = _STEP.match(text, position)
        if match is None:
            raise ValueError(f"{text!r} is not a JSON path: cannot read {text[position:]!r}")
        name, index, *quoted = match.groups()
        steps.append(int(index) if index else next(part for part in (name, *quoted) if part is not None))
        position = match.end()
    return tuple(steps)


def look_up(document: object, path: JsonPath) -> object:
    """Return the value at a path.

    Raises LookupError when there is none.
    """
    found: Any = document
    for step in path:
        if isinstance(found, str):
            raise KeyError(step)
        try:
            found = found[step]
        except TypeError as error:
            raise KeyError(step) from error
    return found


def fill(template: str, values: Mapping[str, object]) -> str:
    """Return a template with its `{placeholders}` filled in; `{{` and `}}` are literal braces.

    Raises ValueError for a placeholder that there is not, and for a lone brace.
    """
    filled = []
    for literal, name, spec, conversion in string.Formatter().parse(template):
        filled.append(literal)
        if name is None:
            continue
        if name not in values or spec or conversion:
            known = ", ".join(f"{{{key}}}" for key in values)
            raise ValueError(f"unknown placeholder {{{name}}} (known: {known}; a literal brace is {{{{)")
        filled.append(str(values[name]))
    return "".join(filled)


@dataclass(frozen=True, kw_only=True)
class Command(Agent):
    """An agent that is a program."""

    open_files: ClassVar[int] = 3

    command: tuple[str, ...] = field(
        metadata=option(
            "the program, in the path or relative to the config's folder, and its arguments; "
            "{question}, {system_prompt}, {repetition}, {workspace} and {folder} "
            "(the config's folder) are filled in, a literal brace is {{"
        )
    )
    input: Literal["json", "none"] = field(default="json", metadata=option("what the program reads from stdin"))
    answer_path: str | None = field(
        default=None, metadata=option("where the answer is in JSON on stdout, as $.result.text; default: all of stdout")
    )
    usage_path: str | None = field(
        default=None, metadata=option("where JSON on stdout has an object with input_tokens, output_tokens, …")
    )
    cost_path: str | None = field(default=None, metadata=option("where JSON on stdout has the cost in US dollars"))
    env: Mapping[str, str] = field(
        default_factory=dict, hash=False, metadata=option("additional environment variables")
    )
    model: str | None = field(default=None, metadata=option("the model that the program asks, for the record"))
    max_output_bytes: int = field(
        default=10 * 1024 * 1024, metadata=option("the longest output that is read", identity=False)
    )

    def __post_init__(self) -> None:
        if not self.command:
            raise ValueError("command: names no program")
        for argument in self.command:
            fill(argument, dict.fromkeys(PLACEHOLDERS, ""))
        for path in (self.answer_path, self.usage_path, self.cost_path):
            if path is not None:
                json_path(path)
        if self.answer_path is None and (self.usage_path or self.cost_path):
            raise ValueError("usage_path and cost_path go with answer_path: without it stdout is not JSON")

    def missing(self, folder: Path, env: Mapping[str, str]) -> str | None:
        """Return why the program cannot be started."""
        name = _known_before(self.command[0], folder)
        return program.not_startable(name, folder, {**env, **self.env}) if name else None

    def local_files(self, folder: Path) -> tuple[LocalFile, ...]:
        """Return the files that the command names, apart from what depends on the task."""
        return local_files.named_by([_known_before(argument, folder) for argument in self.command], folder)

    async def answer(self, prompt: Prompt) -> Answer:
        """Run the program once.

        Cancelling the call ends every process that it started. Raises AgentError.
        """
        orphans: tuple[str, ...] = ()

        def on_end(names: tuple[str, ...]) -> None:
            nonlocal orphans
            orphans = names
            prompt.heartbeat(Answer("empty", "", orphaned_processes=names))  # whoever cancels the task is told, too

        values = {name: getattr(prompt, name) for name in PLACEHOLDERS}
        try:
            ended = await program.run(
                [fill(argument, values) for argument in self.command],
                folder=prompt.workspace,
                relative_to=prompt.folder,
                env={**prompt.env, **self.env},
                limits=program.Limits(self.max_output_bytes),
                stdin=self._input(prompt),
                on_output=lambda: prompt.heartbeat(Answer("empty", "")),
                on_end=on_end,
            )
            return replace(self._read_answer(ended), orphaned_processes=orphans)
        except ProgramError as error:
            kind: AgentFailureKind = "infra_error" if error.of_machine else "agent_error"
            partial = Answer("empty", "", orphaned_processes=orphans)
            raise AgentError(kind, error.message, retryable=error.of_machine, partial=partial) from error
        except AgentError as error:
            error.partial = Answer("empty", "", orphaned_processes=orphans)
            raise

    def _input(self, prompt: Prompt) -> bytes:
        if self.input == "none":
            return b""
        return orjson.dumps(
            {
                "question": prompt.question,
                "turns": list(prompt.turns),
                "system_prompt": prompt.system_prompt,
                "mcp_servers": {name: dict(server) for name, server in prompt.mcp_servers.items()},
                "repetition": prompt.repetition,
                "workspace": str(prompt.workspace),
            }
        )

    def _read_answer(self, ended: program.Ended) -> Answer:
        if ended.exceeded is not None:
            raise AgentError("agent_error", f"wrote more than max_output_bytes ({self.max_output_bytes})")
        if ended.exit_status:
            raise _failure(ended.exit_status, ended.stderr)
        try:
            text = ended.stdout.decode()
        except UnicodeDecodeError as error:
            raise AgentError("agent_error", f"stdout is not UTF-8: byte {error.start}: {error.reason}") from error
        if self.answer_path is None:
            return _answer(re.sub(r"\r?\n\Z", "", text), None, None)
        try:
            document = orjson.loads(text)
        except orjson.JSONDecodeError as error:
            raise AgentError("agent_error", f"stdout is not JSON: {error}") from error
        return _answer(
            _text_at(document, self.answer_path),
            _usage_at(document, self.usage_path),
            _cost_at(document, self.cost_path),
        )


def _known_before(argument: str, folder: Path) -> str:
    """Return an argument as it is in every task; an empty one if it depends on the task."""
    try:
        return fill(argument, dict.fromkeys(KNOWN_BEFORE, folder))
    except ValueError:
        return ""


def _failure(exit_status: int, stderr: bytes) -> AgentError:
    """Return the error for a program that did not exit with 0; a negative status is a signal's number."""
    how = f"exit status {exit_status}" if exit_status > 0 else f"ended by {signal.Signals(-exit_status).name}"
    tail = end_of(stderr.decode(errors="replace").strip(), STDERR_TAIL)
    message = f"{how}; stderr ends: {tail}" if tail else f"{how}, nothing on stderr"
    if exit_status == TEMPORARY_FAILURE:
        return AgentError("infra_error", message, retryable=True)
    if exit_status in NOT_STARTED:
        return AgentError("infra_error", f"the program, or what starts it, was not found or cannot run: {message}")
    return AgentError("agent_error", message)


def _answer(text: str, usage: Usage | None, cost_usd: float | None) -> Answer:
    return Answer(
        status="answered" if text.strip() else "empty",
        text=text,
        turns=(Turn("text", text=text),) if text else (),
        usage=usage,
        cost_usd=cost_usd,
    )


def _text_at(document: object, path: str) -> str:
    try:
        value = look_up(document, json_path(path))
    except LookupError as error:
        raise AgentError("agent_error", f"stdout has nothing at {path}") from error
    if not isinstance(value, str):
        raise AgentError("agent_error", f"stdout has {_kind(value)} at {path}, not a text")
    return value


def _kind(value: object) -> str:
    names = {type(None): "null", bool: "true or false", dict: "an object", list: "a list"}
    return names.get(type(value), "a number")


def _known(document: object, path: str | None) -> object:
    """Return the value at a path, None where there is none: what is not known is not guessed."""
    try:
        return None if path is None else look_up(document, json_path(path))
    except LookupError:
        return None


def _cost_at(document: object, path: str | None) -> float | None:
    value = _known(document, path)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0 else None


def _usage_at(document: object, path: str | None) -> Usage | None:
    value = _known(document, path)
    if not isinstance(value, Mapping):
        return None
    names: Sequence[str] = tuple(Usage.__dataclass_fields__)
    return Usage(**{name: value[name] for name in names if type(value.get(name)) is int and value[name] >= 0})
