from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from keval import ids, projections
from keval.errors import UsageError
from keval.ids import JsonObject
from keval.labels.labels import Said
from keval.reports.agreement import (
    FIXED,
    READ,
    Agreement,
    JudgeVariation,
    Raters,
    agreements,
    is_mock,
    judge_variations,
    without_common_metric,
)
from tests.builders import (
    JUDGE,
    JUDGE_ID,
    METRICS,
    judge_entry,
    judgment_event,
    response_event,
    retraction_event,
    run_event,
    write_log,
)

A = (5, 4, 4, 3, 2, 5, 1, 3, 4, 2, 5, 3)
B = (5, 4, 3, 3, 2, 4, 2, 3, 5, 2, 5, 1)
"""Example D of the specification."""

OTHER = {**JUDGE, "name": "stricter"}
OTHER_ID = ids.judge_id("rubric", "claude-opus-5", {"strict": True})
FINE = {"name": "fine", "min": 0, "max": 1}
RANDOM = {"method": "random", "seed": 0}
ANSWERS = [response_event(f"q{number}") for number in range(12)]


def log_of(folder: Path, *events: JsonObject, answers: Sequence[JsonObject] = ANSWERS) -> Path:
    judges = [judge_entry([*METRICS, FINE]), judge_entry(name="stricter", judge_id=OTHER_ID)]
    return write_log(folder / "run.jsonl", [run_event(samples=12, judges=judges), *answers, *events])


def scored(scores: Sequence[float], **fields: object) -> Iterator[JsonObject]:
    for answer, score in zip(ANSWERS, scores, strict=False):
        yield judgment_event(answer, score, **fields)  # type: ignore[arg-type]  # fields of the event by name


def second(scores: Sequence[float]) -> Iterator[JsonObject]:
    return scored(scores, judge_id=OTHER_ID, judge=OTHER)


def label(answer: JsonObject, score: float, labeler: str = "ada", judge_id: str = JUDGE_ID) -> JsonObject:
    return Said((answer["id"], judge_id, "completeness"), labeler, score=score, draw=RANDOM).event("run")


def compared(log: Path) -> tuple[Agreement, ...]:
    with projections.connect([log], tools=False, asked=READ) as connection:
        return agreements(connection, Raters())


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> tuple[tuple[Agreement, ...], tuple[JudgeVariation, ...]]:
    """Return what is said of a log with two judges, a second replicate of one, and the labels of two people."""
    labels = [label(answer, score) for answer, score in zip(ANSWERS, B, strict=True)]
    labels += [label(answer, 3, "bob", OTHER_ID) for answer in ANSWERS[:6]]
    events = [*scored(A), *second(B), *scored(A, replicate=2), *labels]
    log = log_of(tmp_path_factory.mktemp("agreement"), *events)
    with projections.connect([log], tools=False, asked=READ) as connection:
        return agreements(connection, Raters()), judge_variations(connection)


def test_whatever_was_scored_twice_is_compared(everything: tuple[tuple[Agreement, ...], object]) -> None:
    """Two judges by the same replicate, replicates of one, each judge with people, and people with each other."""
    found = [(each.kind, each.first, each.second, each.pairs) for each in everything[0]]
    assert found == [
        ("judges", "rubric", "stricter", 12),
        ("replicates", "rubric", "rubric", 12),
        ("labels", "rubric", "labels", 36),
        ("labels", "stricter", "labels", 18),
        ("people", "ada", "bob", 6),
    ]


