from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from keval.cli import COMMANDS, root, run
from keval.commands.options import FiniteRange
from keval.documents import strict_json
from tests.builders import response_event, run_event, write_log
from tests.conftest import Keval


def completed(words: str) -> list[str]:
    """Return what a shell is offered for the last of some words."""
    environment = {
        **os.environ,
        "_KEVAL_COMPLETE": "bash_complete",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split()) - 1),
    }
    script = "import sys; sys.argv = ['keval']; from keval.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=False)
    return [line.partition(",")[2] for line in done.stdout.splitlines()]


def test_a_shell_completes_commands_and_options() -> None:
    """The beginning of a command or of an option is completed."""
    assert completed("keval ge") == ["generate"]
    assert "--mock-latency-ms" in completed("keval run --mock-l")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_and_an_example(command: str) -> None:
    """`-h` and `--help` are the same, and end with an example that begins with `keval`."""
    short, long = (CliRunner().invoke(root, [command, option], prog_name="keval") for option in ("-h", "--help"))
    assert short.stdout == long.stdout
    assert (short.exit_code, short.stderr) == (0, "")
    assert "Example: keval " in short.stdout


def test_a_misspelt_command_is_a_usage_error_with_a_hint(keval: Keval) -> None:
    """The nearest command is named, on stderr."""
    done = keval("jugde")
    assert (done.returncode, done.stdout) == (2, "")
    assert "did you mean 'judge'?" in done.stderr


