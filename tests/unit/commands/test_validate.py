from __future__ import annotations

from pathlib import Path

import pytest

from keval.commands.validate import MOST_SHOWN, FirstProblems, command
from keval.errors import EnvironmentLacksError, InputError, KevalError, PluginError


@pytest.mark.parametrize(
    ("functions", "kind"),
    [
        (["gone.py:f", "gone.py:g"], EnvironmentLacksError),
        (["broken.py:f"], PluginError),
        (["broken.py:f", "gone.py:f"], InputError),
        (["broken.py:f", "none"], InputError),
    ],
)
def test_a_file_that_is_right_ends_as_the_command_that_uses_it_would(
    tmp_path: Path, functions: list[str], kind: type[KevalError]
) -> None:
    """What it names may be missing or broken; of files that differ in that, all problems are told as mistakes."""
    (tmp_path / "broken.py").write_text("def f(\n")
    files = [tmp_path / f"{place}.yaml" for place in range(len(functions))]
    for path, function in zip(files, functions, strict=True):
        path.write_text(f"{{type: python, function: '{function}'}}\n")
    assert command.callback is not None
    with pytest.raises(KevalError) as caught:
        command.callback(tuple(files), "question", "answer", "id")
    assert type(caught.value) is kind
    assert all(str(path) in str(caught.value) for path in files)


CONFIG = """\
name: held
dataset: {path: questions.jsonl}
agent: {type: echo}
conditions: {plain: {system_prompt: "Answer."}, careful: {system_prompt: "Be careful."}}
judges: [{type: number}]
gate: {rules: ["number of CONDITION >= 0.5"]}
"""


def test_a_rule_about_no_condition_of_the_config_is_a_mistake(tmp_path: Path) -> None:
    """All that is needed to see it stands in the file."""
    assert command.callback is not None
    (tmp_path / "questions.jsonl").touch()
    for name in ("carefull", "careful"):
        (tmp_path / f"{name}.yaml").write_text(CONFIG.replace("CONDITION", name))
    command.callback((tmp_path / "careful.yaml",), "question", "answer", "id")
    with pytest.raises(InputError, match="no condition is called 'carefull'; did you mean 'careful'"):
        command.callback((tmp_path / "carefull.yaml",), "question", "answer", "id")


def test_a_config_is_told_from_a_judge_by_its_keys(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """What a comment or a value speaks of makes no judge a config."""
    path = tmp_path / "file.yaml"
    path.write_text("# for any dataset, with what conditions it may have\ntype: number\n")
    assert command.callback is not None
    command.callback((path,), "question", "answer", "id")
    assert capfd.readouterr().out == f"{path}: a valid judge: number\n"
    path.write_text("conditions: {}\n")
    with pytest.raises(InputError, match="'dataset' or 'datasets' is missing"):
        command.callback((path,), "question", "answer", "id")


RUBRIC = """\
name: citations
instructions: Score how well the answer says where its facts come from.
metrics:
  - {name: citation, title: Citation, min: 1, max: 2, question: "Does it name a page?", levels: {1: "No.", 2: "Yes."}}
"""


def test_a_rubric_can_be_checked_without_a_judge(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """It is told by its keys, too, and what is wrong with it is said as a rubric's."""
    path = tmp_path / "citations.yaml"
    path.write_text(RUBRIC)
    assert command.callback is not None
    command.callback((path,), "question", "answer", "id")
    assert capfd.readouterr().out == f"{path}: a valid rubric: citations, 1 metric\n"
    path.write_text(RUBRIC.replace("title: Citation, ", ""))
    with pytest.raises(InputError, match=r"citations\.yaml:4: .*'title' is missing"):
        command.callback((path,), "question", "answer", "id")


def test_of_a_broken_log_only_the_first_problems_are_kept() -> None:
    """The rest is counted: a log has as many lines as it likes."""
    problems = FirstProblems()
    for number in range(1000):
        problems.add(f"line {number}")
    assert (len(problems.first), problems.first[-1], problems.number) == (MOST_SHOWN, f"line {MOST_SHOWN - 1}", 1000)
