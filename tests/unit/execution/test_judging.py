from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import pytest

from keval.config.model import JudgeConfig
from keval.errors import PluginError
from keval.events import event
from keval.execution.budget import Ledger
from keval.execution.progress import Progress
from keval.ids import JsonObject
from keval.judges import Case, Context, Judge, JudgeError, Judgment, Metric, Score
from keval.models import prices
from keval.preparation.jobs import Job, jobs
from keval.usage import Usage
from tests.builders import Kept
from tests.sessions import judging_session


@dataclass(frozen=True, kw_only=True)
class Scripted(Judge):
    """A judge that does what a function says."""

    _script: Callable[[Case], Judgment]
    _seen: list[Case]
    model: str | None = None

    @property
    def metrics(self) -> tuple[Metric, ...]:
        return (Metric("quality", 1, 5),)

    async def judge(self, case: Case, context: Context) -> Judgment:
        self._seen.append(case)
        await asyncio.sleep(0)
        assert context.env == {"KEY": "k"}
        return self._script(case)


PRICES = prices.load({"m": {"input": 1_000_000, "output": 2_000_000}})


def response(number: int, text: str = "an answer") -> JsonObject:
    return event(
        "response", f"r{number}", "run", sample={"id": f"s{number}", "question": "q", "answer": "a"},
        sample_sha256="h", condition="secretly_with_docs", condition_id="c", repetition=1,
        agent={"name": "a", "type": "a", "model": None}, agent_id="a", status="answered", text=text, turns=[],
        mcp={}, sources=[], usage=None, cost_usd=None, duration_ms=1, num_turns=1, attempts=1, mock=False,
    )  # fmt: skip


def a_judge(script: Callable[[Case], Judgment], replicates: int = 1, model: str | None = None) -> JudgeConfig:
    scripted = Scripted(_script=script, _seen=[], model=model)
    return JudgeConfig("scripted", "scripted", scripted, replicates, {} if model is None else {"model": model})


def judged(judge: JudgeConfig, responses: Sequence[JsonObject], done: set[str] | None = None) -> list[JsonObject]:
    """Run the stage and return its events."""
    kept = Kept()
    todo: list[Job] = [job for each in responses for job in jobs(each, [judge], done or set())]

    async def main() -> None:
        session = judging_session([judge], kept, env={"KEY": "k"}, prices=PRICES)
        await session.judging(Progress("judge")).work_off(todo)

    asyncio.run(main())
    return kept.events


def fine(_: Case) -> Judgment:
    return Judgment({"quality": Score(4, "good")}, ("a claim",), usage=Usage(1, 1, 0, 0), cost_usd=0.1)


def test_a_judgment_becomes_a_judgment_with_its_scale() -> None:
    """Score, reasoning, scale, claims and cost of a judgment are in its event."""
    (made,) = judged(a_judge(fine), [response(1)])
    assert made["scores"] == {"quality": {"score": 4, "reasoning": "good", "min": 1, "max": 5, "passed": None}}
    assert (made["unverified_claims"], made["cost_usd"], made["mock"]) == (["a claim"], 0.1, True)
    assert made["judge"] == {"name": "scripted", "type": "scripted", "model": None}


def test_the_configs_price_for_the_judges_model_comes_before_what_the_judge_says() -> None:
    """One token of input and one of output at the config's prices, in judgments, failures and failed attempts."""

    def broken(_: Case) -> Judgment:
        raise JudgeError("judge_error", "busy", retryable=True, usage=Usage(1, 1, 0, 0), cost_usd=0.1)

    (made,) = judged(a_judge(fine, model="m"), [response(1)])
    (failed,) = judged(a_judge(broken, model="m"), [response(1)])
    (other,) = judged(a_judge(fine, model="n"), [response(1)])
    assert (made["cost_usd"], failed["cost_usd"], other["cost_usd"]) == (3.0, 3.0, 0.1)
    assert [attempt["cost_usd"] for attempt in failed["failed_attempts"]] == [3.0, 3.0]


