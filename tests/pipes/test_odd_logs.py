"""Every command, on logs that hold lines it cannot use: what it says, and with which exit code it ends."""

from __future__ import annotations

import io
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keval import cli, schema
from keval.events import encode
from keval.projections import VIEWS
from keval.viewer import serving
from tests.builders import judgment_event, response_event, run_event, write_log
from tests.suites import slow_but

CONFIG = """\
name: odd
dataset: {path: questions.jsonl}
agent: {type: echo}
conditions: {plain: {system_prompt: "Answer."}, polite: {system_prompt: "Answer politely."}}
judge: {type: exact_match}
execution: {repetitions: 1}
"""

ALL_VIEWS = " union all ".join(
    f"select count(md5(row_{view}::varchar)) from {view} as row_{view}"  # noqa: S608 - names of our own
    for view in VIEWS
)
"""A query that reads every column of every view."""

READS_A_LOG = {
    "generate": ("eval.yaml", "-o", "log.jsonl"),
    "run": ("eval.yaml", "-o", "log.jsonl"),
    "judge": ("log.jsonl",),
    "aggregate": ("log.jsonl",),
    "report": ("log.jsonl",),
    "view": ("log.jsonl",),
    "plot": ("log.jsonl", "--kind", "forest", "-o", "plot.svg"),
    "show": ("log.jsonl",),
    "compare": ("log.jsonl", "../plain.jsonl"),
    "plan": ("log.jsonl", "--difference", "0.3"),
    "gate": ("log.jsonl", "--rule", "exact_match >= 0", "--on", "mean"),
    "sql": ("log.jsonl", "-f", "jsonl", ALL_VIEWS),
    "check": ("eval.yaml", "--log", "log.jsonl"),
    "validate": ("log.jsonl",),
    "retract": ("log.jsonl", "ID", "--reason", "why"),
    "scan": ("log.jsonl",),
    "push": ("log.jsonl", "pushed.jsonl"),
    "import": ("questions.jsonl", "--map", "text={answer}", "-o", "log.jsonl"),
    "trials": ("eval.yaml", "-k", "1", "-o", "log.jsonl"),
    "export": ("log.jsonl", "-f", "every_eval_ever", "-o", "published"),
    "summarize": ("log.jsonl",),
    "agreement": ("log.jsonl", "--diagnostics"),
    "calibrate": ("log.jsonl", "--include-passes"),
    "label": ("log.jsonl", "--labeler", "ada", "--include-passes"),
    "validate-refs": ("eval.yaml", "-o", "log.jsonl"),
}
"""What each command that reads a log is called with; ID stands for the beginning of an event's id."""

NO_LOG = {"schemas", "plugins", "balance", "list", "doctor", "init"}

FINDS_OR_STOPS = {"validate", "push"}
"""What leaves no line out: it is there to find it."""

