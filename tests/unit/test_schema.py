from __future__ import annotations

import subprocess
import sys
from typing import Any

import jsonschema_rs
import orjson
import pytest

from keval import schema
from keval.schema import Problem


def config(**changes: object) -> dict[str, Any]:
    """Return a valid config with some keys replaced."""
    return {
        "name": "docs",
        "dataset": {"path": "questions.jsonl"},
        "agent": {"type": "echo"},
        "conditions": {"baseline": {"system_prompt": "Answer."}},
        **changes,
    }


def judgment(**changes: object) -> dict[str, Any]:
    """Return a valid judgment with some keys replaced."""
    return {
        "type": "judgment",
        "v": 1,
        "id": "j1",
        "time": "2026-11-20T11:00:00.123Z",
        "run_id": "r1",
        "response_id": "a1",
        "sample_id": "q1",
        "condition": "baseline",
        "condition_id": "c1",
        "repetition": 1,
        "agent_id": "g1",
        "judge": {"name": "rubric", "type": "rubric", "model": None},
        "judge_id": "d1",
        "replicate": 1,
        "sample_fields": ["question", "answer"],
        "sample_sha256": "s",
        "answer_sha256": "a",
        "scores": {"completeness": score(4)},
        "unverified_claims": [],
        "outcome": None,
        "usage": None,
        "cost_usd": None,
        "duration_ms": None,
        **changes,
    }


def score(value: float) -> dict[str, object]:
    """Return one metric's score on a scale from 1 to 5."""
    return {"score": value, "reasoning": None, "min": 1, "max": 5, "passed": None}


def test_all_problems_are_found_at_once_in_the_order_of_their_paths() -> None:
    """Nothing hides behind the first problem."""
    broken = config(name="a b", judge={"type": "rubric", "replicates": 0}, execution={"seed": -1, "repetitions": "3"})
    del broken["dataset"]
    assert [f"{problem.path}: {problem.message}" for problem in schema.problems("config", broken)] == [
        "$: 'dataset' or 'datasets' is missing",
        "$.execution.repetitions: expected an integer, found '3'",
        "$.execution.seed: -1 is less than 0",
        "$.judge.replicates: 0 is less than 1",
        "$.name: 'a b' is not a name of letters, digits, '.', '_' and '-'",
    ]


def test_items_of_an_array_are_told_in_their_order() -> None:
    """The tenth item comes after the second."""
    servers = [0 if index in {2, 10} else str(index) for index in range(11)]
    broken = config(conditions={"baseline": {"system_prompt": "Answer.", "mcp_servers": servers}})
    paths = [problem.path for problem in schema.problems("config", broken) if problem.path.endswith("]")]
    assert paths == ["$.conditions.baseline.mcp_servers[2]", "$.conditions.baseline.mcp_servers[10]"]


def test_every_missing_and_every_unknown_key_is_a_problem_of_its_own() -> None:
    """Two keys of one object that are missing, and two that are unknown, make four problems."""
    broken = config(x=1, y=2)
    del broken["name"], broken["agent"]
    assert schema.problems("config", broken) == [
        Problem("$", "'agent' is missing", ()),
        Problem("$", "'name' is missing", ()),
        Problem("$.x", "unknown key 'x'", ("x",)),
        Problem("$.y", "unknown key 'y'", ("y",)),
    ]


def test_an_unknown_key_is_where_it_stands_and_gets_the_nearest_known_one() -> None:
    """The keys of the problem lead to the unknown key itself, whose line can then be found."""
    broken = config(execution={"retry": {"max_atempts": 3}})
    assert schema.problems("config", broken) == [
        Problem(
            "$.execution.retry.max_atempts",
            "unknown key 'max_atempts'; did you mean 'max_attempts'?",
            ("execution", "retry", "max_atempts"),
        )
    ]


def test_a_key_that_is_there_is_not_suggested() -> None:
    """Whoever has both `seed` and `seeds` did not mean `seed` by `seeds`."""
    [problem] = schema.problems("config", config(execution={"seed": 1, "seeds": 2}))
    assert problem.message == "unknown key 'seeds'"


@pytest.mark.parametrize(
    ("key", "path"),
    [
        ("with-docs", "$.conditions.with-docs"),
        ("mit_ü", "$.conditions.mit_ü"),
        ("v1.2", "$.conditions['v1.2']"),
        ("two words", "$.conditions['two words']"),
        ("1st", "$.conditions['1st']"),
        ("line\nbreak", "$.conditions['line\\nbreak']"),
    ],
)
def test_a_key_that_is_no_plain_word_is_quoted_in_a_path(key: str, path: str) -> None:
    """A path can be read without doubt, on one line, whatever the key holds."""
    assert schema.problems("config", config(conditions={key: None})) == [
        Problem(path, "expected an object, found null", ("conditions", key))
    ]


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "null"),
        (True, "true"),
        (3, "3"),
        (0.5, "0.5"),
        ({"a": 1}, "an object"),
        (["a"], "an array"),
        (float("nan"), "nan"),
    ],
)
def test_a_value_is_shown_as_json_names_it(value: object, shown: str) -> None:
    """Messages speak of null, true, objects and arrays, not of Python."""
    [problem] = schema.problems("sample", {"question": "Why?", "answer": value})
    assert problem.message == f"expected a string, found {shown}"


def test_a_long_value_is_cut_with_a_mark() -> None:
    """A whole answer never stands in a message."""
    [problem] = schema.problems("config", config(name="a b" * 30))
    assert "…" in problem.message
    assert len(problem.message) < 150


