from __future__ import annotations

import errno
import json
import os
import resource
import shlex
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from keval.processes import machine

CONFIG = """\
name: files
dataset: {path: questions.jsonl}
agent: {type: command, command: [sh, -c, "sleep 0.2; echo 7"]}
conditions: {plain: {system_prompt: Answer.}}
judge: {type: exact_match}
execution:
  repetitions: 1
  max_concurrent: CONCURRENT
  retry: {max_attempts: 20, initial_backoff_s: 0.1, backoff_multiplier: 1}
"""

TASKS = 40


def raised(raising: Callable[[], object]) -> Exception:
    try:
        raising()
    except Exception as error:  # noqa: BLE001 - any is wanted
        return error
    raise AssertionError


def scarce() -> None:
    raise OSError(errno.EMFILE, "Too many open files")


def wrapped() -> None:
    try:
        scarce()
    except OSError as error:
        raise RuntimeError("could not connect") from error


def while_handling() -> None:
    try:
        wrapped()
    except RuntimeError:
        raise KeyError("status")  # noqa: B904 - without `from`, as careless code does it


def grouped() -> None:
    raise ExceptionGroup("several", [ValueError("no"), raised(wrapped)])


def would_block() -> None:
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    try:
        os.read(reader, 1)
    except BlockingIOError:
        raise ConnectionError("closed")  # noqa: B904 - as a library does that waits for a stream
    finally:
        os.close(reader)
        os.close(writer)


def forgotten() -> None:
    try:
        scarce()
    except OSError:
        raise ValueError("bad answer") from None


@pytest.mark.parametrize("raising", [scarce, wrapped, while_handling, grouped])
def test_what_the_machine_lacks_is_seen_however_it_is_wrapped(raising: Callable[[], object]) -> None:
    """The system's error number counts, on the error itself or on what it came from."""
    assert machine.exhausted(raised(raising)) == "Too many open files"


@pytest.mark.parametrize("number", ["EMFILE", "ENFILE", "ENOMEM", "EAGAIN", "ENOSPC", "EDQUOT", "ENOBUFS"])
def test_each_thing_that_a_machine_runs_out_of_is_known(number: str) -> None:
    """Files, memory, processes, space on a disk or in a quota."""
    code = getattr(errno, number)
    assert machine.exhausted(OSError(code, os.strerror(code))) == os.strerror(code)


def test_memory_and_threads_are_of_the_machine() -> None:
    """Python has errors of its own for these."""
    assert machine.exhausted(MemoryError()) == "Cannot allocate memory"
    assert machine.exhausted(RuntimeError(machine.NO_THREAD)) == machine.NO_THREAD


