from __future__ import annotations

import os
import shutil
from pathlib import Path

import orjson
import pytest

from keval.config.reader import load
from keval.execution.config_session import generate, run_all
from keval.execution.judge_session import JudgeWork, judge_log
from keval.executors.executor import Executor
from keval.mock import Mock
from keval.preparation.request import Request
from tests.executors import two_processes
from tests.lasting_events import lasting

QUICKSTART = Path(__file__).parents[3] / "examples" / "quickstart"
CONFIG = """\
name: seam
version: "1"
dataset: {path: questions.jsonl}
agent: {type: command, command: [sh, -c, 'read line; echo "the $ANSWER"'], env: {ANSWER: "${ANSWER}"}}
conditions:
  plain: {system_prompt: "Answer."}
  polite: {system_prompt: "Answer politely."}
judge: {type: exact_match}
execution: {repetitions: 2, max_concurrent: 4}
"""


def write_evaluation(folder: Path) -> None:
    """Write a config of 12 tasks, and its dataset."""
    (folder / "eval.yaml").write_text(CONFIG)
    samples = [{"id": f"s{number}", "question": "What?", "answer": "the tok-secret-1"} for number in range(3)]
    (folder / "questions.jsonl").write_bytes(b"\n".join(map(orjson.dumps, samples)))


def ran(config: Path, log: Path, mock_url: str, executor: Executor | None = None) -> int:
    """Run a config to the end and return how much failed."""
    return run_all(load(config), log, Request(mock_url=mock_url, quiet=True), lambda _: None, executor)


def test_two_processes_do_the_work_to_the_same_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Specs and outcomes are all that goes between; each process resolves secrets from its own environment."""
    monkeypatch.setenv("ANSWER", "tok-secret-1")
    write_evaluation(tmp_path)
    here, there = tmp_path / "here.jsonl", tmp_path / "there.jsonl"
    with Mock() as mock:
        assert ran(tmp_path / "eval.yaml", here, mock.base_url) == 0
        with two_processes(tmp_path / "eval.yaml", mock.base_url, there) as executor:
            assert ran(tmp_path / "eval.yaml", there, mock.base_url, executor) == 0
    assert min(executor.done.values()) > 0
    assert len(lasting(here)) == 1 + 1 + 12 + 12
    assert lasting(there) == lasting(here)


@pytest.mark.slow
def test_two_processes_judge_a_log_to_the_same_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is missing of judgments is made by the executor that is given, and by nobody else."""
    monkeypatch.setenv("ANSWER", "tok-secret-1")
    write_evaluation(tmp_path)
    here, there = tmp_path / "here.jsonl", tmp_path / "there.jsonl"
    request = Request(quiet=True)

    def judged(log: Path, executor: Executor | None = None) -> int:
        return judge_log(log, JudgeWork.of([], request, os.environ, lambda _: None, executor))

    with Mock() as mock:
        generate(load(tmp_path / "eval.yaml"), here, request, lambda _: None)
        shutil.copy(here, there)
        assert judged(here) == 0
        with two_processes(tmp_path / "eval.yaml", mock.base_url, there) as executor:
            assert judged(there, executor) == 0
    assert min(executor.done.values()) > 0
    assert sum(executor.done.values()) == 12
    assert lasting(there) == lasting(here)


def keep_first(file: Path, lines: int) -> None:
    """Leave only so many lines in a file."""
    file.write_text("".join(file.read_text().splitlines(keepends=True)[:lines]))


@pytest.mark.slow
def test_two_processes_run_quickstart_to_the_same_log(tmp_path: Path) -> None:
    """The real agent with its MCP server and the judge with its model, in other processes: the same events."""
    folder = shutil.copytree(QUICKSTART, tmp_path / "quickstart")
    keep_first(folder / "questions.jsonl", 1)
    here, there = tmp_path / "here.jsonl", tmp_path / "there.jsonl"
    with Mock() as mock:
        assert ran(folder / "eval.yaml", here, mock.base_url) == 0
        with two_processes(folder / "eval.yaml", mock.base_url, there) as executor:
            assert ran(folder / "eval.yaml", there, mock.base_url, executor) == 0
    assert min(executor.done.values()) > 0
    assert lasting(there) == lasting(here)
