from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from keval.config.reader import load
from keval.events import new_run_id
from keval.execution.identification import identify
from keval.ids import JsonObject
from keval.preparation.changes import changes, no_longer_counted
from keval.preparation.chosen import Chosen
from keval.preparation.plan_events import plan_events
from keval.preparation.prepared import Prepared, prepare
from keval.preparation.run_events import run_event
from keval.preparation.tasks import work_list
from keval.processes.local_files import LocalFile
from keval.processes.servers import ServerInfo
from tests.tasks import answer_to, config_past, tasks_of

CONFIG = """\
name: unit
dataset: {path: questions.jsonl}
agent: {type: command, command: [python, agent.py], model: small}
mcp_servers:
  docs: {type: http, url: "http://docs"}
conditions:
  plain: {system_prompt: "Answer."}
  with_docs: {system_prompt: "Search.", mcp_servers: [docs]}
judge: {type: exact_match}
execution: {repetitions: 2}
"""
V1 = ServerInfo("docs", "docs", "1", ("search", "pages"), "aa")


class Folder:
    """A folder with a config that can be edited, and what happened in it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.config = CONFIG
        self.questions = ["Q0?", "Q1?", "Q2?"]
        self.first = 0
        """The number in the first sample's id."""
        self.server = V1
        (path / "agent.py").write_text("print('yes')")

    def prepared(self) -> Prepared:
        """Return the config as it is now, with its server asked."""
        lines = [
            f'{{"id": "q{n}", "question": "{asked}", "answer": "A"}}'
            for n, asked in enumerate(self.questions, self.first)
        ]
        (self.path / "questions.jsonl").write_text("\n".join(lines))
        (self.path / "eval.yaml").write_text(self.config)
        config = load(self.path / "eval.yaml")
        return identify(prepare(config, None, warn=lambda _: None), {"docs": self.server}, None)


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    """Return a folder with a config of two conditions, three samples and two repetitions."""
    return Folder(tmp_path)


def done(prepared: Prepared) -> list[JsonObject]:
    """Return the events of a run that got all its responses."""
    answers = [answer_to(prepared, task) for task in tasks_of(prepared)]
    return [run_event(prepared, "generate", new_run_id()), *answers]


def told(before: Sequence[JsonObject], now: Prepared, chosen: Chosen | None = None) -> str | None:
    """Return what is said before a config runs over a log of these events."""
    with config_past(now, before) as about:
        tasks = work_list(now.config, now.samples, about.skipped(retry_failed=True)[0])
        asked = tasks if chosen is None else chosen.of_tasks(tasks)
        changed = changes(about.past.newest_run(now.config.name, mock=False), about, asked.numbers)
        return None if changed is None else changed.told("")


def test_nothing_is_said_when_nothing_is_asked_again(folder: Folder) -> None:
    """Not of the same config, not of a first run, not of more repetitions, samples or another name."""
    before = done(folder.prepared())
    assert told(before, folder.prepared()) is None
    assert told([], folder.prepared()) is None
    folder.config = CONFIG.replace("repetitions: 2", "repetitions: 3").replace("plain:", "renamed:")
    folder.questions.append("Q3?")
    assert told(before, folder.prepared()) is None


def test_a_server_of_another_version_is_told(folder: Folder) -> None:
    """With what changed of it, and how many answers of which condition that concerns."""
    before = done(folder.prepared())
    folder.server = replace(V1, version="2", tools=("search", "pages", "fetch"), tools_sha256="bb")
    expected = "docs changed (version 1 -> 2, tools 2 -> 3): 6 responses of with_docs will be asked again"
    assert told(before, folder.prepared()) == expected


def test_only_what_the_user_chose_is_counted_as_asked_again(folder: Folder) -> None:
    """The others stay as they are, and cost nothing now."""
    before = done(folder.prepared())
    folder.server = replace(V1, version="2")
    sample = str(folder.prepared().samples[0]["id"])
    expected = "docs changed (version 1 -> 2): 2 responses of with_docs will be asked again"
    assert told(before, folder.prepared(), Chosen(samples=(sample,))) == expected
    assert told(before, folder.prepared(), Chosen(conditions=("plain",))) is None


