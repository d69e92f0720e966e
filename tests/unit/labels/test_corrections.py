from __future__ import annotations

from pathlib import Path

import pytest

from keval import ids, projections
from keval.ids import JsonObject
from keval.labels.corrections import MeanCorrection, mean_corrections
from keval.labels.labels import READ, Said
from keval.stats.ppi import ppi
from tests.builders import JUDGE_ID, judgment_event, response_event, run_event, write_log
from tests.conftest import Keval

NUMBER = 40
ANSWERS = [response_event(f"q{number}", repetition=repetition) for number in range(NUMBER) for repetition in (1, 2)]
SCORES = [1 + number * 7 % 5 for number in range(len(ANSWERS))]
NEW_ID = ids.judge_id("rubric", "claude-opus-6", {})


def people(place: int) -> int:
    return max(1, SCORES[place] - place % 3 % 2)


def label(place: int, *, method: str = "random", labeler: str = "ada", **fields: object) -> JsonObject:
    said = Said((ANSWERS[place]["id"], JUDGE_ID, "completeness"), labeler, score=people(place))
    made = said.event("run") | {"draw": {"method": method, "seed": 1}} | fields
    return made | {"id": ids.digest("label", place, labeler, method)}


def corrections(folder: Path, *events: JsonObject) -> list[MeanCorrection]:
    judgments = [judgment_event(answer, score) for answer, score in zip(ANSWERS, SCORES, strict=True)]
    log = write_log(folder / "run.jsonl", [*ANSWERS, *judgments, *events])
    with projections.connect([log], tools=False, asked=READ) as connection:
        return list(mean_corrections(connection))


def test_a_mean_is_corrected_by_the_answers_that_were_drawn(tmp_path: Path) -> None:
    """Per sample: people's score and the judge's of the same answers, and the judge's of the others."""
    drawn = [2 * number for number in range(24)]
    (found,) = corrections(tmp_path, *(label(place) for place in drawn))
    labelled = [(float(people(place)), float(SCORES[place])) for place in drawn]
    rest = [(SCORES[place] + SCORES[place + 1]) / 2 for place in range(48, 80, 2)]
    assert found.found.corrected == ppi(labelled, rest)
    assert (found.condition, found.judge, found.samples) == ("baseline", "rubric", NUMBER)
    assert found.judge_mean == pytest.approx(sum(SCORES) / len(SCORES))
    said = found.as_json()
    assert (said["method"], said["corrected"]["n_labelled"], said["reason"]) == ("PPI++", 24, None)
    assert "random draw" in said["requirement"]


def test_a_persons_score_beyond_the_scale_does_not_count(tmp_path: Path) -> None:
    """As `keval agreement` leaves it out: a mean of it could lie beyond the scale."""
    labels = [label(2 * number) for number in range(24)]
    labels[0]["scores"]["completeness"] = 50
    (found,) = corrections(tmp_path, *labels)
    assert found.found.corrected is not None
    assert found.found.corrected.n_labelled == 23


def test_samples_in_clusters_give_a_wider_interval(tmp_path: Path) -> None:
    """As the report's own interval does, where the config says which samples belong together."""
    labels = [label(2 * number) for number in range(24)]
    (alone,) = corrections(tmp_path, *labels)
    for place, answer in enumerate(ANSWERS):
        answer["sample"]["cluster"] = "abcd"[place // 2 * 4 // NUMBER]
    config = {"name": "test", "dataset": {"path": "q.jsonl", "cluster_key": "cluster"}}
    (found,) = corrections(tmp_path, run_event(["baseline"], samples=NUMBER, repetitions=2, config=config), *labels)
    for answer in ANSWERS:
        del answer["sample"]["cluster"]
    assert alone.found.corrected is not None
    assert found.found.corrected is not None
    assert found.found.corrected.mean == alone.found.corrected.mean
    assert found.found.corrected.n_clusters == 3
    assert (found.found.corrected.se or 0) >= (alone.found.corrected.se or 0)


def test_only_a_draw_at_random_corrects(tmp_path: Path) -> None:
    """Labels of failures, of a person's own choice, or of another judge's metric say nothing of the mean."""
    others = [label(0, method="by_verdict"), {**label(2), "judge_id": NEW_ID}]
    unsaid = label(4)
    del unsaid["draw"]
    assert corrections(tmp_path, *others, unsaid) == []


def test_few_labels_leave_peoples_own_mean(tmp_path: Path) -> None:
    """Two people's scores of one answer, and both answers to one sample, are averaged: three labels, two samples."""
    two = {**label(2, labeler="bob"), "scores": {"completeness": 5}}
    (found,) = corrections(tmp_path, label(0), label(1), label(2), two)
    assert found.found.people is not None
    mean = ((people(0) + people(1)) / 2 + (people(2) + 5) / 2) / 2
    assert (found.found.people.mean, found.found.people.n_labelled) == (mean, 2)
    assert found.as_json()["corrected"] is None
    assert found.as_json()["reason"].startswith("2 labelled samples")


def test_an_interval_for_people_ends_where_the_scale_ends(keval: Keval, tmp_path: Path) -> None:
    """Student's t of four 5 and a 4 would go on to 5.36, which nobody can give; numbers for programs are whole."""
    high = [{**label(2 * place), "scores": {"completeness": 5 if place else 4}} for place in range(5)]
    (found,) = corrections(tmp_path, *high)
    assert found.as_json()["people"]["ci_upper"] == pytest.approx(5.355, abs=0.001)
    assert "people               4.80, 95 % CI 4.24 to 5.00" in keval("calibrate", tmp_path / "run.jsonl").stdout
