"""No command writes over what it reads, over a log, or over a file that is no output of its kind."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.builders import judgment_event, response_event, run_event, write_log
from tests.conftest import Keval


@pytest.fixture
def log(tmp_path: Path) -> Path:
    answers = [response_event("q1", name) for name in ("baseline", "with_docs")]
    return write_log(tmp_path / "run.jsonl", [run_event(), *answers, *map(judgment_event, answers)])


@pytest.mark.parametrize("output", ["run.jsonl", "link.jsonl", "hard.jsonl", "/dev/fd/0"])
@pytest.mark.parametrize("arguments", [["./run.jsonl"], []])
def test_report_never_writes_over_its_input(output: str, arguments: list[str], log: Path) -> None:
    """`report LOG -o LOG` is refused whatever name the log is given, and the log keeps every byte."""
    (log.parent / "link.jsonl").symlink_to(log)
    (log.parent / "hard.jsonl").hardlink_to(log)
    before = log.read_bytes()
    with log.open("rb+") as stdin:
        done = subprocess.run(
            [sys.executable, "-m", "keval", "report", *arguments, "-o", output],
            stdin=stdin, cwd=log.parent, capture_output=True, text=True, check=False,
        )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert "an input of this command" in done.stderr
    assert log.read_bytes() == before


@pytest.mark.parametrize(
    "command",
    [
        ["report", "run.jsonl", "-f", "markdown"],
        ["report", "run.jsonl", "-o", "/dev/stdout"],
        ["aggregate", "run.jsonl"],
        ["aggregate"],
        ["judge"],
        ["scan", "run.jsonl"],
        ["validate", "run.jsonl"],
        ["sql", "run.jsonl", "SELECT 1"],
        ["sql", "run.jsonl", "--print-views"],
    ],
)
def test_nothing_is_appended_to_an_input_through_stdout(command: list[str], log: Path) -> None:
    """`>> run.jsonl` of what is read is refused: it would end a log in a report, or never end."""
    before = log.read_bytes()
    with log.open("ab") as stdout, log.open("rb") as stdin:
        done = subprocess.run(
            [sys.executable, "-m", "keval", *command],
            stdin=stdin, stdout=stdout, stderr=subprocess.PIPE, text=True, cwd=log.parent, timeout=60, check=False,
        )  # fmt: skip
    assert done.returncode == 2, done.stderr
    assert log.read_bytes() == before


@pytest.mark.slow
def test_a_check_is_appended_to_nothing_that_it_reads(log: Path) -> None:
    """The plan in a config, a dataset or a log would spoil it."""
    (log.parent / "questions.jsonl").write_text('{"id": "1", "question": "q", "answer": "a"}\n')
    (log.parent / "eval.yaml").write_text(
        "name: kept\ndataset: {path: questions.jsonl}\nagent: {type: echo}\n"
        "conditions: {plain: {system_prompt: x}}\njudge: {type: exact_match}\n"
    )
    for name in ("eval.yaml", "questions.jsonl", log.name):
        before = (log.parent / name).read_bytes()
        with (log.parent / name).open("ab") as stdout:
            done = subprocess.run(
                [sys.executable, "-m", "keval", "check", "eval.yaml", "--log", log.name],
                stdout=stdout, stderr=subprocess.PIPE, text=True, cwd=log.parent, timeout=60, check=False,
            )  # fmt: skip
        assert done.returncode == 2, done.stderr
        assert (log.parent / name).read_bytes() == before


@pytest.mark.slow
def test_a_report_replaces_its_own_earlier_one_and_no_other_file(log: Path, keval: Keval) -> None:
    """What CI does every night works; a report in another format, another log and a note keep their bytes."""
    (log.parent / "notes.md").write_bytes(b"# Notes\n")
    shutil.copy(log, log.parent / "other.jsonl")
    for _ in range(2):
        done = keval("report", log, "-f", "markdown", "-o", "report.md")
        assert done.returncode == 0, done.stderr
    for name in ("notes.md", "other.jsonl", "report.md"):
        before = (log.parent / name).read_bytes()
        done = keval("report", log, "-f", "csv", "-o", name)
        assert done.returncode == 2
        assert "name another file" in done.stderr
        assert (log.parent / name).read_bytes() == before


@pytest.mark.slow
@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1"])
def test_an_output_named_as_stdout_is_on_stdout(name: str, log: Path) -> None:
    """`-o /dev/stdout` writes what no `-o` writes to stdout, also behind what is there, and stderr has none of it."""
    shown = subprocess.run(
        [sys.executable, "-m", "keval", "report", log, "-f", "csv"], capture_output=True, check=True
    ).stdout
    out, err = log.parent / "out.csv", log.parent / "err.txt"
    for _ in range(2):
        with out.open("ab") as stdout, err.open("ab") as stderr:
            subprocess.run(
                [sys.executable, "-m", "keval", "report", log, "-f", "csv", "-o", name],
                stdout=stdout, stderr=stderr, check=True,
            )  # fmt: skip
    assert out.read_bytes() == 2 * shown
    assert not err.read_bytes()


CONFIG = """\
name: kept
dataset: {path: questions.jsonl}
agent: {type: echo}
conditions:
  only: {system_prompt: Answer., mcp_servers: []}
