"""Writes test cases as JUnit XML, which every CI shows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal
from xml.etree import ElementTree as ET

from keval.printable import printable

Outcome = Literal["passed", "failure", "error", "skipped"]

DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>'


@dataclass(frozen=True, slots=True)
class JunitCase:
    """What came of one question to a log."""

    about: str
    """What the case is grouped by."""
    name: str
    outcome: Outcome
    said: str
    kind: str = ""
    """The outcome in the words of keval, where it is not `passed`."""


def suite_xml(name: str, cases: Sequence[JunitCase], banner: str | None, warnings: Iterable[str]) -> str:
    """Return one suite of test cases; `banner` says that a mock answered."""
    outcomes = [each.outcome for each in cases]
    counts = {
        "tests": len(cases), "failures": outcomes.count("failure"), "errors": outcomes.count("error"),
        "skipped": outcomes.count("skipped"),
    }  # fmt: skip
    shown = {name: str(count) for name, count in counts.items() if count or name != "skipped"}
    suite = ET.Element("testsuite", {"name": printable(name)} | shown)
    if banner is not None:
        properties = ET.SubElement(suite, "properties")
        ET.SubElement(properties, "property", name="mock", value=banner)
    for each in cases:
        case = ET.SubElement(suite, "testcase", classname=printable(each.about), name=printable(each.name))
        if each.outcome == "passed":
            ET.SubElement(case, "system-out").text = printable(each.said)
        else:
            kind = {"type": each.kind} if each.kind else {}
            ET.SubElement(case, each.outcome, {"message": printable(each.said)} | kind)
    if told := [printable(each) for each in warnings]:
        ET.SubElement(suite, "system-err").text = "\n".join(told)
    ET.indent(suite)
    return f"{DECLARATION}\n{ET.tostring(suite, encoding='unicode')}"
