"""Properties of runs that stop when decided: what they ask, what they write down, and what they refuse."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from keval import projections
from keval.agents import Answer
from keval.config.reader import load
from keval.config.until_section import Given, Until, wanted
from keval.errors import BudgetReachedError, UsageError
from keval.execution.config_check import check
from keval.execution.config_session import generate, run_all
from keval.executors.specs import AnswerSpec, Outcome
from keval.ids import JsonObject
from keval.preparation.request import Request
from keval.retry import Failed
from keval.stats.recorded_rule import look_fields
from keval.stats.stopped_run import READ, stopped_run
from tests.builders import retraction_event
from tests.stopping_runs import Drawn, events, run, write_evaluation

CLEAR = {"plain": 0.3, "other": 0.9}
ALIKE = {"plain": 0.5, "other": 0.5}
UNTIL = ("until_decided", "until_end")


def lasting(found: list[JsonObject]) -> list[JsonObject]:
    """Return events without what differs between two runs of the same."""
    return [{name: value for name, value in each.items() if name not in {"id", "time", "run_id"}} for each in found]


def ended(log: Path) -> JsonObject:
    """Return what a log says at last of how its runs ended."""
    return events(log, "until_end")[-1]


@pytest.mark.parametrize("concurrent", [4, 50])
def test_any_concurrency_stops_after_the_same_samples(tmp_path: Path, concurrent: int) -> None:
    """Only the finished prefix counts: fifty at once come to the conclusion of one at a time, and pay for few more."""
    one, many = tmp_path / "one", tmp_path / "many"
    for folder, at_once in ((one, 1), (many, concurrent)):
        folder.mkdir()
        config = write_evaluation(folder, concurrent=at_once)
        agent = Drawn(config, CLEAR)
        run(config, folder / "log.jsonl", agent)
        assert len(agent.asked) <= 2 * (ended(folder / "log.jsonl")["n"] + at_once)
    assert lasting(events(one / "log.jsonl", *UNTIL)) == lasting(events(many / "log.jsonl", *UNTIL))


def test_slow_answers_do_not_choose_what_counts(tmp_path: Path) -> None:
    """Answers that make the condition look worse may take as long as they want: the same samples count."""
    config = write_evaluation(tmp_path, concurrent=8)
    quick, slow = Drawn(config, CLEAR), Drawn(config, CLEAR)
    slow.slow = lambda question, prompt: 0.02 * (slow.share(question, prompt, 1) > 0.5)
    for name, agent in (("quick.jsonl", quick), ("slow.jsonl", slow)):
        run(config, tmp_path / name, agent)
    assert lasting(events(tmp_path / "quick.jsonl", *UNTIL)) == lasting(events(tmp_path / "slow.jsonl", *UNTIL))


def test_what_is_decided_is_said_and_asked_no_more(tmp_path: Path) -> None:
    """The run says after how many samples it stopped, and the same command again asks nobody and writes nothing."""
    config, log = write_evaluation(tmp_path), tmp_path / "log.jsonl"
    agent = Drawn(config, CLEAR)
    said = run(config, log, agent)
    assert any(told.startswith("at most 200 answers will be asked for") for told in said)
    assert said[-1].startswith("stopped after 14 of 100 samples: decided; 1")
    asked, size = len(agent.asked), log.stat().st_size
    left = 200 - asked
    saved = f"which saved about ${left / 100:.2f}"
    assert run(config, log, agent) == [
        f"stopped after 14 of 100 samples: decided; {left} of 200 answers were not asked for, {saved}"
    ]
    assert (len(agent.asked), log.stat().st_size) == (asked, size)


class Dear(Drawn):
    """Answers under `other` cost a hundred times as much, and tell soon."""

    async def answer(self, spec: AnswerSpec) -> Outcome[Answer]:
        """Answer as `Drawn` does, for a dollar or a cent."""
        found = await super().answer(spec)
        cost_usd = 1.0 if spec.system_prompt == "other" else 0.01
        return found._replace(known=replace(found.known, cost_usd=cost_usd))


def test_what_is_saved_is_what_the_answers_of_each_condition_cost(tmp_path: Path) -> None:
    """Of three conditions the one that is decided first is not asked on: its price counts, not the mean of all."""
    config, log = write_evaluation(tmp_path), tmp_path / "log.jsonl"
    config.write_text(config.read_text().replace("judges:", '  third: {system_prompt: "third"}\njudges:'))
    agent = Dear(config, CLEAR | {"third": 0.62})
    said = run(config, log, agent)[-1]
    asked = Counter(prompt for _, prompt in agent.asked)
    saved = sum((100 - asked[prompt]) * (1.0 if prompt == "other" else 0.01) for prompt in ("plain", "other", "third"))
    assert asked["other"] < asked["third"]
    assert said.endswith(f"answers were not asked for, which saved about ${saved:.2f}")


def test_what_is_saved_counts_the_answers_of_earlier_commands(tmp_path: Path) -> None:
    """A command that asks once more for one answer says of all that was not asked for what the first one said."""
    config, log = write_evaluation(tmp_path), tmp_path / "log.jsonl"
    first = run(config, log, Dear(config, CLEAR))[-1]
    assert "saved about $" in first
    taken_back = retraction_event(events(log, "response")[0])
    with log.open("ab") as file:
        file.write(orjson.dumps(taken_back) + b"\n")
    assert run(config, log, Dear(config, CLEAR))[-1].partition("saved")[2] == first.partition("saved")[2]


def test_the_rule_is_in_the_log_before_anything_is_asked(tmp_path: Path) -> None:
    """Rule, alpha, family and order come before the first answer; what decided, and why it ended, after them."""
    config, log = write_evaluation(tmp_path), tmp_path / "log.jsonl"
    run(config, log, Drawn(config, CLEAR))
    types = [each["type"] for each in events(log, "run", "plan", "until_rule", "response", *UNTIL)]
    assert types[:4] == ["run", "plan", "until_rule", "response"]
    assert types[-1] == "until_end"
    [plan], [rule] = events(log, "plan"), events(log, "until_rule")
    assert rule["plan_id"] == plan["plan_id"]
    asked = list(dict.fromkeys(each["question_id"] for each in events(log, "response")))
    assert set(asked) == set(plan["question_ids"][: len(asked)])
    assert rule["rule"]["alpha"] == 0.05
    assert [each["metric"] for each in rule["rule"]["family"]] == ["exact_match"]


@pytest.mark.slow
def test_a_run_of_nothing_but_chance_asks_all(tmp_path: Path) -> None:
    """Without a difference the whole dataset is asked, and its end is said; a later run has nothing to do."""
    config, log = write_evaluation(tmp_path, 30), tmp_path / "log.jsonl"
    agent = Drawn(config, ALIKE)
    assert run(config, log, agent)[-1].startswith("all 30 samples were asked")
    assert (ended(log)["why"], ended(log)["asked"], len(agent.asked)) == ("dataset", {}, 60)
    assert run(config, log, agent) == ["nothing to generate: every task has its response"]


@pytest.mark.slow
def test_a_run_that_the_last_sample_decides_is_complete(tmp_path: Path) -> None:
    """Where nothing was left to ask, nothing was saved: the run ended with the dataset."""
    config, log = write_evaluation(tmp_path, 10), tmp_path / "log.jsonl"
    agent = Drawn(config, {"plain": 0, "other": 1})
    assert run(config, log, agent)[-1].startswith("all 10 samples were asked")
    assert (ended(log)["why"], ended(log)["comparisons"][0]["conclusion"]) == ("dataset", "higher")
    assert ended(log)["asked"] == {}
    assert run(config, log, agent) == ["nothing to generate: every task has its response"]


def test_a_condition_that_is_decided_is_asked_no_more(tmp_path: Path) -> None:
    """The baseline goes on while another condition needs it; each comparison has its own number of samples."""
    config, log = write_evaluation(tmp_path, 60, concurrent=1), tmp_path / "log.jsonl"
    config.write_text(config.read_text().replace("  other:", '  alike: {system_prompt: "alike"}\n  other:'))
    run(config, log, Drawn(config, {"plain": 0.3, "alike": 0.3, "other": 0.95}))
    found = {each["condition"]: each for each in ended(log)["comparisons"]}
    assert found["other"]["n"] < found["alike"]["n"] == 60
    counts = {name: sum(each["condition"] == name for each in events(log, "response")) for name in ("other", "plain")}
    assert counts == {"other": found["other"]["n"], "plain": 60}
    assert ended(log)["asked"] == {found["other"]["condition_id"]: found["other"]["n"]}


class Cut(Drawn):
    """Raises what ends the run after so many answers, as a crash would."""

    after = 0

    async def answer(self, spec: AnswerSpec) -> Outcome[Answer]:
        """Answer, or end the run."""
        if len(self.asked) >= self.after:
            raise RuntimeError("the machine is gone")
        return await super().answer(spec)


def test_a_decision_that_a_crash_kept_from_the_log_is_written_by_the_next_run(tmp_path: Path) -> None:
    """The answers that decided are there, and what they decided is said once, before the end."""
    config, whole, cut = write_evaluation(tmp_path), tmp_path / "whole.jsonl", tmp_path / "cut.jsonl"
    run(config, whole, Drawn(config, CLEAR))
    lines = whole.read_text().splitlines(keepends=True)
    decision = next(place for place, line in enumerate(lines) if '"type":"until_decided"' in line)
    cut.write_text("".join(lines[:decision]))
    agent = Drawn(config, CLEAR)
    (told,) = run(config, cut, agent)
    assert (agent.asked, told.startswith("stopped after 14 of 100 samples: decided")) == ([], True)
    said, before = ([{**each, "asked": None} for each in lasting(events(log, *UNTIL))] for log in (cut, whole))
    assert said == before
    run(config, cut, agent)
    assert len(events(cut, *UNTIL)) == 2


def test_a_run_that_comes_after_one_of_another_config_says_once_that_it_is_decided(tmp_path: Path) -> None:
    """It writes down that its plan is the newest again, and asks nobody."""
    config, log = write_evaluation(tmp_path), tmp_path / "log.jsonl"
    other = tmp_path / "other.yaml"
    written = config.read_text().replace("name: until", "name: second")
    other.write_text(written.replace('"plain"', '"plainer"').replace('"other"', '"another"'))
    share = {**CLEAR, "plainer": 0.3, "another": 0.9}
    for each in (config, other):
        run(each, log, Drawn(each, share))
    agent = Drawn(config, share)
    (told,) = run(config, log, agent)
    assert (told.startswith("stopped after 14 of 100 samples: decided"), agent.asked) == (True, [])


def test_what_was_decided_is_said_once_however_the_run_goes_on(tmp_path: Path) -> None:
    """A run to the dataset's end finds the same decision again, and says at last that all was asked."""
    config, log = write_evaluation(tmp_path), tmp_path / "log.jsonl"
    run(config, log, Drawn(config, CLEAR))
    run(config, log, Drawn(config, CLEAR), Given(until="complete"))
    assert len(events(log, "until_decided")) == 1
    assert run(config, log, Drawn(config, CLEAR)) == ["all 100 samples were asked; the report says what they decide"]


