"""What is said of an installation."""

from __future__ import annotations

import json

import pytest

from keval.cli import run as keval
from keval.processes.installation import EXTRAS, LIBRARIES


def test_the_command_tells_all_of_it_to_people_and_to_programs(capfd: pytest.CaptureFixture[str]) -> None:
    """One line per part, or one JSON object."""
    assert keval(["doctor"]) == 0
    lines = capfd.readouterr().out.splitlines()
    assert keval(["doctor", "--json"]) == 0
    objects = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    assert [line.split("  ")[0] for line in lines] == [each["name"] for each in objects]
    assert {*LIBRARIES, *(f"extra {name}" for name in EXTRAS)} <= {each["name"] for each in objects}
