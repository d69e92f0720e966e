from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from keval.config.model import LARGEST_SCORE, Gates, JudgeConfig
from keval.config.reader import load
from keval.errors import PluginError
from keval.ids import JsonObject
from keval.judges import Case, Context, Judge, Judgment, Metric
from tests.jobs import exact_judge

CONFIG = """\
name: unit
dataset: {path: questions.jsonl}
agent: {type: echo, delay_s: 0}
mcp_servers:
  docs: {type: stdio, command: python, env: {TOKEN: "${DOCS_TOKEN}"}}
conditions:
  plain: {system_prompt: "Answer for ${TEAM}."}
  docs: {system_prompt: "Use them.", mcp_servers: [docs], require_mcp_tool_use: true}
judge: {type: exact_match}
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return a config with two variables."""
    (tmp_path / "questions.jsonl").write_text('{"question": "q", "answer": "a"}\n')
    (tmp_path / "eval.yaml").write_text(CONFIG)
    return tmp_path / "eval.yaml"


@dataclass(frozen=True, kw_only=True)
class Scale(Judge):
    """A judge with one metric."""

    name: str = "tone"
    least: float = 0
    most: float = 1

    @property
    def metrics(self) -> tuple[Metric, ...]:
        return (Metric(self.name, self.least, self.most),)

    async def judge(self, case: Case, context: Context) -> Judgment:
        raise NotImplementedError


def judge(name: str = "tone", least: float = 0, most: float = 1) -> JudgeConfig:
    return JudgeConfig("a name", "scale", Scale(name=name, least=least, most=most), 1, {})


@pytest.mark.parametrize(
    ("name", "least", "most"),
    [
        ("", 0, 1),
        ("tone", 1, 1),
        ("tone", 2, 1),
        ("tone", 0, float("nan")),
        ("tone", 0, float("inf")),
        ("tone", 0, 2 * LARGEST_SCORE),
        ("tone", -2 * LARGEST_SCORE, 0),
    ],
)
def test_a_metric_that_no_event_can_hold_breaks_the_judge(name: str, least: float, most: float) -> None:
    """A scale without a name, without a length or without an end is found before anything is paid."""
    with pytest.raises(PluginError, match="judge scale: the metric"):
        judge(name, least, most)
    judge(least=-LARGEST_SCORE, most=LARGEST_SCORE)


def test_a_name_is_no_part_of_an_identity(path: Path) -> None:
    """Agents, conditions and judges are what they do; what they are called is for people."""
    config = load(path, environ={})
    plain, docs = config.conditions
    assert replace(plain, name="other").condition_id == plain.condition_id != docs.condition_id
    assert replace(config.agent, name="other").agent_id == config.agent.agent_id
    assert replace(config.judges[0], name="other").judge_id == config.judges[0].judge_id


def test_what_a_judge_scores_on_is_part_of_its_identity() -> None:
    """Judgments on another scale are never pooled."""
    assert judge(most=1).judge_id == judge(most=1).judge_id != judge(most=2).judge_id


def test_a_gate_that_is_new_and_not_set_changes_no_identity() -> None:
    """What older logs recorded of a condition's gates is what is written today."""
    assert set(Gates().as_written()) == {"require_mcp_tool_use", "require_mcp_tool_success"}
    assert Gates(retry_gates=True).as_written()["retry_gates"] is True


def test_missing_variables_are_told_for_the_sections_that_need_them(path: Path) -> None:
    """All of a config, or those of some of its keys; one that is set, though empty, is not missing."""
    config = load(path, environ={})
    assert config.missing_variables() == ["DOCS_TOKEN", "TEAM"]
    assert config.missing_variables("mcp_servers", "dataset") == ["DOCS_TOKEN"]
    assert load(path, environ={"TEAM": ""}).missing_variables() == ["DOCS_TOKEN"]


@pytest.mark.parametrize(
    ("only_for", "sample", "is_for"),
    [
        ({}, {"dataset": "a"}, True),
        ({"dataset": "a"}, {"dataset": "a"}, True),
        ({"dataset": ["a", "b"]}, {"dataset": "b"}, True),
        ({"dataset": "a"}, {"dataset": "c"}, False),
        ({"dataset": "a"}, {}, False),
        ({"dataset": "a", "level": 1}, {"dataset": "a", "level": 2}, False),
        ({"level": 1}, {"level": 1.0}, True),
        ({"level": 1}, {"level": True}, False),
        ({"level": True}, {"level": 1}, False),
        ({"level": "1"}, {"level": 1}, False),
        ({"tags": "hard"}, {"tags": ["billing", "hard"]}, True),
        ({"tags": ["hard", "easy"]}, {"tags": ["billing"]}, False),
        ({"tags": "hard"}, {"tags": []}, False),
    ],
)
def test_a_judge_is_for_the_samples_with_these_values(
    only_for: JsonObject, sample: JsonObject, *, is_for: bool
) -> None:
    """Every field that is named has the value, or one of those that are listed; nothing else is close enough.

    A list has each of its elements, as for groups of samples.
    """
    assert (replace(judge(), only_for=only_for).not_for(sample) is None) == is_for


@pytest.mark.parametrize(
    ("sample", "said"),
    [
        ({"meta.level": None}, "its meta.level is null"),
        ({"meta": {"depth": 1}}, "it has no field meta.level"),
        (
            {"meta": {"level": "L1"}},
            (
                "its meta.level stands inside a field, and only_for names a field: "
                "`fields: {level: {field: meta.level}}` in the dataset makes level one"
            ),
        ),
    ],
)
def test_a_judge_says_what_it_found_where_it_wants_a_field(sample: JsonObject, said: str) -> None:
    """What is null, what is missing, and what only a path leads to are told apart."""
    told = replace(judge(), only_for={"meta.level": "L1"}).not_for(sample)
    assert told == f"the judge is not for this sample: {said}"


def test_a_judge_is_asked_about_samples_that_it_is_for_and_can_judge() -> None:
    """Nobody is asked about another one, nor where there is no golden answer for a judge that needs one."""
    of_level = replace(exact_judge(), only_for={"level": 1})
    assert of_level.asks_about({"level": 1, "answer": "A"})
    assert not of_level.asks_about({"level": 2, "answer": "A"})
    assert not of_level.asks_about({"level": 1})


def test_what_a_judge_is_for_is_part_of_it() -> None:
    """Another choice of samples is another judge, and the field that decides is one that its judgments depend on."""
    chosen = replace(judge(), only_for={"level": 1})
    assert chosen.judge_id != judge().judge_id
    assert chosen.sample_fields == ("question", "answer", "level")
    assert replace(judge(), only_for={"answer": "A"}).sample_fields == judge().sample_fields == ("question", "answer")
