"""Every command, on logs that hold lines it cannot use: what it says, and with which exit code it ends."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from keval import cli

CONFIG = """\
name: odd
dataset: {path: questions.jsonl}
agent: {type: echo}
conditions: {plain: {system_prompt: "Answer."}, polite: {system_prompt: "Answer politely."}}
judge: {type: exact_match}
execution: {repetitions: 1}
"""

READS_A_LOG = {
    "generate": ("eval.yaml", "-o", "log.jsonl"),
    "run": ("eval.yaml", "-o", "log.jsonl"),
    "judge": ("log.jsonl",),
    "aggregate": ("log.jsonl",),
    "report": ("log.jsonl",),
    "sql": ("log.jsonl", "select 1"),
    "check": ("eval.yaml", "--log", "log.jsonl"),
    "validate": ("log.jsonl",),
    "retract": ("log.jsonl", "ID", "--reason", "why"),
    "scan": ("log.jsonl",),
}
"""What each command that reads a log is called with; ID stands for the beginning of an event's id."""

NO_LOG = {"schemas", "plugins"}


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

    def run(*words: str) -> Done:
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
    known = json.loads((folder / "log.jsonl").read_text().splitlines()[0])["id"]
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


@pytest.mark.parametrize("command", READS_A_LOG)
def test_a_message_names_no_option_that_the_command_lacks(command: str, folder: Path, keval: Run) -> None:
    """Of a bad line each command says where it is, and how to go on in a way that this command knows."""
    line = spoil(folder)
    done = keval(*arguments(command, folder))
    assert done.returncode == 3, done.stderr
    assert f"log.jsonl:{line}: " in done.stderr
    assert set(re.findall(r"--[a-z][a-z-]+", done.stderr)) <= options(command)


@pytest.mark.parametrize("command", [command for command in READS_A_LOG if command != "validate"])
def test_a_bad_line_can_be_left_out_by_every_command(command: str, folder: Path, keval: Run) -> None:
    """--skip-invalid names the line and goes on; validate is there to find it."""
    line = spoil(folder)
    done = keval(*arguments(command, folder), "--skip-invalid")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count(f"log.jsonl:{line}: skipped: ") == 1


@pytest.mark.parametrize("command", ["generate", "run"])
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


@pytest.mark.parametrize("command", READS_A_LOG)
def test_a_key_that_stands_twice_is_refused_by_every_command(command: str, folder: Path, keval: Run) -> None:
    """No command computes with a line of which another reader would read other numbers."""
    log = folder / "log.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    number = next(number for number, line in enumerate(lines, start=1) if b'"type":"judgment"' in line)
    lines[number - 1] = lines[number - 1].replace(b'"score":', b'"score":99,"score":')
    log.write_bytes(b"".join(lines))
    done = keval(*arguments(command, folder))
    assert done.returncode == 3
    assert f"log.jsonl:{number}: $.scores.exact_match: the key 'score' stands twice" in done.stderr