def test_an_interrupt_while_keval_starts_is_one_like_any_other(tmp_path: Path) -> None:
    """It has the exit code of an interrupt and no traceback, although nothing is imported yet that could say more."""
    (tmp_path / "click.py").write_text("import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(60)\n")
    done = subprocess.run(
        [sys.executable, "-m", "keval", "list"],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


@pytest.mark.parametrize("number", ["0", "-1", "abc", "1.5", ""])
@pytest.mark.parametrize("option", ["-k", "--trials"])
def test_a_number_of_trials_is_1_at_least(option: str, number: str) -> None:
    """Of no trial everything could be said; what is no number is refused as well, before anything is read."""
    done = CliRunner().invoke(root, ["trials", option, number, "nowhere.yaml"], prog_name="keval")
    assert done.exit_code == 2
    assert f"Invalid value for '{option}" in done.stderr or f"Invalid value for '-n' / '{option}" in done.stderr


def test_an_error_about_the_run_is_one_line(keval: Keval) -> None:
    """Nothing of the machinery of Python is shown for what a user can mend."""
    done = keval("report", "nowhere.jsonl")
    assert done.returncode == 3
    assert done.stderr == "keval: nowhere.jsonl: No such file or directory\n"


def test_what_is_no_text_is_refused_before_anything_is_paid(keval: Keval, tmp_path: Path) -> None:
    """Neither a log nor DuckDB holds a name that is not UTF-8, whether it is given or that of the folder."""
    no_text = os.fsdecode(b"n\xff")
    (tmp_path / no_text).mkdir()
    for arguments, cwd in ((("run", "eval.yaml", "-o", no_text), None), (("run", "eval.yaml"), tmp_path / no_text)):
        done = keval(*arguments, cwd=cwd)
        assert done.returncode == 2
        assert "n\\udcff' is no text in utf-8; a file can be renamed" in done.stderr


@pytest.mark.parametrize("name", COMMANDS)
def test_no_option_takes_what_is_no_number(name: str) -> None:
    """`nan` is within every range for click, and a search for a bound never ends with it."""
    command = root.get_command(click.Context(root), name)
    assert command is not None
    ranges = [param.type for param in command.params if isinstance(param.type, click.FloatRange)]
    assert all(isinstance(each, FiniteRange) for each in ranges)


@pytest.mark.parametrize("command", [["balance"], ["retract", "--reason", "b"], ["push", "log.jsonl"], ["init"]])
@pytest.mark.parametrize("name", ["x" * 300, "loop.jsonl"])
def test_a_name_that_no_file_can_have_is_no_bug(
    command: list[str], name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """It is too long for the file system, or a link that leads to itself."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "loop.jsonl").symlink_to("loop.jsonl")
    write_log(tmp_path / "log.jsonl", [run_event(), response_event()])
    more = ["a"] if command[0] == "retract" else []
    assert run([*command, name, *more]) in {2, 3, 4}
    said = capfd.readouterr().err
    assert "a bug in keval" not in said
    assert len(said) < 500


@pytest.mark.parametrize(
    ("error", "is_of_shell"),
    [
        (OSError(errno.EMFILE, "Too many open files"), True),
        (OSError(errno.ENFILE, "Too many open files"), False),
        (RuntimeError("can't start new thread"), True),
    ],
)
def test_too_many_open_files_or_threads_are_no_bug(
    error: Exception, is_of_shell: bool, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """The limit of a shell can be raised by who typed the command, that of the whole system cannot."""

    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(root, "main", fail)
    assert run(["list"]) == 4
    said = capfd.readouterr().err
    assert "a bug in keval" not in said
    assert ("ulimit" in said) is is_of_shell


def test_too_little_memory_for_a_line_is_no_bug_and_leaves_nothing_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Whoever leaves invalid lines out would else get a number without the line."""

    def refuse(_: object) -> None:
        raise MemoryError("a line of 9 bytes")

    log = write_log(tmp_path / "log.jsonl", [run_event(), response_event()])
    monkeypatch.setattr(strict_json, "loads", refuse)
    assert run(["aggregate", "--skip-invalid", str(log)]) == 4
    assert "not enough memory for a line of 9 bytes; end other programs" in capfd.readouterr().err


@pytest.mark.parametrize(
    "command",
    [
        ["show", "s3://bucket/run.jsonl"],
        ["judge", "s3://bucket/run.jsonl"],
        ["compare", "here.jsonl", "https://ada:secret@host/run.jsonl?X=secret"],
        ["gate", "here.jsonl", "--baseline", "s3://bucket/run.jsonl"],
    ],
)
def test_an_address_where_a_file_is_wanted_is_told_as_it_was_given(
    command: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    """As a path it would be another name, which is not there; and what is secret in it is not told."""
    assert run(command) == 2
    said = capfd.readouterr().err
    assert "://" in said
    assert "only a file of this machine is taken here" in said
    assert "secret" not in said


@pytest.mark.parametrize("to", ["", ".", "log.jsonl", "/dev/full"])
def test_a_push_to_no_other_file_is_refused(
    to: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """An empty name, as of a variable that is not set, would else mean this folder: nothing were saved."""
    monkeypatch.chdir(tmp_path)
    write_log(tmp_path / "log.jsonl", [run_event(), response_event()])
    assert run(["push", "log.jsonl", to]) == 2
    said = capfd.readouterr().err
    assert any(why in said for why in ("is empty", "is the log itself", "is no file"))
    assert [path.name for path in tmp_path.iterdir()] == ["log.jsonl"]


LEAVES_A_THREAD = """
import time, duckdb
from keval import cli
from keval.processes.beside import Beside
cursor = duckdb.connect().cursor()
def run():
    Beside(lambda: cursor.execute("select count(*) from range(10_000_000_000_000)")).begin()
    time.sleep(0.3)
    raise KeyboardInterrupt
cli.run = run
cli.main()
"""


def test_an_interrupted_command_does_not_wait_for_another_thread() -> None:
    """DuckDB may be at work in it: Python's own end would abort, with a message that nobody understands."""
    done = subprocess.run([sys.executable, "-c", LEAVES_A_THREAD], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "")


ENDS = """
import atexit, threading, time, duckdb
from keval import cli
class Apart:
    def __del__(self):
        print("taken apart")
apart = Apart()
def run():
    atexit.register(lambda: print("exit function"))
    threading.Thread(target=lambda: (time.sleep(0.2), print("thread"))).start()
    return 6
cli.run = run
cli.main()
"""


def test_a_command_ends_when_its_threads_and_exit_functions_are_done() -> None:
    """What they print is printed, and the code is that of the outcome, though Python takes nothing apart then."""
    done = subprocess.run([sys.executable, "-c", ENDS], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (6, "thread\nexit function\n", "")


def test_what_a_function_has_left_open_is_written(keval: Keval, tmp_path: Path) -> None:
    """Where a function of the user's has run, Python's own end closes its files and removes the temporary ones."""
    (tmp_path / "mine.py").write_text(
        "import tempfile\nlog = open('calls.txt', 'w')\nkept = tempfile.NamedTemporaryFile(dir='.', prefix='mine-')\n"
        "def answer(question, system, servers):\n    log.write('called')\n    return question\n"
    )
    (tmp_path / "questions.jsonl").write_text('{"id": "a", "question": "Rome", "answer": "Rome"}\n')
    (tmp_path / "eval.yaml").write_text(
        "name: t\ndataset: {path: questions.jsonl}\nagent: {type: python, function: 'mine.py:answer'}\n"
        "conditions: {plain: {system_prompt: x}}\njudge: {type: exact_match}\nexecution: {repetitions: 1}\n"
    )
    done = keval("generate", "eval.yaml", "-q", "-o", "log.jsonl")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "calls.txt").read_text() == "called"
    assert not list(tmp_path.glob("mine-*"))


def test_the_choices_of_an_option_that_is_missing_stand_below_each_other(keval: Keval, tmp_path: Path) -> None:
    """What click indents is shown so, not as a control character."""
    done = keval("plot", tmp_path, "-o", "plot.png")
    assert "\n  forest,\n" in done.stderr, done.stderr
