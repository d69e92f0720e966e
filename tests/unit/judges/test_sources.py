import json
from typing import Any

import pytest

from keval.errors import UsageError
from keval.judges import Case, JudgeError, Judgment, Score
from keval.judges.sources import Sources
from tests.cases import context


async def judged(
    expected: Any,  # noqa: ANN401 - any JSON value
    sources: tuple[str, ...] = (),
    text: str = "",
    turns: tuple[dict[str, Any], ...] = (),
    judge: Sources | None = None,
    *,
    reports_tool_calls: bool = True,
) -> Judgment:
    """Return a judgment."""
    judge = judge or Sources()
    given = judge.given({"expected_sources": expected})
    case = Case(given, text, turns=turns, sources=sources, reports_tool_calls=reports_tool_calls)
    return await judge.judge(case, context(judge))


def numbers(judgment: Judgment, found: str) -> tuple[float | None, ...]:
    """Return hit rate, MRR, recall and success@k of what was retrieved or cited."""
    return tuple(judgment.scores[f"{found}_{name}"].score for name in ("hit_rate", "mrr", "recall", "success_at_k"))


@pytest.mark.parametrize(
    ("expected", "sources", "wanted"),
    [
        (["c"], ("a", "b", "c"), (1, 1 / 3, 1, 1)),
        (["c"], ("a", "b"), (0, 0, 0, 0)),
        (["c"], (), (0, 0, 0, 0)),
        (["b", "e"], ("a", "b", "c", "d", "e"), (1, 0.5, 1, 1)),
        (["b", "x", "y"], ("b",), (1, 1, 1 / 3, 1)),
        ("d", ("a", "a", "a", "d"), (1, 0.25, 1, 0)),
        (["Consumer behaviour"], (" consumer BEHAVIOUR ",), (1, 1, 1, 1)),
    ],
)
async def test_ranks_begin_at_1_and_duplicates_keep_theirs(
    expected: Any,  # noqa: ANN401 - any JSON value
    sources: tuple[str, ...],
    wanted: tuple[float, ...],
) -> None:
    """Hit rate, MRR, recall and success@3 of what the tools gave."""
    turns = (call("mcp__wiki__search", [{"title": title} for title in sources]),)
    assert numbers(await judged(expected, turns=turns), "retrieved") == pytest.approx(wanted)


async def test_a_question_whose_source_was_not_found_counts_as_0_in_the_mean() -> None:
    """Ranks of 1, none and 2 give a mean reciprocal rank of a half."""
    found = [await judged(["x"], sources, reports_tool_calls=False) for sources in (("x",), ("a",), ("a", "x"))]
    ranks = [numbers(judgment, "retrieved")[1] or 0 for judgment in found]
    assert sum(ranks) / len(ranks) == 0.5


@pytest.mark.parametrize("expected", [None, [], [" "]])
async def test_where_no_source_is_expected_nothing_applies(expected: Any) -> None:  # noqa: ANN401 - any JSON value
    """It is no miss."""
    judgment = await judged(expected, ("a",))
    assert set(judgment.scores.values()) == {Score(None, not_applicable="the sample expects no source", outside=True)}


@pytest.mark.parametrize(
    ("sources", "judge", "applies"),
    [((), Sources(), False), (("A",), Sources(), True), (("A",), Sources(tools=("search",)), False)],
)
async def test_what_was_retrieved_is_not_known_of_an_agent_that_does_not_report_it(
    sources: tuple[str, ...], judge: Sources, *, applies: bool
) -> None:
    """Unless it reports its sources themselves; what it cited stands in its answer."""
    judgment = await judged("A", sources, "[A]", judge=judge, reports_tool_calls=False)
    assert numbers(judgment, "cited") == (1, 1, 1, 1)
    assert numbers(judgment, "retrieved") == ((1, 1, 1, 1) if applies else (None,) * 4)
    reasons = {judgment.scores[f"retrieved_{name}"].not_applicable for name in ("hit_rate", "mrr", "recall")}
    assert reasons == {None if applies else "the agent does not report its tool calls"}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("See https://example.com/wiki/Marketing.", ("https://example.com/wiki/Marketing",)),
        ("As [the page](docs/handbook.md) and [[Marketing]] say.", ("docs/handbook.md", "Marketing")),
        ("It is so.\n\nSources:\n- Marketing\n- **Consumer behaviour**\n\nBye", ("Marketing", "Consumer behaviour")),
        ("Sources: Marketing; Consumer behaviour.", ("Marketing", "Consumer behaviour")),
        ("Says (Handbook), and \u201chandbook\u201d again", ("Handbook",)),
        ("Marketing is a handbook.", ()),
    ],
)
async def test_what_an_answer_names_as_a_source_is_cited(text: str, wanted: tuple[str, ...]) -> None:
    """Links, addresses, lists of sources; a word of the text is no citation. Tools are another matter."""
    judgment = await judged(["Handbook"], text=text)
    assert judgment.outcome is not None
    assert tuple(judgment.outcome["cited"]) == wanted
    assert judgment.scores["cited_hit_rate"].score == int("Handbook" in wanted)
    assert judgment.scores["retrieved_hit_rate"].score == 0


