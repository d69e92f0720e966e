"""Properties of a report's content: where each number comes from, and what is said of what is missing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson
import pytest

from keval import projections, report, schema
from keval.exports.text import Text
from keval.ids import JsonObject
from keval.report import BANNER, Claim, Report, Total

CONDITIONS = ("baseline", "with_docs")


class Log:
    """A log in the making: valid events, one second apart, written to a file by `report`."""

    def __init__(self) -> None:
        self.events: list[JsonObject] = []
        self.run_id = "run-0"

    def add(self, event_type: str, event_id: str, fields: JsonObject) -> None:
        """Append one event and check it against its schema."""
        time = f"2026-11-20T11:{len(self.events) // 60:02d}:{len(self.events) % 60:02d}.000Z"
        made = {"type": event_type, "v": 1, "id": event_id, "time": time, "run_id": self.run_id, **fields}
        assert schema.event_problem(made) is None
        self.events.append(made)

    def run(self, conditions: Sequence[str] = CONDITIONS, *, tasks: int = 0, **changes: Any) -> None:  # noqa: ANN401 - any field
        """Begin a run of the given conditions with `tasks` planned in each."""
        self.run_id = f"run-{len(self.events)}"
        fields = {
            "command": "generate",
            "config": {"name": "docs-server", "version": "1"},
            "config_sha256": "c" * 64,
            "dataset": {"path": "questions.jsonl", "sha256": "d" * 64, "samples": 6},
            "agent": {"name": "claude", "type": "claude", "model": "m-agent", "agent_id": "agent-id", "options": {}},
            "conditions": {name: condition(name, tasks) for name in conditions},
            "judges": [judge()],
            "mcp_servers": {},
            "seed": 7,
            "environment": dict.fromkeys(("keval", "python", "platform"), "x")
            | dict.fromkeys(("claude_agent_sdk", "claude_code", "anthropic", "git_commit", "git_dirty")),
            "mock": False,
        }
        self.add("run", f"id-{self.run_id}", fields | changes)

    def response(self, name: str, sample: int, repetition: int = 1, **changes: Any) -> str:  # noqa: ANN401 - any field
        """Add an answer of a condition to a sample and return its id."""
        fields = {
            "sample": {"id": f"s{sample}", "question": "Why?", "answer": "Because."},
            "sample_sha256": f"sha-{sample}",
            "condition": name,
            "condition_id": f"{name}-id",
            "repetition": repetition,
            "agent": {"name": "claude", "type": "claude", "model": "m-agent"},
            "agent_id": "agent-id",
            "status": "answered",
            "text": "Because.",
            "turns": [],
            "mcp": {},
            "sources": [],
            "usage": dict.fromkeys(
                ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"), 10
            ),
            "cost_usd": 0.25,
            "duration_ms": 1000,
            "num_turns": 1,
            "attempts": 1,
            "models": ["m-agent-2026"],
        }
        fields |= changes
        response_id = f"response-{fields['condition_id']}-{sample}-{repetition}"
        self.add("response", response_id, fields)
        return response_id

    def judgment(self, response_id: str, score: float = 3.0, replicate: int = 1, **changes: Any) -> None:  # noqa: ANN401 - any field
        """Add a judgment of a response that the log holds."""
        of = next(event for event in self.events if event["id"] == response_id)
        fields = {
            "response_id": response_id,
            "sample_id": of["sample"]["id"],
            "condition": of["condition"],
            "condition_id": of["condition_id"],
            "repetition": of["repetition"],
            "agent_id": of["agent_id"],
            "judge": {"name": "strict", "type": "rubric", "model": "m-judge"},
            "judge_id": "judge-id",
            "replicate": replicate,
            "scores": {"completeness": {"score": score, "reasoning": None, "min": 1, "max": 5, "passed": None}},
            "unverified_claims": [],
            "outcome": None,
            "usage": None,
            "cost_usd": 0.5,
            "duration_ms": 100,
        }
        fields |= changes
        self.add("judgment", f"judgment-{response_id}-{fields['judge_id']}-{replicate}", fields)

    def failure(self, name: str, sample: int, kind: str, repetition: int = 1, **changes: Any) -> None:  # noqa: ANN401 - any field
        """Add the failure of a task."""
        fields = {
            "stage": "generate",
            "kind": kind,
            "message": f"what went wrong: {kind}",
            "sample_id": f"s{sample}",
            "sample_sha256": f"sha-{sample}",
            "condition": name,
            "condition_id": f"{name}-id",
            "repetition": repetition,
            "agent_id": "agent-id",
            "response_id": f"response-{name}-id-{sample}-{repetition}",
            "attempts": 1,
            "cost_usd": None,
            "turns": [],
        }
        self.add("failure", f"failure-{name}-{sample}-{repetition}-{self.run_id}", fields | changes)


def condition(name: str, tasks: int) -> JsonObject:
    """Return a condition as a run event has it."""
    gates = {"require_mcp_tool_use": False, "require_mcp_tool_success": False}
    return {
        "condition_id": f"{name}-id",
        "system_prompt": "Answer.",
        "mcp_servers": [],
        "gates": gates,
        "tools": [],
        "tasks": tasks,
    }


def judge(**changes: Any) -> JsonObject:  # noqa: ANN401 - any field
    """Return a judge as a run event has it."""
    fields = {
        "name": "strict",
        "type": "rubric",
        "model": "m-judge",
        "judge_id": "judge-id",
        "replicates": 1,
        "parameters": {},
        "texts": {},
        "metrics": [{"name": "completeness", "min": 1, "max": 5}],
    }
    return fields | changes


def built(log: Log, folder: Path) -> Report:
    """Return the report of a log."""
    path = folder / "log.jsonl"
    path.write_bytes(b"".join(orjson.dumps(event) + b"\n" for event in log.events))
    with projections.connect([path]) as connection:
        return report.build(connection, report.saved_aggregates([path]))


def text(found: Report) -> str:
    """Return a report as a person reads it."""
    return Text(width=200).render(found).decode()


def complete_log(**changes: Any) -> Log:  # noqa: ANN401 - any field of the run event
    """Return a log of 2 conditions x 6 samples x 2 repetitions, everything judged once."""
    log = Log()
    log.run(tasks=12, **changes)
    for name in CONDITIONS:
        for sample in range(6):
            for repetition in (1, 2):
                shift = 1 if name == "with_docs" and sample else 0
                log.judgment(log.response(name, sample, repetition), 2 + sample % 3 + shift)
    return log


def codes(found: Report) -> set[str]:
    """Return the codes of a report's warnings."""
    return {caution.code for caution in (*found.cautions_first, *found.cautions)}


