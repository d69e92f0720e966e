"""What differs between logs beside what is compared is named."""

from __future__ import annotations

import dataclasses

from keval.compare.doubts import check_comparable, differing, first_of_each, header, rest_of_each, small
from keval.compare.side import Side
from keval.reports.model import AgentInfo, Report, ReportWarning, ServerUse
from keval.stats.declared import Declared
from tests.reports import small_report, summary

REPORT = small_report()


def test_agents_models_servers_and_conditions_are_named() -> None:
    """Each difference is one warning that says what each log has."""
    changed = dataclasses.replace(
        REPORT,
        header=dataclasses.replace(REPORT.header, agent=AgentInfo("other", "echo", None), models=("claude-opus-5",)),
        conditions=(
            summary("baseline", condition_id="edited", agent_id="older"),
            summary("with_docs", servers=(ServerUse("web", 1, 1, 1, 1, 1, 0),)),
        ),
    )
    sides = [Side(1, "a.jsonl", REPORT, Declared()), Side(2, "b.jsonl", changed, Declared(margin=0.5))]
    check_comparable(sides)
    found = {warning.code: warning.text for warning in differing(sides, ["only a.jsonl has q7"])}
    assert found == {
        "different_samples": "only a.jsonl has q7",
        "different_declarations": "the configs declare different primary metrics or margins under `comparison`; "
        "neither counts here",
        "different_agents": "the agents differ (a.jsonl: claude, model claude-sonnet-5; b.jsonl: other)",
        "different_models": "other models answered (a.jsonl: claude-sonnet-5-20260901; b.jsonl: claude-opus-5)",
        "different_conditions": "baseline: its prompt, gates, tools, or what its servers turned out to be, is not the "
        "same in all logs",
        "different_agent_versions": "baseline: answered by agents of different options or files",
        "different_servers": "with_docs: its MCP servers differ (a.jsonl: docs; b.jsonl: web)",
    }
    assert header(sides).agent is None
    assert header(sides).responses == 2 * REPORT.header.responses


def test_the_order_in_which_models_answered_is_no_difference() -> None:
    """Two models that both answered in each log are the same ones."""
    names = ("claude-opus-5", "claude-sonnet-5")
    sides = [
        Side(place, f"{place}.jsonl", with_models(models), Declared())
        for place, models in ((1, names), (2, names[::-1]))
    ]
    assert "different_models" not in {warning.code for warning in differing(sides, [])}


def with_models(models: tuple[str, ...]) -> Report:
    return dataclasses.replace(REPORT, header=dataclasses.replace(REPORT.header, models=models))


def test_a_metric_that_is_computed_otherwise_is_named() -> None:
    """It is compared by nothing, and so would be missing without a word."""
    computed = [
        dataclasses.replace(REPORT.metrics[0], judge="computed", judge_id=name, metric="quality", computed=name)
        for name in ("weighted 1:1", "weighted 5:1")
    ]
    sides = [
        Side(number, f"{number}.jsonl", dataclasses.replace(REPORT, metrics=(*REPORT.metrics, table)), Declared())
        for number, table in enumerate(computed, start=1)
    ]
    assert [(warning.code, warning.text) for warning in differing(sides, [])] == [
        ("metric_of_one_log", f"{side.label}: quality is not computed alike in all logs ({name}); it is left out")
        for side, name in zip(sides, ("weighted 1:1", "weighted 5:1"), strict=True)
    ]


def test_logs_that_are_alike_say_only_what_each_says() -> None:
    """Nothing differs; each log's own warnings stand under its name, but what is too small once."""
    warned = dataclasses.replace(REPORT, warnings=(*REPORT.warnings, ReportWarning("older_conditions", "dropped")))
    sides = [Side(1, "a.jsonl", warned, Declared()), Side(2, "b.jsonl", warned, Declared())]
    assert list(differing(sides, [])) == []
    assert [warning.text for warning in rest_of_each(sides)] == ["a.jsonl: dropped", "b.jsonl: dropped"]
    assert [warning.code for warning in small(sides, REPORT.metrics)] == ["few_samples", "one_repetition"]
    asking = [dataclasses.replace(side, asking_models=frozenset({REPORT.metrics[0].judge_id})) for side in sides]
    assert "one_judgment" in {warning.code for warning in small(asking, REPORT.metrics)}
    assert header(sides).agent == REPORT.header.agent
    assert header(sides).seed == REPORT.header.seed


def test_what_favours_one_log_stands_first() -> None:
    """That failures of one log were tried again may be all that differs: it is no small print."""
    tried = ReportWarning("answered_after_failures", "baseline: 88 answers came in a later run")
    better = dataclasses.replace(REPORT, warnings=(*REPORT.warnings, tried))
    sides = [Side(1, "a.jsonl", REPORT, Declared()), Side(2, "b.jsonl", better, Declared())]
    assert [warning.text for warning in first_of_each(sides)][2:] == [f"b.jsonl: {tried.text}"]
    assert list(rest_of_each(sides)) == []
