"""What every export promises, whatever its format; each file in keval/exports/ is tested by being there."""

from __future__ import annotations

import dataclasses

import pytest

from keval import plugins
from keval.exports import Export
from keval.reports.model import Report
from tests.reports import HOSTILE, hostile_report, small_report

EXPORTS = sorted(plugins.find("export"))

EMPTY = dataclasses.replace(
    small_report(),
    warnings_first=(),
    header=dataclasses.replace(
        small_report().header, name=None, agent=None, models=(), judges=(), dataset=None, seed=None
    ),
    conditions=(),
    metrics=(),
    claims=(),
    failures=(),
    warnings=(),
    notes=("The log is empty.",),
)


def made(name: str) -> Export:
    """Return the export with its default options."""
    return plugins.load("export", Export, name)()


@pytest.mark.parametrize("name", EXPORTS)
def test_an_export_is_a_frozen_dataclass_that_needs_no_options(name: str) -> None:
    """Every option has a default, and says in one sentence what it is for."""
    export = made(name)
    with pytest.raises(dataclasses.FrozenInstanceError):
        export.anything = 1  # type: ignore[attr-defined] # frozen: the assignment is what must fail
    assert all(option.help for option in plugins.options(type(export)))


@pytest.mark.parametrize("name", EXPORTS)
def test_an_export_says_in_one_line_what_it_is(name: str) -> None:
    """The first line of its docstring is its help text."""
    assert plugins.summary(plugins.find("export")[name]).endswith((".", "keys."))


@pytest.mark.parametrize("name", EXPORTS)
@pytest.mark.parametrize(
    "report", [small_report(), EMPTY, hostile_report(HOSTILE[0])], ids=["small", "empty", "hostile"]
)
def test_the_same_report_gives_the_same_bytes(name: str, report: Report, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a second rendering nor the terminal's environment changes a byte."""
    first = made(name).render(report)
    for variable, value in {"NO_COLOR": "1", "FORCE_COLOR": "1", "COLUMNS": "33", "TERM": "dumb"}.items():
        monkeypatch.setenv(variable, value)
    assert made(name).render(report) == first
    assert first


@pytest.mark.parametrize("name", EXPORTS)
def test_a_mocked_run_shows_at_the_top(name: str) -> None:
    """The first two lines say that a mock answered."""
    mocked = dataclasses.replace(small_report(), mock=True, banner="MOCK: a stand-in")
    rendered = made(name).render(mocked)
    assert b"mock" in b"\n".join(rendered.splitlines()[:2]).lower()


@pytest.mark.parametrize("name", EXPORTS)
def test_failures_are_visible(name: str) -> None:
    """A kind of failure stands in every format."""
    assert b"timeout" in made(name).render(small_report())


@pytest.mark.parametrize("name", EXPORTS)
@pytest.mark.parametrize("text", HOSTILE)
def test_no_escape_code_out_of_a_log_reaches_the_output(name: str, text: str) -> None:
    """An answer cannot command the terminal of whoever prints a report."""
    rendered = made(name).render(hostile_report(text))
    assert not set(rendered) & (set(range(32)) - {ord("\n"), ord("\r")} | {0x7F})
