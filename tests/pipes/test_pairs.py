"""Pairs of answers are found in a pipe as in a log."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.pairs import PAIRS, PREFERENCES, preferences, write_pairs
from tests.pipes.test_pipes import shell


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with an evaluation of pairs."""
    write_pairs(tmp_path)
    return tmp_path


@pytest.mark.slow
def test_a_pipe_and_a_log_judge_the_same_pairs(folder: Path) -> None:
    """A response that comes before the baseline's waits for it."""
    piped = shell("keval generate eval.yaml --mock | tee answers.jsonl | keval judge --mock > piped.jsonl", folder)
    assert piped.returncode == 0, piped.stderr
    assert shell("keval judge answers.jsonl --mock", folder).returncode == 0
    assert preferences(folder / "piped.jsonl") == preferences(folder / "answers.jsonl") == PREFERENCES
    assert "behind their answers" not in piped.stderr
    again = shell("cat answers.jsonl | keval judge --mock > again.jsonl", folder)
    assert again.stderr.count("judgments come in behind their answers") == 1


@pytest.mark.slow
def test_a_pipe_and_a_log_judge_the_same_pairs_of_an_edited_condition(folder: Path) -> None:
    """Its new answers are compared with those that the baseline gave in the run before."""
    assert shell("keval generate eval.yaml --mock -o answers.jsonl", folder).returncode == 0
    (folder / "eval.yaml").write_text(PAIRS.replace("kiwis are green fruit", "all kiwis are green fruit"))
    assert shell("keval generate eval.yaml --mock -o answers.jsonl", folder).returncode == 0
    piped = shell("cat answers.jsonl | keval judge --mock > piped.jsonl", folder)
    assert piped.returncode == 0, piped.stderr
    assert shell("keval judge answers.jsonl --mock", folder).returncode == 0
    assert preferences(folder / "piped.jsonl") == preferences(folder / "answers.jsonl")
    assert preferences(folder / "piped.jsonl").keys() == PREFERENCES.keys()


@pytest.mark.slow
def test_what_is_said_to_be_missing_is_what_the_judges_make(folder: Path) -> None:
    """Before `keval judge` the log lacks as many judgments as it adds, those of pairs among them; then none."""

    def state() -> str:
        listed = map(json.loads, shell("keval list -f jsonl", folder).stdout.splitlines())
        return next(str(log["state"]) for log in listed if log["log"].endswith("log.jsonl"))

    assert shell("keval generate eval.yaml --mock > log.jsonl", folder).returncode == 0
    before = state()
    assert shell("keval judge log.jsonl --mock", folder).returncode == 0
    made = (folder / "log.jsonl").read_text().count('"type":"judgment"')
    assert (before, state()) == (f"{made} judgments missing", "complete")


@pytest.mark.slow
def test_a_run_says_which_pairs_it_will_judge(folder: Path) -> None:
    """A changed judge of pairs has judged none; as many as are announced are made, and a check says the same."""
    assert shell("keval run eval.yaml --mock -o log.jsonl", folder).returncode == 0
    before = (folder / "log.jsonl").read_text().count('"type":"judgment"')
    (folder / "eval.yaml").write_text(PAIRS.replace("type: pairwise,", "type: pairwise, criteria: brevity,"))
    checked = shell("keval check eval.yaml --mock --log log.jsonl", folder).stdout
    again = shell("keval run eval.yaml --mock -o log.jsonl", folder).stderr
    made = (folder / "log.jsonl").read_text().count('"type":"judgment"') - before
    line = f"responses of earlier runs lack judgments, which will be made: {made} by pairwise"
    assert line in checked
    assert "pairwise: 8 calls, " in checked, "four pairs beside those of the baseline with itself, in both orders"
    assert line in again
    assert made == 6


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "claude-opus-5",
            "m, baseline: typo",
            "the baseline 'typo' is not a condition (there are: plain, right, wrong)",
        ),
        (PAIRS[PAIRS.index("  right") : PAIRS.index("judges")], "", "compares conditions, and there is only 'plain'"),
    ],
    ids=["no such baseline", "one condition"],
)
def test_a_judge_of_pairs_needs_two_conditions_and_its_baseline_among_them(
    old: str, new: str, said: str, folder: Path
) -> None:
    """It is said before anything is asked."""
    (folder / "eval.yaml").write_text(PAIRS.replace(old, new))
    done = shell("keval run eval.yaml --mock", folder)
    assert done.returncode == 3
    assert said in done.stderr
