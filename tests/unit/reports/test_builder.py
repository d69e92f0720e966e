"""Properties of a report's content: where each number comes from, and what is said of what is missing."""

from __future__ import annotations

import dataclasses
import itertools
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keval import projections
from keval.exports.text import Text
from keval.ids import JsonObject
from keval.preparation.plan_events import plan_id
from keval.preparation.sample_changes import sample_change
from keval.preparation.tasks import question_id
from keval.projections.log_file import as_log_file
from keval.projections.sql_file import load
from keval.projections.views import named_in
from keval.reports import builder, warnings
from keval.reports.model import BANNER, Claim, Report, ServerUse, Total
from keval.stats.aggregates import aggregate
from tests.builders import (
    AGENT,
    JUDGE,
    JUDGE_ID,
    condition_id,
    failure_event,
    judge_entry,
    judge_failure_event,
    judgment_event,
    plan_event,
    response_event,
    retraction_event,
    run_event,
    sample,
    sample_change_event,
    write_log,
)
from tests.reports import difference, table

BOTH = ("baseline", "with_docs")


def built(events: Sequence[JsonObject], folder: Path) -> Report:
    """Return the report of a log, as the command makes it."""
    path = write_log(folder / "log.jsonl", events)
    with projections.connect([path], texts=False) as connection:
        logs = [as_log_file(path)]
        return builder.compose(connection, builder.saved_aggregates(connection, logs), logs=logs)


def text(found: Report) -> str:
    """Return a report as a person reads it."""
    return Text(width=200).render(found).decode()


def codes(found: Report) -> set[str]:
    """Return the codes of a report's warnings."""
    return {warning.code for warning in (*found.warnings_first, *found.warnings)}


def judged(name: str, score: float, condition: str = "baseline", repetition: int = 1) -> list[JsonObject]:
    """Return an answer and its judgment."""
    response = response_event(name, condition, repetition)
    return [response, judgment_event(response, score)]


def scored(condition: str, scores: Sequence[float], repetitions: int = 1) -> list[JsonObject]:
    """Return answers and judgments of a condition, the n-th score for the n-th sample."""
    return [
        event
        for number, score in enumerate(scores)
        for repetition in range(1, repetitions + 1)
        for event in judged(f"q{number}", score, condition, repetition)
    ]


def complete() -> list[JsonObject]:
    """Return a log of 2 conditions x 6 samples x 2 repetitions, everything judged once."""
    config = {"name": "docs-server", "version": "1"}
    return [
        run_event(BOTH, samples=6, repetitions=2, seed=7, config=config, config_name="docs-server"),
        *scored("baseline", [2, 3, 4, 2, 3, 4], repetitions=2),
        *scored("with_docs", [2, 4, 5, 3, 4, 5], repetitions=2),
    ]


@pytest.mark.slow
def test_a_config_without_a_version_has_not_that_of_an_earlier_run(tmp_path: Path) -> None:
    """What the newest config does not say is not taken from another one."""
    runs = [run_event(config={"name": "test", "version": "1"}), run_event(config={"name": "test"})]
    assert built([*runs, *judged("q1", 3)], tmp_path).header.version is None


@pytest.mark.slow
def test_the_header_says_where_the_numbers_come_from(tmp_path: Path) -> None:
    """Name, agent, models, judge, dataset, seed and counts are those of the log."""
    run, *others = complete()
    agent = {**run["agent"], "model": "m-agent"}
    events = [run | {"time": "2026-11-20T10:00:00.000Z", "agent": agent}, *others]
    events[1] |= {"models": ["m-agent-2026"]}
    header = built(events, tmp_path).header
    assert (header.name, header.version, header.seed) == ("docs-server", "1", 7)
    assert header.agent is not None
    assert (header.agent.name, header.agent.type, header.agent.model) == ("echo", "echo", "m-agent")
    assert header.models == ("m-agent-2026",)
    assert [(judge.name, judge.model, judge.judge_id) for judge in header.judges] == [
        ("rubric", "claude-opus-5", JUDGE_ID)
    ]
    assert header.dataset is not None
    assert (header.dataset.path, header.dataset.samples, header.dataset.sha256) == ("questions.jsonl", 6, "d" * 64)
    assert (header.first_time, header.last_time) == ("2026-11-20T10:00:00.000Z", "2026-11-20T11:00:00.123Z")
    assert (header.runs, header.responses, header.judgments, header.failures) == (1, 24, 24, 0)


@pytest.mark.slow
def test_numbers_of_the_tables_are_those_of_the_judgments(tmp_path: Path) -> None:
    """Means are means of sample means; the difference is paired by sample."""
    (table,) = built(complete(), tmp_path).metrics
    assert (table.judge, table.metric, table.min, table.max) == ("rubric", "completeness", 1, 5)
    assert [score.condition for score in table.scores] == ["baseline", "with_docs"]
    assert [score.mean for score in table.scores] == pytest.approx([3.0, 3 + 5 / 6])
    assert [score.n_samples for score in table.scores] == [6, 6]
    assert [(score.scored, score.planned) for score in table.scores] == [(12, 12), (12, 12)]
    (difference,) = table.differences
    assert (difference.baseline, difference.condition) == ("baseline", "with_docs")
    assert difference.difference == pytest.approx(5 / 6)
    assert (difference.wins, difference.ties, difference.losses) == (5, 1, 0)
    assert difference.conclusion == "borderline"
    assert [headline.text for headline in built(complete(), tmp_path).headlines] == [
        (
            "Borderline on completeness: +0.83 [+0.40, +1.26], but the exact test gives p = 0.062, where 0.062 is the "
            "smallest it can give. Treat it as not shown."
        )
    ]


@pytest.mark.slow
def test_costs_of_unknown_amount_are_counted_and_not_0(tmp_path: Path) -> None:
    """The sum is over what is known; an answer whose cost is unknown stands beside it."""
    events = [
        run_event(["baseline"], samples=3),
        response_event("q1", cost_usd=0.25),
        response_event("q2", cost_usd=None),
        response_event("q3", cost_usd=0.75),
    ]
    (summary,) = built(events, tmp_path).conditions
    assert summary.agent_cost_usd == Total(1.0, known=2, unknown=1)
    assert summary.agent_cost_per_answer_usd == pytest.approx(0.5)
    assert "agent cost: unknown for 1 of 3 attempts" in text(built(events, tmp_path))


@pytest.mark.slow
def test_a_cost_that_is_known_nowhere_is_null(tmp_path: Path) -> None:
    """No answer of known cost, duration or tokens: None each, not 0."""
    response = response_event("q1", cost_usd=None, usage=None, duration_ms=None)
    (summary,) = built([run_event(["baseline"], samples=1), response], tmp_path).conditions
    assert summary.agent_cost_usd == Total(None, known=0, unknown=1)
    assert summary.agent_cost_per_answer_usd is None
    assert (summary.mean_duration_ms, summary.median_duration_ms) == (None, None)
    assert summary.tokens["input_tokens"] == Total(None, known=0, unknown=1)


ATTEMPT = {"kind": "timeout", "message": "late", "cost_usd": 0.125, "usage": None, "duration_ms": 5}


