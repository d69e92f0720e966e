"""Logs of judged answers, some good and some bad, for tests of what people say of them."""

from __future__ import annotations

from pathlib import Path

from keval.ids import JsonObject
from tests.builders import METRICS, judge_entry, judgment_event, plan_event, response_event, run_event, write_log

PASSING = [judge_entry([{**METRICS[0], "pass_from": 4}])]


def judged_log(
    folder: Path, passes: int, failures: int, *more: JsonObject, conditions: tuple[str, ...] = ("baseline",)
) -> Path:
    """Return a log in which under each condition so many answers pass and fail; `more` events stand at its end."""
    names = [f"q{number}" for number in range(passes + failures)]
    answers = [response_event(name, condition) for condition in conditions for name in names]
    plan = plan_event(list(dict.fromkeys(answer["question_id"] for answer in answers)))
    run = run_event(conditions, samples=len(names), judges=PASSING, plan_id=plan["plan_id"])
    judgments = [judgment_event(answer, 5 if int(answer["sample"]["id"][1:]) < passes else 2) for answer in answers]
    return write_log(folder / "run.jsonl", [run, plan, *answers, *judgments, *more])
