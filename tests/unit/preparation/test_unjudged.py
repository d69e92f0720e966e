from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keval.config.model import JudgeConfig
from keval.ids import JsonObject, answer_sha256, sample_sha256
from keval.judges.pairwise import Pairwise
from keval.preparation import plan_events
from keval.preparation.jobs import Backlog, Job, jobs
from keval.preparation.pairs import condition_ids
from keval.preparation.unjudged import KnownIds, Unjudged
from keval.projections.sql_file import load
from tests.builders import (
    ask,
    judgment_event,
    plan_event,
    response_event,
    retraction_event,
    run_event,
    sample,
    sample_change_event,
    write_log,
)
from tests.jobs import exact_judge
from tests.tasks import past_of

REPLICATES = 2
RESPONSES = [response_event(f"q{number}", text=text) for number in range(2) for text in ("one", "two")]
ANSWER = response_event("q1")
CORRECTED = {**sample("q1"), "answer": "Since."}


def judged(response: JsonObject, replicate: int = 1, **fields: object) -> JsonObject:
    """Return a judgment of a response by the judge of these tests."""
    return judgment_event(response, replicate=replicate, judge_id=exact_judge().judge_id) | fields


JUDGMENT = judged(ANSWER)
AGAIN = JUDGMENT | {"sample_sha256": sample_sha256(CORRECTED)}


def missing(
    events: Sequence[JsonObject],
    *,
    replicates: int = 1,
    mock: bool = False,
    everything: bool = False,
    changing: Sequence[JsonObject] = (),
) -> list[Job]:
    """Return the jobs that a log of these events leaves to the judge."""
    judges = [exact_judge(replicates)]
    with past_of(events) as past:
        unjudged = Unjudged(past, judges, mock=mock, changing=changing)
        responses = load("execution", "planned_responses", everything=str(everything))
        return list(Backlog(past.log, unjudged.missing(responses), judges))


def is_judged(*events: JsonObject, changing: Sequence[JsonObject] = ()) -> bool:
    """Return whether nothing is left to judge of a log."""
    return not missing(events, changing=changing)


@pytest.mark.slow
def test_a_judgment_is_outdated_when_a_field_changes_that_its_judge_was_given() -> None:
    """A corrected golden answer takes it back, a new note does not; a judge of the whole sample was given the note."""
    whole = judged(ANSWER, sample_fields=None)
    assert is_judged(ANSWER, JUDGMENT)
    assert not is_judged(ANSWER, JUDGMENT, sample_change_event(CORRECTED, "answer"))
    assert is_judged(ANSWER, JUDGMENT, sample_change_event(CORRECTED, "note"))
    assert not is_judged(ANSWER, whole, sample_change_event(CORRECTED, "note"))
    assert is_judged(ANSWER, JUDGMENT, sample_change_event({**CORRECTED, "id": "q2"}, "answer"))


@pytest.mark.slow
def test_a_change_that_is_about_to_be_written_counts_like_one_that_was() -> None:
    """A run decides what to judge before it writes down that a sample changed."""
    whole = judged(ANSWER, sample_fields=None)
    corrected, noted = (sample_change_event(CORRECTED, field) for field in ("answer", "note"))
    back = sample_change_event(sample("q1"), "answer")
    assert not is_judged(ANSWER, JUDGMENT, changing=[corrected])
    assert is_judged(ANSWER, JUDGMENT, changing=[noted])
    assert not is_judged(ANSWER, whole, changing=[noted])
    assert is_judged(ANSWER, JUDGMENT, corrected, changing=[back])
    assert not is_judged(ANSWER, corrected, AGAIN, changing=[back])
    assert is_judged(ANSWER, JUDGMENT, changing=[sample_change_event({**CORRECTED, "id": "q2"}, "answer")])


