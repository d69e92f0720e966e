from __future__ import annotations

from pathlib import Path

import pytest

from keval.events import encode, event
from keval.leaks import look
from tests.conftest import Keval

SECRETS = {
    "an Anthropic key": "sk-ant-api03-" + "a1B2" * 8,
    "an AWS access key": "AKIA" + "ABCD1234" * 2,
    "a GitHub token": "ghp_" + "a1B2c3D4e5" * 4,
    "a private key": "-----BEGIN RSA PRIVATE KEY-----",
    "an Authorization header": "Bearer abcdefghijklmnopqrstuvwxyz",
    "a password in a URL": "postgres://me:hunter22@db",
}


@pytest.mark.parametrize("what", SECRETS)
def test_known_forms_of_keys_are_found_wherever_they_stand(what: str) -> None:
    """A key in a text, a list or an object's key is found with its path."""
    value = {"turns": [{"result": f"it is {SECRETS[what]} they say"}], SECRETS[what]: 1}
    found = list(look(value, {}))
    assert ("$.turns[0].result", what) in [(leak.path, leak.what) for leak in found]
    assert ("$ (a key)", what) in [(leak.path, leak.what) for leak in found]


def test_values_of_variables_that_sound_secret_are_found() -> None:
    """A variable called …TOKEN is looked for by value, one called PATH is not."""
    environ = {"MY_TOKEN": "correct-horse", "PATH": "correct-battery", "SHORT_KEY": "abc"}
    found = list(look({"text": "correct-horse correct-battery abc"}, environ))
    assert [leak.what for leak in found] == ["the value of MY_TOKEN"]


def test_ordinary_text_is_no_secret() -> None:
    """Hashes, ids and prose are not taken for keys."""
    text = "sha256 9f86d081884c7d659a2feaa0c55ad015 and task-based skills, see https://example.org/a:b"
    assert not list(look({"text": text}, {}))


def test_the_command_names_the_place_and_never_the_secret(keval: Keval, tmp_path: Path) -> None:
    """Exit 1 with file, line and path; the secret is in no byte of the output."""
    log = tmp_path / "run.jsonl"
    secret = SECRETS["an Anthropic key"]
    log.write_bytes(encode(event("retraction", "a", "r", target="t", reason=f"leaked {secret}", author=None)))
    done = keval("scan", log)
    assert done.returncode == 1
    assert f"{log}:1: $.reason: an Anthropic key" in done.stdout
    assert secret not in done.stdout + done.stderr
    log.write_bytes(encode(event("retraction", "a", "r", target="t", reason="fine", author=None)))
    assert keval("scan", log).returncode == 0
