"""Metrics that are computed from others: each number of the formulas, and what becomes of what is missing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import sqrt
from pathlib import Path
from statistics import fmean, stdev
from typing import TYPE_CHECKING

import orjson
import pytest

from keval import ids, projections, schema
from keval.config.formulas import ComputedMetric, Part
from keval.ids import JsonObject
from keval.judges import Metric
from keval.stats.aggregates import aggregate
from tests.builders import (
    USAGE,
    failure_event,
    judge_entry,
    judge_failure_event,
    judgment_event,
    response_event,
    run_event,
    write_log,
)
from tests.conftest import Keval

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

HIT, QUALITY = Metric("hit_rate", 0, 1), Metric("overall_score", 0, 1)
JUDGES = {"sources": HIT, "quality": QUALITY}
IDS = {name: ids.judge_id(name, None, {}) for name in JUDGES}


def part(name: str, weight: float) -> Part:
    return Part(name, IDS[name], JUDGES[name], weight)


COMBINED = ComputedMetric("value", "combined", (part("sources", 2), part("quality", 1.5)), 0.5, 0.5, 1000)
WEIGHTED = ComputedMetric("overall", "weighted", (part("sources", 2), part("quality", 1)))


def run(*metrics: ComputedMetric, samples: int = 2) -> JsonObject:
    judges = [
        judge_entry([{"name": metric.name, "min": metric.min, "max": metric.max}], judge_id=IDS[name], name=name)
        for name, metric in JUDGES.items()
    ]
    return run_event(["baseline"], judges=judges, samples=samples, metrics=[metric.described() for metric in metrics])


def answer(sample: str, tokens: int | None = 1000) -> JsonObject:
    counted: dict[str, int | None] = {"input_tokens": tokens, "output_tokens": tokens and 0}
    return response_event(sample, usage=USAGE | counted)


def judged(response: JsonObject, judge: str, score: float | None) -> JsonObject:
    metric = JUDGES[judge].name
    given: JsonObject = {"score": score, "reasoning": "", "min": 0, "max": 5, "passed": None}
    if score is None:
        given["not_applicable"] = "no expected source"
    who = {"name": judge, "type": judge, "model": None}
    made = judgment_event(response, {metric: 0}, judge=who, judge_id=IDS[judge]) | {"scores": {metric: given}}
    assert schema.event_problem(made) is None
    return made


def both(response: JsonObject, hit: float | None, quality: float | None) -> list[JsonObject]:
    return [response, judged(response, "sources", hit), judged(response, "quality", quality)]


@contextmanager
def views(folder: Path, log: Sequence[JsonObject]) -> Iterator[DuckDBPyConnection]:
    read = ("comparisons", "condition_aggregates", "condition_scores", "sample_aggregates", "scores")
    with projections.connect([write_log(folder / "log.jsonl", log)], tools=False, asked=read) as connection:
        yield connection


def asked(connection: DuckDBPyConnection, sql: str) -> list[tuple[object, ...]]:
    return connection.sql(sql).fetchall()


def only(connection: DuckDBPyConnection, columns: str, view: str, metric: str) -> tuple[object, ...]:
    (row,) = connection.view(view).filter(f"metric = '{metric}'").project(columns).fetchall()
    return tuple(row)


INVENTORY: list[tuple[float, float, int | None, float | None]] = [
    (1, 0.85, 2500, 0.495631),
    (1, 0.9, 2500, 0.54),
    (1, 1, 2500, 0.632456),
    (1, 1, 1000, 1.0),
    (1, 0.5, 4000, 0.176777),
    (0.95, 0.83, 2500, 0.431613),
    (1, 0.9, 23_191, 0.177298),
    (1, 0.85, 28_682, 0.146327),
    (0, 0.7, 2500, 0),
    (0.7, 0, 2500, 0),
    (1, 1, 0, None),
    (1, 1, None, None),
]


def test_combined_scores(tmp_path: Path) -> None:
    """Every row of the inventory: what the formula gives, and null where no tokens were counted."""
    log = [run(COMBINED, samples=len(INVENTORY))]
    for number, (hit, quality, tokens, _) in enumerate(INVENTORY, start=10):
        log += both(answer(f"q{number}", tokens), hit, quality)
    with views(tmp_path, log) as connection:
        query = "select score, why_null, passed from scores where metric = 'value' order by sample_id"
        found = asked(connection, query)
    assert len(found) == len(INVENTORY)
    for row, (*_, expected) in zip(found, INVENTORY, strict=True):
        if expected is None:
            assert row == (None, "no token count", None)
        else:
            assert row == (pytest.approx(expected, abs=1e-6), None, expected > 0.5)


@pytest.mark.parametrize(("quality", "score", "tokens"), [(0.85, 1.42, 304.6), (0.85, 1.20, 426.5), (1.0, 1.20, 694.4)])
def test_which_tokens_a_target_takes(quality: float, score: float, tokens: float, tmp_path: Path) -> None:
    """The targets of the formula's authors are reached with one token fewer, and not with one more."""
    target = ComputedMetric("value", "combined", COMBINED.parts, score, 0.5, 1000)
    log = [run(target), *both(answer("q1", int(tokens)), 1, quality), *both(answer("q2", int(tokens) + 1), 1, quality)]
    with views(tmp_path, log) as connection:
        found = asked(connection, "select passed from scores where metric = 'value' order by sample_id")
    assert found == [(True,), (False,)]


