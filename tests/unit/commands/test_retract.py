from __future__ import annotations

from pathlib import Path

import pytest

from keval import projections
from keval.labels.labels import Said
from keval.logs import locks
from keval.projections.views import named_in
from tests.builders import (
    JUDGE_ID,
    failure_event,
    judgment_event,
    plan_event,
    response_event,
    retraction_event,
    run_event,
    sample,
    sample_change_event,
    write_log,
)
from tests.conftest import Keval


def a_log(folder: Path, *ids: str) -> Path:
    return write_log(folder / "run.jsonl", [response_event(each, id=each) for each in ids])


def test_a_retraction_is_appended_and_nothing_is_changed(keval: Keval, tmp_path: Path) -> None:
    """The earlier bytes stay; the new event names its target, reason and author."""
    log = a_log(tmp_path, "abc123", "abd")
    before = log.read_bytes()
    done = keval("retract", log, "abc", "--reason", "ambiguous", "--author", "me")
    assert done.returncode == 0, done.stderr
    assert log.read_bytes().startswith(before)
    assert b'"target":"abc123","reason":"ambiguous","author":"me"' in log.read_bytes()


@pytest.mark.slow
def test_several_events_are_retracted_at_once_or_none(keval: Keval, tmp_path: Path) -> None:
    """Each once; where one of the ids is wrong all that is wrong is said, and the log stays as it is."""
    # No id that keval makes begins with these letters: it is hexadecimal.
    log = a_log(tmp_path, "s1", "u1", "w1", "w2")
    before = log.read_bytes()
    done = keval("retract", log, "s1", "x", "w", "--reason", "why")
    assert (done.returncode, done.stderr.count("\n")) == (2, 2), done.stderr
    assert log.read_bytes() == before
    assert keval("retract", log, "s1", "--reason", "why").returncode == 0
    done = keval("retract", log, "s", "u", "u1", "w2", "--reason", "why")
    assert done.stderr.splitlines() == [
        "keval: s1 is retracted already; nothing of it was written", "keval: retracted u1", "keval: retracted w2",
    ]  # fmt: skip
    lines = log.read_bytes().splitlines()
    assert [line.partition(b'"target":"')[2][:2] for line in lines if b'"target"' in line] == [b"s1", b"u1", b"w2"]


@pytest.mark.slow
def test_an_id_that_is_not_there_or_not_unique_is_refused(keval: Keval, tmp_path: Path) -> None:
    """Nothing is guessed: no match and two matches are usage errors."""
    log = a_log(tmp_path, "abc", "abd")
    for prefix, said in (("x", "no event"), ("ab", "2 events")):
        done = keval("retract", log, prefix, "--reason", "why")
        assert (done.returncode, said in done.stderr) == (2, True), done.stderr


@pytest.mark.slow
def test_what_a_run_planned_cannot_be_retracted(keval: Keval, tmp_path: Path) -> None:
    """The next run says anew what is planned and which record of a sample is the newest; a retraction is for good."""
    answer = response_event()
    taken_back = retraction_event(answer)
    events = [plan_event(["q"], id="p1"), sample_change_event(sample(), "note", id="c1"), answer, taken_back]
    log = write_log(tmp_path / "run.jsonl", events)
    for target in ("p1", "c1", taken_back["id"]):
        done = keval("retract", log, target, "--reason", "why")
        assert (done.returncode, "cannot be retracted" in done.stderr) == (2, True), done.stderr


@pytest.mark.slow
def test_an_empty_reason_and_a_second_retraction_write_nothing(keval: Keval, tmp_path: Path) -> None:
    """A reason says something, and what is retracted already is not retracted again: the log stays as it is."""
    log = a_log(tmp_path, "abc")
    before = log.read_bytes()
    for option in (("--reason", " "), ("--reason", "why", "--author", "")):
        done = keval("retract", log, "abc", *option)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert log.read_bytes() == before
    assert keval("retract", log, "abc", "--reason", "why").returncode == 0
    before = log.read_bytes()
    again = keval("retract", log, "abc", "--reason", "why")
    assert (again.returncode, again.stderr) == (0, "keval: abc is retracted already; nothing was written\n")
    assert log.read_bytes() == before


