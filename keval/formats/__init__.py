"""What a format is: a whole log in, files for other tools out."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from keval.reports.model import Report

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


@dataclass(frozen=True, slots=True)
class Source:
    """What a format is written from."""

    connection: DuckDBPyConnection
    """The views over the log."""
    report: Report
    version: str
    """That of keval."""


@dataclass(frozen=True, kw_only=True)
class Format(ABC):
    """Base of all formats: a frozen dataclass whose fields are its options."""

    @abstractmethod
    def write(self, source: Source, folder: Path) -> Iterator[Path]:
        """Write files into an empty folder and yield each when it is complete; rows are streamed."""


def part_of_path(name: str) -> str:
    """Return a name from outside as one part of a path that leads nowhere else."""
    return re.sub(r"[^\w.@+ -]", "_", name).strip(". ")[:100] or "unnamed"
