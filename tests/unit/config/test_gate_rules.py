from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keval.config.gate_rules import PRESETS, Comparison, Level, Quantity, read_rule
from keval.errors import UsageError

LEVELS = [
    ("completeness >= 4.0", Quantity("completeness"), None, ">=", 4),
    ('"completeness" >= 4.0', Quantity("completeness"), None, ">=", 4),
    ("rubric/completeness of with_docs>4", Quantity("rubric/completeness"), "with_docs", ">", 4),
    ("missing <= 5%", Quantity("missing", "share"), None, "<=", 0.05),
    ("failures of with_docs < 0.1", Quantity("failures", "share"), "with_docs", "<", 0.1),
    ("pass^3 >= 0.8", Quantity("pass^K", "share", 3), None, ">=", 0.8),
    ("pass@10 of a >= 80 %", Quantity("pass@K", "share", 10), "a", ">=", 0.8),
    ("pass  rate  >= 1", Quantity("pass rate", "share"), None, ">=", 1),
    ("latency p95 <= 1500ms", Quantity("latency pNN", "seconds", 95), None, "<=", 1.5),
    ("latency p50 of a <= 2 s", Quantity("latency pNN", "seconds", 50), "a", "<=", 2),
    ("cost per answer <= $0.05", Quantity("cost per answer", "usd"), None, "<=", 0.05),
    ("tool errors <= 0", Quantity("tool errors", "share"), None, "<=", 0),
    ("score > -.5", Quantity("score"), None, ">", -0.5),
    ('x of "my  <b> 🙂 \\"c\\"" >= 3', Quantity("x"), 'my  <b> 🙂 "c"', ">=", 3),
]

COMPARISONS = [
    Comparison("with_docs higher than baseline", None, "with_docs", "baseline", ">", 0),
    Comparison("with_docs is higher than baseline by 0.5", None, "with_docs", "baseline", ">", 0.5),
    Comparison("completeness of with_docs lower than before", "completeness", "with_docs", "before", "<", 0),
    Comparison("with_docs non-inferior to baseline by 0.2", None, "with_docs", "baseline", ">", -0.2),
    Comparison("rubric/x of with_docs not lower than before by .2", "rubric/x", "with_docs", "before", ">", -0.2),
    Comparison("x of a is not higher than b by 1", "x", "a", "b", "<", 1),
    Comparison("a lower than b by 1", None, "a", "b", "<", -1),
    Comparison('x of "my a" lower than "my b" by 1', "x", "my a", "my b", "<", -1),
    Comparison('"x" of a lower than ⟦1⟧', "x", "a", "⟦1⟧", "<", 0),
]

MISTAKES = [
    ("completeness", "it compares nothing; write >=, >, <= or < and a number"),
    ("completeness = 4", "'=' is not >=, >, <= or <; a mean is never exactly a number"),
    ("x of a = b", "two rules: `x of a not lower than b by 0.2` and `x of a not higher than b by 0.2`"),
    ("a better than b", "write `a higher than b`"),
    ("x of a at least as good as b", "write `x of a not lower than b by 0.2`"),
    ("pass rate above 80%", "write `pass rate > 80%`"),
    ("completeness >= four", "'four' is not a number"),
    ("tool errors > baseline", "'baseline' is not a number"),
    ("with_docs > baseline", "to compare two conditions write `with_docs higher than baseline`"),
    ("x of with_docs<baseline", "write `x of with_docs lower than baseline`"),
    ("with_docs >= baseline", "write `with_docs not lower than baseline by 0.2`"),
    ("completeness >= 80%", "'80%' is no score, which is a plain number"),
    ("misssing <= 5%", "did you mean 'missing' by 'misssing'?"),
    ("mising rate <= 5%", "nothing is called 'mising rate'; did you mean 'missing'?"),
    ("missing <= 5", "missing is a share, from 0% to 100%; 5 is none"),
    ("latency p95 <= 5%", "'5%' is no time, such as 30s or 500ms"),
    ("cost per answer <= 3s", "'3s' is no amount of dollars, such as $0.05"),
    ("cost per answer of a not higher than baseline by 0.1", "write `cost per answer of a <= 120% of baseline`"),
    ("failures <= 120% of baseline", "a share of another's is a limit of costs and times"),
    (
        "missing <= 5% for each topic",
        "not missing; hold a metric to a score, as in `METRIC >= 0.5 for each topic`",
    ),
    ("x for each topic >= 1", "`for each` stands at the end; write `x >= 1 for each topic`"),
    ("pass@3 <= 120% of baseline", "hold pass@3 to a number, as in `pass@3 >= 80%`"),
    ("x >= 1 for each customer tier", "a field with a space in its name stands in double quotes"),
    (
        "failures not higher than before",
        "only scores are compared so; hold failures to a number",
    ),
    ("failures not higher than before by 0.1", "hold failures to a number"),
    ("failures <= 100% of before", "a limit of costs and times; hold failures to a number"),
    ("latency p95 not higher than before", "write `latency p95 <= 120% of before`"),
    ("cost <= $1", "did you mean 'cost per answer' by 'cost'?"),
    ("x of a lower than before for each topic", "compared with the baseline of the same log alone"),
    ("x >= 1 for each topic for each level", "asks for each of two fields"),
    ("completeness >= \uff10.5", "'\uff10.5' is not a number"),
    ("pass^0 >= 0.5", "pass^K begins at 1"),
    ("pass^5 of a not lower than before by 0.1", "hold pass^5 to a number, as in `pass^5 of a >= 80%`"),
    ("missing of a lower than baseline", "hold missing to a number, as in `missing of a <= 80%`"),
    ("a hihger than b", "did you mean 'higher than' by 'hihger than'?"),
    ("a not lower than b", "does not say by how much; add, for example, `by 0.2`"),
    ("a higher than b by lots", "'lots' is no margin; it is a number from 0 on"),
    ("a not lower than b by 5 points", "'5 points' is no margin; it is a number from 0 on, of the metric's scale"),
    ("a not lower than b by 5%", "'5%' is no margin; it is a number from 0 on, of the metric's scale"),
    ("a higher than b by inf", "'inf' is no margin"),
    ('x of "my condition" above four', 'write `x of "my condition" higher than four`'),
    ('x of "a\\q" >= 1', '"a\\q" is no JSON string'),
    ("x of my condition higher than b", "each one word, or in double quotes"),
    ("my condition not lower than b by 0.1", 'a name with a space in it stands in double quotes, as "my condition"'),
    (
        "completeness of my condition >= 4",
        "nothing is called 'completeness of my condition'; a name with a space in it",
    ),
    ("", "it compares nothing"),
]


