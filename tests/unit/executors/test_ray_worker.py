from __future__ import annotations

import sys
from pathlib import Path

import pytest

from keval.config.reader import load
from keval.executors.ray_worker import Assignment, Worker, differences, identity_of
from keval.executors.specs import AnswerSpec

CONFIG = """\
name: elsewhere
dataset: {path: not-there.jsonl}
agent: {type: command, command: [sh, "{folder}/agent.sh"], env: {PASSWORD: "${PASSWORD}"}}
mcp_servers: {docs: {type: stdio, command: python, args: [server.py]}}
conditions: {plain: {system_prompt: "Answer."}}
judge: {type: exact_match}
"""
SALT = b"salt"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder like one that travelled to a worker, which works there."""
    (tmp_path / "eval.yaml").write_text(CONFIG)
    (tmp_path / "agent.sh").write_text("cat >/dev/null; echo here\n")
    (tmp_path / "server.py").write_text("pass\n")
    monkeypatch.setenv("PASSWORD", "tok-elsewhere-1")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def ours(folder: Path) -> dict[str, str]:
    config = load(folder / "eval.yaml", with_datasets=False)
    return identity_of(config.judges, config.secrets, SALT, config)


async def test_a_worker_does_the_work_of_a_config_that_travelled(folder: Path) -> None:
    """It needs no dataset, is what the command is, and imports nothing from the folder."""
    sys.path.insert(0, str(folder))
    worker = Worker(Assignment(SALT, config="eval.yaml"))
    ready = await worker.begin()
    assert (ready.problem, differences(ours(folder), ready.identity)) == (None, [])
    assert str(folder) not in sys.path
    outcome = await worker.answer(AnswerSpec(("Where?",), "Answer.", {}, 1, "r1"))
    assert (outcome.known.text, outcome.failed) == ("here", None)
    assert outcome.workspace is not None
    await worker.release(str(outcome.workspace))
    await worker.close()


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"server.py": "import os\n"}, ["file server.py"]),
        ({"agent.sh": "echo there\n"}, ["agent command", "file agent.sh"]),
    ],
)
async def test_a_worker_with_another_file_is_told_apart(folder: Path, changed: dict[str, str], told: list[str]) -> None:
    """What a worker found by itself is compared by content, with what the command has."""
    expected = ours(folder)
    for name, text in changed.items():
        (folder / name).write_text(text)
    ready = await Worker(Assignment(SALT, config="eval.yaml")).begin()
    assert differences(expected, ready.identity) == told


async def test_a_worker_with_another_secret_is_told_apart_without_a_word_of_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is compared holds no value of a secret."""
    expected = ours(folder)
    monkeypatch.setenv("PASSWORD", "tok-elsewhere-2")
    ready = await Worker(Assignment(SALT, config="eval.yaml")).begin()
    assert differences(expected, ready.identity) == ["secret PASSWORD"]
    assert "tok-elsewhere" not in str((expected, ready))


@pytest.mark.usefixtures("folder")
async def test_a_worker_says_what_it_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A variable that is not set there is named, and nothing is asked."""
    monkeypatch.delenv("PASSWORD")
    ready = await Worker(Assignment(SALT, config="eval.yaml")).begin()
    assert ready.problem is not None
    assert "not set: PASSWORD" in ready.problem
