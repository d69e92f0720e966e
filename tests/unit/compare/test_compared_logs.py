"""Several logs are compared by the rules of one, and not at all where their numbers do not measure the same."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from keval import ids
from keval.compare.compared_logs import compare
from keval.errors import InputError, UsageError
from keval.ids import JsonObject
from keval.projections.log_file import as_log_file
from keval.reports.metric_tables import Difference, statistic
from keval.reports.model import Report
from tests.builders import (
    failure_event,
    judge_entry,
    judgment_event,
    response_event,
    run_event,
    write_log,
)

LOW, HIGH = (1, 2, 1, 2, 1, 2, 3), (3, 4, 3, 3, 4, 4, 3)


def events(scores: Sequence[float], condition: str = "docs", **fields: object) -> list[JsonObject]:
    """Return a run of one condition with a judged answer to each sample; `fields` are of the answers."""
    made = [run_event([condition], samples=len(scores))]
    for number, score in enumerate(scores):
        response = response_event(f"q{number}", condition, **fields)  # type: ignore[arg-type]  # any field of an event
        made += [response, judgment_event(response, score)]
    return made


def compared(folder: Path, *logs: Iterable[JsonObject], same: Sequence[tuple[str, str]] = ()) -> Report:
    """Return the comparison of logs of these events, which are called 1.jsonl and so on."""
    files = [as_log_file(write_log(folder / f"{n}.jsonl", found)) for n, found in enumerate(logs, 1)]
    return compare(files, same)


def only(report: Report) -> Difference:
    """Return the one difference of a report."""
    (found,) = report.metrics[0].differences
    return found


@pytest.mark.slow
def test_the_later_log_is_compared_with_the_earlier_one(tmp_path: Path) -> None:
    """Paired by what was asked; in the other order p and size are the same, the conclusion is the opposite."""
    forth, back = compared(tmp_path, events(LOW), events(HIGH)), compared(tmp_path, events(HIGH), events(LOW))
    one, other = only(forth), only(back)
    assert (one.condition.split("/")[-1], one.conclusion, other.conclusion) == ("2.jsonl", "higher", "lower")
    assert one.difference == pytest.approx(12 / 7)
    assert other.difference == -(one.difference or 0)
    assert statistic(one, "p") == statistic(other, "p") == 2 / 64
    assert (one.n_paired, one.wins, one.ties, one.losses) == (7, 6, 1, 0)
    (headline,) = forth.headlines
    assert headline.text.startswith("docs in ")
    assert " scored higher than docs in " in headline.text
    assert [change.sample_id for change in forth.changed_scores[0].gained] == ["q4", "q0", "q1", "q2", "q5"]


@pytest.mark.slow
def test_of_three_logs_each_pair_has_its_own_changed_samples(tmp_path: Path) -> None:
    """A sample that changed most against the first log stands beside the second one, too."""
    found = compared(tmp_path, events(LOW[:3]), events((2, 3, 2)), events((5, 5, 5)))
    gained = [(change.baseline[-7:-6], len(change.gained)) for change in found.changed_scores]
    assert gained == [("1", 3), ("1", 3), ("2", 3)]


@pytest.mark.slow
def test_samples_that_belong_together_are_one_cluster(tmp_path: Path) -> None:
    """As within one log, also where one log alone says so; where two logs say two things, both clusters are one."""

    def clustered(scores: Sequence[float], clusters: str) -> list[JsonObject]:
        run, *rest = events(scores)
        run["config"]["dataset"] = {"cluster_key": "cluster"}
        for name, answer in zip(clusters, rest[::2], strict=True):
            answer["sample"]["cluster"] = name
        return [run, *rest]

    found = only(compared(tmp_path, events(LOW), clustered(HIGH, "aabbccc")))
    assert (found.ci_method, statistic(found, "n_clusters"), statistic(found, "p")) == ("t_clustered", 3, 0.25)
    moved = compared(tmp_path, clustered(LOW, "aabbccd"), clustered(HIGH, "aabbccc"))
    assert statistic(only(moved), "n_clusters") == 3
    told = "the logs put q6 into different clusters"
    assert any(warning.text.startswith(told) for warning in moved.warnings)
    renamed = compared(tmp_path, clustered(LOW, "xxyyzzz"), clustered(HIGH, "aabbccc"))
    joined = compared(tmp_path, clustered(LOW, "aabbccb"), clustered(HIGH, "aabbccc"))
    assert [statistic(only(each), "n_clusters") for each in (renamed, joined)] == [3, 2]


@pytest.mark.slow
def test_a_sample_that_is_not_compared_joins_no_clusters(tmp_path: Path) -> None:
    """An id that got another question, of another document, says nothing of the other samples of the two documents."""

    def documents(clusters: str, *edited: int) -> list[JsonObject]:
        run = run_event(["docs"], samples=len(clusters))
        run["config"]["dataset"] = {"cluster_key": "cluster"}
        made = [run]
        for number, cluster in enumerate(clusters):
            answer = response_event(f"q{number}", "docs", question="Why not?" if number in edited else "Why?")
            answer["sample"]["cluster"] = cluster
            made += [answer, judgment_event(answer, number % 3 + 1 + bool(edited))]
        return made

    report = compared(tmp_path, documents("aabbccddabc"), documents("aabbccddbcd", 8, 9, 10))
    assert (only(report).n_paired, statistic(only(report), "n_clusters")) == (8, 4)
    assert not any("into different clusters" in warning.text for warning in report.warnings)


@pytest.mark.slow
def test_what_both_configs_declare_counts(tmp_path: Path) -> None:
    """One margin in both logs is the margin here; two margins are none, and that is said."""

    def declared(scores: Sequence[float], margin: float) -> list[JsonObject]:
        run, *rest = events(scores)
        run["config"]["comparison"] = {"margin": margin, "primary": ["completeness"]}
        return [run, *rest]

    one = compared(tmp_path, declared(LOW, 0.5), declared(HIGH, 0.5))
    assert (statistic(only(one), "margin"), statistic(only(one), "family_size")) == (0.5, 1)
    two = compared(tmp_path, declared(LOW, 0.5), declared(HIGH, 1))
    assert statistic(only(two), "margin") is None
    assert "different_declarations" in {warning.code for warning in two.warnings}


@pytest.mark.slow
def test_a_copy_is_all_ties(tmp_path: Path) -> None:
    """Identical runs: every sample ties, no order of the files decides, and nobody is higher."""
    found = only(compared(tmp_path, events(LOW), events(LOW)))
    assert (found.wins, found.ties, found.losses, found.difference) == (0, 7, 0, 0)
    assert (found.conclusion, statistic(found, "p")) == ("cannot tell", 1.0)


@pytest.mark.slow
def test_logs_of_one_file_name_are_told_apart(tmp_path: Path) -> None:
    """By their folders; a log beside itself, or beside a link to it, has a number."""
    paths = []
    for name, scores in (("old", LOW), ("new", HIGH)):
        (tmp_path / name).mkdir()
        paths.append(write_log(tmp_path / name / "run", events(scores)))
    found = only(compare(list(map(as_log_file, paths))))
    assert (found.baseline, found.condition) == tuple(f"docs in {path}" for path in paths)
    assert (found.n_paired, found.conclusion) == (7, "higher")
    found = only(compare([as_log_file(paths[0])] * 2))
    assert (found.baseline, found.condition) == tuple(f"docs in {paths[0]} ({number})" for number in (1, 2))


@pytest.mark.slow
def test_of_three_logs_each_is_compared_with_each(tmp_path: Path) -> None:
    """What is best of all decides nothing between the other two."""
    best = [5] * len(LOW)
    (table,) = compared(tmp_path, events(LOW), events(HIGH), events(best)).metrics
    pairs = [tuple(name.split("/")[-1][0] for name in (each.baseline, each.condition)) for each in table.differences]
    assert pairs == [("1", "2"), ("1", "3"), ("2", "3")]
    assert [each.conclusion for each in table.differences] == ["higher"] * 3
    assert {statistic(each, "family_size") for each in table.differences} == {3}


@pytest.mark.slow
def test_conditions_of_two_names_are_compared_when_the_user_says_so(tmp_path: Path) -> None:
    """Without that nothing is guessed, and what there is stands in the error."""
    logs = events(LOW, "old"), events(HIGH, "new")
    assert only(compared(tmp_path, *logs, same=[("old", "new")])).conclusion == "higher"
    with pytest.raises(UsageError, match="no condition has the same name in two logs"):
        compared(tmp_path, *logs)
    with pytest.raises(UsageError, match="no condition is called 'odl'"):
        compared(tmp_path, *logs, same=[("odl", "new")])


@pytest.mark.slow
def test_one_condition_may_be_compared_with_several(tmp_path: Path) -> None:
    """Each pair that is named is there, the same one once."""
    logs = [events(scores, name) for name, scores in (("a", LOW), ("b", HIGH), ("c", HIGH))]
    found = compared(tmp_path, *logs, same=[("a", "b"), ("a", "c"), ("b", "c"), ("a", "b")])
    (table,) = found.metrics
    named = [(each.condition[:1], each.baseline[:1]) for each in table.differences]
    assert sorted(named) == [("b", "a"), ("c", "a"), ("c", "b")]


@pytest.mark.slow
def test_samples_of_one_log_only_are_named_and_left_out(tmp_path: Path) -> None:
    """Two question sets: what both have is compared, the rest is said."""
    report = compared(tmp_path, events(LOW), events(HIGH[:5]))
    assert (only(report).n_paired, only(report).n_dropped) == (5, 2)
    (said,) = [warning.text for warning in report.warnings if warning.code == "different_samples"]
    assert said.endswith("1.jsonl has answers to q5, q6; they are left out of its comparisons")


@pytest.mark.slow
@pytest.mark.parametrize("more", [0, 90])
def test_what_only_one_log_asked_dilutes_nothing(tmp_path: Path, more: int) -> None:
    """Four of ten common samples are missing, however many others the later log has: nothing can be concluded."""
    earlier = events([2.0 + number % 2 / 10 for number in range(10)])
    later = events([2.6 + number % 3 / 10 for number in range(6)])
    later[0] = run_event(["docs"], samples=10 + more)
    for answer in (response_event(f"new{number}", "docs") for number in range(more)):
        later += [answer, judgment_event(answer, 5.0)]
    later += [failure_event(response_event(f"q{6 + number}", "docs"), "infra_error") for number in range(4)]
    report = compared(tmp_path, earlier, later)
    assert only(report).conclusion == "cannot tell"
    (headline,) = report.headlines
    assert " 40 % of docs in " in headline.text
    assert only(report).n_paired == 6
    assert [statistic(only(report), f"difference_{end}") for end in ("lower", "upper")] == pytest.approx(
        [(6 * 2.7 + 4 * 1) / 10 - 2.05, (6 * 2.7 + 4 * 5) / 10 - 2.05]
    )
    assert [score.not_measured for score in report.metrics[0].scores] == [0, 4]
    assert report.metrics[0].scores[1].scored == 6 + more
    assert str(report.read_with_care).endswith(" 4 of 20 not scored.")


@pytest.mark.slow
@pytest.mark.parametrize("fails", [False, True])
def test_an_edited_question_is_left_out(tmp_path: Path, fails: bool) -> None:
    """One sample id, two questions: what is compared is what both logs would say without it, and a warning names it."""
    later = [_asked_otherwise(event, "q2", "Why not?") for event in events(HIGH)]
    if fails:
        asked = next(event for event in later if "sample" in event and event["sample"]["id"] == "q2")
        later = [event for event in later if not _is_about(event, "q2")] + [failure_event(asked)]
    report = compared(tmp_path, events(LOW), later)
    without = compared(
        tmp_path, *([event for event in log if not _is_about(event, "q2")] for log in (events(LOW), later))
    )
    for name in ("n_paired", "wins", "ties", "losses", "difference", "ci_lower", "ci_upper"):
        assert getattr(only(report), name) == getattr(only(without), name)
    (warning,) = (each for each in report.warnings if each.code == "different_samples")
    assert "asked different questions under the same id: q2; " in warning.text
    assert "1 sample was edited between the logs and is left out." in str(report.read_with_care)


def _asked_otherwise(event: JsonObject, sample: str, question: str) -> JsonObject:
    """Return an event in whose log a sample asks something else."""
    if not _is_about(event, sample) or "sample" not in event:
        return event
    asked = response_event(sample, "docs", question=question)
    return event | {name: asked[name] for name in ("sample", "question_id") if name in event}


def _is_about(event: JsonObject, sample: str) -> bool:
    return sample in {event.get("sample", {}).get("id"), event.get("sample_id")}


@pytest.mark.slow
@pytest.mark.parametrize(("field", "paired"), [("answer", 6), ("topic", 7)])
def test_a_sample_that_judges_know_otherwise_is_left_out(tmp_path: Path, field: str, paired: int) -> None:
    """Two golden answers make two scores of one answer; a field that the judge is not given makes none."""
    later = [run_event(["docs"], samples=7)]
    for number, score in enumerate(HIGH):
        answer = response_event(f"q{number}", "docs")
        if number == 2:
            edited = answer["sample"] | {field: "Other."}
            answer |= {"sample": edited, "sample_sha256": ids.sample_sha256(edited)}
        later += [answer, judgment_event(answer, score)]
    report = compared(tmp_path, events(LOW), later)
    assert only(report).n_paired == paired
    said = [warning.text for warning in report.warnings if warning.code == "different_samples"]
    assert [("other records of q2, which differ in answer" in text) for text in said] == [True] * (7 - paired)
    told = "1 sample was edited between the logs and is left out." in str(report.read_with_care)
    assert told == (paired < 7), "who reads the conclusion alone is told"


@pytest.mark.slow
def test_logs_of_which_nothing_is_judged_alike_are_refused_for_that(tmp_path: Path) -> None:
    """Where all records differ they are named, with what to do; to judge again would change nothing."""
    later = [run_event(["docs"], samples=7)]
    for number, score in enumerate(HIGH):
        answer = response_event(f"q{number}", "docs")
        edited = answer["sample"] | {"answer": "Other."}
        answer |= {"sample": edited, "sample_sha256": ids.sample_sha256(edited)}
        later += [answer, judgment_event(answer, score)]
    problem = "no sample has scores by the same judge under two conditions"
    with pytest.raises(InputError, match=problem) as told:
        compared(tmp_path, events(LOW), later)
    assert "judged by other records of q0" in str(told.value)
    assert "keval judge LOG" not in str(told.value)


@pytest.mark.slow
def test_logs_that_count_failures_by_two_rules_are_refused(tmp_path: Path) -> None:
    """The same answers would differ; where nothing failed, the rule is of no account."""
    failed = failure_event(response_event("q7", "docs"), "agent_error")
    excluding = run_event(["docs"], samples=8, config={"name": "test", "failures": "exclude"})
    for more, refused in (([failed], True), ([], False)):
        logs = ([*events(LOW), *more], [excluding, *events(LOW)[1:], *more])
        if refused:
            with pytest.raises(InputError, match="failures count as the minimum in one of them"):
                compared(tmp_path, *logs)
        else:
            assert only(compared(tmp_path, *logs)).n_paired == 7


@pytest.mark.slow
def test_logs_that_have_no_question_in_common_are_refused(tmp_path: Path) -> None:
    """One sample id, two questions, for all samples: the scores are answers to different things."""
    with pytest.raises(InputError, match="different questions under the same id: q0, q1, q2, q3, q4, and 2 more"):
        compared(tmp_path, events(LOW), events(HIGH, question="Why not?"))


@pytest.mark.slow
def test_logs_that_have_no_sample_in_common_are_refused(tmp_path: Path) -> None:
    """The same questions under other ids: what pairs them is said, with an id of each log."""
    others = [run_event(["docs"], samples=7)]
    for number, score in enumerate(HIGH):
        response = response_event(f"other{number}", "docs")
        others += [response, judgment_event(response, score)]
    ids_of_both = r"no sample in common \(.*1.jsonl: q0, .*2.jsonl: other0\)"
    with pytest.raises(InputError, match=ids_of_both) as told:
        compared(tmp_path, events(LOW), others)
    assert "id_key" in str(told.value)


@pytest.mark.slow
def test_scores_of_two_judges_are_refused_with_the_way_out(tmp_path: Path) -> None:
    """The command that judges both by one judge stands in the error."""
    other = judge_entry(judge_id="f" * 24, name="stricter")
    theirs = [run_event(["docs"], samples=7, judges=[other])]
    for number, score in enumerate(HIGH):
        response = response_event(f"q{number}", "docs")
        theirs += [response, judgment_event(response, score, judge_id="f" * 24)]
    with pytest.raises(InputError, match=r"no judge has scored both logs") as told:
        compared(tmp_path, events(LOW), theirs)
    assert f"keval judge {tmp_path}/1.jsonl -j JUDGE.yaml && keval judge {tmp_path}/2.jsonl" in str(told.value)
    with pytest.raises(InputError, match=r"2.jsonl: nothing is judged; keval judge .*2.jsonl -j"):
        compared(tmp_path, events(LOW), [run_event(["docs"], samples=1), response_event("q0", "docs")])
    with pytest.raises(InputError, match=r"2.jsonl: nothing is answered; keval run CONFIG -o .*2.jsonl asks"):
        compared(tmp_path, events(LOW), [run_event(["docs"], samples=1)])


@pytest.mark.slow
def test_answers_of_two_makers_are_refused(tmp_path: Path) -> None:
    """As within one log; the log is named, and so is the way out."""
    mixed = [
        *events(HIGH, models=["one"]),
        run_event(["docs"], samples=7),
        response_event("q0", "docs", models=["two"]),
    ]
    with pytest.raises(InputError, match=r"2.jsonl: MIXED: the answers are not all by the same agent"):
        compared(tmp_path, events(LOW), mixed)
    files = [as_log_file(tmp_path / name) for name in ("1.jsonl", "2.jsonl")]
    assert only(compare(files, allow_mixed=True)).n_paired == 7


@pytest.mark.slow
def test_a_rehearsal_is_not_compared_with_a_run(tmp_path: Path) -> None:
    """A stand-in's numbers say nothing about a model."""
    with pytest.raises(InputError, match=r"2.jsonl: a stand-in answered or judged; .*1.jsonl: a real model did"):
        compared(tmp_path, events(LOW), events(HIGH, mock=True))


