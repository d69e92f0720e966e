"""Properties of the records for Every Eval Ever."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import jsonschema
import orjson
import pytest

from keval import ids
from keval.formats.every_eval_ever import EveryEvalEver
from keval.ids import JsonObject
from tests.builders import (
    AGENT,
    judge_entry,
    judgment_event,
    plan_event,
    response_event,
    run_event,
    sample,
    sample_change_event,
)
from tests.exporting import exported

SCHEMAS = Path(__file__).parents[4] / "shared" / "eee"
"""The schemas are not part of the package; they lie beside a checkout or nowhere."""
FILES = {"0.3.0": ("eval.head.json", "inst.head.json"), "0.2.1": ("eval.0.2.1.json", "inst.0.2.1.json")}
CALL = {
    "type": "tool_call", "id": "t1", "name": "mcp__docs__search", "server": "docs", "input": {"query": "q", "n": 3},
    "result": "found", "error": False, "duration_ms": 5,
}  # fmt: skip
RESULTS = "evaluation_results"
TEXT = {"type": "text", "text": "An answer."}


def log(**changes: object) -> list[JsonObject]:
    """Return a log of two conditions, one of which calls a tool."""
    plain = [response_event(sample, "A", text="An answer.", turns=[TEXT]) for sample in ("q1", "q2")]
    calling = [response_event(sample, "B", text="An answer.", turns=[CALL, TEXT]) for sample in ("q1", "q2")]
    answers = [*plain, *calling]
    return [run_event(["A", "B"], samples=2), *answers, *(judgment_event(each) | changes for each in answers)]


def records(
    folder: Path,
    events: list[JsonObject],
    *,
    everything: bool = False,
    **options: Any,  # noqa: ANN401 - of any type
) -> list[tuple[JsonObject, list[JsonObject]]]:
    """Return each record with the rows of its answers."""
    found = []
    for path in exported(EveryEvalEver(**options), events, folder / "out", everything=everything):
        if path.suffix == ".json":
            record = orjson.loads(path.read_bytes())
            rows = (folder / "out" / record["detailed_evaluation_results"]["file_path"]).read_bytes()
            assert hashlib.sha256(rows).hexdigest() == record["detailed_evaluation_results"]["checksum"]
            found.append((record, list(map(orjson.loads, rows.splitlines()))))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("version", FILES)
def test_records_and_rows_are_valid_by_the_published_schemas(version: str, tmp_path: Path) -> None:
    """Both versions, for answers with and without tools."""
    if not SCHEMAS.is_dir():
        pytest.skip("the schemas of Every Eval Ever are not beside this checkout")
    whole, row_schema = (orjson.loads((SCHEMAS / name).read_bytes()) for name in FILES[version])
    for record, rows in records(tmp_path, log(), schema_version=version):
        jsonschema.Draft7Validator(whole).validate(record)
        for row in rows:
            jsonschema.Draft7Validator(row_schema).validate(row)


def test_an_answer_without_a_turn_does_not_say_how_many(tmp_path: Path) -> None:
    """The format's least number is 1, and an import may have 0."""
    answer = response_event("q1", "A", num_turns=0)
    ((_, rows),) = records(tmp_path, [run_event(["A"], samples=1), answer, judgment_event(answer)])
    assert [row["evaluation"]["num_turns"] for row in rows] == [None]


@pytest.mark.slow
def test_each_row_belongs_to_one_result_of_its_record(tmp_path: Path) -> None:
    """By the record's id and the result's; the record says how many rows there are, and their mean is the result's."""
    for record, rows in records(tmp_path, log()):
        results = {result["evaluation_result_id"]: result["score_details"]["score"] for result in record[RESULTS]}
        assert {row["evaluation_id"] for row in rows} == {record["evaluation_id"]}
        assert record["detailed_evaluation_results"]["total_rows"] == len(rows)
        for result, mean in results.items():
            scores = [row["evaluation"]["score"] for row in rows if row["evaluation_result_id"] == result]
            assert sum(scores) / len(scores) == pytest.approx(mean)


