"""Live pages in a real browser: all can read them, nothing in them acts, and they follow a log that is written to.

Chromium is Debian's package; without it these tests are skipped, but where REQUIRE_BROWSER is set.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from keval.events import encode
from keval.viewer.labelling import Labelling
from keval.viewer.serving import served
from tests.builders import response_event
from tests.reports import HOSTILE
from tests.viewing import log_of_text, small_log

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage, Page, Route

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]

TEXT = " ".join([*HOSTILE, "a" * 300, "__proto__", "../x"])

LOGS: dict[str, Callable[[Path], Path]] = {"small": small_log, "hostile": lambda path: log_of_text(path, TEXT)}

PAGES = (
    "/",
    "/samples",
    "/failures",
    "/sql",
    "/sql?q=from+responses",
    "/sql?q=from+nothing",
    "/samples?kind=any",
    "/none",
)


class Visit:
    """A visit to the pages of a log, with what the browser complained of, and what it asked others for."""

    def __init__(self, browser: Browser, address: str, width: int, scheme: str) -> None:
        self._context = browser.new_context(
            viewport={"width": width, "height": 640},
            color_scheme=scheme,  # type: ignore[arg-type]  # `light` or `dark`
        )
        self.page: Page = self._context.new_page()
        self.seen: list[str] = []
        self._url = "http://" + urlsplit(address).netloc
        self.page.on("console", self._heard)
        self.page.on("dialog", lambda dialog: self.seen.append(dialog.message))
        self.page.on("request", lambda request: self._asked(request.url))
        self.page.goto(address)

    def _heard(self, message: ConsoleMessage) -> None:
        if "the server responded with a status of 40" not in message.text:  # where a page is wrong on purpose
            self.seen.append(message.text)

    def _asked(self, url: str) -> None:
        if not url.startswith(f"{self._url}/"):
            self.seen.append(url)

    def go(self, page: str) -> None:
        """Go to a page, and wait until it is computed."""
        self.page.goto(self._url + page)
        self.page.get_by_text("is being computed").wait_for(state="detached")

    def open_all(self) -> None:
        """Open everything that is folded."""
        self.page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")

    def close(self) -> None:
        """End the visit."""
        self._context.close()


@contextmanager
def visiting(
    browser: Browser, log: Path, width: int = 1280, scheme: str = "light", labelling: Labelling | None = None
) -> Iterator[Visit]:
    """Give a visit to the pages of a log; at its end nothing was complained of."""
    with served([log], print, port=0, page="/samples", skip_invalid=False, labelling=labelling) as address:
        visit = Visit(browser, address, width, scheme)
        try:
            yield visit
            assert visit.seen == []
        finally:
            visit.close()


def pages(visit: Visit) -> Iterator[str]:
    """Go to pages of every kind, one after the other, and yield where they are."""
    for page in PAGES:
        visit.go(page)
        yield page
    for link in ("tbody th a", "article h3 a"):
        if link == "tbody th a":
            visit.go("/samples")
        with visit.page.expect_navigation():  # a click waits for no page, and without its style none can be read
            visit.page.locator(link).first.click()
        yield link


@pytest.mark.parametrize(("name", "width", "scheme"), [("hostile", 360, "light"), ("small", 1280, "dark")])
def test_everybody_can_read_it(browser: Browser, tmp_path: Path, name: str, width: int, scheme: str) -> None:
    """No rule of WCAG 2.2 AA is broken on any page, all of it open, and no page is wider than the screen."""
    from axe_playwright_python.sync_playwright import Axe

    with visiting(browser, LOGS[name](tmp_path / "run.jsonl"), width, scheme) as visit:
        for where in pages(visit):
            visit.open_all()
            broken = Axe().run(visit.page).response["violations"]
            assert [(rule["id"], rule["nodes"][0]["html"]) for rule in broken] == [], where
            assert visit.page.evaluate("document.documentElement.scrollWidth") <= width, where


def test_no_text_acts(browser: Browser, tmp_path: Path) -> None:
    """Whatever a log says: no title, no place and no dialog comes of it, and nothing is asked of another server."""
    with visiting(browser, log_of_text(tmp_path / "run.jsonl", TEXT)) as visit:
        for where in pages(visit):
            assert visit.page.title().endswith(" · keval"), where
            assert visit.page.locator("img, script, main iframe").count() == 0, where


def test_a_script_that_got_into_a_page_does_nothing(browser: Browser, tmp_path: Path) -> None:
    """The policy of the pages stops what escaping might miss."""
    with served([small_log(tmp_path / "run.jsonl")], print, port=0, page="/failures", skip_invalid=False) as address:
        visit = Visit(browser, address, 1280, "light")
        visit.page.route("**/samples", _forge)
        visit.go("/samples")
        visit.page.get_by_text("press here").click()
        assert visit.page.title() == "Samples · keval"
        assert any("Content Security Policy" in said for said in visit.seen)
        visit.close()


def _forge(route: Route) -> None:
    """Answer with the page as it is, and what somebody got into it."""
    answered = route.fetch()
    forged = "<script>document.title = 'forged'</script><p onclick=\"document.title = 'forged'\">press here</p></main>"
    route.fulfill(response=answered, body=answered.text().replace("</main>", forged))


def test_new_answers_are_offered_and_nothing_moves(browser: Browser, tmp_path: Path) -> None:
    """What is read stays as it is until somebody clicks; then the same page has them."""
    log = small_log(tmp_path / "run.jsonl")
    with visiting(browser, log) as visit:
        visit.go("/samples?sort=sample")
        rows = visit.page.locator("tbody tr")
        news = visit.page.frame_locator("iframe.news")
        news.get_by_text("nothing new").wait_for()
        with log.open("ab") as file:
            file.write(encode(response_event("q3", "with_docs")))
        news.get_by_text("1 new answer").wait_for(timeout=10_000)
        assert rows.count() == 2
        news.get_by_role("link", name="show").click()
        visit.page.get_by_text("12 answers").wait_for()
        assert visit.page.url.endswith("/samples?sort=sample")


def test_a_keyboard_is_enough(browser: Browser, tmp_path: Path) -> None:
    """From the list to an answer by Tab and Enter alone, and where one stands is seen."""
    with visiting(browser, small_log(tmp_path / "run.jsonl")) as visit:
        for address in (r"/s/q1", r"/r/[0-9a-f]+$"):
            for _ in range(60):
                visit.page.keyboard.press("Tab")
                link = visit.page.evaluate("document.activeElement.href || ''")
                if re.search(address, str(link)):
                    break
            outline = "getComputedStyle(document.activeElement).outlineStyle"
            assert visit.page.evaluate(outline) == "solid"
            with visit.page.expect_navigation():
                visit.page.keyboard.press("Enter")
        assert "repetition 1" in visit.page.locator("h1").inner_text()


def test_a_link_leads_back_to_the_list_as_it_was(browser: Browser, tmp_path: Path) -> None:
    """Filters are in the address, so Back has them."""
    with visiting(browser, small_log(tmp_path / "run.jsonl")) as visit:
        visit.page.get_by_label("find").fill("q2")
        visit.page.get_by_label("sort by").select_option("sample")
        visit.page.get_by_role("button", name="Show").click()
        visit.page.locator("tbody th a").click()
        assert visit.page.locator("h1").inner_text() == "q2"
        visit.page.go_back()
        assert visit.page.get_by_label("find").input_value() == "q2"
        assert visit.page.locator("tbody tr").count() == 1


def test_an_answer_is_scored_by_a_button(browser: Browser, tmp_path: Path) -> None:
    """And not by Enter in the note, which would take the lowest score; the page is for everybody, too."""
    from axe_playwright_python.sync_playwright import Axe

    log = small_log(tmp_path / "run.jsonl")
    labelling = Labelling.of(log, "ada", 2, print, skip_invalid=False)
    with visiting(browser, log, 360, labelling=labelling) as visit:
        visit.page.get_by_role("link", name="Label").click()
        assert Axe().run(visit.page).response["violations"] == []
        visit.page.get_by_label("note").fill("it says why")
        visit.page.get_by_label("note").press("Enter")
        visit.page.get_by_role("button", name="4", exact=True).click()
        visit.page.get_by_text("2 of 2, 1 scored by").wait_for()
        visit.page.get_by_role("button", name="2", exact=True).click()
        visit.page.get_by_text("All that was drawn is scored.").wait_for()
    labels = [event for line in log.read_bytes().splitlines() if (event := json.loads(line))["type"] == "label"]
    assert [(label["scores"], label["note"]) for label in labels] == [
        ({"completeness": 4.0}, "it says why"), ({"completeness": 2.0}, None),
    ]  # fmt: skip
