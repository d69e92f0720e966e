"""Words, sentences and excerpts of plain and markdown texts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keval.mock.words import MOST_CHARACTERS, Sentence, content_words, excerpt, sentences, shortened

PAGE = """\
# Limits

The service is fast. The default rate limit
is 60 requests per minute, e.g. for searches.

## Raising it

> Ask the console team.

- Open the **console**.
1. Choose a tier

| tier | requests |
|------|----------|
| gold | 600      |

```python
raise_limit(tier="gold")  # do this. Then wait.
```
"""


def test_content_words_are_lower_case_and_unique() -> None:
    """Stop words say nothing about a subject, and a word counts once."""
    assert content_words("What is the Rate limit of the RATE table?") == ("rate", "limit", "table")


def test_markdown_is_read_by_its_blocks() -> None:
    """Paragraphs are joined and split into sentences; items, rows and code stay whole, under their heading."""
    found = [(sentence.text, sentence.heading) for sentence in sentences(PAGE)]
    assert found == [
        ("The service is fast.", "Limits"),
        ("The default rate limit is 60 requests per minute, e.g. for searches.", "Limits"),
        ("Ask the console team.", "Raising it"),
        ("Open the **console**.", "Raising it"),
        ("Choose a tier", "Raising it"),
        ("tier | requests", "Raising it"),
        ("gold | 600", "Raising it"),
        ('```python\nraise_limit(tier="gold")  # do this. Then wait.\n```', "Raising it"),
    ]


def test_the_excerpt_is_what_fits_the_question() -> None:
    """Sentences that share words with the question are taken, others are left."""
    assert excerpt("How many requests are the default?", PAGE) == (
        "The default rate limit is 60 requests per minute, e.g. for searches. tier | requests"
    )


def test_what_fits_much_less_than_the_best_is_left_out() -> None:
    """A sentence needs at least half of the best one's words of the question; a list item keeps its own line."""
    page = "The gold rate limit is 600. Gold shines.\n\n- the silver rate\n- silver rate limit: 300\n"
    assert excerpt("gold silver rate limit", page) == (
        "The gold rate limit is 600. the silver rate\nsilver rate limit: 300"
    )


def test_code_stays_code() -> None:
    """A block of code is taken with its fences and on lines of its own."""
    taken = excerpt("Which call is raise_limit?", PAGE)
    assert taken == '```python\nraise_limit(tier="gold")  # do this. Then wait.\n```'


def test_a_heading_speaks_for_what_stands_below_it() -> None:
    """A question in the words of a heading finds the text below."""
    assert excerpt("Retention?", "# Storage\n\nDisks.\n\n# Retention\n\nThirty days.") == "Thirty days."


def test_a_text_that_shares_no_word_is_answered_with_its_beginning() -> None:
    """The stand-in never says nothing about a result that has something."""
    assert excerpt("Weather?", PAGE) == "The service is fast."


def test_a_text_of_headings_or_endless_code_still_has_an_excerpt() -> None:
    """What has no sentence is shown shortened."""
    assert excerpt("Weather?", "# Storage\n# Retention") == "# Storage # Retention"
    assert excerpt("Weather?", "```\n" + "code " * 500).endswith("…")


@pytest.mark.parametrize("title", ["a" + " " * 1_000_000 + "b", "#" * 1_000_000 + "b"])
def test_a_long_heading_is_read_in_one_pass(title: str) -> None:
    """The stand-in answers all requests one after the other, and none may wait for the text of another one's page."""
    assert sentences(f"# {title} ##\n\nThe end.") == [Sentence("The end.", title)]


def test_shortening_cuts_between_words() -> None:
    """Only a single word that is too long is cut itself."""
    assert shortened("one two three", 10) == "one two …"
    assert shortened("x" * 50, 10) == "x" * 10


def test_an_excerpt_has_few_sentences() -> None:
    """When all share a word with the question, the first ones are taken."""
    assert excerpt("Cats?", " ".join(f"Cats are {number}." for number in range(9))) == (
        "Cats are 0. Cats are 1. Cats are 2. Cats are 3."
    )


WORDS = st.text("abcABC", min_size=1, max_size=12)
LINES = st.lists(WORDS, max_size=30).map(" ".join)
MARKS = st.sampled_from(["", "# ", "- ", "3. ", "> ", "| ", "```", "---"])
TEXTS = st.lists(st.builds(lambda mark, line: mark + line, MARKS, LINES | LINES.map("{}.".format)), max_size=40)


@given(LINES, TEXTS.map("\n".join))
def test_an_excerpt_is_short_and_cuts_no_word(question: str, text: str) -> None:
    """Whatever the text, every word of the excerpt is a word of the text."""
    taken = excerpt(question, text)
    assert len(taken) <= MOST_CHARACTERS
    assert set(taken.replace("```", " ").split()) <= {*text.replace("```", " ").split(), "…"}