def test_two_judges_agree_as_in_the_worked_example(everything: tuple[tuple[Agreement, ...], object]) -> None:
    """Example D through a log: all numbers together, the whole scale in the matrix, and an interval by resampling."""
    found = everything[0][0]
    expected = {
        "exact": 0.583333, "within_one": 0.916667, "bias": 0.166667, "mae": 0.5, "qwk": 0.797468, "kappa": 0.469027,
        "ac1": 0.482201, "ac2": 0.844282, "alpha_nominal": 0.488889, "alpha_ordinal": 0.838891,
        "alpha_interval": 0.805085,
    }  # fmt: skip
    assert {name: getattr(found, name) for name in expected} == pytest.approx(expected, abs=1e-6)
    assert (found.categories, sum(map(sum, found.confusion)), found.confusion[3][4]) == ((1, 2, 3, 4, 5), 12, 1)
    assert (found.qwk_method, found.qwk_seed) == ("samples drawn again", 0)
    assert found.qwk_lower is not None
    assert found.qwk_upper is not None
    assert found.qwk_lower < 0.797468 < found.qwk_upper
    assert found.reasons == {}


@pytest.mark.slow
def test_a_judge_that_repeats_itself_is_warned_of(
    everything: tuple[tuple[Agreement, ...], tuple[JudgeVariation, ...]],
) -> None:
    """All replicates are the same: a note says that this is no evidence of accuracy, and its variance is 0."""
    replicates = everything[0][1]
    assert replicates.notes == (FIXED,)
    assert replicates.reasons["bias_lower"] == "all differences are the same"
    (variation,) = everything[1]
    assert (variation.judge, variation.variance.variance, variation.variance.is_deterministic) == ("rubric", 0, True)


@pytest.mark.slow
def test_what_is_asked_for_is_compared_and_nothing_else(tmp_path: Path) -> None:
    """Two judges by name or id in any order, or only people; an unknown judge is named with those that there are."""
    log = log_of(tmp_path, *scored(A), *second(B), label(ANSWERS[0], 5))
    with projections.connect([log]) as connection:
        for names in (("stricter", "rubric"), (JUDGE_ID[:6], OTHER_ID)):
            assert [each.kind for each in agreements(connection, Raters(judges=names))] == ["judges"]
        assert {each.kind for each in agreements(connection, Raters(labels=True))} == {"labels"}
        assert agreements(connection, Raters(replicates=True)) == ()
        with pytest.raises(UsageError, match="--judges nobody: no such judge in the log; there are: rubric"):
            agreements(connection, Raters(judges=("rubric", "nobody")))


@pytest.mark.slow
def test_judges_of_other_metrics_are_told_what_each_scores(tmp_path: Path) -> None:
    """Else nobody would know why nothing is compared."""
    judge = {"name": "contains", "type": "contains", "model": None}
    judged = [judgment_event(answer, {"contains": 1}, judge=judge, judge_id="other") for answer in ANSWERS]
    with projections.connect([log_of(tmp_path, *scored(A), *judged)], asked=READ) as connection:
        assert without_common_metric(connection, ("rubric", "rubric")) is None
        told = without_common_metric(connection, ("rubric", "contains"))
    assert "; contains scores contains (1 to 5): no metric of both has one name and scale" in str(told)


@pytest.mark.slow
def test_only_scores_of_the_same_answer_are_pairs(tmp_path: Path) -> None:
    """A judgment of an earlier text, or one that was retracted, is not compared with the present answer's."""
    again = response_event("q0", text="Another answer.")
    later = [again, *scored(A[1:2])]
    log = log_of(tmp_path, *second(B[:2]), *scored(A[:2]), *later)
    assert [each.responses for each in compared(log)] == [1]
    gone = next(second(B[:1]))
    assert compared(log_of(tmp_path, *scored(A[:1]), gone, retraction_event(gone))) == ()


def test_the_paradox_is_told(tmp_path: Path) -> None:
    """50 answers, 48 of them 5 by both: 96 % exact and QWK -0.02, with a note that sends to AC2."""
    answers = [response_event(f"q{number}") for number in range(50)]
    first, other = [5] * 48 + [4, 5], [5] * 48 + [5, 4]
    events = [judgment_event(answer, score) for answer, score in zip(answers, first, strict=True)]
    events += [
        judgment_event(answer, score, judge_id=OTHER_ID, judge=OTHER)
        for answer, score in zip(answers, other, strict=True)
    ]
    (found,) = compared(log_of(tmp_path, *events, answers=answers))
    assert (found.exact, round(found.qwk or 0, 4)) == (0.96, -0.0204)
    assert found.notes[0].startswith("exact agreement is 96 % and yet QWK is -0.02")
    assert "AC2 (1.00) allows for that" in found.notes[0]


