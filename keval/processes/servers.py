"""Starts MCP servers from a config, and asks each what it is and which tools it offers.

The answer goes into the `run` event, so that a server that changed between two runs can be seen,
and into `keval check`, before a cent is spent.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from keval.ids import JsonObject, digest
from keval.processes import machine, tree
from keval.processes.local_files import LocalFile
from keval.processes.mcp_client import all_tools, connected, end_of_stderr, innermost, within

if TYPE_CHECKING:
    from mcp.types import Tool

EXPECT_TOOLS = "expect_tools"
REVISION = "revision"
OWN_KEYS = (EXPECT_TOOLS, REVISION)
"""The keys of a server's config that are for keval, not for the client that starts the server."""


GIVEN_OF_A_TOOL = {"name", "description", "input_schema"}
"""What an agent is given of a tool; all else that a server says of one makes no difference to it."""


def expected_tools(servers: Mapping[str, Mapping[str, Any]]) -> dict[str, tuple[str, ...]]:
    """Return the tools that each server must offer, as far as its config says."""
    return {name: tuple(server[EXPECT_TOOLS]) for name, server in servers.items() if server.get(EXPECT_TOOLS)}


def lacking(offered: Iterable[str], expected: Iterable[str]) -> str | None:
    """Return what is wrong with the tools that a server offers, or None."""
    offered = list(offered)
    missing = [name for name in expected if name not in offered]
    if missing:
        return f"the server does not offer {', '.join(missing)} (it offers: {', '.join(offered) or 'no tools'})"
    return None if offered else "the server offers no tools"


def launchable(server: Mapping[str, Any], folder: Path) -> JsonObject:
    """Return a server's config in the form that any MCP client can start.

    A stdio server starts in the config's folder, because paths in a config are relative to it;
    the agent itself works elsewhere. It has as many open files as keval was started with.
    """
    if server["type"] != "stdio":
        return {name: value for name, value in server.items() if name not in OWN_KEYS}
    command = command_of(server)
    limit = f"ulimit -Sn {machine.own_limit()} 2>/dev/null"
    return {
        "type": "stdio",
        "command": "/bin/sh",
        "args": ["-c", f'{limit}; cd "$0" && exec "$@"', str(folder), *command],
        "env": dict(server.get("env", {})),
    }


def command_of(server: Mapping[str, Any]) -> list[str]:
    """Return the program that a server's config names, and its arguments; nothing for one that is elsewhere."""
    return [server["command"], *server.get("args", [])] if server["type"] == "stdio" else []


@dataclass(frozen=True, slots=True)
class ServerInfo:
    """What one MCP server turned out to be, or why it could not be asked."""

    name: str
    server_name: str | None = None
    version: str | None = None
    tools: tuple[str, ...] | None = None
    tools_sha256: str | None = None
    """Hash of the tools' names, descriptions and input schemas."""
    files: tuple[LocalFile, ...] = ()
    """The local files that its command names."""
    error: str | None = None
    stderr_end: str = ""
    """The end of what a server with an error wrote to stderr, as it is; not in a log: it may differ each time."""
    stray_output: str = ""
    """The first line that it wrote to stdout, where only messages of the protocol belong, as it is; not in a log."""
    orphaned_processes: tuple[str, ...] = ()
    """Names of processes that it left behind when it had been asked, and that were ended."""
    read_only: tuple[str, ...] = ()
    """The tools that it marks as changing nothing."""
    destructive: tuple[str, ...] = ()
    """The tools that it marks as destroying something."""

    def as_event_field(self) -> JsonObject:
        """Return the server's entry in the `run` event."""
        return {
            "server_name": self.server_name,
            "version": self.version,
            "tools": None if self.tools is None else list(self.tools),
            "tools_sha256": self.tools_sha256,
            "files": [file.as_event_field() for file in self.files],
            "error": self.error,
        }

    def identity(self) -> JsonObject:
        """Return what of the server makes its conditions what they are."""
        return {
            "server_name": self.server_name,
            "version": self.version,
            "tools_sha256": self.tools_sha256,
            "files": [file.sha256 for file in self.files],
        }

    def completed(self, recorded: Mapping[str, Any]) -> ServerInfo:
        """Return a server that could not be asked with what an earlier run recorded of it."""
        if self.tools_sha256 is not None:
            return self
        tools = recorded["tools"]
        return replace(
            self,
            server_name=recorded["server_name"],
            version=recorded["version"],
            tools=None if tools is None else tuple(tools),
            tools_sha256=recorded["tools_sha256"],
        )


async def inspect(
    servers: Mapping[str, Mapping[str, Any]],
    expected: Mapping[str, Sequence[str]],
    env: Mapping[str, str],
    timeout_s: float,
) -> dict[str, ServerInfo]:
    """Connect to every server at once and return what each offers.

    `servers` are launchable configs; `expected` names the tools that each must offer; `env` is the
    environment of the stdio servers. A server that cannot be reached within `timeout_s`, or does not
    offer what it must, is an entry with an error, not an exception.
    """
    if servers:
        tree.adopt_orphans()
    infos = await asyncio.gather(
        *(_inspect_one(name, server, expected.get(name, ()), env, timeout_s) for name, server in servers.items())
    )
    return {info.name: info for info in infos}


async def _inspect_one(
    name: str, server: Mapping[str, Any], expected: Sequence[str], env: Mapping[str, str], timeout_s: float
) -> ServerInfo:
    """Ask one server, and end every process that it started."""
    token = tree.new_token()
    orphans: list[str] = []
    stray: list[str] = []
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as stderr:
        try:
            asking = _asked(name, server, expected, {**env, tree.TOKEN: token}, stderr, stray.append)
            info = await within(timeout_s, asking)
        except TimeoutError:
            info = ServerInfo(name, error=f"no answer within {timeout_s:g} s")
        finally:
            orphans = await tree.to_the_end(tree.end_tree(token))
        told = end_of_stderr(stderr) if info.error else ""
    first = next((line.strip() for line in stray if line.strip()), "")
    return replace(info, orphaned_processes=tuple(orphans), stderr_end=told, stray_output=first)


async def _asked(  # noqa: PLR0913, PLR0917 - all that a server is asked with
    name: str,
    server: Mapping[str, Any],
    expected: Sequence[str],
    env: Mapping[str, str],
    stderr: TextIO,
    on_stray: Callable[[str], None],
) -> ServerInfo:
    try:
        async with connected(server, env, stderr, on_stray) as client:
            offered = await all_tools(client)
            said = client.server_info
            described = [tool.model_dump(mode="json", include=GIVEN_OF_A_TOOL, exclude_none=True) for tool in offered]
            return ServerInfo(
                name=name,
                server_name=said.name if said else None,
                version=said.version if said else None,
                tools=tuple(tool.name for tool in offered),
                tools_sha256=digest("tools", sorted(described, key=lambda tool: str(tool["name"]))),
                read_only=tuple(each.name for each in offered if each.annotations and each.annotations.read_only_hint),
                destructive=tuple(each.name for each in offered if _is_destructive(each)),
                error=lacking((tool.name for tool in offered), expected),
            )
    except Exception as error:  # noqa: BLE001 - a foreign server can fail in any way, and each is its answer
        return ServerInfo(name, error=innermost(error))


def _is_destructive(tool: Tool) -> bool:
    """Return whether a server marks a tool as destructive; the mark says nothing of one that changes nothing."""
    marks = tool.annotations
    return marks is not None and bool(marks.destructive_hint) and not marks.read_only_hint
