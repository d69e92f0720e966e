"""What gets away from a task with no mark, session or parent left to be known by: it is ended all the same."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.conftest import Keval

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux gives a process the orphans below it")

CONFIG = """\
name: orphans
dataset: {path: questions.jsonl}
agent: {type: command, command: [sh, "{folder}/agent.sh", "{folder}"]}
conditions: {plain: {system_prompt: Answer.}}
judge: {type: exact_match}
execution: {repetitions: 1, max_concurrent: CONCURRENT}
"""

LEAVES = f"""\
env -i "$(command -v setsid)" {sys.executable} -c "
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
open(sys.argv[1] + '/pid-' + str(os.getpid()), 'w').close()
time.sleep(600)
" "$1" >/dev/null 2>&1 &
while ! ls "$1"/pid-$! >/dev/null 2>&1; do sleep 0.01; done
"""
"""Starts a process with an empty environment and a session of its own, and waits until it is deaf."""

MEETS = """\
mkdir -p "$1/met/$$"
while [ "$(ls "$1/met" | wc -l)" -lt 2 ]; do sleep 0.01; done
"""
"""Waits until two tasks have come so far."""


def evaluation(folder: Path, agent: str, *, tasks: int, concurrent: int) -> None:
    (folder / "agent.sh").write_text(agent + "\necho 7\n")
    (folder / "eval.yaml").write_text(CONFIG.replace("CONCURRENT", str(concurrent)))
    lines = (f'{{"id": "q{number}", "question": "What?", "answer": "7"}}\n' for number in range(tasks))
    (folder / "questions.jsonl").write_text("".join(lines))


def left_behind(folder: Path) -> list[int]:
    return [int(path.name.partition("-")[2]) for path in folder.glob("pid-*")]


def responses(folder: Path) -> list[dict[str, Any]]:
    events = map(json.loads, (folder / "run.jsonl").read_text().splitlines())
    return [event for event in events if event["type"] == "response"]


@pytest.mark.skipif(shutil.which("setsid") is None, reason="the agent's script uses setsid")
def test_a_process_without_any_mark_is_ended_and_named_with_its_task(tmp_path: Path, keval: Keval) -> None:
    """Of one task at a time everything that it leaves is known to be its own."""
    evaluation(tmp_path, LEAVES, tasks=2, concurrent=1)
    done = keval("generate", "eval.yaml", "-o", "run.jsonl", "-q")
    assert done.returncode == 0, done.stderr
    assert [answer["orphaned_processes"] for answer in responses(tmp_path)] == [[Path(sys.executable).name]] * 2
    assert len(left_behind(tmp_path)) == 2
    assert not any(psutil.pid_exists(pid) for pid in left_behind(tmp_path))


@pytest.mark.skipif(shutil.which("setsid") is None, reason="the agent's script uses setsid")
def test_what_either_of_two_tasks_may_have_left_is_ended_after_both(tmp_path: Path, keval: Keval) -> None:
    """Nobody can tell whose it was: no event names it, the command does, and no living task is disturbed."""
    evaluation(tmp_path, MEETS + LEAVES, tasks=2, concurrent=2)
    done = keval("run", "eval.yaml", "-o", "run.jsonl", "-q", "-f", "csv")
    assert done.returncode == 0, done.stderr
    answers = responses(tmp_path)
    assert [answer["text"] for answer in answers] == ["7", "7"]
    told = [name for answer in answers for name in answer.get("orphaned_processes", ())]
    assert len(told) + done.stderr.count(Path(sys.executable).name) == 2
    assert "ended what tasks had left running, unmarked" in done.stderr
    assert not any(psutil.pid_exists(pid) for pid in left_behind(tmp_path))


def test_what_ended_by_itself_is_not_kept_by_the_system(tmp_path: Path, keval: Keval) -> None:
    """Adopted processes that have ended do not add up: each task finds those of the one before it at most."""
    program = "for each in 1 2 3; do (true &); done; sleep 0.1; ps -o stat= --ppid $PPID | grep -c Z"
    evaluation(tmp_path, program + " >&2; exit 3", tasks=5, concurrent=1)
    keval("generate", "eval.yaml", "-o", "run.jsonl", "-q")
    events = map(json.loads, (tmp_path / "run.jsonl").read_text().splitlines())
    found = [int(event["message"].rpartition(" ")[2]) for event in events if event["type"] == "failure"]
    assert len(found) == 5
    assert max(found) <= 3


@pytest.mark.skipif(shutil.which("setsid") is None, reason="the agent's script uses setsid")
def test_a_name_like_a_mark_is_no_mark(tmp_path: Path, keval: Keval) -> None:
    """Whatever else stands in its environment, a process without a mark is found."""
    agent = LEAVES.replace("env -i ", "env -i PWD=/srv/KEVAL_TASK=data KEVAL_HOME=1 ")
    evaluation(tmp_path, agent, tasks=1, concurrent=1)
    done = keval("generate", "eval.yaml", "-o", "run.jsonl", "-q")
    assert done.returncode == 0, done.stderr
    assert not any(psutil.pid_exists(pid) for pid in left_behind(tmp_path))


ASKS_LATER = """
import asyncio, os, subprocess, time
from keval.processes import tree
tree.adopt_orphans()
own = subprocess.Popen(["sh", "-c", "exit 3"], start_new_session=True)
os.waitid(os.P_PID, own.pid, os.WEXITED | os.WNOWAIT)
asyncio.run(tree.end_unmarked())
time.clock_gettime = lambda _: time.monotonic() + 10**6
asyncio.run(tree.end_unmarked())
print(own.wait())
"""


def test_a_program_of_a_plug_in_is_asked_how_it_ended_however_late(tmp_path: Path) -> None:
    """Its exit status is for whoever started it: taken by somebody else it would look like success."""
    done = subprocess.run(
        [sys.executable, "-c", ASKS_LATER], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout == "3\n"


def test_the_programs_of_a_plug_in_are_left_alone(tmp_path: Path) -> None:
    """What keval itself starts in a session of its own, with the environment that it has, is no orphan."""
    program = (
        "import asyncio, subprocess, sys\n"
        "from keval.processes import tree\n"
        "tree.adopt_orphans()\n"
        "own = subprocess.Popen(['sleep', '600'], start_new_session=True)\n"
        "print(asyncio.run(tree.end_unmarked()), own.poll())\n"
        "own.kill()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout == "[] None\n"
