"""Which log a command reads when none is named."""

from __future__ import annotations

import os
import pty
import sys
from pathlib import Path

import pytest

from keval import cli
from tests.builders import response_event, run_event, write_log


def test_a_plan_takes_the_newest_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """As other commands that read a log do where nobody pipes one in."""
    monkeypatch.chdir(tmp_path)
    write_log(tmp_path / "run.jsonl", [run_event(), response_event()])
    with Path(os.devnull).open() as nothing:
        monkeypatch.setattr(sys, "stdin", nothing)
        assert cli.run(["plan", "--difference", "1"]) == 0
    assert capfd.readouterr().err == "keval: reading run.jsonl, the newest log of this folder\n"


def test_a_gate_waits_for_no_terminal(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    """A log that nobody named says nothing of the run that is meant, and nobody types one in."""
    main, side = pty.openpty()
    with os.fdopen(main), os.fdopen(side) as terminal:
        monkeypatch.setattr(sys, "stdin", terminal)
        assert cli.run(["gate", "--rule", "missing <= 5%"]) == 2
    assert "name a LOG, or pipe one in" in capfd.readouterr().err