def test_of_a_run_that_is_decided_nobody_says_that_all_is_answered(tmp_path: Path) -> None:
    """Beside tasks that failed for good are those that were never asked."""
    config, log = write_evaluation(tmp_path), tmp_path / "log.jsonl"
    run(config, log, Drawn(config, CLEAR, fails=0.2), retry_failed=False)
    run(config, log, Drawn(config, CLEAR), retry_failed=False)
    told = run(config, log, Drawn(config, CLEAR), retry_failed=False)
    assert [each for each in told if "stopped after" in each]
    assert not [each for each in told if "every other has its response" in each]


@pytest.mark.slow
@pytest.mark.parametrize("after", [1, 13, 27])
def test_a_run_that_was_cut_off_goes_on_by_the_same_rule(tmp_path: Path, after: int) -> None:
    """Whenever it is cut off, it stops where it would have stopped, and asks nothing twice."""
    config = write_evaluation(tmp_path, concurrent=2)
    whole, cut = tmp_path / "whole.jsonl", tmp_path / "cut.jsonl"
    run(config, whole, Drawn(config, CLEAR))
    agent = Cut(config, CLEAR)
    agent.after = after
    with pytest.raises((RuntimeError, ExceptionGroup)):
        run(config, cut, agent)
    agent.after = 10**6
    run(config, cut, agent)
    assert lasting(events(cut, *UNTIL)) == lasting(events(whole, *UNTIL))
    answered = [each["id"] for each in events(cut, "response")]
    assert len(answered) == len(set(answered))


