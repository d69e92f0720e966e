"""Counts the tool calls of a log's answers, and those that returned the golden answer, one line at a time.

Answer leakage is a golden answer in what a tool gave the agent. It is looked for here and not in SQL: a report must be
possible whatever tools returned, and a database holds thousands of answers in memory at once; this holds one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import orjson

from keval.ids import JsonObject
from keval.projections.log_file import LogFile, as_log_file
from keval.reports.queries import ask

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

SHORTEST = 20
"""Characters of a golden answer that is looked for; a shorter one would be found by chance."""

_SPACE = "\\t\\n\\f\\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_SPACES = re.compile(f"[{_SPACE}]+")
_SPACES_IN_JSON = re.compile(f"(?:\\\\[nrt]|[{_SPACE}])+")
_WORD = re.compile(f'[^{_SPACE}"\\\\]+')


@dataclass(slots=True)
class ToolUse:
    """What the tools did in the current answers of one condition and agent."""

    calls: int = 0
    failed: int = 0
    searched: int = 0
    """Answers whose golden answer is long enough to be looked for in what the tools returned."""
    found: int = 0
    """Of these, answers of which a tool returned the golden answer word for word."""
    found_elsewhere: int = 0
    """Of these, answers of which a tool that belongs to no MCP server of the condition returned it."""
    tools_elsewhere: set[str] = field(default_factory=set)

    def add(self, turns: Sequence[JsonObject], golden_answer: str | None) -> None:
        """Count in one answer."""
        calls = [turn for turn in turns if turn["type"] == "tool_call"]
        self.calls += len(calls)
        self.failed += sum(bool(call["error"]) for call in calls)
        golden = _SPACES.sub(" ", golden_answer or "").strip(" ").lower()
        if len(golden) < SHORTEST:
            return
        self.searched += 1
        finding = [call for call in calls if returns(call["result"], golden)]
        elsewhere = {call["name"] for call in finding if call["server"] is None}
        self.found += bool(finding)
        self.found_elsewhere += bool(elsewhere)
        self.tools_elsewhere |= elsewhere


def returns(result: str | None, golden: str) -> bool:
    """Say whether a tool's result contains a golden answer, which is in lower case with single spaces."""
    if result is None:
        return False
    text = result.lower()
    # Most results lack even the longest word of the answer; only the others are worth making comparable.
    if max(_WORD.findall(golden), key=len, default="") not in text:
        return False
    # Many tools return JSON, in which a line break is two characters.
    return golden in _SPACES_IN_JSON.sub(" ", text.replace('\\"', '"'))


def tool_use(connection: DuckDBPyConnection, logs: Sequence[LogFile | Path]) -> dict[tuple[str, str], ToolUse]:
    """Return what tools did by the ids of condition and agent, of the logs that the connection has views of."""
    used: dict[tuple[str, str], ToolUse] = {}
    corrected = {row["sample_id"]: row["answer"] for row in ask(connection, "corrected_answers")}
    # Positions count the lines of all logs, as DuckDB does; there are no blank ones.
    lines = enumerate(chain.from_iterable(as_log_file(log).read() for log in logs), start=1)
    line = next(lines, None)
    for row in ask(connection, "current_answers"):
        while line is not None and line[0] < row["position"]:
            line = next(lines, None)
        if line is None:
            break
        response = orjson.loads(line[1])
        golden = corrected.get(row["sample_id"], response["sample"].get("answer"))
        used.setdefault((row["condition_id"], row["agent_id"]), ToolUse()).add(response["turns"], golden)
    return used
