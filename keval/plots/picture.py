"""A picture that grows downwards: texts, lines and marks in inches from the top left, and the file that comes of it.

Matplotlib draws it, which is an extra. Nothing of the user's own settings for it is used, texts are drawn as they are
(`$x$` is no formula), and the same marks give the same bytes.
"""

from __future__ import annotations

import io
import math
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack

from keval.errors import EnvironmentLacksError
from keval.printable import printable

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.figure import Figure
    from matplotlib.ft2font import FT2Font
    from matplotlib.typing import RcKeyType

TEXT, MUTED, PAPER, GRID = "#1a1a1a", "#595959", "#ffffff", "#d0d0d0"
BETTER, WORSE = "#0b62a4", "#b34700"
"""Told apart by everybody, and never alone: side, shape and words say the same."""

SIZE = 9.0
"""Of letters, in points."""

LINE = 0.165
"""From one line of text to the next."""

MARGIN = 0.2

MOST_LINES = 6
"""Of a name or a reason; of a longer one the beginning and the end are shown."""

DPI, MOST_PIXELS, LONGEST_SIDE = 200.0, 60e6, 60_000.0
"""How fine a PNG is; a very large picture is drawn less fine, so that it can be drawn at all."""

_MADE_BY = "keval plot, drawn by Matplotlib"

_PDF_BEGINS, _OWN_PDF_BEGINS = b"%PDF-1.4\n%\xac\xdc \xab\xba\n", b"%PDF-1.4\n%\xeb\xe5\xf6\xe1\xec\n"
"""A PDF says who made it at its end. At its beginning any five bytes will do that are no text: `keval`, bit 8 set."""

_SETTINGS: dict[RcKeyType, Any] = {
    "text.parse_math": False,
    "svg.fonttype": "none",  # text stays text: it can be searched, read aloud and edited
    "svg.hashsalt": "keval",
    "pdf.fonttype": 42,
    "text.hinting": "none",  # a line is as long on every medium
}

Shape = Literal["diamond", "circle", "tick"]

_MARKERS: dict[Shape, str] = {"diamond": "D", "circle": "o", "tick": "|"}


class Style(TypedDict, total=False):
    """How an area or a mark looks."""

    fill: str
    edge: str
    size: float


class Letters(TypedDict, total=False):
    """How a line of text looks."""

    color: str
    size: float
    bold: bool
    align: Literal["left", "center", "right"]
    upwards: bool
    """Whether it is read from the bottom to the top."""


def check_library() -> None:
    """Raise EnvironmentLacksError where Matplotlib is not installed."""
    try:
        import matplotlib.figure  # noqa: F401 - whether it can be imported is the question
    except ImportError as error:
        raise EnvironmentLacksError(
            f"Matplotlib draws plots, and cannot be imported ({error}); pip install 'keval[plots]'"
        ) from error


class Picture:
    """What is drawn so far; `bottom` is where the next part may begin."""

    def __init__(self, width: float) -> None:
        from matplotlib.figure import Figure
        from matplotlib.transforms import Affine2D

        self.width = width
        self.bottom = MARGIN
        self.lacking: set[str] = set()
        """Characters that the font has not: a PNG or PDF shows a box in their place."""
        self._figure: Figure = Figure(facecolor=PAPER, dpi=DPI)
        self._from_top = Affine2D()
        self._place = self._from_top + self._figure.dpi_scale_trans

    def text(self, x: float, y: float, text: str, **style: Unpack[Letters]) -> None:
        """Write one line; `y` is where its letters stand."""
        shown, bold = printable(text), style.get("bold", False)
        self.lacking |= {character for character in shown if not _is_known(character, bold=bold)}
        self._figure.text(
            x, y, shown, transform=self._place, color=style.get("color", TEXT), fontsize=style.get("size", SIZE),
            fontweight="bold" if bold else "normal", ha=style.get("align", "left"), va="baseline",
            rotation=90 if style.get("upwards") else 0, rotation_mode="anchor",
        )  # fmt: skip

    def line(
        self, start: tuple[float, float], end: tuple[float, float], color: str, width: float, name: str = ""
    ) -> None:
        """Draw a straight line, `width` points wide; `name` is its id in an SVG."""
        from matplotlib.lines import Line2D

        (left, top), (right, bottom) = start, end
        drawn = Line2D(
            [left, right], [top, bottom], color=color, linewidth=width, transform=self._place, solid_capstyle="butt"
        )
        self._add(drawn, name)

    def marks(
        self, places: Sequence[tuple[float, float]], shape: Shape, name: str = "", **style: Unpack[Style]
    ) -> None:
        """Draw marks of one shape, `size` points wide; those after it lie above."""
        from matplotlib.lines import Line2D

        drawn = Line2D(
            [x for x, _ in places], [y for _, y in places], linestyle="none", marker=_MARKERS[shape],
            markersize=style.get("size", 6.0), markerfacecolor=style.get("fill", TEXT),
            markeredgecolor=style.get("edge", TEXT), transform=self._place,
        )  # fmt: skip
        self._add(drawn, name)

    def areas(
        self, corners: Sequence[tuple[float, float, float, float]], fills: Sequence[str], edge: str, name: str
    ) -> None:
        """Fill rectangles, given by left, top, right and bottom, each in its colour."""
        from matplotlib.collections import PolyCollection

        shapes = [[(x1, y1), (x2, y1), (x2, y2), (x1, y2)] for x1, y1, x2, y2 in corners]
        drawn = PolyCollection(shapes, facecolors=list(fills), edgecolors=edge, linewidths=0.8, transform=self._place)
        self._add(drawn, name)

    def _add(self, drawn: Artist, name: str) -> None:
        if name:
            drawn.set_gid(name)
        drawn.set_zorder(2)  # what is drawn later lies above, whatever it is
        self._figure.add_artist(drawn)

    def render(self, ending: str, title: str) -> bytes:
        """Return the picture as PNG, SVG or PDF; `title` says in one line what is to be seen."""
        import matplotlib as mpl

        made, height = io.BytesIO(), self.bottom + MARGIN
        self._from_top.clear().scale(1, -1).translate(0, height)
        self._figure.set_size_inches(self.width, height)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Glyph .* missing from")  # `lacking` tells
            self._figure.savefig(
                made, format=ending, dpi=_dpi(self.width, height),
                metadata=_metadata(ending, f"{_MADE_BY} {mpl.__version__}", printable(title)),
            )  # fmt: skip
        return made.getvalue().replace(_PDF_BEGINS, _OWN_PDF_BEGINS, 1)


