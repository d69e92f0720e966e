"""Answers again what a log or a JSONL file has answered: free, and always the same.

Of a log it takes the responses, by question, system prompt, names of the MCP servers and repetition. A line of any
other file has a `question` and a `text`; it may have a `system_prompt` and a `repetition`, else it is for all of them,
and `tool_calls`, `sources` and `models`. The last line that fits counts. An agent knows no sample's id and no
condition's name; `keval import` is for answers that are known by these.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from operator import itemgetter
from pathlib import Path
from typing import Any, ClassVar

import orjson

from keval.agents import Agent, AgentError, Answer, McpUse, Prompt, Turn
from keval.agents._function_result import read_result
from keval.errors import InputError
from keval.ids import JsonObject
from keval.plugins import option
from keval.processes import local_files
from keval.processes.local_files import LocalFile
from keval.questions import messages
from keval.schema import EVENT_TYPES, event_problem
from keval.usage import Usage

NOTHING_USED = Usage(0, 0, 0, 0)
"""The tokens of an answer that nobody was asked for."""

PromptKey = tuple[tuple[str, ...], str | None, tuple[str, ...] | None, int | None]
"""The messages of the user, the system prompt, the servers' names, and the repetition; None: any."""


@dataclass(frozen=True, kw_only=True)
class Replay(Agent):
    """An agent that repeats what is written down."""

    uses_models: ClassVar[bool] = False
    is_free: ClassVar[bool] = True
    uses_workspace: ClassVar[bool] = False
    takes_turns: ClassVar[bool] = True
    open_files: ClassVar[int] = 1

    path: Path = field(metadata=option("the log or JSONL file with the answers, relative to the config's folder"))
    model: str | None = field(default=None, metadata=option("the model that once answered, for the record"))

    @property
    def reports_tool_calls(self) -> bool:
        """Whether every answer of the file has its tool calls. Raises InputError for a file that cannot be read."""
        return _answers(self.path).reports_tool_calls

    def missing(self, folder: Path, env: Mapping[str, str]) -> str | None:  # noqa: ARG002 - it starts nothing
        """Return why there are no answers."""
        try:
            return None if _answers(self.path).offsets else f"{self.path} holds no answer"
        except InputError as error:
            return "; ".join(error.problems)

    def local_files(self, folder: Path) -> tuple[LocalFile, ...]:
        """Return the file: other answers are another agent's."""
        return local_files.named_by(["", str(self.path)], folder)

    async def answer(self, prompt: Prompt) -> Answer:
        """Return what is written down for the prompt. Raises AgentError where nothing is."""
        try:
            found = _answers(self.path)
            offset = next((found.offsets[key] for key in _keys(prompt) if key in found.offsets), None)
            if offset is None:
                raise AgentError("infra_error", f"{self.path.name} has no answer for this question and condition")
            row = _row_at(self.path, offset)
        except (InputError, OSError, orjson.JSONDecodeError) as error:
            raise AgentError("infra_error", f"{self.path.name} cannot be read: {error}") from error
        if _is_event(row):
            return _of_response(row)
        return _of_line(row, tuple(prompt.mcp_servers), tool_calls=found.reports_tool_calls)


@dataclass(frozen=True, slots=True)
class _Found:
    """Where the answers of a file are."""

    offsets: Mapping[PromptKey, int]
    reports_tool_calls: bool


def _answers(path: Path) -> _Found:
    """Return where the answers of a file are. Raises InputError for what is not lines of JSON objects."""
    try:
        state = path.stat()
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from error
    return _read(path, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=16)
def _read(path: Path, _modified_ns: int, _size: int) -> _Found:
    """Read a file once for each state that it is in."""
    log, lines = _Log(), _Lines()
    for number, offset, row in _rows(path):
        try:
            if _is_event(row):
                log.take(row, offset)
            elif isinstance(row.get("text"), str) and isinstance(row.get("question"), str | list):
                lines.take(row, offset, number)
        except InputError as error:
            raise InputError(f"{path}:{number}: {error}") from error
    return _Found(log.offsets() | lines.offsets, log.reports_tool_calls and lines.reports_tool_calls)


