"""The process that forks commands: a command that it forks does what one does that was started."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.builders import response_event, write_log
from tests.fork_server import ForkServer
from tests.forked_command import Command


@pytest.fixture
def waiting(fork_server: ForkServer, tmp_path: Path) -> Command:
    """Start a command that waits for what comes on stdin."""
    return fork_server.start(["judge"], tmp_path, os.environ)


@pytest.mark.parametrize(
    ("arguments", "given"),
    [
        (["--version"], ""),
        (["no-such-command"], ""),
        (["validate", "\udcff"], ""),
        (["sql", "log.jsonl", "select getenv('NAME') as name"], ""),
        (["judge"], "no log\n" * 100_000),
        (["retract", "log.jsonl", "--run", "none"], ""),
    ],
)
def test_a_command_that_is_forked_does_what_one_does_that_was_started(
    fork_server: ForkServer, tmp_path: Path, arguments: list[str], given: str
) -> None:
    """Its outputs and exit code are the same: it has the folder, the variables, the arguments and the stdin."""
    environment = {**os.environ, "NAME": "ä"}
    (tmp_path / "log.jsonl").touch()
    started = subprocess.run(
        [sys.executable, "-m", "keval", *arguments],
        input=given, capture_output=True, text=True, cwd=tmp_path, env=environment, check=False,
    )  # fmt: skip
    forked = fork_server.run(arguments, tmp_path, environment, given)
    assert (forked.returncode, forked.stdout, forked.stderr) == (started.returncode, started.stdout, started.stderr)


def test_a_forked_command_can_be_killed(waiting: Command) -> None:
    """It runs until then, and its exit code says so."""
    assert waiting.poll() is None
    waiting.kill()
    waiting.communicate()
    assert waiting.returncode == -signal.SIGKILL


def test_commands_run_at_once(fork_server: ForkServer, waiting: Command, tmp_path: Path) -> None:
    """One that waits keeps no other from its end, and has pipes of its own."""
    assert fork_server.run(["--version"], tmp_path, os.environ).returncode == 0
    assert waiting.poll() is None
    _, said = waiting.communicate("no log")
    assert "not a keval log" in said


def test_a_command_that_takes_too_long_is_killed(fork_server: ForkServer, tmp_path: Path) -> None:
    """Who waits for one that serves is told that it took too long."""
    write_log(tmp_path / "log.jsonl", [response_event("q1")])
    serving = fork_server.start(["view", "log.jsonl"], tmp_path, os.environ)
    with pytest.raises(subprocess.TimeoutExpired):
        serving.communicate(timeout=0.1)
    assert serving.poll() == -signal.SIGKILL


def test_a_command_whose_python_would_be_another_is_not_forked(fork_server: ForkServer, tmp_path: Path) -> None:
    """Variables that Python reads at its start would have no effect."""
    with pytest.raises(AssertionError, match="process of its own"):
        fork_server.start(["--version"], tmp_path, {**os.environ, "PYTHONUTF8": "0"})