def _dpi(width: float, height: float) -> float:
    return min(DPI, math.sqrt(MOST_PIXELS / (width * height)), LONGEST_SIDE / max(width, height))


def _metadata(ending: str, made_by: str, title: str) -> dict[str, str | None]:
    """Return who made a picture and what it shows, and no date."""
    if ending == "png":
        return {"Software": made_by, "Title": title}
    if ending == "svg":
        return {"Creator": made_by, "Title": title, "Date": None}
    return {"Creator": made_by, "Title": title, "CreationDate": None}


ENDINGS = ("png", "svg", "pdf")


def is_own(head: bytes, ending: str) -> bool:
    """Return whether a file begins as a picture of ours with this ending."""
    if ending == "pdf":
        return head.startswith(_OWN_PDF_BEGINS)
    begins = b"\x89PNG\r\n" if ending == "png" else b"<?xml"
    return head.startswith(begins) and _MADE_BY.encode() in head[:4096]


@contextmanager
def settings() -> Iterator[None]:
    """Draw by our own settings while entered, not by those of the user, for example for fonts and formulas."""
    import matplotlib as mpl

    with mpl.rc_context():
        mpl.rcdefaults()
        with mpl.rc_context(_SETTINGS):
            yield


def wrapped(text: str, width: float, *, size: float = SIZE, bold: bool = False) -> list[str]:
    """Return a text as lines of at most this width, broken at spaces; within a word only where it is too long."""
    lines, line = [], ""
    for word in printable(text).split(" "):
        longer = f"{line} {word}" if line else word
        if length(longer, size=size, bold=bold) <= width:
            line = longer
            continue
        lines += [line] if line else []
        *full, line = _pieces(word, width, size, bold=bold)
        lines += full
    return [*lines, line] if line else lines or [""]


def shortened(lines: Sequence[str]) -> list[str]:
    """Return lines of text as they are, or of too many the first ones and the last."""
    return list(lines) if len(lines) <= MOST_LINES else [*lines[: MOST_LINES - 2], "…", lines[-1]]


def _pieces(word: str, width: float, size: float, *, bold: bool) -> list[str]:
    """Return a word in pieces, each as long as fits."""
    pieces = [""]
    for character in word:
        if pieces[-1] and length(pieces[-1] + character, size=size, bold=bold) > width:
            pieces.append("")
        pieces[-1] += character
    return pieces


def fitted(text: str, width: float, *, size: float = SIZE) -> str:
    """Return a text on one line of at most this width: of a longer one the beginning and the end."""
    shown = printable(text)
    if length(shown, size=size) <= width:
        return shown
    kept = len(shown) - 1
    while kept > 0 and length(f"{shown[: kept - kept // 2]}…{_end(shown, kept // 2)}", size=size) > width:
        kept -= max(1, (kept - 40) // 2)
    return f"{shown[: kept - kept // 2]}…{_end(shown, kept // 2)}"


def _end(text: str, characters: int) -> str:
    return text[len(text) - characters :]


def length(text: str, *, size: float = SIZE, bold: bool = False) -> float:
    """Return how wide a line is, in inches."""
    return sum(_advance(character, bold=bold) for character in text) * size / 72


@cache
def _font(*, bold: bool) -> FT2Font:
    """Return the font for measuring; one of our own, since who draws changes the size of his."""
    from matplotlib.font_manager import FontProperties, findfont
    from matplotlib.ft2font import FT2Font

    font = FT2Font(findfont(FontProperties(family="DejaVu Sans", weight="bold" if bold else "normal")))
    font.set_size(100, 72)
    return font


@cache
def _advance(character: str, *, bold: bool) -> float:
    """Return the width of a character as a share of the size of letters; one that the font has not may be wide."""
    if not _is_known(character, bold=bold):
        return 1.0
    from matplotlib.ft2font import LoadFlags

    glyph = _font(bold=bold).load_char(ord(character), flags=LoadFlags.NO_HINTING)
    return glyph.linearHoriAdvance / 65536 / 100


@cache
def _is_known(character: str, *, bold: bool) -> bool:
    return ord(character) in _charmap(bold=bold)


@cache
def _charmap(*, bold: bool) -> frozenset[int]:
    return frozenset(_font(bold=bold).get_charmap())