def test_the_header_says_where_the_numbers_come_from(tmp_path: Path) -> None:
    """Name, agent, models, judge, dataset, seed and counts are those of the log."""
    header = built(complete_log(), tmp_path).header
    assert (header.name, header.version, header.seed) == ("docs-server", "1", 7)
    assert header.agent is not None
    assert (header.agent.type, header.agent.model) == ("claude", "m-agent")
    assert header.models == ("m-agent-2026",)
    assert [(judge.name, judge.model, judge.judge_id) for judge in header.judges] == [("strict", "m-judge", "judge-id")]
    assert header.dataset is not None
    assert (header.dataset.path, header.dataset.samples, header.dataset.sha256) == ("questions.jsonl", 6, "d" * 64)
    assert (header.first_time, header.last_time) == ("2026-11-20T11:00:00.000Z", "2026-11-20T11:00:48.000Z")
    assert (header.runs, header.responses, header.judgments, header.failures) == (1, 24, 24, 0)


def test_numbers_of_the_tables_are_those_of_the_judgments(tmp_path: Path) -> None:
    """Means are means of sample means; the difference is paired by sample."""
    (table,) = built(complete_log(), tmp_path).metrics
    assert [score.condition for score in table.scores] == ["baseline", "with_docs"]
    assert [score.mean for score in table.scores] == pytest.approx([3.0, 3 + 5 / 6])
    assert [score.n_samples for score in table.scores] == [6, 6]
    assert [(score.scored, score.planned) for score in table.scores] == [(12, 12), (12, 12)]
    (difference,) = table.differences
    assert (difference.baseline, difference.condition) == ("baseline", "with_docs")
    assert difference.difference == pytest.approx(5 / 6)
    assert (difference.wins, difference.ties, difference.losses) == (5, 1, 0)
    assert difference.verdict == "higher"


def test_costs_of_unknown_amount_are_counted_and_not_0(tmp_path: Path) -> None:
    """The sum is over what is known; an answer whose cost is unknown stands beside it."""
    log = Log()
    log.run(["baseline"], tasks=3)
    log.response("baseline", 1, cost_usd=0.25)
    log.response("baseline", 2, cost_usd=None)
    log.response("baseline", 3, cost_usd=0.75)
    (summary,) = built(log, tmp_path).conditions
    assert summary.agent_cost_usd == Total(1.0, known=2, unknown=1)
    assert summary.agent_cost_per_answer_usd == pytest.approx(0.5)
    assert "agent cost: unknown for 1 of 3" in text(built(log, tmp_path))


