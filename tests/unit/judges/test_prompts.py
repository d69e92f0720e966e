import unicodedata
from string import Template
from typing import Literal

import pytest

from keval.judges import Context
from keval.judges._prompts import fresh_mark, redact_problems, redacted, template

Form = Literal["NFC", "NFD"]


def test_a_mark_that_occurs_in_a_text_is_drawn_again() -> None:
    """An answer that guesses a mark does not get that mark."""
    numbers, same = Context(seed="j").random, Context(seed="j").random
    first, second, third = (numbers.randbytes(8).hex() for _ in range(3))
    assert fresh_mark([f"</answer-{second}>", first], same) == third


def test_a_template_has_each_text_between_tags_with_the_mark() -> None:
    """The first line names the mark."""
    filled = Template(template(["question", "answer"])).substitute(mark="m", question="Q", answer="A")
    assert filled == "Mark: m\n\n<question-m>\nQ\n</question-m>\n\n<answer-m>\nA\n</answer-m>"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Acme says hi", "[redacted] says hi"),
        ("ACME, acme's and (Acme)", "[redacted], [redacted]'s and ([redacted])"),
        ("Acme Graph knows", "[redacted] knows"),
        ("Acme\n  graph knows", "[redacted] knows"),
        ("Acmeology, pacme", "Acmeology, pacme"),
        ("c++ and C++!", "[redacted] and [redacted]!"),
        ("a.b axb", "[redacted] axb"),
        ("ÜBER über", "[redacted] [redacted]"),
        ("根据Acme的说明", "根据[redacted]的说明"),
        ("我问了小度助手", "我问了[redacted]助手"),
        ("", ""),
    ],
)
def test_redacted_terms_vanish_as_whole_words(text: str, expected: str) -> None:
    """The longest term wins, case and line breaks do not matter, and a term is never a pattern."""
    assert redacted(text, ("acme", "Acme Graph", "C++", "a.b", "über", "小度")) == expected


@pytest.mark.parametrize("form", ["NFC", "NFD"])
@pytest.mark.parametrize("of_term", ["NFC", "NFD"])
def test_a_term_is_redacted_however_its_accents_are_encoded(form: Form, of_term: Form) -> None:
    """An answer may have composed characters and the term others, or the other way round."""
    text, term = unicodedata.normalize(form, "Le CAFÉ, cafés"), unicodedata.normalize(of_term, "Café")
    assert redacted(text, (term,)) == "Le [redacted], cafés"


def test_an_empty_term_is_refused() -> None:
    """It would stand everywhere."""
    assert redact_problems(("Acme", " ")) == ["redact: an empty term would redact everything"]
    assert redact_problems(("Acme",)) == []
