"""A config that is shown on a page has no literal secret."""

from __future__ import annotations

from keval.secrets.masking import masked


def test_what_was_written_into_env_and_headers_is_left_out() -> None:
    """The names stay, and so does where a secret comes from."""
    config = {
        "agent": {"env": {"PW": "hunter2", "TOKEN": "${TOKEN}", "N": 3}},
        "mcp_servers": {"w": {"type": "http", "url": "http://127.0.0.1/", "headers": {"Authorization": "Bearer abc"}}},
    }
    assert masked(config) == {
        "agent": {"env": {"PW": "…", "TOKEN": "${TOKEN}", "N": 3}},
        "mcp_servers": {"w": {"type": "http", "url": "http://127.0.0.1/", "headers": {"Authorization": "…"}}},
    }


def test_arguments_that_sound_secret_are_left_out() -> None:
    """In both ways of writing them; other arguments stay."""
    words = ["run", "--token=abc", "--api-key", "abc", "--model=x", "--mode", "fast", "--token=${TOKEN}"]
    assert masked({"command": words}) == {
        "command": ["run", "--token=…", "--api-key", "…", "--model=x", "--mode", "fast", "--token=${TOKEN}"]
    }
