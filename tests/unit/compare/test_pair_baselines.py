from __future__ import annotations

from pathlib import Path

import pytest

from keval import projections
from keval.compare.compared_logs import compare
from keval.compare.pair_baselines import pair_baselines
from keval.errors import InputError
from keval.ids import JsonObject, answer_sha256
from keval.projections.log_file import as_log_file
from tests.builders import AGENT_ID, JUDGE_ID, condition_id, judgment_event, response_event, run_event, write_log


def preferred(path: Path, prompt: str) -> Path:
    """Write a log in which answers of `docs` are preferred to those of a baseline with this prompt."""
    events: list[JsonObject] = [run_event({"baseline": prompt, "docs": "Answer."}, samples=7)]
    for number in range(7):
        baseline = response_event(f"q{number}", "baseline", prompt=prompt)
        answer = response_event(f"q{number}", "docs")
        beside = {"other_response_id": baseline["id"], "other_answer_sha256": answer_sha256(baseline["text"])}
        events += [
            baseline,
            answer,
            judgment_event(baseline, 3, **beside),
            judgment_event(answer, 4 + number % 2, **beside),
        ]
    return write_log(path, events)


@pytest.mark.slow
def test_preferences_over_two_baselines_are_not_compared(tmp_path: Path) -> None:
    """The condition is the same in both logs; what it was compared with is not. Over one baseline they are."""
    first, again, worse = (
        as_log_file(preferred(tmp_path / f"{number}.jsonl", prompt))
        for number, prompt in enumerate(("Answer.", "Answer.", "Guess."))
    )
    with projections.connect([first]) as connection:
        assert pair_baselines(connection) == {JUDGE_ID: {(condition_id("baseline", "Answer."), AGENT_ID)}}
    assert all(found.n_paired == 7 for found in compare([first, again]).metrics[0].differences)
    with pytest.raises(InputError) as refused:
        compare([first, worse])
    assert "judge rubric compared answers with those of another baseline in each" in str(refused.value)
