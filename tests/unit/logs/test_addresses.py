"""Properties of addresses of logs."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

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


@given(
    user=st.text("ab:@é"),
    password=st.text("p%&'\"@/?#:1…", min_size=1),
    scheme=st.sampled_from(["https", "HTTP", "s3", "hf"]),
)
def test_no_part_of_a_password_is_shown(user: str, password: str, scheme: str) -> None:
    """Whatever should have been escaped in it: what is shown says nothing of it, nor of who has it."""
    said = addresses.shown(f"{scheme}://{user}:{password}@host/run.jsonl")
    assert said.removeprefix(f"{scheme}://") in {"host/run.jsonl", "…@host/run.jsonl", "…"}


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("https://user:p@ss@host/x", "https://host/x"),
        ("https://user:a/b@host/x", "https://…@host/x"),
        ("https://token@host/a@b", "https://…@b"),
        ("hf://a/b?token=x", "hf://a/b?…"),
        ("s3://bucket/run.jsonl?s3_secret_access_key=x", "s3://bucket/run.jsonl?…"),
        *(
            (plain, plain)
            for plain in (
                "https://host/@user/x",
                "https://host/a@b",
                "http://localhost:8080/a/b",
                "http://[::1]:8000/x",
                "hf://datasets/team/runs@v1/run.jsonl",
                "s3://arn:aws:s3:us-east-1:1:accesspoint/runs/run?.jsonl",
                "s3://bucket/run?/date=2026/a.jsonl",
            )
        ),
    ],
)
def test_what_is_no_password_stays_readable(address: str, said: str) -> None:
    """An address without a user, or a port that could be a password, is shown as it is but for its query."""
    assert addresses.shown(address) == said


def test_a_copy_is_called_by_its_address() -> None:
    """Any other file is called by its path."""
    addresses.note(Path("copy.jsonl"), "https://host/run.jsonl?signature")
    assert addresses.name_of(Path("copy.jsonl")) == "https://host/run.jsonl?…"
    assert addresses.name_of(Path("other.jsonl")) == "other.jsonl"


@pytest.mark.parametrize("before", ["https://proxy/", "['https://a/x','", "https://a/x,", "https://a@b/"])
def test_each_address_in_a_word_goes_without_its_password(before: str) -> None:
    """One that has no user says nothing of the next one."""
    assert "pw" not in addresses.shown(f"{before}https://user:pw@host/x")
