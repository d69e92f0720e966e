import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keval.judges._tool_sources import sources_in

KEYS = ("title", "url")
RECORDS = [{"title": "A", "url": "https://a.org", "text": "x"}, {"title": "B"}]


@pytest.mark.parametrize(
    ("result", "sources"),
    [
        (json.dumps(RECORDS), ["A", "B"]),
        ("\n".join(json.dumps(record) for record in RECORDS), ["A", "B"]),
        ("\n".join(json.dumps(record, indent=2) for record in RECORDS), ["A", "B"]),
        (json.dumps({"result": json.dumps(RECORDS)}), ["A", "B"]),
        (json.dumps(json.dumps(RECORDS)), ["A", "B"]),
        (json.dumps([json.dumps(record) for record in RECORDS]), ["A", "B"]),
        (f"Found 2 pages:\n{json.dumps(RECORDS)}\nSee https://c.org", ["A", "B", "https://c.org"]),
        ("Title: A\nURL: https://a.org\nText: x\n\n**Title:** B\nText: y", ["A", "B"]),
        ("URL: https://a.org\n\n- see https://b.org/x (new)", ["https://a.org", "https://b.org/x"]),
        (
            "見て：https://a.org/x，https://b.org。（https://c.org）",
            ["https://a.org/x", "https://b.org", "https://c.org"],
        ),
        (json.dumps(["A", "B"]), ["A", "B"]),
        ("[1] https://a.org\n[2] https://b.org", ["https://a.org", "https://b.org"]),
        ("[]", []),
        ('{"results": [], "total": 0}', []),
        (" ", []),
        ("Marketing is what sells.", None),
        ('{"text": "Marketing is what sells."}', None),
        ("{not json", None),
        ("[" * 100_000, None),
        ("[\n" * 1000, None),
    ],
    ids=itertools.count(),
)
def test_a_result_names_sources_or_cannot_be_read(result: str, sources: list[str] | None) -> None:
    """In JSON, also several documents and JSON in a string, in lines with a key, and as addresses."""
    assert sources_in(result, KEYS) == sources


@given(st.text())
def test_any_text_is_read(result: str) -> None:
    """And nothing is raised."""
    found = sources_in(result, KEYS)
    assert found is None or all(map(str.strip, found))
