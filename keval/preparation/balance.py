"""Says how samples are spread: over the values of a field, positive and negative cases, and what is missing.

What a sample is about is never guessed from its text: fields say it, or nobody does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from keval.counted import counted
from keval.ids import JsonObject

NONE = "(none)"
"""Where a sample has no value of a field."""

USUAL = ("category", "metadata.category")
"""Fields by which samples are divided if the user names none, and samples have them."""

OWN = ("id", "question", "answer", "reference")
"""Fields that are of one sample each."""

MOST_VALUES = 20
"""A field with more values is not a category."""

LONGEST_VALUE = 60
"""Characters; a field with a longer value is a text, no category."""

FEWEST_OF_CATEGORY = 3
FEWEST_SAMPLES = 20
MOST_GAPS = 50
"""Gaps that are listed; the rest is counted."""

DOMINANT = 0.5

KINDS = {
    "positive": {"positive", "pos"},
    "negative": {"negative", "neg"},
    "edge": {"edge", "edge case", "edge-case", "edge_case"},
}
"""How fields say of which kind a case is."""

KIND_FIELDS = ("polarity", "case", "case_type", "kind", "type", "category", "tags")
"""Fields, of the sample or in its `metadata`, that may say of which kind a case is."""

KIND_FLAGS = {"negative": ("negative", "is_negative"), "edge": ("edge_case", "is_edge_case", "edge")}
"""Fields that say so by true."""


@dataclass(frozen=True, slots=True)
class Category:
    """One value of a field."""

    name: str
    count: int
    share: float
    """Of all samples; a sample with a list of values counts for each of them."""
    underrepresented: bool


@dataclass(frozen=True, slots=True)
class Balance:
    """How the samples of a dataset are spread."""

    samples: int
    fields: Mapping[str, tuple[Category, ...]]
    kinds: Mapping[str, int] | None
    """How many cases are positive, negative and edge cases; None if no sample says so."""
    gaps: tuple[tuple[str, ...], ...]
    """Values of the fields, one of each, that no sample has together."""
    suggestions: tuple[str, ...]

    def as_json(self) -> JsonObject:
        """Return it as one JSON object."""
        return {
            "samples": self.samples,
            "fields": {
                field: [
                    {
                        "name": each.name,
                        "count": each.count,
                        "share": each.share,
                        "underrepresented": each.underrepresented,
                    }
                    for each in categories
                ]
                for field, categories in self.fields.items()
            },
            "kinds": None if self.kinds is None else dict(self.kinds),
            "gaps": [dict(zip(self.fields, gap, strict=True)) for gap in self.gaps],
            "suggestions": list(self.suggestions),
        }


def balance(samples: Sequence[JsonObject], by: Sequence[str], threshold: float = 50) -> Balance:
    """Return how samples are spread over the values of fields; dots lead into objects, as in `metadata.category`.

    A value is underrepresented if its share is below `threshold` percent of what it had if all values had the same.
    """
    chosen = tuple(by) or _usual_fields(samples)
    fields = {field: _categories(samples, field, threshold) for field in chosen}
    kinds = _kinds(samples)
    gaps = tuple(_gaps(samples, fields)) if len(by) > 1 else ()
    suggestions = tuple(_suggestions(len(samples), fields, kinds, gaps))
    return Balance(len(samples), fields, kinds, gaps, suggestions)


def values(sample: Mapping[str, Any], field: str) -> list[str]:
    """Return the values that a sample has of a field: of a list each, of what is not there `(none)`."""
    found: Any = sample
    if field in sample:
        found = sample[field]
    else:
        for name in field.split("."):
            found = found.get(name) if isinstance(found, Mapping) else None
    together = found if isinstance(found, list) else [found]
    return [_text(each) for each in together] or [NONE]


def _text(value: object) -> str:
    if value is None or value == "":
        return NONE
    return str(value).lower() if isinstance(value, bool) else str(value)


def _usual_fields(samples: Sequence[JsonObject]) -> tuple[str, ...]:
    """Return the category if samples have one, else every field with few and short values."""
    usual = [field for field in USUAL if any(values(sample, field) != [NONE] for sample in samples)]
    if usual:
        return tuple(usual[:1])
    names = dict.fromkeys(name for sample in samples for name in sample if name not in OWN)
    counted = {name: _counted(samples, name) for name in names}
    return tuple(name for name, found in counted.items() if _is_category(found, len(samples)))


def _is_category(found: Mapping[str, int], samples: int) -> bool:
    """Return whether the values of a field are few and short."""
    return 1 < len(found) <= min(MOST_VALUES, samples // 2) and max(map(len, found)) <= LONGEST_VALUE


def _counted(samples: Iterable[JsonObject], field: str) -> Counter[str]:
    return Counter(value for sample in samples for value in dict.fromkeys(values(sample, field)))


def _categories(samples: Sequence[JsonObject], field: str, threshold: float) -> tuple[Category, ...]:
    counts, total = _counted(samples, field), len(samples)
    return tuple(
        # Whole numbers, not rounded shares: three equal thirds are not below a third.
        Category(name, count, count / total, count * len(counts) * 100 < threshold * total)
        for name, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    )


def _kinds(samples: Iterable[JsonObject]) -> dict[str, int] | None:
    counts = Counter(kind for sample in samples for kind in _kinds_of(sample))
    return {kind: counts[kind] for kind in KINDS} if counts else None


def _kinds_of(sample: JsonObject) -> set[str]:
    words = {
        value.lower()
        for field in KIND_FIELDS
        for name in (field, f"metadata.{field}")
        for value in values(sample, name)
    }
    said = {kind for kind, spellings in KINDS.items() if words & spellings}
    flagged = {
        kind
        for kind, flags in KIND_FLAGS.items()
        if any("true" in values(sample, name) for flag in flags for name in (flag, f"metadata.{flag}"))
    }
    return said | flagged


def _gaps(samples: Iterable[JsonObject], fields: Mapping[str, Sequence[Category]]) -> Iterator[tuple[str, ...]]:
    """Yield the combinations of values that no sample has; a missing value is left out."""
    there = {together for sample in samples for together in product(*(values(sample, field) for field in fields))}
    named = [[each.name for each in categories if each.name != NONE] for categories in fields.values()]
    yield from (together for together in product(*named) if together not in there)


def _suggestions(
    total: int,
    fields: Mapping[str, Sequence[Category]],
    kinds: Mapping[str, int] | None,
    gaps: Sequence[tuple[str, ...]],
) -> Iterator[str]:
    found = [*_of_fields(fields), *_of_kinds(total, kinds)]
    if gaps:
        more = len(gaps) - 1
        others = f", and {more} more {'gap' if more == 1 else 'gaps'}" if more else ""
        found.append(f"No sample has {_named(gaps[0])}{others}")
    if total < FEWEST_SAMPLES:
        few = f"{counted(total, 'sample')} {'is' if total == 1 else 'are'}"
        found.append(f"{few} few: differences between conditions will hardly show; add more")
    yield from found or ["The dataset looks well balanced"]


def _named(gap: Sequence[str]) -> str:
    return " with ".join(gap)


def _of_fields(fields: Mapping[str, Sequence[Category]]) -> Iterator[str]:
    for field, categories in fields.items():
        few = [each.name for each in categories if each.underrepresented]
        if few:
            yield f"Consider adding more samples for {field}: {', '.join(few)}"
        if len(categories) > 1 and categories[0].share > DOMINANT:
            yield f"{field} {categories[0].name} dominates with {categories[0].share:.1%}"
        tiny = [each.name for each in categories if each.count < FEWEST_OF_CATEGORY and each.name not in few]
        if tiny:
            yield f"{field} with fewer than {FEWEST_OF_CATEGORY} samples: {', '.join(tiny)}"


def _of_kinds(total: int, kinds: Mapping[str, int] | None) -> Iterator[str]:
    if kinds is None:
        if total:
            yield "No sample says whether it is a positive, negative or edge case; a field `polarity` can"
        return
    yield from (f"There is no {kind} case" for kind, count in kinds.items() if not count)
