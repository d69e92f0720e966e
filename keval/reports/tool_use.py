"""What the tools, and the MCP servers, did in the answers of a condition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

from keval.reports.model import ServerUse
from keval.reports.queries import Queries


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


def tool_use(queries: Queries) -> dict[tuple[str, str], ToolUse]:
    """Return what tools did by the ids of condition and agent, of the logs that are asked."""
    found = {}
    for row in queries.ask("tool_use"):
        key = (row["condition_id"], row["agent_id"])
        found[key] = ToolUse(**{each.name: row[each.name] for each in fields(ToolUse)})
    return found


def server_use(queries: Queries) -> dict[tuple[str, str], list[ServerUse]]:
    """Return what became of each MCP server, by the ids of condition and agent, of the logs that are asked."""
    found: dict[tuple[str, str], list[ServerUse]] = {}
    for row in queries.ask("server_use"):
        use = ServerUse(**{each.name: row[each.name] for each in fields(ServerUse)})
        found.setdefault((row["condition_id"], row["agent_id"]), []).append(use)
    return found
