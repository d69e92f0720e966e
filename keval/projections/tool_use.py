"""Counts what the tools did in an answer, and finds those that returned the golden answer.

Answer leakage is a golden answer in what a tool gave the agent. It is looked for here and not in SQL: a report must be
possible whatever tools returned, and a database holds thousands of answers in memory at once; this holds one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypedDict

import orjson

from keval.projections.line_text import EventAt, events_of
from keval.projections.log_file import LogFile
from keval.projections.sql_file import load
from keval.projections.views import inserted, made

if TYPE_CHECKING:
    import duckdb

    from keval.ids import JsonObject

READ = ("facts", "newest_samples")
"""What answers that called a tool are found in."""

AT_ONCE = 10_000
"""Answers that are counted before what was found is handed over."""

SHORTEST = 20
"""Characters of a golden answer that is looked for; a shorter one would be found by chance."""

_BREAKS, _WIDE = r"\t\n\f\r", r"\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_SPACE = f"{_BREAKS} {_WIDE}"
_SPACES = re.compile(f"[{_SPACE}]+")
_SPACES_IN_JSON = re.compile(f"(?:\\\\[nrt]|[{_SPACE}])+")
_WORD = re.compile(f'[^{_SPACE}"\\\\]+')

IN_SQL = {"shortest": str(SHORTEST), "breaks": _BREAKS, "wide": re.sub(r"\\u0*(\w+)", r"\\x{\1}", _WIDE)}
"""The same for `lines.sql`: in DuckDB's regular expressions a character is written in another way."""


class ToolUse(TypedDict):
    """What the tools did in one answer."""

    calls: int
    failed: int
    found: bool
    """Whether a tool returned the golden answer word for word."""
    found_by: list[str]
    """Of the tools that did, those that belong to no MCP server of the condition."""


def make_table(connection: duckdb.DuckDBPyConnection, logs: Sequence[LogFile]) -> None:
    """Make the table `tool_use` after those that it is made from. Raises InputError when a log cannot be opened."""
    connection.execute(made("TABLE", "tool_use", load("projections", "tool_use", used="'[]'")))
    connection.execute(made("OR REPLACE TEMP TABLE", "tool_using", load("projections", "tool_using")))
    with events_of(logs) as event_at:
        for answers in _in_parts(connection):
            used = [_of_answer(event_at, *answer) for answer in answers]
            given = orjson.dumps(used).decode()
            connection.execute(inserted("tool_use", load("projections", "tool_use", used="?")), [given])


def _in_parts(connection: duckdb.DuckDBPyConnection) -> Iterator[list[tuple[Any, ...]]]:
    last = 0
    # Not one query: what was found of each part is written before the next one is read.
    query = "from tool_using where ids.position > ? order by ids.position limit ?"
    while found := connection.execute(query, [last, AT_ONCE]).fetchall():
        yield found
        last = found[-1][0]["position"]


def _of_answer(event_at: EventAt, ids: JsonObject, place: tuple[int, int], golden: tuple[int, int]) -> JsonObject:
    """Return the row of an answer, given in which file and where its line begins, and the line of its golden answer."""
    response = event_at(*place)
    telling = response if place == golden else event_at(*golden)
    return ids | tool_use(response["turns"], telling["sample"].get("answer"))


def tool_use(turns: Sequence[JsonObject], golden_answer: str | None) -> ToolUse:
    """Return what the tools did in one answer."""
    calls = [turn for turn in turns if turn["type"] == "tool_call"]
    golden = comparable(golden_answer or "")
    finding = [call for call in calls if returns(call["result"], golden.lower())] if len(golden) >= SHORTEST else []
    return {
        "calls": len(calls),
        "failed": sum(bool(call["error"]) for call in calls),
        "found": bool(finding),
        "found_by": sorted({call["name"] for call in finding if call["server"] is None}),
    }


def comparable(golden_answer: str) -> str:
    """Return a golden answer with single spaces for whatever white space it has, and none at its ends."""
    return _SPACES.sub(" ", golden_answer).strip(" ")


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
