"""Finds out what the MCP servers of a config turn out to be: it belongs to the identity of its conditions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from keval.execution.answering import resolved_servers
from keval.execution.preparation import Prepared
from keval.ids import JsonObject
from keval.processes import environment, local_files, servers
from keval.processes.servers import ServerInfo

CONNECT_TIMEOUT_S = 60.0
"""How long a server may take to say what it offers before a run starts."""


async def offered(prepared: Prepared) -> dict[str, ServerInfo]:
    """Ask every MCP server that a condition uses what it offers, and look at the files that its command names."""
    config, used = prepared.config, _used_servers(prepared)
    infos = await servers.inspect(
        resolved_servers(used, config.secrets, config.path.parent),
        servers.expected_tools(used),
        environment.allowed(config.environ) | prepared.mark,
        CONNECT_TIMEOUT_S,
    )
    commands = {name: servers.command_of(config.secrets.resolve(server)) for name, server in used.items()}
    folder = config.path.parent
    return {name: replace(info, files=local_files.named_by(commands[name], folder)) for name, info in infos.items()}


def _used_servers(prepared: Prepared) -> dict[str, JsonObject]:
    return {name: server for each in prepared.config.conditions for name, server in each.mcp_servers.items()}


def identify(prepared: Prepared, infos: Mapping[str, ServerInfo], newest: JsonObject | None) -> Prepared:
    """Return the config with conditions that know what their servers turned out to be: it is part of their identity.

    A server that could not be asked is what `newest`, the config's newest run in the log, recorded of the same
    server as written; else what it says of itself is unknown.
    """
    secrets, used = prepared.config.secrets, _used_servers(prepared)
    recorded = newest["mcp_servers"] if newest else {}
    written = (newest["config"] or {}).get("mcp_servers", {}) if newest else {}
    found = {
        name: info.completed(recorded[name])
        if name in recorded and written.get(name) == secrets.redact_value(used[name])
        else info
        for name, info in infos.items()
    }
    # As a log holds it: what was recorded of a server that cannot be asked any more has to be the same.
    of_content = {
        name: secrets.redact_value(info.identity())
        for name, info in found.items()
        if servers.REVISION not in used[name]
    }
    conditions = tuple(replace(condition, servers_found=of_content) for condition in prepared.config.conditions)
    return replace(prepared, config=replace(prepared.config, conditions=conditions), servers=found)