def test_a_cost_that_is_known_nowhere_is_null(tmp_path: Path) -> None:
    """No answer of known cost: the sum is None, not 0."""
    log = Log()
    log.run(["baseline"], tasks=1)
    log.response("baseline", 1, cost_usd=None, usage=None, duration_ms=None)
    (summary,) = built(log, tmp_path).conditions
    assert summary.agent_cost_usd == Total(None, known=0, unknown=1)
    assert summary.agent_cost_per_answer_usd is None
    assert (summary.mean_duration_ms, summary.median_duration_ms) == (None, None)
    assert summary.tokens["input_tokens"] == Total(None, known=0, unknown=1)


def test_failed_attempts_and_failures_cost_money_too(tmp_path: Path) -> None:
    """The agent's cost holds what was paid for attempts that led to nothing."""
    log = Log()
    log.run(["baseline"], tasks=2)
    attempt = {"kind": "timeout", "message": "late", "cost_usd": 0.125, "usage": None, "duration_ms": 5}
    log.response("baseline", 1, cost_usd=0.25, attempts=2, failed_attempts=[attempt])
    log.failure("baseline", 2, "timeout", cost_usd=0.5)
    (summary,) = built(log, tmp_path).conditions
    assert summary.agent_cost_usd.value == pytest.approx(0.875)
    assert summary.agent_cost_per_answer_usd == pytest.approx(0.25)


def test_durations_have_mean_and_median(tmp_path: Path) -> None:
    """One slow answer moves the mean, not the median."""
    log = Log()
    log.run(["baseline"], tasks=3)
    for sample, duration_ms in enumerate((1000, 2000, 9000)):
        log.response("baseline", sample, duration_ms=duration_ms)
    (summary,) = built(log, tmp_path).conditions
    assert (summary.mean_duration_ms, summary.median_duration_ms) == (4000, 2000)


def test_calls_of_each_server_are_counted(tmp_path: Path) -> None:
    """Calls, failed calls and the answers that used the server, out of those that could."""
    log = Log()
    log.run(["with_docs"], tasks=2)
    call: JsonObject = {
        "type": "tool_call",
        "id": None,
        "name": "mcp__docs__search",
        "server": "docs",
        "input": {},
        "duration_ms": 1,
    }
    turns = [call | {"result": "found", "error": False}, call | {"result": None, "error": True}]
    use = {"status": "connected", "offered": ["search"], "called": 2, "failed": 1}
    log.response("with_docs", 1, turns=turns, mcp={"docs": use})
    log.response("with_docs", 2, mcp={"docs": use | {"called": 0, "failed": 0}})
    (summary,) = built(log, tmp_path).conditions
    assert (summary.tool_calls, summary.tool_calls_failed) == (2, 1)
    (docs,) = summary.servers
    assert (docs.server, docs.responses, docs.responses_using, docs.called, docs.failed) == ("docs", 2, 1, 2, 1)


def test_failures_stand_beside_the_answers_with_a_message(tmp_path: Path) -> None:
    """Planned, completed, failed by kind and not done add up, and each kind has an example."""
    log = Log()
    log.run(tasks=4)
    log.judgment(log.response("baseline", 1))
    log.failure("baseline", 2, "timeout")
    log.failure("baseline", 3, "infra_error")
    found = built(log, tmp_path)
    baseline, with_docs = found.conditions
    assert (baseline.planned, baseline.completed, baseline.not_done) == (4, 1, 1)
    assert baseline.failed == {"infra_error": 1, "timeout": 1}
    assert (with_docs.planned, with_docs.completed, with_docs.not_done) == (4, 0, 4)
    assert {(group.condition, group.stage, group.kind, group.count, group.example) for group in found.failures} == {
        ("baseline", "generate", "timeout", 1, "what went wrong: timeout"),
        ("baseline", "generate", "infra_error", 1, "what went wrong: infra_error"),
    }


def test_a_failure_that_a_later_run_made_good_is_none(tmp_path: Path) -> None:
    """The same task answered later counts as completed, and its failure is not in the table."""
    log = Log()
    log.run(["baseline"], tasks=1)
    log.failure("baseline", 1, "infra_error")
    log.run(["baseline"], tasks=1)
    log.response("baseline", 1)
    found = built(log, tmp_path)
    assert (found.conditions[0].completed, found.conditions[0].failed) == (1, {})
    assert found.failures == ()


