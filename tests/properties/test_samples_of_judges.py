"""Properties of what the log tells of samples that a judge is not for."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keval import ids
from keval.config.model import JudgeConfig
from keval.ids import JsonObject
from keval.judges.exact_match import ExactMatch
from tests.builders import (
    JUDGE_ID,
    ask,
    failure_event,
    judge_entry,
    judgment_event,
    response_event,
    run_event,
    sample_change_event,
    write_log,
)

SINGLE = st.sampled_from(["a", "1", "true", 'it is "a"', "", 1, 1.0, 2, 2.5, -0.0, 0, 2**60, 2**60 + 1, True, False])
FIELDS = st.sampled_from(["kind", "a.b", "$.kind", "it's", '"', "/", "*"])
HELD = st.one_of(SINGLE, st.none(), st.lists(st.one_of(SINGLE, st.just([1])), max_size=3), st.just({"kind": "a"}))
RECORDS = st.dictionaries(FIELDS, HELD, max_size=3)
ONLY_FOR = st.dictionaries(FIELDS, st.one_of(SINGLE, st.lists(SINGLE, min_size=1, max_size=3)), min_size=1, max_size=2)


def failed(sample_id: str, record: JsonObject) -> JsonObject:
    """Return the failure to answer a sample with more fields."""
    sample = {"id": sample_id, "question": "Why?", **record}
    return failure_event(response_event(sample_id), sample=sample, sample_sha256=ids.sample_sha256(sample))


def run_with(only_for: JsonObject) -> JsonObject:
    """Return a run whose judge is only for some samples."""
    return run_event(["baseline"], judges=[{**judge_entry(), "only_for": only_for}])


@pytest.mark.slow
@settings(max_examples=20)
@given(only_for=ONLY_FOR, records=st.lists(RECORDS, min_size=1, max_size=6))
def test_sql_finds_the_samples_that_python_finds(only_for: JsonObject, records: list[JsonObject]) -> None:
    """Whatever the fields are called and hold, a failed sample is one that the judge is not for, or neither says so."""
    judge = JudgeConfig("exact", "exact_match", ExactMatch(), 1, {}, only_for=only_for)
    events = [run_with(only_for), *(failed(f"q{number}", record) for number, record in enumerate(records))]
    with tempfile.TemporaryDirectory() as folder:
        found = {row["sample_id"] for row in ask(write_log(Path(folder) / "log.jsonl", events), "from not_for")}
    assert found == {event["sample"]["id"] for event in events[1:] if judge.not_for(event["sample"]) is not None}


def test_a_long_field_is_kept_in_no_table(tmp_path: Path) -> None:
    """A record may have megabytes, and there may be thousands that nobody answers."""
    log = write_log(
        tmp_path / "log.jsonl", [run_with({"kind": "words"}), failed("q1", {"kind": "a", "page": "x" * 5000})]
    )
    assert ask(log, "select map_keys(sample) as fields from declarations where sample is not null") == [
        {"fields": ["id", "question", "kind"]}
    ]
    assert ask(log, "select judge_id, sample_id from not_for") == [{"judge_id": JUDGE_ID, "sample_id": "q1"}]


@pytest.mark.parametrize("changed", [False, True])
def test_a_failure_counts_for_no_judge_that_is_not_for_its_sample(tmp_path: Path, *, changed: bool) -> None:
    """Nobody ever answered the sample, so no judgment says so: its newest record does."""
    response = response_event("q1")
    failure = failed("q2", {"kind": "sums" if changed else "words"})
    changes = [sample_change_event({**failure["sample"], "kind": "words"}, "kind")] if changed else []
    log = write_log(
        tmp_path / "log.jsonl",
        [run_with({"kind": ["sums", "lists"]}), response, judgment_event(response, 5), failure, *changes],
    )
    (counts,) = ask(log, "select scored, agent_failed, not_applicable, mean from condition_scores")
    assert counts == {"scored": 1, "agent_failed": 0, "not_applicable": 1, "mean": 5.0}
    assert ask(log, "select judge_id, sample_id from not_for") == [{"judge_id": JUDGE_ID, "sample_id": "q2"}]
