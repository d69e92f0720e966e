"""Standard streams that are full or closed: real processes in a real shell, each command once."""

from __future__ import annotations

import gzip
import json
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from keval import cli
from tests.announcements import without_announcements
from tests.suites import slow_but

KEVAL = f"{sys.executable} -m keval"
CONFIG = """\
name: streams
dataset: {path: questions.jsonl}
agent: {type: echo}
conditions: {plain: {system_prompt: "Answer."}}
judge: {type: exact_match}
execution: {repetitions: 1}
"""
LEAK = "AKIA" + "A" * 16

PRINTS = {
    "init": "init new",
    "generate": "generate eval.yaml -q",
    "judge": "judge -q - < LOG",
    "aggregate": "aggregate LOG",
    "report": "report LOG",
    "view": "view LOG",
    "plot": "plot --help",
    "export": "export LOG -f parquet -o tables",
    "plan": "plan --difference 1 --var-samples 1 --var-responses 1",
    "gate": "gate LOG --rule 'exact_match >= 0' --on mean",
    "compare": "compare LOG other.jsonl",
    "run": "run eval.yaml -q --fresh -o again.jsonl",
    "show": "show LOG",
    "list": "list",
    "sql": "sql LOG 'select 1'",
    "import": "import answers.jsonl",
    "check": "check eval.yaml",
    "trials": "trials eval.yaml -q -k 1",
    "summarize": "summarize LOG",
    "agreement": "agreement LOG",
    "calibrate": "calibrate LOG",
    "label": "label --help",
    "validate-refs": "validate-refs eval.yaml -q",
    "balance": "balance questions.jsonl --by answer",
    "validate": "validate LOG",
    "retract": "retract --help",
    "scan": "scan LOG",
    "push": "push LOG pushed.jsonl",
    "schemas": "schemas run",
    "plugins": "plugins",
    "doctor": "doctor",
}
"""What makes each command write to stdout; `label`, `plot` and `retract` write nothing but their help."""

READS = ("judge -q", "aggregate", "report -", "sql - 'select 1'", "validate -")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a config, a log in which `scan` finds something, and a judge."""
    folder = tmp_path_factory.mktemp("streams")
    (folder / "eval.yaml").write_text(CONFIG)
    (folder / "questions.jsonl").write_text(json.dumps({"id": "s", "question": LEAK, "answer": "a"}) + "\n")
    (folder / "answers.jsonl").write_text(json.dumps({"question": "q", "answer": "a", "text": "b"}) + "\n")
    shell("run eval.yaml -q -o log.jsonl", folder)
    shutil.copy(folder / "log.jsonl", folder / "other.jsonl")
    return folder


def shell(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    script = f"{KEVAL} {command}".replace("LOG", shlex.quote(str(folder / "log.jsonl")))
    return subprocess.run(["bash", "-c", script], cwd=folder, capture_output=True, text=True, check=False, timeout=120)


def test_every_command_is_covered() -> None:
    """A new command has to say how it comes to write to stdout."""
    assert [*PRINTS] == [*cli.COMMANDS]


@pytest.mark.slow
@pytest.mark.parametrize("name", slow_but(PRINTS, {"generate", "report", "schemas", "sql"}))
def test_output_that_is_lost_is_an_error_in_one_line(name: str, folder: Path) -> None:
    """A full stdout ends every command with 4 and one line: never with success, never with a traceback."""
    done = shell(f"{PRINTS[name]} > /dev/full", folder)
    assert done.returncode == 4, done.stderr
    assert (
        without_announcements(done.stderr)
        == "keval: stdout: No space left on device; not all of the output was written\n"
    )


@pytest.mark.slow
@pytest.mark.parametrize("command", ["--help", "--version", "generate eval.yaml -q", "report LOG", "schemas"])
def test_a_closed_stdout_is_like_a_full_one(command: str, folder: Path) -> None:
    """Nothing that is opened later takes the place of stdout and gets what was meant for it."""
    done = shell(f"{command} >&-", folder)
    assert done.returncode == 4
    assert without_announcements(done.stderr) == "keval: stdout: closed; not all of the output was written\n"


@pytest.mark.slow
@pytest.mark.parametrize("stream", slow_but(["2>&-", "2>/dev/full", "2>&- >&- <&-"], {"2>/dev/full"}))
def test_nobody_has_to_listen(stream: str, folder: Path, tmp_path: Path) -> None:
    """A run whose words nobody can read does its work, and not a byte of them comes into the log."""
    log = tmp_path / "new.jsonl"
    done = shell(f"generate eval.yaml -o {log} {stream}", folder)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert [json.loads(line)["type"] for line in log.read_text().splitlines()] == ["run", "plan", "response"]


@pytest.mark.parametrize("command", slow_but(READS, {"aggregate", "judge -q"}))
def test_a_closed_stdin_is_told_from_an_empty_one(command: str, folder: Path) -> None:
    """A command that was to read stdin and has none says so with 3; it does not report that nothing is there."""
    done = shell(f"{command} <&-", folder)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr == "keval: stdin is closed; name a LOG, or pipe one in\n"


def test_validate_reads_a_pipe_once_and_stdin_like_other_commands(folder: Path) -> None:
    """`-` and `<(zcat run.jsonl.gz)` are logs; a mistake in them has its line."""
    (folder / "log.jsonl.gz").write_bytes(gzip.compress((folder / "log.jsonl").read_bytes()))
    assert shell("validate <(zcat log.jsonl.gz)", folder).stdout.endswith(": a log of 4 valid events\n")
    assert shell("validate - < LOG", folder).stdout == "-: a log of 4 valid events\n"
    broken = shell("validate <(zcat log.jsonl.gz; echo '{oops')", folder)
    assert broken.returncode == 3
    assert ":5: $: not JSON" in broken.stderr


def test_validate_says_that_an_empty_file_is_an_empty_log(folder: Path, tmp_path: Path) -> None:
    """An empty log is valid, as it is for `report`; a log whose first line is spoilt is still seen as one."""
    empty = tmp_path / "empty.jsonl"
    empty.touch()
    done = shell(f"validate {empty}", folder)
    assert (done.returncode, done.stdout) == (0, f"{empty}: empty: a log of 0 events\n")
    spoilt = tmp_path / "spoilt.jsonl"
    spoilt.write_text("{oops\n" + (folder / "log.jsonl").read_text())
    assert shell(f"validate {spoilt}", folder).stderr.startswith(f"keval: {spoilt}:1: $: not JSON")
