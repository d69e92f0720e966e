"""What an export is: a report in, bytes out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from keval.reports.model import Report


@dataclass(frozen=True, kw_only=True)
class Export(ABC):
    """Base of all exports: a frozen dataclass whose fields are its options."""

    shows_details: ClassVar[bool] = False
    """Whether it needs `Report.details`, which is not gathered for other formats."""

    @abstractmethod
    def render(self, report: Report) -> bytes:
        """Return the report in this format; the same report and options give the same bytes."""

    def render_all(self, reports: Sequence[Report]) -> bytes:
        """Return several reports in this format, one after the other, each with its own header."""
        return b"\n".join(map(self.render, reports))

    def is_own(self, head: bytes) -> bool:
        """Return whether a file that begins so is an earlier report in this format, which `-o` may replace.

        `head` is the first 64 KiB of the file. An export that does not say it replaces no file.
        """
        del head
        return False
