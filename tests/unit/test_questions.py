from __future__ import annotations

from keval.questions import as_text, messages


def test_a_question_is_one_message_or_several() -> None:
    """A list of one is the same as no list; to a reader all messages are one text."""
    assert messages("What?") == messages(["What?"]) == ("What?",)
    assert messages(["What?", "Why?"]) == ("What?", "Why?")
    assert (as_text("What?"), as_text(["What?", "Why?"])) == ("What?", "What?\n\nWhy?")
