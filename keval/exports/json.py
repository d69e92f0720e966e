"""The whole report as one JSON object; `keval.reports.model.Report` documents its keys."""

from __future__ import annotations

import re
from dataclasses import dataclass

from keval.exports import Export
from keval.printable import printable_json
from keval.reports.model import Report


@dataclass(frozen=True, kw_only=True)
class Json(Export):
    """Writes a report as JSON, in full precision."""

    def render(self, report: Report) -> bytes:
        """Return the report as one UTF-8 JSON object; keys stand in the order of the dataclasses' fields."""
        import orjson

        return printable_json(orjson.dumps(report, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))

    def is_own(self, head: bytes) -> bool:
        """Return whether a file begins as a report in JSON: with its first two keys."""
        return re.match(rb'\{\n  "mock": (true|false),\n  "banner": ', head) is not None
