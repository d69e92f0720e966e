"""Public MCP servers from their packages: what their tools refuse is judged, and only a server that dies is a failure.

`make servers` installs them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.builders import ask
from tests.remains import left_below
from tests.servers.over_http import free_port, is_served
from tests.servers.scripted_api import Say, ScriptedApi, text

pytestmark = pytest.mark.slow

PACKAGES = Path(__file__).parent.parent.parent / ".servers" / "node_modules" / "@modelcontextprotocol"

Call = tuple[str, dict[str, Any]]


def calls(folder: Path) -> dict[str, tuple[list[Call], list[Call]]]:
    """Return for each server calls that succeed, and calls that it refuses."""
    entity = {"name": "keval", "entityType": "program", "observations": ["it counts"]}
    unknown = {"entityName": "nobody", "contents": ["it is not there"]}
    of_everything: tuple[list[Call], list[Call]] = (
        [("echo", {"message": "hello"}), ("get-sum", {"a": 1, "b": 2})],
        [("get-sum", {"a": "one", "b": 2}), ("no-such-tool", {})],
    )
    return {
        # Claude Code names the task's workspace as its root, and the server then serves that folder alone.
        "filesystem": (
            [("write_file", {"path": "notes.txt", "content": "It is 7."}), ("read_text_file", {"path": "notes.txt"})],
            [("read_text_file", {"path": "missing.txt"}), ("read_text_file", {"path": f"{folder}/questions.jsonl"})],
        ),
        "memory": (
            [("create_entities", {"entities": [entity]}), ("search_nodes", {"query": "keval"})],
            [("add_observations", {"observations": [unknown]})],
        ),
        "everything_stdio": of_everything,
        "everything_http": of_everything,
        "everything_sse": of_everything,
        "time": (
            [("get_current_time", {"timezone": "UTC"})],
            [("get_current_time", {"timezone": "Nowhere/Nothing"}), ("convert_time", {"source_timezone": "UTC"})],
        ),
        "git": (
            [("git_status", {"repo_path": f"{folder}/repository"})],
            [("git_status", {"repo_path": f"{folder}/scratch"}), ("git_log", {"repo_path": f"{folder}/nowhere"})],
        ),
    }


def local(folder: Path) -> dict[str, list[str]]:
    """Return the command of each server over stdio."""
    return {
        "filesystem": ["node", f"{PACKAGES}/server-filesystem/dist/index.js", str(folder)],
        "memory": ["node", f"{PACKAGES}/server-memory/dist/index.js"],
        "everything_stdio": ["node", f"{PACKAGES}/server-everything/dist/index.js", "stdio"],
        "time": ["python", "-m", "mcp_server_time"],
        "git": ["python", "-m", "mcp_server_git"],
    }


@contextmanager
def everything(transport: str, name: str) -> Iterator[dict[str, Any]]:
    """Run the server over HTTP or SSE and yield its config."""
    port = free_port()
    command = ["node", f"{PACKAGES}/server-everything/dist/index.js", transport]
    env = {**os.environ, "PORT": str(port), "SERVER": name}
    server = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while not is_served(port):
            assert server.poll() is None, f"{transport} has ended"
        if transport == "sse":
            yield {"type": "sse", "url": f"http://127.0.0.1:{port}/sse"}
        else:
            yield {"type": "http", "url": f"http://127.0.0.1:{port}/mcp"}
    finally:
        server.kill()
        server.wait()


def kill(name: str) -> None:
    """Kill the server of that name, and wait until it is gone."""
    found = [process for process in psutil.process_iter() if _is_called(process, name)]
    assert found
    for process in found:
        with suppress(psutil.NoSuchProcess):
            process.kill()
            process.wait()


def _is_called(process: psutil.Process, name: str) -> bool:
    try:
        return process.environ().get("SERVER") == name
    except (psutil.Error, OSError):
        return False


def config(servers: Mapping[str, Any]) -> dict[str, Any]:
    """Return a config with a condition for each server."""
    return {
        "name": "public",
        "dataset": {"path": "questions.jsonl"},
        "agent": {"type": "claude", "model": "claude-sonnet-5"},
        "mcp_servers": servers,
        "conditions": {name: {"system_prompt": f"You have {name}.", "mcp_servers": [name]} for name in servers},
        "judge": {"type": "exact_match"},
        "execution": {"repetitions": 1, "max_concurrent": 3, "retry": {"max_attempts": 1}},
    }


class Script:
    """A model that makes a server's calls, one after the other, and then answers."""

    def __init__(self, folder: Path) -> None:
        self._calls = calls(folder)

    def __call__(self, number: int, body: dict[str, Any]) -> Say:
        prompts = json.dumps(body["system"])
        server = next(name for name in [*self._calls, *map(dying, self._calls)] if f"You have {name}." in prompts)
        blocks = [block for each in body["messages"] if isinstance(each["content"], list) for block in each["content"]]
        done = sum(block["type"] == "tool_result" for block in blocks)
        good, refused = self._calls[server.removesuffix("_dies")]
        planned = [*good, *refused]
        if server.endswith("_dies"):
            planned = [good[0], good[0]]
            if done == 1:
                kill(server)
        if done == len(planned):
            return text("7")
        tool, arguments = planned[done]
        used = {"type": "tool_use", "id": f"toolu_{number}", "name": f"mcp__{server}__{tool}", "input": arguments}
        return Say([used], "tool_use")