def test_a_judgment_and_a_failure_name_the_model_that_was_asked() -> None:
    """Scores without it could not be told from those of another model."""

    def broken(_: Case) -> Judgment:
        raise JudgeError("judge_error", "no")

    for script in (fine, broken):
        (made,) = judged(a_judge(script, model="m"), [response(1)])
        assert made["judge"]["model"] == "m"


def test_a_judge_never_sees_the_condition() -> None:
    """Nothing of a case holds the condition's name."""
    judge = a_judge(fine)
    judged(judge, [response(1)])
    assert isinstance(judge.judge, Scripted)
    assert "secretly_with_docs" not in repr(judge.judge)


def test_replicates_are_judgments_of_their_own() -> None:
    """Three replicates of one response are three events with three ids."""
    made = judged(a_judge(fine, replicates=3), [response(1)])
    assert sorted(event["replicate"] for event in made) == [1, 2, 3]
    assert len({event["id"] for event in made}) == 3


def test_what_is_judged_is_not_judged_again() -> None:
    """A judgment's id is known before: only what is missing is asked for."""
    judge = a_judge(fine)
    (first,) = judged(judge, [response(1)])
    again = judged(judge, [response(1), response(2)], {first["id"]})
    assert [event["response_id"] for event in again] == ["r2"]


def test_another_answer_of_the_same_task_is_judged_anew() -> None:
    """The answer's text is part of the judgment's identity."""
    judge = a_judge(fine)
    (first,) = judged(judge, [response(1)])
    assert len(judged(judge, [response(1, text="another")], {first["id"]})) == 1


@pytest.mark.parametrize(
    "judgment",
    [
        Judgment({"quality": Score(7)}),
        Judgment({"quality": Score(0)}),
        Judgment({}),
        Judgment({"quality": Score(3), "more": Score(3)}),
    ],
)
def test_a_judgment_out_of_scale_is_no_score(judgment: Judgment) -> None:
    """A score outside the scale, a missing or an unknown metric is `judge_invalid`, never a number."""
    (made,) = judged(a_judge(lambda _: judgment), [response(1)])
    assert (made["type"], made["kind"]) == ("failure", "judge_invalid")
    assert "scores" not in made


def test_a_judges_failure_is_an_event_with_its_attempts() -> None:
    """An unreachable judge is tried as often as the config says, and each attempt's cost is kept."""

    def script(_: Case) -> Judgment:
        raise JudgeError("judge_error", "529", retryable=True, cost_usd=0.2)

    (made,) = judged(a_judge(script), [response(1)])
    assert (made["kind"], made["stage"], made["attempts"]) == ("judge_error", "judge", 3)
    assert [attempt["cost_usd"] for attempt in made["failed_attempts"]] == [0.2, 0.2]


def test_an_exception_of_the_plug_in_is_about_its_response() -> None:
    """Whatever a judge raises becomes a `judge_error`; the other responses are judged."""

    def script(case: Case) -> Judgment:
        if case.text == "bad":
            raise ZeroDivisionError
        return fine(case)

    made: list[dict[str, Any]] = judged(a_judge(script), [response(1, "bad"), response(2)])
    assert sorted(event["type"] for event in made) == ["failure", "judgment"]


def test_a_judgment_that_no_log_can_hold_is_a_failure_that_says_why() -> None:
    """What a judge finds beside the scores may be anything; where it cannot be kept, the response has no judgment."""
    outcome: dict[str, Any] = {}
    for _ in range(300):
        outcome = {"a": outcome}
    judgment = Judgment({"quality": Score(3)}, outcome=outcome, cost_usd=0.25)
    (failure,) = judged(a_judge(lambda _: judgment), [response(1)])
    assert (failure["type"], failure["kind"], failure["cost_usd"]) == ("failure", "judge_error", 0.25)
    assert "nested deeper than 254 levels" in failure["message"]


@pytest.mark.parametrize(
    "metric", [Metric("", 0, 1), Metric("m", 1, 1), Metric("m", 0, 1e300), Metric("m", 0, float("nan"))]
)
def test_a_judge_with_a_scale_that_is_none_is_broken(metric: Metric) -> None:
    """Before anything is paid the judge is named, and what a scale is."""

    @dataclass(frozen=True, kw_only=True)
    class Odd(Scripted):
        @property
        def metrics(self) -> tuple[Metric, ...]:
            return (metric,)

    with pytest.raises(PluginError, match="a metric has a name, and a scale"):
        JudgeConfig("odd", "odd", Odd(_script=lambda _: Judgment({}), _seen=[]), 1, {})


