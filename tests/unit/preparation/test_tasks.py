from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keval.config.model import Config
from keval.config.reader import load
from keval.ids import JsonObject, response_id
from keval.preparation.tasks import TaskGrid, question_id, turns, work_list

CONFIG = """\
name: unit
version: "1"
dataset: {path: questions.jsonl}
agent: {type: echo}
conditions:
  plain: {system_prompt: "Answer."}
  polite: {system_prompt: "Answer politely."}
  short: {system_prompt: "Answer in a word."}
judge: {type: exact_match}
"""


@pytest.fixture
def config(tmp_path: Path) -> Config:
    """Return a config with three conditions and three repetitions."""
    (tmp_path / "questions.jsonl").write_text('{"question": "q", "answer": "a"}\n')
    (tmp_path / "eval.yaml").write_text(CONFIG)
    return load(tmp_path / "eval.yaml")


def samples(number: int) -> list[JsonObject]:
    return [{"id": f"s{index}", "question": f"q{index}", "answer": "a"} for index in range(number)]


def test_fifty_samples_three_conditions_three_repetitions_are_450_tasks(config: Config) -> None:
    """Every sample is asked under every condition as often as the config says, each once."""
    tasks = list(work_list(config, samples(50)))
    assert len(tasks) == len({task.response_id for task in tasks}) == 450


def test_conditions_are_interleaved(config: Config) -> None:
    """At any point of the run no condition is ahead of another by more than one sample."""
    done = dict.fromkeys(("plain", "polite", "short"), 0)
    for task in work_list(config, samples(20)):
        done[task.condition.name] += 1
        assert max(done.values()) - min(done.values()) <= 1


def test_the_order_is_the_seeds(config: Config) -> None:
    """The same seed gives the same order, another seed another one."""
    other = replace(config, execution=replace(config.execution, seed=1))
    order = [task.response_id for task in work_list(config, samples(20))]
    assert order == [task.response_id for task in work_list(config, samples(20))]
    assert order != [task.response_id for task in work_list(other, samples(20))]


@given(data=st.data())
@settings(max_examples=30)
def test_after_any_part_only_the_rest_remains(config: Config, data: st.DataObject) -> None:
    """What is skipped is not asked, and what is not skipped is, in the same order."""
    everything = work_list(config, samples(5))
    skipped = data.draw(st.sets(st.sampled_from(everything.numbers.tolist())))
    bits = "".join("1" if number in skipped else "0" for number in range(len(everything)))
    rest = work_list(config, samples(5), bits)
    kept = [task for number, task in zip(everything.numbers, everything, strict=True) if number not in skipped]
    assert list(rest) == kept
    assert rest.by_condition() == Counter(task.condition.name for task in kept)
    assert len(rest) == len(kept)


def test_what_the_agent_is_not_given_is_no_new_work(config: Config) -> None:
    """A corrected golden answer or a new column changes no response's id, and each task carries the newest record."""
    before = [task.response_id for task in work_list(config, samples(3))]
    edited = [{**sample, "answer": "corrected", "topic": "new"} for sample in samples(3)]
    after = list(work_list(config, edited))
    assert [task.response_id for task in after] == before
    assert all(task.sample in edited for task in after)


def test_two_samples_with_one_question_are_two_questions(config: Config) -> None:
    """The sample's id is in the question's: their golden answers may differ."""
    twins = [{**sample, "question": "the same"} for sample in samples(2)]
    assert len({task.question_id for task in work_list(config, twins)}) == 2


def test_what_a_server_turns_out_to_be_is_new_work(config: Config) -> None:
    """The condition of a server that says something else of itself has other tasks; the others keep theirs."""
    server = {"type": "stdio", "command": "docs"}
    one, two = ({"docs": {"version": version}} for version in ("1", "2"))
    with_docs = replace(config.conditions[0], mcp_servers={"docs": server}, servers_found=one)
    known = replace(config, conditions=(with_docs, *config.conditions[1:]))
    changed = replace(config, conditions=(replace(with_docs, servers_found=two), *config.conditions[1:]))
    before = {task.response_id for task in work_list(known, samples(3))}
    assert len({task.response_id for task in work_list(changed, samples(3))} & before) == 18


def test_an_edited_question_or_prompt_is_new_work(config: Config) -> None:
    """Another text, another id; the others keep theirs."""
    before = {task.response_id for task in work_list(config, samples(3))}
    edited = samples(3)
    edited[0]["question"] += "?"
    assert len({task.response_id for task in work_list(config, edited)} & before) == 18
    first = replace(config.conditions[0], system_prompt="Answer!")
    changed = replace(config, conditions=(first, *config.conditions[1:]))
    assert len({task.response_id for task in work_list(changed, samples(3))} & before) == 18


def test_a_task_has_the_id_of_what_its_response_will_be(config: Config) -> None:
    """Each task is made from a number when it is taken: sample, condition and repetition fit its id."""
    agent_id = config.agent.agent_id
    for task in work_list(config, samples(4)):
        assert task.condition_id == task.condition.condition_id
        assert task.response_id == response_id(task.question_id, task.condition_id, agent_id, task.repetition)
        assert task.sample in samples(4)


def test_a_question_of_one_message_is_the_same_as_a_list_or_not() -> None:
    """The agent is given the same; more messages, or others, are another question."""
    plain, listed = ({"id": "s", "question": each} for each in ("What?", ["What?"]))
    assert turns(plain) == turns(listed) == ("What?",)
    assert question_id(plain) == question_id(listed)
    several = {"id": "s", "question": ["What?", "Why?"]}
    assert turns(several) == ("What?", "Why?")
    assert len({question_id(each) for each in (plain, several, several | {"question": ["Why?", "What?"]})}) == 3


@given(conditions=st.integers(1, 5), samples=st.integers(1, 7), repetitions=st.integers(1, 3))
def test_each_task_has_one_number(conditions: int, samples: int, repetitions: int) -> None:
    """A number says where its task stands, none is left out, and those of an earlier repetition are smaller."""
    grid = TaskGrid(conditions, samples)
    cells = [grid.cell(number) for number in range(conditions * samples * repetitions)]
    assert [grid.number(*cell) for cell in cells] == list(range(len(cells)))
    assert len({*cells}) == len(cells)
    assert [cell.before for cell in cells] == sorted(cell.before for cell in cells)
    assert all(cell.condition < conditions and cell.sample < samples and cell.before < repetitions for cell in cells)
