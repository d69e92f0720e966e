from __future__ import annotations

import math

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from keval.secrets.encodings import MOST_DIGITS, encodings, numbers
from keval.secrets.lengths import SHORTEST_ENCODED, SHORTEST_REDACTED


@given(st.text(st.characters(), max_size=40))
def test_no_spelling_is_so_short_that_it_stands_in_any_text(value: str) -> None:
    """What would be found by chance is not looked for, and whatever is long enough is found as it is."""
    found = encodings(value)
    assert all(len(spelling) >= SHORTEST_REDACTED for spelling in found)
    assert value in found or len(value) < SHORTEST_REDACTED


@pytest.mark.parametrize(
    ("value", "spelling"),
    [
        ('a"b/c', 'a\\"b/c'),
        ('a"b/c', 'a\\"b\\/c'),
        ('a"b/c', 'a\\\\\\"b/c'),
        ("a b/c+d", "a%20b/c%2Bd"),
        ("a b/c+d", "a+b%2fc%2bd"),
        ("<a>&'x'", "&lt;a&gt;&amp;&apos;x&apos;"),
        ("schlüssel", "schl\\u00FCssel"),
        ("kéy🔑s", "\\u006b\\u00e9\\u0079\\ud83d\\udd11\\u0073"),
        ("kéy🔑s", "&#107;&#233;&#121;&#128273;&#115;"),
        ("kéy🔑s", "&#x6b;&#xe9;&#x79;&#x1f511;&#x73;"),
        ("kéys", "%6B%C3%A9%79%73"),
        ("schlüssel", "schl\\xc3\\xbcssel"),
        ("s3cr3t-value", "czNjcjN0LXZhbHVl"),
        ("s3cr3t-value", "7333637233742d76616c7565"),
        ("in-a-file\n", "in-a-file"),
    ],
)
def test_a_spelling_of_its_own_is_known(value: str, spelling: str) -> None:
    """JSON, JSON in JSON, URLs, HTML, Python, base64, hex, and a file's last line break."""
    assert spelling in encodings(value)


@given(
    st.text(st.characters(min_codepoint=32, exclude_characters="%?#./\\\x7f", exclude_categories=["Cs"]), min_size=8)
)
def test_what_our_own_client_makes_of_a_url_is_known(value: str) -> None:
    """An error of it, and a page that says what was asked for, name the URL as it was sent."""
    found = encodings(value)
    for url in (f"http://127.0.0.1/{value}/x", f"http://127.0.0.1/?key={value}"):
        sent = httpx2.URL(url).raw_path.decode()
        assert any(spelling in sent for spelling in found)


def test_short_pieces_of_an_encoding_are_left_out() -> None:
    """Four letters of base64 or hex stand everywhere; the value itself is looked for all the same."""
    assert all(len(found) >= SHORTEST_ENCODED or "abcd" in found for found in encodings("abcd"))
    assert "abcd" in encodings("abcd")


@given(st.integers(-(10**12), 10**12) | st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_is_known_as_the_number_that_it_becomes(number: float) -> None:
    """A tool may return the digits of a value without quotes."""
    written = repr(number)
    assert number in numbers(written) or len(written) < SHORTEST_REDACTED


@pytest.mark.parametrize(
    "value", ["", "12", "12a4", "0x1234", "1e999999", "9" * (MOST_DIGITS + 1), "nan", "inf", "1.2.3"]
)
def test_what_is_no_number_becomes_none(value: str) -> None:
    """Neither text nor what is too short, too long or infinite is compared with numbers."""
    assert all(math.isfinite(number) for number in numbers(value))
    assert not numbers(value)
