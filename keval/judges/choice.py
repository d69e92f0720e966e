"""Passes an answer that names the right one of several choices, by its letter or in its words.

No model is asked. The answer stands after the last `the answer is`, else after the last `so` or `therefore`, else at
the end. What is said to be wrong is not chosen, and of two choices, as in `A or B`, none is. An answer without a choice
scores 0, and `outcome` says so.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

from keval.errors import UsageError
from keval.judges import Case, Context, Judge, JudgeError, Judgment, Metric, Score
from keval.judges import _choices as choices
from keval.judges._answer_position import after_problems, announcement, marks, passages, unannounced
from keval.judges._choices import AmbiguousError
from keval.judges._long_texts import found_in
from keval.judges._normal_text import normal
from keval.plugins import option

METRIC = Metric("choice", 0, 1, type="binary")

CONCLUDED = re.compile(
    r"\b(?:so|therefore|thus|hence|consequently|leaving|leaves|choose|chose|pick|select)\b", re.IGNORECASE
)

_ALONE = re.compile(r"[\s*_`\"'(\[{$]*(?:(?i:option|choice|ans)\b[\s:.(\[*]*)?([A-Za-z])[\s*_`\"')\]}$.,:;!]*")
_LISTED = re.compile(r"[\s*_`\"'(\[{$]*([A-Za-z])(?:\s*[)\].:]|\s*[*_]+[.:)]?)\s*\S")
_OPENING = re.compile(r"[\s*_`\"'(]*([^,.;:!\n]{1,80}?)[*_`\"')]*(?=[,.;:!\n]|\Z)")
_WIDE = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
"""The full-width forms of ASCII, which Chinese and Japanese texts have."""

_LOWER = re.compile(r"\b((?:option|choice)\s+[(\[]?)([a-z])(?=[)\]]?\s*(?:[.,;:!?)\]]|\Z|\n))", re.IGNORECASE)
"""A choice that is named by a small letter, as in `I choose option b`."""

_MARKUP = [(re.compile(r"\\(?:boxed|text|mathrm|textbf|mathbf)\s*\{([^{}]*)\}"), r"(\1)"), (re.compile(r"\*\*|__"), "")]


@dataclass(frozen=True, kw_only=True)
class Choice(Judge):
    """One metric, `choice`: 1 and passed when the chosen letter is the golden one, else 0."""

    count: int = field(default=4, metadata=option("how many choices there are where the sample lists none"))
    choices_field: str = field(
        default="choices", metadata=option("the sample's field with the choices' texts: a list, or an object by letter")
    )
    golden_answer: Literal["letter", "position_from_0", "position_from_1"] = field(
        default="letter",
        metadata=option("what the golden answer is: a letter or a choice's text, or the choice's position"),
    )
    after: tuple[str, ...] | None = field(
        default=None,
        metadata=option(
            "texts after the last of which the answer stands; default: `the answer is` and the like; an empty list: "
            "nothing announces it"
        ),
    )
    take: Literal["stated", "first", "last"] = field(
        default="stated",
        metadata=option("which choice of several it is; `stated`: the one that the rules of this judge find"),
    )
    marker_required: bool = field(
        default=False,
        metadata=option("a choice counts only after such a text, in the answer and not in the golden one"),
    )

    def __post_init__(self) -> None:
        """Raise UsageError with all that is wrong with the options."""
        problems = after_problems(self.after)
        if self.marker_required and self.after == ():
            problems.append("marker_required: `after` is empty, so no answer has such a text")
        if not 1 < self.count <= len(string.ascii_uppercase):
            problems.append(f"count: {self.count} is not a number from 2 to 26")
        if problems:
            raise UsageError(*problems)

    @property
    def sample_fields(self) -> tuple[str, ...]:
        """The golden answer and the choices."""
        return ("answer", self.choices_field)

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The one metric."""
        return (METRIC,)

    async def judge(self, case: Case, context: Context) -> Judgment:  # noqa: ARG002 - no model is asked
        """Compare the chosen letter with the golden one."""
        texts = _by_letter(case.sample.get(self.choices_field), string.ascii_uppercase[: self.count])
        golden = self._golden(case.golden_answer or "", texts)
        if golden is None:
            return Judgment.outside(self.metrics, "the golden answer names none of the choices")
        try:
            chosen, said = await found_in(case.text, partial(self._chosen, texts=texts)), "no choice found"
        except AmbiguousError as several:
            chosen, said = None, f"names several choices, {several}"
        same = chosen == golden
        reasoning = f"{said if chosen is None else f'found {chosen}'}, expected {golden}"
        outcome = {"found": chosen, "expected": golden, "no_answer": chosen is None}
        return Judgment({METRIC.name: Score(int(same), reasoning, passed=same)}, outcome=outcome)

    def _golden(self, answer: str, texts: Mapping[str, str]) -> str | None:
        letters = list(texts)
        if self.golden_answer != "letter":
            first = 0 if self.golden_answer == "position_from_0" else 1
            place = int(answer) - first if re.fullmatch(r"[0-9]{1,3}", answer.strip()) else -1
            return letters[place] if 0 <= place < len(letters) else None
        exact = [letter for letter, text in texts.items() if text and text.strip() == answer.strip()]
        if len(exact) == 1:
            return exact[0]
        try:
            return _stated(_plain(answer), texts, announcement(_candidate(letters)))
        except AmbiguousError:
            return None

    def _chosen(self, text: str, texts: Mapping[str, str]) -> str | None:
        text, letters = _plain(text), list(texts)
        announced = announcement(_candidate(letters)) if self.after is None else marks(self.after)
        if self.take == "stated" and not self.marker_required:
            return _stated(text, texts, announced if self.after != () else None)
        parts = [] if self.after == () else list(passages(text, announced))
        if self.take == "stated":
            return next(filter(None, (_announced(part, texts) for part in parts)), None)
        named = (_named(part, texts) for part in (*parts, *(() if self.marker_required else (text,))))
        found = next(filter(None, named), None)
        return None if found is None else found[0 if self.take == "first" else -1]


