"""Properties of what a report says of a run that stops when decided."""

from __future__ import annotations

import csv
import html
import io
import json
import re
from pathlib import Path

import pytest

from keval import projections
from keval.cli import run as keval
from keval.config.gate_rules import read_rule
from keval.config.until_section import Given
from keval.gate.facts import Facts
from keval.gate.findings import judge_rules
from keval.reports import builder
from keval.reports.model import Report
from keval.reports.stopping import CODE
from tests.stopping_runs import Drawn, run, write_evaluation

CLEAR = {"plain": 0.3, "other": 0.9}

STOPPED = "stopped after 14 of 100 samples: decided (rule bet20+t/1, target population, alpha 0.05, one comparison)."


def report_of(log: Path) -> Report:
    """Return the report of a log."""
    with projections.connect([log]) as connection:
        return builder.compose(connection)


def said(report: Report) -> list[str]:
    """Return what a report says first of how its run stopped."""
    return [warning.text for warning in report.warnings_first if warning.code == CODE]


@pytest.mark.slow
def test_it_says_after_how_many_samples_the_run_stopped(tmp_path: Path) -> None:
    """The first sentence has the numbers; what was not asked is not planned, and nothing is called missing."""
    config, log = write_evaluation(tmp_path), tmp_path / "log.jsonl"
    drawn = Drawn(config, CLEAR)
    run(config, log, drawn)
    found = report_of(log)
    [text] = said(found)
    assert text.startswith(STOPPED)
    assert "Not planned: 86 of 100 samples of plain, 86 of 100 samples of other." in text
    assert [condition.not_done for condition in found.conditions] == [0, 0]
    late = len(drawn.asked) - 2 * 14
    assert f"{late} responses that came in after the stop are in no mean" in [
        warning.text for warning in found.warnings
    ]
    assert found.headlines[0].text.startswith("other scored higher than plain on exact_match: +0.64 [+0.02, +0.90]")
    assert any("are 95 % intervals, those of the rule by which the run stops" in note for note in found.notes)
    assert not any("Student's t" in note for note in found.notes)


