"""Properties of addresses of logs."""

from __future__ import annotations

from pathlib import Path

import pytest

from keval.logs import addresses


@pytest.mark.parametrize(
    ("name", "scheme"),
    [("s3://b/run.jsonl", "s3"), ("HTTPS://x/y", "https"), ("run.jsonl", None), ("a:b//c", None), ("/s3://b", None)],
)
def test_an_address_begins_with_a_scheme(name: str, scheme: str | None) -> None:
    """What does not is the name of a file."""
    assert addresses.scheme_of(name) == scheme


def test_passwords_and_signatures_are_not_shown() -> None:
    """An address that is printed has neither, wherever it stands in a text; which file it is can still be read."""
    said = "GET 'https://ada:secret@host/a/run.jsonl?X-Amz-Signature=secret&b=secret' (403)"
    assert addresses.shown(said) == "GET 'https://host/a/run.jsonl?…' (403)"
    assert addresses.shown("s3://bucket/a b/run?.jsonl") == "s3://bucket/a b/run?.jsonl"


def test_a_copy_is_called_by_its_address() -> None:
    """Any other file is called by its path."""
    addresses.note(Path("copy.jsonl"), "https://host/run.jsonl?signature")
    assert addresses.name_of(Path("copy.jsonl")) == "https://host/run.jsonl?…"
    assert addresses.name_of(Path("other.jsonl")) == "other.jsonl"