def test_a_budget_is_a_valid_stop(tmp_path: Path) -> None:
    """When the money is spent, it is said how far the run came, and more money lets it go on."""
    config, log = write_evaluation(tmp_path, concurrent=1), tmp_path / "log.jsonl"
    agent = Drawn(config, CLEAR)
    written = config.read_text()
    config.write_text(written.replace("repetitions: 1,", "repetitions: 1, budget_usd: 0.11,"))
    with pytest.raises(BudgetReachedError):
        run(config, log, agent)
    assert (ended(log)["why"], ended(log)["asked"]) == ("budget", {})
    assert 0 < ended(log)["n"] < 14
    config.write_text(written)
    run(config, log, agent)
    assert (ended(log)["why"], ended(log)["n"]) == ("decided", 14)


def test_what_is_not_measured_is_asked_again_and_what_the_agent_failed_is_not(tmp_path: Path) -> None:
    """A run goes on with answers that never came; a failure of the agent is an outcome, and stays one."""
    config, log = write_evaluation(tmp_path, 12, concurrent=1), tmp_path / "log.jsonl"
    run(config, log, Drawn(config, ALIKE, fails=0.5))
    failed = len(events(log, "failure"))
    assert failed > 0
    agent = Drawn(config, ALIKE)
    run(config, log, agent)
    assert len(agent.asked) == failed
    [comparison] = ended(log)["comparisons"]
    assert comparison["n_measured"] == comparison["n"] == 12