LEAVE_OUT = [command for command in READS_A_LOG if command not in FINDS_OR_STOPS]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a config, its questions and its log, which tests copy."""
    folder = tmp_path_factory.mktemp("whole")
    (folder / "eval.yaml").write_text(CONFIG)
    samples = [{"id": f"s{number}", "question": f"q{number}", "answer": "q1"} for number in range(3)]
    (folder / "questions.jsonl").write_text("".join(json.dumps(sample) + "\n" for sample in samples))
    command = [sys.executable, "-m", "keval", "run", "eval.yaml", "-q", "-o", "log.jsonl"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return folder


@pytest.fixture
def folder(whole: Path, tmp_path: Path) -> Path:
    """Return a copy of the folder."""
    shutil.copy(whole / "log.jsonl", tmp_path / "plain.jsonl")
    return Path(shutil.copytree(whole, tmp_path / "folder"))


@dataclass
class Done:
    """How a command ended."""

    returncode: int
    stdout: str
    stderr: str


Run = Callable[..., Done]


@pytest.fixture
def keval(folder: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Return a function that runs a command in this process, which is ten times as fast, in the folder."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr(serving, "wait_until_stopped", lambda: None)  # whoever is shown pages has seen enough

    def run(*words: str) -> Done:
        monkeypatch.setattr(sys, "stdin", io.StringIO("q\n"))  # whoever is asked a question quits
        returncode = cli.run(words)
        captured = capfd.readouterr()
        return Done(returncode, captured.out, captured.err)

    return run


def spoil(folder: Path) -> int:
    """Make the first response in the log unreadable and return its line."""
    lines = (folder / "log.jsonl").read_bytes().splitlines(keepends=True)
    spoilt = next(number for number, line in enumerate(lines) if b'"type":"response"' in line)
    lines[spoilt] = b"{oops\n"
    (folder / "log.jsonl").write_bytes(b"".join(lines))
    return spoilt + 1


def arguments(command: str, folder: Path) -> list[str]:
    """Return what to call a command with."""
    lines = (folder / "log.jsonl").read_bytes().split(b"\n")
    known = next(json.loads(line)["id"] for line in lines if line.startswith(b'{"type":"response"'))
    return [command, *(known if word == "ID" else word for word in READS_A_LOG[command])]


def options(command: str) -> set[str]:
    """Return the options of a command."""
    import click

    found = cli.root.get_command(click.Context(cli.root), command)
    assert found is not None
    return {name for parameter in found.params for name in (*parameter.opts, *parameter.secondary_opts)}


def test_every_command_is_covered() -> None:
    """A new command has to say whether it reads a log."""
    assert {*READS_A_LOG, *NO_LOG} == set(cli.COMMANDS)


@pytest.mark.slow
@pytest.mark.parametrize("command", slow_but(READS_A_LOG, {"generate", "report", "sql", "validate"}))
def test_a_message_names_no_option_that_the_command_lacks(command: str, folder: Path, keval: Run) -> None:
    """Of a bad line each command says where it is, and how to go on in a way that this command knows."""
    line = spoil(folder)
    done = keval(*arguments(command, folder))
    assert done.returncode == 3, done.stderr
    assert f"log.jsonl:{line}: " in done.stderr
    assert set(re.findall(r"--[a-z][a-z-]+", done.stderr)) <= options(command)


@pytest.mark.slow
@pytest.mark.parametrize("command", slow_but(LEAVE_OUT, {"judge", "report"}))
def test_a_bad_line_can_be_left_out_by_every_command(command: str, folder: Path, keval: Run) -> None:
    """--skip-invalid names the line and goes on."""
    line = spoil(folder)
    done = keval(*arguments(command, folder), "--skip-invalid")
    assert done.returncode == 0, done.stderr
    said = "no valid event; scanned as text" if command == "scan" else "skipped: "
    assert done.stderr.count(f"log.jsonl:{line}: {said}") == 1


@pytest.mark.parametrize("command", ["generate", "run"])
@pytest.mark.slow
def test_a_response_that_was_left_out_is_asked_for_again_and_that_is_said(
    command: str, folder: Path, keval: Run
) -> None:
    """What cannot be read is missing, so it is asked for and paid for again; only that."""
    spoil(folder)
    done = keval(command, "eval.yaml", "-o", "log.jsonl", "--skip-invalid")
    assert "log.jsonl: 1 line was skipped; a response that stood there is asked for again" in done.stderr
    after = (folder / "log.jsonl").read_text().splitlines()
    assert sum('"type":"response"' in line for line in after) == 6
    assert "{oops" in after


@pytest.mark.slow
@pytest.mark.parametrize("command", slow_but(READS_A_LOG, {"generate", "judge", "report", "sql"}))
def test_a_key_that_stands_twice_is_refused_by_every_command(command: str, folder: Path, keval: Run) -> None:
    """No command computes with a line of which another reader would read other numbers."""
    log = folder / "log.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    number = next(number for number, line in enumerate(lines, start=1) if b'"type":"judgment"' in line)
    lines[number - 1] = lines[number - 1].replace(b'"score":', b'"score":99,"score":')
    log.write_bytes(b"".join(lines))
    done = keval(*arguments(command, folder))
    assert done.returncode == 3
    # What is wrong with a line may quote it, and so a secret: scan leaves that to validate.
    said = "no valid event" if command == "scan" else "$.scores.exact_match: the key 'score' stands twice"
    assert f"log.jsonl:{number}: {said}" in done.stderr


@pytest.mark.slow
def test_tasks_that_failed_and_are_not_tried_again_are_no_success(folder: Path, keval: Run) -> None:
    """With --no-retry-failed a log of failures ends with 1 and says how many there are, not that all is done."""
    config = (folder / "eval.yaml").read_text().replace("{type: echo}", "{type: command, command: ['false']}")
    (folder / "fails.yaml").write_text(config)
    assert keval("generate", "fails.yaml", "-o", "fails.jsonl").returncode == 1
    for command in ("generate", "run"):
        done = keval(command, "fails.yaml", "-o", "fails.jsonl", "--no-retry-failed")
        assert done.returncode == 1, done.stderr
        assert "tasks failed earlier and will not be tried again" in done.stderr
    judged = keval("judge", "fails.jsonl")
    assert (judged.returncode, judged.stderr) == (0, "keval: nothing to judge: the log holds no response\n")


TEXTS = ["", " ", "\0", "a" * 100_000, "\u2028", "\x1b[31m", "[bold]", "'\"\\;--", "*", "null", "\U0010ffff"]
NUMBERS = [
    0,
    1,
    -1,
    10_000,
    10**12,
    2**53 - 1,
    2**63 - 1,
    2**64 - 1,
    10**15,
    -(10**15),
    5e-324,
    1e308,
    -1e308,
    -0.0,
    1e9,
]
TIMES = ["1000-01-01T00:00:00.000Z", "2999-12-31T23:59:59.999Z"]


def places(value: Any, keys: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:  # noqa: ANN401 - any JSON value
    """Return where each value in a value is."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [keys, *(place for key, item in inner for place in places(item, (*keys, key)))]


