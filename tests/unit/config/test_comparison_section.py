"""What a config says of comparisons is checked by name before anything is asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from keval.config import reader
from keval.errors import InputError

EVAL = """\
name: words
dataset: {path: questions.jsonl}
agent: {type: echo}
conditions:
  new: {system_prompt: Answer.}
  old: {system_prompt: Reply.}
judges:
  - {type: exact_match, name: strict}
metrics:
  overall: {type: weighted, of: [strict/exact_match]}
"""


def load(folder: Path, section: str) -> None:
    """Load a config with these lines more."""
    (folder / "questions.jsonl").write_text('{"question": "Q?", "answer": "A"}\n')
    (folder / "eval.yaml").write_text(EVAL + section)
    reader.load(folder / "eval.yaml", environ={})


@pytest.mark.parametrize(
    "section",
    [
        "baseline: old\n",
        "comparison: {margin: 0.1, primary: [exact_match]}\n",
        "comparison: {margin: {strict/exact_match: 0.1}, primary: [computed/overall, strict/exact_match]}\n",
    ],
)
def test_conditions_and_metrics_of_the_config_may_be_named(tmp_path: Path, section: str) -> None:
    """A metric by itself or after its judge, computed ones too."""
    load(tmp_path, section)


@pytest.mark.parametrize(
    ("section", "problem"),
    [
        ("baseline: odl\n", "no condition is called 'odl'; did you mean 'old'?"),
        ("comparison: {primary: [strict/exact_mach]}\n", "did you mean 'strict/exact_match'?"),
        ("comparison: {margin: {fame: 1}}\n", "no metric is called 'fame'; there are: exact_match, strict/exact_match"),
    ],
)
def test_an_unknown_name_is_told_with_its_line(tmp_path: Path, section: str, problem: str) -> None:
    """A metric that is not there would silently be of no family and have no margin."""
    with pytest.raises(InputError, match=r"eval\.yaml:11: ") as told:
        load(tmp_path, section)
    assert problem in str(told.value)


@pytest.mark.parametrize("value", ["null", "1.5", "true", "[a]", "{a: 1}"])
@pytest.mark.parametrize(
    ("section", "place"),
    [("baseline: {}\n", "baseline"), ("comparison: {{primary: [{}]}}\n", "comparison.primary[0]")],
)
def test_what_is_no_name_is_told_by_its_type(tmp_path: Path, section: str, place: str, value: str) -> None:
    """As everywhere in a config: nobody asks which name may be meant."""
    with pytest.raises(InputError) as told:
        load(tmp_path, section.format(value))
    assert f"$.{place}: expected a string" in str(told.value)
