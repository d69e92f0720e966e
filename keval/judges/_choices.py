"""Finds in a text which of several choices it names, by letter or by the choice's own words.

A letter counts where it stands for a choice: `(B)`, `B.`, `so B`. The article A, the pronoun I, and a choice that is
said to be wrong do not count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from keval.judges._answer_position import is_negated
from keval.judges._normal_text import WORD, normal

_WRONG = (
    r"(?:(?:is|are|was|were|seems?|looks?|can|could|must|should|would)(?:\s+be)?\s+(?:(?:both|all|also|clearly)\s+)?"
    r"(?:not\b|n['’]t|wrong|incorrect|false|excluded|eliminated|ruled\s+out|out\b|impossible|worse\b|less\b)|"
    r"(?:is|are|was|were|ca|can)n['’]t\b|cannot\b|fail(?:s|ed)?\b|"
    r"(?:does|do|did)(?:n['’]t|\s+not)\s+(?:fit|match|work|apply|follow|hold)\b|(?:would\s+)?(?:violates?|contradicts?)\b)"
)
_IS_WRONG = re.compile(_WRONG, re.IGNORECASE)
_ONE = r"[(\[*]{0,3}(?-i:[A-Z])(?!\w)[)\]*]{0,3}"
_SPAN = re.compile(
    rf"{_ONE}\s+through\s+{_ONE}|\b(?:among|between|of|from|choices?|options?)\s+{_ONE}\s*(?:-|–|—|to)\s*{_ONE}",
    re.IGNORECASE,
)
"""All choices from one to another, as in `among A through E`: none of them is named."""
_DENIED = re.compile(
    rf"(?:\bnot|\bneither|n['’]t|\brather\s+than|\binstead\s+of)(?:\s+be)?\s+(?:(?:options?|choices?)\s+)?{_ONE}"
    rf"(?:\s*,\s*{_ONE}){{0,25}}\s*,?\s*(?:or|nor|and)\s+{_ONE}(?!\s+(?:is|are|fits|must|seems|looks)\b)",
    re.IGNORECASE,
)
_WORSE = re.compile(
    r"\b(?:better|stronger|likelier|closer|more\s+\w{1,20})\s+than\s+(?:(?:option|choice|answer)\s+)?[(\[*\"']*$",
    re.IGNORECASE,
)
_RIGHT = re.compile(
    r"[)\]*]{0,3}\s+(?:is|must\s+be|seems|looks)\s+(?:\w{1,12}\s+)?(?:better|best|correct|right|true|the\s+answer)\b",
    re.IGNORECASE,
)
_BECAUSE = re.compile(r"\b(?:because|since)\b|,\s+as\b", re.IGNORECASE)
_AS_A_WORD = r"(?:\.|(?<=[)\]*]))\s{1,2}(?=\**(?:(?:in)?correct|right|wrong)\**[ ]?(?:[.,;:!(\n—-]|\Z))"
"""What stands between a choice and a verdict that says no more, as in `A. Incorrect.`; not in `A. Right triangle`."""
_VERDICT = re.compile(
    rf"(?<!\w){_ONE}(?:\s{{0,2}}[:=–—-]\s{{0,2}}|{_AS_A_WORD})"
    r"\*{0,2}(?P<verdict>true|correct|right|yes|false|incorrect|wrong|no)\b",
    re.IGNORECASE,
)
_NO_CHOICE = re.compile(r"\b(?:vitamin|hepatitis|influenza|grade|plan|appendix)\s+$", re.IGNORECASE)
"""Words after which a letter is a name."""
_RULED_OUT = re.compile(
    r"(?:\brul(?:e|es|ed|ing)\s+out|\bexclud\w+|\beliminat\w+|\breject\w*|\bdiscard\w*|\bwrong\s*[:=])\s+"
    r"(?:(?:options?|choices?|answers?|both)\s+)?[^.;:!?\n]*$",
    re.IGNORECASE,
)
_TURNED = re.compile(r"\b(?:so|but|therefore|thus|hence|leaving|leaves|which\s+leaves|then)\b", re.IGNORECASE)
_JOIN = re.compile(
    r"[)\].*\s]*(?:\s*,?\s*(?:or|and|and/or)\b|\s*[/,&])\s*(?:(?:option|choice)\s+)?[(\[*]{0,3}", re.IGNORECASE
)
_OF_WORDS = re.compile(r"[)\].*\s\"'”]*\s*(?:,?\s*\b(?:or|and|and/or)\b|[/&])\s*[(\[*\"'“]{0,3}")
"""What stands between two choices of which one is meant, if they are named in their words."""
_FOLLOWS_LETTER = re.compile(
    r"\s+(?:because|since|as|and|or|but|is|are|was|due|for|with|if|can|could|would|must|has|looks|seems|fits|matches|"
    r"makes|gives|says|means|describes|states|contains|represents|follows|holds|works|best|only)\b"
)
_BEGINS = re.compile(r"[.!?:\n]\s*[*_\"'“]*$")

POSITIVE = frozenset({"true", "correct", "right", "yes"})

WINDOW = 10
"""Characters before a letter in which a sentence may be seen to begin."""

LONGEST_JOIN = 40
"""Characters between two letters that may belong together."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A place where a text names a choice."""

    start: int
    end: int
    letter: str