judges:
  - {type: exact_match}
"""

DATASET = b'{"id":"q1","question":"Why?","answer":"Because."}\n{"id":"q2","question":"How?","answer":"So."}'


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """Return a config; the last line of its dataset has no newline, as editors leave it."""
    (tmp_path / "questions.jsonl").write_bytes(DATASET)
    (tmp_path / "eval.yaml").write_text(CONFIG)
    return tmp_path / "eval.yaml"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "code"),
    [
        (["generate", "eval.yaml", "-o", "questions.jsonl"], 2),
        (["generate", "eval.yaml", "-o", "hard.jsonl"], 2),
        (["run", "eval.yaml", "-o", "link.jsonl"], 2),
        (["run", "eval.yaml", "-o", "eval.yaml"], 2),
        (["generate", "eval.yaml", "-o", "other.json"], 3),
        (["run", "eval.yaml", "-o", "other.json"], 3),
        (["judge", "questions.jsonl"], 3),
        (["judge", "other.json", "--skip-invalid"], 3),
        (["aggregate", "other.json", "--append", "--skip-invalid"], 3),
        (["retract", "other.json", "q1", "--reason", "wrong"], 3),
    ],
)
def test_what_is_no_log_is_never_appended_to(command: list[str], code: int, config: Path, keval: Keval) -> None:
    """Config, dataset and foreign files keep every byte, also the last line without a newline; nothing lies beside."""
    folder = config.parent
    (folder / "hard.jsonl").hardlink_to(folder / "questions.jsonl")
    (folder / "link.jsonl").symlink_to("questions.jsonl")
    (folder / "other.json").write_bytes(b'{"type":"FeatureCollection","features":[1,2,3]}')
    before = {path: path.read_bytes() for path in folder.iterdir()}
    done = keval(*command)
    assert done.returncode == code, done.stderr
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_generate_does_not_append_to_its_inputs_through_stdout(config: Path) -> None:
    """`>> questions.jsonl` would make a dataset of events."""
    dataset = config.with_name("questions.jsonl")
    with dataset.open("ab") as stdout:
        done = subprocess.run(
            [sys.executable, "-m", "keval", "generate", "eval.yaml"],
            stdout=stdout, stderr=subprocess.PIPE, cwd=config.parent, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 2
    assert "stdout leads into" in done.stderr
    assert dataset.read_bytes() == DATASET


@pytest.mark.slow
@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/stderr"])
def test_a_stream_is_no_log(name: str, config: Path) -> None:
    """`generate -o /dev/stdout` says that events go to stdout by themselves; neither stream gets one, be it a file."""
    out, err = config.parent / "out.jsonl", config.parent / "err.txt"
    with out.open("wb") as stdout, err.open("wb") as stderr:
        done = subprocess.run(
            [sys.executable, "-m", "keval", "generate", config, "-q", "-o", name],
            stdout=stdout, stderr=stderr, check=False,
        )  # fmt: skip
    assert done.returncode == 2
    assert not out.read_bytes()
    assert f"{name} is not a file that can be appended to; without -o events go to stdout" in err.read_text()
    assert '{"type"' not in err.read_text()
