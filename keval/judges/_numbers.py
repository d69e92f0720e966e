r"""Finds the numbers in a text and reads them exactly.

A run of digits and of what joins digits is one number or none: `1,234.5` and `1/2` are numbers, `3-5`, `10:30` and
`1.2.3` are not, and no part of them is. Neither is a part of a formula (`3\pi`, `\sqrt{16}`, `5!`), a bound (`less
than 5`), or one of two (`4 or 5`). A power is computed; the exponent of a unit, as in `m^2`, is no number.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

LONGEST = 400
"""Characters of a run that is read; a longer one is not read as a number."""

MOST_GROUPS = LONGEST // len(" 000")
"""Groups of digits after the first, with spaces between them, that are looked at together."""

LARGEST_EXPONENT = 999

LARGEST_BASE = 10**9
"""Bases up to which a power is computed."""

LONGEST_POWER = 2000
"""Digits up to which a power is computed, about: Python refuses to write numbers of more than 4300."""

LONGEST_DECIMALS = 20
"""Digits after the point up to which a value is shown as a decimal number."""

SCALES = {"hundred": 10**2, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}

SUFFIXES = {"k": 10**3, "K": 10**3, "M": 10**6, "mn": 10**6, "B": 10**9, "bn": 10**9, "T": 10**12}
"""What follows an amount of money at once; after another number only `k` is none of the units of physics."""

_MINUS = "\u2212\u2010\u2011\u2012\u2013\uff0d\ufe63"
"""What is printed for a minus or a hyphen; a long dash is punctuation."""

_SPACES = "\u00a0\u2009\u202f"
"""Spaces that keep a number together."""

_TOKEN = re.compile(
    rf"""
    (?<![^\W_\u2e80-\u9fff\uac00-\ud7af])                                     # not inside a word, as in H2O
    (?<!\^)(?<!\^[-+{{(])(?<!\^[{{(][-+])            # not the exponent of a unit
    (?<![^\W_]_)(?<!_\{{)                           # not an index
    (?:
    (?P<mixed> -? \d+ [ ] \d+/\d+ (?![\d/]|[.,]\d) )
    |
    (?P<sign>[-+]?) (?P<currency>(?:US)?[$€£¥]\s?)? (?P<inner>[-+]?)
    (?P<run>
        \d{{1,3}}(?:[ ]\d{{3}}){{1,{MOST_GROUPS}}}+(?![\d/]|[., ]\d)
        | (?>\.?\d) (?> [eE][-+]?\d | [\d.,:/'_{_SPACES}](?=\d) | \d | \s?/\s?(?=\d) | -(?=\d) )*
    )
    (?: (?:\^|\*\*(?=\d)) [{{(]?(?P<power>[-+]?\d{{1,3}})[)}}]? (?![.,]?\d) )?
    (?: \s?[×x*·]\s?10\s?(?:\^|\*\*)\s?\{{?(?P<exponent>[-+]?\d{{1,3}})\}}? )?
    (?P<percent> \s?% | \s(?:percent|per\scent)\b )?
    (?: \s(?P<scale>hundred|thousand|million|billion|trillion)\b | (?P<suffix>[kKMBT]|[mb]n)\b )?
    )
    """,
    re.VERBOSE,
)
_NUMBER = re.compile(
    rf"(?P<whole>\d{{1,3}}(?:,\d{{3}})+|\d{{1,3}}(?:[ {_SPACES}'_]\d{{3}})+|\d+)?"
    r"(?P<decimals>\.\d+)?(?:[eE](?P<exponent>[-+]?\d+))?"
)
_FRACTION = re.compile(r"(\d+)\s?/\s?(\d+)")
_FUNCTIONS = r"\\(?:frac|overline|bar|dot|sqrt|pi|log|ln|lg|exp|sin|cos|tan|cot|sec|csc|binom)(?![a-z])"
_BEFORE = re.compile(
    rf"(?:{_FUNCTIONS}|\bsqrt|√)(?:_\{{?\w{{1,9}}\}}?)?(?:\[\w\])?\s?[\[{{(]?$"  # in a formula
    r"|\b(?:less|fewer|more|greater|smaller|larger|higher|lower)\s+than\s+$"
    r"|\bat\s+(?:least|most)\s+$|(?:\A|\S)[ ][<>≤≥]=?\s?$"  # a bound
    r"|(?:\A|[\w\s])(?:[<≤≥]=?|>=)\s?$|±\s?$"
)
_AFTER = re.compile(
    rf"\}}?\s?[*·]?\s?(?:{_FUNCTIONS}|[π√]|pi\b)"  # in a formula
    r"|\.(?:\\(?:overline|bar|dot)\b|\(\d)"  # decimals that repeat
    r"|\+(?=[\s.,;:!?)]|\Z)(?!\s*[\d.$(])"  # a bound, as in `5+`
    r"|!(?=\s?[}$])"  # a factorial; elsewhere an exclamation
    r"|\^[{(]?[-+]?(?:\d|[a-z](?![a-z]))"  # a power that is not computed
)
_NEGATIVE = re.compile(
    r"\bnegative[ ]$|(?:\A[ ]*|[=:(]\s?|\b(?:is|was|be|equals|about)[ ])minus[ ]$|(?:[=:{][ ]?|\bis[ ])-[ ]$",
    re.IGNORECASE,
)
_OR = re.compile(r"[\s*_$]{1,4}or[\s*_$]{1,4}", re.IGNORECASE)
_BETWEEN = re.compile(r"\bbetween\s$", re.IGNORECASE)
_OF_WORD = re.compile(r"\w")
_TO = re.compile(r"[ ](?:to|[-~:])[ ]|~")
_NO_RANGE = re.compile(r"\s?=|[ ]?(?:decimals?|significant|sig|places|d\.?p)\b", re.IGNORECASE)
_TOLERANCE = re.compile(r"\s?±\s?")
_SUPERSCRIPT = re.compile(r"(?<=\d)[⁺⁻]?[⁰¹²³⁴-⁹]+")

WINDOW = 30
"""Characters before and after a number in which the words stand that say what it is."""

_ARGUMENT = r"\s*(?:\{([^{}]*)\}|(\d))"
_LATEX_FRACTION = re.compile(rf"(\d[ ]?)?\\[cdt]?frac{_ARGUMENT}{_ARGUMENT}")
_PLAIN_PART = re.compile(r"-?[$€£¥]?[\d.,]*\d%?")
_LATEX = [
    (re.compile(r"\{,\}|\\,(?=\d{3})"), ","),
    (re.compile(r"\\(?=[$%])"), ""),
    (re.compile(r"\\!"), ""),
    (re.compile(r"\\times"), "×"),
    (re.compile(r"\\cdot"), "·"),
    (re.compile(r"\\pm(?![a-z])|\+/-"), "±"),
]


@dataclass(frozen=True, slots=True)
class Number:
    """A number in a text, or what looks like one and cannot be read as one."""

    start: int
    end: int
    text: str
    value: Fraction | None
    is_percentage: bool = False
    """Whether a percent sign follows; the value is what stands before it."""


def plain(text: str) -> str:
    """Return a text in which numbers are written with plain characters: LaTeX, printed signs and ½ are rewritten."""
    text = _SUPERSCRIPT.sub(lambda found: f"^{unicodedata.normalize('NFKC', found[0])}", text)
    text = re.sub(r"(?<=\d)(?=[\u00bc-\u00be\u2150-\u215e])", " ", text)
    text = "".join(_plain(character) for character in text)
    text = _LATEX_FRACTION.sub(_fraction, text)
    for pattern, written in _LATEX:
        text = pattern.sub(written, text)
    return text


def _fraction(found: re.Match[str]) -> str:
    """Return a fraction of LaTeX as `1/2`, after a whole number as in `2 1/2`; one of formulas is no number."""
    whole, *parts = found.groups()
    upper, lower = (part.strip() for part in parts if part is not None)
    if lower.startswith("-"):
        upper, lower = upper.removeprefix("-") if upper.startswith("-") else f"-{upper}", lower[1:].strip()
    if not (_PLAIN_PART.fullmatch(upper) and _PLAIN_PART.fullmatch(lower)):
        return f"{whole or ''}\\frac "
    return f"{whole.strip()} {upper}/{lower}" if whole else f"{upper}/{lower}"


def _plain(character: str) -> str:
    if character in _MINUS:
        return "-"
    if character.isascii() or character in _SPACES:
        return character
    is_number = unicodedata.category(character) in ("Nd", "No") and not unicodedata.decomposition(character).startswith(
        ("<super>", "<sub>")
    )
    return unicodedata.normalize("NFKC", character).replace("\u2044", "/") if is_number else character


def numbers(text: str, *, ranges: bool = False) -> Iterator[Number]:
    """Yield the numbers of a plain text in order, what cannot be read as one among them.

    With `ranges`, a text that begins with two of them, as in `5 to 10 days` or `3 : 4`, does not begin with a number.
    """
    waiting: Number | None = None
    for found in _TOKEN.finditer(text):
        number = _mixed(found) if found["mixed"] else _read(found)
        number = _in_its_place(text, number)
        if waiting is not None:
            if _TOLERANCE.fullmatch(text, waiting.end, number.start):
                continue
            if _are_two(text, waiting, number) or (ranges and _is_range(text, waiting, number)):
                waiting, number = replace(waiting, value=None), replace(number, value=None)
            yield waiting
        waiting = number
    if waiting is not None:
        yield waiting


def _in_its_place(text: str, number: Number) -> Number:
    """Return a number with the sign that is a word, and without a value where it is a part of a formula or a bound."""
    start = max(0, number.start - WINDOW)
    if _BEFORE.search(text, start, number.start) or _AFTER.match(text, number.end):
        return replace(number, value=None)
    negative = _NEGATIVE.search(text, start, number.start)
    if negative is None or number.value is None:
        return number
    return replace(number, value=-number.value)


def _are_two(text: str, one: Number, other: Number) -> bool:
    """Return whether two numbers are said of which one is meant, as in `4 or 5` and `between 4 and 5`."""
    if other.start - one.end > WINDOW or one.value == other.value:
        return False
    if text[one.end : other.start] + other.text[:1] in ("-", "-$", "-€", "-£", "-¥"):  # as in 5%-10% and $5-$10
        return True
    is_between = _BETWEEN.search(text, max(0, one.start - WINDOW), one.start) is not None
    return _OR.fullmatch(text, one.end, other.start) is not None or (
        is_between and text[one.end : other.start].strip() == "and"
    )


def _is_range(text: str, one: Number, other: Number) -> bool:
    """Return whether a text begins with a range or a ratio; further on, the same words may say another thing."""
    is_first = _OF_WORD.search(text, 0, one.start) is None
    joined = text[one.end : other.start] + ("-" if other.text.startswith("- ") else "")
    return is_first and _TO.fullmatch(joined) is not None and not _NO_RANGE.match(text, other.end)


def _mixed(found: re.Match[str]) -> Number:
    units, _, fraction = found["mixed"].partition(" ")
    whole, part = _value(units.lstrip("-")), _value(fraction)
    value = None if whole is None or part is None else whole + part
    if value is not None and units.startswith("-"):
        value = -value
    return Number(found.start(), found.end(), found[0], value)


def _read(found: re.Match[str]) -> Number:
    value = _power(_value(found["run"]), found["power"])
    if value is not None:
        if "-" in (found["sign"], found["inner"]):
            value = -value
        if found["exponent"]:
            value *= Fraction(10) ** int(found["exponent"])
        value *= SCALES.get(found["scale"] or "", 1)
        if found["currency"] or found["suffix"] == "k":
            value *= SUFFIXES.get(found["suffix"] or "", 1)
    return Number(found.start(), found.end(), found[0].strip(), value, is_percentage=bool(found["percent"]))


def _power(base: Fraction | None, exponent: str | None) -> Fraction | None:
    if base is None or exponent is None:
        return base
    largest, times = max(abs(base.numerator), base.denominator), int(exponent)
    is_short = largest <= LARGEST_BASE and len(str(largest)) * abs(times) <= LONGEST_POWER
    return base**times if is_short and (base or times > 0) else None


def _value(run: str) -> Fraction | None:
    """Return the value of a run of digits and of what joins them, None if it is not a number."""
    if len(run) > LONGEST:
        return None
    fraction = _FRACTION.fullmatch(run)
    if fraction is not None:
        upper, lower = map(int, fraction.groups())
        return Fraction(upper, lower) if lower else None
    number = _NUMBER.fullmatch(run)
    if number is None or not (number["whole"] or number["decimals"]):
        return None
    if number["exponent"] and abs(int(number["exponent"])) > LARGEST_EXPONENT:
        return None
    return Fraction(re.sub(rf"[, '_{_SPACES}]", "", run))


def shown(value: Fraction) -> str:
    """Return a value as people write it: as a decimal number if it has an end, else as a fraction."""
    digits = 0
    while (value * 10**digits).denominator != 1:
        digits += 1
        if digits > LONGEST_DECIMALS:
            return str(value)
    if not digits:
        return str(value)
    scaled = str(abs(int(value * 10**digits))).rjust(digits + 1, "0")
    return f"{'-' if value < 0 else ''}{scaled[:-digits]}.{scaled[-digits:]}"
