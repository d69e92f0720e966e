from __future__ import annotations

import errno
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

import pytest

from keval.executors.judge_once import EMPTY_ANSWER, NO_GOLDEN_ANSWER, case_of, judge_once
from keval.judges import Case, Context, Judge, JudgeError, Judgment, Metric, ModelJudge, Score
from keval.usage import Usage
from tests.cases import case, context
from tests.scripted_service import COST_USD, OVERLOADED, message, serving

YES_OR_NO = {"type": "object", "properties": {"yes": {"type": "boolean"}}, "required": ["yes"]}
YES, NONSENSE = message('{"yes": true}'), message("Perhaps.")


@dataclass(frozen=True, kw_only=True)
class Scripted(ModelJudge):
    """A judge that asks once if it is told to, and then does what a function says."""

    model: str = "claude-opus-5"
    _script: Callable[[Case], Judgment]
    _asks: bool = False

    @property
    def metrics(self) -> tuple[Metric, ...]:
        return (Metric("quality", 0, 1, type="continuous"),)

    async def judge(self, case: Case, context: Context) -> Judgment:
        if self._asks:
            await context.ask(system="", user="Is it?", schema=YES_OR_NO)
        return self._script(case)


@dataclass(frozen=True, kw_only=True)
class Preference(ModelJudge):
    """Which of two answers is the better one: 1 the first, 0 the second; shown in random order."""

    unit: ClassVar[Literal["response", "pair"]] = "pair"
    needs_golden_answer: ClassVar[bool] = False

    @property
    def metrics(self) -> tuple[Metric, ...]:
        return (Metric("preferred", 0, 1, type="binary"),)

    async def judge(self, case: Case, context: Context) -> Judgment:
        assert case.other
        turned = context.random.random() < 0.5
        texts = (case.other.text, case.text) if turned else (case.text, case.other.text)
        reply = await context.ask(system="Is the first one better?", user=" | ".join(texts), schema=YES_OR_NO)
        return Judgment({"preferred": Score(int(reply["yes"] != turned))})


def fine(_: Case) -> Judgment:
    """Judge well."""
    return Judgment({"quality": Score(0.75, "good")})


def raising(error: Exception) -> Callable[[Case], Judgment]:
    """Return a script that raises."""

    def script(_: Case) -> Judgment:
        raise error

    return script


async def judged(judge: Judge, env: Mapping[str, str] | None = None, given: Case | None = None) -> Judgment:
    """Let a judge judge once."""
    return await judge_once(judge, given or case("An answer."), context(judge, env))


async def error_of(judge: Judge, env: Mapping[str, str] | None = None) -> JudgeError:
    """Return the error that a judge ends with."""
    with pytest.raises(JudgeError) as caught:
        await judged(judge, env)
    return caught.value


async def test_any_number_within_a_continuous_scale_is_a_score() -> None:
    """Not only whole ones."""
    assert (await judged(Scripted(_script=fine))).scores == {"quality": Score(0.75, "good")}


async def test_what_the_context_paid_is_in_the_judgment() -> None:
    """The judge need not say it; what it paid elsewhere is added."""
    with serving(YES, YES, YES, YES) as service:
        plain = await judged(Scripted(_script=fine, _asks=True), service.env)
        assert (plain.usage, plain.cost_usd) == (Usage(1000, 100, 0, 0), COST_USD)
        scores = fine(case("")).scores
        more = Scripted(_script=lambda _: Judgment(scores, usage=Usage(1, 1, 1, 1), cost_usd=1.0), _asks=True)
        added = await judged(more, service.env)
        assert (added.usage, added.cost_usd) == (Usage(1001, 101, 1, 1), 1 + COST_USD)
        unknown = Scripted(_script=lambda _: Judgment(scores, cost_usd=None), _asks=True)
        assert (await judged(unknown, service.env)).cost_usd is None