def test_a_failure_is_forgotten_once_its_task_has_an_answer(tmp_path: Path) -> None:
    """What was decided with answers that came after failures stays decided: the same command asks nothing more."""
    config, log = write_evaluation(tmp_path, concurrent=1), tmp_path / "log.jsonl"
    run(config, log, Drawn(config, CLEAR, fails=0.5))
    run(config, log, Drawn(config, CLEAR))
    assert (ended(log)["why"], ended(log)["n"]) == ("decided", 14)
    before, agent = log.read_bytes(), Drawn(config, CLEAR)
    told = run(config, log, agent)
    assert (agent.asked, log.read_bytes()) == ([], before)
    assert [each for each in told if each.startswith("stopped after 14 of 100 samples: decided; ")]


class Helpless(Drawn):
    """Fails to answer open questions, but under one condition: a failure that is the agent's own."""

    async def answer(self, spec: AnswerSpec) -> Outcome[Answer]:
        """Answer, or break off."""
        if spec.turns[-1].startswith("What do you think") and spec.system_prompt != "third":
            return Outcome(Answer("empty", ""), 1, Failed("agent_error", "broken off"))
        return await super().answer(spec)


def write_open_questions(
    folder: Path, samples: int, only_for: str = "", *, concurrent: int = 4, more: str = ""
) -> Path:
    """Write an evaluation of three conditions in which each third question names nothing to look for in an answer."""
    config = write_evaluation(folder, samples, concurrent=concurrent, more=more)
    written = config.read_text().replace("exact_match", f"contains, expected_field: wanted{only_for}")
    config.write_text(written.replace("judges:", '  third: {system_prompt: "third"}\njudges:'))
    records = [orjson.loads(line) for line in (folder / "questions.jsonl").read_bytes().splitlines()]
    for number, record in enumerate(records):
        record |= {"kind": "closed", "wanted": ["yes"]}
        if number % 3 == 0:
            record |= {"kind": "open", "wanted": [], "question": f"What do you think of {number}?"}
    (folder / "questions.jsonl").write_bytes(b"\n".join(map(orjson.dumps, records)))
    return config


