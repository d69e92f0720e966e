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

_BLOCK = re.compile(
    r"<(?P<name>golden_answer|answer)(?P<nonce>(?:-\w+)?)>(?P<text>(?:(?!<(?P=name)(?P=nonce)>).)*?)</(?P=name)(?P=nonce)>",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Comparison:
    """An answer beside the golden answer."""

    golden_answer: str
    answer: str

    @property
    def shared(self) -> tuple[int, int]:
        """How many of the golden answer's words the answer has, and how many there are."""
        golden = content_words(self.golden_answer)
        return len(set(golden).intersection(content_words(self.answer))), len(golden)

    @property
    def recall(self) -> float:
        """The share of the golden answer's words that the answer has, 0 to 1."""
        found, of = self.shared
        return found / of if of else float(self.answer.strip() == self.golden_answer.strip())

    @property
    def reasoning(self) -> str:
        """One sentence that says where the score comes from."""
        found, of = self.shared
        return f"The answer has {found} of the {of} content words of the golden answer ({self.recall:.0%})."

    def fraction(self, metric: str) -> float:
        """Return how good the answer is, 0 to 1: its recall, or for helpfulness half of it and half for its form."""
        if not re.search(r"helpful|clar", metric):
            return self.recall
        if not self.answer.strip():
            return 0.0
        too_long = len(self.answer.split()) > LONG * max(1, len(self.golden_answer.split()))
        return (self.recall + (0.5 if too_long else 1.0)) / 2

    def unverified_claims(self) -> list[str]:
        """Return the first sentences of the answer that share no content word with the golden answer."""
        golden = set(content_words(self.golden_answer))
        found = [each.text for each in sentences(self.answer) if golden.isdisjoint(content_words(each.text))]
        return found[:MOST_CLAIMS]

    def choose(self, path: Path, schema: JsonObject) -> object:
        """Return what a value in the judge's reply has to be, or None if any valid value will do."""
        metric = " ".join(path)
        scale = sorted(each for each in schema.get("enum", []) if isinstance(each, int | float))
        if scale and not isinstance(scale[0], bool):
            return scale[round(self.fraction(metric) * (len(scale) - 1))]
        low, high = schema.get("minimum"), schema.get("maximum")
        if schema.get("type") == "number" and low is not None and high is not None:
            return low + self.fraction(metric) * (high - low)
        if schema.get("type") == "boolean":
            return self.fraction(metric) >= 0.5  # noqa: PLR2004 - the middle between bad and good
        if schema.get("type") == "array" and "claim" in metric:
            return self.unverified_claims()
        return None


def to_compare(text: str) -> Comparison | None:
    """Return the golden answer and the answer in a judge's prompt, or None when it is not one.

    They stand in `<golden_answer-NONCE>…</golden_answer-NONCE>` and `<answer-NONCE>…</answer-NONCE>`,
    with or without a nonce; the last of each counts.
    """
    blocks = {match["name"]: match["text"].strip() for match in _BLOCK.finditer(text)}
    if set(blocks) != {"golden_answer", "answer"}:
        return None
    return Comparison(**blocks)