def test_failures_of_the_judge_are_shown(tmp_path: Path) -> None:
    """An answer that could not be judged is a failure of its condition, in the judging stage."""
    log = Log()
    log.run(["baseline"], tasks=1)
    response = log.response("baseline", 1)
    log.failure("baseline", 1, "judge_invalid", stage="judge", response_id=response, judge_id="judge-id", replicate=1)
    (group,) = built(log, tmp_path).failures
    assert (group.stage, group.kind, group.count) == ("judge", "judge_invalid", 1)


def test_an_interrupted_run_is_incomplete_before_any_number(tmp_path: Path) -> None:
    """What is not done stands at the top, with its count."""
    log = Log()
    log.run(tasks=2)
    log.response("baseline", 1)
    found = built(log, tmp_path)
    assert "incomplete" in {caution.code for caution in found.cautions_first}
    assert "INCOMPLETE: 3 of 4 planned answers" in text(found)


def test_claims_are_counted_once_per_answer_and_shown_for_a_single_condition(tmp_path: Path) -> None:
    """Two judgments of one answer that flag the same claim are one answer with that claim."""
    log = Log()
    log.run(["baseline"], tasks=2)
    first, second = log.response("baseline", 1), log.response("baseline", 2)
    log.judgment(first, replicate=1, unverified_claims=["It is red.", "It is tall."])
    log.judgment(first, replicate=2, unverified_claims=["It is tall."])
    log.judgment(second, unverified_claims=["It is tall."])
    (claims,) = built(log, tmp_path).claims
    assert (claims.condition, claims.answers_judged, claims.answers_with_claims) == ("baseline", 2, 2)
    assert claims.claims == (Claim("It is tall.", 2), Claim("It is red.", 1))
    assert "It is tall." in text(built(log, tmp_path))


def test_claims_beyond_the_tenth_are_counted(tmp_path: Path) -> None:
    """The text names ten and says how many more there are, and where."""
    log = Log()
    log.run(["baseline"], tasks=1)
    log.judgment(log.response("baseline", 1), unverified_claims=[f"claim {number}" for number in range(13)])
    found = built(log, tmp_path)
    assert len(found.claims[0].claims) == 13
    assert "and 3 more: keval report -f json" in text(found)


@pytest.mark.parametrize("where", ["run", "response", "judgment"])
def test_one_mocked_part_makes_the_report_mocked(tmp_path: Path, where: str) -> None:
    """A mocked run, answer or judgment puts the banner on top."""
    log = Log()
    log.run(["baseline"], tasks=2, mock=where == "run")
    for sample in (1, 2):
        response = log.response("baseline", sample, **({"mock": True} if where == "response" and sample == 1 else {}))
        log.judgment(response, **({"mock": True} if where == "judgment" and sample == 1 else {}))
    found = built(log, tmp_path)
    assert (found.mock, found.banner) == (True, BANNER)
    assert text(found).startswith(BANNER)


def test_without_a_mock_there_is_no_banner(tmp_path: Path) -> None:
    """A real run says nothing about mocks."""
    found = built(complete_log(), tmp_path)
    assert (found.mock, found.banner) == (False, None)
    assert "MOCK" not in text(found)


def test_one_condition_has_a_table_and_no_difference(tmp_path: Path) -> None:
    """Nothing to compare with is no reason to show nothing."""
    log = Log()
    log.run(["baseline"], tasks=6)
    for sample in range(6):
        log.judgment(log.response("baseline", sample), 2 + sample % 3)
    (table,) = built(log, tmp_path).metrics
    assert table.differences == ()
    assert table.scores[0].mean == pytest.approx(3.0)


def test_an_unjudged_log_shows_costs_and_says_what_to_do(tmp_path: Path) -> None:
    """Answers without judgments are counted; there is no table of scores and no made-up one."""
    log = Log()
    log.run(["baseline"], tasks=2, judges=[])
    log.response("baseline", 1)
    log.response("baseline", 2)
    found = built(log, tmp_path)
    assert found.metrics == ()
    assert found.conditions[0].agent_cost_usd.value == pytest.approx(0.5)
    assert "unjudged" in codes(found)
    assert "2 responses have no judgment" in text(found)


def test_equal_scores_are_ties_and_no_difference(tmp_path: Path) -> None:
    """All samples tie: 0 wins, 0 losses, and neither condition is called higher."""
    log = Log()
    log.run(tasks=6)
    for name in CONDITIONS:
        for sample in range(6):
            log.judgment(log.response(name, sample), 2 + sample % 3)
    (difference,) = built(log, tmp_path).metrics[0].differences
    assert (difference.wins, difference.ties, difference.losses) == (0, 6, 0)
    assert difference.difference == 0
    assert difference.verdict in {"cannot tell", "no difference shown"}