async def test_a_judge_that_asks_nobody_is_free() -> None:
    """Unless it says what it paid elsewhere."""
    free = await judged(Scripted(_script=fine))
    assert (free.usage, free.cost_usd) == (None, 0.0)
    paid = Scripted(_script=lambda _: Judgment({"quality": Score(1)}, usage=Usage(1, 2, 3, 4), cost_usd=0.5))
    judgment = await judged(paid)
    assert (judgment.usage, judgment.cost_usd) == (Usage(1, 2, 3, 4), 0.5)


@pytest.mark.parametrize("error", [JudgeError("judge_error", "no"), ZeroDivisionError("no")])
async def test_an_error_carries_what_was_paid_before_it(error: Exception) -> None:
    """Whether the judge raises it on purpose or not."""
    with serving(YES) as service:
        raised = await error_of(Scripted(_script=raising(error), _asks=True), service.env)
    assert (raised.kind, raised.usage, raised.cost_usd) == ("judge_error", Usage(1000, 100, 0, 0), COST_USD)


async def test_an_error_after_an_unusable_reply_carries_what_that_reply_cost() -> None:
    """Money that is spent is reported, whatever comes after."""
    with serving(NONSENSE, OVERLOADED) as service:
        raised = await error_of(Scripted(_script=fine, _asks=True), service.env)
    assert raised.retryable
    assert raised.overloaded
    assert (raised.usage, raised.cost_usd) == (Usage(1000, 100, 0, 0), COST_USD)


async def test_two_unusable_replies_are_paid_for() -> None:
    """The error is final, and says what both have cost."""
    with serving(NONSENSE, NONSENSE) as service:
        raised = await error_of(Scripted(_script=fine, _asks=True), service.env)
    assert (raised.kind, raised.retryable) == ("judge_invalid", False)
    assert (raised.usage, raised.cost_usd) == (Usage(2000, 200, 0, 0), 2 * COST_USD)


async def test_an_error_without_a_reply_costs_nothing_if_the_call_was_refused() -> None:
    """What nobody has answered may have been paid for: unknown is None, not zero."""
    with serving(OVERLOADED) as service:
        raised = await error_of(Scripted(_script=fine, _asks=True), service.env)
    assert (raised.usage, raised.cost_usd) == (None, 0.0)
    nobody = {"ANTHROPIC_BASE_URL": "http://127.0.0.1:9", "ANTHROPIC_API_KEY": "key"}
    raised = await error_of(Scripted(_script=fine, _asks=True), nobody)
    assert (raised.usage, raised.cost_usd) == (None, None)


async def test_whatever_a_judge_raises_is_a_judge_error_that_names_it() -> None:
    """A plug-in's surprise is about its response only, and is not tried again."""
    raised = await error_of(Scripted(_script=raising(ZeroDivisionError("by nought"))))
    assert (raised.kind, raised.message, raised.retryable) == ("judge_error", "ZeroDivisionError: by nought", False)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (None, "the judge's code returned what is no judgment"),
        (Judgment({"quality": Score("1")}), "TypeError: "),  # type: ignore[arg-type] # that is the point
    ],
)
async def test_what_is_no_judgment_is_an_error_of_its_judge(said: Any, told: str) -> None:  # noqa: ANN401 - any value
    """A plug-in need not be type-checked."""
    raised = await error_of(Scripted(_script=lambda _: said))
    assert raised.kind == "judge_error"
    assert raised.message.startswith(told)


@pytest.mark.parametrize("wrap", [lambda error: error, lambda error: caused(JudgeError("judge_error", "no"), error)])
async def test_what_the_machine_has_no_more_of_is_tried_again_with_fewer_at_once(
    wrap: Callable[[Exception], Exception],
) -> None:
    """Told by the system's number, also where the judge has made its own error of it."""
    raised = await error_of(Scripted(_script=raising(wrap(OSError(errno.EMFILE, "Too many open files")))))
    assert raised.retryable
    assert raised.overloaded


