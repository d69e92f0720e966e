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


def document(suites: Sequence[ET.Element]) -> str:
    """Return a suite, or several, as XML: a CI takes one document of a file."""
    root = suites[0]
    if len(suites) > 1:
        root = ET.Element("testsuites")
        root.extend(suites)
    ET.indent(root)
    return f"{DECLARATION}\n{ET.tostring(root, encoding='unicode')}"


def suite(name: str, cases: Sequence[JunitCase], banner: str | None, warnings: Iterable[str]) -> ET.Element:
    """Return a suite of test cases; `banner` says that a mock answered."""
    outcomes = [each.outcome for each in cases]
    counts = {
        "tests": len(cases), "failures": outcomes.count("failure"), "errors": outcomes.count("error"),
        "skipped": outcomes.count("skipped"),
    }  # fmt: skip
    shown = {name: str(count) for name, count in counts.items() if count or name != "skipped"}
    made = ET.Element("testsuite", {"name": printable(name)} | shown)
    if banner is not None:
        properties = ET.SubElement(made, "properties")
        ET.SubElement(properties, "property", name="mock", value=banner)
    for each in cases:
        case = ET.SubElement(made, "testcase", classname=printable(each.about), name=printable(each.name))
        if each.outcome == "passed":
            ET.SubElement(case, "system-out").text = printable(each.said)
        else:
            kind = {"type": each.kind} if each.kind else {}
            ET.SubElement(case, each.outcome, {"message": printable(each.said)} | kind)
    if told := [printable(each) for each in warnings]:
        ET.SubElement(made, "system-err").text = "\n".join(told)
    return made