@pytest.mark.slow
def test_failed_attempts_and_failures_cost_money_too(tmp_path: Path) -> None:
    """The agent's cost holds what was paid for attempts that led to nothing."""
    events = [
        run_event(["baseline"], samples=2),
        response_event("q1", cost_usd=0.25, attempts=2, failed_attempts=[ATTEMPT]),
        failure_event(response_event("q2"), cost_usd=0.5),
    ]
    (summary,) = built(events, tmp_path).conditions
    assert summary.agent_cost_usd == Total(0.875, known=3, unknown=0)
    assert summary.agent_cost_per_answer_usd == pytest.approx(0.25)


@pytest.mark.slow
def test_the_judges_cost_stands_apart_from_the_agents(tmp_path: Path) -> None:
    """Two judgments at 0.50 are no cost of the agent."""
    (summary,) = built([run_event(["baseline"]), *scored("baseline", [3, 3])], tmp_path).conditions
    assert (summary.agent_cost_usd.value, summary.judge_cost_usd.value) == (0.5, 1.0)


@pytest.mark.slow
def test_durations_have_mean_and_median(tmp_path: Path) -> None:
    """One slow answer moves the mean, not the median."""
    answers = [response_event(f"q{number}", duration_ms=number) for number in (1000, 2000, 9000)]
    (summary,) = built([run_event(["baseline"], samples=3), *answers], tmp_path).conditions
    assert (summary.mean_duration_ms, summary.median_duration_ms) == (4000, 2000)


@pytest.mark.slow
def test_calls_of_each_server_are_counted(tmp_path: Path) -> None:
    """Calls, failed calls and the answers that used the server, out of those that could."""
    call: JsonObject = {"type": "tool_call", "id": None, "name": "mcp__docs__search", "server": "docs", "input": {}}
    turns = [
        call | {"result": "found", "error": False, "duration_ms": 1},
        call | {"result": None, "error": True, "duration_ms": None},
    ]
    use: JsonObject = {"status": "connected", "offered": ["search"], "called": 2, "failed": 1}
    events = [
        run_event(["with_docs"]),
        response_event("q1", "with_docs", turns=turns, mcp={"docs": use}),
        response_event("q2", "with_docs", mcp={"docs": use | {"called": 0, "failed": 0}}),
    ]
    (summary,) = built(events, tmp_path).conditions
    assert (summary.tool_calls, summary.tool_calls_failed) == (2, 1)
    (docs,) = summary.servers
    assert (docs.server, docs.responses, docs.responses_using, docs.called, docs.failed) == ("docs", 2, 1, 2, 1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("called", "failed", "said"),
    [
        (3, 3, ["with_docs: 6 of 6 calls of docs failed; the scores say nothing about this server"]),
        (3, 2, []),
        (0, 0, []),
    ],
)
def test_a_server_none_of_whose_calls_succeeded_is_told_before_any_number(
    called: int, failed: int, said: list[str], tmp_path: Path
) -> None:
    """Its condition is one without the server; a server that was used with some success, or not used, is not named."""
    use = {"status": "connected", "offered": ["search"], "called": called, "failed": failed}
    answers = [response_event(name, "with_docs", mcp={"docs": use}) for name in ("q1", "q2")]
    found = built([run_event(), *answers], tmp_path)
    assert [warning.text for warning in found.warnings_first if warning.code == "all_calls_failed"] == said


@pytest.mark.slow
def test_what_became_of_a_server_is_known_of_failed_tasks_too(tmp_path: Path) -> None:
    """Where it was connected and called; where it never was, that is said before any number, unless nobody knows."""
    called = {"status": "connected", "offered": ["search"], "called": 1, "failed": 1}
    without = {"status": "failed", "offered": [], "called": 0, "failed": 0}

    def found(*servers: JsonObject) -> tuple[ServerUse, list[str]]:
        tasks = [response_event(f"q{number}", "with_docs") for number, _ in enumerate(servers)]
        failures = [
            failure_event(task, "mcp_failed") | {"mcp": {"docs": use}} for task, use in zip(tasks, servers, strict=True)
        ]
        report = built([run_event(["with_docs"], samples=len(tasks)), *failures], tmp_path)
        ((use,),) = (summary.servers for summary in report.conditions)
        return use, [warning.text for warning in report.warnings_first if warning.code == "never_connected"]

    assert found(called, without) == (ServerUse("docs", 2, 1, 0, 0, 1, 1), [])
    assert found(called | {"status": "reconnected"}) == (ServerUse("docs", 1, 1, 0, 0, 1, 1), [])
    went_away = without | {"offered": ["search"], "called": 1}
    assert found(went_away) == (ServerUse("docs", 1, 1, 0, 0, 1, 0), [])
    assert found(without, without) == (
        ServerUse("docs", 2, 0, 0, 0, 0, 0),
        ["with_docs: docs was connected in none of 2 tasks; the scores say nothing about this server"],
    )
    unknown = without | {"status": "unknown"}
    assert found(unknown) == (ServerUse("docs", 1, None, 0, 0, 0, 0), [])


@pytest.mark.slow
def test_failures_stand_beside_the_answers_with_a_message(tmp_path: Path) -> None:
    """Planned, completed, failed by kind and not done add up, and each kind has an example."""
    events = [
        run_event(BOTH, samples=4),
        *judged("q1", 3),
        failure_event(response_event("q2"), "timeout"),
        failure_event(response_event("q3"), "infra_error"),
    ]
    found = built(events, tmp_path)
    baseline, with_docs = found.conditions
    assert (baseline.planned, baseline.completed, baseline.not_done) == (4, 1, 1)
    assert baseline.failed == {"infra_error": 1, "timeout": 1}
    assert (with_docs.planned, with_docs.completed, with_docs.not_done) == (4, 0, 4)
    assert {(group.condition, group.stage, group.kind, group.count, group.example) for group in found.failures} == {
        ("baseline", "generate", "timeout", 1, "what went wrong: timeout"),
        ("baseline", "generate", "infra_error", 1, "what went wrong: infra_error"),
    }


@pytest.mark.slow
def test_a_failure_that_a_later_run_made_good_is_none(tmp_path: Path) -> None:
    """The same task answered later counts as completed, and its failure is not in the table."""
    run, answer = run_event(["baseline"], samples=1), response_event("q1")
    found = built([run, failure_event(answer, "infra_error"), run | {"id": "again"}, answer], tmp_path)
    assert (found.conditions[0].completed, found.conditions[0].failed) == (1, {})
    assert found.failures == ()


@pytest.mark.slow
def test_failures_of_the_judge_are_shown(tmp_path: Path) -> None:
    """An answer that could not be judged is a failure of its condition, in the judging stage, with the judge."""
    answer = response_event("q1")
    events = [run_event(["baseline"], samples=1), answer, judge_failure_event(answer, "judge_invalid")]
    found = built(events, tmp_path)
    (group,) = found.failures
    assert (group.stage, group.judge, group.kind, group.count) == ("judge", "rubric", "judge_invalid", 1)
    assert found.metrics[0].scores[0].not_measured == 1
    assert "unjudged" not in codes(found)


