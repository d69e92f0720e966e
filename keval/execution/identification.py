"""Finds out what the MCP servers of a config turn out to be: it belongs to the identity of its conditions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from shlex import quote

from keval.executors.answering import resolved_servers
from keval.ids import JsonObject
from keval.preparation.prepared import Prepared
from keval.processes import environment, local_files, servers
from keval.processes.mcp_client import STDERR_LINES
from keval.processes.servers import ServerInfo
from keval.scheduling import interrupt
from keval.secrets.excerpts import beginning_of, last_lines
from keval.secrets.variables import Secrets

LONGEST_STRAY = 200
"""Characters that are told of what a server writes where it should not."""

CONNECT_TIMEOUT_S = 60.0
"""How long a server may take to say what it offers before a run starts, if the agent does not say."""


async def offered(prepared: Prepared) -> dict[str, ServerInfo]:
    """Ask every MCP server that a condition uses what it offers, and look at the files that its command names."""
    config, used = prepared.config, _used_servers(prepared)
    said_s = config.agent.agent.servers_ready_within_s
    infos = await _asked(
        used, config.secrets, config.path.parent, environment.allowed(config.environ) | prepared.mark, said_s
    )
    commands = {name: servers.command_of(config.secrets.resolve(server)) for name, server in used.items()}
    folder = config.path.parent
    return {name: replace(info, files=local_files.named_by(commands[name], folder)) for name, info in infos.items()}


def first_offered(
    written: Mapping[str, JsonObject], folder: Path, environ: Mapping[str, str], secrets: Secrets
) -> dict[str, ServerInfo]:
    """Ask the servers of a config that is still to be written, in the folder where it will be, what they offer.

    Raises EnvironmentLacksError for variables that they name and that are not set.
    """
    secrets.register_all(written)
    return interrupt.ask(_asked(written, secrets, folder, environment.allowed(environ)))


async def _asked(
    written: Mapping[str, JsonObject],
    secrets: Secrets,
    folder: Path,
    env: Mapping[str, str],
    within_s: float | None = None,
) -> dict[str, ServerInfo]:
    return await servers.inspect(
        resolved_servers(written, secrets, folder),
        servers.expected_tools(written),
        env,
        CONNECT_TIMEOUT_S if within_s is None else within_s,
    )


def server_failure(info: ServerInfo) -> str | None:
    """Return what is wrong with a server and how its stderr ended, without secrets; None for one that is ready."""
    if info.error is None:
        return None
    end = last_lines(info.stderr_end, STDERR_LINES)
    stray = stray_output(info)
    return info.error + (f"; {stray}" if stray else "") + (f"; its stderr ends: {end}" if end else "")


def stray_output(info: ServerInfo) -> str | None:
    """Return what is wrong with what a server writes to stdout, without secrets; None if nothing is."""
    if not info.stray_output:
        return None
    said = beginning_of(info.stray_output, LONGEST_STRAY)
    return f"it writes to stdout, where only messages of the protocol belong (print to stderr instead): {said!r}"


def failed_servers(prepared: Prepared, infos: Mapping[str, ServerInfo]) -> Iterator[str]:
    """Yield of each server what is wrong with it, and of one that failed which conditions need it."""
    for info in infos.values():
        failure = server_failure(info)
        if failure is None and info.stray_output:
            yield f"MCP server {info.name!r}: {stray_output(info)}; a client may take that for a broken server"
        if failure is not None:
            agent = prepared.config.agent
            needing = ", ".join(each.name for each in prepared.config.conditions if info.name in each.mcp_servers)
            without = (
                f"without it no task of {needing} is answered (mcp_not_ready)"
                if agent.agent.needs_servers
                else f"agent {agent.name} is asked under {needing} all the same, as it connects to servers itself"
            )
            check = f"keval check {quote(str(prepared.config.path))}"
            yield f"MCP server {info.name!r} FAILED: {failure}; {without}; {check} says when it is ready"


def edited_meanwhile(prepared: Prepared) -> str | None:
    """Say which files of the agent and of servers changed since the run began, None if none did."""
    used = _used_servers(prepared)
    # What a server with a revision keeps in its files is another matter: its revision says which version it is.
    counting = [info.files for name, info in prepared.servers.items() if servers.REVISION not in used.get(name, {})]
    files = [*prepared.config.agent.files, *(file for of_server in counting for file in of_server)]
    edited = ", ".join(dict.fromkeys(file.name for file in files if file.has_changed))
    if not edited:
        return None
    return (
        f"{edited} changed while the run went on: answers of it may be of either version, and are recorded as those of "
        "the version with which it began; the same command again asks for all of the new one"
    )


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
