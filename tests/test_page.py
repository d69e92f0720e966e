"""The page in a real browser, opened from a file without a network: it can be read by all, and nothing in it acts.

Chromium is Debian's package; without it these tests are skipped, but where REQUIRE_BROWSER is set.
"""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from keval.exports.html import Html
from keval.reports.model import BANNER, Report
from tests.reports import HOSTILE, hostile_report, small_details, small_report

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]

MOCKED = dataclasses.replace(small_report(), mock=True, banner=BANNER, details=small_details())
TEXT = " ".join([*HOSTILE, "a" * 300, "__proto__", "../x"])
REPORTS = {
    "small": MOCKED,
    "hostile": dataclasses.replace(hostile_report(TEXT), details=small_details(TEXT, TEXT, TEXT)),
}


class Opened:
    """A page that is open at some width, with what it asked for and what it complained of."""

    def __init__(self, browser: Browser, path: Path, width: int = 360, scheme: str = "light") -> None:
        self._context = browser.new_context(
            viewport={"width": width, "height": 640},
            color_scheme=scheme,  # type: ignore[arg-type]  # `light` or `dark`
            offline=True,
        )
        self.page: Page = self._context.new_page()
        self.seen: list[str] = []
        self.page.on("console", lambda message: self.seen.append(message.text))
        self.page.on("request", lambda request: self.seen.append(request.url))
        self.page.on("dialog", lambda dialog: self.seen.append(dialog.message))
        self.page.goto(path.as_uri())

    def open_all(self) -> None:
        """Open everything that is folded."""
        self.page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")

    def close(self) -> None:
        """Close the page."""
        self._context.close()


def written(tmp_path: Path, report: Report) -> Path:
    """Return the file of a page."""
    path = tmp_path / "report.html"
    path.write_bytes(Html().render(report))
    return path


@pytest.mark.parametrize("name", REPORTS)
@pytest.mark.parametrize("width", [360, 768, 1280])
def test_everybody_can_read_it(browser: Browser, tmp_path: Path, name: str, width: int) -> None:
    """No rule of WCAG 2.2 AA is broken, dark and light, folded and open; nothing but the file is asked for."""
    from axe_playwright_python.sync_playwright import Axe

    path = written(tmp_path, REPORTS[name])
    for scheme in ("light", "dark"):
        opened = Opened(browser, path, width, scheme)
        broken = Axe().run(opened.page).response["violations"]
        opened.open_all()
        broken += Axe().run(opened.page).response["violations"]
        assert [(rule["id"], rule["nodes"][0]["html"]) for rule in broken] == []
        assert opened.seen == [path.as_uri()]
        opened.close()


@pytest.mark.parametrize("name", REPORTS)
def test_it_fits_the_smallest_phone(browser: Browser, tmp_path: Path, name: str) -> None:
    """At 320 pixels the page is not wider than the screen: wide tables scroll within themselves."""
    opened = Opened(browser, written(tmp_path, REPORTS[name]), 320)
    opened.open_all()
    assert opened.page.evaluate("document.documentElement.scrollWidth") == 320
    opened.close()


def test_the_answer_is_seen_without_scrolling(browser: Browser, tmp_path: Path) -> None:
    """On a phone the banner, the sentence and what makes it doubtful are on the first screen."""
    opened = Opened(browser, written(tmp_path, MOCKED))
    for said in ("MOCK: ", "with_docs vs baseline: ", "Read with care: "):
        box = opened.page.get_by_text(said).first.bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= 640
    opened.close()


def test_no_text_acts_on_the_page(browser: Browser, tmp_path: Path) -> None:
    """Neither what a log says, nor a script that somebody puts into the file: the policy stops it."""
    path = written(tmp_path, REPORTS["hostile"])
    forged = "<script>document.title = 'forged'</script><p onclick=\"document.title = 'forged'\">here</p></main>"
    path.write_bytes(path.read_bytes().replace(b"</main>", forged.encode()))
    opened = Opened(browser, path)
    opened.page.get_by_text("here", exact=True).click()
    assert "forged" not in opened.page.title()
    assert any("Content Security Policy" in said for said in opened.seen)
    opened.close()


def test_marks_stand_where_their_numbers_say(browser: Browser, tmp_path: Path) -> None:
    """Computed back from the words beside it, each mean's mark is within half a pixel of where it is drawn."""
    opened = Opened(browser, written(tmp_path, MOCKED), 1280)
    opened.open_all()
    (plot,) = [
        each for each in opened.page.locator("table.plot").all() if "Means" in each.locator("caption").inner_text()
    ]
    for row in plot.locator("tr:not(.axis)").all():
        (mean,) = re.findall(r"^[0-9.]+", row.locator(".words").inner_text())
        strip = row.locator("svg.strip").bounding_box()
        mark = row.locator("svg.at path").bounding_box()
        assert strip is not None
        assert mark is not None
        # The scale is 1 to 5, and the words have two decimals.
        expected = strip["x"] + (float(mean) - 1) / 4 * strip["width"]
        assert mark["x"] + mark["width"] / 2 == pytest.approx(expected, abs=0.5 + 0.005 / 4 * strip["width"])
    opened.close()


def test_a_keyboard_reaches_everything(browser: Browser, tmp_path: Path) -> None:
    """From the top on Tab stops at each link, folded part and table, and where it stands is seen."""
    opened = Opened(browser, written(tmp_path, MOCKED), 1280)
    reached = set()
    for _ in range(60):
        opened.page.keyboard.press("Tab")
        reached.add(
            opened.page.evaluate(
                "document.activeElement.tagName + getComputedStyle(document.activeElement).outlineStyle"
            )
        )
    assert {"Asolid", "SUMMARYsolid", "DIVsolid"} <= reached
    opened.close()


def test_paper_is_light_and_shows_all(browser: Browser, tmp_path: Path) -> None:
    """Printed from dark mode, text is dark on white, and what is folded is open."""
    opened = Opened(browser, written(tmp_path, MOCKED), 1280, "dark")
    opened.page.emulate_media(media="print", color_scheme="dark")
    text, page = opened.page.evaluate(
        "[getComputedStyle(document.documentElement).color, getComputedStyle(document.documentElement).backgroundColor]"
    )
    assert (text, page) == ("rgb(26, 26, 26)", "rgb(255, 255, 255)")
    assert opened.page.get_by_role("heading", name="baseline, repetition 1").is_visible()
    opened.close()