@pytest.mark.parametrize("only_for", ["", ", only_for: {kind: closed}"])
def test_failures_on_samples_that_a_judge_is_not_for_decide_nothing(tmp_path: Path, only_for: str) -> None:
    """The rule counts the samples that the report compares, whether sample or config says which they are."""
    config, log = write_open_questions(tmp_path, 60, only_for), tmp_path / "log.jsonl"
    agent = Helpless(config, dict.fromkeys(("plain", "other", "third"), 0.9))
    run(config, log, agent)
    before = log.read_bytes()
    with projections.connect([log], texts=False, tools=False, asked=READ) as connection:
        found = stopped_run(connection)
    assert found is not None
    assert ended(log)["comparisons"] == [look_fields(*each, 60) for each in found.members()]
    assert [each["n_measured"] for each in ended(log)["comparisons"]] == [40, 40]
    run(config, log, agent)
    assert log.read_bytes() == before


def test_a_condition_that_is_asked_no_more_says_nothing_of_a_sample(tmp_path: Path) -> None:
    """Answers in flight when it was decided are in no number: the same command finds the same, and asks nobody."""
    config = write_open_questions(tmp_path, 90, concurrent=24, more="until: {margin: 0.3}\n")
    log = tmp_path / "log.jsonl"
    agent = Helpless(config, {"plain": 0.0, "other": 0.0, "third": 1.0})
    agent.slow = lambda question, prompt: 0.05 * (prompt == "third" and question.startswith("What"))
    run(config, log, agent)
    before, asked = log.read_bytes(), len(agent.asked)
    assert min(ended(log)["asked"].values()) < ended(log)["n"] < 90
    with projections.connect([log], texts=False, tools=False, asked=READ) as connection:
        found = stopped_run(connection)
    assert found is not None
    assert ended(log)["comparisons"] == [look_fields(*each, 90) for each in found.members()]
    (told,) = run(config, log, agent)
    assert told.startswith(f"stopped after {ended(log)['n']} of 90 samples: decided; ")
    assert (log.read_bytes(), len(agent.asked)) == (before, asked)


def test_a_run_that_asked_all_of_whom_it_had_to_is_done(tmp_path: Path) -> None:
    """Tasks of a condition that was decided before the dataset's end are no work that is left."""
    config, log = write_evaluation(tmp_path, 30), tmp_path / "log.jsonl"
    config.write_text(config.read_text().replace("judges:", '  third: {system_prompt: "third"}\njudges:'))
    agent = Drawn(config, {"plain": 0.0, "other": 1.0, "third": 0.1})
    run(config, log, agent)
    assert (ended(log)["why"], list(ended(log)["asked"].values())) == ("dataset", [10])
    before, asked = log.read_bytes(), len(agent.asked)
    assert run(config, log, agent) == ["all 30 samples were asked; the report says what they decide"]
    assert (log.read_bytes(), len(agent.asked)) == (before, asked)


def test_what_judges_are_given_beside_the_golden_answer_is_part_of_the_rule(tmp_path: Path) -> None:
    """An edit of it would change what was decided, as one of a golden answer would."""
    config, log = write_open_questions(tmp_path, 30), tmp_path / "log.jsonl"
    run(config, log, Drawn(config, CLEAR | {"third": 0.5}))
    questions = tmp_path / "questions.jsonl"
    questions.write_bytes(questions.read_bytes().replace(b'"wanted":["yes"]', b'"wanted":["no"]', 1))
    with pytest.raises(UsageError, match="or what else of the samples judges are given"):
        run(config, log, Drawn(config, CLEAR | {"third": 0.5}))


@pytest.mark.parametrize(
    ("given", "named"),
    [
        (Given(until="decided", margin=0.2), "margins"),
        (Given(until="decided", alpha=0.01), "alpha"),
        (Given(until="decided", early_share=1), "early_share"),
        (Given(until="decided", min_samples=20), "min_samples"),
    ],
)
def test_another_rule_on_the_same_log_is_refused(tmp_path: Path, given: Given, named: str) -> None:
    """A rule that changes on the way says nothing: the log's own has to hold, and the refusal names what differs."""
    config, log = write_evaluation(tmp_path), tmp_path / "log.jsonl"
    agent = Drawn(config, CLEAR)
    run(config, log, agent)
    asked = len(agent.asked)
    with pytest.raises(UsageError, match=named):
        run(config, log, agent, given)
    assert len(agent.asked) == asked