@pytest.mark.slow
@pytest.mark.parametrize(("mock", "does"), [(False, "keval run CONFIG"), (True, "keval run CONFIG --mock")])
def test_an_interrupted_run_is_incomplete_before_any_number(mock: bool, does: str, tmp_path: Path) -> None:
    """What is not done stands at the top, with its count and what does it: of a rehearsal, for nothing."""
    found = built([run_event(BOTH, samples=2, mock=mock), response_event("q1", mock=mock)], tmp_path)
    assert "incomplete" in {warning.code for warning in found.warnings_first}
    said = "INCOMPLETE: 3 of 4 planned answers are not done (baseline 1, with_docs 2)."
    assert f"{said} {does} does what is missing." in text(found)


@pytest.mark.slow
def test_claims_are_counted_once_per_answer_and_shown_for_a_single_condition(tmp_path: Path) -> None:
    """Two judgments of one answer that flag the same claim are one answer with that claim; a blank text is none."""
    first, second, third = (response_event(f"q{number}") for number in (1, 2, 3))
    events = [
        run_event(["baseline"]),
        first,
        second,
        third,
        judgment_event(first, replicate=1, unverified_claims=["It is red.", "It is tall."]),
        judgment_event(first, replicate=2, unverified_claims=[" It is tall."]),
        judgment_event(second, unverified_claims=["It is tall.", " "]),
        judgment_event(third, unverified_claims=["", "\n"]),
    ]
    found = built(events, tmp_path)
    (claims,) = found.claims
    assert (claims.condition, claims.answers_judged, claims.answers_with_claims) == ("baseline", 3, 2)
    assert claims.claims == (Claim("It is tall.", 2), Claim("It is red.", 1))
    assert "It is tall." in text(found)


@pytest.mark.slow
def test_an_answer_in_which_nobody_looked_for_claims_is_not_counted(tmp_path: Path) -> None:
    """Beside the claims stand the answers of the judge that looks for some, not those of others or left to others."""
    first, second, third = (response_event(f"q{number}") for number in (1, 2, 3))
    left_out = judgment_event(second)
    left_out["scores"]["completeness"] |= {"score": None, "not_applicable": "the judge is not for this sample"}
    program = judge_entry(name="program", judge_id="c" * 16)
    others = [
        judgment_event(answer, judge_id="c" * 16, judge={"name": "program", "type": "x", "model": None})
        for answer in (first, second, third)
    ]
    found = built(
        [
            run_event(["baseline"], judges=[judge_entry(), program], samples=3, repetitions=1),
            *(first, second, third),
            *(judgment_event(first, unverified_claims=["It is red."]), left_out),
            *others,
        ],
        tmp_path,
    )
    assert [(claims.answers_judged, claims.answers_with_claims) for claims in found.claims] == [(1, 1)]


@pytest.mark.slow
def test_claims_beyond_the_tenth_are_counted(tmp_path: Path) -> None:
    """The text names ten and says how many more there are, and where."""
    answer = response_event("q1")
    claims = [f"claim {number}" for number in range(13)]
    found = built([run_event(["baseline"]), answer, judgment_event(answer, unverified_claims=claims)], tmp_path)
    assert len(found.claims[0].claims) == 13
    assert "and 3 more: keval report -f json" in text(found)


@pytest.mark.parametrize("where", ["run", "response", "judgment"])
@pytest.mark.slow
def test_one_mocked_part_makes_the_report_mocked(tmp_path: Path, where: str) -> None:
    """A mocked run, answer or judgment puts the banner on top."""
    run, mocked, answer = run_event(["baseline"]), response_event("q1"), response_event("q2")
    judgment = judgment_event(mocked)
    {"run": run, "response": mocked, "judgment": judgment}[where]["mock"] = True
    found = built([run, mocked, judgment, answer, judgment_event(answer)], tmp_path)
    assert (found.mock, found.banner) == (True, BANNER)
    assert text(found).startswith(BANNER)


@pytest.mark.slow
def test_costs_that_only_a_mock_said_make_the_report_mocked(tmp_path: Path) -> None:
    """Also where nothing else is left of it: nobody paid them."""
    answer = response_event("q1") | {"mock": True}
    found = built([run_event(["baseline"], samples=1), answer, retraction_event(answer)], tmp_path)
    assert found.conditions[0].agent_cost_usd.value == 0.25
    assert found.mock


@pytest.mark.slow
def test_what_a_mock_says_that_an_answer_cost_is_in_no_mean_of_real_ones(tmp_path: Path) -> None:
    """Of a rehearsal and some real answers the mean is that of the real ones; of the rehearsal alone, its own."""
    run = run_event(["baseline"], samples=2)
    rehearsed = [response_event(sample, cost_usd=9.0) | {"mock": True} for sample in ("q1", "q2")]
    real = response_event("q1", cost_usd=0.25)
    unknown = response_event("q1", cost_usd=None)
    means = [
        built([run, *rehearsed, *answers], tmp_path).conditions[0].agent_cost_per_answer_usd
        for answers in ([], [real], [unknown])
    ]
    assert means == [9.0, 0.25, None]


@pytest.mark.slow
def test_without_a_mock_there_is_no_banner(tmp_path: Path) -> None:
    """A real run says nothing about mocks, not even when an older condition was mocked."""
    old = response_event("q0", prompt="Old.", mock=True)
    found = built([run_event({"baseline": "Old."}), old, *complete()], tmp_path)
    assert (found.mock, found.banner) == (False, None)
    assert "MOCK" not in text(found)


@pytest.mark.slow
def test_one_condition_has_a_table_and_no_difference(tmp_path: Path) -> None:
    """Nothing to compare with is no reason to show nothing."""
    found = built([run_event(["baseline"], samples=6), *scored("baseline", [2, 3, 4, 2, 3, 4])], tmp_path)
    (table,) = found.metrics
    assert table.differences == ()
    assert table.scores[0].mean == pytest.approx(3.0)


@pytest.mark.slow
def test_an_unjudged_log_shows_costs_and_says_what_to_do(tmp_path: Path) -> None:
    """Answers without judgments are counted; no score is made up for them."""
    found = built([run_event(["baseline"]), response_event("q1"), response_event("q2")], tmp_path)
    assert found.conditions[0].agent_cost_usd.value == pytest.approx(0.5)
    assert [score.mean for table in found.metrics for score in table.scores] == [None]
    assert "unjudged" in codes(found)
    assert "2 judgments are missing (rubric 2): keval judge LOG" in text(found)


def test_where_the_log_names_no_judge_the_command_asks_for_one(tmp_path: Path) -> None:
    """Without `-j` it would be refused."""
    found = built([run_event(["baseline"], judges=[]), response_event("q1"), response_event("q2")], tmp_path)
    assert "2 responses have no judgment: keval judge LOG -j JUDGE.yaml" in text(found)


def test_after_an_import_the_command_asks_for_a_judge_though_an_earlier_run_named_one(tmp_path: Path) -> None:
    """An import names no judge that can be asked, and the newest run says who judges."""
    scored_before = [run_event(["baseline"]), *scored("baseline", [3, 4])]
    imported = run_event(["imported"], command="import", judges=[])
    found = built([*scored_before, imported, response_event("q1", "imported")], tmp_path)
    assert "1 response has no judgment: keval judge LOG -j JUDGE.yaml" in text(found)


@pytest.mark.slow
def test_judgments_that_failed_are_missing_like_those_that_were_not_made(tmp_path: Path) -> None:
    """The command that is named makes both, so there is one number."""
    first, second = response_event("q1"), response_event("q2")
    found = built([run_event(["baseline"]), first, second, judge_failure_event(first)], tmp_path)
    assert "2 judgments are missing (rubric 2), of which 1 failed: keval judge LOG" in text(found)


