"""How the stand-in judges: by the share of the golden answer's content words that the answer has."""

from __future__ import annotations

import re
from dataclasses import dataclass

from keval.ids import JsonObject
from keval.mock.filling import Path
from keval.mock.words import content_words, sentences

MOST_CLAIMS = 2
"""No more unverified claims are listed."""

LONG = 4
"""An answer with more than this many times the golden answer's words is less helpful."""

REFERENCES = ("golden_answer", "tool_results", "question")
"""What an answer is compared with: the first of these that the prompt holds."""

AGAINST = re.compile(
    r"^(un|non|not_|no_)|_not_|missing|missed|lack|omi(t|ss)|absent|violat|irrelevant|differ|wrong|incorrect|inaccura"
    r"|error|mistake|false|contradict|fabricat|hallucinat|refut|fail"
)
"""Names of lists that tell against an answer."""

DOUBT = re.compile(r"partial|uncertain")
"""Names of lists in which the stand-in puts nothing: it has no doubts."""

_BLOCK = re.compile(
    r"<(?P<name>golden_answer|tool_results|question|answer|first_answer|second_answer)(?P<nonce>(?:-\w+)?)>"
    r"(?P<text>(?:(?!<(?P=name)(?P=nonce)>).)*?)</(?P=name)(?P=nonce)>",
    re.DOTALL,
)

WINNERS = {"first", "second", "tie"}
"""What a judge of two answers is asked for."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """An answer beside the text that it is judged by, such as the golden answer."""

    reference: str
    answer: str
    called: str = "golden answer"
    """What the reference is."""
    other: str | None = None
    """The second answer, where two are compared."""

    @property
    def shared(self) -> tuple[int, int]:
        """How many of the reference's words the answer has, and how many there are."""
        wanted = content_words(self.reference)
        return len(set(wanted).intersection(content_words(self.answer))), len(wanted)

    @property
    def recall(self) -> float:
        """The share of the reference's words that the answer has, 0 to 1."""
        found, of = self.shared
        return found / of if of else float(self.answer.strip() == self.reference.strip())

    @property
    def reasoning(self) -> str:
        """One sentence that says where the score comes from."""
        found, of = self.shared
        return f"The answer has {found} of the {of} content words of the {self.called} ({self.recall:.0%})."

    @property
    def winner(self) -> str:
        """Which of two answers has more of the reference."""
        other = Comparison(self.reference, self.other or "").recall
        return "tie" if self.recall == other else "first" if self.recall > other else "second"

    def fraction(self, metric: str) -> float:
        """Return how good the answer is, 0 to 1: its recall, or for helpfulness half of it and half for its form."""
        if not re.search(r"helpful|clar", metric):
            return self.recall
        if not self.answer.strip():
            return 0.0
        too_long = len(self.answer.split()) > LONG * max(1, len(self.reference.split()))
        return (self.recall + (0.5 if too_long else 1.0)) / 2

    def listed(self, *, sharing: bool) -> list[str]:
        """Return the first sentences of the answer that share a content word with the reference, or that share none."""
        wanted = set(content_words(self.reference))
        found = [each.text for each in sentences(self.answer) if wanted.isdisjoint(content_words(each.text)) != sharing]
        return found[:MOST_CLAIMS]

    def choose(self, path: Path, schema: JsonObject) -> object:
        """Return what a value in the judge's reply has to be, or None if any valid value will do."""
        metric = " ".join(path)
        if set(map(str, schema.get("enum", []))) == WINNERS:
            return self.winner
        scale = sorted(each for each in schema.get("enum", []) if isinstance(each, int | float))
        if scale and not isinstance(scale[0], bool):
            return scale[round(self.fraction(metric) * (len(scale) - 1))]
        low, high = schema.get("minimum"), schema.get("maximum")
        if schema.get("type") == "number" and low is not None and high is not None:
            return low + self.fraction(metric) * (high - low)
        if schema.get("type") == "boolean":
            return self.fraction(metric) >= 0.5  # noqa: PLR2004 - the middle between bad and good
        if schema.get("type") == "array" and path:
            return self._list(path)
        return None

    def _list(self, path: Path) -> list[str] | None:
        """Return what a list holds; one for doubts, or for what speaks for an answer outside of a metric, is left open.

        The lists of a metric hold the reference's words that the answer has, and those that it lacks, so that their
        share is the metric's score. What tools returned need not all be in an answer: of it sentences are listed.
        """
        against = AGAINST.search(path[-1]) is not None
        if len(path) == 1:
            return self.listed(sharing=False) if against else None
        if DOUBT.search(path[-1]):
            return None
        if self.called == "tool results":
            return self.listed(sharing=not against)
        there = set(content_words(self.answer))
        return [word for word in content_words(self.reference) if (word in there) != against]


def to_compare(text: str) -> Comparison | None:
    """Return what a judge's prompt compares, or None when it is no judge's prompt.

    The texts stand in `<answer-NONCE>…</answer-NONCE>` and so on, with or without a nonce; the last of each counts.
    """
    blocks = {match["name"]: match["text"].strip() for match in _BLOCK.finditer(text)}
    reference = next((name for name in REFERENCES if name in blocks), None)
    answer = blocks.get("answer", blocks.get("first_answer"))
    if reference is None or answer is None:
        return None
    return Comparison(blocks[reference], answer, reference.replace("_", " "), blocks.get("second_answer"))
