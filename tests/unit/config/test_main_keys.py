from __future__ import annotations

import pytest

from keval.config.main_keys import with_main_key

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
    assert with_main_key(keys, FOUND) == FOUND + hint


def test_another_message_stays() -> None:
    """A number in the place of a section is no short form."""
    assert with_main_key(("agent",), "expected an object, found 3") == "expected an object, found 3"
