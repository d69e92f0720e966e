"""What is to be known of a log before its numbers is told on stderr, in every format."""

from __future__ import annotations

from pathlib import Path

import pytest

from keval.reports.model import BANNER
from tests.builders import judgment_event, response_event, run_event, write_log
from tests.conftest import Keval


@pytest.mark.slow
@pytest.mark.parametrize("mock", [True, False])
@pytest.mark.parametrize("command", [["summarize"], ["summarize", "-f", "markdown"], ["calibrate"]])
def test_a_stand_in_is_named_beside_its_numbers(
    keval: Keval, tmp_path: Path, command: list[str], *, mock: bool
) -> None:
    """Also by commands whose lines have no place for it."""
    answer = response_event(mock=mock)
    log = write_log(tmp_path / "run.jsonl", [run_event(["baseline"], samples=1), answer, judgment_event(answer)])
    done = keval(*command, log)
    assert done.returncode == 0
    assert (BANNER in done.stderr) == mock
