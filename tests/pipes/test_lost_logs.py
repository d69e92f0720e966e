"""A log that is taken away while real commands write to it: no paid answer is lost, and no more are asked for."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

import pytest

from keval.ids import JsonObject
from tests.builders import response_event, run_event, write_log
from tests.growing_log import events_so_far
from tests.scripted_service import message, serving
from tests.suites import slow_but

CONFIG = """\
name: lost
dataset: {path: questions.jsonl}
agent:
  type: command
  command: [sh, FOLDER/agent.sh]
conditions:
  only: {system_prompt: Answer., mcp_servers: []}
judges:
  - {type: exact_match}
execution: {repetitions: 1, max_concurrent: 2, retry: {max_attempts: 1}}
"""

AGENT = """\
cd FOLDER
n=1; until mkdir calls/$n 2>/dev/null; do n=$((n+1)); done
if [ $n -gt 3 ]; then until [ -e go ]; do sleep 0.02; done; fi
echo answer $n
"""

ANSWERED, IN_FLIGHT = 3, 2

METRICS = ("factual_adherence", "completeness", "helpfulness_and_clarity")
VERDICT = json.dumps({**{name: {"reasoning": "", "score": 4} for name in METRICS}, "unverified_claims": []})

Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a config whose agent answers three times at once, and then waits for the file `go`."""
    (tmp_path / "calls").mkdir()
    (tmp_path / "eval.yaml").write_text(CONFIG.replace("FOLDER", str(tmp_path)))
    (tmp_path / "agent.sh").write_text(AGENT.replace("FOLDER", str(tmp_path)))
    samples = [{"id": f"q{n}", "question": f"What is {n}?", "answer": str(n)} for n in range(12)]
    (tmp_path / "questions.jsonl").write_text("".join(json.dumps(sample) + "\n" for sample in samples))
    return tmp_path


@pytest.fixture
def start(folder: Path) -> Iterator[Start]:
    """Return a function that starts a real command; what still runs at the end of the test is ended."""
    with ExitStack() as running:

        def begin(*command: str, env: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
            process = subprocess.Popen(
                [sys.executable, "-m", "keval", *command],
                cwd=folder, env={**os.environ, **(env or {})},
                stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            )  # fmt: skip
            running.callback(process.kill)
            return process

        yield begin
        (folder / "go").touch()  # agents that still wait end


def wait_until(true: Callable[[], bool], running: subprocess.Popen[str]) -> None:
    until = time.monotonic() + 60
    while not true():
        assert running.poll() is None, running.communicate()
        assert time.monotonic() < until
        time.sleep(0.02)


def calls(folder: Path) -> int:
    return len(list((folder / "calls").iterdir()))


def events(*logs: Path, kind: str = "response") -> list[JsonObject]:
    return [event for log in logs for event in events_so_far(log, kind)]


def remove(log: Path) -> None:
    log.unlink()


def move(log: Path) -> None:
    log.rename(log.with_name("moved.jsonl"))


def replace(log: Path) -> None:
    """Do what `sed -i` and `git checkout` do."""
    copy = log.with_name("copy")
    copy.write_bytes(log.read_bytes())
    copy.rename(log)


def truncate(log: Path) -> None:
    os.truncate(log, 0)


def save_an_older_state(log: Path) -> None:
    """Do what an editor does that writes in place what it read a while ago."""
    log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:2]).replace(b"What", b"WHAT"))


@pytest.mark.parametrize("harm", [remove, move, replace, truncate, save_an_older_state])
@pytest.mark.parametrize("command", slow_but(["generate", "run"], {"generate"}))
def test_what_was_paid_is_beside_a_log_that_was_taken_away(
    command: str, harm: Callable[[Path], None], folder: Path, start: Start
) -> None:
    """Every answer is in `LOG.rescued`, nothing is asked after what was in flight, and the exit code is 4."""
    log, rescued = folder / "lost.jsonl", folder / "lost.jsonl.rescued"
    running = start(command, "eval.yaml", "-o", "lost.jsonl")
    wait_until(lambda: len(events(log)) == ANSWERED and calls(folder) == ANSWERED + IN_FLIGHT, running)
    harm(log)
    (folder / "go").touch()
    stdout, stderr = running.communicate(timeout=60)
    assert running.returncode == 4, stderr
    assert stdout == ""
    assert calls(folder) == ANSWERED + IN_FLIGHT
    assert {event["text"] for event in events(rescued)} == {f"answer {n}" for n in range(1, 6)}
    assert rescued.read_bytes().startswith(b'{"type":"run"')
    assert stderr.splitlines()[-1].startswith(f"keval: {log} was ")
    assert f"cat {rescued} >> {log}" in stderr
    judged = {event["response_id"] for event in events(rescued, kind="judgment")}
    assert judged <= {event["id"] for event in events(rescued)}


