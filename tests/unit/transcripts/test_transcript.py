"""Tasks as people read them: the right ones, with all that the log says of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from keval import projections
from keval.errors import UsageError
from keval.projections.log_file import ChangedError, LogFile, as_log_file
from keval.transcripts.sections import about, sections, title
from keval.transcripts.selection import Selection
from keval.transcripts.transcript import Transcript, of_sample, transcripts
from tests.builders import (
    failure_event,
    judge_entry,
    judge_failure_event,
    judgment_event,
    response_event,
    retraction_event,
    run_event,
    write_log,
)

GOLDEN = "The golden answer is long enough."
CALL = {
    "type": "tool_call", "id": "t1", "name": "mcp__docs__search", "server": "docs", "input": {"q": "why"},
    "result": f"They say: {GOLDEN}", "error": False, "duration_ms": 5,
}  # fmt: skip
SAMPLE = {"id": "q1", "question": "Why?", "answer": GOLDEN}
FIRST = response_event(sample=SAMPLE, turns=[CALL, {"type": "text", "text": "Because."}])
OTHER = response_event("q1", "with_docs", sample=SAMPLE, text="Not so.", cost_usd=None)
FAILED = response_event("q2", "with_docs")
UNJUDGED = response_event("q2")
EVENTS = (
    run_event(),
    FIRST,
    judgment_event(FIRST, 4),
    OTHER,
    judgment_event(OTHER, 2),
    UNJUDGED,
    judge_failure_event(UNJUDGED),
    failure_event(FAILED),
)


READ = [*Selection(regressed=True, worst=1).read]


class Found:
    """The transcripts of one log, whose tables are made once."""

    def __init__(self, connection: object, log: Path) -> None:
        self.connection, self.log = connection, log

    def of(self, **selection: object) -> list[Transcript]:
        """Return the tasks that are chosen."""
        return list(transcripts(self.connection, [LogFile(self.log, "run.jsonl")], Selection(**selection)))  # type: ignore[arg-type]  # a test names what it wants


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Found]:
    log = write_log(tmp_path_factory.mktemp("log") / "run.jsonl", EVENTS)
    with projections.connect([log], tools=False, asked=READ) as connection:
        yield Found(connection, log)


def names(found: list[Transcript]) -> list[str]:
    return [title(each) for each in found]


def test_all_tasks_are_shown_sample_by_sample(found: Found) -> None:
    """Without a choice every task is shown once, conditions in the order of the config."""
    assert names(found.of()) == [
        "q1 · baseline · repetition 1",
        "q1 · with_docs · repetition 1",
        "q2 · baseline · repetition 1",
        "q2 · with_docs · repetition 1",
    ]


@pytest.mark.parametrize("sample_id", ["q1", "q2", "q3"])
def test_one_sample_is_shown_as_among_all(found: Found, sample_id: str) -> None:
    """Found by the sample alone it has the same tasks with the same events; a sample that is not there has none."""
    alone = list(of_sample(found.connection, [LogFile(found.log, "run.jsonl")], sample_id))  # type: ignore[arg-type] # it is one
    among_all = [each for each in found.of() if each.sample_id == sample_id]
    assert [each.as_json() for each in alone] == [each.as_json() for each in among_all]


def test_chosen_samples_are_shown_as_among_all(found: Found) -> None:
    """Only their lines are looked at, which say of their tasks what all lines say, in the same order."""
    both = found.of(samples=("q2", "q[1]"))
    assert [each.as_json() for each in both] == [each.as_json() for each in found.of()]
    only_failed = [each.as_json() for each in found.of(failed=True)]
    assert [each.as_json() for each in found.of(samples=("q*",), failed=True)] == only_failed != []


def test_one_event_of_a_sample_is_found_by_its_whole_id(found: Found) -> None:
    """That of an answer or a failure, and no other task of the sample."""
    for event, sample_id in ((FIRST, "q1"), (EVENTS[-1], "q2")):
        logs = [LogFile(found.log, "run.jsonl")]
        (one,) = of_sample(found.connection, logs, sample_id, event["id"])  # type: ignore[arg-type] # it is one
        assert one.outcome == event


def test_samples_and_conditions_are_names_or_patterns(found: Found) -> None:
    """Each may be given several times; both together choose what has both."""
    assert names(found.of(samples=("q[1]",), conditions=("with*", "nothing*"))) == ["q1 · with_docs · repetition 1"]
    assert len(found.of(samples=("q1", "q2"), repetition=1)) == 4
    assert found.of(repetition=2) == []


def test_any_id_leads_to_its_task(found: Found) -> None:
    """That of an answer, of a judgment of it, of a failure: the beginning is enough."""
    judgment, failure = EVENTS[2], EVENTS[-1]
    for event, expected in ((FIRST, FIRST), (judgment, FIRST), (failure, FAILED)):
        (one,) = found.of(id=event["id"][:12])
        assert (one.sample_id, one.outcome["condition"]) == (expected["sample"]["id"], expected["condition"])


def test_failed_are_those_of_agent_and_judge(found: Found) -> None:
    """A task without an answer, and an answer that a judge failed to judge."""
    assert names(found.of(failed=True)) == ["q2 · baseline · repetition 1", "q2 · with_docs · repetition 1"]


def test_the_worst_come_first(found: Found) -> None:
    """A failure that counts as the worst score is below every score; what has no score has no place."""
    assert names(found.of(worst=2)) == ["q2 · with_docs · repetition 1", "q1 · with_docs · repetition 1"]
    assert len(found.of(worst=9)) == 3
    assert names(found.of(worst=2, answered=True))[0] == "q1 · with_docs · repetition 1"


def test_regressed_are_samples_that_lost_beside_the_baselines_answers(tmp_path: Path) -> None:
    """The largest loss first; answers of conditions that scored no lower than the baseline are left out."""
    scored = {
        "q1": {"baseline": 4, "with_docs": 3},
        "q2": {"baseline": 3, "with_docs": 4},
        "q3": {"baseline": 5, "with_docs": 2},
        "q4": {"baseline": 3, "with_docs": 3},
    }
    answers = [(response_event(sample, each), score) for sample, of in scored.items() for each, score in of.items()]
    judged = [judgment_event(answer, score) for answer, score in answers]
    failed = [
        response_event("q5"),
        judgment_event(response_event("q5"), 4),
        failure_event(response_event("q5", "with_docs")),
    ]
    log = write_log(tmp_path / "run.jsonl", [run_event(), *(answer for answer, _ in answers), *judged, *failed])
    with projections.connect([log], tools=False, asked=READ) as connection:
        found = Found(connection, log)
        assert [title(each).removesuffix(" · repetition 1") for each in found.of(regressed=True)] == [
            "q3 · baseline", "q3 · with_docs", "q5 · baseline", "q5 · with_docs", "q1 · baseline", "q1 · with_docs",
        ]  # fmt: skip
        assert names(found.of(regressed=True, conditions=("with_docs",), worst=2, answered=True)) == [
            "q3 · with_docs · repetition 1", "q1 · with_docs · repetition 1",
        ]  # fmt: skip


@pytest.fixture(scope="module", name="two_metrics")
def _two_metrics(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Found]:
    """Return the tasks of a judge with two metrics, of which half of 0 to 1 is more than one point of 1 to 5."""
    metrics = [{"name": "clarity", "min": 1, "max": 5}, {"name": "hit", "min": 0, "max": 1}]
    scored = {
        ("q1", "baseline"): (3, 1), ("q1", "a"): (2, 1), ("q1", "b"): (3, 1),
        ("q2", "baseline"): (3, 1), ("q2", "a"): (3, 0.5), ("q2", "b"): (2.9, 1),
    }  # fmt: skip
    events = [run_event(("baseline", "a", "b"), judges=[judge_entry(metrics)])]
    for (sample, condition), (clarity, hit) in scored.items():
        answer = response_event(sample, condition)
        events += [answer, judgment_event(answer, {"clarity": clarity, "hit": hit})]
    log = write_log(tmp_path_factory.mktemp("two") / "run.jsonl", events)
    with projections.connect([log], tools=False, asked=READ) as connection:
        yield Found(connection, log)


@pytest.mark.parametrize(
    ("metrics", "worst", "regressed"),
    [
        ((), "q1 · a", ["q2 · baseline", "q2 · a", "q2 · b", "q1 · baseline", "q1 · a"]),
        (("clarity",), "q1 · a", ["q1 · baseline", "q1 · a", "q2 · baseline", "q2 · b"]),
        (("hit",), "q2 · a", ["q2 · baseline", "q2 · a"]),
        (("rubric/hit",), "q2 · a", ["q2 · baseline", "q2 · a"]),
        (("clarity", "rubric/hit"), "q1 · a", ["q2 · baseline", "q2 · a", "q2 · b", "q1 · baseline", "q1 · a"]),
    ],
)
def test_the_metrics_that_are_named_decide_alone(
    metrics: tuple[str, ...], worst: str, regressed: list[str], two_metrics: Found
) -> None:
    """Which tasks are the worst, and which samples regressed, the largest loss as a share of a scale first."""
    assert names(two_metrics.of(worst=1, metrics=metrics)) == [f"{worst} · repetition 1"]
    assert names(two_metrics.of(regressed=True, metrics=metrics)) == [f"{each} · repetition 1" for each in regressed]


def test_a_metric_that_nobody_has_is_refused(two_metrics: Found) -> None:
    """The message says what may be meant."""
    with pytest.raises(UsageError, match=r"--metric hits: no such metric; did you mean 'hit'"):
        two_metrics.of(worst=1, metrics=("hits",))


def test_what_was_retracted_gives_no_sample_its_place(tmp_path: Path) -> None:
    """Samples stand as their answers that count do: one that was asked again comes last."""
    first, again, other = response_event("q1"), response_event("q1", text="Again."), response_event("q2")
    log = write_log(tmp_path / "run.jsonl", [run_event(), first, retraction_event(first), other, again])
    with projections.connect([log], tools=False, asked=READ) as connection:
        assert [each.sample_id for each in Found(connection, log).of()] == ["q2", "q1"]


def test_answered_leaves_out_what_the_agent_failed(found: Found) -> None:
    """What a judge failed is answered; with `failed` only that is left."""
    assert [each.outcome["type"] for each in found.of(answered=True)] == 3 * ["response"]
    assert names(found.of(answered=True, failed=True)) == ["q2 · baseline · repetition 1"]


def test_unverified_are_the_answers_whose_current_judgments_list_claims(tmp_path: Path) -> None:
    """A claim of white space is none; a judgment that was taken back has none."""
    claiming, blank, corrected = (response_event(f"q{number}") for number in range(3))
    before = judgment_event(corrected, unverified_claims=["It was so."])
    events = [
        run_event(), claiming, blank, corrected, before,
        judgment_event(claiming, unverified_claims=["Bees can count."]),
        judgment_event(blank, unverified_claims=["  "]),
        retraction_event(before),
        judgment_event(corrected, id="a" * 24),
    ]  # fmt: skip
    with projections.connect([write_log(tmp_path / "run.jsonl", events)], tools=False, asked=READ) as connection:
        found = Found(connection, tmp_path / "run.jsonl").of(unverified=True)
    assert [each.sample_id for each in found] == ["q0"]


def test_an_unknown_name_is_told_with_the_nearest(found: Found) -> None:
    """A mistyped sample or condition, and an id of nothing, are errors that help on."""
    with pytest.raises(UsageError, match="of sample 'q3'; did you mean 'q1'"):
        found.of(samples=("q1", "q3"), conditions=("nothing",))
    with pytest.raises(UsageError, match="of condition 'with_doc'; did you mean 'with_docs'"):
        found.of(conditions=("with_doc",))
    with pytest.raises(UsageError, match="begins with 'zz'"):
        found.of(id="zz")


def test_sections_say_all_in_the_order_of_reading(found: Found) -> None:
    """The text that is the answer is said once; a result with the golden answer says so."""
    (first,) = found.of(samples=("q1",), conditions=("baseline",))
    shown = {section.title: section.text for section in sections(first)}
    assert list(shown) == ["Question", "Golden answer", "Step 1: tool call", "Answer", "Scores", "Cost"]
    assert shown["Step 1: tool call"].splitlines() == [
        'docs · search {"q":"why"}', "→ 43 bytes, 0.005 s, holds the golden answer", f"They say: {GOLDEN}",
    ]  # fmt: skip
    assert shown["Scores"] == "rubric: completeness 4 (1 to 5): It says so."
    assert shown["Cost"] == "agent $0.2500 · judges $0.5000 · 1.00 s · 100 input and 10 output tokens · 1 attempt"
    assert about(first) == f"answered · {FIRST['id']} · echo · {FIRST['time']}"


def test_what_is_unknown_is_said_in_words(found: Found) -> None:
    """No number stands for an unknown cost; a failure stands where the answer would."""
    _, other, unjudged, failed = found.of()
    assert {section.title: section.text for section in sections(other)}["Cost"].startswith("agent cost unknown · ")
    shown = {section.title: section.text for section in sections(failed)}
    assert (shown["Failure"], shown["Scores"]) == ("timeout: what went wrong: timeout", "(not judged)")
    assert "Answer" not in shown
    assert "rubric: not judged: judge_error" in {s.title: s.text for s in sections(unjudged)}["Scores"]


def test_a_score_below_its_threshold_is_a_failure(tmp_path: Path) -> None:
    """As all numbers have it, where the judge itself says nothing of it; what the judge says goes first."""
    judged = [judgment_event(FIRST, 4), judgment_event(OTHER, 2), judgment_event(UNJUDGED, 2)]
    judged[2]["scores"]["completeness"]["passed"] = True
    run = run_event(judges=[judge_entry([{"name": "completeness", "min": 1, "max": 5, "pass_from": 3}])])
    log = write_log(tmp_path / "run.jsonl", [run, FIRST, OTHER, UNJUDGED, *judged])
    with projections.connect([log], tools=False, asked=READ) as connection:
        tasks = Found(connection, log).of()
    scores = [section.text for task in tasks for section in sections(task) if section.title == "Scores"]
    assert [score.partition("(")[2].partition(")")[0] for score in scores] == [
        "1 to 5, passed", "1 to 5, FAILED", "1 to 5, passed",
    ]  # fmt: skip


def test_json_has_the_events_unchanged(found: Found) -> None:
    """What a program gets of a task is what the log says."""
    (first,) = found.of(id=FIRST["id"])
    assert first.as_json() == {
        "sample_id": "q1", "condition": "baseline", "repetition": 1, "sample": SAMPLE, "response": FIRST,
        "failure": None, "judgments": [EVENTS[2]], "judge_failures": [], "labels": [],
    }  # fmt: skip


@pytest.mark.parametrize(("order", "shown"), [((0, 1), "New?"), ((1, 0), "Why?")])
def test_a_failure_is_shown_with_what_was_asked(tmp_path: Path, order: tuple[int, int], shown: str) -> None:
    """Its record is newer than that of what was answered before it, and older than that of what came after it."""
    asked = failure_event(response_event(sample=SAMPLE | {"question": "New?"}))
    events = [(OTHER, asked)[place] for place in order]
    log = write_log(tmp_path / "run.jsonl", [run_event(), *events])
    with projections.connect([log], tools=False, asked=READ) as connection:
        (failed,) = Found(connection, log).of(failed=True)
        alone = list(of_sample(connection, [LogFile(log, "run.jsonl")], "q1", asked["id"]))
    assert failed.as_json()["sample"]["question"] == shown
    assert [each.as_json() for each in alone] == [failed.as_json()]


def test_an_answer_that_is_not_in_the_log(tmp_path: Path) -> None:
    """Judgments in a log that was cut with grep are shown without it; what is retracted is not found."""
    log = write_log(tmp_path / "cut.jsonl", [judgment_event(FIRST, 4), OTHER, retraction_event(OTHER)])
    with projections.connect([log], tools=False, asked=READ) as connection:
        (only,) = Found(connection, log).of()
        assert about(only).startswith(f"its answer is not in the log · {FIRST['id']}")
        assert [section.title for section in sections(only)] == ["Question", "Golden answer", "Scores", "Cost"]
        with pytest.raises(UsageError, match="may be retracted"):
            Found(connection, log).of(id=OTHER["id"])


@pytest.mark.slow
def test_a_task_has_the_newest_name_of_its_condition_and_judgments_that_count(tmp_path: Path) -> None:
    """An answer of before the condition was renamed; of an edited judge only what its newest version says."""
    old, new = (judge_entry(judge_id=letter * 24) for letter in "ab")
    renamed = run_event(["baseline"], judges=[new])
    renamed["conditions"] = {"plain": renamed["conditions"].pop("baseline")}
    judgments = [judgment_event(FIRST, score, judge_id=judge["judge_id"]) for score, judge in ((1, old), (5, new))]
    log = write_log(tmp_path / "log.jsonl", [run_event(["baseline"], judges=[old]), FIRST, *judgments, renamed])
    with projections.connect([log], tools=False, asked=READ) as connection:
        (shown,) = Found(connection, log).of(conditions=("plain",))
        (alone,) = of_sample(connection, [LogFile(log, "run.jsonl")], "q1")
    for each in (shown, alone):
        assert title(each) == "q1 · plain · repetition 1"
        assert [judgment["judge_id"] for judgment in each.judgments] == [new["judge_id"]]


@pytest.mark.slow
def test_lines_that_have_changed_places_are_not_mixed(tmp_path: Path) -> None:
    """A log may be replaced while a viewer holds it open: an answer is not shown under the id of another one."""
    first, second = response_event("q1", text="yes"), response_event("q2", text="no!")
    path = write_log(tmp_path / "run.jsonl", [run_event(), first, second])
    written, log = path.read_bytes(), as_log_file(path)
    run, *answers = written.splitlines(keepends=True)
    foreign = run + b'{"id": [], "sample": {}}'.ljust(len(answers[0]) - 1) + b"\n" + answers[1]
    for changed in (run + b"".join(reversed(answers)), foreign, b"x" * len(written), b""):
        path.write_bytes(written)
        with projections.connect([log], tools=False, asked=READ) as connection:
            assert [each.response for each in of_sample(connection, [log], "q1")] == [first]
            path.write_bytes(changed)
            with pytest.raises(ChangedError):
                list(of_sample(connection, [log], "q1"))
