"""Asks one judge about one response; what comes of it is plain data.

Whatever a judge does, the response ends in an outcome; the response itself is untouched.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

from keval.execution.specs import Failed, JudgeSpec, Outcome
from keval.judges import Judge, JudgeError, Verdict
from keval.processes import machine


@dataclass(frozen=True, kw_only=True)
class Scorer:
    """The judges of a run, with all that they need to be asked."""

    judges: Mapping[str, Judge]
    """By judge_id."""
    env: Mapping[str, str]
    """The variables that reach the Messages API."""

    async def judge(self, spec: JudgeSpec) -> Outcome[Verdict]:
        """Let the judge decide once; a verdict that is not on the judge's scales is a failure."""
        began = time.monotonic()
        judge = self.judges[spec.judge_id]
        try:
            verdict = await judge.judge(spec.case, self.env)
            failed = off_scale(verdict, judge)
        except JudgeError as error:
            verdict, failed = Verdict({}, usage=error.usage, cost_usd=error.cost_usd), _blamed(error)
        except Exception as error:  # noqa: BLE001 - foreign code: a plug-in's surprise is about this response only
            verdict, failed = Verdict({}), _blamed(JudgeError("judge_error", f"{type(error).__name__}: {error}"), error)
        return Outcome(verdict, round((time.monotonic() - began) * 1000), failed)


def _blamed(error: JudgeError, cause: Exception | None = None) -> Failed:
    """Return the failure; what the machine had no more of may be there again for the next attempt."""
    if machine.exhausted(cause or error) is not None:
        error.retryable = error.overloaded = True
    return Failed.of(error)


def off_scale(verdict: Verdict, judge: Judge) -> Failed | None:
    """Return the failure of a verdict that has not exactly the judge's metrics, each within its scale."""
    scales = {metric.name: metric for metric in judge.metrics}
    if set(verdict.scores) != set(scales):
        return Failed("judge_invalid", f"expected the metrics {sorted(scales)}, found {sorted(verdict.scores)}")
    for name, score in verdict.scores.items():
        if not scales[name].min <= score.score <= scales[name].max:
            told = f"{name}: {score.score!r} is outside {scales[name].min:g} to {scales[name].max:g}"
            return Failed("judge_invalid", told)
    return None
