"""What a CI shows of a report: failures are what is lower, and of what nobody can tell nothing is claimed."""

from __future__ import annotations

import dataclasses
from xml.etree import ElementTree as ET

import pytest

from keval.exports.junit import Junit
from keval.reports.model import Report
from tests.reports import HOSTILE, difference, hostile_report, score, small_report, summary


def suite(report: Report) -> ET.Element:
    """Return the suite that is written of a report."""
    return ET.fromstring(Junit().render(report))  # noqa: S314 - keval has just written it


def compared(conclusion: str, **changes: object) -> ET.Element:
    """Return the case of a comparison that came to a conclusion."""
    (table, *_) = small_report().metrics
    table = dataclasses.replace(table, differences=(difference("with_docs", conclusion=conclusion, **changes),))
    (case, *_) = suite(dataclasses.replace(small_report(), metrics=(table,))).iter("testcase")
    return case


@pytest.mark.parametrize(
    ("conclusion", "changes", "outcome"),
    [
        ("higher", {}, "system-out"),
        ("no difference shown", {}, "system-out"),
        ("lower", {}, "failure"),
        ("lower", {"qualification": "not after adjusting for 3 comparisons"}, "skipped"),
        ("borderline", {}, "skipped"),
        ("cannot tell", {"difference": None, "ci_lower": None, "reasons": {"conclusion": "too few"}}, "skipped"),
    ],
)
def test_a_comparison_fails_where_a_condition_is_lower(
    conclusion: str, changes: dict[str, object], outcome: str
) -> None:
    """What does not hold after all is neither passed nor failed."""
    case = compared(conclusion, **changes)
    (said,) = case
    assert (case.get("name"), said.tag) == ("with_docs against baseline", outcome)
    assert f"6 samples: {conclusion}" in (said.text or str(said.get("message")))


def test_what_was_not_answered_is_an_error() -> None:
    """With its kinds; a condition that is whole passes."""
    whole = summary("whole", failed={}, not_done=None)
    found = suite(dataclasses.replace(small_report(), metrics=(), conditions=(summary("baseline", not_done=2), whole)))
    error, passed = (each[0] for each in found.iter("testcase"))
    assert (error.tag, error.get("message")) == ("error", "17 answers, timeout: 1, not done: 2")
    assert error.get("type") == "failed"
    assert (passed.tag, passed.text) == ("system-out", "17 answers")
    assert {name: found.get(name) for name in ("tests", "failures", "errors")} == {
        "tests": "2", "failures": "0", "errors": "1",
    }  # fmt: skip


def test_answers_that_no_judge_could_score_are_an_error() -> None:
    """A judge that breaks is no green suite."""
    (table, *_) = small_report().metrics
    whole, broken = score("whole", failed={}), score("broken", scored=12, not_measured=6, failed={"judge_error": 6})
    table = dataclasses.replace(table, scores=(whole, broken), differences=())
    found = suite(dataclasses.replace(small_report(), metrics=(table,), conditions=()))
    passed, error = (each[0] for each in found.iter("testcase"))
    assert (passed.tag, passed.text) == ("system-out", "17 scored")
    assert (error.tag, error.get("message")) == ("error", "12 scored, judge_error: 6")


def test_several_evaluations_are_one_document() -> None:
    """A CI takes no two of them in one file, and the next report replaces it all the same."""
    made = Junit().render_all([small_report(), small_report()])
    root = ET.fromstring(made)  # noqa: S314 - keval has just written it
    assert (root.tag, [each.tag for each in root]) == ("testsuites", ["testsuite", "testsuite"])
    assert Junit().is_own(made)
    assert Junit().is_own(Junit().render(small_report()))


@pytest.mark.parametrize("text", HOSTILE)
def test_text_from_a_log_ends_no_element(text: str) -> None:
    """Nor is any of it lost: XML has no place for control characters, which stand as escapes."""
    found = suite(hostile_report(text))
    assert {each.tag for each in found.iter()} <= {
        "testsuite", "properties", "property", "testcase", "failure", "error", "skipped", "system-out", "system-err",
    }  # fmt: skip