@pytest.mark.slow
def test_equal_scores_are_ties_and_nobody_is_higher(tmp_path: Path) -> None:
    """All samples tie: 0 wins, 0 losses, difference 0, and no interval to read anything from."""
    scores = [2, 3, 4, 2, 3, 4]
    events = [run_event(BOTH, samples=6), *scored("baseline", scores), *scored("with_docs", scores)]
    (difference,) = built(events, tmp_path).metrics[0].differences
    assert (difference.difference, difference.wins, difference.ties, difference.losses) == (0, 0, 6, 0)
    assert (difference.conclusion, difference.reasons["conclusion"]) == ("cannot tell", "no sample differs")


@pytest.mark.slow
def test_one_sample_has_no_interval_and_the_reason_is_shown(tmp_path: Path) -> None:
    """One sample: a mean, a dash for each spread, and the reasons below."""
    events = [run_event(BOTH, samples=1), *scored("baseline", [4]), *scored("with_docs", [4])]
    found = built(events, tmp_path)
    (table,) = found.metrics
    for score in table.scores:
        assert score.mean == 4
        assert (score.ci_lower, score.ci_upper, score.sd_between_samples, score.sd_within_sample) == (None,) * 4
        assert {"ci_lower", "sd_between_samples", "sd_within_sample"} <= set(score.reasons)
    assert table.differences[0].conclusion == "cannot tell"
    assert "95 % CI, each condition: " in text(found)
    assert "1 sample, so no interval is shown." in text(found)
    assert "the input does not say why" not in text(found)
    assert {"fewest_samples", "one_repetition", "one_judgment"} <= codes(found)


@pytest.mark.slow
def test_a_ranking_that_failures_turn_around_is_said_first(tmp_path: Path) -> None:
    """With failures counted, one condition leads; without them, the other: nobody should miss that."""
    failed = [failure_event(response_event(f"q{sample}")) for sample in range(3, 6)]
    events = [run_event(BOTH, samples=6), *scored("baseline", [5, 5, 5]), *failed, *scored("with_docs", [4] * 6)]
    first, *_ = built(events, tmp_path).warnings_first
    assert first.code == "ranking_depends_on_failures"


@pytest.mark.slow
@pytest.mark.parametrize(("events", "says"), [([], "log is empty"), ([run_event(BOTH)], "holds no response")])
def test_a_log_without_answers_is_reported_as_such(tmp_path: Path, events: list[JsonObject], says: str) -> None:
    """No crash, no zeros that look like results, and one sentence that says it."""
    found = built(events, tmp_path)
    assert (found.metrics, found.claims, found.failures) == ((), (), ())
    assert says in text(found)
    assert "nothing to report" in text(found)


@pytest.mark.slow
def test_older_versions_of_a_condition_are_counted_and_not_pooled(tmp_path: Path) -> None:
    """A prompt was changed between two runs: the old answers are in no mean, and the report says so."""
    old = response_event("q1", prompt="Old.")
    events = [
        run_event({"baseline": "Old."}, samples=1),
        old,
        judgment_event(old, 1),
        run_event({"baseline": "Answer."}, samples=1),
        *judged("q1", 5),
    ]
    found = built(events, tmp_path)
    assert [summary.condition_id for summary in found.conditions] == [condition_id("baseline")]
    assert [score.mean for score in found.metrics[0].scores] == [5]
    assert "conditions that the newest run dropped or changed are not shown: 1 (baseline)" in text(found)


@pytest.mark.slow
def test_answers_of_an_agent_that_was_changed_are_told_as_such(tmp_path: Path) -> None:
    """The condition is there and shown; what is not shown is what the agent of before answered under it."""
    agent_id = "0" * 24
    run = run_event(("baseline",), samples=1)
    before = run_event(("baseline",), samples=1)
    before["agent"] |= {"agent_id": agent_id}
    found = built([before, response_event("q1", agent_id=agent_id), run, *judged("q1", 5)], tmp_path)
    told = "1 answer by the agent before it was changed is not counted (baseline 1)"
    assert [warning.text for warning in found.warnings if warning.code == "older_agents"] == [told]
    assert "dropped or changed" not in text(found)
    assert "or has otherwise" not in text(found)


@pytest.mark.slow
def test_what_an_earlier_agent_answered_is_told_where_its_tasks_are_not_done(tmp_path: Path) -> None:
    """Who reads that much is missing learns at once why the answers that are there do not count."""
    run, before = run_event(("baseline",), samples=2), run_event(("baseline",), samples=2)
    before["agent"] |= {"agent_id": "0" * 24}
    answers = [response_event(name, agent_id="0" * 24) for name in ("q1", "q2")]
    found = built([before, *answers, run, response_event("q1")], tmp_path)
    said = next(warning.text for warning in found.warnings_first if warning.code == "incomplete")
    assert said == (
        "INCOMPLETE: 1 of 2 planned answers are not done (baseline 1). 2 answers by the agent before it was changed "
        "are not counted (baseline 2). keval run CONFIG does what is missing."
    )
    assert "older_agents" not in codes(found)


@pytest.mark.slow
def test_what_an_earlier_agent_answered_is_told_of_each_condition_once(tmp_path: Path) -> None:
    """Above all numbers where answers are missing, among the warnings where none is."""
    run, before = run_event(BOTH, samples=1), run_event(BOTH, samples=1)
    before["agent"] |= {"agent_id": "0" * 24}
    earlier = [response_event("q1", name, agent_id="0" * 24) for name in BOTH]
    found = built([before, *earlier, run, response_event("q1")], tmp_path)
    told = {warning.code: warning.text for warning in (*found.warnings_first, *found.warnings)}
    assert "is not counted (with_docs 1)" in told["incomplete"]
    assert told["older_agents"].endswith("is not counted (baseline 1)")


@pytest.mark.slow
def test_judgments_by_judges_that_were_replaced_are_counted_by_judge(tmp_path: Path) -> None:
    """A judge was edited after it had judged two answers: the number is that of its judgments."""
    answers = [response_event(name) for name in ("q1", "q2")]
    edited = judge_entry(judge_id="e" * 24)
    old = [judgment_event(answer) for answer in answers]
    log = [run_event(["baseline"]), *answers, *old, run_event(["baseline"], judges=[edited])]
    new = [judgment_event(answer, judge_id="e" * 24) for answer in answers]
    told = "judgments by judges that the newest run dropped or changed are not counted: 2 (rubric 2)"
    assert told in text(built([*log, *new], tmp_path))


@pytest.mark.slow
def test_answers_to_an_edited_question_are_counted_apart(tmp_path: Path) -> None:
    """The old answer is in no mean, and the report says that there is one."""
    old = response_event("q1", question="Why, again?")
    found = built([run_event(["baseline"], samples=1), old, judgment_event(old, 1), *judged("q1", 5)], tmp_path)
    assert [score.mean for score in found.metrics[0].scores] == [5]
    assert "answers to older versions of their questions are not counted: 1" in text(found)


