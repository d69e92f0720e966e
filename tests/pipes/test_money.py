"""What the real commands spend: the agent is a program that says what it cost, the judge costs nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

Keval = Callable[..., "CompletedProcess[str]"]

CONFIG = """\
name: money
dataset: {path: questions.jsonl}
agent:
  type: command
  command: [sh, -c, 'sleep 0.02; echo "{{\\"text\\": \\"yes\\", \\"cost\\": COST}}"']
  answer_path: $.text
  cost_path: $.cost
  model: my-model
conditions: {plain: {system_prompt: "Answer."}}
judge: {type: exact_match}
execution: {repetitions: 2, max_concurrent: 8, BUDGET}
prices: {my-model: {input: 0, output: 100}}   # 500 tokens are assumed: $0.05 for an answer
"""
ASSUMED_USD = 0.05
IN_FLIGHT = 16


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a dataset of 40 tasks."""
    lines = [json.dumps({"question": f"question {number}", "answer": "yes"}) for number in range(20)]
    (tmp_path / "questions.jsonl").write_text("\n".join(lines) + "\n")
    return tmp_path


def configure(folder: Path, budget: str, cost: float = ASSUMED_USD) -> None:
    """Write the config with this budget and an agent that costs so much."""
    (folder / "eval.yaml").write_text(CONFIG.replace("BUDGET", budget).replace("COST", str(cost)))


def spent(folder: Path) -> float:
    """Return what all events of the log cost."""
    events: list[dict[str, Any]] = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    return sum(event["cost_usd"] or 0.0 for event in events if event["type"] in {"response", "judgment", "failure"})


@pytest.mark.parametrize("cost", [ASSUMED_USD, 0.12])
def test_eight_in_flight_spend_no_more_than_the_budget_and_the_reserve(folder: Path, keval: Keval, cost: float) -> None:
    """Beyond the budget goes at most what those in flight cost more than was set aside for each of them."""
    configure(folder, "budget_usd: 1", cost)
    done = keval("generate", "eval.yaml", "-o", "log.jsonl", "--quiet")
    assert done.returncode == 6, done.stderr
    assert 0.8 < spent(folder) <= 1 + IN_FLIGHT * (cost - ASSUMED_USD) + 1e-9
    assert f"budget_usd 1 is reached: ${spent(folder):.4f} spent, and the next item may cost ${cost:.4f}" in done.stderr


@pytest.mark.slow
def test_a_judge_that_is_not_asked_needs_no_price(folder: Path, keval: Keval) -> None:
    """`generate` under a budget asks no judge; `run` does, and refuses what it cannot count before it asks anybody."""
    configure(folder, "budget_usd: 5", 0)
    config = (folder / "eval.yaml").read_text().replace("{type: exact_match}", "{type: rubric, model: unknown-model}")
    (folder / "eval.yaml").write_text(config)
    generated = keval("generate", "eval.yaml", "-o", "log.jsonl", "--quiet")
    assert generated.returncode == 0, generated.stderr
    both = keval("run", "eval.yaml", "-o", "other.jsonl", "--mock", "--quiet")
    assert both.returncode == 2
    assert "budget_usd is set, and what 'rubric' costs is unknown" in both.stderr


@pytest.mark.slow
def test_a_daily_budget_counts_what_the_log_says_was_spent_today(folder: Path, keval: Keval) -> None:
    """A second command has what the first one left, a third one nothing, and a raised budget goes on."""
    configure(folder, "daily_budget_usd: 1, budget_usd: 0.6")
    first = keval("generate", "eval.yaml", "-o", "log.jsonl", "--quiet")
    assert first.returncode == 6
    assert spent(folder) == pytest.approx(0.6)
    assert "keval: budget_usd 0.6 is reached" in first.stderr
    for _ in range(2):
        again = keval("run", "eval.yaml", "-o", "log.jsonl", "--quiet")
        assert again.returncode == 6
        assert spent(folder) == pytest.approx(1.0)
        assert "daily_budget_usd 1 is reached" in again.stderr
    assert "after $1.0000 today (UTC)" in again.stderr
    configure(folder, "daily_budget_usd: 3")
    assert keval("run", "eval.yaml", "-o", "log.jsonl", "--quiet").returncode == 0
    assert spent(folder) == pytest.approx(2.0)


