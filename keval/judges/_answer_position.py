"""Finds where in a text its answer stands: after the last of the words that announce one.

What is corrected counts: in `#### 10 … no, #### 12` the answer stands after the second mark. An answer that is taken
back at once (`The answer is 7. That is wrong.`) does not count, nor one that is only supposed (`if …, it would be 7`),
or doubted (`I do not think that the answer is 7`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

_ANNOUNCED = r"""
    \#\#\#\# | \\boxed\s*\{ | <(?:final_)?answer> | 答案\s*(?:是|为|為|:|：)[:：]?
    | \b(?:answer|choice|option)(?:\s*\([^()\n]{1,40}\))?[*_"']{0,4}
      (?:\s+(?:is|was|would\s+be|must\s+be|should\s+be)\b\s*:? | \s*[:=])
"""
_CORRECTED = r"""
    | \b(?:(?:wait|correction|sorry|no)\s{0,4}[,:.!…—-]{1,4}|actually\b,?)\s*
      (?:actually,?\s*)?(?:(?:it|that)(?:\s+is|\s+should\s+be|['’]s)\s+|make\s+that\s+)?
"""
_SENTENCE_END = re.compile(r"[.!?](?=\s|$)|\n")
_NEGATED = re.compile(
    r"(?:\b(?:can)?not|\bneither|\bnor|n['’]t|\brather\s+than|\binstead\s+of|\banything\s+but|\bother\s+than)(?:\s+be)?"
    r"(?:\s+(?:option|choice|answer))?\s+[(\[\"'*$]*$",
    re.IGNORECASE,
)
_TAKEN_BACK = re.compile(
    r"\A(?:[^.!?\n]|[.!?](?=\S)){0,200}[.!?\n]\s*(?:(?:no|wait|but|hmm)\b[,.!]?\s*)?(?:that|this|it)(?:['’]s|\s+is|\s+was)"
    r"\s+(?:wrong|incorrect|false|not\s+right|not\s+correct|a\s+mistake)\b(?!\s+(?:to|if|only|unless|when)\b)[.,;:!]?\s*",
    re.IGNORECASE,
)
_NO_DOUBT = (
    "".join(rf"(?<!\b{word} )" for word in ("no", "not", "any", "never", "little", "beyond", "without")) + "(?<!n't )"
)
_DOUBTED = re.compile(
    r"(?:(?:\bnot|n['’]t|\bnever)\s+(?:really\s+)?(?:think|believe|say|claim|agree|sure|certain|convinced|true|the\s+case)"
    rf"|{_NO_DOUBT}\bdoubt(?:s|ed|ful)?|{_NO_DOUBT}\b(?:false|wrong|incorrect|untrue)\s+(?:that|to\s+say))"
    r"\s+(?:(?:that|if|whether)\s+)?(?:(?:the|my|your|this|that|correct|right|final)\s+){0,3}$",
    re.IGNORECASE,
)
_NOTHING_SAID = re.compile(r"\s*[.!?](?=\s)")
"""A sentence that ends where its answer would stand: what comes after it was not announced."""
_SUPPOSED = re.compile(r"\bif\b[^.!?\n]*$", re.IGNORECASE)

FURTHEST_BACK = 400
"""Characters after an announcement within which an answer is taken back."""


def announcement(candidate: str) -> re.Pattern[str]:
    """Return a pattern of words that announce an answer; words of correction do if an answer follows at once.

    `candidate` is a pattern of how an answer begins.
    """
    return re.compile(rf"{_ANNOUNCED}{_CORRECTED}(?={candidate})", re.VERBOSE | re.IGNORECASE)


def after_problems(after: Sequence[str] | None) -> list[str]:
    """Return what is wrong with a judge's option `after`."""
    return [] if all(after or ()) else ["after: an empty text is everywhere"]


def marks(texts: Sequence[str]) -> re.Pattern[str]:
    """Return a pattern of texts that announce an answer, in any case."""
    return re.compile("|".join(map(re.escape, texts)), re.IGNORECASE)


def passages(text: str, announced: re.Pattern[str]) -> Iterator[str]:
    """Yield the passages that are announced, the last one first; each ends where the next one is announced."""
    end = len(text)
    for found in reversed([*announced.finditer(text)]):
        if _is_unmeant(text, found):
            continue
        passage = _TAKEN_BACK.sub("", text[found.end() : end])
        if not _NOTHING_SAID.match(passage):
            yield passage
        end = found.start()


def unannounced(text: str, announced: re.Pattern[str]) -> str:
    """Return a text without the words that announce an answer, and without answers that are taken back or doubted."""
    parts, end = [], 0
    for found in announced.finditer(text):
        if found.start() < end:
            continue
        parts.append(text[end : found.start()])
        end = _end_of_unmeant(text, found)
    return " ; ".join([*parts, text[end:]])


def _end_of_unmeant(text: str, found: re.Match[str]) -> int:
    """Return where an answer ends that is taken back or doubted; else where its announcement does."""
    taken_back = _TAKEN_BACK.match(text[found.end() : found.end() + FURTHEST_BACK])
    if taken_back is not None:
        return found.end() + taken_back.end()
    return found.end() + len(sentence(text, found.end())) if _is_doubted(text, found) else found.end()


def _is_unmeant(text: str, found: re.Match[str]) -> bool:
    """Return whether an answer is only supposed, as in `if it were so, the answer would be`, or doubted."""
    before = text[max(0, found.start() - 200) : found.start()]
    is_supposed = "would" in found[0].lower() and _SUPPOSED.search(before) is not None
    return is_supposed or _is_doubted(text, found)


def _is_doubted(text: str, found: re.Match[str]) -> bool:
    return _DOUBTED.search(text, max(0, found.start() - 200), found.start()) is not None


def sentence(text: str, start: int = 0) -> str:
    """Return the rest of a sentence or line from a position on."""
    found = _SENTENCE_END.search(text, start)
    return text[start : found.start() if found else len(text)]


def is_negated(text: str, start: int) -> bool:
    """Return whether what begins at a position is said not to be the answer, as in `not 5 but 7`."""
    return _NEGATED.search(text, max(0, start - 30), start) is not None