@pytest.mark.parametrize(
    ("before", "after", "named"),
    [
        ("repetitions: 1", "repetitions: 2", "repetitions"),
        ("seed: 0", "seed: 1", "the seed"),
        ('"other"', '"another"', "primary metrics"),
        ("{type: exact_match}", "{type: exact_match, replicates: 1, pass_from: 1}", "primary metrics"),
    ],
)
def test_another_config_on_the_same_log_is_refused(tmp_path: Path, before: str, after: str, named: str) -> None:
    """What the rule was made of may not change: repetitions, order, conditions and judges."""
    config, log = write_evaluation(tmp_path, more=""), tmp_path / "log.jsonl"
    config.write_text(config.read_text().replace("repetitions: 1", "repetitions: 1, seed: 0"))
    if "pass_from" in after:
        before, after = "{type: exact_match}", "{type: contains}"
    agent = Drawn(config, CLEAR | {"another": 0.9})
    run(config, log, agent)
    config.write_text(config.read_text().replace(before, after))
    with pytest.raises(UsageError, match=named):
        run(config, log, Drawn(config, CLEAR | {"another": 0.9}))


def test_more_questions_are_another_run(tmp_path: Path) -> None:
    """The number of samples is part of the rule; a check refuses what a run refuses, before and after."""
    config, log = write_evaluation(tmp_path, 100), tmp_path / "log.jsonl"
    run(config, log, Drawn(config, CLEAR))
    assert check(load(config), log, lambda _: None).errors == ()
    write_evaluation(tmp_path, 101)
    with pytest.raises(UsageError, match=r"not the same in: the number of samples\."):
        run(config, log, Drawn(config, CLEAR))
    (refused,) = check(load(config), log, lambda _: None).errors
    assert "not the same in: the number of samples." in str(refused)


def test_other_questions_or_another_order_are_another_run(tmp_path: Path) -> None:
    """Also where golden answers say nothing of them: what was looked at would be read as a run of a fixed size."""
    config, log = write_evaluation(tmp_path), tmp_path / "log.jsonl"
    run(config, log, Drawn(config, CLEAR))
    questions = tmp_path / "questions.jsonl"
    lines = questions.read_text().splitlines()
    for changed in (lines[::-1], [line.replace("?", " again?") for line in lines]):
        questions.write_text("\n".join(changed))
        with pytest.raises(UsageError, match="not the same in: the questions, or their order"):
            run(config, log, Drawn(config, CLEAR))


def test_another_share_of_judged_answers_is_another_rule(tmp_path: Path) -> None:
    """Half of the judgments would open again what was decided, and pay for it."""
    config, log = write_evaluation(tmp_path), tmp_path / "log.jsonl"
    run(config, log, Drawn(config, CLEAR))
    config.write_text(config.read_text().replace("{type: exact_match}", "{type: exact_match, sample_rate: 0.5}"))
    with pytest.raises(UsageError, match="sample rates"):
        run(config, log, Drawn(config, CLEAR))


@pytest.mark.slow
def test_the_logs_rule_counts_until_all_is_asked_for(tmp_path: Path) -> None:
    """Who says nothing goes on by the log's rule; `--until complete` asks all, and the rule still reads it."""
    config, log = write_evaluation(tmp_path, 40), tmp_path / "log.jsonl"
    agent = Drawn(config, CLEAR)
    run(config, log, agent)
    assert run(config, log, agent, Given())[-1].startswith("stopped after 21 of 40")
    run(config, log, agent, Given(until="complete"))
    assert (len(agent.asked), ended(log)["why"], ended(log)["asked"]) == (80, "dataset", {})
    assert ended(log)["comparisons"][0]["n"] == 40


