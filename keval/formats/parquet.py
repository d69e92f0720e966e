"""One Parquet file per view, or a dataset of files by run, for notebooks, warehouses and other databases."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from keval.formats import Format, Source
from keval.plugins import option
from keval.projections.sql_file import literal, load

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

VIEWS = (
    "runs", "samples", "responses", "judgments", "failures", "scores", "tool_calls", "sample_scores",
    "paired_samples", "condition_scores", "comparisons", "costs", "missing", "labels", "orphaned_processes",
)  # fmt: skip
"""The views that say what a log holds, on which queries may rely; the others are steps to one of these."""

RUN = "run_id"
"""The column by which a dataset is divided."""

ROWS_AT_ONCE = 2000
"""So many rows are in memory at most before they are written; DuckDB would keep half a million, each with its texts."""


@dataclass(frozen=True, kw_only=True)
class Parquet(Format):
    """Writes the views with their types."""

    compression: Literal["zstd", "snappy", "gzip", "uncompressed"] = field(
        default="zstd", metadata=option("How the columns are compressed.")
    )

    partition_by: Literal["none", "run"] = field(
        default="none", metadata=option("With `run`: a folder for each view, and in it one for each run.")
    )

    def write(self, source: Source, folder: Path) -> Iterator[Path]:
        """Write one file per view; one without rows has a file without rows, however it is divided."""
        for name in VIEWS:
            view = source.connection.view(name)
            if self.partition_by == "run" and RUN in view.columns and view.limit(1).fetchall():
                yield from self._dataset(source.connection, name, folder / name)
            else:
                path = folder / f"{name}.parquet"
                view.write_parquet(str(path), compression=self.compression)
                yield path

    def _dataset(self, connection: DuckDBPyConnection, view: str, folder: Path) -> list[Path]:
        """Write a view as `run_id=…` folders, and return their files."""
        connection.execute(f"SET partitioned_write_flush_threshold = {ROWS_AT_ONCE}")
        query = load("formats", "by_run", view=view, folder=literal(str(folder)), compression=self.compression)
        connection.execute(query)
        return sorted(path for path in folder.rglob("*.parquet") if path.is_file())