@pytest.mark.slow
def test_a_judgment_counts_by_what_was_judged_wherever_it_stands() -> None:
    """One that was begun before a correction and written after it is outdated; the old record may come back."""
    there = sample_change_event(CORRECTED, "answer")
    back = sample_change_event(sample("q1"), "answer")
    assert not is_judged(ANSWER, there, JUDGMENT)
    assert is_judged(ANSWER, there, JUDGMENT, AGAIN)
    assert is_judged(ANSWER, JUDGMENT, there, back)
    assert not is_judged(ANSWER, AGAIN, there, back)


def test_a_judgment_is_of_one_text() -> None:
    """Another answer of the same task needs another judgment, until the judged one is back."""
    other = response_event("q1", text="another text")
    assert not is_judged(ANSWER, other, JUDGMENT)
    assert is_judged(ANSWER, JUDGMENT, other, ANSWER)


def test_where_nobody_said_what_changed_all_that_was_judged_before_is_outdated() -> None:
    """Two logs may be merged in which a sample of one question has two records."""
    merged = response_event("q1", repetition=2, sample=CORRECTED, sample_sha256=sample_sha256(CORRECTED))
    of_merged = judged(merged)
    assert [job.response["id"] for job in missing([ANSWER, JUDGMENT, merged, of_merged])] == [ANSWER["id"]]
    assert [job.response["id"] for job in missing([merged, of_merged, ANSWER, JUDGMENT])] == [merged["id"]]


def test_to_a_real_run_the_mock_judged_nothing() -> None:
    """And what the mock judged takes the place of nothing real."""
    mocked = JUDGMENT | {"mock": True}
    assert len(missing([ANSWER, mocked])) == 1
    assert not missing([ANSWER, mocked], mock=True)
    assert is_judged(ANSWER, JUDGMENT, mocked)


def test_an_answer_is_judged_by_the_newest_record_that_asks_the_same() -> None:
    """Be it of a change or of a later answer; a sample that asks something else now leaves the answer its record."""
    later = response_event("q1", repetition=2, sample=CORRECTED, sample_sha256=sample_sha256(CORRECTED))
    asked_anew = {**CORRECTED, "question": "Why not?"}
    for events, expected in (
        ([ANSWER, sample_change_event(CORRECTED, "answer")], CORRECTED),
        ([ANSWER, later], CORRECTED),
        ([ANSWER, sample_change_event(asked_anew, "question")], ANSWER["sample"]),
    ):
        assert missing(events)[0].response["sample"] == expected


def test_what_is_not_planned_is_judged_if_all_is_to_be() -> None:
    """The newest plan says what counts; what answers another question than that of its sample never does."""
    planned, unplanned = response_event("q1"), response_event("q2")
    edited = response_event("q1", question="Before?")
    part = plan_event([planned["question_id"]])
    events = [edited, planned, unplanned, run_event(samples=1, plan_id=part["plan_id"]), part]
    assert [job.response["id"] for job in missing(events)] == [planned["id"]]
    assert [job.response["id"] for job in missing(events, everything=True)] == [planned["id"], unplanned["id"]]


def events(data: st.DataObject) -> list[JsonObject]:
    """Return a log in which anything may have happened to a few responses; what is judged is what they say then."""
    found: list[JsonObject] = []
    newest: dict[str, JsonObject] = {}
    records: dict[str, JsonObject] = {}
    for _ in range(data.draw(st.integers(0, 12))):
        response = data.draw(st.sampled_from(RESPONSES))
        match data.draw(st.sampled_from(["response", "judgment", "retraction", "change"])):
            case "judgment" if response["id"] in newest:
                record = records[response["sample"]["id"]]
                as_judged = newest[response["id"]] | {"sample": record, "sample_sha256": sample_sha256(record)}
                judgment = judged(as_judged, data.draw(st.integers(1, REPLICATES)), mock=data.draw(st.booleans()))
                by_another = data.draw(st.booleans())
                found.append(judgment | ({"judge_id": "another", "id": f"{judgment['id']}2"} if by_another else {}))
            case "retraction":
                found.append(retraction_event(data.draw(st.sampled_from(found or [response]))))
            case "change":
                field = data.draw(st.sampled_from(["answer", "note"]))
                records[response["sample"]["id"]] = {**response["sample"], field: "new"}
                found.append(sample_change_event(records[response["sample"]["id"]], field))
            case _:
                found.append(response)
                newest[response["id"]], records[response["sample"]["id"]] = response, response["sample"]
    return found


