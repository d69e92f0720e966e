"""Values separated by tabs, with a header line or named columns; every value is a string."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from keval.datasets import csv as comma_separated

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, kw_only=True)
class Tsv(comma_separated.Csv):
    """Reads CSV with tabs instead of commas."""

    def delimiter(self, first: Sequence[str]) -> str:
        """Return what stands between two values."""
        del first
        return "\t"
