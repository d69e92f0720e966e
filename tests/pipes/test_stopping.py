"""Runs that stop when decided, as processes: killed at any moment they stop where they would have stopped.

And very many of them, between conditions that do not differ: no more than alpha may find a difference.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchmarks.stopping_runs import false_stops
from keval.ids import JsonObject
from tests.stopping_runs import events, write_evaluation

AGENT = """\
import hashlib, json, sys, time
asked = json.loads(sys.stdin.readline())
time.sleep(0.02)
share = int(hashlib.sha256((asked["question"] + asked["system_prompt"]).encode()).hexdigest()[:8], 16) / 2**32
print("yes" if share < {"plain": 0.3, "other": 0.9}[asked["system_prompt"]] else "no")
"""
RUNS = int(os.environ.get("RUNS", "60"))
"""`RUNS=2000 make test-slow` is for a night without hurry."""


def command(folder: Path, log: str) -> list[str]:
    """Return the command of a run that stops when decided."""
    return [sys.executable, "-m", "keval", "run", str(folder / "eval.yaml"), "--until", "decided", "-o", log, "-q"]


def killed_after(folder: Path, log: Path, responses: int) -> None:
    """Run until the log holds so many responses, and kill the process then."""
    process = subprocess.Popen(
        command(folder, str(log)), cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, process_group=0
    )
    try:
        while process.poll() is None and (not log.exists() or log.read_bytes().count(b'"type":"response"') < responses):
            time.sleep(0.01)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def decided(log: Path) -> list[JsonObject]:
    """Return what a log says of how its run was decided, without what differs between two runs."""
    last = [*events(log, "until_decided"), events(log, "until_end")[-1]]
    return [{name: value for name, value in each.items() if name not in {"id", "time", "run_id"}} for each in last]


@pytest.mark.slow
def test_a_run_that_is_killed_stops_where_it_would_have_stopped(tmp_path: Path) -> None:
    """SIGKILL in mid-run, three times, and the same command again: the same stop, and no answer is asked twice."""
    config = write_evaluation(tmp_path, concurrent=4)
    (tmp_path / "agent.py").write_text(AGENT)
    program = f"{{type: command, command: [{sys.executable}, {tmp_path / 'agent.py'}]}}"
    config.write_text(config.read_text().replace("{type: echo}", program))
    whole, cut = tmp_path / "whole.jsonl", tmp_path / "cut.jsonl"
    subprocess.run(command(tmp_path, str(whole)), cwd=tmp_path, check=True, capture_output=True)
    for responses in (3, 12, 22):
        killed_after(tmp_path, cut, responses)
    done = subprocess.run(command(tmp_path, str(cut)), cwd=tmp_path, check=True, capture_output=True, text=True)
    assert "of 100 samples: decided" in done.stdout
    assert decided(cut) == decided(whole)
    answered = [each["id"] for each in events(cut, "response")]
    assert len(answered) == len(set(answered))


@pytest.mark.slow
def test_runs_between_conditions_that_do_not_differ_rarely_find_a_difference(tmp_path: Path) -> None:
    """Of many real sessions whose conditions are alike, no more than alpha stop falsely, but for luck (three SE)."""
    false = false_stops(tmp_path, RUNS, samples=40, concurrent=8)
    assert false / RUNS <= 0.05 + 3 * (0.05 * 0.95 / RUNS) ** 0.5
