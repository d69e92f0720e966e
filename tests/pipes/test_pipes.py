"""Real processes in real shells; the agent is `echo`, so that what is tested is the plumbing."""

from __future__ import annotations

import csv
import fcntl
import io
import json
import os
import pty
import select
import shutil
import signal
import subprocess
import sys
import termios
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from keval.events import encode
from keval.projections.growing import PIECE
from tests.builders import judgment_event, response_event, run_event

KEVAL = f"{sys.executable} -m keval"
CONFIG = """\
name: plumbing
version: "1"
dataset: {path: questions.jsonl}
agent: {type: echo, delay_s: DELAY}
conditions:
  plain: {system_prompt: "Answer."}
  polite: {system_prompt: "Answer politely."}
judge: {type: exact_match}
execution: {repetitions: 2, max_concurrent: 4}
"""
TASKS = 2 * 2 * 10


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a config of 40 tasks, of which half will match."""
    write_evaluation(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def finished_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder in which `keval run` came to its end, with what it printed; nobody changes it."""
    folder = tmp_path_factory.mktemp("finished")
    write_evaluation(folder)
    done = shell("keval run eval.yaml > printed.txt", folder)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def finished(finished_once: Path, tmp_path: Path) -> Path:
    """Return a copy of a folder in which `keval run` came to its end."""
    return Path(shutil.copytree(finished_once, tmp_path, dirs_exist_ok=True))


def write_evaluation(folder: Path) -> None:
    write_config(folder, delay_s=0.0)
    with (folder / "questions.jsonl").open("w") as questions:
        for number in range(10):
            question = f"question {number}"
            answer = question if number % 2 else "another"
            questions.write(json.dumps({"id": f"s{number}", "question": question, "answer": answer}) + "\n")


def write_config(folder: Path, delay_s: float) -> None:
    (folder / "eval.yaml").write_text(CONFIG.replace("DELAY", str(delay_s)))


def write_other_config(folder: Path) -> None:
    """Write a config like the other but for its conditions and its judge."""
    written = (folder / "eval.yaml").read_text().replace("name: plumbing", "name: other").replace("Answer", "Reply")
    judge = "judge: {type: exact_match, ignore_case: false}"
    (folder / "other.yaml").write_text(written.replace("judge: {type: exact_match}", judge))


