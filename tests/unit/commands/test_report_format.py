"""Properties of how the format of a report is chosen."""

from __future__ import annotations

from pathlib import Path

import pytest

from keval.commands.report_format import export
from keval.exports.text import NARROWEST, Text


@pytest.mark.parametrize(
    ("columns", "width"),
    [
        ("70", 70),
        ("5", NARROWEST),
        ("", Text().width),
        ("wide", Text().width),
        ("-3", Text().width),
        ("1" * 5000, Text().width),
    ],
)
def test_into_a_pipe_a_report_is_as_wide_as_columns_says(
    columns: str, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Shells do not export COLUMNS, so whoever sets it means it; without a number the default counts."""
    monkeypatch.setenv("COLUMNS", columns)
    made = export(None)
    assert isinstance(made, Text)
    assert (made.width, made.color) == (width, False)


def test_a_file_is_as_wide_as_it_always_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is kept does not depend on where it was made; an option still says otherwise."""
    monkeypatch.setenv("COLUMNS", "70")
    assert export(None, output=Path("report.txt")) == Text()
    assert export(None, ["width=90"], Path("report.txt")) == Text(width=90)
