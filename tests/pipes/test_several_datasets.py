"""Several datasets in one run, each with its own judge: what a judge is not for is in none of its numbers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from keval.config.reader import load
from keval.errors import InputError, UsageError
from keval.ids import JsonObject
from keval.preparation.prepared import prepare
from tests.conftest import Keval

CONFIG = """\
name: both
datasets:
  - {name: sums, path: sums.jsonl}
  - {name: words, path: words.csv, columns: [question, answer]}
agent: {type: command, command: [python, "{folder}/agent.py"]}
conditions:
  plain: {system_prompt: Answer.}
judges:
  - {type: exact_match, name: number, only_for: {dataset: sums}}
  - {type: exact_match, name: word, only_for: {dataset: [words]}}
execution: {repetitions: 2, retry: {max_attempts: 1}}
"""

AGENT = """\
import json, sys
task = json.load(sys.stdin)
if task["question"] == "3+3?" and task["repetition"] == 2:
    sys.exit("no idea")
print({"1+1?": "2", "3+3?": "6", "sky?": "green", "grass?": "green"}[task["question"]], end="")
"""
"""Fails once in the sums; one of the two words is right."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with two datasets, an agent and a config."""
    sums = [{"id": "two", "question": "1+1?", "answer": "2"}, {"id": "six", "question": "3+3?", "answer": "6"}]
    (tmp_path / "sums.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in sums))
    (tmp_path / "words.csv").write_text("sky?,blue\ngrass?,green\n")
    (tmp_path / "agent.py").write_text(AGENT)
    (tmp_path / "eval.yaml").write_text(CONFIG)
    return tmp_path


def events(log: Path) -> list[JsonObject]:
    """Return the events of a log."""
    return [json.loads(line) for line in log.read_text().splitlines()]


@pytest.mark.slow
def test_each_judge_counts_the_samples_that_it_is_for(keval: Keval, folder: Path) -> None:
    """The failed sum is the minimum to the judge of sums and nothing to that of words; nothing is missing."""
    log = folder / "run.jsonl"
    done = keval("run", folder / "eval.yaml", "-o", log, "-q", "-f", "json")
    assert done.returncode == 1, done.stderr
    run, *others = events(log)
    assert [part["name"] for part in run["dataset"]["parts"]] == ["sums", "words"]
    assert run["dataset"]["samples"] == 4
    responses = [each for each in others if each["type"] == "response"]
    assert {each["sample"]["question"]: each["sample"]["dataset"] for each in responses} == {
        "1+1?": "sums", "3+3?": "sums", "sky?": "words", "grass?": "words",
    }  # fmt: skip
    asked = keval("sql", log, "-f", "json", "SELECT * FROM condition_scores ORDER BY judge")
    names = ("judge", "n_samples", "mean", "scored", "agent_failed", "not_done", "not_applicable")
    assert [tuple(row[name] for name in names) for row in json.loads(asked.stdout)] == [
        ("number", 2, 0.75, 3, 1, 0, 4),
        ("word", 2, 0.5, 4, 0, 0, 4),
    ]
    assert "no judgment" not in done.stdout


@pytest.mark.slow
def test_there_is_nothing_more_to_judge(keval: Keval, folder: Path) -> None:
    """The log knows which judge is for which samples; another choice is another judge, which judges anew."""
    log = folder / "run.jsonl"
    assert keval("run", folder / "eval.yaml", "-o", log, "-q").returncode == 1
    written = log.read_bytes()
    assert "nothing to judge" in keval("judge", log).stderr
    assert log.read_bytes() == written
    (folder / "judge.yaml").write_text("{type: exact_match, name: other, only_for: {dataset: [words, sums]}}")
    assert keval("judge", log, "-j", folder / "judge.yaml", "-q").returncode == 0
    judgments = [each for each in events(log) if each["type"] == "judgment" and each["judge"]["name"] == "other"]
    assert [each["scores"]["exact_match"]["score"] is None for each in judgments] == [False] * 7


def test_a_limit_is_of_each_dataset(keval: Keval, folder: Path) -> None:
    """A pilot has samples of all."""
    done = keval("generate", folder / "eval.yaml", "--limit", "1", "-q")
    asked = [json.loads(line) for line in done.stdout.splitlines() if '"type":"response"' in line]
    assert sorted({each["sample"]["question"] for each in asked}) == ["1+1?", "sky?"]


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("name: words, ", "", "$.datasets[1]: 'name' is missing; each of several datasets has one"),
        ("name: words, ", "name: sums, ", "$.datasets[1].name: two datasets are called 'sums'"),
        ("agent:", "dataset: {path: sums.jsonl}\nagent:", "$.dataset: there is 'datasets' too"),
        ("{dataset: sums}", "{datset: sums}", "the judge 'number' is for none of the samples; the first one: the"),
        ("path: words.csv, columns: [question, answer]", "path: sums.jsonl", "the id 'two' is also the id of a"),
        ("{dataset: sums}", "{}", "$.judges[0].only_for: must not be empty"),
    ],
)
def test_what_cannot_be_meant_is_refused_before_anything_is_asked(folder: Path, old: str, new: str, told: str) -> None:
    """Names and ids tell datasets and samples apart, and a judge of nothing is a typing error."""
    config = folder / "eval.yaml"
    config.write_text(CONFIG.replace(old, new, 1))
    with pytest.raises((InputError, UsageError)) as caught:
        prepare(load(config, environ={}), None, warn=print)
    assert told in str(caught.value)
