"""Properties of what is said of a config's gate before anything is paid."""

from __future__ import annotations

from pathlib import Path

import pytest

from keval.config.reader import load
from keval.errors import UsageError
from keval.preparation.gate_check import check_gate_rules

CONFIG = """\
name: held
dataset: {path: questions.jsonl}
agent: {type: AGENT}
conditions: {plain: {system_prompt: "Answer."}, careful: {system_prompt: "Be careful."}}
judges: [JUDGES]
gate: {on: interval, rules: ["RULE"]}
"""


def doubts(
    folder: Path,
    rule: str,
    *,
    agent: str = "echo",
    judges: str = "{type: number}",
    more: str = "",
    template: str = CONFIG,
) -> list[str]:
    """Return what is said of one rule; `more` follows in the config."""
    config = template.replace("RULE", rule).replace("AGENT", agent).replace("JUDGES", judges)
    (folder / "questions.jsonl").touch()
    (folder / "eval.yaml").write_text(config + more)
    said: list[str] = []
    check_gate_rules(load(folder / "eval.yaml"), [{"id": "q1", "topic": "billing"}, {"id": "q2"}], said.append)
    return said


def test_a_field_of_groups_that_no_sample_has_is_refused(tmp_path: Path) -> None:
    """The gate would refuse it, after everything is paid; one that some samples have is right."""
    with pytest.raises(UsageError, match=r"no sample has a field 'topci'; did you mean 'topic'\?$"):
        doubts(tmp_path, "number >= 0.5 for each topci")
    assert not doubts(tmp_path, "number >= 0.5 for each topic")


@pytest.mark.parametrize(
    ("rule", "doubt"),
    [
        ("nmber of careful >= .8", "no judge of the config gives a metric 'nmber'; did you mean 'number'?"),
        ("number >= 5", "it can never be met: number goes from 0 to 1"),
        ("number < 0", "it can never be met"),
        ("accuracy of careful higher than plain", "no judge of the config gives a metric 'accuracy'"),
    ],
)
def test_a_score_that_no_judge_gives_is_told(rule: str, doubt: str, tmp_path: Path) -> None:
    """It may come of a later judge, so that the run goes on."""
    (found,) = doubts(tmp_path, rule)
    assert found.startswith(f"{tmp_path}/eval.yaml: gate: rule {rule!r}: ")
    assert doubt in found


TWO_SCALES = "{type: rubric, model: m}, {type: rubric, name: q, model: m, rubric: quality}"


def test_a_rule_of_two_scales_is_told_which_judge_it_does_not_fit(tmp_path: Path) -> None:
    """The gate would refuse it, after everything is paid; a rule that names the judge is asked of that alone."""
    (found,) = doubts(tmp_path, "completeness of careful >= 4", judges=TWO_SCALES)
    assert "it asks for completeness of each judge, and that of q goes from 0 to 1; name the one that is meant" in found
    assert not doubts(tmp_path, "rubric/completeness of careful >= 4", judges=TWO_SCALES)


@pytest.mark.parametrize(
    ("judges", "passes"),
    [("{type: rubric, model: m}", False), ("{type: rubric, model: m}, {type: number}", True)],
)
def test_a_pass_rate_without_anything_that_passes_is_told(judges: str, tmp_path: Path, *, passes: bool) -> None:
    """Models grade, and no rule about passes could ever be met."""
    told = doubts(tmp_path, "pass rate >= 80%", judges=judges)
    assert ["nothing says from which score an answer passes" in each for each in told] == [True] * (not passes)


@pytest.mark.parametrize(
    ("rule", "mistake"),
    [
        ("number of carefull >= .8", "no condition is called 'carefull'; did you mean 'careful'?"),
        ("careful higher than baselin", "conditions are compared with 'plain', the baseline; there are: plain, before"),
        ("plain higher than plain by 0.1", "'plain' is the baseline itself"),
        ("careful not lower than plain by 2", "number is 0 to 1, on which nothing differs by 2; name the metric"),
        ("plain higher than careful", "the baseline; `baseline: careful` in the config compares them with 'careful'"),
        (
            "number not lower than before by .05",
            "no condition is called 'number', a metric is; write `number of CONDITION`",
        ),
    ],
)
def test_a_rule_of_conditions_that_are_not_there_is_refused(rule: str, mistake: str, tmp_path: Path) -> None:
    """A gate that cannot be read after the run was paid for helps nobody."""
    with pytest.raises(UsageError, match="gate: rule") as refused:
        doubts(tmp_path, rule)
    assert mistake in str(refused.value)


@pytest.mark.parametrize(
    "rule",
    [
        *("number >= 1", "number/number of careful > 0.8", "missing <= 5%", "latency p95 <= 3s", "pass@2 >= 0.5"),
        *("careful higher than baseline", "number of careful not lower than before by 0.1", "careful lower than plain"),
    ],
)
def test_of_a_rule_that_can_be_met_nothing_is_said(rule: str, tmp_path: Path) -> None:
    """Also where it names the baseline, or an earlier log."""
    assert doubts(tmp_path, rule) == []


def test_tool_errors_of_an_agent_that_reports_no_calls_are_told(tmp_path: Path) -> None:
    """None would be found, whatever the tools did."""
    (found,) = doubts(tmp_path, "tool errors <= 1%", agent="command, command: [cat]")
    assert "agent command does not report its tool calls" in found


UNTIL = "comparison: {primary: [number]}\nuntil: decided\n"


def test_a_rule_about_all_metrics_of_a_run_that_stops_is_told(tmp_path: Path) -> None:
    """Of what is not primary nothing is concluded, so that such a rule never passes; one that names a metric can."""
    judges, rule = "{type: number}, {type: exact_match}", "careful higher than plain"
    (found,) = doubts(tmp_path, rule, judges=judges, more=UNTIL)
    assert found.endswith("(exact_match/exact_match); name one, as in 'number of careful higher than plain'")
    assert doubts(tmp_path, f"number of {rule}", judges=judges, more=UNTIL) == []
    assert doubts(tmp_path, rule, more=UNTIL) == []
    assert doubts(tmp_path, rule, judges=judges) == []


def test_a_rule_about_groups_of_a_run_that_may_stop_is_told(tmp_path: Path) -> None:
    """Groups of such a run have no intervals, by which the rule would be judged; the numbers alone need none."""
    rule = "number >= 0.5 for each topic"
    (found,) = doubts(tmp_path, rule, more=UNTIL)
    assert found.endswith("nobody can tell of them; with `on: mean` the numbers alone decide")
    by_numbers = CONFIG.replace("on: interval", "on: mean")
    assert doubts(tmp_path, rule, more=UNTIL, template=by_numbers) == []
