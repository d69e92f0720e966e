from typing import Any

import pytest

from keval.errors import UsageError
from keval.judges import Case, Score
from keval.judges.trajectory import Trajectory
from tests.cases import context


def call(name: str, *, error: bool = False, **arguments: Any) -> dict[str, Any]:  # noqa: ANN401 - any argument
    """Return a tool call, as response events hold them."""
    server = "wiki" if name.startswith("mcp__wiki__") else None
    return {
        "type": "tool_call", "id": "1", "name": name, "server": server, "input": arguments, "result": "r",
        "error": error, "duration_ms": 1,
    }  # fmt: skip


WAY = (
    call("mcp__wiki__search", query="consumer behaviour"),
    {"type": "text", "text": "Let me read on."},
    call("mcp__wiki__get_page", title="Consumer behaviour", limit=5),
    call("mcp__wiki__get_page", title="Marketing"),
)


async def score(turns: tuple[dict[str, Any], ...] = WAY, **options: Any) -> Score:  # noqa: ANN401 - any option
    """Return the one score of a judgment."""
    judge = Trajectory(**options)
    return (await judge.judge(Case({}, "x", turns), context(judge))).scores["trajectory"]


@pytest.mark.parametrize(
    ("options", "passed"),
    [
        ({"at_least": {"search": 1}}, True),
        ({"at_least": {"get_page": 2}}, True),
        ({"at_least": {"get_page": 3}}, False),
        ({"at_least": {"mcp__wiki__search": 1}}, True),
        ({"at_least": {"arch": 1}}, False),
        ({"at_least": {"*": 3}}, True),
        ({"at_most": {"search": 1, "*": 3}}, True),
        ({"at_most": {"get_page": 1}}, False),
        ({"at_most": {"delete": 0}}, True),
        ({"order": ("search", "get_page")}, True),
        ({"order": ("search", "get_page", "get_page")}, True),
        ({"order": ("get_page", "search")}, False),
        ({"arguments": {"get_page": {"title": "^Consumer", "limit": "^5$"}}}, True),
        ({"arguments": {"get_page": {"title": "^Marketing", "limit": "5"}}}, False),
        ({"arguments": {"search": {"page": ""}}}, False),
        ({}, True),
    ],
)
async def test_each_expectation_is_compared_with_the_calls(options: dict[str, Any], *, passed: bool) -> None:
    """Tools by their own name or with their server's."""
    assert (await score(**options)).passed is passed


async def test_a_failed_call_is_one_that_nobody_expects() -> None:
    """Unless it does not matter."""
    failed = (call("mcp__wiki__search", error=True),)
    assert await score(failed) == Score(0, "not met: no failed call (mcp__wiki__search)", passed=False)
    assert (await score(failed, no_errors=False, at_least={"search": 1})).passed
    nameless = (call("", error=True),)
    assert await score(nameless) == Score(0, "not met: no failed call (without a name)", passed=False)


async def test_the_score_is_the_share_of_the_expectations_that_are_met() -> None:
    """What is not met is named."""
    found = await score(at_least={"search": 1, "get_page": 3}, order=("get_page", "search"))
    assert (found.score, found.passed) == (0.5, False)
    assert found.reasoning == "not met: get_page at least 3 times (called 2); the order get_page, search"


async def test_where_nothing_is_expected_nothing_passes() -> None:
    """The metric does not apply."""
    assert (await score(no_errors=False)).not_applicable == "nothing is expected"


async def test_what_an_agent_does_not_report_is_not_taken_for_no_call() -> None:
    """Else an agent that says nothing would be the one that calls least."""
    judge = Trajectory(at_most={"*": 1})
    judgment = await judge.judge(Case({}, "x", reports_tool_calls=False), context(judge))
    assert judgment.scores["trajectory"].not_applicable == "the agent does not report its tool calls"


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"arguments": {"search": {"query": "("}}}, "is not a regular expression"),
        ({"at_least": {"search": 2}, "at_most": {"search": 1}}, "contradict each other"),
        ({"at_least": {"search": -1}}, "is no number of calls"),
    ],
)
def test_expectations_that_make_no_sense_are_refused(options: dict[str, Any], problem: str) -> None:
    """Before anything is judged."""
    with pytest.raises(UsageError, match=problem):
        Trajectory(**options)
