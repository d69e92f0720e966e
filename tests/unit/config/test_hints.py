from __future__ import annotations

import pytest

from keval.config.hints import with_hint

FOUND = "expected an object, found 'echo'"


@pytest.mark.parametrize(
    ("keys", "hint"),
    [
        (("dataset",), "; write {path: …}"),
        (("agent",), "; write {type: …}"),
        (("judges", 0), "; write {type: …}"),
        (("conditions", "short"), "; write {system_prompt: …}"),
        (("conditions",), ""),
        (("execution",), ""),
        (("agent", "env"), ""),
        ((), ""),
    ],
)
def test_a_section_that_is_a_text_is_told_its_key(keys: tuple[str | int, ...], hint: str) -> None:
    """Only where one key says what most people mean."""
    assert with_hint(keys, FOUND, {}) == FOUND + hint


def test_another_message_stays() -> None:
    """A number in the place of a section is no short form."""
    assert with_hint(("agent",), "expected an object, found 3", {}) == "expected an object, found 3"


def test_a_judges_own_file_that_begins_as_a_config_does_is_told_so() -> None:
    """People copy the section with its name; what else lacks a type gets no guess."""
    lacking = "'type' is missing"
    assert "without 'judge:' above it" in with_hint((), lacking, {"judge": {"type": "exact_match"}})
    assert with_hint((), lacking, {"rubric": "x"}) == lacking
    assert with_hint(("judge",), lacking, {"judge": {}}) == lacking