@pytest.mark.slow
def test_two_versions_of_a_judge_stand_apart(tmp_path: Path) -> None:
    """A rubric was edited: the newest scores come first, the old ones keep a table of their own."""
    answer = response_event("q1")
    events = [
        run_event(["baseline"], samples=1),
        answer,
        judgment_event(answer, 2),
        run_event([], judges=[judge_entry(judge_id="edited-judge-id")]),
        judgment_event(answer, 4, judge_id="edited-judge-id"),
    ]
    found = built(events, tmp_path)
    assert [(table.judge_id, table.scores[0].mean) for table in found.metrics] == [
        ("edited-judge-id", 4),
        (JUDGE_ID, 2),
    ]
    assert [judge.judge_id for judge in found.header.judges] == ["edited-judge-id", JUDGE_ID]
    assert "judge rubric, version edited-j" in text(found)


@pytest.mark.slow
def test_a_judge_of_the_agents_own_model_is_pointed_out(tmp_path: Path) -> None:
    """A model may favour what it wrote itself."""
    answer = response_event("q1", models=[JUDGE["model"]])
    events = [run_event(["baseline"], samples=1), answer, judgment_event(answer)]
    assert "judge_is_agent" in codes(built(events, tmp_path))
    assert "judge_is_agent" not in codes(built(complete(), tmp_path))


@pytest.mark.slow
def test_conditions_of_different_agents_are_pointed_out(tmp_path: Path) -> None:
    """Two logs joined: what differs between the conditions is not only the condition."""
    other: JsonObject = {**AGENT, "agent_id": "other-id", "options": {}}
    answer = response_event("q1", "with_docs", agent_id="other-id")
    events = [
        run_event(["baseline"], samples=1),
        *judged("q1", 3),
        run_event(["with_docs"], samples=1, agent=other),
        answer,
        judgment_event(answer),
    ]
    assert "several_agents" in codes(built(events, tmp_path))


@pytest.mark.slow
def test_conditions_stand_in_the_order_of_the_config(tmp_path: Path) -> None:
    """Neither the alphabet nor the order of the answers decides."""
    events = [run_event(["zero", "alpha"], samples=1), *scored("alpha", [3]), *scored("zero", [3])]
    found = built(events, tmp_path)
    assert [summary.name for summary in found.conditions] == ["zero", "alpha"]
    assert [score.condition for score in found.metrics[0].scores] == ["zero", "alpha"]


@pytest.mark.slow
def test_metrics_stand_in_the_order_in_which_they_were_declared(tmp_path: Path) -> None:
    """What the config declares primary comes first, and what a judge scored that was added later comes last."""
    metrics = [{"name": name, "min": 1, "max": 5} for name in ("clarity", "completeness")]
    run = run_event(judges=[judge_entry(metrics)])
    added = judge_entry([{"name": "tone", "min": 1, "max": 5}], judge_id="added", name="manners")
    answer = response_event("q1")
    own = judgment_event(answer)
    score = own["scores"]["completeness"]
    judged = [
        own | {"scores": dict.fromkeys(("clarity", "completeness"), score)},
        judgment_event(answer, judge_id="added", judge=JUDGE | {"name": "manners"}) | {"scores": {"tone": score}},
    ]
    events = [run, answer, *judged, run_event([], judges=[added], id="later")]
    assert [table.metric for table in built(events, tmp_path).metrics] == ["clarity", "completeness", "tone"]
    run["config"]["comparison"] = {"primary": ["completeness"]}
    found = built(events, tmp_path)
    assert [table.metric for table in found.metrics] == ["completeness", "clarity", "tone"]
    assert any(note.startswith("Declared primary in the config: completeness.") for note in found.notes)


@pytest.mark.slow
def test_names_out_of_a_log_are_only_names(tmp_path: Path) -> None:
    """A condition called like SQL, markup or nothing at all is reported under that name."""
    names = ["x'; drop table lines; --", "[bold]|<b>`\x1b[31m", " "]
    answers = [response_event("q1", name) for name in names]
    judgments = [judgment_event(answer, unverified_claims=[answer["condition"]]) for answer in answers]
    found = built([run_event(names, samples=1), *answers, *judgments], tmp_path)
    assert [summary.name for summary in found.conditions] == names
    assert [score.condition for score in found.metrics[0].scores] == names
    assert [[claim.text for claim in claims.claims] for claims in found.claims] == [[names[0]], [names[1]], []]


def saved(events: Sequence[JsonObject], folder: Path) -> list[JsonObject]:
    """Return the events that `keval aggregate` makes of a log."""
    with projections.connect([write_log(folder / "whole.jsonl", events)]) as connection:
        bodies = list(aggregate(connection, levels={"condition", "sample"}))
    envelope = {"v": 1, "time": "2026-11-20T12:00:00.000Z", "run_id": "run"}
    return [{**body, **envelope, "id": f"id-{number}"} for number, body in enumerate(bodies)]


@pytest.mark.slow
def test_a_log_of_aggregates_only_shows_them_and_says_what_is_missing(tmp_path: Path) -> None:
    """The tables are those of the whole log; costs and claims are said not to be in the input."""
    events = saved(complete(), tmp_path)
    found = built(events, tmp_path)
    assert found.metrics == built(complete(), tmp_path).metrics
    assert found.conditions == ()
    assert "not in the input" in text(found)


def test_an_import_without_a_name_is_called_as_the_log_says(tmp_path: Path) -> None:
    """Its mapping names nothing, so that its file's name stands in the run."""
    run = run_event(["baseline"], samples=1, command="import", config={"path": "old.csv"}, config_name="old")
    assert built([run, *scored("baseline", [3])], tmp_path).header.name == "old"


@pytest.mark.slow
def test_aggregates_beside_their_run_are_no_unfinished_run(tmp_path: Path) -> None:
    """A log cut down to runs and aggregates does not look as if nothing had been done."""
    events = complete()
    found = built([events[0], *saved(events, tmp_path)], tmp_path)
    assert found.header.name == "docs-server"
    assert "incomplete" not in codes(found)


@pytest.mark.slow
def test_a_log_with_answers_is_computed_anew(tmp_path: Path) -> None:
    """Aggregates saved before the last judgment came do not stand for the log."""
    events = [*complete(), *saved(complete()[:-2], tmp_path)]
    path = write_log(tmp_path / "log.jsonl", events)
    with projections.connect([path]) as connection:
        assert builder.saved_aggregates(connection, [as_log_file(path)]) is None
    assert built(events, tmp_path).metrics == built(complete(), tmp_path).metrics


@pytest.mark.slow
def test_mocked_aggregates_make_the_report_mocked(tmp_path: Path) -> None:
    """The banner does not get lost on the way through `keval aggregate`."""
    run, *others = complete()
    assert built(saved([run | {"mock": True}, *others], tmp_path), tmp_path).mock


def test_the_same_log_gives_the_same_report(tmp_path: Path) -> None:
    """Two builds are equal, whatever order the database found the rows in."""
    assert built(complete(), tmp_path) == built(complete(), tmp_path)


GOLDEN = "The tower is 330 metres high."


def looked_up(sample_id: str, *tools: tuple[str, str | None], golden: str = GOLDEN) -> JsonObject:
    """Return an answer for which these tools of these servers returned a text with the golden answer."""
    calls: list[JsonObject] = [
        {
            "type": "tool_call", "id": None, "name": name, "server": server, "input": {},
            "result": f"It says: {GOLDEN}", "error": False, "duration_ms": 1,
        }
        for name, server in tools
    ]  # fmt: skip
    asked = {"id": sample_id, "question": "How high?", "answer": golden}
    return response_event(condition="with_docs", id=sample_id, sample=asked, sample_sha256=sample_id, turns=calls)


