from __future__ import annotations

from collections import Counter
from collections.abc import Container, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keval.config.model import Config
from keval.config.reader import load
from keval.execution.tasks import WorkList, work_list
from keval.ids import JsonObject, response_id

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


def planned(config: Config, asked: Sequence[JsonObject], done: Container[str] = ()) -> WorkList:
    return work_list(config, asked, done)


def test_fifty_samples_three_conditions_three_repetitions_are_450_tasks(config: Config) -> None:
    """Every sample is asked under every condition as often as the config says, each once."""
    tasks = list(planned(config, samples(50)).remaining)
    assert len(tasks) == len({task.response_id for task in tasks}) == 450


def test_conditions_are_interleaved(config: Config) -> None:
    """At any point of the run no condition is ahead of another by more than one sample."""
    done = dict.fromkeys(("plain", "polite", "short"), 0)
    for task in planned(config, samples(20)).remaining:
        done[task.condition.name] += 1
        assert max(done.values()) - min(done.values()) <= 1


def test_the_order_is_the_seeds(config: Config) -> None:
    """The same seed gives the same order, another seed another one."""
    other = replace(config, execution=replace(config.execution, seed=1))
    order = [task.response_id for task in planned(config, samples(20)).remaining]
    assert order == [task.response_id for task in planned(config, samples(20)).remaining]
    assert order != [task.response_id for task in planned(other, samples(20)).remaining]


@given(data=st.data())
@settings(max_examples=30)
def test_after_any_part_only_the_rest_remains(config: Config, data: st.DataObject) -> None:
    """What is done is not asked again, and what is not done is, in the same order."""
    everything = [task.response_id for task in planned(config, samples(5)).remaining]
    done = data.draw(st.sets(st.sampled_from(everything)))
    rest = [task.response_id for task in planned(config, samples(5), done).remaining]
    assert rest == [target for target in everything if target not in done]
    failed = data.draw(st.sets(st.sampled_from(everything)))
    work = work_list(config, samples(5), done, failed)
    assert {task.response_id for task in work.skipped} == done
    assert work.failed == len(done & failed)
    by_condition = Counter(task.condition.name for task in work.remaining)
    assert work.remaining.by_condition() == by_condition
    assert len(work.remaining) == len(rest)


def test_what_the_agent_is_not_given_is_no_new_work(config: Config) -> None:
    """A corrected golden answer or a new column changes no response's id, and each task carries the newest record."""
    before = [task.response_id for task in remaining(config, samples(3), set())]
    edited = [{**sample, "answer": "corrected", "topic": "new"} for sample in samples(3)]
    after = list(remaining(config, edited, set()))
    assert [task.response_id for task in after] == before
    assert all(task.sample in edited for task in after)


def test_two_samples_with_one_question_are_two_questions(config: Config) -> None:
    """The sample's id is in the question's: their golden answers may differ."""
    twins = [{**sample, "question": "the same"} for sample in samples(2)]
    assert len({task.question_id for task in remaining(config, twins, set())}) == 2


def test_what_a_server_turns_out_to_be_is_new_work(config: Config) -> None:
    """The condition of a server that says something else of itself has other tasks; the others keep theirs."""
    server = {"type": "stdio", "command": "docs"}
    one, two = ({"docs": {"version": version}} for version in ("1", "2"))
    with_docs = replace(config.conditions[0], mcp_servers={"docs": server}, servers_found=one)
    known = replace(config, conditions=(with_docs, *config.conditions[1:]))
    changed = replace(config, conditions=(replace(with_docs, servers_found=two), *config.conditions[1:]))
    before = {task.response_id for task in remaining(known, samples(3), set())}
    assert len({task.response_id for task in remaining(changed, samples(3), set())} & before) == 18


def test_an_edited_question_or_prompt_is_new_work(config: Config) -> None:
    """Another text, another id; the others keep theirs."""
    before = {task.response_id for task in planned(config, samples(3)).remaining}
    edited = samples(3)
    edited[0]["question"] += "?"
    assert len({task.response_id for task in planned(config, edited).remaining} & before) == 18
    first = replace(config.conditions[0], system_prompt="Answer!")
    changed = replace(config, conditions=(first, *config.conditions[1:]))
    assert len({task.response_id for task in planned(changed, samples(3)).remaining} & before) == 18


def test_a_task_has_the_id_of_what_its_response_will_be(config: Config) -> None:
    """Each task is made from a number when it is taken: sample, condition and repetition fit its id."""
    agent_id = config.agent.agent_id
    for task in planned(config, samples(4)).remaining:
        assert task.condition_id == task.condition.condition_id
        assert task.response_id == response_id(task.question_id, task.condition_id, agent_id, task.repetition)
        assert task.sample in samples(4)