def mentions(text: str, letters: Sequence[str]) -> Iterator[Mention]:
    """Yield the letters that stand for choices, in order; those that are said to be wrong are left out."""
    denied = {place for pattern in (_DENIED, _SPAN) for each in pattern.finditer(text) for place in range(*each.span())}
    found = [each for each in _letters(text, letters) if each.start not in denied and _is_choice(text, each)]
    return (each for each in found if not _is_ruled_out(text, each))


def _letters(text: str, letters: Sequence[str]) -> Iterator[Mention]:
    one = f"[{re.escape(''.join(letters))}]"
    bracketed = rf"[(\[]\s*(?P<bracketed>{one})\s*[)\]]"
    pattern = rf"(?<!\w){bracketed}|(?<!\w['’])(?<!{WORD})(?<![&.\-])(?P<bare>(?-i:{one}))(?!{WORD}|[&\-]|['’]\w|\.\w)"
    for found in re.finditer(pattern, text, re.IGNORECASE):
        letter = found["bracketed"] or found["bare"]
        yield Mention(found.start(), found.end(), letter.upper())


def _is_choice(text: str, mention: Mention) -> bool:
    """Return whether a letter is neither an article nor a pronoun."""
    if text[mention.start] in "([":
        return True
    if _NO_CHOICE.search(text, max(0, mention.start - 2 * WINDOW), mention.start):
        return False
    after = text[mention.end :]
    is_followed_by_word = re.match(r"\s+[a-z]", after) is not None
    if mention.letter == "I":
        return not is_followed_by_word
    if mention.letter != "A" or not is_followed_by_word or _FOLLOWS_LETTER.match(after):
        return True
    before = text[max(0, mention.start - WINDOW) : mention.start]
    return not (_BEGINS.search(before) or (mention.start < WINDOW and not before.strip(" *_\"'“")))


def _is_ruled_out(text: str, mention: Mention) -> bool:
    """Return whether a choice is said not to be the one, as in `not A`, `A and B are wrong` and `rule out A and B`."""
    verdict = _VERDICT.match(text, mention.start)
    if is_negated(text, mention.start) or (verdict is not None and verdict["verdict"].lower() not in POSITIVE):
        return True
    one = r"[(\[*]{0,3}[A-Za-z][)\]*]{0,3}"
    others = rf"[)\]*]{{0,3}}(?:\s*(?:,|/|and|or|&|,\s*and|,\s*or)\s+(?:(?:option|choice)\s+)?{one}){{0,25}}\s*"
    if re.compile(rf"{others}{_WRONG}", re.IGNORECASE).match(text, mention.end):
        return True
    before = text[max(0, mention.start - 80) : mention.start]
    if _WORSE.search(before):
        return True
    ruled = _RULED_OUT.search(before)
    return ruled is not None and _TURNED.search(ruled[0]) is None


