"""Properties of the page: nothing in it acts, nothing leaves it, and it says what the other formats say."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import html
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keval import exports
from keval.errors import UsageError
from keval.exports._templates import columns_of_numbers
from keval.exports.html import Html
from keval.exports.text import Text
from keval.reports.model import BANNER, Report
from tests.reports import HOSTILE, hostile_report, small_details, small_report

TEMPLATES = sorted(Path(exports.__file__).parent.glob("_page*.[hc]*"))


class Outline(HTMLParser):
    """Collects the elements of a page with their attributes, and the text between them."""

    def __init__(self, page: bytes) -> None:
        super().__init__()
        self.elements: list[tuple[str, tuple[str, ...]]] = []
        self.attributes: list[tuple[str, str]] = []
        self.texts: dict[str, list[str]] = {}
        self._within = ""
        self.feed(page.decode())
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._within = tag
        self.elements.append((tag, tuple(name for name, _ in attrs)))
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_data(self, data: str) -> None:
        self.texts.setdefault(self._within, []).append(data)


def page(report: Report, **options: float) -> bytes:
    """Return the report as a page."""
    return Html(**options).render(report)


def with_text(text: str) -> Report:
    """Return a report in which every text out of a log is the given one."""
    return dataclasses.replace(hostile_report(text), details=small_details(text, text, text))


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_out_of_a_log_is_markup(text: str) -> None:
    """Whatever it is, the page has the elements and attributes that it has with a harmless word."""
    assert Outline(page(with_text(text))).elements == Outline(page(with_text("word"))).elements


@given(st.text(max_size=40).map(lambda text: f"w{text}"))
def test_any_text_is_only_text(text: str) -> None:
    """No text adds an element, and each stands in the page as the text report shows it."""
    assert Outline(page(with_text(text))).elements == Outline(page(with_text("word"))).elements


def test_the_policy_lets_the_own_style_in_and_nothing_else() -> None:
    """There is no script, no handler, no address of another place, and no style but the one that the policy names."""
    drawn = page(dataclasses.replace(small_report(), details=small_details()))
    found, (style,) = Outline(drawn), re.findall(rb"<style>(.*?)</style>", drawn, re.DOTALL)
    (policy,) = [value for name, value in found.attributes if name == "content" and "default-src" in value]
    hashed = base64.b64encode(hashlib.sha256(style).digest()).decode()
    assert policy == f"default-src 'none'; style-src 'sha256-{hashed}'; base-uri 'none'; form-action 'none'"
    assert {"script", "link", "img", "iframe", "base", "form"}.isdisjoint(tag for tag, _ in found.elements)
    assert not [name for name, _ in found.attributes if name.startswith("on") or name in {"style", "src"}]
    assert all(value.startswith("#") for name, value in found.attributes if name == "href")


def test_the_templates_trust_no_text() -> None:
    """Nothing in them is exempt from escaping."""
    for template in TEMPLATES:
        assert not re.search(r"\|\s*safe|autoescape|Markup", template.read_text(encoding="utf-8")), template


def test_every_place_in_the_page_has_one_name() -> None:
    """No id is there twice, also not in a page of two reports, and each link has its place."""
    report = dataclasses.replace(small_report(), details=small_details())
    found = Outline(Html().render_all([report, report]))
    ids = [value for name, value in found.attributes if name == "id"]
    links = [value.removeprefix("#") for name, value in found.attributes if name == "href"]
    assert len(set(ids)) == len(ids)
    assert set(links) <= set(ids)
    assert len(links) == 10


def test_the_tab_says_the_conclusion() -> None:
    """A mock is named first; then what the comparison shows, and of which evaluation."""
    mocked = dataclasses.replace(small_report(), mock=True, banner=BANNER)
    assert (
        Outline(page(mocked))
        .texts["title"][0]
        .startswith("MOCK · INCOMPLETE · with_docs scored higher than baseline. · docs-server · keval")
    )


def test_a_mock_stands_in_every_plot() -> None:
    """No cut-out of the page loses it."""
    mocked = dataclasses.replace(small_report(), mock=True, banner=BANNER, details=small_details())
    captions = re.findall(r"<caption>(.*?)</caption>", page(mocked).decode())
    assert len(captions) == 5
    assert all(caption.startswith("MOCK · ") for caption in captions)


def test_page_and_text_say_the_same() -> None:
    """Each line and number of the text report stands in the page, too."""
    report = small_report()
    words = " ".join(" ".join(text) for text in Outline(page(report)).texts.values())
    shown = set(re.findall(r"[+−-]?[0-9][0-9.,]*", Text(width=200).render(report).decode()))
    assert shown <= set(re.findall(r"[+−-]?[0-9][0-9.,]*", words))
    for sentence in ("with_docs vs baseline: completeness +0.38 [+0.12, +0.62] higher", "Read with care: 6 samples"):
        assert sentence in words


@pytest.mark.parametrize(("megabytes", "kept"), [(0.00001, 0), (0.07, 1), (1, 2)])
def test_answers_that_do_not_fit_are_left_out_with_a_word(megabytes: float, kept: int) -> None:
    """As many samples as fit have their answers in the page, in the order of the report; the rest is counted."""
    (case,) = small_details().cases
    long = dataclasses.replace(case, sample_id="long", question=(("Question", "x" * 40_000),))
    details = dataclasses.replace(small_details(), cases=(long, dataclasses.replace(long, sample_id="longer")))
    drawn = page(dataclasses.replace(small_report(), details=details), max_megabytes=megabytes).decode()
    assert drawn.count("answers side by side") == kept
    assert ("are left out" in drawn) == (kept < 2)
    assert f"The answers to {2 - kept} of 2 samples" in drawn or kept == 2


def test_a_report_without_anything_answers_every_question() -> None:
    """A question without an answer is one line that says so."""
    empty = dataclasses.replace(
        small_report(), headlines=(), read_with_care=None, conditions=(), metrics=(), changed_scores=(), claims=(),
        failures=(), warnings=(), retractions=(), notes=(), warnings_first=(),
        header=dataclasses.replace(small_report().header, judges=()),
    )  # fmt: skip
    drawn = page(empty).decode()
    for said in ("Nothing was scored.", "nothing to warn of", "No sample changed", "The input does not say it."):
        assert said in drawn


@pytest.mark.slow
@pytest.mark.parametrize("text", ["x" * 300, "&<>'" * 80, "\u202e" * 50, "é" * 200])
@pytest.mark.parametrize("megabytes", [0.1, 0.2, 0.5])
def test_a_page_is_no_larger_than_it_may_be(text: str, megabytes: float) -> None:
    """What is escaped counts as it stands on the page; most of the room is used."""
    (case,) = small_details().cases
    answer = dataclasses.replace(case.answers[0], texts=(("Answer", text),), steps=(("1 search", text),) * 5)
    one = dataclasses.replace(case, answers=(answer,) * 4)
    details = dataclasses.replace(small_details(), cases=(one,) * 500)
    drawn = page(dataclasses.replace(small_report(), details=details), max_megabytes=megabytes)
    assert 0.6 * megabytes * 1e6 < len(drawn) <= megabytes * 1e6


@pytest.mark.parametrize("megabytes", [0, -1, float("nan"), float("inf")])
def test_a_size_that_no_page_has_is_refused(megabytes: float) -> None:
    """It would leave out everything without a word, or could not be counted in bytes."""
    with pytest.raises(UsageError):
        Html(max_megabytes=megabytes)


def test_a_table_that_is_too_wide_for_paper_stands_in_parts() -> None:
    """Each part has the first column, and together they have every cell."""
    names = [f"condition-{number}" for number in range(20)]
    conditions = tuple(dataclasses.replace(small_report().conditions[0], name=name) for name in names)
    drawn = page(dataclasses.replace(small_report(), conditions=conditions)).decode()
    widest = max(row.count("<th") for row in re.findall(r"<thead>.*?</thead>", drawn, re.DOTALL))
    assert widest <= 9
    assert all(f">{name}<" in drawn for name in names)


def test_each_column_of_a_table_stands_on_one_side() -> None:
    """Its title and its cells are aligned alike: to the right if all are numbers, also those that are unknown."""
    drawn = page(dataclasses.replace(small_report(), details=small_details())).decode()
    sides: set[bool] = set()
    for table in re.findall(r"<div class=\"scroll\".*?</table>", drawn, re.DOTALL):
        rows = [re.findall(r"<t[hd][^>]*>", row)[1:] for row in re.findall(r"<tr>.*?</tr>", table, re.DOTALL)]
        for column in zip(*rows, strict=False):
            (side,) = {'class="number"' in cell for cell in column}
            sides.add(side)
    assert sides == {True, False}


@pytest.mark.parametrize(
    ("cells", "is_of_numbers"),
    [
        (["1.25", "–", "12,345"], True),
        (["+0.50 [+0.12, +0.62] higher", "−0.10"], True),
        (["$0.1234", "≥ $3", "free"], True),
        (["17 / 18", "1 (timeout 1)", "95%", "1.25 s", "NULL"], True),
        (["1", "claude-opus-5"], False),
        (["2026-11-20", "2026-11-21"], False),
        (["57572229949648d0", "7zip", "3rd"], False),
        (["1. Which?", "2. Why?"], False),
        (["–", ""], False),
        ([], False),
    ],
)
def test_a_column_is_of_numbers_if_it_has_some_and_nothing_else(cells: list[str], *, is_of_numbers: bool) -> None:
    """What is unknown may stand among them; dates, ids and texts that begin with a digit are none."""
    assert columns_of_numbers(["", "title"], [["name", cell] for cell in cells]) == [False, is_of_numbers]


def test_commands_can_be_typed_as_they_stand() -> None:
    """A log's name is quoted for a shell, and stdin is no file."""
    header = dataclasses.replace(small_report().header, files=("my log;$(id).jsonl",))
    drawn = html.unescape(page(dataclasses.replace(small_report(), header=header)).decode())
    assert "keval report 'my log;$(id).jsonl' -o PAGE.html" in drawn
    piped = dataclasses.replace(small_report().header, files=("stdin",))
    assert "keval report LOG -o" in page(dataclasses.replace(small_report(), header=piped)).decode()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "a scored higher than b on 2 of 2 metrics: x +0.50 [+0.10, +0.90], y +1.00.",
            "a scored higher than b on 2 of 2 metrics",
        ),
        (
            "a scored lower than b on x: \u22120.50 [\u22120.90, \u22120.10] on a scale of 1 to 5.",
            "a scored lower than b on x",
        ),
        ("Mixed, a compared with b: higher on x; lower on y.", "Mixed, a compared with b: higher on x; lower on y."),
        ("Cannot tell: 4 samples are too few for an interval.", "Cannot tell: 4 samples are too few for an interval."),
    ],
)
def test_a_title_has_the_conclusion_without_its_numbers(text: str, said: str) -> None:
    """A tab of a browser has room for one sentence."""
    (headline,) = small_report().headlines
    report = dataclasses.replace(small_report(), headlines=(dataclasses.replace(headline, text=text),))
    title = re.search(r"<title>(.*?)</title>", page(report).decode(), re.DOTALL)
    assert title is not None
    assert f" · {said} · docs-server · keval" in html.unescape(title[1])


def test_no_condition_speaks_for_others_in_the_title() -> None:
    """Of one comparison it is the conclusion, of several how many there are; what is incomplete is said."""
    (headline,) = small_report().headlines
    several = dataclasses.replace(small_report(), headlines=(headline, dataclasses.replace(headline, condition="b")))
    title = re.search(r"<title>(.*?)</title>", page(several).decode(), re.DOTALL)
    assert title is not None
    assert "2 comparisons, baseline is the baseline" in title[1]
    assert "INCOMPLETE" in title[1]