def test_a_mean_of_weights(tmp_path: Path) -> None:
    """Scores of 0.9 and 0.6 with weights 2 and 1 are 0.8; where a judge failed it is null, not the rest's mean."""
    failed = answer("q2")
    broken = judge_failure_event(
        failed, judge={"name": "quality", "type": "quality", "model": None}, judge_id=IDS["quality"]
    )
    log = [run(WEIGHTED), *both(answer("q1"), 0.9, 0.6), failed, judged(failed, "sources", 0.9), broken]
    with views(tmp_path, log) as connection:
        scores = asked(connection, "select score, why_null from scores where metric = 'overall' order by sample_id")
        counts = only(connection, "mean, scored, not_measured, not_done, failed", "condition_scores", "overall")
    assert scores == [(pytest.approx(0.8), None), (None, "no score of quality/overall_score")]
    assert counts == (pytest.approx(0.8), 1, 1, 0, {"judge_error": 1})


def test_a_mean_of_equal_weights(tmp_path: Path) -> None:
    """Meaning and facts of (1, 1), (0.2, 1) and (0.8, 0) are 1, 0.6 and 0.4."""
    equal = ComputedMetric("overall", "weighted", (part("sources", 1), part("quality", 1)))
    log = [run(equal, samples=3)]
    for number, (meaning, facts) in enumerate([(1, 1), (0.2, 1), (0.8, 0)]):
        log += both(answer(f"q{number}"), meaning, facts)
    with views(tmp_path, log) as connection:
        scores = asked(connection, "select score from scores where metric = 'overall' order by sample_id")
    assert [score for (score,) in scores] == pytest.approx([1, 0.6, 0.4])


def test_a_target_is_to_be_exceeded(tmp_path: Path) -> None:
    """A hit rate of exactly 0.80 does not pass above 0.80."""
    gate = ComputedMetric("gate", "weighted", (part("sources", 1),), 0.8)
    log = [run(gate), *both(answer("q1"), 0.8, 1), *both(answer("q2"), 0.81, 1)]
    with views(tmp_path, log) as connection:
        assert asked(connection, "select passed from scores where metric = 'gate' order by sample_id") == [
            (False,),
            (True,),
        ]


def test_a_target_that_is_met_but_for_float_noise_is_not_exceeded(tmp_path: Path) -> None:
    """Two parts of exactly 0.8 make 0.8000000000000002 by their weights 2 and 1."""
    gate = ComputedMetric("gate", "weighted", (part("sources", 2), part("quality", 1)), 0.8)
    with views(tmp_path, [run(gate), *both(answer("q1"), 0.8, 0.8)]) as connection:
        ((score, passed),) = asked(connection, "select score, passed from scores where metric = 'gate'")
    assert isinstance(score, float)
    assert score > 0.8
    assert passed is False


def test_a_target_may_be_as_small_as_the_scores(tmp_path: Path) -> None:
    """What a single token scores is of another scale than float noise of a score of one."""
    gate = ComputedMetric("gate", "combined", COMBINED.parts, 1e-7, 2, 1)
    with views(tmp_path, [run(gate), *both(answer("q1", 2000), 1, 1)]) as connection:
        ((score, passed),) = asked(connection, "select score, passed from scores where metric = 'gate'")
    assert score == pytest.approx(2.5e-7)
    assert passed is True