def test_what_is_not_asked_again_now_is_said_to_count_no_more(folder: Folder) -> None:
    """A change takes responses out of the numbers whether or not the user chooses to ask them again."""
    before = done(folder.prepared())
    folder.server = replace(V1, version="2")
    now = folder.prepared()
    with config_past(now, before) as about:
        left = work_list(now.config, now.samples, about.skipped(retry_failed=True)[0]).numbers
        found = changes(about.past.newest_run("unit", mock=False), about, left)
    assert found is not None
    expected = "docs changed (version 1 -> 2): 6 responses of with_docs count no more until they are asked again"
    assert found.told_of_others() == expected


@pytest.mark.parametrize(
    ("server", "what"),
    [
        (replace(V1, server_name="wiki"), "name docs -> wiki"),
        (replace(V1, version=None), "version 1 -> unknown"),
        (replace(V1, tools_sha256="bb"), "what its tools say of themselves"),
        (replace(V1, tools=("search", "fetch"), tools_sha256="bb"), "tools"),
        (replace(V1, files=(LocalFile("docs.py", "f2"),)), "docs.py"),
    ],
)
def test_each_thing_that_makes_a_server_another_one_has_its_words(
    folder: Folder, server: ServerInfo, what: str
) -> None:
    """Whatever changes a condition's id is named in the line."""
    before = done(folder.prepared())
    folder.server = server
    expected = f"docs changed ({what}): 6 responses of with_docs will be asked again"
    assert told(before, folder.prepared()) == expected


def test_a_server_that_is_written_otherwise_is_told(folder: Folder) -> None:
    """Its config is part of the condition, too."""
    before = done(folder.prepared())
    folder.config = CONFIG.replace("http://docs", "http://wiki")
    assert told(before, folder.prepared()) == "docs changed (its config): 6 responses of with_docs will be asked again"


def test_an_edited_program_or_another_model_is_told(folder: Folder) -> None:
    """The agent is the same in all conditions, so all are asked again."""
    before = done(folder.prepared())
    (folder.path / "agent.py").write_text("print('no')")
    line = told(before, folder.prepared())
    assert line == "agent command changed (agent.py): 12 responses of plain, with_docs will be asked again"
    folder.config = CONFIG.replace("small", "large").replace("agent.py]", "agent.py, -v]")
    line = told(before, folder.prepared())
    assert line is not None
    assert line.startswith("agent command changed (model small -> large, command, agent.py): 12 responses of")


def test_an_edited_prompt_is_told(folder: Folder) -> None:
    """So is another gate; the other condition is not mentioned."""
    before = done(folder.prepared())
    folder.config = CONFIG.replace('"Search."', '"Search first.", require_mcp_tool_use: true')
    expected = "with_docs changed (system prompt, gates): 6 responses of with_docs will be asked again"
    assert told(before, folder.prepared()) == expected


def test_edited_questions_are_told_by_their_samples(folder: Folder) -> None:
    """The answers to the others stay."""
    before = done(folder.prepared())
    folder.questions[1] = "Q1!"
    expected = "1 question changed (q1): 4 responses of plain, with_docs will be asked again"
    assert told(before, folder.prepared()) == expected
    folder.questions = [f"{question}?" for question in folder.questions]
    expected = "3 questions changed (q0, q1, q2): 12 responses of plain, with_docs will be asked again"
    assert told(before, folder.prepared()) == expected


def test_an_edited_question_is_asked_again_under_a_renamed_condition_too(folder: Folder) -> None:
    """It is the same condition, whatever it is called: what will be paid for it is counted."""
    events = done(folder.prepared())
    folder.questions[0] = "Another?"
    folder.config = folder.config.replace("with_docs:", "searching:")
    expected = "1 question changed (q0): 4 responses of plain, searching will be asked again"
    assert told(events, folder.prepared()) == expected


def test_a_response_that_is_asked_again_for_several_changes_is_counted_once(folder: Folder) -> None:
    """The changes stand beside each other, with one number for all of them."""
    before = done(folder.prepared())
    (folder.path / "agent.py").write_text("print('no')")
    folder.config = CONFIG.replace('"Search."', '"Search first."')
    folder.questions[1] = "Q1!"
    assert told(before, folder.prepared()) == (
        "agent command changed (agent.py); with_docs changed (system prompt); 1 question changed (q1):"
        " 12 responses of plain, with_docs will be asked again"
    )


