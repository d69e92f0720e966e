"""A mapping is read as a whole, or refused with what is wrong in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from keval.config.import_mapping import load, mistyped
from keval.errors import InputError, UsageError


@pytest.mark.parametrize(
    ("mapping", "told"),
    [
        ("sample: {question: '{q'}", "mapping.yaml:1: $.sample.question: expected '}'"),
        ("respons: {}", "mapping.yaml:1: $.respons: unknown key 'respons'; did you mean 'response'?"),
        (
            "judges: [{name: b, metrics: {m: {score: x, min: 1, max: 1}}}]",
            "mapping.yaml:1: $.judges[0].metrics.m.min: min 1 is not below max 1",
        ),
        (
            "judges: [{name: b, metrics: {m: {score: x, min: 0, max: 1, pass_from: 2}}}]",
            "$.judges[0].metrics.m.pass_from: 2 is out",
        ),
    ],
)
def test_a_mapping_that_cannot_work_is_refused(tmp_path: Path, mapping: str, told: str) -> None:
    """A typing error in it is found before a row is read."""
    (tmp_path / "mapping.yaml").write_text(mapping)
    with pytest.raises(InputError) as caught:
        load(tmp_path / "mapping.yaml", {}, "rows")
    assert told in str(caught.value)


def test_all_that_is_wrong_with_a_mapping_is_said_at_once(tmp_path: Path) -> None:
    """Each problem has its own line."""
    (tmp_path / "mapping.yaml").write_text(
        "sample:\n  question: '{q'\nresponse:\n  text: {field: 'a..b'}\n  tool_calls: {each: calls, name: '{n'}\n"
        "judges:\n- {name: b, metrics: {m: {score: '{', min: 0, max: 0}}}\n"
        "- {name: b, metrics: {m: {score: x, min: 0, max: 1}}}\n"
    )
    with pytest.raises(InputError) as caught:
        load(tmp_path / "mapping.yaml", {}, "rows")
    told = [problem.removeprefix(f"{tmp_path}/mapping.yaml:").split(": ")[:2] for problem in caught.value.problems]
    assert told == [
        ["2", "$.sample.question"],
        ["4", "$.response.text"],
        ["5", "$.response.tool_calls.name"],
        ["7", "$.judges[0].metrics.m.min"],
        ["7", "$.judges[0].metrics.m.score"],
        ["8", "$.judges[1].name"],
    ]


def test_a_rule_of_the_command_line_that_cannot_be_read_is_a_usage_error() -> None:
    """It names the option and the field."""
    with pytest.raises(UsageError, match=r"--map text: "):
        load(None, {"text": "{"}, "rows")


def test_agents_and_judges_are_known_by_what_is_said_of_them(tmp_path: Path) -> None:
    """Another name, model or scale is another agent or judge; how their fields are found is not part of it."""
    path = tmp_path / "mapping.yaml"

    def ids(agent: str, score: str, highest: int) -> tuple[str, str]:
        path.write_text(
            f"agent: {{name: {agent}}}\n"
            f"judges: [{{name: b, metrics: {{m: {{score: '{score}', min: 0, max: {highest}}}}}}}]"
        )
        read = load(path, {}, "rows")
        return read.agent_id, read.judges[0].judge_id

    assert ids("a", "{x}", 1) == ids("a", "{y}", 1)
    assert ids("a", "{x}", 1)[0] != ids("b", "{x}", 1)[0]
    assert ids("a", "{x}", 1)[1] != ids("a", "{x}", 5)[1]


def test_a_rule_that_is_called_almost_like_another_is_told() -> None:
    """A sample may have any field, so it is not refused."""
    assert list(mistyped(["tetx", "text", "category", "conditon"])) == [("tetx", "text"), ("conditon", "condition")]