def numbers(log: Path) -> dict[str, list[tuple[object, ...]]]:
    """Return what counts in a log, and what is known of it."""
    asked = {
        "answers": "select id, run_id, text from responses order by id",
        "scores": "select response_id, judge_id, run_id, score, current from scores order by all",
        "labels": "select response_id, labeler, run_id, current from labels order by all",
        "failures": "select id, kind, current from failures order by id",
        "paid": "select stage, cost_usd from costs where stage <> 'judge' order by all",
    }
    with projections.connect([log], tools=False, asked=named_in(" ".join(asked.values()))) as connection:
        return {name: connection.execute(sql).fetchall() for name, sql in asked.items()}


def test_without_a_run_all_counts_that_it_replaced(keval: Keval, tmp_path: Path) -> None:
    """Answers, judgments and labels are as before the run, also where it judged an answer again or failed a task."""
    old = [response_event(f"q{number}", run_id="first") for number in range(4)]
    judged = [judgment_event(answer, 4, run_id="first") for answer in old]
    labelled = Said((old[0]["id"], JUDGE_ID, "completeness"), "ada", score=3).event("first")
    before = [run_event(samples=5, id="first", run_id="first"), *old, *judged, labelled]
    new = [response_event(f"q{number}", text="Another.", run_id="second") for number in (0, 1, 4)]
    later = [judgment_event(answer, 2, run_id="later") for answer in new[:1]]
    failed = failure_event(old[2], run_id="second")
    again = judgment_event(old[3], 1, run_id="second")
    run = run_event(samples=5, id="second", run_id="second")
    log = write_log(
        tmp_path / "run.jsonl", [*before, run, *new, judgment_event(new[1], 1, run_id="second"), failed, again, *later]
    )
    done = keval("retract", log, "--run", "sec", "--reason", "the server was down")
    *counted, plan = done.stderr.splitlines()
    assert counted == [
        "keval: retracted 3 responses, 2 judgments, 1 failure of run second",
        "keval: appended again, to count as before: 2 responses, 3 judgments, 1 label",
    ]
    assert plan.startswith("keval: what was planned stays the newest plan: where another config")
    expected = numbers(write_log(tmp_path / "before.jsonl", [*before, run]))
    found = numbers(log)
    assert found.pop("paid") != expected.pop("paid")
    assert found == expected
    written = log.read_bytes()
    assert "nothing was written" in keval("retract", log, "--run", "second", "--reason", "why").stderr
    assert log.read_bytes() == written


@pytest.mark.parametrize("stage", ["generate", "judge"])
def test_a_run_that_still_writes_is_not_retracted(keval: Keval, tmp_path: Path, stage: str) -> None:
    """Only a part of it would be; a single answer of it may be retracted meanwhile."""
    answers = [response_event(f"q{number}", run_id="first") for number in range(2)]
    log = write_log(tmp_path / "run.jsonl", [run_event(samples=2, id="first", run_id="first"), *answers])
    written = log.read_bytes()
    with log.open("rb+") as writer, locks.held(writer.fileno(), log, stage):
        refused = keval("retract", log, "--run", "first", "--reason", "why")
        assert refused.returncode == 2
        assert "already writing to this log (pid " in refused.stderr
        assert log.read_bytes() == written
        assert keval("retract", log, answers[0]["id"], "--reason", "why").returncode == 0
    assert "retracted 1 response of run first" in keval("retract", log, "--run", "first", "--reason", "why").stderr