def test_one_sample_has_no_interval_and_the_reason_is_shown(tmp_path: Path) -> None:
    """One sample: a mean, a dash for each spread, and the reasons below."""
    log = Log()
    log.run(tasks=1)
    for name in CONDITIONS:
        log.judgment(log.response(name, 1), 4)
    found = built(log, tmp_path)
    (table,) = found.metrics
    for score in table.scores:
        assert score.mean == 4
        assert (score.ci_lower, score.ci_upper, score.sd_between_samples, score.sd_over_repetitions) == (None,) * 4
        assert {"ci_lower", "sd_between_samples", "sd_over_repetitions"} <= set(score.reasons)
    assert table.differences[0].verdict == "cannot tell"
    shown = text(found)
    assert "95 % CI, all conditions: " in shown
    assert "the input does not say why" not in shown
    assert {"fewest_samples", "one_repetition", "one_judgment"} <= codes(found)


def test_an_empty_log_is_reported_as_empty(tmp_path: Path) -> None:
    """No crash, no zeros that look like results, and one sentence that says it."""
    found = built(Log(), tmp_path)
    assert (found.conditions, found.metrics, found.claims, found.failures) == ((), (), (), ())
    assert "nothing to report" in " ".join(found.notes)
    assert "nothing to report" in text(found)


def test_older_versions_of_a_condition_are_counted_and_not_pooled(tmp_path: Path) -> None:
    """A prompt was changed between two runs: the old answers are in no mean, and the report says so."""
    log = Log()
    log.run(["baseline"], tasks=1)
    log.judgment(log.response("baseline", 1, condition_id="baseline-old"), 1)
    log.run(["baseline"], tasks=1)
    log.judgment(log.response("baseline", 1), 5)
    found = built(log, tmp_path)
    assert [summary.condition_id for summary in found.conditions] == ["baseline-id"]
    assert [score.mean for score in found.metrics[0].scores] == [5]
    assert "older_conditions" in codes(found)


def test_a_judge_of_the_agents_own_model_is_pointed_out(tmp_path: Path) -> None:
    """A model may favour what it wrote itself."""
    log = Log()
    own = {"name": "strict", "type": "rubric", "model": "m-agent"}
    log.run(["baseline"], tasks=1, judges=[judge(model="m-agent")])
    log.judgment(log.response("baseline", 1), judge=own)
    assert "judge_is_agent" in codes(built(log, tmp_path))
    assert "judge_is_agent" not in codes(built(complete_log(), tmp_path))


def test_conditions_stand_in_the_order_of_the_config(tmp_path: Path) -> None:
    """Neither the alphabet nor the order of the answers decides."""
    log = Log()
    log.run(["zero", "alpha"], tasks=1)
    log.judgment(log.response("alpha", 1))
    log.judgment(log.response("zero", 1))
    found = built(log, tmp_path)
    assert [summary.name for summary in found.conditions] == ["zero", "alpha"]
    assert [score.condition for score in found.metrics[0].scores] == ["zero", "alpha"]


def test_given_aggregates_are_used_as_they_are(tmp_path: Path) -> None:
    """A report of aggregates has the same tables as the report that computed them."""
    from keval.stats.aggregates import aggregate

    log = complete_log()
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"".join(orjson.dumps(event) + b"\n" for event in log.events))
    with projections.connect([path]) as connection:
        bodies = list(aggregate(connection, levels={"condition"}))
        assert report.build(connection, bodies).metrics == report.build(connection).metrics


def test_a_log_of_aggregates_only_shows_them_and_says_what_is_missing(tmp_path: Path) -> None:
    """The tables are the same; costs and claims are said not to be in the input."""
    from keval.stats.aggregates import aggregate

    log = complete_log()
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"".join(orjson.dumps(event) + b"\n" for event in log.events))
    with projections.connect([path]) as connection:
        bodies = list(aggregate(connection, levels={"condition"}))
        whole = report.build(connection)
    only = Log()
    for number, body in enumerate(bodies):
        only.add(body["type"], f"id-{number}", {key: value for key, value in body.items() if key != "type"})
    found = built(only, tmp_path)
    assert found.metrics == whole.metrics
    assert found.conditions == ()
    assert "not in the input" in " ".join(found.notes)


def test_the_same_log_gives_the_same_report(tmp_path: Path) -> None:
    """Two builds are equal, whatever order the database found the rows in."""
    log = complete_log()
    assert built(log, tmp_path) == built(log, tmp_path)
