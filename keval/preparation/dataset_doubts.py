"""Doubts about a dataset: nothing that a run would fail of, and much that makes its numbers mean less than they seem.

Each sort of doubt is told once, with a few samples by name. Everything is linear in the number of samples, or nearly.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from keval.counted import first_of
from keval.ids import JsonObject
from keval.printable import printable
from keval.questions import as_text

MOST_PAIRED = 2_000
"""Up to so many questions are all compared with each other; of more, each with its neighbours in three orders."""

NEIGHBOURS = 10
NEAR = 92.0
"""Percent of two questions, in characters, that are the same in near-duplicates."""

SHORTEST_ANSWER = 4
"""A shorter answer stands in a question by chance."""

_JOINERS = "\u200c\u200d"
_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")
_WORD = re.compile(r"\w+")
_LATIN = re.compile(r"[A-Za-z]")
_CYRILLIC = re.compile(r"[\u0400-\u04ff]")
_GREEK_LOOKALIKE = re.compile(r"[ΑΒΕΖΗΙΚΜΝΟΡΤΥΧορυ]")


def doubts(samples: Sequence[JsonObject]) -> Iterator[str]:
    """Yield what is doubtful about samples, one line for each sort of doubt."""
    normal = [_normal(as_text(sample["question"])) for sample in samples]
    yield from _told("the same question", _duplicates(samples, normal))
    yield from _told("nearly the same question", _near_duplicates(samples, normal))
    yield from _told("the golden answer stands in the question", _answers_in_questions(samples, normal))
    yield from _empty_fields(samples)
    for what, has in _UNICODE.items():
        found = [sample["id"] for sample in samples if any(map(has, _texts(sample)))]
        yield from _told(what, found)


def _told(what: str, found: Sequence[str]) -> Iterator[str]:
    if found:
        yield f"{what}: {first_of([*map(printable, found)])}"


def _normal(text: str) -> str:
    """Return a text as it is compared: without case, forms of characters, and kinds of white space."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _duplicates(samples: Sequence[JsonObject], normal: Sequence[str]) -> list[str]:
    first: dict[str, JsonObject] = {}
    found = []
    for sample, question in zip(samples, normal, strict=True):
        other = first.setdefault(question, sample)
        if other is not sample:
            differ = ", whose golden answers differ" if other["answer"] != sample["answer"] else ""
            found.append(f"{other['id']} and {sample['id']}{differ}")
    return found


def _near_duplicates(samples: Sequence[JsonObject], normal: Sequence[str]) -> list[str]:
    """Return pairs of questions that differ in few characters, and in no number: those are other questions."""
    from rapidfuzz import fuzz

    distinct = {question: place for place, question in reversed(list(enumerate(normal)))}
    places = sorted(distinct.values())
    numbers = {place: re.findall(r"\d+", normal[place]) for place in places}
    found: set[tuple[int, int]] = set()
    for one, other in _pairs(places, normal):
        pair = min(one, other), max(one, other)
        if (
            pair not in found
            and fuzz.ratio(normal[one], normal[other], score_cutoff=NEAR)
            and numbers[one] == numbers[other]
        ):
            found.add(pair)
    return [f"{samples[one]['id']} and {samples[other]['id']}" for one, other in sorted(found)]


def _pairs(places: Sequence[int], normal: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield which questions are compared: of many those that begin alike, end alike, or have the same words."""
    if len(places) <= MOST_PAIRED:
        yield from ((one, other) for at, one in enumerate(places) for other in places[at + 1 :])
        return
    orders: tuple[Callable[[int], str], ...] = (
        lambda place: normal[place],
        lambda place: normal[place][::-1],
        lambda place: " ".join(sorted(_WORD.findall(normal[place]))),
    )
    for order in orders:
        ordered = sorted(places, key=order)
        for at, one in enumerate(ordered):
            yield from ((one, other) for other in ordered[at + 1 : at + 1 + NEIGHBOURS])


def _answers_in_questions(samples: Sequence[JsonObject], normal: Sequence[str]) -> list[str]:
    found = []
    for sample, question in zip(samples, normal, strict=True):
        answer = _normal(sample["answer"] or "")
        if len(answer) >= SHORTEST_ANSWER and re.search(rf"(?<!\w){re.escape(answer)}(?!\w)", question):
            found.append(sample["id"])
    return found


def _empty_fields(samples: Sequence[JsonObject]) -> Iterator[str]:
    """Yield the fields that some samples have without a value: a category that is empty divides nothing."""
    fields: dict[str, list[str]] = {}
    for sample in samples:
        for name in _empty(sample, ""):
            fields.setdefault(name, []).append(sample["id"])
    for name, found in fields.items():
        yield from _told(f"{printable(name)} is empty", found)


def _empty(record: Mapping[str, Any], prefix: str) -> Iterator[str]:
    for name, value in record.items():
        if isinstance(value, Mapping) and value:
            yield from _empty(value, f"{prefix}{name}.")
        elif (value is None or value in ("", [], {}) or (isinstance(value, str) and not value.strip())) and (
            prefix or name != "answer"
        ):
            yield f"{prefix}{name}"


def _texts(sample: JsonObject) -> Iterator[str]:
    texts = (as_text(sample[name]) for name in ("question", "answer") if sample[name] is not None)
    return (text for text in texts if not text.isascii())


def _has_invisible(text: str) -> bool:
    return any(unicodedata.category(each) in {"Cf", "Co", "Cn"} and each not in _JOINERS for each in text)


def _has_mojibake(text: str) -> bool:
    """Return whether there is UTF-8 that was read as Windows-1252, or what could not be read at all."""
    return "\ufffd" in text or any(_was_utf_8(found[0]) for found in _NOT_ASCII.finditer(text))


def _was_utf_8(characters: str) -> bool:
    for encoding in ("cp1252", "latin-1"):
        try:
            characters.encode(encoding).decode("utf-8")
        except UnicodeError:
            continue
        return True
    return False


def _has_mixed_scripts(text: str) -> bool:
    return any(
        _LATIN.search(word) and (_CYRILLIC.search(word) or _GREEK_LOOKALIKE.search(word))
        for word in _WORD.findall(text)
    )


_UNICODE: Mapping[str, Callable[[str], bool]] = {
    "invisible characters": _has_invisible,
    "letters of another alphabet that look like Latin ones": _has_mixed_scripts,
    "text that was read in a wrong encoding": _has_mojibake,
    "text that is not in Unicode's normal form NFC": lambda text: not unicodedata.is_normalized("NFC", text),
}
"""What can be wrong with characters, and how it is found."""
