"""The samples to read first are those that changed most, on the metric on which they did."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from keval import projections
from keval.ids import JsonObject
from keval.reports.changed_scores import ChangedScore, ChangedScores, changed_scores
from keval.reports.queries import Queries
from tests.builders import JUDGE_ID, judge_entry, judgment_event, response_event, run_event, write_log

READ = ("conditions", "metrics", "paired_samples")
"""The tables that tell of it."""

METRICS = [{"name": "clarity", "min": 1, "max": 5}, {"name": "hit", "min": 0, "max": 1}]
SCORES = {
    "baseline": [(3, 0.5), (3, 0.5), (3, 0.5), (3, 0.5)],
    "with_docs": [(4, 0.5), (2, 0), (3, 0.5), (4, 0.25)],
    "same": [(3, 0.5), (3, 0.5), (3, 0.5), (3, 0.5)],
}
"""Of each condition and sample the scores of both metrics."""


def events() -> Iterator[JsonObject]:
    """Yield a run of three conditions."""
    yield run_event(list(SCORES), samples=4, judges=[judge_entry(METRICS)])
    for condition, samples in SCORES.items():
        for number, (clarity, hit) in enumerate(samples, 1):
            response = response_event(f"q{number}", condition)
            yield response
            yield judgment_event(response, {"clarity": clarity, "hit": hit})


@contextmanager
def asked(folder: Path, log: Iterable[JsonObject]) -> Iterator[Queries]:
    made = write_log(folder / "log.jsonl", log)
    with projections.connect([made], texts=False, tools=False, asked=READ) as connection:
        yield Queries(connection)


def test_a_sample_stands_once_in_each_direction_with_its_largest_change(tmp_path: Path) -> None:
    """As a share of the scale: half of 0 to 1 is more than one point of 1 to 5; what is equal stands nowhere."""
    lost = (
        ChangedScore("q2", "rubric", JUDGE_ID, "hit", 0.5, 0.0, -0.5),
        ChangedScore("q4", "rubric", JUDGE_ID, "hit", 0.5, 0.25, -0.25),
    )
    won = (
        ChangedScore("q1", "rubric", JUDGE_ID, "clarity", 3.0, 4.0, 1.0),
        ChangedScore("q4", "rubric", JUDGE_ID, "clarity", 3.0, 4.0, 1.0),
    )
    with asked(tmp_path, events()) as queries:
        for most in (5, 2, 1):
            (found,) = changed_scores(queries, most=most)
            assert found == ChangedScores("with_docs", "baseline", lost[:most], won[:most])


def test_equal_changes_stand_in_the_order_of_metrics_and_of_samples(tmp_path: Path) -> None:
    """A sample that changed alike on two metrics has the first; of samples that did, the first by name are kept."""
    log = [run_event(("baseline", "with_docs"), samples=3, judges=[judge_entry(METRICS)])]
    for condition, scores in (("baseline", {"clarity": 3, "hit": 1}), ("with_docs", {"clarity": 1, "hit": 0.5})):
        for name in ("q3", "q1", "q2"):
            response = response_event(name, condition)
            log += [response, judgment_event(response, scores)]
    with asked(tmp_path, log) as queries:
        (found,) = changed_scores(queries, most=2)
    assert [(each.sample_id, each.metric) for each in found.lost] == [("q1", "clarity"), ("q2", "clarity")]


def test_conditions_stand_in_the_order_of_the_config(tmp_path: Path) -> None:
    """As everywhere in a report, and not in that of their names."""
    names = ("baseline", "zeta", "alpha")
    log = [run_event(names, samples=1, judges=[judge_entry(METRICS)])]
    for condition, clarity in zip(names, (3, 2, 1), strict=True):
        response = response_event("q1", condition)
        log += [response, judgment_event(response, {"clarity": clarity, "hit": 1})]
    with asked(tmp_path, log) as queries:
        found = changed_scores(queries, names)
    assert [each.condition for each in found] == ["zeta", "alpha"]