def shell(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    script = f"set -o pipefail\n{command.replace('keval ', f'{KEVAL} ')}"
    return subprocess.run(["bash", "-c", script], cwd=folder, capture_output=True, text=True, check=False, timeout=60)


def events(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().split("\n") if line]


def of_type(found: list[dict[str, Any]], event_type: str) -> list[dict[str, Any]]:
    return [event for event in found if event["type"] == event_type]


def numbers(report: str) -> list[dict[str, str]]:
    """Return the rows of a CSV report without what a clock measured."""
    rows = csv.DictReader(io.StringIO(report))
    return [{name: value for name, value in row.items() if "duration" not in name} for row in rows]


@pytest.mark.slow
def test_four_processes_give_the_numbers_of_one(finished: Path) -> None:
    """`generate | judge | aggregate | report` and `run` print the same scores."""
    piped = shell("keval generate eval.yaml | keval judge | keval aggregate | keval report -f csv", finished)
    whole = shell("keval run eval.yaml -f csv", finished)
    assert piped.returncode == whole.returncode == 0, piped.stderr
    assert numbers(piped.stdout) == numbers(whole.stdout)
    assert len(numbers(piped.stdout)) == 2


@pytest.mark.slow
def test_the_first_judgment_is_made_while_later_responses_are_still_generated(folder: Path) -> None:
    """Stages of a pipe work at the same time."""
    write_config(folder, delay_s=0.1)
    done = shell("keval generate eval.yaml | keval judge > log.jsonl", folder)
    assert done.returncode == 0, done.stderr
    found = events(folder / "log.jsonl")
    assert of_type(found, "judgment")[0]["time"] < of_type(found, "response")[-1]["time"]


@pytest.mark.slow
def test_each_response_of_two_logs_has_the_judges_of_its_own(folder: Path) -> None:
    """`cat a.jsonl b.jsonl | keval judge` takes the judges named last before a response, once for each log."""
    write_other_config(folder)
    done = shell(
        "keval generate eval.yaml -o a.jsonl && keval generate other.yaml -o b.jsonl"
        " && cat a.jsonl b.jsonl a.jsonl | keval judge > all.jsonl",
        folder,
    )
    assert done.returncode == 0, done.stderr
    found = events(folder / "all.jsonl")
    generated = [events(folder / name) for name in ("a.jsonl", "b.jsonl")]
    passed_on = [event for event in found if event["type"] != "judgment" and event.get("command") != "judge"]
    assert passed_on == [*generated[0], *generated[1], *generated[0]]
    judges = [{run["judges"][0]["judge_id"] for run in of_type(each, "run")} for each in generated]
    for responses, (judge_id,) in zip(generated, judges, strict=True):
        ids = {event["id"] for event in of_type(responses, "response")}
        judged = [event["judge_id"] for event in of_type(found, "judgment") if event["response_id"] in ids]
        assert judged == [judge_id] * TASKS
    announced = [run["judges"][0]["judge_id"] for run in of_type(found, "run") if run["command"] == "judge"]
    assert announced == [*judges[0], *judges[1]]


@pytest.mark.slow
def test_a_judge_that_is_given_judges_all_logs_of_a_pipe(folder: Path) -> None:
    """With -j only that judge judges, whatever judges the logs of a pipe name."""
    write_other_config(folder)
    (folder / "given.yaml").write_text("{name: given, type: exact_match}")
    done = shell(
        "keval generate eval.yaml -o a.jsonl && keval generate other.yaml -o b.jsonl"
        " && cat a.jsonl b.jsonl | keval judge -j given.yaml > all.jsonl",
        folder,
    )
    assert done.returncode == 0, done.stderr
    judgments = of_type(events(folder / "all.jsonl"), "judgment")
    assert [judgment["judge"]["name"] for judgment in judgments] == ["given"] * 2 * TASKS


def test_a_reader_who_leaves_is_no_error(folder: Path) -> None:
    """`| head -1` ends with success and without a word."""
    done = shell("keval generate eval.yaml -q | head -1", folder)
    assert (done.returncode, done.stdout.count("\n")) == (0, 1)
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_stdout_holds_nothing_but_events(folder: Path) -> None:
    """Every line on stdout of `generate | judge` is an event; people are told on stderr."""
    done = shell("keval generate eval.yaml | keval judge", folder)
    assert all(json.loads(line)["type"] for line in done.stdout.splitlines())
    assert "plain 20/20 done" in done.stderr


@pytest.mark.slow
def test_the_same_command_again_adds_nothing(finished: Path) -> None:
    """A second `run` of the same config leaves the log as it was."""
    before = (finished / "plumbing.jsonl").read_bytes()
    second = shell("keval run eval.yaml", finished)
    assert second.returncode == 0, second.stderr
    assert (finished / "plumbing.jsonl").read_bytes() == before
    assert second.stdout == (finished / "printed.txt").read_text()


@pytest.mark.slow
def test_more_repetitions_run_only_the_new_work(finished: Path) -> None:
    """Raising `repetitions` keeps what is there and adds the rest."""
    before = (finished / "plumbing.jsonl").read_bytes()
    config = finished / "eval.yaml"
    config.write_text(config.read_text().replace("repetitions: 2", "repetitions: 3"))
    done = shell("keval run eval.yaml", finished)
    assert done.returncode == 0, done.stderr
    after = (finished / "plumbing.jsonl").read_bytes()
    assert after.startswith(before)
    added = [json.loads(line) for line in after[len(before) :].splitlines()]
    assert len(of_type(added, "response")) == len(of_type(added, "judgment")) == 20


@pytest.mark.slow
def test_a_judge_added_later_judges_the_old_answers(finished: Path) -> None:
    """Another judge in the config is new work for `run`; no answer is generated again."""
    config = finished / "eval.yaml"
    stricter = "judges: [{type: exact_match}, {type: exact_match, name: strict, ignore_case: false}]"
    config.write_text(config.read_text().replace("judge: {type: exact_match}", stricter))
    done = shell("keval run eval.yaml", finished)
    assert done.returncode == 0, done.stderr
    found = events(finished / "plumbing.jsonl")
    assert len(of_type(found, "response")) == TASKS
    assert len(of_type(found, "judgment")) == 2 * TASKS


@pytest.mark.slow
def test_what_the_plan_leaves_out_is_judged_with_all_only_and_that_is_said(folder: Path) -> None:
    """With one repetition less planned, half of the answers are left: `judge` counts them, and --all takes them."""
    fewer = (folder / "eval.yaml").read_text().replace("repetitions: 2", "repetitions: 1")
    (folder / "fewer.yaml").write_text(fewer)
    made = "keval generate eval.yaml -o log.jsonl -q && keval generate fewer.yaml -o log.jsonl -q"
    done = shell(f"{made} && keval judge log.jsonl -q && keval judge log.jsonl -q", folder)
    assert done.returncode == 0, done.stderr
    assert len(of_type(events(folder / "log.jsonl"), "judgment")) == TASKS // 2
    left = f"every planned response has its judgments; {TASKS // 2} responses that are not in the newest plan can be"
    assert left in done.stderr
    done = shell("keval judge log.jsonl --all -q && keval judge log.jsonl -q", folder)
    assert len(of_type(events(folder / "log.jsonl"), "judgment")) == TASKS
    assert "nothing to judge: every response has its judgments\n" in done.stderr


@pytest.mark.slow
def test_rejudging_needs_no_agent_and_a_second_call_adds_nothing(folder: Path) -> None:
    """`judge LOG -j` only appends; the earlier bytes stay; the same call again changes nothing."""
    shell("keval generate eval.yaml -o log.jsonl", folder)
    before = (folder / "log.jsonl").read_bytes()
    (folder / "other.yaml").write_text("type: exact_match\nname: other\nignore_case: false\n")
    (folder / "eval.yaml").unlink()
    (folder / "questions.jsonl").unlink()
    first = shell("keval judge log.jsonl -j other.yaml", folder)
    after = (folder / "log.jsonl").read_bytes()
    second = shell("keval judge log.jsonl -j other.yaml", folder)
    assert (first.returncode, second.returncode) == (0, 0), first.stderr
    assert after.startswith(before)
    assert {json.loads(line)["type"] for line in after[len(before) :].splitlines()} == {"run", "judgment"}
    assert (folder / "log.jsonl").read_bytes() == after


@pytest.mark.slow
def test_a_judge_says_once_that_judgments_stand_behind_their_answers(finished: Path) -> None:
    """Who sends a judged log through a pipe pays for it again, and is told; judgments that come first are kept."""
    late = shell("cat plumbing.jsonl | keval judge > again.jsonl", finished)
    assert (late.returncode, late.stderr.count("judgments come in behind their answers")) == (0, 1), late.stderr
    early = shell(
        '(grep -v \'"type":"response"\' plumbing.jsonl; grep \'"type":"response"\' plumbing.jsonl) > early.jsonl'
        " && cat early.jsonl | keval judge | cmp - early.jsonl",
        finished,
    )
    assert (early.returncode, "behind their answers" in early.stderr) == (0, False), early.stderr


@pytest.mark.slow
def test_cat_is_a_merge(finished: Path) -> None:
    """Two copies of one log, concatenated, give the numbers of one."""
    once = shell("keval report plumbing.jsonl -f csv", finished)
    twice = shell("cat plumbing.jsonl plumbing.jsonl | keval report -f csv", finished)
    assert numbers(once.stdout)
    assert numbers(twice.stdout) == numbers(once.stdout)


@pytest.mark.slow
def test_a_log_with_a_broken_line_names_it(finished: Path) -> None:
    """Line 7 of a log is broken: exit 3, and the message has file, line and path."""
    log = finished / "plumbing.jsonl"
    lines = log.read_text().split("\n")
    lines[6] = lines[6].replace('"repetition":', '"repetitoin":')
    log.write_text("\n".join(lines))
    for command in (
        "aggregate plumbing.jsonl",
        "report plumbing.jsonl",
        "judge plumbing.jsonl",
        "validate plumbing.jsonl",
    ):
        done = shell(f"keval {command}", finished)
        assert done.returncode == 3, command
        assert "plumbing.jsonl:7: $.repetitoin: unknown key 'repetitoin'; did you mean 'repetition'?" in done.stderr
    skipping = shell("keval report plumbing.jsonl --skip-invalid", finished)
    assert skipping.returncode == 0
    assert "plumbing.jsonl:7: skipped" in skipping.stderr


@pytest.mark.slow
def test_a_run_says_what_counts_no_more_before_it_asks(folder: Path) -> None:
    """When less is planned, and when something changed and only a part is asked again."""
    assert shell("keval generate eval.yaml -q -o a.jsonl", folder).returncode == 0
    less = shell("keval generate eval.yaml -q -o a.jsonl --limit 1", folder)
    assert "36 responses will count no more: the plan now leaves out 9 samples; they stay in the log" in less.stderr
    assert shell("sed -i s/politely/kindly/ eval.yaml; keval check eval.yaml --log a.jsonl", folder).returncode == 0
    part = shell("keval generate eval.yaml -q -o a.jsonl --condition plain", folder)
    assert "20 responses of polite count no more until they are asked again" in part.stderr


@pytest.mark.slow
def test_ctrl_c_finishes_what_is_in_flight(folder: Path) -> None:
    """One SIGINT: exit 130, whole lines only, and the same command does the rest."""
    write_config(folder, delay_s=0.1)
    log = folder / "plumbing.jsonl"
    process = subprocess.Popen(
        [sys.executable, "-m", "keval", "run", "eval.yaml"],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    while not (log.exists() and log.read_bytes().count(b"\n") >= 3):
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 130, said
    assert log.read_bytes().endswith(b"\n")
    assert len(of_type(events(log), "response")) < TASKS
    assert shell("keval run eval.yaml", folder).returncode == 0
    assert len(of_type(events(log), "response")) == TASKS


@pytest.mark.slow
def test_ctrl_c_in_a_silent_pipe_passes_events_on_and_twice_ends_it_at_once(folder: Path) -> None:
    """After one SIGINT nothing is judged and all is passed on; after two it ends, though its input never does."""
    assert shell("keval generate eval.yaml -o a.jsonl", folder).returncode == 0
    first, *others = (folder / "a.jsonl").read_bytes().splitlines(keepends=True)
    command = [sys.executable, "-m", "keval", "judge"]
    with subprocess.Popen(
        command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0
    ) as process:
        stdin, stdout, stderr = process.stdin, process.stdout, process.stderr
        assert stdin is not None
        assert stdout is not None
        assert stderr is not None
        stdin.write(first)
        assert stdout.readline() == first
        process.send_signal(signal.SIGINT)
        assert b"Ctrl-C again" in stderr.readline()
        for line in others:
            stdin.write(line)
            assert stdout.readline() == line
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 130
        assert stdout.read() == b""
        # The same command would judge all again.
        told = stderr.read().decode()
        assert "keval judge LOG" in told
        assert "the same command" not in told


@pytest.mark.slow
def test_ctrl_c_twice_ends_what_writes_into_a_pipe_that_nobody_reads(folder: Path) -> None:
    """No answer can be passed on, so none is waited for."""
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
    command = [*KEVAL.split(), "generate", "eval.yaml"]
    with subprocess.Popen(command, cwd=folder, stdout=writer, stderr=subprocess.PIPE, bufsize=0) as process:
        assert process.stderr is not None
        while select.select([], [writer], [], 0)[1]:
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        while b"Ctrl-C again" not in process.stderr.readline():
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 130
    os.close(reader)
    os.close(writer)


def unread(pipe: int) -> int:
    """Return how many bytes are in a pipe that nobody has read yet."""
    return int.from_bytes(fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)), sys.byteorder)


