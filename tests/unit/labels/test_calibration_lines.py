"""What is printed of a judge's verdicts can be followed from one line to the next."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.builders import judgment_event, response_event, run_event, write_log
from tests.conftest import Keval


@pytest.mark.slow
@pytest.mark.parametrize(("answers", "said"), [(3, ", of the samples' mean 50.0%"), (1, "")])
def test_a_rate_that_is_corrected_is_named_if_it_is_another_one(
    keval: Keval, tmp_path: Path, answers: int, said: str
) -> None:
    """Error rates from elsewhere correct the mean of the samples: that of all answers if all have as many."""
    passed = [response_event(repetition=number + 1) for number in range(answers)]
    failed = response_event("q2")
    judged = [*(judgment_event(answer, 5) for answer in passed), judgment_event(failed, 1)]
    log = write_log(tmp_path / "run.jsonl", [run_event(["baseline"], repetitions=3), *passed, failed, *judged])
    rates = ["--q0", "0.9", "--q1", "0.9", "--m0", "100", "--m1", "100", "--pass-from", "completeness=4"]
    (line,) = [line for line in keval("calibrate", log, *rates).stdout.splitlines() if "by error rates" in line]
    assert line == f"  by error rates       50.0%{said} (fewer than 5 samples)"
