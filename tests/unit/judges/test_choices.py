import pytest

from keval.judges._choices import AmbiguousError, by_text, first, mentions


@pytest.mark.parametrize(
    ("text", "letters"),
    [
        ("Options A and B are wrong, C fits", "C"),
        ("I'd rule out A and B, so C", "C"),
        ("Plan-B, A&B, A.I., B's and it's 'D'", "D"),
        ("A dog. A is right", "A"),
        ("not (A) but (B)", "B"),
        ("eliminate A, B. C", "C"),
    ],
)
def test_what_stands_for_a_choice_and_is_not_excluded_is_mentioned(text: str, letters: str) -> None:
    """In order."""
    assert "".join(mention.letter for mention in mentions(text, "ABCD")) == letters


def test_the_first_of_joined_choices_is_none() -> None:
    """Choices that are only named one after the other do not matter."""
    found = first("B, since A is small", "ABCD")
    assert found is not None
    assert found.letter == "B"
    with pytest.raises(AmbiguousError, match="B and C"):
        first("(B) or (C)", "ABCD")


def test_words_are_whole_and_several_are_ambiguous() -> None:
    """Unless the first is asked for."""
    choices = {"A": "art", "B": "party", "C": ""}
    assert by_text("A PARTY", choices, first_of_several=False) == "B"
    assert by_text("party, art", choices, first_of_several=True) == "B"
    assert by_text("nothing", choices, first_of_several=False) is None
    with pytest.raises(AmbiguousError, match="A and B"):
        by_text("party, art", choices, first_of_several=False)
