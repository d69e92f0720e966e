"""What long lines cost: a report is possible whatever tools returned, in bounded memory."""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from keval.ids import JsonObject
from tests.builders import judgment_event, response_event, run_event, write_log

ADDRESS_SPACE = 2 * 2**30
"""Bytes: what `ulimit -v 2097152` allows."""

GOLDEN = "It is because the answer is long enough to be looked for."


def long_log(path: Path, sizes: Sequence[int]) -> Path:
    """Write a log of answers whose tools returned so many bytes, the golden answer at the end."""
    events: list[JsonObject] = [run_event(samples=len(sizes))]
    for number, size in enumerate(sizes):
        result = "Nothing that was looked for is said here.\n" * (size // 42) + GOLDEN
        call: JsonObject = {"type": "tool_call", "id": "1", "name": "Read", "server": None, "input": {},
                            "result": result, "error": False, "duration_ms": 1}  # fmt: skip
        response = response_event(f"q{number}", turns=[call])
        response["sample"]["answer"] = GOLDEN
        events += [response, judgment_event(response)]
    return write_log(path, events)


def run_within(size: int, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a command that has so many bytes of address space."""
    return subprocess.run(
        [sys.executable, "-m", "keval", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (size, size)),
    )


def limited(*arguments: str | Path) -> str:
    """Return what a command prints that has 2 GB of address space."""
    done = run_within(ADDRESS_SPACE, *arguments)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.parametrize("size", [2**29, 2**30])
def test_where_there_are_too_few_addresses_no_command_begins(size: int, tmp_path: Path) -> None:
    """Else numpy would end a gate with 1, which says that a rule is not met, and DuckDB would end it without a word."""
    done = run_within(size, "gate", long_log(tmp_path / "log.jsonl", [1_000]), "--rule", "missing <= 5%")
    assert (done.returncode, done.stdout) == (4, "")
    assert "`ulimit -v`" in done.stderr


@pytest.mark.slow
def test_long_lines_are_reported_in_two_gigabytes_of_address_space(tmp_path: Path) -> None:
    """Report, aggregates and texts of a log with a line of 12 MB, the golden answer in its tool's result found."""
    log = long_log(tmp_path / "log.jsonl", [12_000_000, 1_000, 1_000])
    assert "in 3 answers the golden answer was returned by a tool" in " ".join(limited("report", log).split())
    assert limited("aggregate", log).count("\n") == 3
    assert limited("sql", log, "-f", "jsonl", "select text from responses").count("Because.") == 3


@pytest.mark.slow
@pytest.mark.parametrize(
    "sizes",
    [[50_000] * 840, [30_000_000] * 4],
    ids=["42 MB in all", "30 MB each"],
)
def test_a_report_is_always_possible(sizes: list[int], tmp_path: Path) -> None:
    """Neither many long lines nor a few very long ones need more than 2 GB of address space."""
    log = long_log(tmp_path / "log.jsonl", sizes)
    assert f"{len(sizes)} answers the golden answer was" in " ".join(limited("report", log).split())
    assert limited("aggregate", log)
    assert limited("sql", log, "-f", "jsonl", "select text from responses").count("Because.") == len(sizes)