@dataclass
class _Log:
    """What the events of a log answer."""

    reports_tool_calls: bool = True
    _conditions: dict[str, tuple[str, tuple[str, ...]]] = field(default_factory=dict)
    _silent: set[str] = field(default_factory=set)
    """The ids of agents that do not report their tool calls."""
    _answers: dict[str, tuple[PromptKey, int]] = field(default_factory=dict)
    """Of each response that was not taken back what it answers, and where it stands."""
    _owners: dict[PromptKey, str] = field(default_factory=dict)
    """Of each prompt that may be that of several conditions the one whose it is."""

    def take(self, event: JsonObject, offset: int) -> None:
        """Read an event that begins at an offset. Raises InputError, which does not say where."""
        if (problem := event_problem(event)) is not None:
            raise InputError(problem)
        if event["type"] == "run":
            self._take_run(event)
        elif event["type"] == "response":
            self._take_response(event, offset)
        elif event["type"] == "retraction":
            self._answers.pop(event["target"], None)

    def _take_run(self, event: JsonObject) -> None:
        agent = event.get("agent") or {}
        if agent.get("reports_tool_calls") is False:
            self._silent.add(agent["agent_id"])
        for each in (event.get("conditions") or {}).values():
            self._conditions[each["condition_id"]] = (each["system_prompt"], tuple(each["mcp_servers"]))

    def _take_response(self, event: JsonObject, offset: int) -> None:
        condition_id = event["condition_id"]
        prompt, servers = self._conditions.get(condition_id, (None, None))
        key = messages(event["sample"]["question"]), prompt, servers, event["repetition"]
        if self._owners.setdefault(key, condition_id) != condition_id and prompt is None:
            raise InputError("two conditions, and no run event before them that says which system prompt each has")
        self._answers[event["id"]] = key, offset
        self.reports_tool_calls &= event["agent_id"] not in self._silent

    def offsets(self) -> dict[PromptKey, int]:
        """Return where the last answer to each prompt stands."""
        return dict(sorted(self._answers.values(), key=itemgetter(1)))


@dataclass
class _Lines:
    """What the lines of any other file answer."""

    offsets: dict[PromptKey, int] = field(default_factory=dict)
    reports_tool_calls: bool = True
    _first: dict[PromptKey, tuple[int, int]] = field(default_factory=dict)
    """Of each prompt the number of its first line, and the hash of that line's text."""

    def take(self, row: JsonObject, offset: int, number: int) -> None:
        """Read a line that begins at an offset. Raises InputError, which does not say where."""
        prompt, repetition = row.get("system_prompt"), row.get("repetition")
        if not isinstance(prompt, str | None) or not isinstance(repetition, int | None):
            raise InputError("system_prompt must be a text, and repetition a whole number")
        key = messages(row["question"]), prompt, None, repetition
        first, text = self._first.setdefault(key, (number, hash(row["text"])))
        if text != hash(row["text"]):
            raise InputError(f"answers the same as line {first}; name the repetition of each")
        self.offsets[key] = offset
        self.reports_tool_calls &= "tool_calls" in row


def _rows(path: Path) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """Yield each line that is a JSON object, with its number and where it begins."""
    offset = 0
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if line.strip():
                try:
                    row = orjson.loads(line)
                except orjson.JSONDecodeError as error:
                    raise InputError(f"{path}:{number}: not JSON: {error}") from error
                if not isinstance(row, dict):
                    raise InputError(f"{path}:{number}: not a JSON object")
                yield number, offset, row
            offset += len(line)


def _row_at(path: Path, offset: int) -> dict[str, Any]:
    with path.open("rb") as file:
        file.seek(offset)
        row: dict[str, Any] = orjson.loads(file.readline())
    return row


def _is_event(row: Mapping[str, Any]) -> bool:
    """Return whether a line is one of a log; another program's may have a `type` and a `run_id` of its own."""
    return row.get("type") in EVENT_TYPES and "v" in row


def _keys(prompt: Prompt) -> Iterator[PromptKey]:
    """Yield what may be written down for a prompt, the closest first."""
    servers = tuple(prompt.mcp_servers)
    for repetition in (prompt.repetition, None):
        for told, names in ((prompt.system_prompt, servers), (prompt.system_prompt, None), (None, None)):
            yield prompt.turns, told, names, repetition


def _of_response(row: Mapping[str, Any]) -> Answer:
    return Answer(
        status=row["status"],
        text=row["text"],
        turns=tuple(Turn(**turn) for turn in row["turns"]),
        mcp={name: McpUse(**{**use, "offered": tuple(use["offered"])}) for name, use in row["mcp"].items()},
        sources=tuple(row["sources"]),
        usage=NOTHING_USED,
        cost_usd=0.0,
        num_turns=row["num_turns"],
        models=tuple(row.get("models", ())),
    )


def _of_line(row: Mapping[str, Any], servers: tuple[str, ...], *, tool_calls: bool) -> Answer:
    kept = ["text", "sources", "models", *(["tool_calls"] if tool_calls else [])]
    told = {key: row[key] for key in kept if key in row}
    return replace(read_result(told, servers, tool_calls=tool_calls), usage=NOTHING_USED, cost_usd=0.0)