def interrupted(command: str, begin: bytes, end: bytes, signals: Sequence[int], out: Path) -> int:
    """Send signals to a reader of a pipe midway, let the rest in if it still runs, and return its exit code."""
    with out.open("wb") as stdout, subprocess.Popen(
        [*KEVAL.split(), command], stdin=subprocess.PIPE, stdout=stdout, stderr=subprocess.PIPE, bufsize=0
    ) as process:  # fmt: skip
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.write(begin)
        while unread(process.stdin.fileno()):
            assert process.poll() is None
        for place, number in enumerate(signals):
            process.send_signal(number)
            if number == signal.SIGINT and not place:
                assert b"what still comes in will be read" in process.stderr.readline()
        if signals.count(signal.SIGINT) > 1:
            assert process.wait(timeout=30) == 130
        else:
            process.stdin.write(end)
            process.stdin.close()
            process.stdin = None
        process.communicate(timeout=30)
    return process.returncode


@pytest.mark.slow
@pytest.mark.parametrize(
    ("signals", "code"),
    [((signal.SIGINT,), 0), ((signal.SIGINT, signal.SIGINT), 130), ((signal.SIGHUP, signal.SIGHUP), 0)],
)
def test_a_reader_of_a_pipe_ends_when_the_pipe_ends_and_at_the_second_ctrl_c(
    folder: Path, signals: Sequence[int], code: int
) -> None:
    """What those before it in the pipe still finish was paid, and is in what it prints."""
    assert shell("keval generate eval.yaml -o a.jsonl", folder).returncode == 0
    first, *others = (folder / "a.jsonl").read_bytes().splitlines(keepends=True)
    assert interrupted("report", first, b"".join(others), signals, folder / "out") == code
    assert (f"{TASKS} responses".encode() in (folder / "out").read_bytes()) == (code == 0)


