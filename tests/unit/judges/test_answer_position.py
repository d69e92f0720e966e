import pytest

from keval.judges._answer_position import announcement, is_negated, marks, passages, sentence


def test_what_is_announced_last_comes_first() -> None:
    """An earlier passage ends where the next one is announced."""
    text = "The answer is B. Wait, the answer is C."
    assert list(passages(text, announcement("[A-D]"))) == ["C.", "B. Wait, the "]


@pytest.mark.parametrize("words", ["Wait, ", "Actually, it is ", "no, ", "Correction: it should be ", "sorry, that's "])
def test_words_of_correction_announce_an_answer_that_follows_at_once(words: str) -> None:
    """And nothing else."""
    announced = announcement(r"\d")
    assert list(passages(f"It is 3. {words}4", announced)) == ["4"]
    assert not list(passages(f"It is 3. {words}let me see", announced))


def test_marks_are_literal_texts_in_any_case() -> None:
    """Whatever characters they have."""
    assert list(passages("Final (x): 5", marks(["FINAL (X):"]))) == [" 5"]


def test_a_sentence_ends_with_its_line() -> None:
    """A decimal point ends none."""
    assert sentence("a 3.5 b. c") == "a 3.5 b"
    assert sentence("a\nb") == "a"
    assert sentence("one. two", 4) == " two"


@pytest.mark.parametrize(
    ("before", "negated"),
    [("not ", True), ("isn't **", True), ("rather than ", True), ("is ", False), ("knot ", False)],
)
def test_what_follows_a_word_of_negation_is_negated(before: str, *, negated: bool) -> None:
    """Only what follows at once."""
    assert is_negated(f"{before}5", len(before)) is negated
