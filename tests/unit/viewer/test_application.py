"""Every page is only text, leads nowhere else, and says what went wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

from keval import viewer
from keval.viewer import application
from tests.builders import response_event
from tests.reports import HOSTILE
from tests.unit.exports.test_html import Outline
from tests.viewing import browsing, log_of_text, small_log

HARMLESS = "a harmless text and more words"

PLACES = [
    "/", "/samples", "/samples?kind=any&find={}&sort=sample", "/samples?condition={}", "/samples?metric={}", "/s/{}",
    "/r/{}", "/failures", "/sql?q=from+responses", "/sql?q={}", "/none/{}", "/news?after={}&page={}",
]  # fmt: skip
"""Addresses of pages of all kinds; `{}` is what somebody else may have put there."""

OF_THIS_SERVER = re.compile(r"(?:/(?!/)|#|data:,)")


ACTS_ON_READERS = re.compile("[\x00-\x08\x0b-\x1f\x80-\x9f\u202e\u2066]")
"""What moves other text, or is not seen."""


def _shown(page: str) -> str:
    """Return the text of a page but that of its fields, which is what somebody typed."""
    return "".join(text for tag, texts in Outline(page.encode()).texts.items() if tag != "textarea" for text in texts)


def visited(folder: Path, text: str) -> Iterator[tuple[str, str]]:
    """Yield each page of a log in which everything is a text, after where it is."""
    with browsing(log_of_text(folder / "run.jsonl", text)) as browser:
        for place in PLACES:
            page = _page(browser, place.replace("{}", quote(text, safe="")))
            if place == "/s/{}":
                yield from _answers(browser, page)
            yield place, page


def _answers(browser: TestClient, page: str) -> Iterator[tuple[str, str]]:
    """Yield the page of each answer that a page leads to."""
    for number, address in enumerate(dict.fromkeys(re.findall(r'href="(/r/[0-9a-f]+)"', page))):
        yield f"answer {number}", _page(browser, address)


def _page(browser: TestClient, address: str) -> str:
    """Return a page, when it is computed."""
    for _ in range(100):
        answered = browser.get(address)
        if "refresh" not in answered.headers or address.startswith("/news"):
            break
    return answered.text


@pytest.fixture(scope="module")
def harmless(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return the pages of a log in which all texts are harmless."""
    return dict(visited(tmp_path_factory.mktemp("harmless"), HARMLESS))


@pytest.mark.slow
def test_all_texts_at_once_are_no_markup(tmp_path: Path, harmless: dict[str, str]) -> None:
    """No page runs a script, has an element of its own for a text, or leads or sends anything elsewhere."""
    for place, page in visited(tmp_path, " ".join(HOSTILE)):
        found = Outline(page.encode())
        assert found.elements == Outline(harmless[place].encode()).elements, place
        assert not ACTS_ON_READERS.search(_shown(page)), place
        assert {"script", "img", "base", "object", "embed"}.isdisjoint(tag for tag, _ in found.elements)
        assert not [name for name, _ in found.attributes if name.startswith("on") or name == "style"]
        leading = [value for name, value in found.attributes if name in {"href", "src", "action"}]
        assert all(map(OF_THIS_SERVER.match, leading)), leading


def test_no_template_lets_text_through_as_it_is() -> None:
    """None switches escaping off, and none has a script."""
    templates = sorted(Path(viewer.__file__).parent.glob("*.html"))
    assert templates
    for template in templates:
        text = template.read_text()
        assert "safe" not in text
        assert "autoescape" not in text
        assert "<script" not in text


@pytest.mark.parametrize(
    "path",
    [
        *("/nothing", "/samples/x", "/s", "/r/a/text/-1", "/r/a/text/1.5", "/static/../x"),
        f"/r/a/text/{'1' * 5000}",
    ],
)
def test_what_is_no_page_is_told(path: str, browser: TestClient) -> None:
    """With the menu, so that one finds back."""
    missing = browser.get(path)
    assert missing.status_code == 404
    assert 'href="/samples"' in missing.text


def test_a_page_is_shown_anew_at_its_own_address_only(browser: TestClient) -> None:
    """A link that somebody made leads to no other server."""
    assert browser.get("/newest?page=/failures", follow_redirects=False).headers["location"] == "/failures"
    for page in ("//evil.example", "/\\evil.example", "https://evil.example", "javascript:alert(1)"):
        answered = browser.get("/newest", params={"page": page}, follow_redirects=False)
        assert answered.headers["location"] == "/"


@pytest.mark.slow
def test_a_log_that_is_broken_meanwhile_is_told(tmp_path: Path) -> None:
    """The page says which line; what was read before is shown still."""
    log = small_log(tmp_path / "run.jsonl")
    with browsing(log) as browser:
        with log.open("ab") as file:
            file.write(b'{"type": "response"}\n')
        refused = browser.get("/newest?page=/samples")
        assert refused.status_code == 503
        assert "run.jsonl:25" in refused.text
        assert browser.get("/samples").status_code == 200


@pytest.mark.slow
def test_a_mistake_of_ours_is_told_in_the_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page has no word of it: a traceback holds what is not for a page."""

    def broken(*_: object) -> None:
        raise ZeroDivisionError("secret")

    monkeypatch.setitem(application.PAGES, "/failures", broken)
    said: list[str] = []
    with browsing(small_log(tmp_path / "run.jsonl"), said=said) as browser:
        failed = browser.get("/failures")
    assert failed.status_code == 500
    assert "secret" not in failed.text
    assert said == ["/failures: ZeroDivisionError: secret; this is a bug in keval: please report it"]


def test_a_picture_for_the_tab_is_not_looked_for(browser: TestClient) -> None:
    """Browsers ask for one by themselves, and complain if it is missing."""
    assert browser.get("/favicon.ico").status_code == 204


def test_the_answer_of_another_log_is_not_found(browser: TestClient) -> None:
    """An id says nothing of a log that does not have it."""
    assert browser.get(f"/r/{response_event('elsewhere')['id']}").status_code == 404


def test_a_log_that_was_cut_off_is_told_and_is_no_bug(tmp_path: Path) -> None:
    """A page whose texts are gone says so; the terminal is told of no bug."""
    log, said = small_log(tmp_path / "run.jsonl"), list[str]()
    with browsing(log, said=said) as browser:
        assert browser.get("/samples").status_code == 200
        log.write_bytes(b"")
        answered = browser.get("/samples")
    assert answered.status_code == 503
    assert "changed while it was read" in answered.text
    assert said == []