def test_names_of_conditions_that_yaml_made_numbers_are_told() -> None:
    """A key that is no text, which YAML allows, is a problem and not a crash."""
    broken = config(conditions={1: {"system_prompt": "Answer."}, None: {"system_prompt": "Answer."}})
    assert [f"{problem.path}: {problem.message}" for problem in schema.problems("config", broken)] == [
        "$.conditions[1]: expected a string, found 1",
        "$.conditions[None]: expected a string, found null",
    ]


def test_a_valid_event_has_no_problem() -> None:
    """None is the answer for an event that may be written."""
    assert schema.event_problem(judgment()) is None


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (7, "$.scores.completeness.score: 7 is more than 5"),
        (0, "$.scores.completeness.score: 0 is less than 1"),
        (5.000001, "$.scores.completeness.score: 5.000001 is more than 5"),
        (1, None),
        (5, None),
    ],
)
def test_a_score_lies_within_its_own_scale(value: float, problem: str | None) -> None:
    """A judgment's score outside its min and max is refused, though no schema can say so."""
    assert schema.event_problem(judgment(scores={"completeness": score(value)})) == problem


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_a_number_that_json_cannot_hold_is_refused(value: float) -> None:
    """What would be written as null, the sign of the unknown, is refused before, with words."""
    problem = schema.event_problem(judgment(cost_usd=value))
    assert problem == f"$.cost_usd: expected a number or null, found {value}"
    assert schema.event_problem(judgment(scores={"m": score(value)})) == (
        f"$.scores.m.score: expected a number or null, found {value}"
    )


def test_tuples_are_arrays() -> None:
    """Events made in Python may hold tuples, which JSON writes as arrays."""
    assert schema.event_problem(judgment(unverified_claims=("a", "b"))) is None
    assert schema.event_problem(judgment(unverified_claims=("a", 3))) == (
        "$.unverified_claims[1]: expected a string, found 3"
    )


def test_numbers_larger_than_any_float_are_numbers() -> None:
    """A whole number of any size is compared, not converted."""
    [problem] = schema.problems("config", config(execution={"timeout_s": -(10**400)}))
    assert problem.message.endswith("… is not more than 0")


@pytest.mark.parametrize("event_type", [None, 3, ["run"], {"run": 1}])
def test_a_type_that_is_no_text_is_told(event_type: object) -> None:
    """Any JSON value may stand where the type should be."""
    problem = schema.event_problem(judgment(type=event_type))
    assert problem is not None
    assert problem.startswith("$.type: expected a string, found ")


@pytest.mark.parametrize("name", ["config", "judge", "sample", "event"])
def test_a_schema_that_is_no_event_is_no_type(name: str) -> None:
    """An event whose type is called like another schema is an event of an unknown type."""
    assert schema.event_problem(judgment(type=name)) is None


def test_a_schema_is_printed_as_it_is_written() -> None:
    """The text of a schema is its file, which any reader of JSON understands."""
    assert (schema.locate() / "run.schema.json").read_text(encoding="utf-8") == schema.text("run")
    assert orjson.loads(schema.text("run"))["title"] == "run"


@pytest.mark.parametrize("name", schema.names())
def test_a_document_needs_no_other_file(name: str) -> None:
    """Any validator can use a schema's document by itself, without a registry or a network."""
    assert not jsonschema_rs.validator_for(schema.document(name), offline=True).is_valid(3)


def test_importing_the_module_loads_no_validator() -> None:
    """Commands that check nothing do not pay for the validators."""
    script = (
        "import sys, keval.schema as s; s.names(); s.document('event'); "
        "assert not {'jsonschema', 'jsonschema_rs'} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_deciding_does_not_load_what_explains() -> None:
    """A log without faults is read without the slower validator."""
    script = (
        "import sys, keval.schema as s; "
        "assert s.event_problem({'type': 'x', 'v': 1, 'id': 'a', 'time': '2026-11-20T11:00:00.123Z', 'run_id': 'r'})"
        " is None; assert 'jsonschema' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_schema_of_the_callers_own_is_explained_in_the_same_words() -> None:
    """What a model was asked for and has not given is said with its place."""
    asked = {"type": "object", "properties": {"score": {"enum": [1, 2]}}, "required": ["score"]}
    assert schema.problem_by(asked, {"score": 1}) is None
    assert schema.problem_by(asked, {"score": 3}) == "$.score: 3 is not one of 1, 2"
    assert schema.problem_by(asked, {}) == "$: 'score' is missing"


def test_a_path_quotes_what_is_no_plain_word() -> None:
    """A key with a dot or a space cannot be taken for two keys."""
    assert schema.json_path(("a", 0, "b-c", "d.e", "f g")) == "$.a[0].b-c['d.e']['f g']"
    assert len(schema.json_path(("k" * 1_000_000,))) < 150


def test_a_key_that_is_misspelt_is_not_missing_too() -> None:
    """One mistake is one problem, with the key that is meant."""
    found = schema.problems("config", {"agnet": {"type": "echo"}})
    assert [each.message for each in found if "agent" in each.message] == ["unknown key 'agnet'; did you mean 'agent'?"]
    event = judgment()
    event["repetitions"] = event.pop("repetition")
    assert schema.event_problem(event) == "$.repetitions: unknown key 'repetitions'; did you mean 'repetition'?"