def test_a_threshold_outside_its_scale_is_refused() -> None:
    """Nothing could ever pass, or fail, by it."""

    @dataclass(frozen=True, kw_only=True)
    class Odd(Scripted):
        @property
        def metrics(self) -> tuple[Metric, ...]:
            return (Metric("quality", 1, 5, pass_from=6),)

    with pytest.raises(PluginError, match="'quality' passes from 6, which is outside its scale, 1 to 5"):
        JudgeConfig("odd", "odd", Odd(_script=fine, _seen=[]), 1, {})


def test_what_is_not_applicable_is_a_judgment_with_the_reason() -> None:
    """No failure, no number: null, with why."""
    judgment = Judgment({"quality": Score(None, not_applicable="no tool was called")})
    (made,) = judged(a_judge(lambda _: judgment), [response(1)])
    assert made["scores"] == {
        "quality": {
            "score": None, "reasoning": None, "min": 1, "max": 5, "passed": None,
            "not_applicable": "no tool was called",
        }
    }  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Reading(Scripted):
    """A judge that is given all of the sample."""

    sample_fields = None


def given(judge: type[Scripted], sample: JsonObject) -> str:
    """Return the id of the judgment that a judge would make of one response to this sample."""
    made = JudgeConfig("scripted", "scripted", judge(_script=fine, _seen=[]), 1, {})
    (job,) = jobs(response(1) | {"sample": sample}, [made], set())
    return job.judgment_id


def test_a_judgment_is_new_when_what_its_judge_is_given_of_the_sample_is() -> None:
    """A corrected golden answer is judged again by both, a new note by the judge alone that is given all."""
    one = {"id": "s1", "question": "q", "answer": "a"}
    corrected, noted = one | {"answer": "b"}, one | {"note": 1}
    assert given(Scripted, one) == given(Scripted, noted) != given(Scripted, corrected)
    assert len({given(Reading, each) for each in (one, corrected, noted)}) == 3


def test_a_judgment_says_what_its_judge_was_given_of_the_sample() -> None:
    """So that whoever reads the log knows which change of the sample makes it outdated."""
    (made,) = judged(a_judge(fine), [response(1)])
    assert made["sample_fields"] == ["question", "answer"]


def test_a_judge_knows_of_which_answers_the_tool_calls_are_not_known() -> None:
    """By the agent; those of others are known."""
    judge, kept = a_judge(fine), Kept()
    todo = [
        job for number, agent in enumerate("ab") for job in jobs(response(number) | {"agent_id": agent}, [judge], ())
    ]

    async def main() -> None:
        session = judging_session([judge], kept, env={"KEY": "k"}, prices=PRICES)
        await replace(session, silent_agents={"b"}).judging(Progress("judge")).work_off(todo)

    asyncio.run(main())
    assert isinstance(judge.judge, Scripted)
    assert sorted(case.reports_tool_calls for case in judge.judge._seen) == [False, True]  # noqa: SLF001 - ours


@dataclass(frozen=True, kw_only=True)
class Paid(Scripted):
    """A judge that asks a model, and compares with a golden answer."""

    uses_models: ClassVar[bool] = True
    needs_golden_answer: ClassVar[bool] = True


