from __future__ import annotations

from pathlib import Path

import pytest

from keval.config import gate_section, reader
from keval.config.gate_rules import PRESETS
from keval.errors import InputError, UsageError

EVAL = """\
name: words
dataset: {path: questions.jsonl}
agent: {type: echo}
conditions:
  baseline: {system_prompt: Answer.}
judge: {type: exact_match}
gate:
"""


def problems(folder: Path, gate: str) -> list[str]:
    """Return what is wrong with a config that has a section `gate`."""
    (folder / "questions.jsonl").write_text('{"question": "Q?", "answer": "A"}\n')
    (folder / "eval.yaml").write_text(EVAL + gate)
    try:
        reader.load(folder / "eval.yaml", environ={})
    except InputError as error:
        return [problem.removeprefix(str(folder)) for problem in error.problems]
    return []


def test_a_rule_that_is_no_text_is_one_problem(tmp_path: Path) -> None:
    """What its schema says of it is enough."""
    found = problems(tmp_path, "  rules: [{number: .8}]\n")
    assert [each.partition("$")[2] for each in found[:-1]] == [".gate.rules[0]: expected a string, found an object"]


def test_the_rules_of_a_config_are_read_before_anything_is_paid(tmp_path: Path) -> None:
    """Each mistake is told with its line; rules without one are left for `keval gate`."""
    assert problems(tmp_path, "  preset: retrieval-minimum\n  rules: [exact_match >= 0.9, missing <= 5%]\n") == []
    found = problems(
        tmp_path, "  preset: retrieval-minimal\n  rules:\n    - exact_match = 1\n    - missing <= 5%\n  onn: mean\n"
    )
    assert len(found) == 4, "three problems, and how many there are"
    assert any(each.startswith("/eval.yaml:10: $.gate.rules[0]: rule 'exact_match = 1'") for each in found)
    assert any("no preset is called 'retrieval-minimal'; did you mean 'retrieval-minimum'?" in each for each in found)
    assert any("did you mean 'on'?" in each for each in found)


def test_what_a_log_recorded_is_read_again() -> None:
    """A preset comes first, `on` is kept, and a log without the section has no rule."""
    found = gate_section.recorded({"preset": "retrieval-minimum", "rules": ["missing <= 5%"], "on": "mean"})
    assert [rule.text for rule in found.rules] == [*PRESETS["retrieval-minimum"], "missing <= 5%"]
    assert found.on_mean
    assert gate_section.recorded(None) == gate_section.Rules(())
    with pytest.raises(UsageError, match="it compares nothing"):
        gate_section.recorded({"rules": ["of another version"]})


def test_a_file_is_a_list_of_rules(tmp_path: Path) -> None:
    """Anything else in it is told with its line."""
    path = tmp_path / "rules.yaml"
    path.write_text("- completeness >= 4   # of all\n- missing <= 5%\n")
    listed = gate_section.read_file(path)
    assert [rule.text for rule in listed.rules] == ["completeness >= 4", "missing <= 5%"]
    assert not listed.on_mean
    for text, said in (
        ("a: 1\n", "neither a list"),
        ("[]\n", "neither a list"),
        ("gate: {on: mean}\n", "neither a list"),
        ("gate:\n  rules:\n    - 7\n", r"rules.yaml:3: \$.gate.rules\[0\]: expected a string"),
        ("gate:\n  rule: [a >= 1]\n", "rules.yaml:2: .*unknown key 'rule'"),
        ("gate: {preset: nonsense}\n", "no preset is called 'nonsense'"),
        ("gate: {rules: [a >= 1], on: Mean}\n", "'Mean' is not one of"),
        ("gate:\n  rules:\n    - zz\n", "rules.yaml:3: .*it compares nothing"),
        ("- a >= 1\n- zz\n", "rules.yaml:2: .*it compares nothing"),
        ("- a: [\n", "rules.yaml:2: "),
        ("- a >= 1\n- 7\n", r"rules.yaml:2: \$\[1\]: 7 is no"),
    ):
        path.write_text(text)
        with pytest.raises(InputError, match=said):
            gate_section.read_file(path)


def test_a_config_holds_a_log_to_its_gate(tmp_path: Path) -> None:
    """So an edited rule can be tried before it is recorded."""
    path = tmp_path / "eval.yaml"
    path.write_text("name: x\ngate: {rules: [missing <= 5%], preset: retrieval-minimum, on: mean}\n")
    found = gate_section.read_file(path)
    assert found.on_mean
    assert "missing <= 5%" in [rule.text for rule in found.rules]
    assert len(found.rules) == 1 + len(PRESETS["retrieval-minimum"])