@pytest.mark.slow
def test_what_is_meant_is_not_guessed(keval: Keval, tmp_path: Path) -> None:
    """Ids or a run: one of the two; a run is one that the log has."""
    log = write_log(
        tmp_path / "run.jsonl", [response_event("q1", id="a", run_id="r1"), response_event("q2", id="b", run_id="r2")]
    )
    for given, told in (
        ((), "give the IDs of events, or --run"),
        (("a", "--run", "r1"), "give the IDs of events, or --run"),
        (("--run", ""), "an id is empty"),
        (("",), "an id is empty"),
        (("--run", "x"), "no run has an id that begins with 'x'"),
        (("--run", "r"), "2 runs have ids that begin with 'r'"),
    ):
        done = keval("retract", log, *given, "--reason", "why")
        assert (done.returncode, told in done.stderr) == (2, True), done.stderr


@pytest.mark.slow
def test_earlier_answers_that_go_with_a_retracted_one_are_told(keval: Keval, tmp_path: Path) -> None:
    """A retraction is of an id: who takes back the newer answer alone has to know."""
    events = [response_event("q1", id="a", run_id="r1"), response_event("q1", id="a", text="Other.", run_id="r2")]
    done = keval("retract", write_log(tmp_path / "run.jsonl", events), "a", "--reason", "why")
    assert "keval: it had replaced earlier events of the same id, which do not count either" in done.stderr


@pytest.mark.slow
def test_a_run_that_later_runs_replaced_is_retracted_with_them(keval: Keval, tmp_path: Path) -> None:
    """One after the other, the last one first, or both at once: what was there before the two counts again."""
    answers = [response_event("q1", text=text, run_id=run) for run, text in (("r1", "A."), ("r2", "B."), ("r3", "C."))]
    one_by_one = (("--run", "r3"), ("--run", "r2"))
    for number, commands in enumerate((one_by_one, (("--run", "r2", "--run", "r3"),))):
        log = write_log(tmp_path / f"{number}.jsonl", answers)
        for named in commands:
            assert keval("retract", log, *named, "--reason", "why").returncode == 0
        with projections.connect([log]) as connection:
            assert connection.execute("select text from responses").fetchall() == [("A.",)]
    log = write_log(tmp_path / "first.jsonl", answers)
    assert (
        "1 event of run r2 had been replaced by later runs"
        in keval("retract", log, "--run", "r2", "--reason", "w").stderr
    )


@pytest.mark.slow
def test_a_retraction_that_was_cut_off_goes_on(keval: Keval, tmp_path: Path) -> None:
    """After the retraction, and before what it replaced was there again: the same command brings it back."""
    log = write_log(
        tmp_path / "run.jsonl", [response_event("q1", run_id="r1"), response_event("q1", text="B.", run_id="r2")]
    )
    assert keval("retract", log, "--run", "r2", "--reason", "why").returncode == 0
    whole = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(whole[:-1]))
    assert (
        "appended again, to count as before: 1 response"
        in keval("retract", log, "--run", "r2", "--reason", "why").stderr
    )
    assert log.read_bytes().splitlines(keepends=True)[-1] == whole[-1]


def test_a_sample_that_a_run_changed_is_said_to_stay(keval: Keval, tmp_path: Path) -> None:
    """The corrected golden answer is the dataset's, not the run's: nobody may think that it was taken back."""
    answer = response_event(run_id="first")
    judged = [judgment_event(answer, score, run_id=run_id) for score, run_id in ((4, "first"), (2, "second"))]
    changes = [sample_change_event(sample(), "answer", run_id=run_id) for run_id in ("second", "third")]
    for written, said in ((changes[:1], True), (changes, False)):
        log = write_log(tmp_path / "run.jsonl", [answer, judged[0], *written, judged[1]])
        done = keval("retract", log, "--run", "second", "--reason", "the correction was wrong")
        assert "retracted 1 judgment of run second" in done.stderr
        assert ("1 sample stays as run second recorded a change of the dataset" in done.stderr) == said
