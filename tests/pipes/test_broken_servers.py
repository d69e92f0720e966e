"""MCP servers that break in every way, over stdio and over HTTP: no score without its server, and no process left."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.builders import ask
from tests.prompts import SERVERS
from tests.remains import left_below
from tests.servers.over_http import over_http
from tests.servers.scripted_api import Say, ScriptedApi, call, text

pytestmark = pytest.mark.slow

LOCAL = {
    "good": "docs.py",
    "sleeps": "sleeps.py",
    "exits": "exits.py",
    "nothing": "no_tools.py",
    "dies": "dies_at_third_call.py",
    "forks": "forks_daemon.py",
}
"""What each server over stdio runs; over HTTP the same, but for those that would not listen at all."""

BECOMES = {
    "without": None,
    "good": None,
    "sleeps": "mcp_not_ready",
    "exits": "mcp_not_ready",
    "nothing": "mcp_not_ready",
    "dies": "mcp_failed",
    "forks": None,
}
"""The kind of failure under each condition; None for an answer."""

SAID = {
    "sleeps_stdio": "sleeps_stdio: not ready after 15 s",
    "sleeps_http": "sleeps_http: not ready after 15 s",
    "exits_stdio": "exits_stdio: failed: Connection closed; its stderr ends: the index is not there",
    "exits_http": "exits_http: failed: ECONNREFUSED",
    "nothing_stdio": "nothing_stdio: connected, but offers no tools",
    "nothing_http": "nothing_http: connected, but offers no tools",
    "dies_stdio": "an MCP server went away during the task: dies_stdio: its process ended, and was started again",
    "dies_http": "an MCP server went away during the task: dies_http: ",
}


def config(ports: Mapping[str, int]) -> dict[str, Any]:
    """Return a config with a condition for each server, and one without."""
    servers: dict[str, Any] = {
        f"{name}_stdio": {
            "type": "stdio",
            "command": "python",
            "args": [str(SERVERS / script), "20"][: 2 if name == "sleeps" else 1],
        }
        for name, script in LOCAL.items()
    }
    servers |= {f"{name}_http": {"type": "http", "url": f"http://127.0.0.1:{ports[name]}/mcp"} for name in LOCAL}
    conditions = {name: {"system_prompt": f"You have {name}.", "mcp_servers": [name]} for name in servers}
    return {
        "name": "broken",
        "dataset": {"path": "questions.jsonl"},
        "agent": {"type": "claude", "model": "claude-sonnet-5", "mcp_timeout_s": 15},
        "mcp_servers": servers,
        "conditions": {"without": {"system_prompt": "You have nothing."}, **conditions},
        "judge": {"type": "exact_match"},
        "execution": {"repetitions": 1, "max_concurrent": 4, "retry": {"max_attempts": 1}},
    }


def four_calls(_number: int, body: dict[str, Any]) -> Say:
    """Call the server's tool four times, then answer."""
    tools = [tool["name"] for tool in body.get("tools") or () if tool["name"].endswith("__search")]
    blocks = [block for each in body["messages"] if isinstance(each["content"], list) for block in each["content"]]
    results = sum(block["type"] == "tool_result" for block in blocks)
    return call(tools[0], str(results)) if tools and results < 4 else text("7")


def test_no_condition_is_scored_without_its_server_and_no_process_stays(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Each way to break is a failure of its kind and says so; what keval did not start it leaves alone."""
    (tmp_path / "questions.jsonl").write_text('{"id": "q", "question": "What is it?", "answer": "7"}\n')
    (tmp_path / "scratch").mkdir()
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    with ExitStack() as stack:
        ports = {
            name: stack.enter_context(over_http(LOCAL[name], elsewhere))
            for name in ("good", "nothing", "dies", "forks")
        }
        deaf = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        ports |= {"sleeps": deaf.getsockname()[1], "exits": 9}
        api = stack.enter_context(ScriptedApi(four_calls))
        (tmp_path / "eval.yaml").write_text(json.dumps(config(ports)))
        env = {**os.environ, **api.env, "TMPDIR": str(tmp_path / "scratch")}
        ran = subprocess.run(
            [sys.executable, "-m", "keval", "run", "eval.yaml", "-o", "run.jsonl", "--quiet"],
            cwd=tmp_path, env=env, capture_output=True, text=True, check=False, timeout=300,
        )  # fmt: skip
        assert left_below(tmp_path) == []
        daemon = psutil.Process(int((elsewhere / "daemon.pid").read_text()))
        assert daemon.is_running(), "what a server over HTTP does is not keval's affair"
        daemon.kill()
    assert ran.returncode == 1, ran.stderr
    assert list((tmp_path / "scratch").iterdir()) == []
    check_log(tmp_path / "run.jsonl", ran.stdout)
    asked = json.dumps(api.bodies)
    for name in SAID:
        assert (f"You have {name}." in asked) == name.startswith("dies")


def check_log(log: Path, report: str) -> None:
    """Check that each condition became what it should, in the log, in SQL and in the report."""
    events = [json.loads(line) for line in log.read_bytes().splitlines()]
    became = {event["condition"]: event.get("kind") for event in events if event["type"] in {"response", "failure"}}
    expected = {name: BECOMES[name.partition("_")[0]] for name in became}
    assert became == expected
    assert len(became) == 1 + 2 * len(LOCAL)
    for event in events:
        if event["type"] == "failure":
            assert event["message"].startswith(SAID[event["condition"]]), event["message"]
    scored = {row["condition"] for row in ask(log, "select condition from scores")}
    assert scored == {name for name, kind in expected.items() if kind is None}
    (orphaned,) = ask(log, "select condition, processes from orphaned_processes")
    assert orphaned == {"condition": "forks_stdio", "processes": ["python"]}
    rows = ask(log, "select condition, map_keys(failed_by_kind) as kinds from missing where failed > 0")
    assert {row["condition"]: row["kinds"] for row in rows} == {name: [kind] for name, kind in expected.items() if kind}
    for kind in ("mcp_not_ready", "mcp_failed"):
        assert kind in report