def _named(part: str, texts: Mapping[str, str]) -> list[str]:
    """Return the letters of the choices that a text names: by letter, or, where it names none so, in their words."""
    return [each.letter for each in choices.mentions(part, list(texts))] or choices.in_words(part, texts)


def _by_letter(value: Any, letters: str) -> dict[str, str]:  # noqa: ANN401 - any JSON value of a sample
    """Return the choices' texts by letter; without texts the letters alone. Raises JudgeError for anything else."""
    if value is None:
        return dict.fromkeys(letters, "")
    if isinstance(value, Mapping) and value and all(re.fullmatch("[A-Z]", key) for key in value):
        return {letter: str(text) for letter, text in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str) and 1 < len(value) <= len(string.ascii_uppercase):
        return dict(zip(string.ascii_uppercase, map(str, value), strict=False))
    raise JudgeError(
        "judge_error", "the sample's choices are neither a list of 2 to 26 texts nor texts by capital letter"
    )


def _candidate(letters: Sequence[str]) -> str:
    return rf"[(\[]?(?-i:[{''.join(letters)}])\b"


def _plain(text: str) -> str:
    text = text.translate(_WIDE)
    for pattern, written in _MARKUP:
        text = pattern.sub(written, text)
    return _LOWER.sub(lambda found: found[1] + found[2].upper(), text)


def _stated(text: str, texts: Mapping[str, str], announced: re.Pattern[str] | None) -> str | None:
    """Return the letter that a text states, None if it states none. Raises AmbiguousError for several."""
    letters = list(texts)
    alone = _letter(_ALONE.fullmatch(text), letters) or _letter(_LISTED.match(text), letters, one_of=text)
    if alone is not None:
        return alone
    passed = [] if announced is None else list(passages(text, announced))
    for part in passed:
        if (found := _announced(part, texts)) is not None:
            return found
    if announced is not None:
        text = unannounced(text, announced)  # `the answer (yes or no) is` names no choice
    # What was announced is no choice: a `no` elsewhere is a word like others.
    elsewhere = dict.fromkeys(texts, "") if passed else texts
    for part, is_announced in _parts(text, elsewhere, is_prose=announced is not None):
        found = _announced(part, elsewhere) if is_announced else _concluded(part, elsewhere)
        if found is not None:
            return found
    return None


