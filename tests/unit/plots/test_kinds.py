"""Properties of every kind of plot, whatever it shows."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from matplotlib.transforms import Bbox

from keval.errors import InputError
from keval.plots.kinds import KINDS, drawn, on_paper
from keval.plots.picture import MARGIN, settings
from keval.printable import printable
from keval.reports.model import BANNER
from tests.plotting import boxes, large_report, texts
from tests.reports import HOSTILE, hostile_report, small_details, small_report

DETAILED = dataclasses.replace(small_report(), details=small_details())

SIZES = [(2, 1), (2, 4), (5, 50), (2, 5000)]
"""Conditions and samples."""

each_kind = pytest.mark.parametrize("kind", KINDS)


def hostile_name(plain: str) -> str:
    """Return a name of 300 characters that would be a formula, markup and orders to a terminal."""
    return f"{plain} $x$ \x1b[31m\u202eabc <b>&amp;" + " long" * 5 + "w" * 240


def overlaps(found: Sequence[Bbox]) -> list[tuple[int, int]]:
    """Return each two boxes that have more in common than the space above and below letters."""
    lower, upper = np.array([box.min for box in found]), np.array([box.max for box in found])
    common = np.minimum(upper[:, None], upper[None]) - np.maximum(lower[:, None], lower[None])
    ones, others = np.nonzero((common > (0.02, 0.04)).all(axis=2))
    return [(one, other) for one, other in zip(ones.tolist(), others.tolist(), strict=True) if one < other]


@each_kind
@pytest.mark.parametrize("ending", ["svg", *(pytest.param(each, marks=pytest.mark.slow) for each in ("png", "pdf"))])
def test_the_same_report_gives_the_same_bytes(kind: str, ending: str) -> None:
    """Also a second time in the same process."""
    assert drawn(DETAILED, kind, ending) == drawn(DETAILED, kind, ending)


@each_kind
def test_a_mock_stands_in_every_part(kind: str) -> None:
    """Above all, in each caption, and in what the file says of itself."""
    mocked = dataclasses.replace(large_report(3, 6, 2), mock=True, banner=BANNER)
    made = drawn(mocked, kind, "svg").content
    captions = [line for line in texts(made) if line.startswith("MOCK · ")]
    assert texts(made)[0] == BANNER
    assert len(captions) == {"forest": 2, "paired": 2, "cost": 6, "heatmap": 1}[kind]
    assert b" \xc2\xb7 MOCK \xc2\xb7 " in made.partition(b"</metadata>")[0]


@each_kind
def test_what_must_be_read_first_stands_on_top(kind: str) -> None:
    """An incomplete run says so in the picture, and so does what makes numbers doubtful."""
    assert {
        "INCOMPLETE: 2 of 36 planned answers are not done", "Read with care: 6 samples, so intervals are wide."
    } < set(texts(drawn(DETAILED, kind, "svg").content)[:4])  # fmt: skip


@each_kind
@pytest.mark.parametrize("text", HOSTILE)
def test_texts_out_of_a_log_are_only_text(kind: str, text: str) -> None:
    """Whatever a name is, the picture says it as the other formats do."""
    report = hostile_report(text)
    (table,) = report.metrics
    scored = tuple(dataclasses.replace(score, condition_id="with_docs-id", mean=0.5) for score in table.scores)
    details = small_details(text, text, text)
    differences = tuple(dataclasses.replace(each, condition=text, baseline=text) for each in details.differences)
    report = dataclasses.replace(
        report,
        metrics=(dataclasses.replace(table, scores=scored),),
        conditions=tuple(dataclasses.replace(each, condition_id="with_docs-id") for each in report.conditions),
        details=dataclasses.replace(details, differences=differences),
    )
    said = " ".join(texts(drawn(report, kind, "svg").content))
    assert printable(text).split(" ")[0][:12] in said
    assert not set(said) & set(map(chr, range(32)))


@each_kind
@pytest.mark.parametrize(("conditions", "samples"), SIZES)
@pytest.mark.parametrize("name", [str, hostile_name], ids=["plain", "hostile"])
@pytest.mark.slow
def test_no_text_lies_on_another_or_leaves_the_picture(
    kind: str, conditions: int, samples: int, name: Callable[[str], str]
) -> None:
    """However many conditions and samples there are, and however long their names."""
    with settings():
        picture = on_paper(large_report(conditions, samples, 2, name), kind)
        found = boxes(picture)
    whole = Bbox.from_bounds(0, 0, picture.width, picture.bottom + MARGIN)
    assert overlaps(found) == []
    assert all(whole.x0 <= box.x0 and box.x1 <= whole.x1 and whole.y0 <= box.y0 and box.y1 <= whole.y1 for box in found)


@each_kind
@pytest.mark.slow
def test_twenty_conditions_fit(kind: str) -> None:
    """The picture becomes higher, or wider, and no text lies on another."""
    with settings():
        assert overlaps(boxes(on_paper(large_report(20, 20), kind))) == []


@each_kind
def test_where_there_is_nothing_to_draw_it_says_why(kind: str) -> None:
    """No empty picture is written."""
    empty = dataclasses.replace(small_report(), metrics=(), conditions=())
    with pytest.raises(InputError, match=f"^docs-server: there is nothing to draw as {kind}: n"):
        drawn(empty, kind, "svg")


@pytest.mark.parametrize("kind", ["forest", "paired"])
def test_one_condition_is_compared_with_nothing(kind: str) -> None:
    """That is said in the words of the report."""
    with pytest.raises(InputError, match=r"One condition: nothing is compared$"):
        drawn(large_report(1, 6), kind, "svg")
    assert drawn(large_report(1, 6), "heatmap", "svg").content


def test_letters_that_a_png_cannot_show_are_told() -> None:
    """An SVG has them all the same."""
    named = large_report(2, 6, name=lambda plain: f"{plain} 漢字")
    assert drawn(named, "forest", "png").lacking == {"漢", "字"}
    assert "漢字" in " ".join(texts(drawn(named, "forest", "svg").content))
