"""What the real command leaves running: nothing, however it ends, whatever its MCP servers do to stay."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from keval.mock import Mock
from tests.prompts import SERVERS
from tests.remains import left_below, of_tasks

CONFIG = f"""\
name: processes
dataset: {{path: questions.jsonl}}
agent: {{type: claude, model: claude-sonnet-5}}
mcp_servers:
  docs: {{type: stdio, command: python, args: [{SERVERS / "forks_daemon.py"}]}}
conditions:
  with_docs: {{system_prompt: "Use the docs.", mcp_servers: [docs]}}
judge: {{type: exact_match}}
execution: {{repetitions: 2, max_concurrent: 2, timeout_s: TIMEOUT}}
"""


def started(folder: Path, service: Mock, timeout_s: int) -> subprocess.Popen[str]:
    """Start a run of two tasks and return when both have asked a service that never answers."""
    (folder / "questions.jsonl").write_text('{"id": "q", "question": "What is it?", "answer": "7"}\n')
    (folder / "eval.yaml").write_text(CONFIG.replace("TIMEOUT", str(timeout_s)))
    (folder / "scratch").mkdir()
    process = subprocess.Popen(
        [sys.executable, "-m", "keval", "generate", "eval.yaml", "-o", "run.jsonl", "-q"],
        cwd=folder, env={**os.environ, **service.env, "TMPDIR": str(folder / "scratch")},
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    while service.requests.by_outcome.get("hang", 0) < 2 and process.poll() is None:
        time.sleep(0.05)
    assert len(list(of_tasks(folder))) >= 2 * 3, "the CLI, its server and the server's daemon, twice"
    return process


def failures(folder: Path) -> list[tuple[str, set[str]]]:
    """Return the kind of each failure and the names of what it left behind."""
    events = [json.loads(line) for line in (folder / "run.jsonl").read_bytes().splitlines()]
    failed = [event for event in events if event["type"] == "failure"]
    return [(event["kind"], set(event.get("orphaned_processes", ()))) for event in failed]


@pytest.fixture
def service() -> Mock:
    """Return a service that takes questions and never answers."""
    return Mock(errors="hang:1", keep=0)


@pytest.mark.slow
def test_after_a_timeout_no_process_is_left_and_what_stayed_is_named(tmp_path: Path, service: Mock) -> None:
    """The deaf server and its daemon are ended with the task, and the failure tells of them."""
    with service:
        process = started(tmp_path, service, timeout_s=15)
        _, said = process.communicate(timeout=120)
    assert process.returncode == 1, said
    assert left_below(tmp_path) == []
    assert failures(tmp_path) == [("timeout", {"python"})] * 2
    assert list((tmp_path / "scratch").iterdir()) == []


@pytest.mark.slow
def test_what_a_killed_run_leaves_is_ended_by_the_next_command(tmp_path: Path, service: Mock) -> None:
    """SIGKILL leaves keval no time: the CLIs, deaf servers and daemons go with the next command for that log."""
    with service:
        process = started(tmp_path, service, timeout_s=600)
        process.kill()
        process.communicate()
        assert left_below(tmp_path) != []
    config = tmp_path / "eval.yaml"
    config.write_text(config.read_text().replace("type: claude, model: claude-sonnet-5", "type: echo"))
    again = [sys.executable, "-m", "keval", "generate", "eval.yaml", "-o", "run.jsonl", "--mock", "--quiet"]
    done = subprocess.run(again, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    told = re.search(r"run.jsonl: ended what an earlier command that was killed had left running: (.+)", done.stderr)
    assert told is not None, done.stderr
    # Servers and daemons are deaf; a CLI whose keval is gone may end by itself before the next command looks.
    assert {"python"} <= {*told[1].split(", ")} <= {"claude", "python"}
    assert left_below(tmp_path) == []


@pytest.mark.slow
def test_after_the_second_ctrl_c_no_process_is_left(tmp_path: Path, service: Mock) -> None:
    """The first waits for what is in flight, which here never ends; the second stops at once."""
    with service:
        process = started(tmp_path, service, timeout_s=600)
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        assert any("Ctrl-C again" in line for line in process.stderr), "no line says so"
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert left_below(tmp_path) == []
    assert failures(tmp_path) == []
    assert list((tmp_path / "scratch").iterdir()) == []
