"""Transcripts as text and as Markdown."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from keval.transcripts.drawing import Drawing, shortened
from keval.transcripts.transcript import Transcript
from tests.builders import response_event

HOSTILE = "a\x1b[31m\n````\n# Mine\r\u202e"


def transcript(text: str) -> Transcript:
    response = response_event(text=text)
    return Transcript(response["condition"], sample=response["sample"], response=response)


def test_a_long_text_shows_its_beginning_and_its_end() -> None:
    """How much is left out is said; --full leaves out nothing."""
    text = "a" * 4_000 + "b" * 5_000 + "c" * 1_000
    assert (
        shortened(text) == f"{'a' * 4_000}\n… 5,000 characters more, which `keval show --full` shows …\n{'c' * 1_000}"
    )
    assert shortened("a" * 5_000) == "a" * 5_000
    assert "b" * 5_000 in Drawing(full=True).draw(transcript(text))


def test_a_terminal_gets_lines_that_fit() -> None:
    """Lines break between words; without a width each line is one."""
    text = "word " * 40
    assert max(map(len, Drawing(width=60).draw(transcript(text)).splitlines()[3:])) <= 60
    assert f"\n  {text.strip()}\n" in Drawing().draw(transcript(text))
    assert "\x1b[1mAnswer\x1b[0m" in Drawing(bold=True).draw(transcript(text))


@given(st.text(st.sampled_from("`#\n\r a\x1b\u202e~-"), max_size=30))
@settings(max_examples=50)
def test_text_from_outside_stays_text(text: str) -> None:
    """No character acts on a terminal, and no line of an answer ends the block that it stands in."""
    assert not {"\x1b", "\r", "\u202e"} & set(Drawing().draw(transcript(text)))
    lines = Drawing(markdown=True).draw(transcript(text)).split("\n")
    answer = lines[lines.index("### Answer") + 1 : lines.index("### Scores")]
    assert {line[:4] for line in answer} <= {"", "    "}, "each line stands in the indented block"