def caused(error: Exception, cause: Exception) -> Exception:
    """Return an error that was raised from another one."""
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("scores", "said"),
    [
        ({"quality": Score(1.5)}, "quality: 1.5 is outside 0 to 1"),
        ({"quality": Score(-0.1)}, "quality: -0.1 is outside 0 to 1"),
        ({"quality": Score(float("nan"))}, "quality: nan is outside 0 to 1"),
        ({}, r"expected the metrics \['quality'\], found \[\]"),
        ({"quality": Score(1), "more": Score(1)}, r"found \['more', 'quality'\]"),
    ],
)
async def test_scores_that_are_not_those_of_the_metrics_are_invalid(scores: dict[str, Score], said: str) -> None:
    """Never a number: the error says which score it was, and what it has cost."""
    with serving(YES) as service, pytest.raises(JudgeError, match=said) as caught:
        await judged(Scripted(_script=lambda _: Judgment(scores), _asks=True), service.env)
    assert (caught.value.kind, caught.value.cost_usd) == ("judge_invalid", COST_USD)


async def test_an_empty_answer_scores_the_minimum_and_no_model_is_asked() -> None:
    """Whoever says nothing gets the worst score, and nobody pays for that; a program judges what it is given."""
    asks = Scripted(_script=lambda _: Judgment({"quality": Score(1)}), _asks=True)
    found = await judge_once(asks, case(" \n"), context(asks))
    assert (found.scores["quality"].score, found.cost_usd) == (0, 0)
    assert found.scores["quality"].reasoning == EMPTY_ANSWER


async def test_a_metric_that_does_not_apply_has_a_reason_in_place_of_a_score() -> None:
    """It is in no scale, and no failure."""
    scores = {"quality": Score(None, not_applicable="no tool was called")}
    assert (await judged(Scripted(_script=lambda _: Judgment(scores)))).scores == scores


async def test_without_a_golden_answer_no_metric_applies_and_nobody_is_asked() -> None:
    """That costs nothing."""
    judge = Scripted(_script=raising(AssertionError()))
    judgment = await judged(judge, given=case("An answer.", golden_answer=None))
    assert judgment == Judgment({"quality": Score(None, not_applicable=NO_GOLDEN_ANSWER, outside=True)})
    assert (judgment.usage, judgment.cost_usd) == (None, 0.0)


async def test_a_judge_of_pairs_sees_both_answers_in_an_order_that_its_judgment_decides() -> None:
    """The order is random over judgments, and the same for the same one."""
    response = {"sample": {"question": "?", "answer": "a"}, "text": "one", "turns": [], "sources": []}
    judge = Preference(model="claude-opus-5")
    given = case_of(judge, response, other={**response, "text": "other"})
    asked = []
    with serving(*[YES] * 21) as service:
        for seed in [*range(20), 0]:
            judgment = await judge_once(judge, given, context(judge, service.env, seed=str(seed)))
            asked.append(service.asked[-1]["messages"][0]["content"])
            assert judgment.scores["preferred"].score == (asked[-1] == "one | other")
    assert set(asked) == {"one | other", "other | one"}
    assert asked[0] == asked[-1]


async def test_a_judge_of_pairs_that_gets_one_response_says_so() -> None:
    """It is never called with half a pair."""
    raised = await error_of(Preference(model="claude-opus-5"))
    assert raised.message == "this judge compares two responses, and was given one"


def test_a_case_holds_what_its_judge_is_given_and_nothing_else(tmp_path: Path) -> None:
    """Of the sample only the fields that the judge names; the workspace only on request."""
    response: dict[str, Any] = {
        "sample": {"id": "s1", "question": "q", "answer": "a", "topic": "t"},
        "text": "x",
        "turns": [{"type": "text", "text": "x"}],
        "sources": ["handbook.md"],
        "condition": "with_docs",
    }

    class All(Scripted):
        sample_fields: ClassVar[tuple[str, ...] | None] = None
        uses_workspace: ClassVar[bool] = True

    some = case_of(Scripted(_script=fine), response, workspace=tmp_path)
    assert some == Case({"question": "q", "answer": "a"}, "x", ({"type": "text", "text": "x"},), ("handbook.md",))
    everything = case_of(All(_script=fine), response, workspace=tmp_path)
    assert (everything.sample, everything.workspace) == (response["sample"], tmp_path)
    assert "with_docs" not in json.dumps(everything.sample) + repr(everything.turns)
