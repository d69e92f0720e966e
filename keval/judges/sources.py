"""Compares where an answer comes from with the sources that the sample expects: hit rate, rank, recall.

No model is asked. Two lists are scored apart: `retrieved`, what the agent's tools gave it, in order, and `cited`, what
the answer itself names. A source is a title, a path or an address. Case, spaces and underscores do not count, and a
title or path is the address that ends with it, so that `https://en.wikipedia.org/wiki/Consumer_behaviour` is
`consumer behaviour`; two addresses are compared whole. Ranks begin at 1.

What the tools gave goes before the sources that an agent says it used, which count only where the tools' results are
not reported or cannot be read. Where there is neither, what was retrieved is not known, and its metrics are not
applicable. A result is read as JSON, several documents of it too, as lines such as `Title: …`, and as addresses.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any, ClassVar

from keval.errors import UsageError
from keval.judges import TOOL_CALLS_UNKNOWN, Case, Context, Judge, Judgment, Metric, Score
from keval.judges._sample_texts import sample_texts
from keval.judges._source_names import AFTER_ADDRESS, are_same, distinct
from keval.judges._tool_sources import ADDRESS, sources_in
from keval.plugins import option
from keval.tool_names import is_tool

NUMBERS = {
    "hit_rate": "Whether any expected source is there",
    "mrr": "One divided by the rank of the first expected source",
    "recall": "The share of the expected sources that is there",
    "success_at_k": "Whether an expected source is among the first k",
}

NO_SOURCE_READ = "no source could be read from what the tools gave"

_LINK = re.compile(r"\[([^\[\]\n]{1,200})\]\((?!https?://)([^()\s]{1,500})\)|\[\[([^\[\]\n]{1,200})\]\]")
_HEADING = re.compile(
    r"^\W*(?:sources?|references?|citations?)\W*$|^\W*(?:sources?|references?)\s*:\s*(?P<rest>\S.*)$", re.IGNORECASE
)
_ITEM = re.compile(r"^\s*(?:[-*•]|\d+[.)]|\[\d+\])\s++(?P<title>.+)")


@dataclass(frozen=True, kw_only=True)
class Sources(Judge):
    """Four metrics of what was retrieved, and four of what was cited."""

    needs_golden_answer: ClassVar[bool] = False
    uses_tool_calls: ClassVar[bool] = True

    expected_field: str = field(
        default="expected_sources", metadata=option("the sample's field with the expected source, or a list of them")
    )
    k: int = field(default=3, metadata=option("how many sources count for success_at_k"))
    tools: tuple[str, ...] = field(
        default=(), metadata=option("names of the tools whose results count, as in `search`; default: all tools")
    )
    result_keys: tuple[str, ...] = field(
        default=("title", "url", "path", "source", "page"),
        metadata=option("keys under which a tool's result names a source; the first that is there counts"),
    )

    def __post_init__(self) -> None:
        """Raise UsageError for a k below 1."""
        if self.k < 1:
            raise UsageError(f"k: {self.k} is less than 1")

    @property
    def sample_fields(self) -> tuple[str, ...]:
        """The expected sources."""
        return (self.expected_field,)

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The numbers, for both lists."""
        return tuple(
            Metric(
                f"{found}_{name}",
                0,
                1,
                type="binary" if name in {"hit_rate", "success_at_k"} else "continuous",
                description=f"{description}, of what was {found}.",
            )
            for found in ("retrieved", "cited")
            for name, description in NUMBERS.items()
        )

    async def judge(self, case: Case, context: Context) -> Judgment:  # noqa: ARG002 - no model is asked
        """Compare both lists with what is expected."""
        expected = sample_texts(case.sample[self.expected_field], self.expected_field)
        if not expected:
            return Judgment.outside(self.metrics, "the sample expects no source")
        unknown = NO_SOURCE_READ if case.reports_tool_calls else TOOL_CALLS_UNKNOWN
        found: dict[str, list[str] | None] = {"retrieved": self._retrieved(case), "cited": cited(case.text, expected)}
        scores = {
            f"{name}_{number}": score
            for name, sources in found.items()
            for number, score in _scores(sources, expected, self.k, unknown).items()
        }
        return Judgment(scores, outcome={"expected": list(expected), **found})

    def _retrieved(self, case: Case) -> list[str] | None:
        """Return the sources that the tools gave, in order, None if not known; duplicates keep their ranks.

        What an agent says of its sources cannot show that it has read them.
        """
        said = list(case.sources) if case.sources and not self.tools else None
        if not case.reports_tool_calls:
            return said
        calls = (turn for turn in case.turns if turn.get("type") == "tool_call" and not turn.get("error"))
        results = (call["result"] for call in calls if self._counts(call) and isinstance(call.get("result"), str))
        read = [sources_in(result, self.result_keys) for result in results if result.strip()]
        if read and all(sources is None for sources in read):
            return said
        return [source for sources in read for source in sources or ()]

    def _counts(self, call: Mapping[str, Any]) -> bool:
        return not self.tools or any(is_tool(call, name) for name in self.tools)


def _scores(sources: Sequence[str] | None, expected: Sequence[str], k: int, unknown: str) -> Mapping[str, Score]:
    if sources is None:
        return dict.fromkeys(NUMBERS, Score(None, not_applicable=unknown))
    wanted = distinct(expected)
    ranks = [rank for rank, source in enumerate(sources, start=1) if any(are_same(source, each) for each in expected)]
    there = [each for each in wanted if any(are_same(source, each) for source in sources)]
    return {
        "hit_rate": Score(int(bool(ranks))),
        "mrr": Score(1 / ranks[0] if ranks else 0),
        "recall": Score(len(there) / len(wanted)),
        "success_at_k": Score(int(bool(ranks) and ranks[0] <= k)),
    }


def cited(text: str, expected: Sequence[str]) -> list[str]:
    """Return what an answer names as its sources, in order: addresses, links, and the items of its list of sources.

    An expected source that stands in brackets or quotes is cited, too.
    """
    marked = [rf"[\[(\"“«]\s*{re.escape(source)}\s*[\])\"”»]" for source in expected]
    found = [(each.start(), each[0].strip(' []()"“”«»')) for each in re.finditer("|".join(marked), text, re.IGNORECASE)]
    found += [(each.start(), each[0].rstrip(AFTER_ADDRESS)) for each in ADDRESS.finditer(text)]
    found += [(each.start(), each[3] or each[2]) for each in _LINK.finditer(text)]
    found += list(_listed(text))
    return distinct(source for _, source in sorted(found, key=itemgetter(0)))


def _listed(text: str) -> Iterator[tuple[int, str]]:
    """Yield the items of the lists under headings such as `Sources:`, with their places."""
    is_list, place = False, 0
    for line in text.splitlines(keepends=True):
        heading, item = _HEADING.match(line.rstrip("\n")), _ITEM.match(line)
        if heading is not None:
            is_list = True
            if heading["rest"]:
                yield from (
                    (place, part.strip().rstrip(".")) for part in re.split(r"[;,]", heading["rest"]) if part.strip()
                )
        elif is_list and item is not None and not ADDRESS.search(line) and not _LINK.search(line):
            yield place, item["title"].rstrip().strip('*_"“”')
        elif line.strip() and item is None:
            is_list = False
        place += len(line)
