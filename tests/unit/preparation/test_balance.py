from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from keval.ids import JsonObject
from keval.preparation.balance import balance, values
from tests.conftest import Keval


def samples(counts: Mapping[str, int], **fields: object) -> list[JsonObject]:
    """Return so many samples of each category."""
    return [{"id": f"{name}{n}", "category": name, **fields} for name, count in counts.items() for n in range(count)]


def few(counts: Mapping[str, int], threshold: float) -> list[str]:
    found = balance(samples(counts), ["category"], threshold)
    return [each.name for each in found.fields["category"] if each.underrepresented]


@pytest.mark.parametrize(
    ("counts", "threshold", "expected"),
    [
        ({"a": 80, "b": 20}, 50, ["b"]),
        ({"a": 50, "b": 30, "c": 20}, 50, []),
        ({"a": 70, "b": 30}, 80, ["b"]),
        ({"a": 7, "b": 7, "c": 7}, 100, []),
    ],
)
def test_a_value_with_less_than_its_share_is_underrepresented(
    counts: Mapping[str, int], threshold: float, expected: list[str]
) -> None:
    """Below so many percent of an even part; of three equal thirds none is below a third."""
    assert few(counts, threshold) == expected


def test_an_empty_dataset_divides_by_nothing() -> None:
    """Zero samples are few, and that is all."""
    found = balance([], ["category"])
    assert (found.samples, found.fields["category"], found.suggestions[0][:9]) == (0, (), "0 samples")


def test_values_are_taken_as_they_are() -> None:
    """Lists count for each of their values, dots lead into objects, what is missing has a name."""
    sample = {"tags": ["x", "y"], "metadata": {"level": 2}, "a.b": "dotted", "flag": True, "empty": []}
    assert values(sample, "tags") == ["x", "y"]
    assert [values(sample, name) for name in ("metadata.level", "a.b", "flag", "gone", "metadata.gone.x", "empty")] == [
        ["2"], ["dotted"], ["true"], ["(none)"], ["(none)"], ["(none)"],
    ]  # fmt: skip
    assert balance([sample], ["tags"]).fields["tags"][0].share == 1


def test_fields_say_which_cases_are_positive_negative_and_edge() -> None:
    """By a word in one of the usual fields, or by a flag; where no sample says so it is not guessed."""
    said: list[JsonObject] = [
        {"polarity": "Positive"}, {"metadata": {"case_type": "negative"}}, {"tags": ["edge-case", "negative"]},
        {"is_negative": True}, {"negative": False}, {},
    ]  # fmt: skip
    found = balance(said, ["polarity"])
    assert found.kinds == {"positive": 1, "negative": 3, "edge": 1}
    unsaid = balance(samples({"a": 30}), ["category"])
    assert unsaid.kinds is None
    assert any("positive, negative or edge" in each for each in unsaid.suggestions)
    assert "There is no edge case" in balance([{"polarity": "positive"}], ["polarity"]).suggestions


def test_combinations_that_no_sample_has_are_gaps() -> None:
    """Of all values of the fields, one of each; what has no value makes no gap."""
    three: list[JsonObject] = [{"a": "x", "b": "1"}, {"a": "y", "b": "2"}, {"a": "x", "b": "2"}, {"a": "x"}]
    found = balance(three, ["a", "b"])
    assert found.gaps == (("y", "1"),)
    assert found.as_json()["gaps"] == [{"a": "y", "b": "1"}]


def test_a_dataset_that_is_balanced_is_told_so() -> None:
    """Enough samples, no value too rare and none dominant, all kinds of cases: nothing is left to suggest."""
    even: list[JsonObject] = [
        {"category": category, "polarity": kind}
        for category in "abc" for kind in ("positive", "negative", "edge") for _ in range(4)
    ]  # fmt: skip
    assert balance(even, []).suggestions == ("The dataset looks well balanced",)
    assert any("dominates with 80.0%" in each for each in balance(samples({"a": 80, "b": 20}), []).suggestions)


def test_without_a_category_fields_with_few_values_are_shown() -> None:
    """Ids, questions and answers are of one sample each, and so is a field with a value for each."""
    many = [{"id": str(n), "question": f"{n}?", "answer": "x", "level": n % 2, "note": f"n{n}"} for n in range(40)]
    assert list(balance(many, []).fields) == ["level"]


@pytest.mark.slow
def test_the_command_reads_datasets_and_configs(keval: Keval, tmp_path: Path) -> None:
    """A dataset and a config that names it come to the same, as text and as JSON."""
    rows = [{"question": f"{n}?", "answer": "x", "category": "a" if n else "b"} for n in range(4)]
    (tmp_path / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "eval.yaml").write_text(
        "name: t\ndataset: {path: questions.jsonl}\nagent: {type: echo}\n"
        'conditions: {plain: {system_prompt: "Answer."}}\njudge: {type: exact_match}\n'
    )
    text = keval("balance", "eval.yaml")
    assert (text.returncode, text.stdout.splitlines()[:4]) == (
        0, ["4 samples", "category:", "       3   75.0%  a", "       1   25.0%  b"],
    ), text.stderr  # fmt: skip
    found = json.loads(keval("balance", "questions.jsonl", "-f", "json").stdout)
    assert [each["count"] for each in found["fields"]["category"]] == [3, 1]
    misspelt = keval("balance", "questions.jsonl", "--by", "categry")
    assert misspelt.stderr == "keval: no sample has a field 'categry'; did you mean 'category'?\n"


def test_only_what_is_short_is_taken_for_a_category_and_crossed_only_if_asked_for() -> None:
    """Texts that some samples share, and values of one sample each, are left out; gaps are of named fields."""
    said: list[JsonObject] = [
        {"id": str(n), "text": f"{n % 2} " * 50, "unique": str(n), "kind": "ab"[n % 2], "level": "xyz"[n % 3]}
        for n in range(12)
    ]
    by_itself = balance(said, [])
    assert (list(by_itself.fields), by_itself.gaps) == (["kind", "level"], ())
    assert balance(said[:5], ["kind", "level"]).gaps == (("b", "z"),)
