"""Addresses lead back to what they are of, and nowhere else."""

from __future__ import annotations

from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keval.viewer import addresses


@given(st.text().filter(lambda text: ("\x00" not in text and text.isprintable()) or "/" in text))
def test_any_id_makes_an_address_of_this_server(sample_id: str) -> None:
    """It names the id in full, as one part of a path or as a field; a browser corrects nothing in it."""
    address = addresses.sample(sample_id)
    assert addresses.is_own(address)
    parts = urlsplit(address)
    path, query = parts.path.removeprefix("/s/"), parse_qs(parts.query, keep_blank_values=True)
    assert "/" not in path
    assert (query["id"] == [sample_id]) if query else (unquote(path) == sample_id)


@pytest.mark.parametrize("sample_id", ["", ".", ".."])
def test_an_id_that_is_a_folder_to_a_browser_stands_in_a_field(sample_id: str) -> None:
    """`/s/..` would be `/`."""
    assert addresses.sample(sample_id, condition="with_docs") == f"/s/?id={sample_id}&condition=with_docs"


@pytest.mark.parametrize(
    "address",
    [
        "//evil.example",
        "/\\evil.example",
        "http://evil.example",
        "",
        "samples",
        "/a b",
        "/a\n",
        "/\t/evil.example",
        "/é",
    ],
)
def test_what_leads_elsewhere_is_not_ours(address: str) -> None:
    """Nor what a browser would correct into something else."""
    assert not addresses.is_own(address)


def test_what_is_not_asked_for_is_not_in_an_address() -> None:
    """A list of all samples has the shortest one."""
    assert addresses.samples({"find": None, "kind": "timeout"}) == "/samples?kind=timeout"
    assert addresses.samples({}) == "/samples"