@pytest.mark.parametrize(("text", "quantity", "condition", "sign", "limit"), LEVELS)
def test_a_level_is_read(text: str, quantity: Quantity, condition: str | None, sign: str, limit: float) -> None:
    """Quantity, condition, sign and limit are what the line says; units become shares, seconds and dollars."""
    rule = read_rule(text)
    assert isinstance(rule, Level)
    assert (rule.quantity, rule.condition, rule.sign) == (quantity, condition, sign)
    assert rule.limit == pytest.approx(limit)


@pytest.mark.parametrize(
    "text", ["x >= 1" + " for each b" * 3000, "a >= " + "1" * 10**5, "pass@" + "1" * 5000 + " >= 5%"]
)
def test_a_rule_of_thousands_of_characters_is_refused_at_once(text: str) -> None:
    """The patterns that read rules would take minutes for it, and numbers have no end."""
    with pytest.raises(UsageError, match="a rule has at most 1,000"):
        read_rule(text)


@given(st.integers(0, 1000))
def test_a_share_in_percent_is_the_share(tenths: int) -> None:
    """To the last bit: a number that equals its limit is on the same side of it, however the limit is written."""
    rule = read_rule(f"pass rate >= {tenths / 10}%")
    assert isinstance(rule, Level)
    assert rule.limit == (tenths / 10) / 100
    assert read_rule(f"latency p50 <= {tenths}ms").limit == tenths / 1000


@pytest.mark.parametrize("expected", COMPARISONS, ids=lambda rule: rule.text)
def test_a_comparison_is_a_side_of_a_margin(expected: Comparison) -> None:
    """Each relation comes to a sign and a limit of the difference."""
    assert read_rule(expected.text) == expected


@pytest.mark.parametrize(("text", "said"), MISTAKES)
def test_a_mistake_is_named(text: str, said: str) -> None:
    """What is wrong is said with the rule, and what may be meant where something is near."""
    with pytest.raises(UsageError) as error:
        read_rule(text)
    assert str(error.value).startswith(f"rule {text!r}: ")
    assert said in str(error.value)


@settings(max_examples=60)
@given(st.text(max_size=30) | st.lists(st.sampled_from(
    ["a", "of", "higher", "than", "not", "lower", "by", "0.2", ">=", "<", "5%", "$", "pass^3", "missing", "latency p95",
     '"a b"', "⟦1⟧"]
), max_size=7).map(" ".join))  # fmt: skip
def test_any_line_is_a_rule_or_a_usage_error(text: str) -> None:
    """No line ends in a bug, and a rule has a number as its limit."""
    try:
        rule = read_rule(text)
    except UsageError:
        return
    assert rule.limit == rule.limit


def test_a_limit_may_be_a_share_of_anothers() -> None:
    """Of costs and times: the limit is the share, and the rule says of whose."""
    cost = Quantity("cost per answer", "usd")
    assert read_rule("cost per answer of a <= 120% of baseline") == Level(
        "cost per answer of a <= 120% of baseline", cost, "a", "<=", 1.2, "baseline"
    )
    slow = read_rule('latency p95 < 99.5 % of "my base"')
    assert slow == Level(slow.text, Quantity("latency pNN", "seconds", 95), None, "<", 0.995, "my base")


def test_a_rule_may_be_asked_of_each_group() -> None:
    """Of samples, by a field whose name may be quoted; nothing else of the rule changes."""
    rule = read_rule('x of a not lower than b by 1 for each "my topic"')
    assert rule == Comparison(rule.text, "x", "a", "b", ">", -1, "my topic")
    level = read_rule("x >= 3 for each topic")
    assert level == Level(level.text, Quantity("x"), None, ">=", 3, by="topic")


def test_presets_are_rules_of_two_levels() -> None:
    """The minimum asks for less than the target, strictly above each limit."""
    minimum, target = ([read_rule(rule) for rule in rules] for rules in PRESETS.values())
    assert [rule.limit for rule in minimum] == [0.8, 0.7, 0.75]
    assert [rule.limit for rule in target] == [0.9, 0.85, 0.85, 1.2]
    assert {rule.sign for rule in minimum + target} == {">"}
