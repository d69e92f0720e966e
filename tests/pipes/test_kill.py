"""SIGKILL while real commands work: nothing is lost, and no more is paid twice than was in flight.

benchmarks/kills.py does the killing; here stands what has to be true afterwards.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from benchmarks.kills import claude, go_through, ordeals, summary
from benchmarks.ordeal import Ordeal, Outcome

SEED = 20261120

KILLS = int(os.environ.get("KILLS", "6"))
"""`KILLS=200 make test-slow` is for a night without hurry: it takes some ten minutes more."""

OF_CLAUDE = max(KILLS // 10, 1)


def survived(planned: list[Ordeal], folder: Path) -> None:
    """Go through ordeals and check that each left what an undisturbed run leaves."""
    for ordeal, outcome in zip(planned, go_through(planned, folder), strict=True):
        told = summary(outcome)
        assert len(outcome.kills) == ordeal.kills, told
        assert facts(outcome.events) == facts(outcome.undisturbed), told
        assert set(counted(outcome.events).values()) == {1}, told
        assert len(counted(outcome.events)) == 2 * outcome.tasks, told
        check_bill(outcome, told)
        check_files(outcome)


def counted(events: list[dict[str, Any]]) -> Counter[str]:
    """Return how many lines each answer, judgment and failure has."""
    return Counter(event["id"] for event in events if event["type"] in {"response", "judgment", "failure"})


def facts(events: list[dict[str, Any]]) -> dict[str, Any]:
    """Return what a log says, without what a clock or a coin said: texts and scores by id."""
    return {
        event["id"]: event.get("text") or event["scores"] for event in events if event["type"] not in {"run", "plan"}
    }


def check_bill(outcome: Outcome, told: str) -> None:
    """No kill costs more than what was in flight, and all of them no more than all of that."""
    for kill in outcome.kills:
        assert kill.lost.answers <= kill.allowed.answers, kill
        assert kill.lost.judgments <= kill.allowed.judgments, kill
    assert 0 <= outcome.excess.answers <= outcome.allowed.answers, told
    assert 0 <= outcome.excess.judgments <= outcome.allowed.judgments, told


def check_files(outcome: Outcome) -> None:
    """Every line is valid, what was cut off is beside the log, and no lock is left."""
    command = [sys.executable, "-m", "keval", "validate", str(outcome.log)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    torn = Path(f"{outcome.log}.torn")
    assert (set(torn.read_bytes().splitlines()) if torn.exists() else set()) == outcome.torn
    assert list(outcome.log.parent.glob(".*.lock")) == []


@pytest.mark.slow
def test_many_kills_lose_nothing_and_cost_no_more_than_what_was_in_flight(tmp_path: Path) -> None:
    """`run`, `generate` and `judge`, killed at drawn moments, end in the log of an undisturbed run.

    So they do after KILLS kills, some of runs with the real CLI of the claude agent.
    """
    survived([*ordeals(KILLS - OF_CLAUDE, SEED), claude(OF_CLAUDE, SEED)], tmp_path)
