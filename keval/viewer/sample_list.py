"""The list of samples: which are on it, in which order, and the query that says so."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING

import orjson

from keval.errors import UsageError
from keval.ids import JsonObject
from keval.projections import NOISE, rows
from keval.projections.sql_file import literal, load

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

A_PAGE = 50
"""Samples on one page."""

AT_ONCE = 200
"""Samples whose texts are looked through at once."""

SEARCH_S = 0.5
"""Seconds after which a search stops and says how far it came."""

SORTS = {
    "difference": "difference, lowest first",
    "-difference": "difference, highest first",
    "score": "score, lowest first",
    "-score": "score, highest first",
    "sample": "sample",
}
"""The orders of the list."""

BEGINNING = 200
"""Characters of an answer on the list."""

NUMBERS = ("score_from", "score_to", "difference_from", "difference_to")

_OF_NUMBERS = {
    "score_from": "score >= {}",
    "score_to": "score <= {}",
    "difference_from": "difference >= {}",
    "difference_to": "difference <= {}",
}

ANY = "any"
"""Any kind of failure."""


@dataclass(frozen=True, slots=True)
class Series:
    """Scores of one judge on one metric."""

    judge_id: str
    judge: str
    metric: str
    min: float
    max: float
    is_only: bool
    """Whether no other one is called so."""

    @property
    def name(self) -> str:
        """What an address calls it: judge and metric, with the version where several of them are called so."""
        return self._names[0 if self.is_only else 1]

    @property
    def _names(self) -> tuple[str, str]:
        return f"{self.judge}/{self.metric}", f"{self.judge}, version {self.judge_id[:8]}/{self.metric}"

    def is_meant(self, name: str) -> bool:
        """Return whether an address may mean it, also one from when there were fewer versions, or more."""
        return name in self._names


@dataclass(frozen=True, slots=True)
class Filters:
    """What an address asks of the list; nothing means all."""

    condition: str | None = None
    metric: str | None = None
    """A name of a `Series`; of several that are called so, the first is meant."""
    score_from: float | None = None
    score_to: float | None = None
    difference_from: float | None = None
    difference_to: float | None = None
    kind: str | None = None
    """A kind of failure under the condition or the baseline, or `ANY`."""
    find: str | None = None
    """A text that stands in question, golden answer, answer, message of a failure or reasoning."""
    sort: str | None = None
    after: tuple[float | None, str] | None = None
    """The last sample before the page: what it is sorted by, and its id."""

    @classmethod
    def read(cls, query: Mapping[str, str]) -> Filters:
        """Return what an address asks for. Raises UsageError."""
        given = {name: query[name] for name in ("condition", "metric", "kind", "find", "sort") if query.get(name)}
        if given.get("sort", "sample") not in SORTS:
            raise UsageError(f"sort={given['sort']!r} is none of {', '.join(SORTS)}")
        numbers = {name: _number(name, query[name]) for name in NUMBERS if query.get(name)}
        return cls(**given, **numbers, after=_after(query["after"]) if query.get("after") else None)  # type: ignore[arg-type] # numbers are numbers

    def query(self) -> dict[str, str | None]:
        """Return the fields of the address that asks for this."""
        after = None if self.after is None else orjson.dumps(self.after).decode()
        numbers = {name: None if (found := getattr(self, name)) is None else f"{found:.15g}" for name in NUMBERS}
        return {
            "condition": self.condition, "metric": self.metric, **numbers, "kind": self.kind, "find": self.find,
            "sort": self.sort, "after": after,
        }  # fmt: skip


def _number(name: str, given: str) -> float:
    try:
        found = float(given)
    except ValueError:
        found = math.nan
    if not math.isfinite(found):
        raise UsageError(f"{name}={given!r} is no number")
    return found


def _after(given: str) -> tuple[float | None, str]:
    try:
        match orjson.loads(given):
            case [None | float() | int() as value, str(sample_id)]:
                return (None if value is None else float(value)), sample_id
    except orjson.JSONDecodeError:
        pass
    raise UsageError(f"after={given!r} is no place in the list")


@dataclass(frozen=True, slots=True)
class Listing:
    """The list as it is asked for, of what the log has."""

    filters: Filters
    condition: str
    baseline: str | None
    """What the condition is compared with; None if it is the baseline itself, or alone."""
    conditions: tuple[str, ...]
    series: Series | None
    """None of a log in which nothing is scored."""
    all_series: tuple[Series, ...]

    @property
    def sort(self) -> str:
        """The order: where there is no difference to sort by, by sample."""
        if self.filters.sort is not None:
            return self.filters.sort
        return "sample" if self.series is None else "score" if self.baseline is None else "difference"

    def statement(self) -> str:
        """Return the query that finds the whole list, as a person reads it and may run it."""
        found = []
        if self.filters.find is not None:
            text = load("viewer", "found", within="true", text=_lower(self.filters.find))
            found.append(f"sample_id in (\n{text.strip()}\n    )")
        return self._query([*self._conditions(), *found])

    def candidates(self) -> str:
        """Return the query for all samples after those of earlier pages; what texts say is not asked."""
        return self._query([*self._conditions(), *self._later()])

    def counted(self) -> str:
        """Return the query that counts the list; what texts say is not asked."""
        return load("viewer", "counted", listed=self._query(self._conditions()))

    def _query(self, conditions: Sequence[str]) -> str:
        if self.series is None:
            tried = load("viewer", "tried_tasks")
        else:
            judge, metric = literal(self.series.judge_id), literal(self.series.metric)
            tried = load("viewer", "tried_scores", judge=judge, metric=metric)
        return load(
            "viewer",
            "samples",
            tried=tried.strip(),
            condition=literal(self.condition),
            baseline="null" if self.baseline is None else literal(self.baseline),
            noise=str(NOISE),
            filters=" and ".join(conditions) or "true",
            order=self._order(),
        )

    def _conditions(self) -> list[str]:
        filters = self.filters
        found = [
            condition.format(f"{number!r}::double")
            for name, condition in _OF_NUMBERS.items()
            if (number := getattr(filters, name)) is not None
        ]
        if filters.kind == ANY:
            found.append("len(failed) + len(baseline_failed) > 0")
        elif filters.kind is not None:
            found.append(f"list_contains(failed || baseline_failed, {literal(filters.kind)})")
        return found

    def _order(self) -> str:
        column = self.sort.removeprefix("-")
        if column == "sample":
            return "sample_id"
        return f"{column}{' desc' if self.sort.startswith('-') else ''} nulls last, sample_id"

    def _later(self) -> list[str]:
        """Return what is true of the samples that come after the last one of the page before."""
        if self.filters.after is None:
            return []
        value, sample_id = self.filters.after
        column, later = self.sort.removeprefix("-"), f"sample_id > {literal(sample_id)}"
        if column == "sample":
            return [later]
        if value is None:
            return [f"({column} is null and {later})"]
        number, beyond = f"{value!r}::double", "<" if self.sort.startswith("-") else ">"
        return [f"({column} {beyond} {number} or {column} is null or ({column} = {number} and {later}))"]

    def place_of(self, row: JsonObject) -> tuple[float | None, str]:
        """Return where a sample stands in the list."""
        return (None if self.sort == "sample" else row[self.sort.removeprefix("-")]), row["sample_id"]


def listing(connection: DuckDBPyConnection, filters: Filters) -> Listing:
    """Return the list that is asked for. Raises UsageError for a condition or a metric that the log does not have."""
    baselines = {row["condition"]: row["baseline"] for row in rows(connection, load("viewer", "compared"))}
    conditions = [*baselines]
    all_series = tuple(Series(**row) for row in rows(connection, load("viewer", "series")))
    if not conditions:
        raise UsageError("the log has no answers yet")
    condition = _chosen("condition", filters.condition, conditions, conditions[min(1, len(conditions) - 1)])
    return Listing(
        filters,
        condition,
        None if condition == baselines[condition] else baselines[condition],
        tuple(conditions),
        _chosen_series(all_series, filters.metric) if all_series else None,
        all_series,
    )


def _chosen(what: str, given: str | None, known: Sequence[str], otherwise: str) -> str:
    if given is not None and given not in known:
        raise UsageError(f"{what}={given!r} is none of {', '.join(known)}")
    return otherwise if given is None else given


def _chosen_series(known: Sequence[Series], name: str | None) -> Series:
    if name is None:
        return known[0]
    found = next((series for series in known if series.is_meant(name)), None)
    if found is None:
        raise UsageError(f"metric={name!r} is none of {', '.join(series.name for series in known)}")
    return found


@dataclass(frozen=True, slots=True)
class Found:
    """One page of the list."""

    rows: tuple[JsonObject, ...]
    later: Filters | None
    """What asks for the samples after these; None if there are none."""
    looked_through: int | None = None
    """Samples whose texts were looked through, where a search stopped before it found a page full or the end."""


def page_of(connection: DuckDBPyConnection, found: Listing, clock: Callable[[], float] = time.monotonic) -> Found:
    """Return the page that is asked for; a search ends after some time, and is gone on with by `later`."""
    candidates = rows(connection, found.candidates() + f"\nlimit {A_PAGE + 1}" * (found.filters.find is None))
    if found.filters.find is None:
        kept = list(candidates)
        return _page(found, kept, None)
    ends_at = clock() + SEARCH_S
    kept, number = [], 0
    while batch := list(islice(candidates, AT_ONCE)):
        kept += _with_text(connection, found.filters.find, batch)
        number += len(batch)
        if len(kept) > A_PAGE or len(batch) < AT_ONCE:
            break
        if clock() > ends_at:
            return _page(found, kept, replace(found.filters, after=found.place_of(batch[-1])), number)
    return _page(found, kept, None)


def _page(
    found: Listing, kept: Sequence[JsonObject], later: Filters | None, looked_through: int | None = None
) -> Found:
    if len(kept) > A_PAGE:
        later = replace(found.filters, after=found.place_of(kept[A_PAGE - 1]))
    return Found(tuple(kept[:A_PAGE]), later, looked_through)


def _with_text(connection: DuckDBPyConnection, text: str, batch: Sequence[JsonObject]) -> Iterator[JsonObject]:
    """Yield the samples of which a text holds what is looked for."""
    query = load("viewer", "found", within=f"sample_id in {_list(batch)}", text=_lower(text))
    have = {row["sample_id"] for row in rows(connection, query)}
    return (row for row in batch if row["sample_id"] in have)


def first_answers(connection: DuckDBPyConnection, condition: str, page: Sequence[JsonObject]) -> dict[str, str]:
    """Return how the first answer to each sample of a page begins."""
    if not page:
        return {}
    query = load("viewer", "first_answers", condition=literal(condition), within=_list(page), most=str(BEGINNING + 1))
    return {row["sample_id"]: _beginning(row["text"] or "") for row in rows(connection, query)}


def _beginning(text: str) -> str:
    """Return the first line of a text, as far as there is room for it."""
    line = text.strip().partition("\n")[0]
    return line if len(line) <= BEGINNING else f"{line[:BEGINNING]}…"


def _list(page: Sequence[JsonObject]) -> str:
    return f"({', '.join(literal(row['sample_id']) for row in page)})"


def _lower(text: str) -> str:
    return f"lower({literal(text)})"