def _announced(part: str, texts: Mapping[str, str]) -> str | None:
    """Return the letter of the choice with which a passage answers. Raises AmbiguousError for several."""
    return _first(part, list(texts)) or choices.by_text(part, texts, first_of_several=True)


def _concluded(text: str, texts: Mapping[str, str]) -> str | None:
    """Return the letter of the choice that a text comes to. Raises AmbiguousError for several."""
    return _last(text, list(texts)) or choices.by_text(text, texts, first_of_several=False)


def _parts(text: str, texts: Mapping[str, str], *, is_prose: bool) -> Iterator[tuple[str, bool]]:
    """Yield where an answer may stand that nothing announces, the most telling place first; and if it begins there."""
    opening = _OPENING.match(text)
    if opening is not None and _normal(opening[1]) in {_normal(words) for words in texts.values() if words}:
        yield opening[1], True
    yield from ((line, True) for line in (*_lines_of_one_letter(text, list(texts)), *_first_line(text, texts)))
    if is_prose:
        for part in passages(text, CONCLUDED):
            yield part, True
    yield text, False


def _lines_of_one_letter(text: str, letters: Sequence[str]) -> Iterator[str]:
    """Yield the last and the first line if they are only a letter. Raises AmbiguousError for nothing but letters."""
    lines = [line for line in text.splitlines() if line.strip()]
    alone = [_letter(_ALONE.fullmatch(line), letters) for line in lines]
    if len(set(alone)) > 1 and all(alone):
        raise AmbiguousError(" and ".join(sorted(filter(None, set(alone)))))
    if any(alone):
        yield from filter(None, (alone[-1], alone[0]))


def _first_line(text: str, texts: Mapping[str, str]) -> Iterator[str]:
    """Yield the first line if it, and no other, is a choice with its words, as `C) Paris`: a list of them is none."""
    lines = text.splitlines()
    whole = [place for place, line in enumerate(lines) if _is_whole_choice(line, texts)]
    if whole == [0]:
        yield lines[0]


def _is_whole_choice(line: str, texts: Mapping[str, str]) -> bool:
    found = _LISTED.match(line)
    if found is None:
        return False
    words = _normal(texts.get(found[1].upper(), ""))
    return bool(words) and _normal(line[found.end() - 1 :]) == words


def _letter(found: re.Match[str] | None, letters: Sequence[str], one_of: str | None = None) -> str | None:
    """Return the letter of a match, None if the sample has no such choice, or if the text lists several in this way."""
    letter = found[1].upper() if found else None
    if letter not in letters:
        return None
    if one_of is None or found is None:
        return letter
    listed = {each[1].upper() for line in one_of.splitlines() if (each := _LISTED.match(line)) is not None}
    is_said = (
        listed == {letter} and all(choices.verdicts(one_of).values()) and not choices.is_denied(one_of, found.end() - 1)
    )
    return letter if is_said and not re.search(r"\banswer\b", one_of, re.IGNORECASE) else None


def _first(part: str, letters: Sequence[str]) -> str | None:
    lower = re.match(r"\s*[(\[]?([a-z])[)\]]?\s*(?:[.!,;]|because\b|since\b|$)", part)
    if lower is not None and lower[1].upper() in letters:
        return lower[1].upper()
    try:
        found = choices.first(part, letters)
    except AmbiguousError:
        decided = next((each for rest in passages(part, CONCLUDED) if (each := _first(rest, letters))), None)
        if decided is None:
            raise
        return decided
    return None if found is None else found.letter


def _last(text: str, letters: Sequence[str]) -> str | None:
    """Return the choice of the last sentence that names one; a list of choices names none. Raises AmbiguousError."""
    verdicts = choices.verdicts(text)
    true = [letter for letter, is_true in verdicts.items() if is_true]
    if len(true) == 1 < len(verdicts) and true[0] in letters:
        return true[0]
    lines = text.splitlines()
    listed = {line: each[1] for line in lines if (each := _LISTED.match(line)) is not None}
    if len(set(listed.values())) > 1:
        text = "\n".join(line for line in lines if line not in listed)
    for sentence in reversed(re.split(r"(?<=[.!?;])\s|\n", text)):
        found = choices.of_sentence(sentence, letters)
        if found is not None:
            return found
    return None


def _normal(text: str) -> str:
    return normal(text, ignore_case=True, strip=True).rstrip(".")