@pytest.mark.slow
def test_what_is_not_defined_is_null_with_its_reason(tmp_path: Path) -> None:
    """Few samples have no interval, one category no kappa, a scale without steps no categories; each says why."""
    few = [*scored(A[:3]), *second(A[:3])]
    (found,) = compared(log_of(tmp_path, *few))
    assert found.notes == ("fewer than 5 samples: no interval is shown, the numbers only describe these answers",)
    assert (found.reasons["bias_lower"], found.reasons["qwk_lower"]) == ("fewer than 5 samples",) * 2
    (same,) = compared(log_of(tmp_path, *scored([5] * 6), *second([5] * 6)))
    assert (same.exact, same.qwk, same.alpha_ordinal, same.pearson) == (1, None, None, None)
    assert same.reasons["qwk"].startswith("both used one and the same category only")
    score = {"reasoning": "", "min": 0, "max": 1, "passed": None}
    fine = [judgment_event(answer, replicate=n) for answer in ANSWERS for n in (1, 2)]
    for each in fine:
        each["scores"] = {"fine": score | {"score": 0.1 * each["replicate"]}}
    (steps,) = compared(log_of(tmp_path, *fine))
    assert (steps.categories, steps.confusion, steps.qwk, steps.within_one) == ((), (), None, None)
    assert (
        steps.reasons["qwk"]
        == "there are no categories: a score lies between whole steps, or the scale has more than 100 of them"
    )
    assert steps.alpha_interval is not None


@pytest.mark.slow
def test_labels_of_a_persons_own_choice_are_told(tmp_path: Path) -> None:
    """Of answers that were not drawn at random, a note says that they need not stand for all."""
    chosen = Said((ANSWERS[0]["id"], JUDGE_ID, "completeness"), "ada", score=4).event("run")
    (found,) = compared(log_of(tmp_path, *scored(A), chosen))
    assert any(note.startswith("1 of 1 pairs are of answers that were not drawn at random") for note in found.notes)


def test_many_pairs_of_different_samples_have_an_interval_by_the_formula(tmp_path: Path) -> None:
    """From 100 pairs on, each of another sample, nothing is drawn again."""
    answers = [response_event(f"q{number}") for number in range(100)]
    events = [judgment_event(answer, A[number % 12]) for number, answer in enumerate(answers)]
    events += [
        judgment_event(answer, B[number % 12], judge_id=OTHER_ID, judge=OTHER) for number, answer in enumerate(answers)
    ]
    (found,) = compared(log_of(tmp_path, *events, answers=answers))
    assert (found.qwk_method, found.qwk_seed) == ("formula", None)


def test_agreement_does_not_depend_on_where_the_scale_begins(tmp_path: Path) -> None:
    """Scores from 1,000,001 to 1,000,005 agree as those from 1 to 5 do, and have the interval that these have."""
    found = []
    for first in (0, 1_000_000):
        score = {"reasoning": "", "min": first + 1, "max": first + 5, "passed": None}
        events = [*scored(A), *second(B)]
        for event, value in zip(events, [*A, *B], strict=True):
            event["scores"] = {"completeness": score | {"score": first + value}}
        (each,) = compared(log_of(tmp_path, *events))
        found.append((each.qwk, each.qwk_lower, each.qwk_upper))
    assert None not in found[0]
    assert found[1] == pytest.approx(found[0])


@pytest.mark.slow
def test_a_stand_ins_scores_are_known(tmp_path: Path) -> None:
    """Scores that a mock made are told as such."""
    for mock in (True, False):
        log = write_log(tmp_path / "run.jsonl", [run_event(mock=mock), ANSWERS[0], *scored(A[:1])])
        with projections.connect([log]) as connection:
            assert is_mock(connection) is mock