def first(text: str, letters: Sequence[str]) -> Mention | None:
    """Return the first choice that is named, None without one, or if it is one of several, as in `A or B`.

    Raises AmbiguousError for several.
    """
    named = mentions(text, letters)
    chosen = next(named, None)
    following = next(named, None)
    if chosen is None or following is None or following.letter == chosen.letter:
        return chosen
    if following.start - chosen.end < LONGEST_JOIN and _JOIN.fullmatch(text, chosen.end, following.start):
        raise AmbiguousError(f"{chosen.letter} and {following.letter}")
    return chosen


def is_denied(text: str, start: int) -> bool:
    """Return whether what stands at a position says that the choice before it is wrong, as in `(A) is wrong`."""
    return _IS_WRONG.match(text, start) is not None


def verdicts(text: str) -> dict[str, bool]:
    """Return which choices are said to be true or false, as in `A: false. B: true.`."""
    return {each[0].lstrip("([*")[0]: each["verdict"].lower() in POSITIVE for each in _VERDICT.finditer(text)}


def of_sentence(sentence: str, letters: Sequence[str]) -> str | None:
    """Return the choice that a sentence is for, None if it names none.

    Of several it is the one that stands before the reason, or that is said to be right. Raises AmbiguousError else.
    """
    named = {mention.letter for mention in mentions(sentence, letters)}
    if len(named) < 2:  # noqa: PLR2004 - one choice is no question
        return next(iter(named), None)
    claimed = {mention.letter for mention in mentions(_BECAUSE.split(sentence)[0], letters)}
    right = {each.letter for each in mentions(sentence, letters) if _RIGHT.match(sentence, each.end)}
    for fewer in (claimed, right):
        if len(fewer) == 1:
            return fewer.pop()
    raise AmbiguousError(" and ".join(sorted(named)))


class AmbiguousError(Exception):
    """A text names several choices where it should name one; the message says which."""


def by_text(text: str, choices: Mapping[str, str], *, first_of_several: bool) -> str | None:
    """Return the letter of the choice whose words occur in a text, None if none does.

    Raises AmbiguousError where several occur; where the first is asked for, only if it is one of several that are named
    together, as in `Paris or London`.
    """
    said, named = _in_words(text, choices)
    if not named:
        return None
    chosen = named[0]
    following = next((each for each in named if each.letter != chosen.letter), None)
    if following is not None and not (first_of_several and not _OF_WORDS.fullmatch(said, chosen.end, following.start)):
        raise AmbiguousError(" and ".join(sorted({each.letter for each in named})))
    return chosen.letter


def in_words(text: str, choices: Mapping[str, str]) -> list[str]:
    """Return the letters of the choices whose words occur in a text, in order."""
    return [each.letter for each in _in_words(text, choices)[1]]


def _in_words(text: str, choices: Mapping[str, str]) -> tuple[str, list[Mention]]:
    """Return a text as it is compared, and the places that have a choice's words; of overlapping ones the longest."""
    letters: dict[str, list[str]] = {}
    for letter, words in choices.items():
        letters.setdefault(normal(words, ignore_case=True, strip=True).rstrip("."), []).append(letter)
    wanted = {words: named[0] for words, named in letters.items() if len(named) == 1}  # else they name several
    longest_first = sorted(filter(None, wanted), key=len, reverse=True)
    said = normal(text, ignore_case=True, strip=True)
    if not longest_first:
        return said, []
    found = re.finditer(rf"(?<!\w)(?:{'|'.join(map(_whole, longest_first))})(?!\w)", said)
    named = [Mention(each.start(), each.end(), wanted[each[0]]) for each in found]
    return said, [
        each for each in named if not is_negated(said, each.start) and not _IS_WRONG.match(said[each.end :].lstrip())
    ]


def _whole(words: str) -> str:
    """Return a pattern of words; a number is none that is a part of another, as 1 is of -1 and of 1.5."""
    before = r"(?<![-+\u2212.,/])" if words[0].isdigit() else ""
    after = r"(?![.,/]\d)" if words[-1].isdigit() else ""
    return before + re.escape(words) + after
