"""Golden cases: each folder holds a command line (`cmd`) and what it prints and returns.

A new case is made by writing `cmd` and running `make golden`; then read the diff.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from keval import cli

HERE = Path(__file__).parent
CASES = sorted(path.parent for path in HERE.glob("*/cmd"))
PARTS = ("expout", "experr", "exit")
SLOW = {
    *("agreement-json", "agreement-markdown", "calibrate-means", "check-gate", "check-program", "check-server-fails"),
    *("check-stray-output", "gate-mistakes", "packed-log", "plan", "report-by-ending", "report-csv", "report-newest"),
    *(
        "report-retracted",
        "report-two-evaluations",
        "report-width",
        "run-chosen",
        "show-failed",
        "show-json",
        "show-regressed",
    ),
    *("show-unknown-sample", "show-worst-markdown", "wrong-key", "aggregate-by", "gate-cannot-tell", "log-not-there"),
    *("report-all-calls-failed", "run-mock-calls-tools", "export"),
    *("init", "run-again-paid", "one-of-each", "compare", "agreement", "plugins-broken", "run-failing"),
    *("run-again", "report-by-unknown", "compare-twice", "agreement-newest", "agreement-unknown-judge", "sql-json"),
    *("plot-over-another-file", "report-markdown", "trials-unknown", "log-of-promptfoo", "sql-all-rows"),
}
"""Cases that take a second or more, and have a faster one beside them."""


PLAIN = re.compile(r"keval ([^|;&<>$`\\\n]*)\n")
"""A command line that needs no shell: it is run in this process, which takes a sixth of the time."""

Environment = tuple[pytest.MonkeyPatch, pytest.CaptureFixture[str]]


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Environment:
    """Return what a command in this process is given: a terminal's width, and what takes its output."""
    monkeypatch.setenv("COLUMNS", "100")
    return monkeypatch, capfd


def outcome(case: Path, scratch: Path, environment: Environment) -> dict[str, str]:
    """Run a case's command in a scratch copy of its folder and of `inputs/`, and return what came out."""
    shutil.copytree(HERE / "inputs", scratch, dirs_exist_ok=True)
    shutil.copytree(case, scratch, dirs_exist_ok=True)
    plain = PLAIN.fullmatch((case / "cmd").read_text())
    found = _in_shell(case, scratch) if plain is None else _here(plain[1], scratch, environment)
    return dict(zip(PARTS, found, strict=True))


def _here(arguments: str, scratch: Path, environment: Environment) -> tuple[str, str, str]:
    monkeypatch, capfd = environment
    monkeypatch.chdir(scratch)
    code = cli.run(shlex.split(arguments))
    out, err = capfd.readouterr()
    return out.replace("\r\n", "\n"), err, f"{code}\n"


def _in_shell(case: Path, scratch: Path) -> tuple[str, str, str]:
    script = f'PYTHON="{sys.executable}"\nkeval() {{ "$PYTHON" -m keval "$@"; }}\n' + (case / "cmd").read_text()
    environ = {**os.environ, "LC_ALL": "C.UTF-8"}
    done = subprocess.run(
        ["bash", "-c", script], cwd=scratch, capture_output=True, text=True, env=environ, timeout=60, check=False
    )
    return done.stdout, done.stderr, f"{done.returncode}\n"


@pytest.mark.parametrize(
    "case",
    [pytest.param(case, marks=[pytest.mark.slow] if case.name in SLOW else (), id=case.name) for case in CASES],
)
def test_a_command_prints_what_it_is_known_to_print(case: Path, tmp_path: Path, environment: Environment) -> None:
    """stdout, stderr and exit code of a command line are as recorded."""
    found = outcome(case, tmp_path, environment)
    if os.environ.get("GOLDEN") == "write":
        for part, text in found.items():
            (case / part).write_text(text)
    expected = {part: (case / part).read_text() for part in PARTS}
    assert found == expected


def test_there_are_cases() -> None:
    """The cases are found at all."""
    assert len(CASES) > 10