@pytest.mark.parametrize("name", ["budget_usd", "daily_budget_usd"])
def test_a_model_without_a_price_is_refused_under_a_budget(folder: Path, keval: Keval, name: str) -> None:
    """Such a budget would hold nothing; nothing is asked."""
    configure(folder, f"{name}: 1")
    config = folder / "eval.yaml"
    config.write_text(config.read_text().replace("model: my-model", "model: other-model"))
    done = keval("generate", "eval.yaml", "-o", "log.jsonl", "--quiet")
    assert done.returncode == 2
    assert f"{name} is set, and what 'plain' costs is unknown" in done.stderr
    assert not (folder / "log.jsonl").exists() or not (folder / "log.jsonl").read_text()


@pytest.mark.slow
def test_a_run_whose_budget_is_reached_reports_what_there_is(folder: Path, keval: Keval) -> None:
    """It was paid for; that the rest is missing stands above all. Where nothing may be asked for there is no report."""
    configure(folder, "budget_usd: 0.5")
    done = keval("run", "eval.yaml", "-o", "log.jsonl", "--quiet")
    assert done.returncode == 6, done.stderr
    assert "INCOMPLETE: " in done.stdout
    assert "budget_usd 0.5 is reached" in done.stderr
    command = f"{sys.executable} -m keval run eval.yaml -o full.jsonl --quiet > /dev/full"
    full = subprocess.run(command, shell=True, cwd=folder, capture_output=True, text=True, check=False)  # noqa: S602 - ours
    assert full.returncode == 6, full.stderr
    assert "stdout: No space left on device" in full.stderr
    assert "budget_usd 0.5 is reached" in full.stderr
    configure(folder, "budget_usd: 0.01")
    done = keval("run", "eval.yaml", "-o", "other.jsonl", "--quiet")
    assert (done.returncode, "budget_usd" in done.stderr) == (6, True)


def configure_judges(folder: Path, judges: str, budget: str) -> None:
    """Write the config with these judges of answers that cost nothing."""
    config = CONFIG.replace("judge: {type: exact_match}", f"judges: [{judges}]").partition("agent:\n")
    rest = config[2][config[2].index("conditions:") :].replace("BUDGET", budget)
    (folder / "eval.yaml").write_text(f"{config[0]}agent: {{type: echo}}\n{rest}")


PAID, FREE = "{type: rubric, model: claude-opus-5}", "{type: exact_match}"


WAYS_TO_JUDGE = [["run eval.yaml -o"], ["generate eval.yaml -o", "judge"], ["| judge >"]]


def judged(folder: Path, keval: Keval, commands: list[str]) -> list[dict[str, Any]]:
    """Judge in one of these ways with a budget of $0.001 that is reached at once; return the log's events."""
    for command in commands:
        if command.startswith("|"):
            generated = keval("generate", "eval.yaml", "--mock", "--quiet")
            done = keval("judge", "--mock", "--quiet", stdin=generated.stdout)
            (folder / "log.jsonl").write_text(done.stdout)
        else:
            done = keval(*command.split(), "log.jsonl", "--mock", "--quiet")
    assert (done.returncode, "budget_usd 0.001 is reached: $0.0000 spent" in done.stderr) == (6, True)
    return [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]


@pytest.mark.slow
@pytest.mark.parametrize("commands", WAYS_TO_JUDGE)
def test_judgments_that_cost_nothing_fit_into_any_budget(folder: Path, keval: Keval, commands: list[str]) -> None:
    """Whatever a judge of the same command that costs too much has ended: else the same command never makes them."""
    configure_judges(folder, f"{PAID}, {FREE}", "budget_usd: 0.001")
    events = judged(folder, keval, commands)
    assert Counter(event["judge"]["type"] for event in events if event["type"] == "judgment") == {"exact_match": 40}


