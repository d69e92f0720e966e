import pytest
from hypothesis import given
from hypothesis import strategies as st

from keval.judges._source_names import are_same, distinct


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Consumer behaviour", "consumer_behaviour", True),
        ("Consumer behaviour", " Consumer  Behaviour ", True),
        ("Consumer behaviour", "https://en.wikipedia.org/wiki/Consumer_behaviour", True),
        ("Consumer behaviour", "https://en.wikipedia.org/wiki/Consumer%20behaviour?x=1#History", True),
        ("install", "https://docs.a.org/v2/install", True),
        ("AC/DC", "https://en.wikipedia.org/wiki/AC/DC", True),
        ("docs/handbook.md", "https://x.org/docs/handbook.md", True),
        ("./docs/handbook.md", "docs/handbook.md", True),
        ("handbook.md", "docs/handbook.md", False),
        ("book.md", "https://x.org/docs/handbook.md", False),
        ("x.org", "https://x.org/", True),
        ("/", "https://x.org/", False),
        ("https://docs.a.org/v2/install", "https://spam.org/install", False),
        ("https://docs.a.org/v2/install", "https://docs.a.org/v3/install", False),
        ("https://a.org/list?page=5", "https://a.org/list?page=6", False),
        ("https://a.org/list?page=5", "http://A.org/list/?page=5#top.", True),
        ("https://a.org？", "https://a.org", False),
        ("https://a.org：8/list", "https://A.org：8/list", True),
        ("https://[a.org/list", "https://a.org/list", False),
    ],
)
def test_two_names_are_of_one_source(one: str, other: str, *, same: bool) -> None:
    """A title or path is the address that ends with it; two addresses are compared whole. The order does not matter."""
    assert are_same(one, other) is are_same(other, one) is same


PART = st.sampled_from(["a", "b", "A", "", ".", "x.org"])
NAME = st.lists(PART, max_size=4).map("/".join)
SOURCES = st.lists(NAME | NAME.map("https://{}".format) | NAME.map("https://x.org/{}?q".format), max_size=8)


@given(SOURCES)
def test_of_several_names_of_a_source_the_first_is_kept(sources: list[str]) -> None:
    """As if each were compared with all that are kept."""
    kept: list[str] = []
    for source in sources:
        if not any(are_same(source, each) for each in kept):
            kept.append(source)
    assert distinct(sources) == kept


@pytest.mark.slow
def test_very_many_sources_are_told_apart_at_once() -> None:
    """All with the same last part; were each compared with all others, this would not end."""
    sources = [f"https://x.org/{number}/index.html" for number in range(100_000)]
    assert distinct([*sources, "9/index.html"]) == sources
