"""Details are the numbers that a report's numbers are made of."""

from __future__ import annotations

from pathlib import Path

import pytest

from keval import projections
from keval.ids import JsonObject
from keval.reports.details import ConditionSamples, SampleDifferences, details
from tests.builders import failure_event, judgment_event, response_event, run_event, write_log

SCORES = {("q1", "baseline"): [3, 4], ("q1", "with_docs"): [5, 5], ("q2", "baseline"): [2, 2], ("q2", "with_docs"): [2]}


def events() -> list[JsonObject]:
    """Return answers to two samples, of which one repetition failed."""
    made = [run_event(["baseline", "with_docs"], samples=2, repetitions=2)]
    for (sample_id, condition), scores in SCORES.items():
        for repetition, score in enumerate(scores, 1):
            response = response_event(sample_id, condition, repetition=repetition)
            made += [response, judgment_event(response, score)]
    return [*made, failure_event(response_event("q2", "with_docs", repetition=2))]


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return their log."""
    return write_log(tmp_path_factory.mktemp("log") / "log.jsonl", events())


def test_details_are_means_scores_and_differences_of_samples(log: Path) -> None:
    """A failure of the agent counts in the mean as the worst score, and is at no score itself."""
    with projections.connect([log]) as connection:
        found = details(connection)
    with_docs, baseline = sorted(found.conditions, key=lambda each: each.scores)
    assert [type(each) for each in found.conditions] == [ConditionSamples, ConditionSamples]
    assert (baseline.means, baseline.scores) == ((("q2", 2.0), ("q1", 3.5)), ((2.0, 2), (3.0, 1), (4.0, 1)))
    assert (with_docs.means, with_docs.scores) == ((("q2", 1.5), ("q1", 5.0)), ((2.0, 1), (5.0, 2)))
    assert (baseline.failed, with_docs.failed) == ((), ("q2",))
    (compared,) = found.differences
    assert isinstance(compared, SampleDifferences)
    assert (compared.condition, compared.baseline) == ("with_docs", "baseline")
    assert compared.differences == (("q2", -0.5), ("q1", 1.5))


def test_details_say_what_the_newest_run_was(log: Path) -> None:
    """Its config, a key on each line, and the versions that it recorded."""
    with projections.connect([log]) as connection:
        found = details(connection)
    assert found.config is not None
    assert '\n  "name": ' in found.config
    assert dict(found.versions)["keval"]


def test_a_log_without_a_run_has_no_config(tmp_path: Path) -> None:
    """Nothing is guessed."""
    response = response_event()
    log = write_log(tmp_path / "log.jsonl", [response, judgment_event(response, 3)])
    with projections.connect([log]) as connection:
        found = details(connection)
    assert (found.config, found.versions) == (None, ())
