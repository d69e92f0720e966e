"""What gets away from a task with no mark, session or parent left to be known by: it is ended all the same."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
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


@pytest.mark.slow
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


SERVERS = Path(__file__).parent.parent / "servers"

ASKS_SERVER = """\
name: servers
dataset: {path: questions.jsonl}
agent: {type: messages, model: claude-sonnet-5}
mcp_servers: {docs: {type: stdio, command: sh, args: [server.sh, .]}}
conditions: {plain: {system_prompt: Answer.}, with_docs: {system_prompt: Answer., mcp_servers: [docs]}}
judge: {type: exact_match}
"""


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("setsid") is None, reason="the server's script uses setsid")
def test_a_check_leaves_nothing_of_the_servers_that_it_asks(tmp_path: Path, keval: Keval) -> None:
    """What one started without a mark is ended and named, as in a run."""
    evaluation(tmp_path, "", tasks=1, concurrent=1)
    (tmp_path / "eval.yaml").write_text(ASKS_SERVER)
    (tmp_path / "server.sh").write_text(f"{LEAVES}exec {sys.executable} {SERVERS / 'docs.py'}\n")
    done = keval("check", "eval.yaml", "--mock")
    assert done.returncode == 0, done.stderr
    assert f"orphaned processes: {Path(sys.executable).name}" in done.stdout
    assert len(left_behind(tmp_path)) == 1
    assert not any(psutil.pid_exists(pid) for pid in left_behind(tmp_path))


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("setsid") is None, reason="the server's script uses setsid")
def test_a_check_that_is_ended_ends_the_servers_that_it_asks(tmp_path: Path) -> None:
    """It leaves none of them, be they deaf."""
    evaluation(tmp_path, "", tasks=1, concurrent=1)
    (tmp_path / "eval.yaml").write_text(ASKS_SERVER)
    (tmp_path / "server.sh").write_text(f"{LEAVES}sleep 600\n")
    command = [sys.executable, "-m", "keval", "check", "eval.yaml", "--mock"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as check:
        until = time.monotonic() + 60
        while not left_behind(tmp_path):
            assert check.poll() is None, check.communicate()
            assert time.monotonic() < until
            time.sleep(0.02)
        check.terminate()
        _, said = check.communicate(timeout=60)
    assert (check.returncode, "interrupted" in said) == (130, True), said
    assert not any(psutil.pid_exists(pid) for pid in left_behind(tmp_path))


BREAKS_OFF = """
import asyncio, subprocess
from keval.errors import InputError
from keval.execution.leftovers import leaving_nothing

async def main(_):
    subprocess.run(["sh", "-c", "env -i $(command -v setsid) sleep 600 >/dev/null 2>&1 &"], check=True)
    raise InputError("the disk is full")

try:
    leaving_nothing(main, print)
except InputError as error:
    print(error)
"""


@pytest.mark.skipif(shutil.which("setsid") is None, reason="the script uses setsid")
def test_a_command_that_breaks_off_leaves_nothing_either() -> None:
    """What its tasks left without a mark is ended and named before the error goes on."""
    done = subprocess.run([sys.executable, "-c", BREAKS_OFF], capture_output=True, text=True, check=True)
    told, error = done.stdout.splitlines()
    assert told.startswith("ended what tasks had left running, unmarked")
    assert error == "the disk is full"


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


ESCAPES = """\
import os, sys
left, right = os.pipe()
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.write(right, b"%15d;" % os.getpid())
            os.closerange(0, 64)
            os.execve(sys.executable, ["left", "-c", "import time; time.sleep(600)"], {})
        os._exit(0)
    os.wait()
for _ in range(3):
    open(f"{sys.argv[1]}/pid-{int(os.read(left, 16)[:15])}", "w").close()
print('{"pass": true}')
"""
"""A judge that starts three processes with no mark, session or parent left."""


@pytest.mark.slow
@pytest.mark.parametrize("piped", [False, True], ids=["log", "pipe"])
def test_a_judge_of_a_log_leaves_nothing_running(tmp_path: Path, keval: Keval, *, piped: bool) -> None:
    """What a judge's program has started is ended by `keval judge` as by `keval run`."""
    evaluation(tmp_path, "", tasks=2, concurrent=2)
    assert keval("generate", "eval.yaml", "-o", "run.jsonl", "-q").returncode == 0
    (tmp_path / "escapes.py").write_text(ESCAPES)
    command = json.dumps([sys.executable, "{folder}/escapes.py", "{folder}"])
    (tmp_path / "judge.yaml").write_text(f"{{type: command, command: {command}}}")
    log = (tmp_path / "run.jsonl").read_text()
    done = keval("judge", "-j", "judge.yaml", stdin=log) if piped else keval("judge", "run.jsonl", "-j", "judge.yaml")
    assert done.returncode == 0, done.stderr
    assert len(left_behind(tmp_path)) == 6
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


LOOKS = """
import asyncio, os, subprocess, sys
from keval.processes import tree

tree.adopt_orphans()
looked_at = set()

def note(event, arguments):
    if event in ("open", "os.listdir", "os.scandir") and str(arguments[0]).startswith("/proc"):
        looked_at.update(str(arguments[0]).split("/")[2:3] or ["all"])

async def main():
    token = tree.new_token()
    env = {**os.environ, tree.TOKEN: token}
    left = subprocess.Popen(["sh", "-c", "sleep 600 & wait"], env=env, start_new_session=True)
    while sorted(process.name() for process in tree.of_task(token, left.pid)) != ["sh", "sleep"]:
        await asyncio.sleep(0.01)  # between fork and exec the child is another `sh`
    own = {process.pid for process in tree.of_task(token, left.pid)}
    sys.addaudithook(note)
    ended = await tree.end_tree(token, left.pid)
    print(sorted(ended), {int(name) for name in looked_at if name.isdigit()} - {os.getpid()} == own, "all" in looked_at)

asyncio.run(main())
"""

CROWD = "for each in $(seq 300); do sleep 600 & done; echo; wait"


def test_the_end_of_a_task_looks_at_its_own_processes_only(tmp_path: Path) -> None:
    """What a clean-up costs does not grow with what else runs on the machine: 300 more processes are not looked at."""
    with subprocess.Popen(["sh", "-c", CROWD], stdout=subprocess.PIPE, start_new_session=True) as crowd:
        try:
            assert crowd.stdout is not None
            crowd.stdout.readline()
            done = subprocess.run(
                [sys.executable, "-c", LOOKS], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60
            )
        finally:
            os.killpg(crowd.pid, signal.SIGKILL)
    assert done.stdout == "['sh', 'sleep'] True False\n"
