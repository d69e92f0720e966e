"""Which part of the work is done where the user chooses."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from keval import projections
from keval.cli import run as keval
from keval.config.model import Config
from keval.config.reader import load
from keval.errors import UsageError
from keval.ids import JsonObject
from keval.preparation.chosen import Chosen, Shard
from keval.preparation.tasks import work_list
from keval.projections import rows, sql_file
from keval.reports import builder
from tests.builders import response_event, run_event, write_log

CONFIG = """\
name: unit
dataset: {path: questions.jsonl}
agent: {type: echo}
conditions: {plain: {system_prompt: a}, with_docs: {system_prompt: b}}
judge: {type: exact_match}
execution: {repetitions: 2}
"""
SAMPLES: list[JsonObject] = [{"id": name, "question": name, "answer": "a"} for name in ("law-1", "law-2", "art[1]")]


@pytest.fixture
def config(tmp_path: Path) -> Config:
    (tmp_path / "questions.jsonl").write_text('{"question": "q", "answer": "a"}\n')
    (tmp_path / "eval.yaml").write_text(CONFIG)
    return load(tmp_path / "eval.yaml")


def test_tasks_are_chosen_by_names_and_patterns(config: Config) -> None:
    """All repetitions of what fits, in the order of the run; a name with brackets is a name first."""
    tasks = work_list(config, SAMPLES)
    chosen = Chosen(("law-*", "art[1]"), ("with*",)).of_tasks(tasks)
    expected = [task for task in tasks if task.condition.name == "with_docs"]
    assert [task.response_id for task in chosen] == [task.response_id for task in expected]
    assert {task.sample["id"] for task in Chosen(("law-2",)).of_tasks(tasks)} == {"law-2"}
    assert len(Chosen().of_tasks(tasks)) == len(tasks)


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        (Chosen(("law-3",)), "no sample 'law-3'; did you mean 'law-"),
        (Chosen((), ("with_doc",)), "no condition 'with_doc'; did you mean 'with_docs'"),
    ],
)
def test_a_name_that_nothing_has_is_an_error(chosen: Chosen, message: str, config: Config) -> None:
    """Before anything is paid, with what may be meant."""
    with pytest.raises(UsageError, match=message):
        chosen.of_tasks(work_list(config, SAMPLES))


def test_a_sample_beyond_the_limit_is_said_to_be_there(config: Config) -> None:
    """It is not misspelt; --limit leaves it out."""
    with pytest.raises(UsageError, match="'law-1' is beyond --limit"):
        Chosen(("law-1",)).of_tasks(work_list(config, SAMPLES[1:]), ["law-1"])


def test_a_name_that_no_answer_of_a_log_has_is_an_error() -> None:
    """As one that a config lacks, with what may be meant; patterns that fit something are taken."""
    Chosen(("law-*",), ("plain",)).check_known(["law-1", "art-1"], ["plain"])
    with pytest.raises(UsageError, match="the log has no sample 'lwa-1'; did you mean 'law-1'"):
        Chosen(("lwa-1",)).check_known(["law-1", "art-1"], ["plain"])


IDS = ("q1", "q2", "問1", "été", "[x]", "x")


@pytest.mark.parametrize(
    "chosen",
    [
        Chosen(),
        Chosen(("q?",)),
        Chosen(("q1",), ("base*",)),
        Chosen(("問?", "[é]*")),
        Chosen(("[x]",)),
        Chosen((), ("with_docs",)),
        Chosen(shard=Shard(1, 2)),
        Chosen(("q?",), (), Shard(2, 2)),
    ],
)
def test_responses_of_a_log_and_of_a_pipe_are_chosen_alike(chosen: Chosen, tmp_path: Path) -> None:
    """What SQL finds in a log is what fits one by one."""
    responses = [response_event(name, condition) for name in IDS for condition in ("baseline", "with_docs")]
    query = chosen.of_responses("select position from facts where type = 'response'")
    log = write_log(tmp_path / "run.jsonl", [run_event(), *responses])
    with projections.connect([log], texts=False, tools=False, asked=["facts", "config_conditions"]) as connection:
        places = {row["position"] for row in rows(connection, query)}
        found = {row["id"] for row in rows(connection, "from facts") if row["position"] in places}
    assert found == {response["id"] for response in responses if chosen.has(response)}


def test_a_condition_is_chosen_by_its_newest_name(tmp_path: Path) -> None:
    """An answer that was given under an earlier name of it is one of its own, as in every report."""
    answer = response_event("q1", "with_docs")
    renamed = run_event(id="later", run_id="later")
    renamed["conditions"]["with_wiki"] = renamed["conditions"].pop("with_docs")
    log = write_log(tmp_path / "run.jsonl", [run_event(), answer, renamed])
    with projections.connect([log], texts=False, tools=False, asked=["facts", "config_conditions"]) as connection:
        for name, number in (("with_wiki", 1), ("with_docs", 0)):
            chosen = Chosen((), (name,)).of_responses("select position from facts where type = 'response'")
            assert len(list(rows(connection, chosen))) == number
        assert list(rows(connection, sql_file.load("execution", "answered"))) == [
            {"sample_id": "q1", "condition": "with_wiki"}
        ]


@given(st.lists(st.text(min_size=1), unique=True), st.integers(1, 50))
def test_every_sample_is_in_one_part(ids: list[str], of: int) -> None:
    """Parts have no sample in common and together all of them, whatever the ids and however many parts."""
    parts = [{name for name in ids if Shard(number, of).has(name)} for number in range(1, of + 1)]
    assert set().union(*parts) == set(ids)
    assert sum(map(len, parts)) == len(ids)


def test_parts_are_about_equal() -> None:
    """A hash spreads samples that are numbered in order, too."""
    sizes = [sum(Shard(number, 8).has(f"sample-{place}") for place in range(8_000)) for number in range(1, 9)]
    assert min(sizes) > 850
    assert max(sizes) < 1_150


@pytest.mark.parametrize("written", ["0/4", "5/4", "4", "a/b", "1/0", "-1/4", "1/4/2", ""])
def test_what_is_no_part_is_refused(written: str) -> None:
    """With an example of what is one."""
    with pytest.raises(UsageError, match="such as 2/8"):
        Shard.read(written)


@pytest.mark.slow
def test_logs_of_all_parts_are_the_log_of_one_run(config: Config, tmp_path: Path) -> None:
    """`cat` merges them: the same answers and judgments, nothing missing; without one of them a report says so."""
    lines = [f'{{"id": "s{place}", "question": "q{place}", "answer": "a"}}' for place in range(12)]
    (tmp_path / "questions.jsonl").write_text("\n".join(lines))

    def made(log: str, *options: str) -> bytes:
        assert keval(["run", str(config.path), "-q", "-o", str(tmp_path / log), *options]) == 0
        return (tmp_path / log).read_bytes()

    whole = made("whole.jsonl")
    parts = [made(f"{number}.jsonl", "--shard", f"{number}/3") for number in (1, 2, 3)]
    assert _ids(b"".join(parts)) == _ids(whole)
    assert len(_ids(whole)) == 2 * 48
    (tmp_path / "merged.jsonl").write_bytes(b"".join(parts))
    (tmp_path / "two.jsonl").write_bytes(b"".join(parts[:2]))
    for log, is_complete in (("merged.jsonl", True), ("two.jsonl", False)):
        with projections.connect([tmp_path / log]) as connection:
            codes = [warning.code for warning in builder.compose(connection).warnings_first]
        assert ("incomplete" not in codes) == is_complete


def _ids(log: bytes) -> list[str]:
    """Return the ids of answers and judgments, each as often as it is there."""
    events = map(orjson.loads, log.splitlines())
    return sorted(event["id"] for event in events if event["type"] in ("response", "judgment"))