@pytest.mark.slow
def test_golden_answers_in_tool_results_are_counted_over_those_that_were_searched(tmp_path: Path) -> None:
    """A short golden answer is not searched; a server that has the answer is no cause for a warning."""
    search = ("mcp__docs__search", "docs")
    log = [
        run_event(),
        looked_up("q1", search),
        looked_up("q2"),
        looked_up("q3", search, golden="330 m"),
        response_event("q4"),
    ]
    found = built(log, tmp_path)
    counted = {summary.name: (summary.answers_with_leakage, summary.answers_searched) for summary in found.conditions}
    assert counted == {"with_docs": (1, 2), "baseline": (0, 0)}
    assert "golden answer in tool results" in text(found)
    assert "1 of 2 answers" in text(found)
    assert "golden answer in tool results, baseline: no golden answer is long enough" in text(found)
    assert "answer_leakage" not in codes(found)


@pytest.mark.slow
def test_a_golden_answer_that_another_tool_returned_is_a_warning(tmp_path: Path) -> None:
    """What is no MCP server of the condition, such as a file, should not hold the answer; each answer counts once."""
    log = [run_event(), looked_up("q1", ("Read", None), ("Bash", None)), looked_up("q2", ("Read", None))]
    found = built(log, tmp_path)
    (told,) = [warning.text for warning in found.warnings if warning.code == "answer_leakage"]
    assert told.startswith("with_docs: in 2 answers the golden answer was returned by a tool")
    assert "(Bash, Read)" in told


@pytest.mark.slow
def test_answers_of_tasks_that_the_agent_failed_before_are_pointed_out(tmp_path: Path) -> None:
    """Who fails more gets more tries; an outage is nobody's fault, and an edited question is another task."""
    first, other = response_event("q1"), response_event("q2")
    edited = failure_event(response_event("q2", question="Why not?"))
    log = [run_event(), failure_event(first), failure_event(other, "infra_error"), edited, first, other]
    (told,) = [warning.text for warning in built(log, tmp_path).warnings if warning.code == "answered_after_failures"]
    assert told.startswith("baseline: 1 answer came in a later run, after the agent had failed the task")
    assert "answered_after_failures" not in codes(built([*log[:2], *log[2:4], other], tmp_path))


@pytest.mark.slow
def test_answers_of_tasks_that_failed_when_asked_again_are_pointed_out(tmp_path: Path) -> None:
    """They count on, also where it was an outage; of the agent's failures before them nothing else is said."""
    first, other = response_event("q1"), response_event("q2")
    log = [run_event(), failure_event(first), first, other, failure_event(first), failure_event(other, "infra_error")]
    (told,) = [warning.text for warning in built(log, tmp_path).warnings if warning.code == "answered_after_failures"]
    assert told.startswith("baseline: 2 answers came in an earlier run, and the task failed when it was asked again")


@pytest.mark.slow
def test_a_condition_that_was_asked_until_its_gate_let_an_answer_through_is_pointed_out(tmp_path: Path) -> None:
    """Only attempts that a gate refused count, and only of answers that are in the numbers."""
    refused = ATTEMPT | {"kind": "mcp_unused"}
    log = [
        run_event(),
        response_event("q1", attempts=3, failed_attempts=[refused, refused]),
        response_event("q2", attempts=3, failed_attempts=[ATTEMPT, refused]),
        response_event("q3", attempts=2, failed_attempts=[ATTEMPT]),
    ]
    (told,) = [warning.text for warning in built(log, tmp_path).warnings if warning.code == "asked_again_by_a_gate"]
    assert told == (
        "baseline: 2 answers met the condition's gates only when asked again (retry_gates); "
        "3 attempts that did not are in no mean"
    )
    assert "asked_again_by_a_gate" not in codes(built([run_event(), log[-1]], tmp_path))


@pytest.mark.slow
def test_processes_that_were_left_behind_are_named(tmp_path: Path) -> None:
    """Each name once; a failure counts too, and what a later event replaced does not."""
    log = [
        run_event(),
        response_event("q1", orphaned_processes=["python", "python"]),
        failure_event(response_event("q2"), orphaned_processes=["sh"]),
        response_event("q4", attempts=2, failed_attempts=[ATTEMPT | {"orphaned_processes": ["node"]}]),
        response_event("q5", attempts=2, failed_attempts=[ATTEMPT]),
        response_event("q3", orphaned_processes=["gone"]),
        response_event("q3"),
    ]
    (told,) = [warning.text for warning in built(log, tmp_path).warnings if warning.code == "orphaned_processes"]
    assert told == "baseline: 3 tasks left processes behind: node, python, sh; they were ended"
    assert "orphaned_processes" not in codes(built([run_event(), response_event("q1")], tmp_path))


@pytest.mark.parametrize("scale", [1e-9, 1e-100, 1.0, 1e12])
@pytest.mark.slow
def test_numbers_are_equal_by_their_own_size(scale: float, tmp_path: Path) -> None:
    """Means, spreads, wins and ties of a scale are those of any other scale, multiplied."""
    metric = {"name": "completeness", "min": 0, "max": scale}
    log = [run_event(judges=[judge_entry([metric])], samples=6)]
    for condition, scores in (("baseline", (1, 2, 3, 4, 5, 6)), ("with_docs", (1.5, 2, 4, 3, 7, 8))):
        for number, score in enumerate(scores):
            response = response_event(f"q{number}", condition)
            given = {"completeness": {"score": score * scale / 8, "reasoning": None, **metric}}
            del given["completeness"]["name"]
            log += [response, judgment_event(response) | {"scores": given}]
    (table,) = built(log, tmp_path).metrics
    ((baseline, _), (difference,)) = (table.scores, table.differences)
    assert baseline.mean == pytest.approx(3.5 * scale / 8, rel=1e-9, abs=0)
    assert baseline.sd_between_samples == pytest.approx(3.5**0.5 * scale / 8, rel=1e-9, abs=0)
    assert difference.difference == pytest.approx(4.5 / 6 * scale / 8, rel=1e-9, abs=0)
    assert (difference.wins, difference.ties, difference.losses) == (4, 1, 1)


@pytest.mark.slow
def test_float_noise_is_a_tie(tmp_path: Path) -> None:
    """0.1 + 0.2 and 0.3 are the same score."""
    log = [run_event(samples=6), *scored("baseline", [1.3] * 6), *scored("with_docs", [1 + 0.1 + 0.2] * 6)]
    ((difference,),) = (table.differences for table in built(log, tmp_path).metrics)
    assert (difference.difference, difference.wins, difference.ties) == (0, 0, 6)


@pytest.mark.slow
def test_a_retracted_aggregate_is_not_reported(tmp_path: Path) -> None:
    """What was retracted is in no report, and what was computed again after it is."""
    events = saved([run_event(), *scored("baseline", range(1, 6)), *scored("with_docs", range(1, 6))], tmp_path)
    gone = [retraction_event(event) for event in events]
    assert built([*events, *gone], tmp_path).metrics == ()
    assert built([*events, *gone, *events], tmp_path).metrics == built(events, tmp_path).metrics