async def test_an_item_with_very_many_spaces_is_read_at_once() -> None:
    """What stands on both sides of them is its title; with the square of their number this would not end."""
    spaces = " " * 1_000_000
    judgment = await judged("a", text=f"Sources:\n- a{spaces}b{spaces}\n-{spaces}\n- c")
    assert judgment.outcome is not None
    assert judgment.outcome["cited"] == [f"a{spaces}b"]


def call(name: str, result: object, *, error: bool = False) -> dict[str, Any]:
    """Return a tool call, as response events hold them."""
    written = result if isinstance(result, str) else json.dumps(result)
    server = name.split("__")[1]
    return {"type": "tool_call", "name": name, "server": server, "input": {}, "result": written, "error": error}


async def test_sources_come_from_the_tools_results() -> None:
    """From their JSON or the addresses in them, in order; those of failed calls and of other tools do not."""
    turns = (
        call("mcp__wiki__search", {"results": [{"title": "A", "text": "…"}, {"url": "https://x.org/wiki/B"}]}),
        call("mcp__wiki__search", ["C"], error=True),
        call("mcp__mail__list", ["D"]),
        call("mcp__wiki__search", "found https://x.org/wiki/E"),
    )
    judgment = await judged("E", turns=turns)
    assert judgment.outcome is not None
    assert judgment.outcome["retrieved"] == ["A", "https://x.org/wiki/B", "D", "https://x.org/wiki/E"]
    judgment = await judged("E", turns=turns, judge=Sources(tools=("search",)), sources=("D",))
    assert numbers(judgment, "retrieved") == pytest.approx((1, 1 / 3, 1, 1))


async def test_what_was_retrieved_is_not_known_if_no_result_can_be_read() -> None:
    """That is no miss; one result that can be read is enough."""
    unread = call("mcp__wiki__search", "Marketing is what sells.")
    judgment = await judged("A", turns=(unread,))
    assert judgment.scores["retrieved_recall"].not_applicable == "no source could be read from what the tools gave"
    assert judgment.scores["cited_recall"].score == 0
    judgment = await judged("A", turns=(unread, call("mcp__wiki__search", [{"title": "A"}])))
    assert judgment.scores["retrieved_recall"].score == 1


@pytest.mark.parametrize(
    ("turns", "retrieved"),
    [
        ((), []),
        ((call("mcp__wiki__search", [{"title": "B"}]),), ["B"]),
        ((call("mcp__wiki__search", "Marketing is what sells."),), ["A"]),
    ],
)
async def test_sources_that_an_agent_only_says_it_used_are_none_that_its_tools_gave(
    turns: tuple[dict[str, Any], ...], retrieved: list[str]
) -> None:
    """What it says counts where nothing can be read from what they gave."""
    judgment = await judged("A", ("A",), turns=turns)
    assert judgment.outcome is not None
    assert judgment.outcome["retrieved"] == retrieved


async def test_what_is_no_source_is_an_error() -> None:
    """It is the dataset's mistake and no score."""
    with pytest.raises(JudgeError, match="neither a text nor a list of texts"):
        await judged([["A"]])


def test_k_is_at_least_1() -> None:
    """Among no sources there is none."""
    with pytest.raises(UsageError, match="k: 0 is less than 1"):
        Sources(k=0)
