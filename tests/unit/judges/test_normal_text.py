import pytest

from keval.judges._normal_text import normal


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("The Answer.", "answer"),
        ("an apple, a pear", "apple pear"),
        ("it's", "its"),
        ("well-known", "well known"),
        ("theory", "theory"),
        ("$5 + 3", "$5 + 3"),
    ],
)
def test_punctuation_and_articles_can_be_left_out(text: str, wanted: str) -> None:
    """Words stay whole, and what is no punctuation stays."""
    assert normal(text, ignore_case=True, strip=True, ignore_punctuation=True, ignore_articles=True) == wanted