@pytest.mark.slow
@pytest.mark.parametrize("times", [1, 2])
def test_ctrl_c_while_much_is_read_as_it_comes_in(tmp_path: Path, times: int) -> None:
    """One lets the rest of the pipe in, which is passed on and counted with the beginning; two end it at once."""
    responses = [response_event(f"q{number}", text="because " * 2**14) for number in range(700)]
    judged = [encode(response) + encode(judgment_event(response)) for response in responses]
    begin, end = encode(run_event(samples=700)) + b"".join(judged[:600]), b"".join(judged[600:])
    assert len(begin) > PIECE
    code = interrupted("aggregate", begin, end, times * [signal.SIGINT], tmp_path / "out")
    assert code == (0 if times == 1 else 130)
    printed = (tmp_path / "out").read_bytes()
    if times == 1:
        assert printed.startswith(begin + end)
        assert b'"n_responses":700' in printed[len(begin + end) :]
    else:
        assert begin.startswith(printed)


@pytest.mark.slow
@pytest.mark.parametrize(("command", "draws"), [
    ("keval generate eval.yaml | keval judge > out.jsonl", False),
    ("keval generate eval.yaml | cat > out.jsonl", False),
    ("keval generate eval.yaml > out.jsonl", True),
    ("keval generate eval.yaml -o log.jsonl | cat > out.jsonl", True),
])  # fmt: skip
def test_commands_of_one_pipe_draw_nothing_over_each_other(folder: Path, command: str, draws: bool) -> None:
    """On a terminal a command alone draws how far it is; of a pipe each says in lines what it did."""
    terminal, end = pty.openpty()
    with os.fdopen(terminal, "rb") as shown, os.fdopen(end, "wb") as stderr:
        script = ["bash", "-c", command.replace("keval ", f"{KEVAL} ")]
        environment = os.environ | {"TERM": "xterm"}
        subprocess.run(script, cwd=folder, stdin=stderr, stderr=stderr, env=environment, check=True, timeout=60)
        said = os.read(shown.fileno(), 100_000).decode()
    assert ("\x1b[" in said) == draws
    assert draws or "generate: plain 20/20 done, free · polite 20/20 done, free" in said
    assert "judge" not in command or "judge: exact_match 40 done, free" in said


