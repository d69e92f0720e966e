from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from keval.errors import UsageError
from keval.secrets.checks import check, is_like_a_word, warn_of_command_lines
from keval.secrets.variables import Secrets

CONFIG = """\
name: words
dataset: {path: questions.jsonl}
agent: {type: command, command: [sh, -c, "echo Use $PGPASSWORD"], env: {PGPASSWORD: "${DATABASE}"}}
conditions: {plain: {system_prompt: "Answer."}}
judge: {type: exact_match}
execution: {repetitions: 1}
"""
SAMPLE = {"id": "q1", "question": "Which one?", "answer": "Because.", "more": {"tags": ["a", "postgres here"]}}


def secrets_of(environ: dict[str, str]) -> Secrets:
    """Return the secrets of a config that names all variables in its `env`."""
    secrets = Secrets(environ)
    secrets.register_all({"env": {name: f"${{{name}}}" for name in environ}})
    return secrets


def told(secrets: Secrets, prompt: str = "Answer.") -> list[str]:
    """Return what is warned of before a run over one sample."""
    return list(check(secrets, [SAMPLE], {"plain": prompt}))


def test_a_secret_that_stands_in_the_dataset_is_refused_without_being_named() -> None:
    """The variable, the sample and the field are named; the value is not."""
    with pytest.raises(UsageError) as refused:
        told(secrets_of({"PGPASSWORD": "postgres"}))
    assert "PGPASSWORD: its value stands in the dataset (sample 'q1', more.tags[1])" in str(refused.value)
    assert "postgres" not in str(refused.value)


@pytest.mark.parametrize("word", ["first-0a9b8c7d6e", "second-0a9b8c7d6e"])
def test_tokens_of_two_servers_under_one_header_are_both_looked_for(word: str) -> None:
    """Neither takes the place of the other, nor does the last word of a header that of the whole."""
    secrets = Secrets({})
    secrets.register_all([{"headers": {"X-Key": f"Bearer {each}-0a9b8c7d6e"}} for each in ("first", "second")])
    with pytest.raises(UsageError, match="X-Key: its value stands in the system prompt"):
        told(secrets, f"Use {word}.")


def test_a_secret_in_a_system_prompt_is_refused() -> None:
    """The condition is named; a prompt that names the variable instead is fine."""
    secrets = secrets_of({"DOCS_TOKEN": "3f9a2c81d7"})
    with pytest.raises(UsageError, match="the system prompt of 'plain'"):
        told(secrets, "Use 3f9a2c81d7.")
    assert told(secrets, "Use ${DOCS_TOKEN}.") == []


def test_a_setting_that_stands_in_the_dataset_is_only_warned_of() -> None:
    """A model's name or an address in a variable is no secret."""
    (warning,) = told(secrets_of({"BACKEND": "postgres"}))
    assert warning.startswith("BACKEND: its value stands in the dataset (sample 'q1', more.tags[1])")


def test_a_secret_that_is_like_a_word_is_warned_of() -> None:
    """One line that names the variable; a key of a service is no word."""
    (warning,) = told(secrets_of({"API_TOKEN": "localhost", "OTHER_KEY": "sk-3f9a2c81d7"}))
    assert warning.startswith("API_TOKEN: its value is short or like a word")
    assert "localhost" not in warning


@pytest.mark.parametrize("word", ["postgres", "admin", "Password", "localhost", "TRUE", "test", "hunter22", "12345"])
def test_words_and_short_values_are_like_words(word: str) -> None:
    """What many people choose, and what is shorter than any key."""
    assert is_like_a_word(word)


@pytest.mark.parametrize("key", ["3f9a2c81", "correct-horse", "aB3dE5gH", "abcdefghijkl", "0123456789"])
def test_keys_are_not_like_words(key: str) -> None:
    """Letters and digits mixed, or longer than a word."""
    assert not is_like_a_word(key)


def keval(folder: Path, *arguments: str, value: str) -> CompletedProcess[str]:
    """Run a real command with a value of the variable that the config names."""
    return subprocess.run(
        [sys.executable, "-m", "keval", *arguments], cwd=folder, env={**os.environ, "DATABASE": value},
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a config and a dataset."""
    (tmp_path / "eval.yaml").write_text(CONFIG)
    (tmp_path / "questions.jsonl").write_text('{"id": "q", "question": "Which?", "answer": "Use two words"}\n')
    return tmp_path


@pytest.mark.slow
def test_a_secret_in_arguments_is_warned_of() -> None:
    """Whoever lists processes reads them; a setting there is fine, and so is a secret in `env`."""
    secrets = Secrets({"API_TOKEN": "0123456789abcdef", "FOLDER": "/data/questions"})
    server = {"type": "stdio", "command": "docs", "args": ["${FOLDER}", "--token", "${API_TOKEN}"]}
    for config, number in (
        ({"mcp_servers": {"docs": server}}, 1),
        ({"agent": {"command": ["ask", "--token=${API_TOKEN}"]}}, 1),
        ({"judges": [{"type": "command", "command": ["score", "${API_TOKEN}"]}]}, 1),
        ({"agent": {"command": ["ask", "${FOLDER}"], "env": {"TOKEN": "${API_TOKEN}"}}}, 0),
    ):
        secrets.register_all(config)
        warnings = list(warn_of_command_lines(secrets, config))
        assert [warning.partition(":")[0] for warning in warnings] == ["API_TOKEN"] * number


@pytest.mark.parametrize("command", ["run", "generate", "check"])
def test_commands_refuse_before_anything_is_written(folder: Path, command: str) -> None:
    """Exit 2 with the way out; there is no log."""
    done = keval(folder, command, "eval.yaml", value="two words")
    assert (done.returncode, done.stdout) == (2, "")
    assert "DATABASE: its value stands in the dataset (sample 'q', answer)" in done.stderr
    assert "two words" not in done.stderr
    assert not list(folder.glob("*.jsonl.*")) + list(folder.glob("words*"))


@pytest.mark.slow
def test_what_is_judged_is_what_the_agent_said(folder: Path) -> None:
    """A right answer that holds a secret is right; the log has the secret's name, and a later judge finds it done.

    The dataset spells the secret in a way that only the judge takes for the same.
    """
    (folder / "questions.jsonl").write_text('{"id": "q", "question": "Which?", "answer": "use CORRECT-horse"}\n')
    (folder / "eval.yaml").write_text(CONFIG.replace("type: exact_match", "type: exact_match, ignore_case: true"))
    done = keval(folder, "run", "eval.yaml", "-q", "-f", "json", value="correct-horse")
    assert done.returncode == 0, done.stderr
    events = [json.loads(line) for line in (folder / "words.jsonl").read_bytes().splitlines()]
    (response,) = [event for event in events if event["type"] == "response"]
    (judgment,) = [event for event in events if event["type"] == "judgment"]
    assert response["text"] == "Use ${DATABASE}"
    assert response["sample"]["answer"] == "use CORRECT-horse"
    assert judgment["scores"]["exact_match"]["score"] == 1
    assert "correct-horse" not in (folder / "words.jsonl").read_text()
    again = keval(folder, "judge", "words.jsonl", value="correct-horse")
    assert "nothing to judge" in again.stderr