@st.composite
def odd(draw: st.DrawFn, events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Draw a log in which some values are as extreme as the schemas allow."""
    log: list[dict[str, Any]] = json.loads(json.dumps(events))
    for _ in range(draw(st.integers(1, 6))):
        number = draw(st.integers(0, len(log) - 1))
        changed = json.loads(json.dumps(log[number]))
        keys = draw(st.sampled_from(places(changed)[1:]))
        within = changed
        for key in keys[:-1]:
            within = within[key]
        old = within[keys[-1]]
        if keys[-1] == "time":
            within["time"] = draw(st.sampled_from(TIMES))
        elif isinstance(old, dict) and old:
            within[keys[-1]] = {draw(st.sampled_from(TEXTS)): next(iter(old.values()))}
        else:
            within[keys[-1]] = draw(st.sampled_from([*TEXTS, *NUMBERS, None, [], {}]))
        if schema.event_problem(changed) is None:
            log[number] = changed
    return log


@pytest.mark.slow
@settings(max_examples=2)
@given(data=st.data())
def test_no_odd_but_valid_log_ends_a_command_with_a_traceback(data: st.DataObject, folder: Path, keval: Run) -> None:
    """Whatever the schemas allow, each command copes with, or says what is wrong with it."""
    plain = [json.loads(line) for line in (folder.parent / "plain.jsonl").read_bytes().splitlines()]
    log = data.draw(odd(plain))
    written = "".join(json.dumps(event, ensure_ascii=False, separators=(",", ":")) + "\n" for event in log)
    for command in READS_A_LOG:
        (folder / "log.jsonl").write_text(written)
        done = keval(*arguments(command, folder))
        assert done.returncode in {0, 1, 2, 3, 4}, done.stderr


@pytest.mark.slow
def test_the_same_aggregates_are_appended_once(keval: Run, tmp_path: Path) -> None:
    """`aggregate --append` adds what is new: nothing the second time, and after one more answer what that changed."""
    one, other = response_event("q1"), response_event("q2")
    log = write_log(tmp_path / "run.jsonl", [run_event(["baseline"]), one, judgment_event(one, 4)])
    assert keval("aggregate", str(log), "--append").returncode == 0
    before = log.read_bytes()
    again = keval("aggregate", str(log), "--append")
    assert (again.returncode, log.read_bytes()) == (0, before)
    assert "holds these numbers already" in again.stderr
    with log.open("ab") as file:
        file.writelines(map(encode, [other, judgment_event(other, 2)]))
    assert keval("aggregate", str(log), "--append").returncode == 0
    added = [json.loads(line) for line in log.read_bytes()[len(before) :].splitlines()][2:]
    assert [event["type"] for event in added] == ["run", "aggregate"]
    assert keval("validate", str(log)).returncode == 0


def test_a_log_that_is_named_twice_is_counted_once(keval: Run, tmp_path: Path) -> None:
    """The view `logs` has one row for it, with the number of its lines."""
    log = write_log(tmp_path / "run.jsonl", [run_event(), response_event()])
    found = keval("sql", str(log), str(log), "-f", "csv", "SELECT events FROM logs")
    assert found.stdout.split() == ["events", "2"]
