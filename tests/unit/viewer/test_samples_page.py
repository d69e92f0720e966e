"""The list as a person sees it."""

from __future__ import annotations

import re

from starlette.testclient import TestClient

from tests.viewing import rows_of


def test_a_row_has_both_means_and_how_the_answer_begins(browser: TestClient) -> None:
    """Worse is a word, a failure stands beside the mean, and the sample leads to its answers."""
    page = browser.get("/samples?sort=sample").text
    assert rows_of(page) == [
        ["sample", "baseline", "with_docs", "difference", "first answer of with_docs"],
        ["q1", "3.00", "2.00", "−1.00 worse", "with_docs says q1.1"],
        ["q2", "2.00", "1.00 · timeout", "−1.00 worse", "with_docs says q2.1"],
    ]
    assert '<a href="/s/q1?condition=with_docs">' in page


def test_the_form_keeps_what_was_asked(browser: TestClient) -> None:
    """Also a text of signs, and the count is that of the list."""
    page = browser.get("/samples", params={"find": '"<b>', "score_to": "2.5", "condition": "other"}).text
    assert 'name="find" value="&#34;&lt;b&gt;"' in page
    assert 'name="score_to" value="2.5"' in page
    assert '<option value="other" selected>' in page
    assert "0 samples on this page with “&#34;&lt;b&gt;”" in page
    assert "1 sample<" in browser.get("/samples?kind=timeout").text


def test_the_list_leads_to_the_query_that_made_it(browser: TestClient) -> None:
    """That page runs it and finds the same samples."""
    page = browser.get("/samples?kind=timeout").text
    (address,) = re.findall(r'href="(/sql\?q=[^"]+)">view as SQL', page)
    assert [row[0] for row in rows_of(browser.get(address).text)] == ["sample_id", "q2"]


def test_a_wrong_filter_is_told(browser: TestClient) -> None:
    """With what it could be."""
    refused = browser.get("/samples?condition=with_doc")
    assert refused.status_code == 400
    assert "condition=&#39;with_doc&#39; is none of baseline, with_docs, other" in refused.text