@pytest.mark.parametrize(
    ("sample", "text", "is_refused"),
    [
        ({"id": "s1", "question": "q", "answer": "a"}, "an answer", True),
        ({"id": "s1", "question": "q", "answer": "a"}, " ", False),
        ({"id": "s1", "question": "q"}, "an answer", False),
        ({"id": "s1", "question": "q", "answer": "a", "topic": "art"}, "an answer", False),
    ],
)
def test_a_judgment_for_which_nobody_is_asked_is_made_with_the_last_of_a_budget(
    sample: JsonObject, text: str, *, is_refused: bool
) -> None:
    """It costs nothing, so nothing has to be left for it; the judge is not for art, and reads no empty answer."""
    scripted = Paid(_script=fine, _seen=[], model="m")
    only_for = {"topic": "law"} if "topic" in sample else {}
    judge, kept = JudgeConfig("scripted", "scripted", scripted, 1, {"model": "m"}, only_for=only_for), Kept()
    ledger = Ledger(limit_usd=0.25)
    ledger.assume(judge.judge_id, 0.5, "scripted")

    async def main() -> None:
        session = replace(judging_session([judge], kept, env={"KEY": "k"}, prices=PRICES), ledger=ledger)
        await session.judging(Progress("judge")).work_off(jobs(response(1, text) | {"sample": sample}, [judge], ()))

    asyncio.run(main())
    assert [event["cost_usd"] for event in kept.events] == ([] if is_refused else [0.0])
    assert bool(ledger.refused) is is_refused
    assert not scripted._seen  # noqa: SLF001 - ours


@dataclass(frozen=True, kw_only=True)
class PaidPairs(Scripted):
    """A judge that asks a model which of two answers is better."""

    uses_models: ClassVar[bool] = True
    unit: ClassVar[Literal["response", "pair"]] = "pair"


@pytest.mark.parametrize("is_itself", [True, False])
def test_the_baseline_is_compared_with_itself_when_the_budget_is_used_up(*, is_itself: bool) -> None:
    """Nothing has to be left for a pair about which nobody is asked."""
    scripted = PaidPairs(_script=fine, _seen=[], model="m")
    judge, ledger = JudgeConfig("scripted", "scripted", scripted, 1, {"model": "m"}), Ledger(limit_usd=0.25)
    ledger.assume(judge.judge_id, 0.5, "scripted")
    (job,) = jobs(response(1), [judge], (), other=response(1 if is_itself else 2))
    session = replace(judging_session([judge], Kept(), env={"KEY": "k"}, prices=PRICES), ledger=ledger)
    asyncio.run(session.judging(Progress("judge")).work_off([job]))
    assert bool(ledger.refused) is not is_itself


def judged_beyond_the_budget(judge: JudgeConfig, todo: Sequence[Job]) -> tuple[list[JsonObject], Ledger]:
    """Run the stage with less than one judgment is assumed to cost; return its events, and what was spent."""
    kept, ledger = Kept(), Ledger(limit_usd=0.25)
    ledger.assume(judge.judge_id, 0.5, judge.name)

    async def main() -> None:
        session = replace(judging_session([judge], kept, env={"KEY": "k"}, prices=PRICES), ledger=ledger)
        session.let_free_go_on()
        await session.judging(Progress("judge")).work_off(todo)
        assert (session.stops.user.is_set(), session.stops.enough.is_set()) == (False, True)

    asyncio.run(asyncio.wait_for(main(), 60))
    return kept.events, ledger


def test_judgments_for_which_nobody_is_asked_are_made_when_the_budget_is_reached() -> None:
    """Else they would wait for money that they do not need, if that is all that is left."""
    judge = JudgeConfig("scripted", "scripted", Paid(_script=fine, _seen=[], model="m"), 1, {"model": "m"})
    todo = [job for number in range(20) for job in jobs(response(number, "yes" if number % 2 else ""), [judge], ())]
    made, ledger = judged_beyond_the_budget(judge, todo)
    assert {event["response_id"] for event in made} == {f"r{number}" for number in range(0, 20, 2)}
    assert (ledger.refused, ledger.spent_usd) == (1, 0.0)


def test_a_plug_in_that_asks_somebody_all_the_same_ends_with_the_budget() -> None:
    """What it has cost is booked and recorded; the others are left to the next command."""
    judge = JudgeConfig("scripted", "scripted", PaidPairs(_script=fine, _seen=[], model="n"), 1, {"model": "n"})
    todo = [*jobs(response(1), [judge], (), other=response(2))]
    todo += [job for number in range(2, 40) for job in jobs(response(number), [judge], (), other=response(number))]
    made, ledger = judged_beyond_the_budget(judge, todo)
    assert 1 <= len(made) <= 4
    assert ledger.spent_usd == pytest.approx(sum(event["cost_usd"] for event in made))
    assert (ledger.reserved_usd, ledger.in_flight) == (0.0, 0)
