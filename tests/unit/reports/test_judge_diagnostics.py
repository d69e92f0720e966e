from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from keval import ids, projections
from keval.ids import JsonObject
from keval.reports.judge_diagnostics import READ, Diagnostic, diagnostics
from tests.builders import JUDGE, METRICS, judge_entry, judgment_event, response_event, run_event, write_log

OPUS, SONNET = (ids.judge_id("rubric", model, {}) for model in ("claude-opus-5", "claude-sonnet-5"))
PAIR_ID = ids.judge_id("pairwise", "claude-opus-5", {})
PREFERENCE = {"name": "preference", "min": 0, "max": 1}
JUDGES = [
    judge_entry(METRICS, judge_id=OPUS, name="opus"),
    judge_entry(METRICS, judge_id=SONNET, name="sonnet"),
    judge_entry([PREFERENCE], judge_id=PAIR_ID, name="pairs"),
]


def judged(answer: JsonObject, score: float, *, model: str = "claude-opus-5", **fields: object) -> JsonObject:
    of_opus = model == "claude-opus-5"
    judge = {**JUDGE, "name": "opus" if of_opus else "sonnet", "model": model}
    return judgment_event(answer, score, judge_id=OPUS if of_opus else SONNET, judge=judge, **fields)  # type: ignore[arg-type]  # fields of the event by name


def found(tmp_path: Path, events: Iterable[JsonObject]) -> dict[str, Diagnostic]:
    """Return what is found of the first judge, by name."""
    log = write_log(tmp_path / "run.jsonl", [run_event(samples=12, judges=JUDGES), *events])
    with projections.connect([log], tools=False, asked=READ) as connection:
        made = diagnostics(connection)
    return {each.name: each for each in reversed(made) if each.judge != "sonnet"}


@pytest.mark.parametrize(
    ("scores", "said"),
    [
        ([1, 1, 2, 2, 3, 3, 4, 4, 5, 5], "longer answers score higher"),
        ([5, 5, 4, 4, 3, 3, 2, 2, 1, 1], "longer answers score lower"),
        ([3, 1, 4, 1, 5, 2, 2, 4, 1, 3], "no relation between length and score shown"),
    ],
)
def test_scores_that_go_with_length(tmp_path: Path, scores: list[int], said: str) -> None:
    """The rank correlation with the number of characters, with an interval, and words that claim no more than it."""
    answers = [response_event(f"q{number}", text="word " * (number + 1)) for number in range(10)]
    one = found(tmp_path, [*answers, *(judged(*each) for each in zip(answers, scores, strict=True))])["length"]
    assert (one.sentence, one.n) == (said, 10)
    assert one.ci_lower is not None
    assert one.value is not None
    assert one.ci_lower < one.value


def test_what_does_not_vary_cannot_be_told(tmp_path: Path) -> None:
    """Answers of one length, and judgments of which each sample has one, say nothing, with the reason."""
    answers = [response_event(f"q{number}") for number in range(6)]
    made = found(tmp_path, [*answers, *(judged(answer, 3) for answer in answers)])
    assert (made["length"].value, made["length"].reason) == (None, "score or length does not vary")
    assert made["length"].sentence == "cannot tell: score or length does not vary"
    assert "time" not in made


def test_two_scores_are_too_few_for_a_correlation(tmp_path: Path) -> None:
    """That is why nothing is told: both their lengths and the scores themselves differ."""
    answers = [response_event(f"q{number}", text="word " * (number + 1)) for number in range(2)]
    made = found(tmp_path, [*answers, *(judged(*each) for each in zip(answers, (1, 5), strict=True))])["length"]
    assert (made.value, made.n, made.reason) == (None, 2, "fewer than 3 scores")


@pytest.mark.parametrize("when", ["2026-11-20T1{}:0{}:00.000Z", "2026-11-20T10:00:00.{}{}0Z"])
def test_drift_is_within_sample_and_condition(tmp_path: Path, when: str) -> None:
    """Later repetitions that score higher are drift, in hours and in a second; harder samples judged later are none."""
    events = []
    for number in range(8):
        for repetition in (1, 2, 3):
            answer = response_event(f"q{number}", repetition=repetition)
            score = min(5, 1 + repetition) - (number > 6)
            events += [answer, judged(answer, score, time=when.format(repetition, number))]
    assert found(tmp_path, events)["time"].sentence == "later judgments are higher"