@pytest.mark.slow
def test_all_formats_agree(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Text, Markdown, page, JSON, CSV and the events of `aggregate` have one interval, one p and one sentence."""
    config, log = write_evaluation(tmp_path), tmp_path / "log.jsonl"
    run(config, log, Drawn(config, CLEAR))

    def written(*command: str) -> str:
        assert keval([*command, str(log)]) == 0
        return capfd.readouterr().out

    markup = re.compile(r"<style>.*?</style>|<[^>]*>", re.DOTALL)
    for options in (["-f", "text", "-O", "width=400"], ["-f", "markdown"], ["-f", "html"]):
        text = " ".join(html.unescape(markup.sub("", written("report", *options))).split())
        assert STOPPED in text
        assert "other scored higher than plain on exact_match: +0.64 [+0.02, +0.90] on a scale of 0 to 1." in text
        assert "0.039" in text
    (told,) = json.loads(written("report", "-f", "json"))["metrics"][0]["differences"]
    (event,) = [json.loads(line) for line in written("aggregate").splitlines() if '"type":"comparison"' in line]
    (row,) = [row for row in csv.DictReader(io.StringIO(written("report", "-f", "csv"))) if row["baseline"]]
    interval = event["ci_lower"], event["ci_upper"], event["p"]
    assert (told["ci_lower"], told["ci_upper"], told["other_statistics"]["p"]) == interval
    assert tuple(float(row[f"difference_{name}"]) for name in ("ci_lower", "ci_upper", "p")) == interval


@pytest.mark.slow
def test_it_says_that_all_was_asked(tmp_path: Path) -> None:
    """A run that found nothing early says so, and what is not decided is not called equal."""
    config, log = write_evaluation(tmp_path, 30), tmp_path / "log.jsonl"
    run(config, log, Drawn(config, {"plain": 0.5, "other": 0.5}))
    found = report_of(log)
    assert said(found)[0].startswith("ran to the end under a rule to stop when decided")
    assert found.headlines[0].text.startswith("Cannot tell between other and plain on exact_match: not decided by all")


@pytest.mark.slow
def test_what_was_decided_early_does_not_make_the_rest_unfinished(tmp_path: Path) -> None:
    """Of three conditions one is decided soon, the other never: all of it was asked, and nothing goes on."""
    config, log = write_evaluation(tmp_path, 60), tmp_path / "log.jsonl"
    config.write_text(config.read_text().replace("judges:", '  third: {system_prompt: "third"}\njudges:'))
    run(config, log, Drawn(config, CLEAR | {"third": 0.35}))
    found = report_of(log)
    assert found.headlines[0].text.startswith("other scored higher")
    assert said(found)[0].startswith("ran to the end under a rule to stop when decided")


@pytest.mark.slow
def test_the_terms_of_the_rule_are_named(tmp_path: Path) -> None:
    """Whoever reads the conclusion can see by which level and margin it was drawn."""
    config, log = write_evaluation(tmp_path), tmp_path / "log.jsonl"
    run(config, log, Drawn(config, CLEAR), Given(until="decided", alpha=0.1, margin=0.05))
    found = report_of(log)
    assert "(rule bet20+t/1, target population, alpha 0.1, margin 0.05, one comparison)" in said(found)[0]
    assert any("are 90 % intervals, those of the rule" in note for note in found.notes)


@pytest.mark.slow
def test_of_any_other_run_nothing_is_said(tmp_path: Path) -> None:
    """Who does not ask to stop reads nothing of stopping."""
    config, log = write_evaluation(tmp_path, 10), tmp_path / "log.jsonl"
    run(config, log, Drawn(config, CLEAR), Given())
    assert said(report_of(log)) == []


@pytest.mark.slow
def test_a_gate_reads_the_same_interval(tmp_path: Path) -> None:
    """A rule of a gate is held to the interval of the stopping rule, and a mean without one cannot be told."""
    config, log = write_evaluation(tmp_path), tmp_path / "log.jsonl"
    run(config, log, Drawn(config, CLEAR))
    texts = (
        "exact_match of other higher than plain by 0.1",
        "exact_match of other >= 0.5",
        "pass rate of other >= 0.5",
    )
    rules = [read_rule(text) for text in texts]
    with projections.connect([log]) as connection:
        outcome = judge_rules(
            [read_rule("exact_match of other higher than plain")], Facts(connection, {}), None, on_mean=False
        )
        doubtful = judge_rules(rules, Facts(connection, {}), None, on_mean=False)
    assert outcome.verdict == "met"
    assert [found.verdict for found in doubtful.findings] == ["cannot tell"] * len(rules)


@pytest.mark.slow
def test_a_gate_names_the_level_of_the_rule(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The interval of a rule with another alpha is not called one of 95 %, neither to people nor to programs."""
    config, log = write_evaluation(tmp_path), tmp_path / "log.jsonl"
    run(config, log, Drawn(config, CLEAR), Given(until="decided", alpha=0.1))
    rule = "--rule", "exact_match of other higher than plain"
    assert keval(["gate", str(log), *rule]) == 0
    assert capfd.readouterr().out.endswith("(intervals are of 90 %)\n")
    assert keval(["gate", str(log), *rule, "-f", "json"]) == 0
    (found,) = json.loads(capfd.readouterr().out)["findings"]
    assert found["level"] == 0.9


def test_equality_within_the_margin_is_said_with_the_margin(tmp_path: Path) -> None:
    """With a margin two conditions that hardly differ are found equal within it, early."""
    config, log = write_evaluation(tmp_path, 200, concurrent=1), tmp_path / "log.jsonl"
    run(config, log, Drawn(config, {"plain": 1.0, "other": 1.0}), Given(until="decided", margin=0.1))
    found = report_of(log)
    assert said(found)[0].startswith("stopped after 59 of 200 samples: decided")
    assert found.headlines[0].text.startswith("No difference within ±0.10 between other and plain")