def test_changes_of_several_conditions_are_added_up(folder: Folder) -> None:
    """A server and a question: six responses of the one condition, and two more of the other."""
    before = done(folder.prepared())
    folder.server = replace(V1, version="2")
    folder.questions[1] = "Q1!"
    assert told(before, folder.prepared()) == (
        "docs changed (version 1 -> 2); 1 question changed (q1): 8 responses of plain, with_docs will be asked again"
    )


def test_only_what_was_answered_is_asked_again(folder: Folder) -> None:
    """A run that got no answer loses none, and to a real run a mock answer is none."""
    newest, *answers = done(folder.prepared())
    folder.server = replace(V1, version="2")
    assert told([newest, *(answer | {"mock": True} for answer in answers)], folder.prepared()) is None
    assert told([newest], folder.prepared()) is None


def test_what_has_been_asked_already_is_not_asked_again(folder: Folder) -> None:
    """Going back to an earlier server costs nothing: its answers are still there."""
    first = folder.prepared()
    earlier = done(first)
    folder.server = replace(V1, version="2")
    assert told([*earlier, *done(folder.prepared())], first) is None


def test_a_secret_is_in_no_line(folder: Folder) -> None:
    """What is compared and told is what the log may hold."""
    folder.config = CONFIG.replace('url: "http://docs"', 'url: "http://docs", headers: {Authorization: "tok-secret-1"}')
    before = done(folder.prepared())
    folder.server = replace(V1, version="tok-secret-1")
    line = told(before, folder.prepared())
    assert line is not None
    assert "version 1 -> ${Authorization}" in line


def gone(before: Sequence[JsonObject], now: Prepared) -> str | None:
    """Return what is said of responses that a config asks for no more."""
    with config_past(now, before) as about:
        return no_longer_counted(about.past.newest_run(now.config.name, mock=False), about)


def test_responses_that_will_count_no_more_are_told(folder: Folder) -> None:
    """Those of samples, repetitions and conditions that are gone; not those that are asked again, nor a first run."""
    before = done(folder.prepared())
    assert gone([], folder.prepared()) is None
    folder.questions = ["Q0, really?", "Q1?", "Q2?", "Q3?"]
    folder.server = replace(V1, version="2")
    assert gone(before, folder.prepared()) is None
    folder.questions = ["Q0?", "Q1?"]
    says = "{} will count no more: the plan now leaves out {}; they stay in the log"
    assert gone(before, folder.prepared()) == says.format("4 responses", "1 sample")
    folder.config = CONFIG.replace("repetitions: 2", "repetitions: 1")
    assert gone(before, folder.prepared()) == says.format("8 responses", "1 sample, 1 repetition")
    folder.config = folder.config.replace('  plain: {system_prompt: "Answer."}\n', "")
    told = says.format("10 responses", "1 sample, 1 repetition, condition plain")
    assert gone(before, folder.prepared()) == told


def test_a_condition_with_another_name_counts_on(folder: Folder) -> None:
    """It is what it asks for, not what it is called."""
    before = done(folder.prepared())
    folder.config = CONFIG.replace("plain:", "renamed:")
    assert gone(before, folder.prepared()) is None


@pytest.mark.parametrize(("repetitions", "lost"), [(2, None), (1, "6 responses")])
def test_what_another_config_has_counts_on(folder: Folder, repetitions: int, lost: str | None) -> None:
    """Two configs may ask for the same answers; what one of them no longer asks for counts if the other still does."""
    first = folder.prepared()
    before = [*done(first), *plan_events(first.plan_id, first.question_ids, new_run_id())]
    folder.config = CONFIG.replace("name: unit", "name: other").replace("repetitions: 2", f"repetitions: {repetitions}")
    before.append(run_event(folder.prepared(), "generate", new_run_id()))
    folder.config = CONFIG.replace("repetitions: 2", "repetitions: 1")
    said = f"{lost} will count no more: the plan now leaves out 1 repetition; they stay in the log"
    assert gone(before, folder.prepared()) == (None if lost is None else said)


def test_other_samples_in_the_place_of_some_are_told(folder: Folder) -> None:
    """As many samples as before need not be the same ones."""
    before = done(folder.prepared())[:2]
    answered = before[1]["sample"]["id"]
    folder.first = 1
    assert answered not in {sample["id"] for sample in folder.prepared().samples}
    told = "1 response will count no more: the plan now leaves out 1 sample; it stays in the log"
    assert gone(before, folder.prepared()) == told
