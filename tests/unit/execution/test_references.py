from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import orjson
import pytest

from keval import projections
from keval.config.reader import load
from keval.errors import InputError
from keval.execution.references import judge_references, references_log
from keval.ids import JsonObject
from keval.mock import Mock
from keval.preparation.request import Request
from keval.reports.references import READ, References, references
from tests.conftest import Keval

CONFIG = """\
name: refs
dataset: {path: questions.jsonl}
agent: {type: echo}
conditions:
  plain: {system_prompt: "Answer."}
execution: {retry: {max_attempts: 1, initial_backoff_s: 0}}
judges:
"""
EXACT = "  - {type: exact_match}\n"
RUBRIC = "  - {type: rubric, model: claude-opus-5}\n"
GATE = "gate: {rules: [exact_match of plain >= 1]}\n"
SUM = {"id": "sum", "question": "2+2?", "answer": "4"}
CAPITAL = {"id": "capital", "question": "Of France?", "answer": "Paris", "reference": "The capital is Paris."}


def with_config(folder: Path, samples: Sequence[JsonObject], judges: str = EXACT) -> Path:
    (folder / "questions.jsonl").write_text("".join(json.dumps(sample) + "\n" for sample in samples))
    config = folder / "eval.yaml"
    config.write_text(CONFIG + judges)
    return config


def log_of(folder: Path) -> Path:
    return folder / references_log(load(folder / "eval.yaml"), mock=False)


def judged(folder: Path, *, mock_url: str | None = None, pass_from: Mapping[str, float] | None = None) -> References:
    """Judge the references of the folder's config and return what the judges say."""
    request = Request(mock_url=mock_url, quiet=True)
    judge_references(load(folder / "eval.yaml", environ={}), log_of(folder), request, lambda _: None)
    with projections.connect([log_of(folder)], tools=False, asked=READ) as connection:
        return references(connection, pass_from or {})


def refused(found: References) -> list[tuple[str, str, float | None, str | None]]:
    return [(each.sample_id, each.judge, each.score, each.failure) for each in found.refused]


def judgments(folder: Path) -> list[str]:
    """Return the samples of all judgments in the log of references, in their order."""
    lines = map(orjson.loads, log_of(folder).read_bytes().splitlines())
    return [event["sample_id"] for event in lines if event["type"] == "judgment"]


@pytest.mark.slow
def test_the_command_names_what_is_refused(keval: Keval, tmp_path: Path) -> None:
    """Each refused reference is named with its score, the exit code is 1, and the run's own log is not touched."""
    done = keval("validate-refs", with_config(tmp_path, [SUM, CAPITAL]))
    assert done.returncode == 1, done.stderr
    assert done.stdout == "FAILED     capital: exact_match/exact_match 0: no reason given\nreferences: 2, failed: 1\n"
    assert not (tmp_path / "refs.jsonl").exists()
    lines = keval("validate-refs", tmp_path / "eval.yaml", "-f", "jsonl").stdout.splitlines()
    assert [(row["id"], row["pass"]) for row in map(json.loads, lines)] == [("sum", True), ("capital", False)]


@pytest.mark.slow
def test_a_reference_that_no_judge_has_a_score_for_is_named(tmp_path: Path) -> None:
    """A golden answer that names no choice fits no judge of choices: that is no pass; another judge's score is one."""
    samples: list[JsonObject] = [
        {"id": "mmlu", "question": "2+2?", "answer": "1", "choices": ["3", "4"]},
        SUM | {"choices": ["3", "4"]},
    ]
    with_config(tmp_path, samples, "  - {type: choice}\n")
    found = judged(tmp_path)
    assert {name: each.reason for name, each in found.unjudged.items()} == {
        "mmlu": "the golden answer names none of the choices"
    }
    with_config(tmp_path, samples, "  - {type: choice}\n" + EXACT)
    assert not judged(tmp_path).unjudged


@pytest.mark.slow
def test_references_that_all_pass_are_no_failure(tmp_path: Path) -> None:
    """A sample without `reference` is judged by its golden answer, which exact_match always accepts."""
    with_config(tmp_path, [SUM])
    found = judged(tmp_path)
    assert (found.number, refused(found)) == (1, [])


@pytest.mark.slow
def test_a_gate_of_the_config_is_about_its_conditions(tmp_path: Path) -> None:
    """References are of none of them, so that no rule is read for them."""
    with_config(tmp_path, [{"id": "1", "question": "Q", "answer": "Paris"}], EXACT + GATE)
    assert refused(judged(tmp_path)) == []