def test_the_end_of_the_scale(tmp_path: Path) -> None:
    """The share of the highest scores, of samples; many leave no room for better answers."""
    answers = [response_event(f"q{number}") for number in range(10)]
    full = [judged(answer, 5 if number else 4) for number, answer in enumerate(answers)]
    one = found(tmp_path, [*answers, *full])["highest score"]
    assert (one.value, one.n, one.ci_upper is not None and one.ci_upper < 1) == (0.9, 10, True)
    assert one.sentence.endswith("the scale has little room to show that answers become better")
    yes_or_no = [judged(answer, 5 if number else 1) for number, answer in enumerate(answers)]
    assert "highest score" not in found(tmp_path, [*answers, *yes_or_no])


@pytest.mark.parametrize("unknown", [None, "sometimes"])
def test_the_order_of_pairs(tmp_path: Path, unknown: str | None) -> None:
    """How often it decides, and which place is preferred then; of pairs of the same text nobody was asked.

    An outcome of somebody else's judge may say anything: what is neither yes nor no is unknown.
    """
    events = []
    for number in range(12):
        answer = response_event(f"q{number}", "with_docs", text=f"answer {number}")
        order = number < 8
        outcome = {
            "verdict": "tie" if order else "this", "order_dependent": unknown if number == 11 else order,
            "in_order": ["this", "baseline"] if order else ["this", "this"], "same_text": number == 11,
        }  # fmt: skip
        judge = {"name": "pairs", "type": "pairwise", "model": "claude-opus-5"}
        event = judgment_event(answer, judge_id=PAIR_ID, judge=judge, outcome=outcome)
        score = 0.5 if number else 1
        event["scores"] = {"preference": {"score": score, "reasoning": "", "min": 0, "max": 1, "passed": None}}
        events += [answer, event]
    made = found(tmp_path, events)
    assert made["order decides"].value == pytest.approx(8 / 11)
    assert made["order decides"].n == 11
    assert (made["first place"].value, made["first place"].n) == (1, 8)
    assert made["first place"].sentence == "where the order decides, the first answer is preferred"
    assert made["highest score"].value == pytest.approx(1 / 11)
    assert made["highest score"].n == 11


def own_model_events(favour: float, *, sonnet_too: bool = True) -> list[JsonObject]:
    events = []
    for number in range(8):
        for condition, model in (("baseline", "claude-opus-5"), ("with_docs", "claude-haiku-4-5")):
            answer = response_event(f"q{number}", condition, models=[model])
            own = favour if model == "claude-opus-5" and number % 4 else 0
            events += [answer, judged(answer, 3 + own)]
            if sonnet_too:
                events.append(judged(answer, 3 + number % 2, model="claude-sonnet-5"))
    return events


def paired(event: JsonObject, *, is_same: bool) -> JsonObject:
    """Return a judgment as one of a pair; of an answer compared with itself nobody was asked."""
    if event["type"] == "response":
        return event
    outcome = {"verdict": "tie", "order_dependent": None if is_same else False, "in_order": None, "same_text": is_same}
    return event | {"judge": event["judge"] | {"type": "pairwise"}, "outcome": outcome}


@pytest.mark.slow
def test_a_judge_that_prefers_its_own_model(tmp_path: Path) -> None:
    """What it gives its own model above what another judge gives, minus the same of other models' answers."""
    one = found(tmp_path, own_model_events(1))["own model"]
    assert (one.value, one.n) == (0.75, 8)
    assert one.sentence == "it gives answers of its own model more than others give them"
    alone = found(tmp_path, own_model_events(1, sonnet_too=False))["own model"]
    assert alone.value is None
    assert alone.sentence.startswith("cannot tell: nobody else scored these answers by this metric")
    nobody_asked = [paired(event, is_same=event["condition"] == "baseline") for event in own_model_events(1)]
    assert found(tmp_path, nobody_asked)["own model"].reason == "no answer is of the judge's own model"
    none = [event for event in own_model_events(0) if event.get("condition") != "baseline"]
    assert found(tmp_path, none)["own model"].reason == "no answer is of the judge's own model"
