"""What the tools did in the answers of a condition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from keval.reports.queries import ask

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


@dataclass(frozen=True, slots=True)
class ToolUse:
    """What the tools did in the current answers of one condition and agent."""

    calls: int | None = 0
    """None for an agent that does not report its calls."""
    failed: int | None = 0
    searched: int = 0
    """Answers whose golden answer is long enough to be looked for in what the tools returned."""
    found: int = 0
    """Of these, answers of which a tool returned the golden answer word for word."""
    found_elsewhere: int = 0
    """Of these, answers of which a tool that belongs to no MCP server of the condition returned it."""
    tools_elsewhere: Sequence[str] = ()


def tool_use(connection: DuckDBPyConnection) -> dict[tuple[str, str], ToolUse]:
    """Return what tools did by the ids of condition and agent, of the logs that the connection has views of."""
    found = {}
    for row in ask(connection, "tool_use"):
        key = (row.pop("condition_id"), row.pop("agent_id"))
        found[key] = ToolUse(**row)
    return found