@pytest.mark.slow
def test_no_reference_is_judged_twice(tmp_path: Path) -> None:
    """A second call adds nothing; a corrected reference is judged again, and only that one."""
    with_config(tmp_path, [SUM, CAPITAL])
    assert refused(judged(tmp_path)) == [("capital", "exact_match", 0.0, None)]
    before = log_of(tmp_path).read_bytes()
    judged(tmp_path)
    assert log_of(tmp_path).read_bytes() == before
    with_config(tmp_path, [SUM, CAPITAL | {"reference": "Paris"}])
    assert refused(judged(tmp_path)) == []
    assert judgments(tmp_path) == ["sum", "capital", "capital"]


@pytest.mark.slow
def test_a_reference_that_left_the_dataset_counts_no_more(tmp_path: Path) -> None:
    """What the log holds of samples that are gone is in no count and fails nothing."""
    with_config(tmp_path, [SUM, CAPITAL])
    judged(tmp_path)
    with_config(tmp_path, [SUM])
    found = judged(tmp_path)
    assert (found.number, refused(found)) == (1, [])


@pytest.mark.slow
def test_a_sample_that_comes_back_counts_again(tmp_path: Path) -> None:
    """A run is recorded also where its plan and all of its references are in the log already, and then only once."""
    for samples in ([SUM, CAPITAL], [SUM], [SUM, CAPITAL]):
        with_config(tmp_path, samples)
        assert judged(tmp_path).number == len(samples)
    before = log_of(tmp_path).read_bytes()
    judged(tmp_path)
    assert log_of(tmp_path).read_bytes() == before


@pytest.mark.slow
def test_the_references_of_a_mock_run_are_none_to_a_real_one(tmp_path: Path) -> None:
    """Each is written anew, so that what counts as real holds no stand-in's; a mock run takes real ones as they are."""
    with_config(tmp_path, [SUM, CAPITAL])
    with Mock() as service:
        for mock_url in (service.base_url, None, service.base_url):
            assert judged(tmp_path, mock_url=mock_url).number == 2
    events = list(map(orjson.loads, log_of(tmp_path).read_bytes().splitlines()))
    for type_ in ("response", "judgment"):
        assert [event["mock"] for event in events if event["type"] == type_] == [True, True, False, False]


@pytest.mark.slow
def test_a_metric_that_only_grades_fails_by_the_users_threshold(tmp_path: Path) -> None:
    """Nobody guesses from which grade on a reference passes: nothing does, or the user says it."""
    half = SUM | {"answer": "Four apples and seven pears", "reference": "Four apples"}
    with_config(tmp_path, [half], RUBRIC)
    with Mock() as service:
        graded = judged(tmp_path, mock_url=service.base_url)
        strict = judged(tmp_path, mock_url=service.base_url, pass_from={"completeness": 5})
    assert graded.undecided == (
        "rubric/factual_adherence", "rubric/completeness", "rubric/helpfulness_and_clarity",
    )  # fmt: skip
    assert (refused(graded), refused(strict)) == ([], [("sum", "rubric", 3.0, None)])
    assert "rubric/completeness" not in strict.undecided


@pytest.mark.slow
def test_a_judge_that_fails_is_no_pass(tmp_path: Path) -> None:
    """A reference that could not be judged is named with the kind of failure: never a number, never a pass."""
    with_config(tmp_path, [SUM], RUBRIC)
    with Mock(errors="529:1") as service:
        found = judged(tmp_path, mock_url=service.base_url)
    assert refused(found) == [("sum", "rubric", None, "judge_error")]


@pytest.mark.slow
def test_a_judge_that_breaks_on_one_reference_judges_the_others(tmp_path: Path) -> None:
    """An exception is told of its own reference, and neither ends the command nor takes the others with it."""
    (tmp_path / "own.py").write_text("def right(case):\n    return 1 / (case['response'] != '4') > 0\n")
    with_config(tmp_path, [CAPITAL, SUM, CAPITAL | {"id": "again"}], '  - {type: python, function: "own.py:right"}\n')
    found = judged(tmp_path)
    assert refused(found) == [("sum", "python", None, "judge_error")]
    assert judgments(tmp_path) == ["capital", "again"]


@pytest.mark.slow
def test_a_sample_without_any_reference_is_left_out(tmp_path: Path) -> None:
    """Where there are no golden answers, the samples with a `reference` are judged."""
    config = with_config(tmp_path, [{"id": "a", "question": "?", "reference": "x"}, {"id": "b", "question": "!"}])
    config.write_text(config.read_text().replace("questions.jsonl}", "questions.jsonl, answer_key: null}"))
    assert judged(tmp_path).number == 1


def test_a_reference_that_is_no_text_is_an_error(tmp_path: Path) -> None:
    """Nothing is turned into text: the sample is named, and nothing is judged."""
    with_config(tmp_path, [SUM | {"reference": 4}])
    with pytest.raises(InputError, match="sample 'sum': its reference must be a string"):
        judged(tmp_path)
    assert not log_of(tmp_path).exists()