@pytest.mark.slow
def test_a_reference_is_the_newest_golden_answer(tmp_path: Path) -> None:
    """As that by which the answer was scored; of another question's none is taken."""
    newest = [sample("q1") | {"answer": "Corrected."}, sample("q2", "Why not?") | {"answer": "Corrected."}]
    events = [*log(), *(sample_change_event(each, "answer") for each in newest)]
    events += [
        judgment_event(each | {"sample": newest[0], "sample_sha256": ids.sample_sha256(newest[0])})
        for each in events
        if each["type"] == "response" and each["sample"]["id"] == "q1"
    ]
    told = {(row["sample_id"], *row["input"]["reference"]) for _, rows in records(tmp_path, events) for row in rows}
    assert told == {("q1", "Corrected."), ("q2", "Because.")}


@pytest.mark.slow
def test_correct_is_what_passes(tmp_path: Path) -> None:
    """As the judge says, else from the metric's threshold on; where there is none only the highest score is."""
    metrics = [{"name": "graded", "min": 1, "max": 5, "pass_from": 4}, {"name": "plain", "min": 1, "max": 5}]
    expected = {
        ("graded", 4, None): True,
        ("graded", 3, None): False,
        ("graded", 5, False): False,
        ("graded", 2, True): True,
        ("plain", 4, None): False,
        ("plain", 5, None): True,
    }
    events = [run_event(["A"], samples=len(expected), judges=[judge_entry(metrics)])]
    for number, (metric, score, passed) in enumerate(expected):
        answer = response_event(f"q{number}", "A")
        judgment = judgment_event(answer, {metric: score})
        judgment["scores"][metric]["passed"] = passed
        events += [answer, judgment]
    ((_, rows),) = records(tmp_path, events)
    found = [row["evaluation"] for row in sorted(rows, key=lambda row: str(row["sample_id"]))]
    assert [(each["score"], each["is_correct"]) for each in found] == [
        (score, correct) for (_, score, _), correct in expected.items()
    ]


@pytest.mark.slow
def test_two_versions_of_a_judge_are_told_apart(tmp_path: Path) -> None:
    """Their results have ids and descriptions of their own, and each row says which version gave its score."""
    answer = response_event("q1", "A")
    versions = ["a" * 16, "b" * 16]
    judged = [judgment_event(answer, judge_id=judge_id) for judge_id in versions]
    run = run_event(["A"], samples=1, judges=[judge_entry(judge_id=judge_id) for judge_id in versions])
    ((record, rows),) = records(tmp_path, [run, answer, *judged])
    told = [result["metric_config"] for result in record[RESULTS]]
    assert [each["metric_id"] for each in told] == [f"keval.rubric.{version}.completeness" for version in versions]
    assert len({each["evaluation_description"] for each in told}) == 2
    assert [row["metadata"]["judge_id"] for row in rows] == versions
    (tmp_path / "other").mkdir()
    ((alone, _),) = records(tmp_path / "other", [run | {"judges": run["judges"][:1]}, answer, judged[0]])
    assert alone[RESULTS][0]["metric_config"]["metric_id"] == "keval.rubric.completeness"


@pytest.mark.slow
def test_correct_is_the_same_of_an_answer_that_is_planned_no_more(tmp_path: Path) -> None:
    """Whoever exports all answers gets those of an earlier plan by the same threshold."""
    judges = [judge_entry([{"name": "completeness", "min": 1, "max": 5, "pass_from": 4}])]
    answers = [response_event("q1", "A", number) for number in (1, 2)]
    plan = plan_event([answers[0]["question_id"]])
    runs = [
        run_event(["A"], samples=1, repetitions=number, plan_id=plan["plan_id"], judges=judges, id=f"{number}" * 16)
        for number in (2, 1)
    ]
    events = [runs[0], plan, *answers, *(judgment_event(answer, 4) for answer in answers), runs[1]]
    ((_, rows),) = records(tmp_path, events, everything=True)
    assert [row["evaluation"]["is_correct"] for row in rows] == [True, True]


@pytest.mark.slow
def test_the_standard_error_is_the_larger_one(tmp_path: Path) -> None:
    """As the interval has it: of clusters within which samples differ most, the one by clusters is too small."""
    run = run_event(["A"], samples=12)
    run["config"]["dataset"] = {"cluster_key": "cluster"}
    answers = [response_event(f"q{number:02}", "A") for number in range(12)]
    for number, answer in enumerate(answers):
        answer["sample"]["cluster"] = f"c{number // 2}"
    judged = [judgment_event(answer, (5, 1.5, 4, 2)[number % 4]) for number, answer in enumerate(answers)]
    ((record, _),) = records(tmp_path, [run, *answers, *judged])
    about = record[RESULTS][0]["score_details"]["uncertainty"]
    assert about["standard_error"]["value"] == pytest.approx(about["standard_deviation"] / 12**0.5)