def dying(name: str) -> str:
    """Return the name of the server that is killed between two calls."""
    return f"{name}_dies"


@pytest.fixture
def installed() -> None:
    """Skip where the servers could not be installed; where they must be there, that is a failure."""
    if not PACKAGES.is_dir():
        assert "REQUIRE_SERVERS" not in os.environ, f"{PACKAGES} is not there"
        pytest.skip("make servers has not installed the public MCP servers: is npm there?")


@pytest.mark.usefixtures("installed")
def test_what_public_servers_refuse_is_judged_and_only_their_death_is_a_failure(tmp_path: Path) -> None:
    """Over every transport: each call is counted, each refusal as failed, and a killed server fails its condition."""
    (tmp_path / "questions.jsonl").write_text('{"id": "q", "question": "What is it?", "answer": "7"}\n')
    (tmp_path / "scratch").mkdir()
    subprocess.run(["git", "init", "--quiet", "repository"], cwd=tmp_path, check=True)
    with ExitStack() as stack:
        servers: dict[str, Any] = {}
        for plain, command in local(tmp_path).items():
            for name in (plain, dying(plain)):
                env = {"SERVER": name, "MEMORY_FILE_PATH": f"{tmp_path}/{name}.json"}
                servers[name] = {"type": "stdio", "command": command[0], "args": command[1:], "env": env}
        for plain, transport in (("everything_http", "streamableHttp"), ("everything_sse", "sse")):
            for name in (plain, dying(plain)):
                servers[name] = stack.enter_context(everything(transport, name))
        (tmp_path / "eval.yaml").write_text(json.dumps(config(servers)))
        api = stack.enter_context(ScriptedApi(Script(tmp_path)))
        ran = subprocess.run(
            [sys.executable, "-m", "keval", "run", "eval.yaml", "-o", "run.jsonl", "--quiet"],
            cwd=tmp_path, env={**os.environ, **api.env, "TMPDIR": str(tmp_path / "scratch")},
            capture_output=True, text=True, check=False, timeout=600,
        )  # fmt: skip
        assert left_below(tmp_path) == []
    assert ran.returncode == 1, ran.stderr
    check_log(tmp_path)


def check_log(folder: Path) -> None:
    """Check what became of each condition, and what each server said of itself."""
    log = folder / "run.jsonl"
    events = [json.loads(line) for line in log.read_bytes().splitlines()]
    told = {name: server for event in events if event["type"] == "run" for name, server in event["mcp_servers"].items()}
    became = {event["condition"]: event for event in events if event["type"] in {"response", "failure"}}
    expected = calls(folder)
    assert set(became) == set(told) == {*expected, *map(dying, expected)}
    for name, (good, refused) in expected.items():
        assert became[name]["type"] == "response", became[name]
        tools = [turn for turn in became[name]["turns"] if turn["type"] == "tool_call"]
        assert [turn["error"] for turn in tools] == [False] * len(good) + [True] * len(refused), tools
        used = became[name]["mcp"][name]
        assert (used["status"], used["called"], used["failed"]) == ("connected", len(tools), len(refused))
        assert became[dying(name)].get("kind") == "mcp_failed", became[dying(name)]
        assert told[name]["error"] is None
        assert {tool for tool, _ in good} <= set(told[name]["tools"])
        assert told[name]["version"]
    scored = {row["condition"]: row["score"] for row in ask(log, "select condition, score from scores")}
    assert scored == dict.fromkeys(expected, 1.0)
