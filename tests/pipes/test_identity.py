"""What the real commands ask and judge again, and what they say before, when something was edited between two runs."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from tests.announcements import without_announcements
from tests.prompts import SERVERS

Keval = Callable[..., "CompletedProcess[str]"]

CONFIG = """\
name: identity
dataset: {path: questions.jsonl}
agent: {type: command, command: [sh, agent.sh]}
mcp_servers:
  docs: {type: stdio, command: python, args: [docs.py]}
conditions:
  plain: {system_prompt: "Answer."}
  with_docs: {system_prompt: "Search.", mcp_servers: [docs]}
judge: {type: exact_match}
execution: {repetitions: 1, max_concurrent: 2}
"""
SAMPLES = [{"id": f"q{number}", "question": f"question {number}", "answer": "yes"} for number in range(3)]
TASKS = 6


class Folder:
    """A folder with a config, its programs and its log."""

    def __init__(self, path: Path, keval: Keval) -> None:
        self.path = path
        self.keval = keval
        self.seen = 0
        (path / "eval.yaml").write_text(CONFIG.replace("sh, agent.sh", f"sh, {path}/agent.sh"))
        (path / "agent.sh").write_text("echo yes\n")
        shutil.copy(SERVERS / "docs.py", path)
        self.dataset(SAMPLES)

    def dataset(self, samples: Sequence[Mapping[str, object]]) -> None:
        """Write the dataset."""
        (self.path / "questions.jsonl").write_text("".join(json.dumps(sample) + "\n" for sample in samples))

    def append(self, name: str, text: str) -> None:
        """Edit a file at its end."""
        with (self.path / name).open("a") as file:
            file.write(text)

    def run(self, *arguments: str) -> tuple[Counter[str], list[str]]:
        """Run the config and return how many events of each type were added, and what was said."""
        done = self.keval("run", "eval.yaml", "-o", "log.jsonl", "--quiet", *arguments)
        assert done.returncode == 0, done.stderr
        said = without_announcements(done.stderr).splitlines()
        return Counter(event["type"] for event in self.added()), said

    def added(self) -> list[dict[str, Any]]:
        """Return the events that came to the log since it was looked at."""
        events = [json.loads(line) for line in (self.path / "log.jsonl").read_text().splitlines()]
        new = events[self.seen :]
        self.seen = len(events)
        return new


@pytest.fixture
def folder(tmp_path: Path, keval: Keval) -> Folder:
    """Return a folder in which the config has run once."""
    made = Folder(tmp_path, keval)
    added, said = made.run()
    assert added == {"run": 1, "plan": 1, "response": TASKS, "judgment": TASKS}
    assert said == []
    return made


@pytest.mark.slow
def test_the_same_command_again_adds_nothing(folder: Folder) -> None:
    """The server was asked, is what it was, and nothing is written."""
    assert folder.run() == (Counter(), ["keval: nothing to generate: every task has its response"])


@pytest.mark.slow
def test_an_edited_server_is_asked_again_where_it_is_used(folder: Folder) -> None:
    """A line says so before; the other condition keeps its answers, and the plan is the same."""
    folder.append("docs.py", "# edited\n")
    added, said = folder.run()
    assert added == {"run": 1, "response": 3, "judgment": 3}
    assert said == ["keval: docs changed (docs.py): 3 responses of with_docs will be asked again"]


@pytest.mark.slow
def test_an_edited_program_of_the_agent_is_asked_again(folder: Folder) -> None:
    """All answers were another program's."""
    folder.append("agent.sh", "# edited\n")
    added, said = folder.run()
    assert added == {"run": 1, "response": TASKS, "judgment": TASKS}
    assert said == ["keval: agent command changed (agent.sh): 6 responses of plain, with_docs will be asked again"]


@pytest.mark.slow
def test_a_program_that_is_edited_while_it_is_asked_is_told(folder: Folder) -> None:
    """Its answers may be of either version, under the id of the one with which the run began."""
    folder.append("agent.sh", f"echo '# edited' >> {folder.path}/agent.sh\n")
    added, said = folder.run()
    assert added == {"run": 1, "response": TASKS, "judgment": TASKS}
    assert said[-1].startswith("keval: agent.sh changed while the run went on: answers of it may be of either version")