def test_answers_that_are_there_already_are_refused(tmp_path: Path) -> None:
    """A log whose answers somebody may have looked at is not stopped by a rule that knows of no look before."""
    config, log = write_evaluation(tmp_path, 20), tmp_path / "log.jsonl"
    run(config, log, Drawn(config, CLEAR), Given())
    with pytest.raises(UsageError, match="were not asked to stop"):
        run(config, log, Drawn(config, CLEAR))


REFUSED = {
    "cluster_key": ("dataset: {path: questions.jsonl", "dataset: {cluster_key: answer, path: questions.jsonl"),
    "excluded": ("agent:", "failures: exclude\nagent:"),
    "one condition": ('  other: {system_prompt: "other"}\n', ""),
    "compares two answers": (
        "{type: exact_match}", "{type: exact_match}, {type: pairwise, model: claude-opus-5, name: pairs}"
    ),
    "computed from other scores": (
        "agent:",
        "metrics: {both: {type: weighted, of: [exact_match/exact_match]}}\ncomparison: {primary: [both]}\nagent:",
    ),
}  # fmt: skip


@pytest.mark.parametrize("named", REFUSED)
def test_what_the_rule_cannot_be_true_of_is_refused_before_anything_is_paid(tmp_path: Path, named: str) -> None:
    """Clusters, excluded failures, one condition, pairs and computed metrics end with a reason and no call."""
    config, log = write_evaluation(tmp_path), tmp_path / "log.jsonl"
    written = config.read_text().replace(*REFUSED[named])
    if named == "compares two answers":
        written += "comparison: {primary: [pairs/preference]}\n"
    config.write_text(written)
    agent = Drawn(config, CLEAR)
    with pytest.raises(UsageError, match=named):
        run(config, log, agent)
    assert agent.asked == []
    assert log.read_bytes() == b""


def test_a_part_of_the_tasks_and_generate_alone_are_refused(tmp_path: Path) -> None:
    """What is chosen is no prefix, and what nobody judges is never decided."""
    config, log = write_evaluation(tmp_path), tmp_path / "log.jsonl"
    read = load(config)
    with pytest.raises(UsageError, match="--fresh"):
        run(config, log, Drawn(config, CLEAR), fresh=True)
    with pytest.raises(UsageError, match="keval run"):
        generate(read, log, Request(until=Until(), quiet=True), print)
    run(config, log, Drawn(config, CLEAR))
    with pytest.raises(UsageError, match="keval run"):
        generate(read, log, Request(quiet=True), print)


def test_options_without_until_mean_nothing(tmp_path: Path) -> None:
    """A margin or an alpha on the command line needs --until, or a config that says it, and takes its place."""
    config = write_evaluation(tmp_path)
    plain = load(config).as_written
    assert wanted(plain, Given()) is None
    with pytest.raises(UsageError, match="--early-share goes with --until"):
        wanted(plain, Given(early_share=0.2))
    said: dict[str, Any] = {**plain, "until": {"alpha": 0.1}, "comparison": {"margin": 0.5}}
    assert wanted(said, Given()) == Until(alpha=0.1, margin=0.5)
    assert wanted(said, Given(margin=0.2)) == replace(Until(alpha=0.1), margin=0.2)
    assert wanted({**plain, "until": "decided"}, Given(until="complete")) is None


def test_the_judges_of_a_run_that_stops_may_be_slow(tmp_path: Path) -> None:
    """Answers are not asked far ahead of their judgments: what is paid beyond the stop is bounded."""
    config, log = write_evaluation(tmp_path, concurrent=3), tmp_path / "log.jsonl"

    class SlowJudge(Drawn):
        async def _judged(self, spec: Any) -> Any:  # noqa: ANN401 - as the executor's own
            await asyncio.sleep(0.01)
            return await super().judge(spec)

        def judge(self, spec: Any) -> Any:  # noqa: ANN401 - as the executor's own
            return self._judged(spec)

    agent = SlowJudge(config, CLEAR)
    run_all(load(config), log, Request(until=Until(), quiet=True), lambda _: None, agent)
    assert ended(log)["n"] == 14
    assert len(agent.asked) <= 2 * (14 + 3)