def test_what_counts_of_what_is_missing(tmp_path: Path) -> None:
    """Failures of the agent are the minimum; what does not apply is in no number; unknown tokens are not measured."""
    log = [
        run(COMBINED, samples=5),
        *both(answer("q1"), 1, 1),
        failure_event(response_event("q2")),
        *both(answer("q3"), None, 1),
        *both(answer("q4", None), 1, 1),
        *both(answer("q5"), 1, 1)[:2],
    ]
    with views(tmp_path, log) as connection:
        counts = only(
            connection,
            "scored, agent_failed, not_applicable, not_measured, not_done, mean, mean_complete_case, min",
            "condition_scores",
            "value",
        )
        (why,) = asked(connection, "select not_applicable from scores where metric = 'value' and sample_id = 'q3'")
    assert counts == (1, 1, 1, 1, 1, 0.5, 1.0, 0)
    assert why == ("sources/hit_rate: no expected source",)


@pytest.mark.parametrize(
    ("kind", "failures", "expected"),
    [
        (None, "minimum", (0, 0, 0, 1)),
        ("timeout", "minimum", (0, 0, 1, 0)),
        ("timeout", "exclude", (0, 1, 0, 0)),
        ("infra_error", "minimum", (0, 0, 1, 0)),
    ],
)
def test_without_the_baselines_answer_a_part_of_pairs_has_no_score(
    kind: str | None, failures: str, expected: tuple[int, ...], tmp_path: Path
) -> None:
    """Nobody is asked to compare the answer, so what is computed is not measured, and not to be done any more."""
    judges = [
        judge_entry([{"name": metric.name, "min": 0, "max": 1}], judge_id=IDS[name], name=name)
        for name, metric in JUDGES.items()
    ]
    judges[0]["unit"] = "pair"
    baseline, docs = response_event("q1"), response_event("q1", "with_docs")
    log = [
        run_event(judges=judges, samples=1, metrics=[WEIGHTED.described()], config={"failures": failures}),
        baseline if kind is None else failure_event(baseline, kind),
        docs,
        judged(docs, "quality", 1),
    ]
    query = (
        "select scored, not_applicable, not_measured, not_done from condition_scores "
        "where metric = 'overall' and condition = 'with_docs'"
    )
    with views(tmp_path, log) as connection:
        assert asked(connection, query) == [expected]


def test_one_part_of_pairs_without_a_score_is_enough(tmp_path: Path) -> None:
    """Whatever the baseline of another judge answered, what is computed from both has no score any more."""
    baselines = {"sources": "baseline", "quality": "other"}
    judges = [
        judge_entry([{"name": metric.name, "min": 0, "max": 1}], judge_id=IDS[name], name=name)
        | {"unit": "pair", "parameters": {"baseline": baselines[name]}}
        for name, metric in JUDGES.items()
    ]
    conditions = ("baseline", "other", "with_docs")
    failed, other, docs = (response_event("q1", name) for name in conditions)
    log = [
        run_event(conditions, judges=judges, samples=1, metrics=[WEIGHTED.described()]),
        failure_event(failed),
        other,
        docs,
        judged(docs, "quality", 1) | {"other_response_id": other["id"]},
    ]
    query = "select not_measured, not_done from condition_scores where metric = 'overall' and condition = 'with_docs'"
    with views(tmp_path, log) as connection:
        assert asked(connection, query) == [(1, 0)]


def test_what_a_part_does_not_sample_is_not_sampled(tmp_path: Path) -> None:
    """Where both judges of a formula judge a share of the tasks, the formula has their common share, each task once.

    What was judged outside of it is no more in it than what was not.
    """
    declared = run(WEIGHTED)
    for judge, seed in zip(declared["judges"], (1, 2), strict=True):
        judge["sampling"] = {"rate": 0.000001, "seed": seed}
    log = [declared, *both(answer("q1"), 1, 1), answer("q2")]
    with views(tmp_path, log) as connection:
        found = only(connection, "scored, not_sampled, not_done", "condition_scores", "overall")
    assert found == (0, 2, 0)


@pytest.mark.slow
def test_a_formula_of_means_is_not_the_mean_of_a_formula(tmp_path: Path) -> None:
    """The worked example: of two samples the mean of the scores is 5.590, the score of the means 1.299."""
    log = [run(COMBINED), *both(answer("q1"), 1, 5), *both(answer("q2"), 0, 1)]
    with views(tmp_path, log) as connection:
        found = only(connection, "mean, score_of_means, mean_tokens", "condition_scores", "value")
        bodies = {body["metric"]: body for body in aggregate(connection, levels={"condition"})}
    assert found == (pytest.approx(5.590, abs=1e-3), pytest.approx(1.299, abs=1e-3), 1000)
    assert bodies["value"]["score_of_means"] == pytest.approx(1.299, abs=1e-3)
    assert (bodies["value"]["computed"], bodies["value"]["judge"]) == ("combined", "computed")
    assert not {"score_of_means", "computed"} & bodies["hit_rate"].keys()


