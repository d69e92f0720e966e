"""Properties of a picture: texts stand as they are, and the same marks give the same bytes."""

from __future__ import annotations

import io
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator

import matplotlib as mpl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure
from PIL import Image

from keval.errors import EnvironmentLacksError
from keval.plots.picture import (
    ENDINGS,
    MOST_LINES,
    SIZE,
    Picture,
    check_library,
    fitted,
    is_own,
    length,
    settings,
    shortened,
    wrapped,
)
from keval.printable import printable
from tests.plotting import boxes, texts
from tests.reports import HOSTILE

ANY_TEXT = st.text(max_size=60)


@pytest.fixture(autouse=True)
def _settings() -> Iterator[None]:
    """Draw as the command does."""
    with settings():
        yield


def picture(text: str = "word") -> Picture:
    """Return a picture with one of everything."""
    made = Picture(4.0)
    made.text(0.5, 0.5, text)
    made.line((0.5, 1), (3.5, 1), "#000000", 1.0, "line")
    made.marks([(1, 1), (2, 1)], "diamond", "marks", fill="#ffffff", edge="#000000")
    made.areas([(1, 1.2, 2, 1.4)], ["#e4e4e4"], "none", "area")
    made.bottom = 1.5
    return made


def foreign(ending: str) -> bytes:
    """Return a picture that somebody else drew."""
    made = io.BytesIO()
    Figure(figsize=(1, 1)).savefig(made, format=ending)
    return made.getvalue()


@pytest.mark.parametrize("ending", ENDINGS)
def test_the_same_marks_give_the_same_bytes(ending: str) -> None:
    """There is no date in the file, and what the user set for Matplotlib changes nothing."""
    drawn = picture().render(ending, "title")
    mpl.rcParams["font.size"] = 40
    mpl.rcParams["svg.fonttype"] = "path"
    with settings():
        assert picture().render(ending, "title") == drawn


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_file_says_that_it_is_ours(ending: str) -> None:
    """Its beginning does, and nobody else's file of the kind begins so; nor does one of ours of another kind."""
    head = picture().render(ending, "title")[:65536]
    assert is_own(head, ending)
    assert not is_own(foreign(ending), ending)
    assert not any(is_own(head, other) for other in ENDINGS if other != ending)
    assert not is_own(b"", ending)


@pytest.mark.slow
@pytest.mark.parametrize("text", [*HOSTILE, "$x$ $\\frac{a}{b}$", "漢字", "مرحبا", "x" * 300])
def test_a_text_stands_as_it_is(text: str) -> None:
    """Formulas, markup and what acts on a terminal are letters."""
    drawn = picture(text)
    assert texts(drawn.render("svg", text)) == [printable(text)]
    for ending in ("png", "pdf"):
        assert picture(text).render(ending, text)


@given(ANY_TEXT)
def test_any_text_makes_a_whole_file(text: str) -> None:
    """An SVG with it is well-formed, and says it."""
    drawn = picture(f"w{text}w").render("svg", text)
    assert "".join(texts(drawn)) == printable(f"w{text}w")


@given(ANY_TEXT, st.floats(min_value=0.5, max_value=3))
def test_lines_are_no_longer_than_there_is_room(text: str, width: float) -> None:
    """Nothing of a text is lost by breaking it, but spaces."""
    lines = wrapped(text, width)
    assert all(length(line) <= width for line in lines)
    assert "".join(lines).replace(" ", "") == printable(text).replace(" ", "")


@given(ANY_TEXT, st.floats(min_value=0.5, max_value=3))
def test_a_line_is_fitted_by_leaving_out_its_middle(text: str, width: float) -> None:
    """Its beginning and its end tell it from others."""
    shown, whole = fitted(text, width), printable(text)
    assert length(shown) <= width
    head, _, tail = shown.partition("…") if shown != whole else (whole, "", "")
    assert whole.startswith(head)
    assert whole.endswith(tail)


def test_of_too_many_lines_the_first_and_the_last_are_kept() -> None:
    """So a long name makes no long row."""
    assert shortened(list("abc")) == list("abc")
    assert shortened(list("abcdefghi")) == ["a", "b", "c", "d", "…", "i"]
    assert len(shortened(["x"] * 100)) == MOST_LINES


@pytest.mark.parametrize("bold", [False, True])
def test_a_line_is_as_long_as_it_is_drawn(bold: bool) -> None:
    """The same after something was drawn, which changes sizes of fonts."""
    text = "condition_01 minus baseline: +0.38 [+0.12, +0.62]"
    before = length(text, bold=bold)
    drawn = Picture(9.0)
    drawn.text(0, 1, text, bold=bold)
    (box,) = boxes(drawn)
    assert length(text, bold=bold) == before
    assert box.width == pytest.approx(before, rel=0.03)


def test_characters_that_the_font_lacks_are_known() -> None:
    """Whoever draws can tell that a box stands for them."""
    assert picture("漢a").lacking == {"漢"}
    assert not picture("aéß→×−").lacking


def test_a_very_large_picture_is_drawn_less_fine(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has no more pixels than can be drawn."""
    monkeypatch.setattr("keval.plots.picture.MOST_PIXELS", 10_000)
    made = Picture(10.0)
    made.bottom = 5.0
    wide, high = Image.open(io.BytesIO(made.render("png", ""))).size
    assert 9_000 < wide * high <= 10_100


def test_names_are_ids_in_an_svg() -> None:
    """A test, or whoever edits the picture, finds the marks by them."""
    root = ET.fromstring(picture().render("svg", "title"))  # noqa: S314 - our own
    assert {"line", "marks", "area"} <= {element.get("id") for element in root.iter()}


def test_without_matplotlib_the_way_to_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is an extra; the message names it."""
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(EnvironmentLacksError, match=r"pip install 'keval\[plots\]'"):
        check_library()


def test_letters_are_of_the_size_that_is_measured() -> None:
    """A line twice as high is twice as long."""
    assert length("word", size=2 * SIZE) == pytest.approx(2 * length("word"))