@pytest.mark.slow
def test_two_logs_that_share_few_samples_are_read_with_care(tmp_path: Path) -> None:
    """However many samples each log has: the conclusion rests on those that both have."""
    many = [event for number in range(40) for event in answered(f"a{number}", 2)]
    more = [event for number in range(40) for event in answered(f"b{number}", 2)]
    report = compared(tmp_path, [*events(LOW), *many], [*events(HIGH), *more])
    assert only(report).conclusion == "higher"
    assert str(report.read_with_care).startswith("Read with care: 7 samples, so intervals are wide.")
    (warning,) = (warning for warning in report.warnings if warning.code == "few_samples")
    assert "docs in " in warning.text
    assert warning.text.endswith("1.jsonl, 7 samples)")


@pytest.mark.slow
def test_a_program_that_judged_once_is_no_doubt_of_a_comparison(tmp_path: Path) -> None:
    """It says the same each time; of a judge that asks a model its own variation is not known."""
    logs = (events(LOW), events(HIGH))
    asks_none = [[without_model(event) for event in log] for log in logs]
    codes = [{warning.code for warning in compared(tmp_path, *each).warnings} for each in (asks_none, logs)]
    assert ["one_judgment" in found for found in codes] == [False, True]


def without_model(event: JsonObject) -> JsonObject:
    """Return an event whose judges ask no model."""
    if event["type"] == "judgment":
        return event | {"judge": event["judge"] | {"model": None}}
    return event | {"judges": [judge | {"model": None} for judge in event["judges"]]} if "judges" in event else event


def answered(sample_id: str, score: float) -> list[JsonObject]:
    """Return an answer to one more sample, and its judgment."""
    response = response_event(sample_id, "docs")
    return [response, judgment_event(response, score)]
