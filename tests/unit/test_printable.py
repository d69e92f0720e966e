from __future__ import annotations

import unicodedata

import orjson
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from keval.printable import printable, printable_json, printable_lines, spreadsheet_cell, without_markup

ANY_TEXT = st.text(st.characters())
"""Surrogates included: a log may hold halves of characters."""


def is_inert(text: str) -> bool:
    return all(
        character in "\u200c\u200d" or unicodedata.category(character) not in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
        for character in text
    )


@given(ANY_TEXT)
def test_nothing_in_printable_text_acts_or_hides(text: str) -> None:
    """Whatever goes in, what comes out is one line without control, format or unassigned characters."""
    shown = printable(text)
    assert is_inert(shown)
    assert len(shown.splitlines()) <= 1
    assert printable(shown) == shown


@given(st.text(st.characters(categories=["L", "M", "N", "P", "S", "Zs"])))
def test_readable_text_stays_as_it_is(text: str) -> None:
    """Letters, marks, numbers, signs and spaces of any script are not touched."""
    assert printable(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x07", "\\x1b[31mred\\x07"),
        ("one\ntwo\r\tthree", "one\\ntwo\\r\\tthree"),
        ("abc\u202edcba", "abc\\u202edcba"),
        ("\ud800", "\\ud800"),
        ("a\u2028b", "a\\u2028b"),
        ("\U000e0041", "\\U000e0041"),
        ("می\u200cخواهم 👩\u200d👧", "می\u200cخواهم 👩\u200d👧"),
    ],
)
def test_what_acts_becomes_an_escape(text: str, shown: str) -> None:
    """Escape codes, line ends, changes of direction and hidden letters are seen; joiners of words and emoji stay."""
    assert printable(text) == shown


@given(st.text(st.sampled_from("<>/!?-a bB\"'=:\\`[]()*1.\n&;")) | ANY_TEXT)
@example("<script>alert(1)</script>")
@example("<!-- <b -->")
@example("<?php ?>")
@example("<a@b.org>")
@example("![t](http://evil/i.png)")
@example("[x](javascript:alert(1))")
@example("![x][a]\n\n1. > - [a]: http://evil/i.png")
@example("[b]\n\n[\nb\n]:\n/evil")
def test_markdown_finds_no_html_link_or_image_in_lines_without_markup(text: str) -> None:
    """No tag, comment, instruction or address between angle brackets, nothing that loads or leads elsewhere."""
    for before in ("> ", "## "):
        state: dict[str, object] = {}
        quoted = "\n".join(before + without_markup(line) for line in text.split("\n"))
        tokens = MarkdownIt("commonmark").parse(quoted, state)
        kinds = {each.type for token in tokens for each in (token, *(token.children or ()))}
        assert kinds.isdisjoint({"html_block", "html_inline", "link_open", "image"})
        assert not state.get("references")


@pytest.mark.parametrize("text", ["1 < 2 <= 3", "mcp__docs__search", "if a[0]: f(b[1:])", "* see http://keval.example"])
def test_a_person_reads_what_is_without_markup_where_it_is_not_rendered(text: str) -> None:
    """A sign that makes no HTML, image or link stays as it is."""
    assert without_markup(text) == text


@given(st.lists(ANY_TEXT.filter(lambda text: "\n" not in text), min_size=1))
def test_only_the_lines_of_a_text_are_lines(lines: list[str]) -> None:
    """Text of several lines keeps their number: no other character makes a line."""
    shown = printable_lines("\n".join(lines))
    assert shown.split("\n") == [printable(line) for line in lines]


@given(st.text(st.sampled_from(" \t\n\x00\u3000")), st.sampled_from("=+-@＝＋－＠"), ANY_TEXT)
def test_no_cell_is_a_formula(before: str, sign: str, after: str) -> None:
    """Whatever blanks stand before the sign of a formula, the cell begins with something else than the sign."""
    cell = spreadsheet_cell(before + sign + after)
    assert is_inert(cell)
    assert cell.lstrip()[0] not in "=+-@＝＋－＠"


def test_a_cell_that_is_no_formula_has_no_apostrophe() -> None:
    """A sign inside a text is no formula."""
    assert [spreadsheet_cell(text) for text in ("a=b", "1-2", "")] == ["a=b", "1-2", ""]
    assert spreadsheet_cell(" =1+1") == "' =1+1"


@given(
    st.dictionaries(
        st.text(st.characters(exclude_categories=["Cs"])), st.text(st.characters(exclude_categories=["Cs"]))
    )
)
def test_json_that_cannot_act_says_the_same(value: dict[str, str]) -> None:
    """A program reads back what was there; a terminal gets only what is printable."""
    written = printable_json(orjson.dumps(value, option=orjson.OPT_INDENT_2))
    assert orjson.loads(written) == value
    assert all(is_inert(line) for line in written.decode().split("\n"))


def test_what_acts_in_json_becomes_an_escape_of_json() -> None:
    """Beyond 16 bits it is a pair of surrogates."""
    assert printable_json(b'["\xc2\x9b\x7f\xe2\x80\xa8\xf3\xa0\x81\x81"]') == (
        b'["\\u009b\\u007f\\u2028\\udb40\\udc41"]'
    )