@settings(max_examples=2)
@given(st.data())
@pytest.mark.slow
def test_without_a_run_the_order_of_lines_does_not_matter(data: st.DataObject) -> None:
    """The first condition by name is the baseline, which the report says, and every line may stand anywhere."""
    log: list[JsonObject] = []
    for number, condition in itertools.product(range(6), ("with_docs", "baseline")):
        response = response_event(f"q{number}", condition)
        strict = {"name": "strict", "type": "rubric", "model": "claude-opus-5"}
        log += [response, judgment_event(response, {"clarity": 1 + number / 2, "completeness": 2.0})]
        log += [judgment_event(response, 3.0, judge_id="another-judge", judge=strict)]
    log += [failure_event(response_event(f"q{n}"), "timeout", message=f"no. {n}") for n in (7, 8)]
    shuffled = data.draw(st.permutations(log))
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
        found, again = built(log, Path(one)), built(shuffled, Path(other))
    assert found == dataclasses.replace(again, header=dataclasses.replace(again.header, files=found.header.files))
    assert [table.differences[0].baseline for table in found.metrics] == ["baseline"] * 3
    assert "baseline_by_name" in codes(found)
    assert "baseline_by_name" not in codes(built_once([run_event(), *log]))


def built_once(events: Sequence[JsonObject]) -> Report:
    """Return the report of a log that is not kept."""
    with tempfile.TemporaryDirectory() as folder:
        return built(events, Path(folder))


@pytest.mark.slow
def test_a_condition_that_the_config_no_longer_has_is_not_incomplete(tmp_path: Path) -> None:
    """What an older run planned of it is planned no more; it is shown, and named."""
    log = [run_event(("baseline", "dropped"), samples=3), *judged("q1", 3.0, "dropped")]
    log += [run_event(("baseline",), samples=1), *judged("q1", 3.0)]
    found = built(log, tmp_path)
    assert "incomplete" not in codes(found)
    assert {summary.name: (summary.planned, summary.not_done) for summary in found.conditions} == {
        "baseline": (1, 0),
        "dropped": (None, None),
    }
    assert "not in the config of the newest run, so nothing more is planned of it: dropped" in text(found)
    back = [*log, run_event(("baseline", "dropped"), samples=3, run_id="fedcba9876543210")]
    assert "incomplete" in codes(built(back, tmp_path))


@pytest.mark.parametrize(("model", "said"), [("claude-opus-5", True), (None, False)])
@pytest.mark.slow
def test_a_program_has_no_variation_to_measure(model: str | None, said: bool, tmp_path: Path) -> None:
    """That one judgment measures no variation is said of a judge that asks a model, not of a program."""
    judge = {"name": "judge", "type": "any", "model": model}
    log = [run_event(judges=[judge_entry() | judge])]
    for number in range(2):
        response = response_event(f"q{number}")
        log += [response, judgment_event(response, 3.0, judge=judge)]
    assert ("one_judgment" in codes(built(log, tmp_path))) == said


@pytest.mark.slow
def test_what_the_newest_plan_leaves_out_is_counted_and_taken_on_request(tmp_path: Path) -> None:
    """No total is above the plan; what is left out has a warning, which says how to have it."""
    known_as = plan_id(listed := [question_id(sample("q0"))])
    events = [
        *scored("baseline", [3, 4, 5]),
        run_event(["baseline"], samples=1, plan_id=known_as),
        plan_event(listed),
    ]
    found = built(events, tmp_path)
    assert (found.conditions[0].completed, found.conditions[0].planned) == (1, 1)
    assert found.metrics[0].scores[0].mean == 3.0
    assert "2 responses of earlier plans are left out; --all takes them" in text(found)
    log = write_log(tmp_path / "log.jsonl", events)
    with projections.connect([log], everything=True) as connection:
        whole = builder.compose(connection)
    assert (whole.conditions[0].completed, whole.conditions[0].planned) == (3, 3)
    assert whole.metrics[0].scores[0].mean == 4.0
    assert "earlier_plans" not in codes(whole)


@pytest.mark.slow
def test_answers_of_several_runs_to_one_task_in_several_logs_are_warned_of(tmp_path: Path) -> None:
    """Whoever reads two logs of one config together may think that both count; a copy of a log is no second run."""
    first = write_log(tmp_path / "first.jsonl", scored("baseline", [3, 4]))
    copy = write_log(tmp_path / "copy.jsonl", scored("baseline", [3, 4]))
    asked_again = [{**event, "run_id": "another"} for event in scored("baseline", [5, 5])]
    second = write_log(tmp_path / "second.jsonl", asked_again)
    both = write_log(tmp_path / "both.jsonl", [*scored("baseline", [3, 4]), *asked_again])
    copy_of_both = write_log(tmp_path / "copy_of_both.jsonl", [*scored("baseline", [3, 4]), *asked_again])
    cases = {(first, second): True, (first, copy): False, (both,): False, (both, copy_of_both): False}
    for paths, told in cases.items():
        logs = list(map(as_log_file, paths))
        with projections.connect(logs) as connection:
            found = builder.compose(connection, logs=logs)
        assert ("2 responses stand in several of the logs, from different runs" in text(found)) == told, paths


@pytest.mark.slow
def test_a_metric_that_is_not_applicable_to_some_answers_is_named(tmp_path: Path) -> None:
    """How many answers of which condition have no score of it, and why, stands beside the means they are not in."""
    (answer, judgment) = judged("q2", 3)
    none = {"score": None, "reasoning": "", "min": 1, "max": 5, "passed": None, "not_applicable": "no golden answer"}
    events = [run_event(["baseline"]), *judged("q1", 4), answer, judgment | {"scores": {"completeness": none}}]
    found = built(events, tmp_path)
    assert found.metrics[0].scores[0].mean == 4.0
    told = (
        "completeness, judge rubric: not applicable to 1 answer (baseline 1), left out of its means (no golden answer)"
    )
    assert told in text(found)


@pytest.mark.slow
def test_leakage_is_looked_for_by_the_corrected_golden_answer(tmp_path: Path) -> None:
    """What a tool returned is compared with the golden answer as it is now, not with the one that was wrong."""
    golden = "the answer that was corrected later"
    call: JsonObject = {
        "type": "tool_call", "id": "t1", "name": "Read", "server": None, "input": {}, "result": f"So: {golden}.",
        "error": False, "duration_ms": 1,
    }  # fmt: skip
    asked = response_event(turns=[call])
    assert "answer_leakage" not in codes(built([run_event(["baseline"]), asked], tmp_path))
    change = sample_change_event(sample() | {"answer": golden}, "answer")
    assert "answer_leakage" in codes(built([run_event(["baseline"]), asked, change], tmp_path))


@pytest.mark.slow
def test_verdicts_that_depend_on_the_order_are_counted_beside_the_pairs(tmp_path: Path) -> None:
    """Pairs of the same text, which nobody was asked about, are not among them."""
    outcomes = [
        {"order_dependent": True, "same_text": False},
        {"order_dependent": False, "same_text": False},
        {"order_dependent": None, "same_text": True},
    ]
    judge = {"name": "versus", "type": "pairwise", "model": "m"}
    responses = [response_event(f"q{number}") for number in range(3)]
    judgments = [
        judgment_event(response, judge=judge, outcome=outcome)
        for response, outcome in zip(responses, outcomes, strict=True)
    ]
    found = built([run_event(samples=3), *responses, *judgments], tmp_path)
    (told,) = [each.text for each in found.warnings if each.code == "order_dependent"]
    assert told.startswith("judge versus: in 1 of 2 pairs the verdict depended on the order")


