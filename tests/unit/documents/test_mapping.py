"""Fields are made from records by rules that never guess."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keval.documents.mapping import UnfitError, Written, has, rule, way_out

RECORD = {
    "question": "Why?",
    "choices": ["yes", "no"],
    "meta": {"level": 3, "a.b": "dotted"},
    "a.b": "first",
    "Correct Answer": "B",
    "index": 1,
    "answer": "so it is 1,000 - 1\n#### 1,080 ",
    "none": None,
    "flag": True,
}


@pytest.mark.parametrize(
    ("written", "made"),
    [
        ("{question}\n(A) {choices[0]} (B) {choices[1]}", "Why?\n(A) yes (B) no"),
        ("{meta.level} {{not a field}} {a.b} {Correct Answer}", "3 {not a field} first B"),
        ("no field at all", "no field at all"),
        ({"field": "choices"}, ["yes", "no"]),
        ({"field": "none"}, None),
        ({"field": "answer", "after": "####"}, "1,080"),
        ({"field": "answer", "after": "####", "remove": ","}, "1080"),
        ({"field": "answer", "after": "####", "split": ","}, ["1", "080"]),
        ({"field": "Correct Answer", "split": ";"}, ["B"]),
        ({"field": "question", "split": "Why?"}, []),
        ({"field": "index", "choices": "ABCD"}, "B"),
        ({"field": "index", "choices": ["first", "second"]}, "second"),
        (["{choices[1]}", {"field": "index"}], ["no", 1]),
        ({"field": "index", "optional": True}, 1),
        ({"field": "meta.depth", "optional": True}, None),
        ({"field": "none.depth", "after": "####", "optional": True}, None),
        ({"field": "none", "choices": "AB", "optional": True}, None),
    ],
)
def test_a_rule_makes_a_field(written: Written, made: object) -> None:
    """Templates make text; an object takes a value, or reads it; a list makes a list."""
    assert rule(written).of(RECORD) == made


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("{answers}", "no field 'answers'; the fields there: 'question'"),
        ("{meta.depth}", "no field 'meta.depth': 'depth'; the fields there: 'level', 'a.b'"),
        ("{choices[2]}", "no field 'choices[2]': 2; the list there has 2 items"),
        ("{question[0]}", "what is there is 'Why?'"),
        ("{choices}", "'choices' is a list, neither text nor a number"),
        ("{none}", "'none' is null, neither text nor a number"),
        ("{flag}", "'flag' is true, neither text nor a number"),
        ({"field": "question", "after": "####"}, "'question' holds no '####'"),
        ({"field": "index", "remove": ","}, "'index' is 1, not text"),
        ({"field": "index", "remove": ",", "optional": True}, "'index' is 1, not text"),
        ({"field": "choices", "split": ";"}, "'choices' is a list, not text"),
        ({"field": "index", "choices": "A"}, "'index' is 1, not a position from 0 to 0"),
        ({"field": "flag", "choices": "AB"}, "'flag' is true, not a position from 0 to 1"),
        ({"field": "question", "choices": "AB"}, "'question' is 'Why?', not a position from 0 to 1"),
    ],
)
def test_what_a_record_lacks_is_said(written: Written, message: str) -> None:
    """A missing field, or one of another kind, is never an empty text."""
    with pytest.raises(UnfitError) as caught:
        rule(written).of(RECORD)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "written",
    ["{question", "question}", "{}", "{question:>5}", "{question!r}", "{a..b}", "{a[x]}", {"field": "a["},
     {"field": "a", "split": ";", "choices": "AB"}],
)  # fmt: skip
def test_a_rule_that_cannot_be_read_is_refused_with_the_config(written: Written) -> None:
    """A typing error in a template is found before a record is read."""
    with pytest.raises(ValueError, match=r"brace|not a path|not support|split and choices"):
        rule(written)


@given(st.text(), st.text())
def test_any_text_stands_in_a_template_and_comes_out_of_a_field(literal: str, value: str) -> None:
    """Braces that are doubled are data, and what a field holds is never read as a template."""
    doubled = literal.replace("{", "{{").replace("}", "}}")
    assert rule(doubled + "{x}").of({"x": value}) == literal + value


@pytest.mark.parametrize(("path", "is_there"), [("meta.level", True), ("meta.depth", False), ("a..b", False)])
def test_a_path_may_lead_nowhere(path: str, *, is_there: bool) -> None:
    """What is no path leads nowhere, too."""
    assert has(RECORD, path) == is_there


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("meta.level", ("level", "`fields: {level: {field: meta.level}}`")),
        ("meta.answer", ("meta_answer", "`fields: {meta_answer: {field: meta.answer}}`")),
        ("choices[0]", ("choices", '`fields: {choices: {field: "choices[0]"}}`')),
    ],
)
def test_a_field_is_made_of_what_a_path_leads_to(path: str, said: tuple[str, str]) -> None:
    """Its name is none that a record has, so that nothing is replaced, and YAML reads the rule as it is meant."""
    assert way_out(path, {"id", "answer"}) == said