def test_python_says_of_threads_what_is_looked_for() -> None:
    """The text is Python's own: with no memory for its stack there is no thread."""
    program = (
        "import resource, threading\n"
        "from keval.processes import machine\n"
        "threading.stack_size(2**30)\n"
        "resource.setrlimit(resource.RLIMIT_AS, (2**29, 2**29))\n"
        "try: threading.Thread(target=print).start()\n"
        "except RuntimeError as error: print(machine.exhausted(error))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == machine.NO_THREAD
    assert threading.active_count() >= 1


@pytest.mark.parametrize("raising", [would_block, forgotten, Path("/no/such").stat, lambda: int("x")])
def test_other_errors_are_not_of_the_machine(raising: Callable[[], object]) -> None:
    """A stream that had nothing to read, a missing file and a plain mistake are none of it."""
    assert machine.exhausted(raised(raising)) is None


def evaluation(folder: Path, concurrent: int) -> None:
    (folder / "eval.yaml").write_text(CONFIG.replace("CONCURRENT", str(concurrent)))
    samples = ({"id": f"q{number}", "question": "What?", "answer": "7"} for number in range(TASKS))
    (folder / "questions.jsonl").write_text("".join(json.dumps(sample) + "\n" for sample in samples))


def limited(folder: Path, program: str, *, soft: int, hard: int) -> subprocess.CompletedProcess[str]:
    """Run a shell command under a limit of open files."""
    shell = ["sh", "-c", f"ulimit -Sn {soft}; ulimit -Hn {hard}; exec {program}"]
    return subprocess.run(shell, cwd=folder, capture_output=True, text=True, timeout=120, check=False)


KEVAL = f"{sys.executable} -m keval run eval.yaml -o run.jsonl -q -f json"


@pytest.mark.slow
def test_what_cannot_fit_is_refused_before_a_run(tmp_path: Path) -> None:
    """With the figures, and the most that does fit: that many then run."""
    evaluation(tmp_path, 30)
    done = limited(tmp_path, KEVAL, soft=64, hard=64)
    assert done.returncode == 2, done.stderr
    assert "max_concurrent: 30 does not fit" in done.stderr
    assert not (tmp_path / "run.jsonl").exists()
    fits = int(done.stderr.partition("at most ")[2].partition(" fit")[0])
    assert 4 <= fits < 12
    evaluation(tmp_path, fits)
    done = limited(tmp_path, KEVAL, soft=64, hard=64)
    assert done.returncode == 0, done.stderr
    assert kinds(tmp_path) == []


def test_a_check_reports_what_does_not_fit_beside_all_else_and_leaves_the_process_as_it_is(tmp_path: Path) -> None:
    """It starts no agents: whose orphans it would adopt, or whose folders it would remove, is none of its business."""
    evaluation(tmp_path, 30)
    config = tmp_path / "eval.yaml"
    config.write_text(config.read_text().replace("[sh, -c", "[no-such-program, -c"))
    program = (
        "from keval import cli; from keval.processes import orphans; "
        "cli.run(['check', 'eval.yaml']); print(orphans.adopted.is_on)"
    )
    done = limited(tmp_path, shlex.join([sys.executable, "-c", program]), soft=64, hard=64)
    assert "max_concurrent: 30 does not fit" in done.stderr
    assert "no program 'no-such-program'" in done.stderr
    assert done.stdout.endswith("\nFalse\n")


@pytest.mark.slow
def test_the_soft_limit_is_raised_and_no_program_notices(tmp_path: Path) -> None:
    """A soft limit that the user may raise is in nobody's way, and the agent's programs get it as it was."""
    evaluation(tmp_path, 30)
    config = tmp_path / "eval.yaml"
    waits = "until [ $(ulimit -Sn) = 64 ]; do sleep 0.05; done; echo 7"
    config.write_text(config.read_text().replace("sleep 0.2; echo 7", waits))
    done = limited(tmp_path, KEVAL, soft=64, hard=1000)
    assert done.returncode == 0, done.stderr
    assert kinds(tmp_path) == []
    assert len(events(tmp_path, "response")) == TASKS


RAISES = """
import resource
from keval.processes import machine
machine.MOST_FILES = 500
machine.raise_limit()
print(*resource.getrlimit(resource.RLIMIT_NOFILE), machine.own_limit())
"""


@pytest.mark.parametrize(
    ("soft", "hard", "raised_to"), [(64, 300, 300), (64, 1000, 500), (600, 1000, 600), (99, 99, 99)]
)
def test_the_soft_limit_is_raised_so_far_and_never_lowered(
    tmp_path: Path, soft: int, hard: int, raised_to: int
) -> None:
    """Programs that go through all files that there might be must not stall in a container without a limit."""
    done = limited(tmp_path, shlex.join([sys.executable, "-c", RAISES]), soft=soft, hard=hard)
    assert done.stdout == f"{raised_to} {hard} {soft}\n", done.stderr


STARTS_A_SERVER = """
import subprocess, pathlib
from keval.processes import machine, servers
machine.raise_limit()
server = servers.launchable({"type": "stdio", "command": "sh", "args": ["-c", "ulimit -Sn"]}, pathlib.Path())
subprocess.run([server["command"], *server["args"]])
"""


def test_a_server_has_the_limit_that_keval_was_started_with(tmp_path: Path) -> None:
    """What keval allows itself is no business of the MCP servers."""
    done = limited(tmp_path, shlex.join([sys.executable, "-c", STARTS_A_SERVER]), soft=100, hard=1000)
    assert done.stdout == "100\n", done.stderr


TAKES_FILES_AWAY = """
import os, resource, time
resource.prlimit(os.getppid(), resource.RLIMIT_NOFILE, (90, 90))
time.sleep(0.2)
print(7)
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="only Linux lets a program change another one's limit")
def test_too_many_open_files_are_no_bad_answers(tmp_path: Path) -> None:
    """When files run out in the middle of a run, tasks are tried again with fewer at once, and all are answered."""
    evaluation(tmp_path, 30)
    config = tmp_path / "eval.yaml"
    config.write_text(config.read_text().replace('sh, -c, "sleep 0.2; echo 7"', 'python, "{folder}/agent.py"'))
    (tmp_path / "agent.py").write_text(TAKES_FILES_AWAY)
    done = limited(tmp_path, KEVAL, soft=200, hard=200)
    assert done.returncode == 0, done.stderr
    answers = events(tmp_path, "response")
    assert len(answers) == TASKS
    failed = [attempt for answer in answers for attempt in answer["failed_attempts"]]
    assert {attempt["kind"] for attempt in failed} == {"infra_error"}
    assert "Too many open files" in failed[0]["message"]


SMALL_DISK = "mkdir small && mount -t tmpfs -o size=256k small small && export TMPDIR=$PWD/small && "


def can_mount() -> bool:
    command = ["unshare", "-rm", "mount", "-t", "tmpfs", "none", "/mnt"]
    return (
        shutil.which("unshare") is not None
        and subprocess.run(command, capture_output=True, check=False).returncode == 0
    )


@pytest.mark.skipif(not can_mount(), reason="a disk that is full without being the whole machine's needs a mount")
@pytest.mark.parametrize("program", ["yes | head -c 300000; exit 0", "head -c 300000 /dev/zero"])
def test_a_full_disk_is_no_bad_answer(tmp_path: Path, program: str) -> None:
    """What the program wrote may be cut off, whether or not it noticed: it is not measured."""
    evaluation(tmp_path, 1)
    config = tmp_path / "eval.yaml"
    text = config.read_text().replace("sleep 0.2; echo 7", program).replace("max_attempts: 20", "max_attempts: 1")
    config.write_text(text)
    shell = [
        "unshare",
        "-rm",
        "sh",
        "-c",
        f"{SMALL_DISK} exec {KEVAL.replace(' run ', ' generate ').replace('-f json', '')} --limit 1",
    ]
    done = subprocess.run(shell, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120)
    assert kinds(tmp_path) == ["infra_error"], done.stderr
    assert "No space left on device" in events(tmp_path, "failure")[0]["message"]


def events(folder: Path, kind: str) -> list[dict[str, Any]]:
    lines = map(json.loads, (folder / "run.jsonl").read_text().splitlines())
    return [event for event in lines if event["type"] == kind]


def kinds(folder: Path) -> list[object]:
    """Return of what kind the failures of a log are."""
    return [event["kind"] for event in events(folder, "failure")]


def test_an_unlimited_process_fits_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    """No limit is no number to be counted against; an item that needs no file fits as well."""
    machine.check_fits(10**9, 0)
    monkeypatch.setattr(resource, "getrlimit", lambda _: (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    machine.check_fits(10**9, 100)