@pytest.mark.slow
def test_each_repetition_has_a_row_of_what_it_did_itself(tmp_path: Path) -> None:
    """Its own text, kind and tool calls: none speaks for the others."""
    turns: list[list[JsonObject]] = [[CALL], [], [CALL, CALL]]
    answers = [
        response_event("q1", "A", number, text=f"Answer {number}.", turns=[*made, TEXT | {"text": f"Answer {number}."}])
        for number, made in enumerate(turns, 1)
    ]
    events = [run_event(["A"], samples=1, repetitions=3), *answers, *map(judgment_event, answers)]
    ((_, rows),) = records(tmp_path, events)
    found = {
        row["metadata"]["repetition"]: (
            row["answer_attribution"][0]["extracted_value"],
            row["interaction_type"],
            row["evaluation"]["tool_calls_count"],
        )
        for row in rows
    }
    assert found == {
        "1": ("Answer 1.", "agentic", 1),
        "2": ("Answer 2.", "single_turn", 0),
        "3": ("Answer 3.", "agentic", 2),
    }


@pytest.mark.slow
def test_answers_with_tools_are_conversations(tmp_path: Path) -> None:
    """The call and its result are messages of their own, and the last one is the answer."""
    by_type = {rows[0]["interaction_type"]: rows for _, rows in records(tmp_path, log())}
    plain, calling = by_type["single_turn"], by_type["agentic"]
    assert (plain[0]["output"], plain[0]["messages"]) == ({"raw": ["An answer."]}, None)
    assert [message["role"] for message in calling[0]["messages"]] == ["user", "assistant", "tool", "assistant"]
    assert calling[0]["messages"][1]["tool_calls"][0]["arguments"] == {"query": "q", "n": "3"}
    (attributed,) = calling[0]["answer_attribution"]
    assert calling[0]["messages"][attributed["turn_idx"]]["content"] == attributed["extracted_value"] == "An answer."


@pytest.mark.slow
def test_each_condition_is_by_the_model_that_answered_it(tmp_path: Path) -> None:
    """Conditions of an import may be models."""
    models = {"A": ["one"], "B": ["two"]}
    events = [
        event | {"models": models[event["condition"]]} if event["type"] == "response" else event for event in log()
    ]
    found = {record["model_info"]["name"] for record, _ in records(tmp_path, events)}
    assert found == {"one", "two"}


@pytest.mark.slow
@pytest.mark.parametrize(("answered_by", "model"), [([], "given"), (["one", "two"], "agent")])
def test_where_no_service_names_the_model_it_is_that_of_the_config(
    tmp_path: Path, answered_by: list[str], model: str
) -> None:
    """Of several models the answers are by none of them alone."""
    agent = {**AGENT, "name": "agent", "model": "given"}
    events = [
        event | {"models": answered_by, "agent": agent} if event["type"] == "response" else event for event in log()
    ]
    events[0]["agent"] |= agent
    assert {record["model_info"]["name"] for record, _ in records(tmp_path, events)} == {model}


@pytest.mark.slow
def test_answers_without_a_run_event_are_by_the_agent_that_they_name(tmp_path: Path) -> None:
    """Each answer says who gave it, so nothing is unknown where no run is described."""
    agent = {"name": "Claude", "type": "claude_code", "model": "claude-sonnet-5"}
    events = [event | {"agent": agent} if event["type"] == "response" else event for event in log()[1:]]
    for record, _ in records(tmp_path, events):
        assert record["model_info"]["id"] == "anthropic/claude-sonnet-5"
        assert record[RESULTS][0]["generation_config"]["additional_details"]["agent_type"] == "claude_code"


@pytest.mark.slow
def test_answers_of_the_mock_are_by_no_model(tmp_path: Path) -> None:
    """Numbers of a rehearsal must never stand beside those of the model in whose place it stood."""
    events = [event | {"mock": True} if event["type"] in {"response", "judgment"} else event for event in log()]
    assert {record["model_info"]["name"] for record, _ in records(tmp_path, events)} == {"keval-mock"}