@pytest.mark.slow
def test_a_corrected_golden_answer_is_judged_again_and_not_asked(folder: Folder) -> None:
    """The newest record is in the log, and the answers to that sample get new judgments by it."""
    folder.dataset([{**SAMPLES[0], "answer": "no"}, *SAMPLES[1:]])
    added, said = folder.run()
    assert added == {"run": 1, "sample_change": 1, "judgment": 2}
    told = "1 record of the dataset changed (q0: answer), for which no answer is asked again"
    assert any(told in each for each in said)
    folder.dataset(SAMPLES)
    folder.run()
    assert folder.keval("judge", "log.jsonl", "--quiet").stderr == (
        "keval: nothing to judge: every response has its judgments\n"
    )


@pytest.mark.slow
def test_a_new_column_costs_nothing(folder: Folder) -> None:
    """Neither agent nor judge is given it; the log has it."""
    folder.dataset([{**sample, "topic": "logs"} for sample in SAMPLES])
    added, said = folder.run()
    assert added == {"run": 1, "sample_change": 3}
    nothing = "keval: nothing to generate: every task has its response"
    assert said == [f"{nothing}; config and dataset are recorded as they are now"]
    assert folder.run()[0] == {}


@pytest.mark.slow
def test_a_later_judge_is_given_the_newest_record(folder: Folder) -> None:
    """`keval judge` finds the corrected golden answer in the log, without the dataset."""
    folder.dataset([{**SAMPLES[0], "answer": "no"}, *SAMPLES[1:]])
    folder.keval("generate", "eval.yaml", "-o", "log.jsonl", "--quiet")
    folder.added()
    folder.dataset([])
    assert folder.keval("judge", "log.jsonl", "--quiet").returncode == 0
    judgments = [event for event in folder.added() if event["type"] == "judgment"]
    assert [event["sample_id"] for event in judgments] == ["q0", "q0"]
    assert {score["score"] for event in judgments for score in event["scores"].values()} == {0}


@pytest.mark.slow
def test_a_dataset_without_golden_answers_is_asked(tmp_path: Path, keval: Keval) -> None:
    """If the config says that there are none; else the first blank one is told with its place."""
    folder = Folder(tmp_path, keval)
    folder.dataset([{"id": "q0", "question": "Q?"}])
    config = (tmp_path / "eval.yaml").read_text()
    (tmp_path / "eval.yaml").write_text(config.replace("questions.jsonl}", "questions.jsonl, answer_key: null}"))
    assert keval("generate", "eval.yaml", "-o", "log.jsonl", "--quiet").returncode == 0
    assert [event["sample"]["answer"] for event in folder.added() if event["type"] == "response"] == [None, None]
    folder.dataset([{"id": "q0", "question": "Q?", "answer": ""}])
    (tmp_path / "eval.yaml").write_text(config)
    refused = keval("generate", "eval.yaml", "-o", "other.jsonl")
    assert (refused.returncode, "questions.jsonl:1: answer: is blank" in refused.stderr) == (3, True)


@pytest.mark.slow
def test_only_what_is_planned_is_judged_unless_all_is_asked_for(folder: Folder) -> None:
    """No report shows a score of what is not planned, nor of an edited question: nobody pays for one unasked."""
    edited = {**SAMPLES[0], "question": "another question"}
    folder.dataset([edited, SAMPLES[1]])
    assert folder.run()[0]["response"] == 2
    (folder.path / "other.yaml").write_text("{type: exact_match, ignore_case: false}\n")
    for arguments, judgments in ((), 4), (("--all",), 2), (("--all",), 0):
        done = folder.keval("judge", "log.jsonl", "-j", "other.yaml", "--quiet", *arguments)
        assert done.returncode == 0, done.stderr
        assert Counter(event["type"] for event in folder.added())["judgment"] == judgments
