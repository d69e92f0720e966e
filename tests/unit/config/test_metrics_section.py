from __future__ import annotations

from pathlib import Path

import pytest

from keval.config import reader
from keval.config.formulas import ComputedMetric
from keval.errors import InputError

EVAL = """\
name: words
dataset: {path: questions.jsonl}
agent: {type: echo}
conditions:
  baseline: {system_prompt: Answer.}
judges:
  - {type: exact_match}
  - {type: contains}
metrics:
"""


def load(folder: Path, metrics: str, before: str = EVAL) -> tuple[ComputedMetric, ...]:
    """Load a config with a section `metrics`."""
    (folder / "questions.jsonl").write_text('{"question": "Q?", "answer": "A"}\n')
    (folder / "eval.yaml").write_text(before + metrics)
    return reader.load(folder / "eval.yaml", environ={}).metrics


def test_the_formula_has_the_seeds_numbers(tmp_path: Path) -> None:
    """Alpha is 2, gamma 1.5, beta 0.5 and the unit a thousand tokens; each can be another."""
    parts = "hit_rate: contains/contains, judge: exact_match/exact_match"
    usual, other = load(
        tmp_path,
        f"  a: {{type: combined, {parts}}}\n"
        f"  b: {{type: combined, {parts}, alpha: 1, beta: 1, gamma: 0, per_tokens: 500, pass_above: 1.2}}\n",
    )
    assert [part.weight for part in usual.parts] == [2, 1.5]
    assert (usual.tokens_exponent, usual.per_tokens, usual.pass_above) == (0.5, 1000, None)
    assert [part.weight for part in other.parts] == [1, 0]
    assert (other.tokens_exponent, other.per_tokens, other.pass_above) == (1, 500, 1.2)


def test_a_list_weighs_all_the_same(tmp_path: Path) -> None:
    """Without weights it is the plain mean."""
    (metric,) = load(tmp_path, "  a: {type: weighted, of: [contains/contains, exact_match/exact_match]}\n")
    assert [(part.name, part.weight) for part in metric.parts] == [
        ("contains/contains", 1),
        ("exact_match/exact_match", 1),
    ]


@pytest.mark.parametrize(
    ("metrics", "problem"),
    [
        (
            "  a: {type: weighted, of: [contains/contians]}\n",
            "no judge of this config has the metric 'contains/contians'; did you mean 'contains/contains'?",
        ),
        ("  a: {type: weighted, of: {contains/contains: 0}}\n", "10: $.metrics.a.of['contains/contains']: "),
        ("  a: {type: weighted, of: []}\n", "10: $.metrics.a.of: "),
        ("  a: {type: weighted, of: [a.b], alpha: 1}\n", "10: $.metrics.a.alpha: unknown key"),
        ("  a: {type: wieghted}\n", "10: $.metrics.a.type: "),
        ("  a: {type: combined, hit_rate: contains/contains}\n", "10: $.metrics.a: "),
        ("  a: {type: combined, hit_rate: contains, judge: a.b}\n", "10: $.metrics.a.hit_rate: "),
        (
            "  a: {type: combined, hit_rate: contains/contains, judge: contains/contains, alpha: 0, gamma: 0, beta: 0}",
            "10: $.metrics.a: its scores would range from 1 to 1",
        ),
    ],
)
def test_what_makes_no_numbers_is_refused(metrics: str, problem: str, tmp_path: Path) -> None:
    """Each mistake is told with its line and place before anything is asked."""
    with pytest.raises(InputError) as error:
        load(tmp_path, metrics)
    assert problem in str(error.value)


def test_no_judge_has_the_name_of_what_is_computed(tmp_path: Path) -> None:
    """Reports and events could not tell them apart."""
    named = EVAL.replace("{type: contains}", "{type: contains, name: computed}")
    with pytest.raises(InputError, match="a judge is called 'computed'"):
        load(tmp_path, "  a: {type: weighted, of: [computed/contains]}\n", named)


def test_a_scale_below_0_takes_no_powers(tmp_path: Path) -> None:
    """A power of a negative score is no number, so `combined` refuses the judge's scale."""
    rubric = "name: tone\ninstructions: Judge.\nmetrics:\n"
    rubric += '  - {name: tone, title: Tone, min: -1, max: 1, question: "Kind?", levels: {-1: "No.", 1: "Yes."}}\n'
    (tmp_path / "tone.yaml").write_text(rubric)
    judges = EVAL.replace("{type: contains}", "{type: rubric, name: tone, model: m, rubric: tone.yaml}")
    with pytest.raises(InputError, match=r"scale of tone/tone goes below 0"):
        load(tmp_path, "  a: {type: combined, hit_rate: exact_match/exact_match, judge: tone/tone}\n", judges)