def left_alone(folder: Path, hang_up: str) -> int:
    """Take the terminal away from a run that has given its first answer, and return the run's exit code."""
    terminal, end = pty.openpty()
    command = [*KEVAL.split(), "run", "eval.yaml", "-o", "log.jsonl"]
    process = subprocess.Popen(
        ["env", f"--{hang_up}-signal=HUP", "setsid", "--ctty", *command], cwd=folder, stdin=end, stdout=end, stderr=end
    )
    os.close(end)
    log = folder / "log.jsonl"
    while not log.exists() or b'"response"' not in log.read_bytes():
        os.read(terminal, 10_000)
    os.close(terminal)
    return process.wait(timeout=60)


@pytest.mark.slow
def test_a_terminal_that_goes_away_ends_the_run_in_good_order(folder: Path) -> None:
    """What was in flight is in the log, no lock is left, and the same command does the rest."""
    write_config(folder, delay_s=0.2)
    assert left_alone(folder, "default") == 130
    log = folder / "log.jsonl"
    done = len(of_type(events(log), "response"))
    assert 0 < done < TASKS
    assert list(folder.glob(".*.lock")) == []
    write_config(folder, delay_s=0.0)
    assert shell("keval generate eval.yaml -o log.jsonl", folder).returncode == 0
    assert len(of_type(events(log), "response")) == TASKS


@pytest.mark.slow
def test_a_run_that_is_to_outlive_its_terminal_does(folder: Path) -> None:
    """Started to ignore the hang-up, it goes on to its end, although its progress can be shown to nobody."""
    write_config(folder, delay_s=0.2)
    assert left_alone(folder, "ignore") == 0
    assert len(of_type(events(folder / "log.jsonl"), "judgment")) == TASKS


def test_nothing_is_written_to_a_full_device(folder: Path) -> None:
    """A full disk under stdout is told, not swallowed."""
    if not os.path.exists("/dev/full"):  # noqa: PTH110 - a device
        pytest.skip("this system has no /dev/full")
    done = shell("keval generate eval.yaml > /dev/full", folder)
    assert done.returncode == 4
    assert "No space left" in done.stderr


def test_empty_input_is_told(folder: Path) -> None:
    """`judge < /dev/null` has nothing to do and says nothing wrong."""
    done = shell("keval judge < /dev/null", folder)
    assert (done.returncode, done.stdout) == (0, "")