@pytest.mark.slow
@pytest.mark.parametrize("commands", WAYS_TO_JUDGE)
@pytest.mark.parametrize("beside", ["", f", {PAID}"])
def test_the_baselines_ties_with_itself_fit_into_any_budget(
    folder: Path, keval: Keval, commands: list[str], beside: str
) -> None:
    """Nobody is asked about them, also where all other judgments cost too much, be it those of another judge."""
    configure_judges(folder, f"{{type: pairwise, model: claude-opus-5}}{beside}", "budget_usd: 0.001")
    config = folder / "eval.yaml"
    config.write_text(config.read_text().replace('Answer."}', 'Answer."}, long: {system_prompt: "Say more."}'))
    events = judged(folder, keval, commands)
    answers = [event["id"] for event in events if event["type"] == "response" and event["condition"] == "plain"]
    ties = [event["response_id"] for event in events if event["type"] == "judgment"]
    assert sorted(ties) == sorted(answers) != []


@pytest.mark.slow
@pytest.mark.parametrize("first", [f"{PAID}, {FREE}", PAID])
def test_a_budget_that_a_pipe_reached_holds_for_the_runs_behind_it(folder: Path, keval: Keval, first: str) -> None:
    """Nothing is paid for them, what costs nothing is made, and the command says at its end that it was reached."""
    generated = ""
    for judges, budget in ((first, "budget_usd: 0.001"), (f"{FREE}, {PAID}", "timeout_s: 100")):
        configure_judges(folder, judges, budget)
        generated += keval("generate", "eval.yaml", "--mock", "--quiet").stdout
    done = keval("judge", "--mock", "--quiet", stdin=generated)
    assert (done.returncode, "budget_usd 0.001 is reached: $0.0000 spent" in done.stderr) == (6, True)
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert Counter(event["judge"]["type"] for event in events if event["type"] == "judgment") == {"exact_match": 40}


@pytest.mark.slow
def test_only_what_a_run_would_judge_is_judged_for_nothing(folder: Path, keval: Keval) -> None:
    """No answer of another config in the log, and none twice: a judge that fails has failed."""
    (folder / "fails.sh").write_text("echo >> calls; exit 3\n")
    judges = f"judge: {{type: command, min: 0, max: 1, command: [sh, '{folder}/fails.sh']}}"
    configure(folder, "budget_usd: 0.5, retry: {max_attempts: 1}")
    other = (folder / "eval.yaml").read_text().replace("name: money", "name: other").replace("Answer.", "Say.")
    (folder / "other.yaml").write_text(other)
    config = (folder / "eval.yaml").read_text().replace("judge: {type: exact_match}", judges)
    (folder / "eval.yaml").write_text(config.replace("plain: {", "mine: {"))
    for command in ("generate other.yaml", "run eval.yaml"):
        done = keval(*command.split(), "-o", "log.jsonl", "--quiet")
        assert done.returncode == 6, done.stderr
    events = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    answers = Counter(event["condition"] for event in events if event["type"] == "response")
    failed = Counter(event["condition"] for event in events if event["type"] == "failure")
    assert answers.keys() == {"plain", "mine"}
    assert failed == {"mine": answers["mine"]}


def test_check_estimates_by_the_configs_own_prices(folder: Path, keval: Keval) -> None:
    """Forty answers of 500 tokens at 100 dollars per million."""
    configure(folder, "budget_usd: 1")
    done = keval("check", "eval.yaml")
    assert done.returncode == 0, done.stderr
    assert "plain: 40 calls, $2.00 (assumed)" in done.stdout


@pytest.mark.slow
def test_a_judge_that_the_log_names_costs_what_its_config_says(folder: Path, keval: Keval) -> None:
    """The prices are those that the log's run recorded; the config file is not needed any more."""
    configure(folder, "budget_usd: 30")
    config = folder / "eval.yaml"
    judge = "judge: {type: rubric, model: my-judge}\n"
    own = "prices: {my-judge: {input: 1000, output: 3000}, "
    written = config.read_text().replace("judge: {type: exact_match}\n", judge).replace("prices: {", own)
    config.write_text(written)
    assert keval("generate", "eval.yaml", "--limit", "1", "--mock", "-o", "log.jsonl", "--quiet").returncode == 0
    config.unlink()
    done = keval("judge", "log.jsonl", "--mock", "--quiet")
    assert done.returncode == 0, done.stderr
    events = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    judgments = [event for event in events if event["type"] == "judgment"]
    assert len(judgments) == 2
    for judgment in judgments:
        usage = judgment["usage"]
        assert judgment["cost_usd"] == pytest.approx(usage["input_tokens"] / 1000 + 3 * usage["output_tokens"] / 1000)
