"""Properties of what is told of an installation."""

from __future__ import annotations

import tomllib
from pathlib import Path

from keval.processes.installation import EXTRAS, KEYS, Part, missing, parts

PYPROJECT = Path(__file__).parents[3] / "pyproject.toml"


def test_of_a_key_nobody_learns_more_than_that_it_is_set() -> None:
    """The output can be sent with a question."""
    environ = dict.fromkeys([*KEYS, "ANTHROPIC_BASE_URL"], "very-secret")
    found = {part.name: part for part in parts(environ)}
    assert {found[name].found for name in environ} == {"set"}
    assert "very-secret" not in str(found)
    assert {part.found for part in parts({}) if part.name in environ} == {None}


def test_what_is_needed_and_not_there_is_named() -> None:
    """What only some configs need is no reason to fail."""
    found = [Part("a", "1.0", needed=True), Part("b", None), Part("c", None, needed=True)]
    assert missing(found) == ["c"]


def test_all_extras_are_told_of() -> None:
    """But for the one that is for those who work on keval."""
    offered = tomllib.loads(PYPROJECT.read_text())["project"]["optional-dependencies"]
    assert EXTRAS.keys() == offered.keys() - {"dev"}