def left(log: Sequence[JsonObject], *, mock: bool) -> set[tuple[str, int]]:
    """Return response and replicate of what is to judge, found by a plain loop over the lines."""
    live: dict[str, JsonObject] = {}
    records: dict[str, list[tuple[str, set[str] | None]]] = {}
    for event in log:
        if event["type"] == "retraction":
            live.pop(event["target"], None)
            continue
        if event["type"] in {"response", "sample_change"}:
            chain = records.setdefault(event["question_id"], [])
            told = set(event["changed"]) if event["type"] == "sample_change" else None
            if told is not None or not chain or chain[-1][0] != event["sample_sha256"]:
                chain.append((event["sample_sha256"], told))
        is_beside = event.get("mock") and event["id"] in live and not live[event["id"]].get("mock")
        if not is_beside:
            live[event["id"]] = event
    answers = {each["id"]: each for each in live.values() if each["type"] == "response"}
    done = {
        (judgment["response_id"], judgment["replicate"])
        for judgment in live.values()
        if judgment["type"] == "judgment" and judgment["judge_id"] == exact_judge().judge_id
        if (mock or not judgment["mock"]) and (answer := answers.get(judgment["response_id"])) is not None
        if judgment["answer_sha256"] == judged(answer)["answer_sha256"]
        if _is_of_now(judgment["sample_sha256"], records[answer["question_id"]])
    }
    return {(target, replicate) for target in answers for replicate in range(1, REPLICATES + 1)} - done


def _is_of_now(judged_by: str, chain: Sequence[tuple[str, set[str] | None]]) -> bool:
    """Return whether no field that the judge was given has changed since a sample last had the record it was given."""
    for sha256, changed in reversed(chain):
        if sha256 == judged_by:
            return True
        if changed is None or changed & {"question", "answer"}:
            return False
    raise AssertionError("what was judged had a record")


@given(data=st.data(), mock=st.booleans())
@settings(max_examples=20)
@pytest.mark.slow
def test_what_is_missing_is_what_a_plain_loop_over_the_log_finds(data: st.DataObject, mock: bool) -> None:
    """Whatever was answered, judged, corrected or retracted: what is judged twice is paid for twice."""
    log = events(data)
    found = missing(log, replicates=REPLICATES, mock=mock)
    pairs = [(job.response["id"], job.replicate) for job in found]
    assert len(pairs) == len(set(pairs))
    assert set(pairs) == left(log, mock=mock)


@given(st.sets(st.sampled_from([job.judgment_id for each in RESPONSES for job in jobs(each, [exact_judge(2)], set())])))
def test_ids_are_known_by_their_digits(known: set[str]) -> None:
    """Those that are there are, and no other; what is no id of ours is never looked for and never found."""
    ids = KnownIds(sorted({*known, "0short", "é" * 12}))
    assert {each for each in [*known, "0short", "0" * 24, "f" * 24, ""] if each in ids} == known


PAIR_JUDGE = JudgeConfig("versus", "pairwise", Pairwise(model="m"), 1, {"model": "m"})
BASELINE, OTHER = response_event("q1", text="One."), response_event("q1", "with_docs", text="Two.")


def compared(response: JsonObject, baseline: JsonObject, **fields: object) -> JsonObject:
    """Return a judgment of a pair."""
    beside = {"other_response_id": baseline["id"], "other_answer_sha256": answer_sha256(baseline["text"])}
    return judgment_event(response, judge_id=PAIR_JUDGE.judge_id) | beside | fields


