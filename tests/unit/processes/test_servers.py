from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from keval.processes.servers import ServerInfo, expected_tools, inspect, launchable
from tests.prompts import SERVERS, environment
from tests.remains import left_below

DOCS = {"type": "stdio", "command": sys.executable, "args": ["docs.py"]}


@pytest.mark.slow
async def test_a_server_says_what_it_is_and_what_it_offers() -> None:
    """Name, version and tools come from the server itself, with a hash that changes with them."""
    infos = await inspect({"docs": launchable(DOCS, SERVERS)}, {}, environment(), 20)
    info = infos["docs"]
    assert (info.server_name, info.version, info.tools, info.error) == ("docs", "1.0", ("search", "pages"), None)
    assert info.tools_sha256
    again = await inspect({"docs": launchable(DOCS, SERVERS)}, {}, environment(), 20)
    assert again["docs"].tools_sha256 == info.tools_sha256


async def test_all_pages_of_a_servers_tools_are_read() -> None:
    """A tool on the second page is offered like any other, and is part of what the server is."""
    pages = launchable({"type": "stdio", "command": sys.executable, "args": ["pages.py"]}, SERVERS)
    infos = await inspect({"pages": pages}, {"pages": ("two",)}, environment(), 20)
    assert (infos["pages"].tools, infos["pages"].error) == (("one", "two"), None)


@pytest.mark.slow
async def test_what_cannot_be_reached_is_an_entry_with_its_error() -> None:
    """A missing program, one that exits, one without tools, a slow one and a dead address are told apart."""
    servers = {
        "missing": launchable({"type": "stdio", "command": "/no/such/program"}, SERVERS),
        "exits": launchable({"type": "stdio", "command": sys.executable, "args": ["exits.py"]}, SERVERS),
        "no_tools": launchable({"type": "stdio", "command": sys.executable, "args": ["no_tools.py"]}, SERVERS),
        "dead": {"type": "http", "url": "http://127.0.0.1:9/mcp"},
    }
    infos = await inspect(servers, {}, environment(), 30)
    assert {name for name, info in infos.items() if info.error} == set(servers)
    assert infos["no_tools"].error == "the server offers no tools"
    sleeps = launchable({"type": "stdio", "command": sys.executable, "args": ["sleeps.py", "60"]}, SERVERS)
    slow = await inspect({"sleeps": sleeps}, {}, environment(), 1)
    assert slow["sleeps"].error == "no answer within 1 s"


async def test_the_end_of_a_broken_servers_stderr_is_told_and_not_recorded() -> None:
    """It says why a server ended; in a log it would make each run another one."""
    said = {"type": "stdio", "command": sys.executable, "args": ["-c", "raise SystemExit('no licence')"]}
    info = (await inspect({"broken": launchable(said, SERVERS)}, {}, environment(), 20))["broken"]
    assert info.stderr_end == "no licence"
    assert "no licence" not in str(info.as_event_field())


@pytest.mark.slow
async def test_a_server_that_lacks_an_expected_tool_is_told() -> None:
    """What is missing and what is there are both named."""
    servers = {"docs": {**DOCS, "expect_tools": ["fetch"]}}
    started = {name: launchable(server, SERVERS) for name, server in servers.items()}
    infos = await inspect(started, expected_tools(servers), environment(), 20)
    assert infos["docs"].error == "the server does not offer fetch (it offers: search, pages)"


@pytest.mark.slow
async def test_nothing_is_left_of_a_server_that_was_asked(tmp_path: Path) -> None:
    """A server that is deaf to SIGTERM and its daemon are ended, and told by name."""
    forks = {"type": "stdio", "command": "python", "args": [str(SERVERS / "forks_daemon.py")]}
    infos = await inspect({"forks": launchable(forks, tmp_path)}, {}, environment(), 20)
    assert infos["forks"].error is None
    assert set(infos["forks"].orphaned_processes) == {"python"}
    assert left_below(tmp_path) == []


@pytest.mark.slow
async def test_nothing_is_left_of_a_server_however_often_who_asks_is_interrupted(tmp_path: Path) -> None:
    """Neither a second Ctrl-C nor a tenth breaks off what ends the server."""
    sleeps = {"type": "stdio", "command": sys.executable, "args": [str(SERVERS / "sleeps.py"), "600"]}
    asking = asyncio.create_task(inspect({"sleeps": launchable(sleeps, tmp_path)}, {}, environment(), 60))
    async with asyncio.timeout(60):
        while not left_below(tmp_path):  # noqa: ASYNC110 - a process has no event
            await asyncio.sleep(0.01)
        while not asking.done():
            asking.cancel()
            await asyncio.sleep(0.1)
    assert asking.cancelled()
    assert left_below(tmp_path) == []


def test_a_stdio_server_starts_in_the_folder_of_the_config() -> None:
    """Relative arguments mean files beside the config, whatever their characters."""
    started = launchable({"type": "stdio", "command": "./run me", "args": ["a b", "$HOME"]}, Path("/the folder"))
    assert started["args"][2:] == ["/the folder", "./run me", "a b", "$HOME"]
    assert launchable({"type": "http", "url": "u", "expect_tools": ["x"]}, Path("/")) == {"type": "http", "url": "u"}


def test_the_client_is_not_told_what_is_for_keval() -> None:
    """Neither what a server must offer nor what stands for it reaches whoever starts it."""
    server = {"type": "http", "url": "u", "expect_tools": ["x"], "revision": "1"}
    assert launchable(server, Path("/")) == {"type": "http", "url": "u"}


def test_what_was_recorded_stands_for_a_server_that_cannot_be_asked() -> None:
    """But not for one that could, whatever it said."""
    recorded = {"server_name": "docs", "version": "1", "tools": ["search"], "tools_sha256": "aa"}
    silent = ServerInfo("docs", error="no answer").completed(recorded)
    assert (silent.version, silent.tools, silent.tools_sha256, silent.error) == ("1", ("search",), "aa", "no answer")
    spoke = ServerInfo("docs", tools=(), tools_sha256="bb", error="the server offers no tools")
    assert spoke.completed(recorded) is spoke