def test_the_example_of_a_formula_of_means(tmp_path: Path) -> None:
    """A hit rate of 0.8, judged 4.0, with 1,500 tokens an answer."""
    log = [run(COMBINED, samples=5)]
    for number, hit in enumerate((1, 1, 1, 1, 0)):
        log += both(answer(f"q{number}", 1500), hit, 4)
    with views(tmp_path, log) as connection:
        assert only(connection, "score_of_means", "condition_scores", "value") == (pytest.approx(4.180462, abs=1e-6),)


def test_the_standard_error_of_a_formula_of_means(tmp_path: Path) -> None:
    """The delta method on the logarithm: each part's share of its mean by its exponent, tokens against it."""
    samples = [(1, 5, 900), (0, 2, 2100), (1, 4, 1500), (1, 3, 700), (0, 4, 1300)]
    log = [run(COMBINED, samples=5)]
    for number, (hit, quality, tokens) in enumerate(samples):
        log += both(answer(f"q{number}", tokens), hit, quality)
    with views(tmp_path, log) as connection:
        value, error = only(connection, "score_of_means, se_of_means", "condition_scores", "value")
    hits, qualities, counts = (fmean(each) for each in zip(*samples, strict=True))
    away = [2 * (h / hits - 1) + 1.5 * (q / qualities - 1) - 0.5 * (t / counts - 1) for h, q, t in samples]
    assert value == pytest.approx(hits**2 * qualities**1.5 / (counts / 1000) ** 0.5)
    assert error == pytest.approx(float(str(value)) * stdev(away) / sqrt(5))


@pytest.mark.slow
def test_the_newest_formula_counts(tmp_path: Path) -> None:
    """Another formula over the same judgments takes the place of the first; without a declaration there is none."""
    answers = both(answer("q1"), 0.9, 0.6)
    even = ComputedMetric("overall", "weighted", (part("sources", 1), part("quality", 1)))
    for runs, expected in (
        ([run(WEIGHTED)], [(pytest.approx(0.8),)]),
        ([run(WEIGHTED), run(even)], [(pytest.approx(0.75),)]),
        ([run(WEIGHTED), run_event(["baseline"])], []),
    ):
        with views(tmp_path, [*runs, *answers]) as connection:
            assert asked(connection, "select mean from condition_scores where metric = 'overall'") == expected


CONFIG = """\
name: words
dataset: {path: questions.jsonl}
agent: {type: echo}
conditions:
  baseline: {system_prompt: Answer.}
  loud: {system_prompt: Answer loudly.}
judges:
  - {type: exact_match}
  - {type: contains}
metrics:
  overall: {type: weighted, of: {exact_match/exact_match: 1, contains/contains: WEIGHT}}
  value: {type: combined, hit_rate: contains/contains, judge: exact_match/exact_match}
execution: {repetitions: 1}
"""


@pytest.mark.slow
def test_another_formula_asks_nobody(keval: Keval, tmp_path: Path) -> None:
    """A changed weight adds a `run` event, no answer and no judgment; the report says the formula."""
    (tmp_path / "questions.jsonl").write_text('{"id": "q1", "question": "It is blue.", "answer": "blue"}\n')
    means = []
    for weight in ("1", "3"):
        (tmp_path / "eval.yaml").write_text(CONFIG.replace("WEIGHT", weight))
        done = keval("run", "eval.yaml", "-o", "run.jsonl")
        assert done.returncode == 0, done.stderr
        found = keval("sql", "run.jsonl", "-f", "csv", "SELECT mean FROM condition_scores WHERE metric = 'overall'")
        means.append(found.stdout.split())
    log = [orjson.loads(line) for line in (tmp_path / "run.jsonl").read_bytes().splitlines()]
    assert means == [["mean", "0.5", "0.5"], ["mean", "0.75", "0.75"]]
    assert [event["type"] for event in log].count("judgment") == 4
    assert [event["type"] for event in log].count("run") == 2
    assert "computed (weighted)" in done.stdout
    assert "(1 · exact_match/exact_match + 3 · contains/contains) / 4" in " ".join(done.stdout.split())
    assert keval("validate", "run.jsonl").returncode == 0