@pytest.mark.slow
def test_the_next_command_goes_on_from_what_was_rescued(folder: Path, start: Start) -> None:
    """What the message says to do leads to a whole log, and nothing is paid again."""
    log = folder / "lost.jsonl"
    running = start("generate", "eval.yaml", "-o", "lost.jsonl")
    wait_until(lambda: len(events(log)) == ANSWERED and calls(folder) == ANSWERED + IN_FLIGHT, running)
    remove(log)
    (folder / "go").touch()
    running.communicate(timeout=60)
    with log.open("ab") as appended:
        appended.write((folder / "lost.jsonl.rescued").read_bytes())
    again = start("generate", "eval.yaml", "-o", "lost.jsonl")
    _, stderr = again.communicate(timeout=60)
    assert again.returncode == 0, stderr
    assert calls(folder) == 12
    assert len({event["id"] for event in events(log)}) == len(events(log)) == 12


@pytest.mark.slow
def test_a_log_that_is_taken_away_after_the_last_answer_is_noticed(folder: Path, start: Start) -> None:
    """The last answer is asked for its place, too: it is in the log or beside it, never nowhere."""
    log = folder / "lost.jsonl"
    running = start("generate", "eval.yaml", "-o", "lost.jsonl", "--limit", "5")
    wait_until(lambda: len(events(log)) == ANSWERED and calls(folder) == 5, running)
    move(log)
    (folder / "go").touch()
    _, stderr = running.communicate(timeout=60)
    assert running.returncode == 4, stderr
    assert len(events(folder / "lost.jsonl.rescued")) == 5


def under_its_name(log: Path) -> Path:
    return log


def through_a_link(log: Path) -> Path:
    (log.parent / "link.jsonl").symlink_to(log)
    return log.parent / "link.jsonl"


def through_a_hard_link(log: Path) -> Path:
    (log.parent / "hard.jsonl").hardlink_to(log)
    return log.parent / "hard.jsonl"


def moved(log: Path) -> Path:
    return log.rename(log.with_name("moved.jsonl"))


@pytest.mark.slow
@pytest.mark.parametrize("name", slow_but([under_its_name, through_a_link, through_a_hard_link, moved], {moved}))
def test_a_second_generate_is_refused_under_every_name(
    name: Callable[[Path], Path], folder: Path, start: Start
) -> None:
    """The lease is the file's: the second command is told the pid of the first and asks nothing."""
    log = folder / "lost.jsonl"
    running = start("generate", "eval.yaml", "-o", "lost.jsonl")
    wait_until(lambda: len(events(log)) == ANSWERED and calls(folder) == ANSWERED + IN_FLIGHT, running)
    second = start("generate", "eval.yaml", "-o", str(name(log)))
    _, stderr = second.communicate(timeout=60)
    assert second.returncode == 2, stderr
    assert f"keval generate is already writing to this log (pid {running.pid})" in stderr
    (folder / "go").touch()
    running.communicate(timeout=60)
    answers = events(folder / "lost.jsonl", folder / "moved.jsonl", folder / "lost.jsonl.rescued")
    assert {event["text"] for event in answers} == {f"answer {n}" for n in range(1, calls(folder) + 1)}
    assert not list(folder.glob(".*.lock"))


@pytest.mark.slow
def test_a_judge_stops_when_its_log_is_taken_away(folder: Path, start: Start) -> None:
    """Judgments that were written and those that were in flight are beside the log, and no more are asked for."""
    answers = [response_event(f"q{number}") for number in range(12)]
    log = write_log(folder / "lost.jsonl", [run_event(), *answers])
    (folder / "judge.yaml").write_text("type: rubric\nmodel: claude-opus-5\n")
    with serving(*[message(VERDICT)] * 12) as service:
        service.at_once = ANSWERED
        running = start("judge", "lost.jsonl", "-j", "judge.yaml", "--max-concurrent", "2", env=service.env)
        asked = ANSWERED + IN_FLIGHT
        wait_until(lambda: len(events(log, kind="judgment")) == ANSWERED and len(service.asked) == asked, running)
        replace(log)
        service.go.set()
        _, stderr = running.communicate(timeout=60)
    assert running.returncode == 4, stderr
    assert len(service.asked) == asked
    rescued = {event["id"] for event in events(folder / "lost.jsonl.rescued", kind="judgment")}
    assert {event["id"] for event in events(log, kind="judgment")} < rescued
    assert len(rescued) == asked
