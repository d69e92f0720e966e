from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keval import ids, projections
from keval.errors import UsageError
from keval.ids import JsonObject
from keval.labels.draw import Entry, Wanted, draw, spread
from keval.labels.filled_sheet import read
from keval.labels.labels import READ, calibrated, known_labels
from keval.labels.sheet import jsonl, markdown
from tests.builders import (
    JUDGE_ID,
    METRICS,
    judge_entry,
    judgment_event,
    response_event,
    run_event,
    sample,
    sample_change_event,
    write_log,
)
from tests.labelled import judged_log

TWO = ("baseline", "with_docs")


def drawn(log: Path, wanted: Wanted) -> list[Entry]:
    with projections.connect([log], tools=False, asked=READ) as connection:
        return draw(connection, log, wanted)


@given(st.lists(st.integers(0, 40), max_size=6), st.integers(0, 100))
def test_a_draw_is_spread_evenly(sizes: list[int], number: int) -> None:
    """As many as wanted or as there are, never more of a stratum than it has, and of two that have enough as many."""
    shares = spread(sizes, number)
    assert sum(shares) == min(number, sum(sizes))
    assert all(share <= size for share, size in zip(shares, sizes, strict=True))
    of_large = [share for share, size in zip(shares, sizes, strict=True) if share < size]
    assert not of_large or max(of_large) - min(of_large) <= 1


@pytest.mark.slow
def test_failures_are_drawn_and_passes_if_wanted(tmp_path: Path) -> None:
    """Of each kind so many; each with its question, answer, score and reasoning, and without its condition."""
    log = judged_log(tmp_path, 6, 5)
    failures = drawn(log, Wanted(3))
    assert [entry.passed for entry in failures] == [False] * 3
    both = drawn(log, Wanted(3, passes=True))
    assert Counter(entry.passed for entry in both) == {False: 3, True: 3}
    first = failures[0]
    assert (first.question, first.answer, first.score, first.reasoning) == ("Why?", "Because.", 2, "It says so.")
    assert not hasattr(first, "condition")


@pytest.mark.slow
@pytest.mark.parametrize("question", ["Why?", "Why not?"])
def test_people_are_asked_by_the_newest_golden_answer(tmp_path: Path, question: str) -> None:
    """It is that of answers before it, too, unless they answer another question: these keep their own."""
    newest = sample("q0", question) | {"answer": "Corrected."}
    response = response_event("q0")
    rejudged = judgment_event(response | {"sample": newest, "sample_sha256": ids.sample_sha256(newest)}, 2)
    log = judged_log(tmp_path, 0, 1, sample_change_event(newest, "answer"), rejudged)
    golden = "Corrected." if question == "Why?" else "Because."
    for wanted in (Wanted(1), Wanted(1, scores=True)):
        assert {(entry.question, entry.golden_answer) for entry in drawn(log, wanted)} == {("Why?", golden)}


@pytest.mark.slow
def test_a_draw_is_stable_and_a_larger_one_has_all_of_a_smaller_one(tmp_path: Path) -> None:
    """The same seed draws the same, whatever the number; another seed draws others."""
    log = judged_log(tmp_path, 0, 30)
    few, many = ({entry.response_id for entry in drawn(log, Wanted(number))} for number in (8, 16))
    assert few < many
    assert {entry.response_id for entry in drawn(log, Wanted(8, seed=1))} != few


@pytest.mark.slow
def test_each_condition_and_each_value_of_a_field_has_its_part(tmp_path: Path) -> None:
    """A draw of four from two conditions takes two of each; divided by a field, one of each value of each."""
    log = judged_log(tmp_path, 2, 8, conditions=TWO)
    of = {response_event(f"q{n}", condition)["id"]: condition for n in range(10) for condition in TWO}
    assert Counter(of[entry.response_id] for entry in drawn(log, Wanted(4))) == dict.fromkeys(TWO, 2)
    by_sample = drawn(log, Wanted(16, by=("id",)))
    assert len({entry.response_id for entry in by_sample}) == 16


@pytest.mark.slow
def test_a_field_that_no_sample_has_divides_nothing(tmp_path: Path) -> None:
    """It is refused, and so is a path into a field: all verdicts would be of one group that says that it is divided."""
    log = judged_log(tmp_path, 1, 1)
    for field in ("topik", "meta.level"):
        with pytest.raises(UsageError, match=f"--by {field}: no sample has such a field"):
            drawn(log, Wanted(by=("id", field)))
        with (
            projections.connect([log], tools=False, asked=READ) as connection,
            pytest.raises(UsageError, match=f"--by {field}"),
        ):
            list(calibrated(connection, known_labels(connection, log), Wanted(by=(field,))))


@pytest.mark.slow
def test_answers_at_random_are_of_the_same_samples_in_every_condition(tmp_path: Path) -> None:
    """Passed or failed, so many of each condition, the same ones; the judge's verdict is not shown of them."""
    log = judged_log(tmp_path, 6, 6, conditions=TWO)
    found = drawn(log, Wanted(8, scores=True, seed=3))
    of = {response_event(f"q{n}", condition)["id"]: (f"q{n}", condition) for n in range(12) for condition in TWO}
    samples = [{of[each.response_id][0] for each in found if of[each.response_id][1] == name} for name in TWO]
    assert (len(samples[0]), samples[0]) == (4, samples[1])
    assert samples[0] != {of[each.response_id][0] for each in drawn(log, Wanted(8, scores=True, seed=4))}
    assert all(each.is_blind and each.draw == {"method": "random", "seed": 3} for each in found)


