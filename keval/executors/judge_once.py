"""Lets a judge judge once: plain data in, a judgment out, or a `JudgeError` that knows what it has cost.

Everything that a judge's own code may do wrong ends here, so that a judgment that comes out can be logged as it is.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from keval.executors.plugin_errors import FOREIGN, is_cancelled_by_us
from keval.judges import Case, Context, Judge, JudgeError, Judgment, OtherResponse, Score, check_scores
from keval.processes import machine
from keval.usage import Usage, known_sum

NO_WORKSPACE = (
    "this judge looks at the folder in which the agent worked, and that was not kept or is not here; "
    "`workspace: {keep: all}` in the config keeps those of new answers, and `keval run` judges before they are gone"
)

NO_GOLDEN_ANSWER = "the sample has no golden answer"
EMPTY_ANSWER = "The answer is empty; no model was asked."


async def judge_once(judge: Judge, case: Case, context: Context) -> Judgment:
    """Return the judge's judgment with all that it cost.

    Raises JudgeError with what is known of the cost.
    """
    if (unasked := without_asking(judge, case.sample, case.text)) is not None:
        return unasked
    made: Judgment | None = None
    try:
        if judge.uses_workspace and case.workspace is None:
            raise JudgeError("judge_error", NO_WORKSPACE, cost_usd=0.0)  # noqa: TRY301 - like any error of a judge
        if judge.unit == "pair" and case.other is None:
            raise JudgeError("judge_error", "this judge compares two responses, and was given one", cost_usd=0.0)  # noqa: TRY301 - like any error of a judge
        said = await judge.judge(case, context)
        if not isinstance(said, Judgment) or not isinstance(said.usage, Usage | None):
            raise JudgeError("judge_error", f"the judge's code returned what is no judgment: {type(said).__name__}")  # noqa: TRY301 - like any error of a judge
        made = said
        spent = usage, cost_usd = _spent(judge, context, said.usage, said.cost_usd)
        if spent != (said.usage, said.cost_usd):
            made = replace(said, usage=usage, cost_usd=cost_usd)
        check_scores(made.scores, judge.metrics)
    except JudgeError as error:
        _complete(error, judge, context, made, error)
        raise
    except FOREIGN as error:  # a plug-in's surprise is about this response only
        if is_cancelled_by_us(error):
            raise
        told = JudgeError("judge_error", f"{type(error).__name__}: {error}")
        _complete(told, judge, context, made, error)
        raise told from error
    return made


def without_asking(judge: Judge, sample: Mapping[str, Any], text: str) -> Judgment | None:
    """Return the judgment of an answer about which nobody is asked, None if the judge is to be.

    A judge that needs a golden answer is not asked where there is none: no metric applies then. No model is paid to
    read an answer that is empty: it scores the minimum.
    """
    if judge.lacks_golden_answer(sample):
        return Judgment.outside(judge.metrics, NO_GOLDEN_ANSWER)
    if _reads_the_answer_alone(judge) and not text.strip():
        return Judgment({metric.name: Score(metric.min, EMPTY_ANSWER) for metric in judge.metrics})
    return None


def _reads_the_answer_alone(judge: Judge) -> bool:
    """Return whether a model is asked for its opinion of the answer's text, and of nothing else that the agent did."""
    return judge.uses_models and judge.unit == "response" and not judge.uses_workspace and not judge.uses_tool_calls


def _complete(told: JudgeError, judge: Judge, context: Context, made: Judgment | None, raised: BaseException) -> None:
    """Add to an error what its judge does not know: what all has cost, and what the machine has no more of."""
    if machine.exhausted(raised) is not None:
        told.retryable = told.overloaded = True
    if made is not None:
        told.usage, told.cost_usd = made.usage, made.cost_usd
        return
    # The context counts what it paid itself; a judge that used it and reports no other cost had none.
    own = told.cost_usd or 0.0 if context.has_asked else told.cost_usd
    told.usage, told.cost_usd = _spent(judge, context, told.usage, own)


def _spent(
    judge: Judge, context: Context, usage: Usage | None, cost_usd: float | None
) -> tuple[Usage | None, float | None]:
    """Return tokens and cost of the context and of the judge itself: at the config's own price, else as it says."""
    if usage is not None and context.prices.is_own(judge.model_name):
        cost_usd = context.prices.cost_usd(judge.model_name, usage)
    tokens = [told for told in (context.usage, usage) if told is not None]
    return functools.reduce(operator.add, tokens) if tokens else None, known_sum([context.cost_usd, cost_usd])


def case_of(
    judge: Judge,
    response: Mapping[str, Any],
    *,
    other: Mapping[str, Any] | None = None,
    workspace: Path | None = None,
    reports_tool_calls: bool = True,
) -> Case:
    """Return what a judge is given of a response event, and of a second one where it judges pairs."""
    return Case(
        sample=judge.given(response["sample"]),
        text=response["text"],
        turns=tuple(response["turns"]),
        sources=tuple(response["sources"]),
        workspace=workspace if judge.uses_workspace else None,
        other=None
        if other is None
        else OtherResponse(other["text"], turns=tuple(other["turns"]), sources=tuple(other["sources"])),
        reports_tool_calls=reports_tool_calls,
    )
