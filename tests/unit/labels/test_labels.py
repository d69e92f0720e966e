from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import duckdb
import pytest

from keval import projections
from keval.errors import InputError
from keval.ids import JsonObject, answer_sha256
from keval.labels.draw import Wanted, draw
from keval.labels.labels import READ, Known, Said, calibrated, check_metrics_of, check_targets, known_labels
from keval.stats.calibration import Calibration
from tests.builders import JUDGE_ID, judgment_event, response_event, retraction_event, run_event, write_log
from tests.labelled import judged_log

FAILED, PASSED = response_event("q2"), response_event("q0")
PASSED_SHA256 = answer_sha256(PASSED["text"])


def label(
    response: JsonObject,
    verdict: str | None = "judge_bug",
    *,
    labeler: str = "ada",
    score: float | None = None,
    passed: bool | None = None,
    draw: JsonObject | None = None,
) -> JsonObject:
    target = (response["id"], JUDGE_ID, "completeness")
    return Said(target, labeler, verdict, score, passed=passed, draw=draw).event("run")


def calibration(tmp_path: Path, *events: JsonObject, pass_from: float | None = None) -> Calibration:
    """Return what the labels at the end of a log of two passes and two failures come to."""
    log = judged_log(tmp_path, 2, 2, *events)
    wanted = Wanted() if pass_from is None else Wanted(pass_from={"completeness": pass_from})
    with projections.connect([log], tools=False, asked=READ) as connection:
        (found,) = calibrated(connection, known_labels(connection, log), wanted)
        assert (found.condition, found.judge, found.metric) == ("baseline", "rubric", "completeness")
        return found.calibration


@pytest.mark.slow
@pytest.mark.parametrize(
    ("response", "verdict", "counted"),
    [
        (FAILED, "valid_failure", (1, 0, 0)),
        (FAILED, "judge_bug", (0, 1, 0)),
        (FAILED, "valid_pass", (0, 1, 0)),
        (FAILED, "ambiguous", (0, 0, 1)),
        (PASSED, "valid_pass", (1, 0, 0)),
        (PASSED, "judge_bug", (0, 1, 0)),
        (PASSED, "valid_failure", (0, 1, 0)),
    ],
)
def test_a_verdict_is_counted_by_what_the_judge_said(
    tmp_path: Path, response: JsonObject, verdict: str, counted: tuple[int, int, int]
) -> None:
    """A good answer makes a failure the judge's mistake, and a pass right; `judge_bug` is a mistake either way."""
    found = calibration(tmp_path, label(response, verdict))
    kind = found.passes if response is PASSED else found.failures
    assert (kind.verdicts, (kind.right, kind.wrong, kind.ambiguous)) == (2, counted)


@pytest.mark.parametrize(("passed", "counted"), [(False, (1, 0)), (None, (0, 1))])
def test_a_mistake_of_the_judge_is_that_of_the_verdict_that_was_labelled(
    tmp_path: Path, passed: bool | None, counted: tuple[int, int]
) -> None:
    """By a lower threshold the answer passes now: who said that it had failed wrongly says that this is right.

    Of a label that does not say what the judge had said nothing better is known than what it says now.
    """
    found = calibration(tmp_path, label(FAILED, passed=passed), pass_from=1)
    assert (found.passes.right, found.passes.wrong) == counted


@pytest.mark.slow
@pytest.mark.parametrize("method", ["by_verdict", "random"])
def test_verdicts_that_were_drawn_by_another_threshold_correct_no_pass_rate(tmp_path: Path, method: str) -> None:
    """Of what passes now some was drawn more often: not of answers at random, and no matter where all are labelled."""
    draw = {"method": method, "seed": 0}
    labels = [label(FAILED, passed=False, draw=draw), label(PASSED, "valid_pass", passed=True, draw=draw)]
    assert calibration(tmp_path, *labels).why_unknown is None
    moved = calibration(tmp_path, *labels, pass_from=1)
    assert (moved.why_unknown is None) is (method == "random")
    rest = [label(response_event(name), "valid_pass", passed=name == "q1", draw=draw) for name in ("q1", "q3")]
    complete = calibration(tmp_path, *labels, *rest, pass_from=1)
    assert (complete.why_unknown, complete.corrected) == (None, 1.0)


@pytest.mark.slow
def test_a_persons_score_is_compared_with_the_threshold(tmp_path: Path) -> None:
    """A score from 4 on passes: it says that the judge's failure is wrong; 3 says that it is right."""
    for score, right, wrong in ((4, 0, 1), (3, 1, 0)):
        found = calibration(tmp_path, label(FAILED, None, score=score)).failures
        assert (found.right, found.wrong) == (right, wrong)


