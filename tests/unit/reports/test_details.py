"""Details are the numbers that a report's numbers are made of."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keval import projections
from keval.ids import JsonObject
from keval.reports.builder import compose
from keval.reports.details import MOST_SAMPLES, ConditionSamples, SampleDifferences, SampleValues, details
from tests.builders import (
    condition_id,
    failure_event,
    judge_entry,
    judgment_event,
    response_event,
    run_event,
    write_log,
)

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
        found = details(connection, compose(connection).metrics)
    with_docs, baseline = sorted(found.conditions, key=lambda each: each.scores)
    assert [type(each) for each in found.conditions] == [ConditionSamples, ConditionSamples]
    assert baseline.means == SampleValues(((2.0, 1), (3.5, 1)), (("q2", 2.0), ("q1", 3.5)))
    assert with_docs.means == SampleValues(((1.5, 1), (5.0, 1)), (("q2", 1.5), ("q1", 5.0)))
    assert (baseline.scores, with_docs.scores) == (((2.0, 2), (3.0, 1), (4.0, 1)), ((2.0, 1), (5.0, 2)))
    assert (baseline.failed, with_docs.failed) == ((), ("q2",))
    (compared,) = found.differences
    assert isinstance(compared, SampleDifferences)
    assert (compared.condition, compared.baseline) == ("with_docs", "baseline")
    assert compared.differences == SampleValues(((-0.5, 1), (1.5, 1)), (("q2", -0.5), ("q1", 1.5)))
    assert (found.samples, found.left_out) == (("q2", "q1"), 0)


def test_details_say_what_the_newest_run_was(log: Path) -> None:
    """Its config, a key on each line, and the versions that it recorded."""
    with projections.connect([log]) as connection:
        found = details(connection, ())
    assert found.config is not None
    assert '\n  "name": ' in found.config
    assert dict(found.versions)["keval"]


def test_a_log_without_a_run_has_no_config(tmp_path: Path) -> None:
    """Nothing is guessed."""
    response = response_event()
    log = write_log(tmp_path / "log.jsonl", [response, judgment_event(response, 3)])
    with projections.connect([log]) as connection:
        found = details(connection, ())
    assert (found.config, found.versions) == (None, ())


def of_samples(scores: Mapping[str, Mapping[str, Mapping[str, float]]]) -> list[JsonObject]:
    """Return answers with their scores, by condition, sample and metric, and the run that asked for them."""
    metrics = [{"name": "completeness", "min": 1, "max": 5}, {"name": "tone", "min": 1, "max": 9}]
    judge = {**judge_entry(), "metrics": metrics}
    made = [run_event(list(scores), samples=max(map(len, scores.values())), judges=[judge])]
    for condition, samples in scores.items():
        for sample_id, by_metric in samples.items():
            response = response_event(sample_id, condition)
            judged = judgment_event(response, by_metric)
            judged["scores"]["tone"]["max"] = 9
            made += [response, judged]
    return made


SAMPLES = st.dictionaries(
    st.sampled_from([f"q{number}" for number in range(9)]),
    st.fixed_dictionaries({"completeness": st.integers(1, 5), "tone": st.integers(1, 9)}),
    min_size=1,
)


@given(st.fixed_dictionaries(dict.fromkeys(("baseline", "a", "b"), SAMPLES)))
@settings(max_examples=15, deadline=None)
@pytest.mark.slow
def test_samples_that_got_worst_are_shown_first(scores: dict[str, dict[str, dict[str, int]]]) -> None:
    """By the lowest change of any metric under any condition, as a share of the metric's scale; then those without."""
    in_order = {name: scores[name] for name in ("baseline", "a", "b")}
    with TemporaryDirectory() as folder, projections.connect([log_of(Path(folder), in_order)]) as connection:
        found = details(connection, compose(connection).metrics)
    base, scales = scores.pop("baseline"), {"completeness": 4, "tone": 8}
    lowest = {
        sample_id: min(
            (samples[sample_id][metric] - base[sample_id][metric]) / scale
            for samples in scores.values() if sample_id in samples
            for metric, scale in scales.items()
        )
        for sample_id in base if any(sample_id in samples for samples in scores.values())
    }  # fmt: skip
    ids = sorted({sample_id for samples in (base, *scores.values()) for sample_id in samples})
    assert found.samples == tuple(sorted(ids, key=lambda name: (lowest.get(name, math.inf), name)))


def log_of(folder: Path, scores: Mapping[str, Mapping[str, Mapping[str, float]]]) -> Path:
    """Return the log of answers with these scores."""
    return write_log(folder / "log.jsonl", of_samples(scores))


def test_of_many_samples_only_those_are_named_that_are_shown(tmp_path: Path) -> None:
    """All are counted in the numbers; of a condition with few samples all are named, shown or not."""
    middle = {"completeness": 3.0, "tone": 2.0}
    names = [f"q{number:03}" for number in range(MOST_SAMPLES + 30)]
    alike, worse = dict.fromkeys(names, middle), {name: {**middle, "tone": 1.0} for name in names[-5:]}
    most = dict.fromkeys(names[:MOST_SAMPLES], middle)
    scores = {"baseline": alike, "a": alike | worse, "few": dict.fromkeys(names[150:210], middle), "most": most}
    with projections.connect([log_of(tmp_path, scores)]) as connection:
        found = details(connection, compose(connection).metrics)
    assert (found.samples, found.left_out) == ((*names[-5:], *names[: MOST_SAMPLES - 5]), 30)
    of_tone = {each.condition_id: each for each in found.conditions if each.metric == "tone"}
    means = {name: of_tone[condition_id(name, "Answer.")].means for name in scores}
    assert means["a"].values == ((1.0, 5), (2.0, MOST_SAMPLES + 25))
    assert {name for name, _ in means["a"].named} == {*found.samples}
    assert [means[name].are_all_named for name in scores] == [False, False, True, True]
    assert len(means["few"].named) == 60
    compared = {each.condition: each.differences for each in found.differences if each.metric == "tone"}
    assert compared["a"] == SampleValues(((-1.0, 5), (0.0, MOST_SAMPLES + 25)))
    assert compared["most"].are_all_named
    assert compared["few"] == SampleValues(((0.0, 60),), tuple((name, 0.0) for name in names[150:210]))
