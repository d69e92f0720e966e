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
from pathlib import Path
from typing import Any, ClassVar

import orjson

from keval.agents import Agent, AgentError, Answer, McpUse, Prompt, Turn
from keval.agents._function_result import read_result
from keval.errors import InputError
from keval.plugins import option
from keval.processes import local_files
from keval.processes.local_files import LocalFile
from keval.questions import messages
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
        if _is_response(row):
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
    offsets: dict[PromptKey, int] = {}
    conditions: dict[str, tuple[str, tuple[str, ...]]] = {}
    silent: set[str] = set()
    lines: dict[PromptKey, tuple[int, int]] = {}
    reports = True
    for number, offset, row in _rows(path):
        if row.get("type") == "run":
            if (row.get("agent") or {}).get("reports_tool_calls") is False:
                silent.add(row["agent"]["agent_id"])
            for condition in (row.get("conditions") or {}).values():
                conditions[condition["condition_id"]] = (condition["system_prompt"], tuple(condition["mcp_servers"]))
        elif _is_response(row):
            prompt, servers = conditions.get(row["condition_id"], (None, None))
            offsets[messages(row["sample"]["question"]), prompt, servers, row["repetition"]] = offset
            reports &= row["agent_id"] not in silent
        elif isinstance(row.get("text"), str) and isinstance(row.get("question"), str | list):
            prompt, repetition = row.get("system_prompt"), row.get("repetition")
            if not isinstance(prompt, str | None) or not isinstance(repetition, int | None):
                raise InputError(f"{path}:{number}: system_prompt must be a text, and repetition a whole number")
            key = messages(row["question"]), prompt, None, repetition
            first, text = lines.setdefault(key, (number, hash(row["text"])))
            if text != hash(row["text"]):
                raise InputError(f"{path}:{number}: answers the same as line {first}; name the repetition of each")
            offsets[key] = offset
            reports &= "tool_calls" in row
    return _Found(offsets, reports)


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


def _is_response(row: Mapping[str, Any]) -> bool:
    return row.get("type") == "response" and isinstance(row.get("sample"), dict)


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