@pytest.mark.slow
def test_a_score_of_a_judge_that_decides_itself_is_compared_with_its_threshold(tmp_path: Path) -> None:
    """It agrees with a verdict of the same meaning, and neither makes the other ambiguous."""
    again = judgment_event(FAILED, 2)
    again["scores"]["completeness"]["passed"] = False
    bob = label(FAILED, None, labeler="bob", score=3)
    found = calibration(tmp_path, again, label(FAILED, "valid_failure"), bob).failures
    assert (found.right, found.wrong, found.ambiguous) == (1, 0, 0)
    found = calibration(tmp_path, again, label(FAILED, None, score=4)).failures
    assert (found.right, found.wrong, found.ambiguous) == (0, 1, 0)


def test_a_score_without_a_threshold_says_nothing_of_a_verdict(tmp_path: Path) -> None:
    """Nobody says from which score an answer passes: it is no doubt about the verdict, and not counted."""
    answer = response_event("q0")
    judgment = judgment_event(answer, 2)
    judgment["scores"]["completeness"]["passed"] = False
    log = write_log(tmp_path / "run.jsonl", [run_event(["baseline"]), answer, judgment, label(answer, None, score=3)])
    with projections.connect([log], tools=False, asked=READ) as connection:
        found = {
            each.metric: each.calibration for each in calibrated(connection, known_labels(connection, log), Wanted())
        }
    failures = found["completeness"].failures
    assert (failures.verdicts, failures.decided, failures.ambiguous) == (1, 0, 0)


def test_a_label_that_names_no_judge_is_about_the_answer(tmp_path: Path) -> None:
    """That the answer is good makes every judge's failure wrong."""
    good = label(FAILED, "valid_pass")
    del good["judge_id"], good["metric"]
    assert calibration(tmp_path, good).failures.wrong == 1


@pytest.mark.slow
def test_people_who_do_not_agree_say_nothing(tmp_path: Path) -> None:
    """Two opinions of one verdict are ambiguous, unless they are the same; one's newest word replaces the earlier."""
    both = calibration(tmp_path, label(FAILED), label(FAILED, "valid_failure", labeler="bob")).failures
    assert (both.right, both.wrong, both.ambiguous) == (0, 0, 1)
    agreed = calibration(tmp_path, label(FAILED), label(FAILED, labeler="bob")).failures
    assert (agreed.wrong, agreed.ambiguous) == (1, 0)
    changed = calibration(tmp_path, label(FAILED), label(FAILED, "valid_failure")).failures
    assert (changed.right, changed.wrong) == (1, 0)


@pytest.mark.slow
def test_a_label_is_of_one_answer_and_one_verdict(tmp_path: Path) -> None:
    """Retracted, or given before the answer or the judgment that there is now, it does not count."""
    again = response_event("q2", text="Another.")
    for later in (
        [retraction_event(label(FAILED))],
        [again, judgment_event(again, 2)],
        [judgment_event(FAILED, 2, replicate=2)],
    ):
        found = calibration(tmp_path, label(FAILED), *later).failures
        assert (found.right, found.wrong) == (0, 0)


@pytest.mark.slow
def test_very_many_labels_are_looked_up_at_once() -> None:
    """Were each compared with all that are known, this would not end."""
    said = [Said((f"r{number}", JUDGE_ID, "completeness"), "ada", "judge_bug") for number in range(100_000)]
    known = Known(tuple(each.event("") for each in said))
    assert not any(known.lacks(each) for each in said)
    assert all(known.has(each.target, "ada") for each in said)


def test_what_the_log_says_already_is_not_said_again(tmp_path: Path) -> None:
    """The same word is known, another one of the same person is not."""
    log = judged_log(tmp_path, 2, 2, label(FAILED))
    target = (FAILED["id"], JUDGE_ID, "completeness")
    with projections.connect([log], tools=False, asked=READ) as connection:
        known = known_labels(connection, log)
    assert not known.lacks(Said(target, "ada", "judge_bug"))
    for other in (
        Said(target, "ada", "ambiguous"),
        Said(target, "bob", "judge_bug"),
        Said(target, "ada", "judge_bug", note="x"),
    ):
        assert known.lacks(other)
    assert (known.has(target), known.has(target, "ada"), known.has(target, "bob")) == (True, True, False)