@pytest.mark.slow
@pytest.mark.parametrize(("failures", "said"), [("minimum", "counts as the scale's minimum"), ("exclude", "excludes")])
def test_how_failures_count_is_said(failures: str, said: str, tmp_path: Path) -> None:
    """A reader of a mean knows whether the agent's failures are in it."""
    answer = response_event("q1")
    run = run_event(["baseline"], samples=2, config={"name": "test", "failures": failures})
    found = built([run, answer, judgment_event(answer), failure_event(response_event("q2"))], tmp_path)
    (note,) = [note for note in found.notes if "of the agent" in note]
    assert said in note


@pytest.mark.slow
@pytest.mark.parametrize("conditions", [("baseline", "with_docs"), ("with_docs", "baseline")])
def test_an_answer_to_which_the_baseline_has_none_awaits_no_judge(conditions: Sequence[str], tmp_path: Path) -> None:
    """There is nothing to compare it with until the baseline is asked again; `keval judge` would find nothing to do."""
    judge = {"name": "versus", "type": "pairwise", "model": "m"}
    versus = judge_entry(name="versus") | {"type": "pairwise"}
    pair = [response_event("q1"), response_event("q1", "with_docs")]
    failed, alone = failure_event(response_event("q2")), response_event("q2", "with_docs")
    events = [*pair, judgment_event(pair[0], judge=judge), failed, alone]
    config = {"name": "test", "baseline": "baseline"}
    found = built([run_event(conditions, samples=2, judges=[versus], config=config), *events], tmp_path)
    told = {each.code: each.text for each in (*found.warnings_first, *found.warnings)}
    assert told["unpaired"].startswith("1 response has none of the baseline to be compared with")
    assert told["unjudged"] == "1 judgment is missing (versus 1): keval judge LOG"


@pytest.mark.parametrize("odd", [{"deep": [1]}, [1, 2], 3.5, "x", None])
@pytest.mark.slow
def test_an_outcome_may_hold_anything_where_keval_has_its_own_words(odd: object, tmp_path: Path) -> None:
    """A judge's own outcome costs it no score."""
    judgment = judgment_event(response_event("q1"), outcome={"order_dependent": odd, "same_text": odd})
    found = built([run_event(samples=1), response_event("q1"), judgment], tmp_path)
    assert found.header.judgments == 1
    assert any(each.mean == 3 for table in found.metrics for each in table.scores)


@pytest.mark.slow
def test_saved_aggregates_of_an_unfinished_run_say_so(tmp_path: Path) -> None:
    """Neither the title nor a plan is in the input, and still nobody takes half of the answers for all."""
    log = [run_event(samples=3), *judged("q1", 4.0), *judged("q2", 3.0)]
    with projections.connect([write_log(tmp_path / "run.jsonl", log)]) as connection:
        bodies = list(aggregate(connection, levels={"condition"}))
    with projections.connect([write_log(tmp_path / "none.jsonl", [])]) as connection:
        found = builder.compose(connection, bodies)
    assert "incomplete" in codes(found) | {warning.code for warning in found.warnings_first}
    assert "one_judgment" not in codes(found)


def in_wrong_order(events: Sequence[JsonObject], folder: Path) -> int:
    """Return how many runs stand again in a log after what came later."""
    path, query = write_log(folder / "log.jsonl", events), load("reports", "merged_out_of_order")
    with projections.connect([path], texts=False, tools=False, asked=named_in(query)) as connection:
        (row,) = projections.rows(connection, query)
    return int(row["count"])


@pytest.mark.parametrize(
    "newer", ["run", *(pytest.param(kind, marks=pytest.mark.slow) for kind in ("retraction", "sample_change"))]
)
def test_an_older_copy_of_a_log_behind_a_newer_one_is_told(tmp_path: Path, newer: str) -> None:
    """What it says counts, so a plan, a retraction or a correction may be lost; in the other order all is right."""
    times = [f"2026-03-01T12:00:0{second}.000Z" for second in range(3)]
    answer = response_event("q1", time=times[1])
    old = [run_event(["baseline"], samples=1, time=times[0]), answer]
    later = {
        "run": run_event(["baseline"], samples=1, id="r2", run_id="r2", time=times[2]),
        "retraction": retraction_event(answer) | {"time": times[2]},
        "sample_change": sample_change(answer["sample"] | {"answer": "Another."}, "r2", ["answer"])
        | {"time": times[2]},
    }
    new = [*old, later[newer]]
    merged = [*old, *new], [*new, *old], new, [*new, *new]
    assert [in_wrong_order(events, tmp_path) for events in merged] == [0, 1, 0, 0]
    assert "merged_out_of_order" in codes(built([*new, *old], tmp_path))
    assert "merged_out_of_order" not in codes(built(new, tmp_path))


def test_parts_that_begin_with_the_same_runs_are_in_no_wrong_order(tmp_path: Path) -> None:
    """As shards that go on with a merged log: the runs that each has behind them say what counts."""
    times = [f"2026-03-01T12:00:0{second}.000Z" for second in range(4)]
    old = [run_event(["baseline"], samples=1, time=times[0]), response_event("q1", time=times[1])]
    first, second = (
        [*old, run_event(["baseline"], samples=1, id=name, run_id=name, time=time)]
        for name, time in zip(("r2", "r3"), times[2:], strict=True)
    )
    assert [in_wrong_order(events, tmp_path) for events in ([*first, *second], [*second, *first])] == [0, 0]
    other = run_event(["baseline"], samples=1, id="r2", run_id="r2", config_name="other", time=times[2])
    assert in_wrong_order([*old, other, *second], tmp_path) == 0
    assert in_wrong_order([*first, second[-1], *first], tmp_path) == 2


def test_a_later_run_without_a_config_makes_no_older_copy(tmp_path: Path) -> None:
    """A judge, or one who labels, plans nothing: a copy of the log before it takes nothing back."""
    old = [run_event(["baseline"], samples=1, time="2026-03-01T12:00:00.000Z"), response_event("q1")]
    judged = run_event([], id="j", run_id="j", config_name=None, time="2026-03-01T12:00:02.000Z")
    codes = {warning.code for warning in built([*old, judged, *old], tmp_path).warnings}
    assert "merged_out_of_order" not in codes


@pytest.mark.parametrize(
    ("rate", "told"),
    [
        (0.12, "more often than under baseline, by 12 % of the answers ("),
        (-0.0025, "less often than under baseline, by less than 1 % of the answers ("),
    ],
)
def test_how_much_more_often_the_agent_failed_is_said(rate: float, told: str) -> None:
    """A difference of two rates that the test finds is never one of nothing."""
    tested = difference("with_docs", other_statistics={"failure_rate_difference": rate, "p_failure_rate": 0.01})
    (warning,) = warnings.failure_rates([table(tested)])
    assert warning.text.startswith(f"with_docs: the agent failed {told}")