def unpaired(*events: JsonObject) -> list[tuple[str, str]]:
    """Return the conditions of the pairs that a log of these events leaves to a judge of pairs."""
    with past_of([run_event(), *events]) as past:
        unjudged = Unjudged(past, [PAIR_JUDGE], mock=False, configs=[condition_ids(run_event())])
        responses = load("execution", "planned_responses", everything="True")
        found = list(Backlog(past.log, unjudged.missing(responses), [PAIR_JUDGE]))
    return [(job.response["condition"], job.other["condition"]) for job in found if job.other]


@pytest.mark.slow
def test_a_pair_is_missing_as_soon_as_both_its_responses_are_there() -> None:
    """The baseline's is a pair with itself; a condition's without the baseline's waits for it."""
    assert unpaired(OTHER) == []
    assert unpaired(OTHER, BASELINE) == [("with_docs", "baseline"), ("baseline", "baseline")]
    assert unpaired(BASELINE, OTHER, compared(OTHER, BASELINE), compared(BASELINE, BASELINE)) == []
    assert unpaired(BASELINE, response_event("q1", "with_docs", 2)) == [("baseline", "baseline")]


def test_a_real_answer_is_compared_with_no_answer_of_the_mock() -> None:
    """It would be paid for, and again as soon as the real one is there."""
    assert unpaired(BASELINE | {"mock": True}, OTHER) == [("baseline", "baseline")]


@pytest.mark.slow
def test_a_pair_whose_baseline_is_planned_no_more_is_not_paid_again() -> None:
    """Its judgment does not count as long as that is so, and another one would not either."""
    answer, baseline = response_event("q1", "with_docs", 3), response_event("q1", repetition=3)
    plan = plan_event([answer["question_id"]])
    once = run_event(repetitions=1, plan_id=plan["plan_id"])
    judged = compared(answer, baseline), compared(baseline, baseline)
    assert unpaired(answer, baseline, *judged, once, plan) == []


@pytest.mark.slow
def test_a_pair_is_judged_again_when_either_answer_changes(tmp_path: Path) -> None:
    """What a judge said of another text says nothing of this one; it counts for nothing meanwhile."""
    done = [BASELINE, OTHER, compared(OTHER, BASELINE), compared(BASELINE, BASELINE)]
    assert unpaired(*done, OTHER | {"text": "Three."}) == [("with_docs", "baseline")]
    again = BASELINE | {"text": "Four."}
    assert set(unpaired(*done, again)) == {("with_docs", "baseline"), ("baseline", "baseline")}
    query = "select count(*) as n from scores where condition = 'with_docs'"
    for events, n in (([], 1), ([again], 0), ([again, compared(OTHER, again)], 1), ([retraction_event(BASELINE)], 0)):
        assert ask(write_log(tmp_path / "log.jsonl", [run_event(), *done, *events]), query) == [{"n": n}]


@pytest.mark.slow
def test_a_pair_with_an_earlier_version_of_the_baseline_counts_no_more(tmp_path: Path) -> None:
    """An edited prompt makes another baseline: what was preferred to the old one says nothing of the new one."""
    question = OTHER["question_id"]
    plan_id = plan_events.plan_id([question])
    edited = {"baseline": "Answer well.", "with_docs": "Answer."}
    runs = [run_event(conditions, plan_id=plan_id) for conditions in (dict.fromkeys(edited, "Answer."), edited)]
    new = response_event("q1", text="Five.", prompt=edited["baseline"])
    before = [runs[0], plan_event([question]), BASELINE, OTHER, compared(OTHER, BASELINE)]
    query = "select count(*) as n from scores where condition = 'with_docs'"
    for events, n in ((before, 1), ([*before, runs[1], new], 0), ([*before, runs[1], new, compared(OTHER, new)], 1)):
        assert ask(write_log(tmp_path / "log.jsonl", events), query) == [{"n": n}]