def test_a_sheet_of_other_answers_is_refused(tmp_path: Path) -> None:
    """A response that the log lacks, or that was answered again, is named."""
    with projections.connect([judged_log(tmp_path, 1, 1)]) as connection:
        with pytest.raises(InputError) as refused:
            check_targets(connection, {"gone": "hash"}, {("gone", "judge", "metric"): "judgment"})
        (said,) = refused.value.problems
        assert said.startswith("the log has no response gone")
        with pytest.raises(InputError, match="was answered again"):
            check_targets(connection, {PASSED["id"]: "hash"}, {})


def test_a_sheet_of_other_verdicts_is_refused(tmp_path: Path) -> None:
    """A verdict by another golden answer may look the same: what was said of the old one is not said of it."""
    with projections.connect([judged_log(tmp_path, 1, 1)], tools=False, asked=READ) as connection:
        (entry, *_) = draw(connection, tmp_path / "run.jsonl", Wanted())
        target, answers = (entry.response_id, entry.judge_id, entry.metric), {entry.response_id: entry.answer_sha256}
        assert entry.judgment is not None
        check_targets(connection, answers, {target: entry.judgment})
        for other in ({target: "another one"}, {(*target[:2], "gone"): entry.judgment}):
            with pytest.raises(InputError, match=r"the verdict on response \w+ changed since the sheet was written"):
                check_targets(connection, answers, other)


def test_a_sheet_of_other_metrics_or_scales_is_refused(tmp_path: Path) -> None:
    """What a program has written back may lack the scale, or name what the log does not have: the log tells."""
    target, gone = (PASSED["id"], JUDGE_ID, "completeness"), (PASSED["id"], "gone", "completeness")
    with projections.connect([judged_log(tmp_path, 1, 1)], tools=False, asked=READ) as connection:
        check_metrics_of(connection, [Said(target, "ada", score=5), Said(target, "ada", "judge_bug")])
        with pytest.raises(InputError, match="the score 10 is not from 1 to 5, as completeness is"):
            check_metrics_of(connection, [Said(target, "ada", score=10)])
        with pytest.raises(InputError, match="the log has no metric 'completeness' of judge gone"):
            check_metrics_of(connection, [Said(gone, "ada", "judge_bug")])


def test_a_label_is_of_the_answer_that_the_person_read(tmp_path: Path) -> None:
    """One that came in behind another answer is not said of it; one of an answer that is written anew stays.

    A person's own score stays also where a judge says something else of the answer.
    """
    read = Said((PASSED["id"], JUDGE_ID, "completeness"), "ada", "valid_pass", answer_sha256=PASSED_SHA256)
    score = replace(read, verdict=None, score=4, labeler="bob")
    unknown = [replace(each, answer_sha256=None, labeler=each.labeler * 2) for each in (read, score)]
    labels = [each.event("run") for each in (read, score, *unknown)]
    other, same = PASSED | {"text": "Never."}, PASSED | {"cost_usd": 0.5}
    judged = judgment_event(PASSED, 3)
    query = "select labeler from labels where current order by labeler"
    for name, events, expected in (
        ("behind", [other, *labels], ["adaada", "bobbob"]),
        ("before", [*labels, other], []),
        ("same", [*labels, same], ["ada", "bob"]),
        ("judged", [*labels, same, judged], ["bob"]),
    ):
        (tmp_path / name).mkdir()
        log = judged_log(tmp_path / name, 2, 2, *events)
        with projections.connect([log], tools=False, asked=READ) as connection:
            assert [labeler for (labeler,) in connection.execute(query).fetchall()] == expected, name


@pytest.mark.slow
def test_labels_are_rows_of_a_view(tmp_path: Path) -> None:
    """With what was said of which verdict, by whom; one that an answer or a judgment made old is not current."""
    scored = label(PASSED, None, labeler="bob", score=2)
    log = judged_log(tmp_path, 2, 2, label(FAILED), scored, judgment_event(FAILED, 1))
    names = "sample_id, condition, judge_id, metric, labeler, verdict, scores, current"
    with projections.connect([log], tools=False, asked=READ) as connection:
        found = connection.execute(f"from labels select {names} order by position").fetchall()
    about = ("baseline", JUDGE_ID, "completeness")
    assert found == [
        ("q2", *about, "ada", "judge_bug", None, False),
        ("q0", *about, "bob", None, {"completeness": 2.0}, True),
    ]
    with duckdb.connect() as plain:
        plain.execute(projections.views_sql([log]))
        assert plain.execute(f"from labels select {names} order by position").fetchall() == found