def test_a_metric_that_two_judges_have_is_asked_for_once(tmp_path: Path) -> None:
    """The entry names the other judge, a sheet too, and the score becomes a label for each."""
    answer = response_event("q0")
    other = {**judgment_event(answer, 4), "id": "0" * 24, "judge_id": "f" * 24}
    log = write_log(tmp_path / "run.jsonl", [answer, judgment_event(answer, 3), other])
    entries = drawn(log, Wanted(scores=True))
    assert len(entries) == len({entry.metric for entry in entries})
    judges = {JUDGE_ID, "f" * 24}
    assert all({entry.judge_id, *entry.also} == judges for entry in entries)
    row = {**json.loads(jsonl(entries[:1], "ada")), "score": 3}
    (tmp_path / "sheet.jsonl").write_text(json.dumps(row))
    assert {said.target[1] for said in read(tmp_path / "sheet.jsonl", None).said} == judges


def test_who_scores_is_told_what_the_metric_asks(tmp_path: Path) -> None:
    """As the newest run says it, in each sheet; who says if a verdict is right reads what the judge said."""
    answer = response_event("q0")
    runs = [
        run_event(judges=[judge_entry([{**METRICS[0], "description": asks}])], run_id=f"{number:016x}")
        for number, asks in enumerate(("Is it whole?", "Is <b>all</b> there?"))
    ]
    log = write_log(tmp_path / "run.jsonl", [runs[0], answer, judgment_event(answer, 3), runs[1]])
    (entry,) = drawn(log, Wanted(scores=True))
    assert entry.asks == "Is <b>all</b> there?"
    assert json.loads(jsonl([entry], "ada"))["asks"] == entry.asks
    assert "> Is &lt;b>all&lt;/b> there?\n\nScore:" in markdown([entry], "ada")
    assert [each.asks for each in drawn(log, Wanted(pass_from={"completeness": 4}))] == [None]


@pytest.mark.parametrize("scores", [True, False])
def test_of_a_judge_of_pairs_nothing_is_drawn(tmp_path: Path, scores: bool) -> None:
    """A person who sees one answer cannot say whether it is better than another one."""
    answer = response_event()
    own_kind: JsonObject = {"type": "own", "unit": "pair"}  # of another package
    for kind, is_asked in (({"type": "pairwise"}, False), (own_kind, False), ({"type": "rubric"}, True)):
        judge = judge_entry() | kind
        log = write_log(
            tmp_path / f"{kind['type']}.jsonl", [run_event(judges=[judge]), answer, judgment_event(answer, 4)]
        )
        found = drawn(log, Wanted(3, passes=not scores, scores=scores, pass_from={"completeness": 4}))
        assert bool(found) == is_asked


@pytest.mark.slow
def test_a_sample_is_asked_about_twice_only_when_all_were(tmp_path: Path) -> None:
    """The sample is the unit: of two repetitions one is drawn of each sample before the second of any."""
    names = [f"q{number}" for number in range(5)]
    answers = [response_event(name, repetition=repetition) for repetition in (1, 2) for name in names]
    log = write_log(tmp_path / "run.jsonl", [*answers, *(judgment_event(answer, 3) for answer in answers)])
    sample = {answer["id"]: answer["sample"]["id"] for answer in answers}
    for number, most in ((5, 1), (8, 2)):
        found = Counter(sample[entry.response_id] for entry in drawn(log, Wanted(number, scores=True)))
        assert (len(found), max(found.values())) == (5, most)


def test_a_part_of_the_answers_is_no_draw_at_random() -> None:
    """Passes apart, or a field's values apart, are refused: what is said of them says nothing of all."""
    for wrong in ({"passes": True}, {"by": ("id",)}):
        with pytest.raises(UsageError, match="draws from all answers"):
            Wanted(scores=True, **wrong)


def test_a_log_without_verdicts_gives_nothing(tmp_path: Path) -> None:
    """Where all pass there is no failure to be drawn."""
    assert drawn(judged_log(tmp_path, 3, 0), Wanted()) == []


@pytest.mark.slow
@pytest.mark.parametrize("scores", [False, True])
def test_people_are_asked_about_the_metrics_that_are_wanted(tmp_path: Path, scores: bool) -> None:
    """All others are in no draw; a name that no metric has is refused, with the nearest."""
    log = judged_log(tmp_path, 8, 4)
    answer, *_ = drawn(log, Wanted(1, scores=scores))
    judge = {"type": "python", "model": None, "name": "second"}
    events = [json.loads(line) for line in log.read_bytes().splitlines()]
    again = [each | {"id": f"{each['id']}-2", "judge": judge, "judge_id": "second"}
             for each in events if each["type"] == "judgment"]  # fmt: skip
    run = run_event([], judges=[judge_entry(judge_id="second", name="second")], id="later")
    log.write_text("".join(json.dumps(each) + "\n" for each in [*events, run, *again]))
    for name in ("second/completeness", f"{JUDGE_ID}/completeness"):
        found = drawn(log, Wanted(4, scores=scores, metrics=(name,), pass_from={"completeness": 4}))
        assert {(entry.judge_id, entry.also) for entry in found} == {(name.partition("/")[0], ())}
        assert len(found) == 4
    with pytest.raises(UsageError, match=f"--metric compleness: no such metric; did you mean '{answer.metric}'"):
        drawn(log, Wanted(metrics=("compleness",)))
