"""Asks one judge about one response; what comes of it is plain data.

Whatever a judge does, the response ends in an outcome; the response itself is untouched.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

from keval.executors.judge_once import judge_once
from keval.executors.specs import JudgeSpec, Outcome
from keval.judges import Context, Judge, JudgeError, Judgment
from keval.models.messages_api import Asking
from keval.models.prices import Prices
from keval.retry import Failed


@dataclass(frozen=True, kw_only=True)
class JudgeCaller:
    """The judges of a run, with all that they need to be asked."""

    judges: Mapping[str, Judge]
    """By judge_id."""
    env: Mapping[str, str]
    """The variables that reach the Messages API."""
    program_env: Mapping[str, str]
    """The whole environment of programs that a judge starts."""
    prices: Prices
    """The shipped prices, and those of the config in place of theirs."""

    async def judge(self, spec: JudgeSpec, asking: Asking | None = None) -> Outcome[Judgment]:
        """Let the judge judge once; a judgment that is not on the judge's scales is a failure.

        `asking` asks the models in another way than each call by itself.
        """
        began = time.monotonic()
        judge = self.judges[spec.judge_id]
        context = Context(
            seed=spec.seed,
            model=judge.model_settings,
            env=self.env,
            prices=self.prices,
            program_env=self.program_env,
            asking=asking,
        )
        failed = None
        try:
            judgment = await judge_once(judge, spec.case, context)
        except JudgeError as error:
            # What asks no model costs nothing, also where it fails.
            cost_usd = 0.0 if error.cost_usd is None and not judge.uses_models else error.cost_usd
            judgment, failed = Judgment({}, usage=error.usage, cost_usd=cost_usd), Failed.of(error)
        return Outcome(judgment, round((time.monotonic() - began) * 1000), failed)
