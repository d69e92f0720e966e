"""Adds what a benchmark measured to benchmarks/results.md, with the date, the commit and the versions."""

from __future__ import annotations

import datetime as dt
import os
import platform
import subprocess
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

RESULTS = Path(__file__).parent / "results.md"
PACKAGES = ("keval", "duckdb", "orjson", "jsonschema-rs")


def append(title: str, how: str, header: Sequence[str], rows: Sequence[Sequence[object]], note: str = "") -> None:
    """Print one table and append it; `title` says what was measured, `how` the unit and what was special."""
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    versions = " ".join(f"{name} {version(name)}" for name in PACKAGES)
    lines = [
        f"\n## {dt.datetime.now(dt.UTC).date()} · commit {commit.stdout.strip() or 'unknown'} · {title}",
        "",
        f"`make bench` · Python {platform.python_version()} · {versions} · {os.cpu_count()} cores · {how}",
        "",
        f"| {' | '.join(header)} |",
        "|" + "---|" * len(header),
        *(f"| {' | '.join(map(str, row))} |" for row in rows),
        *(["", note] if note else []),
        "",
    ]
    print("\n".join(lines))
    with RESULTS.open("a") as results:
        results.write("\n".join(lines))
