"""One Parquet file per view, for notebooks, warehouses and other databases."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from keval.formats import Format, Source
from keval.plugins import option

VIEWS = (
    "runs", "samples", "responses", "judgments", "failures", "scores", "tool_calls", "sample_scores",
    "condition_scores", "comparisons", "costs", "missing", "labels",
)  # fmt: skip
"""The views that say what a log holds, and are no step to another one."""


@dataclass(frozen=True, kw_only=True)
class Parquet(Format):
    """Writes the views with their types."""

    compression: Literal["zstd", "snappy", "gzip", "uncompressed"] = field(
        default="zstd", metadata=option("How the columns are compressed.")
    )

    def write(self, source: Source, folder: Path) -> Iterator[Path]:
        """Write one file per view; one without rows has a file without rows."""
        for name in VIEWS:
            path = folder / f"{name}.parquet"
            source.connection.view(name).write_parquet(str(path), compression=self.compression)
            yield path
