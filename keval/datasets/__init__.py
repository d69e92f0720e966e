"""What a dataset is: a file of questions with golden answers, read strictly or not at all.

Every row that is not a sample is a problem, all problems are one error, and nothing is guessed:
no value is turned into text, no empty question is sent to an agent that costs money.
"""

from __future__ import annotations

import codecs
import math
import re
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from keval import nearest, plugins
from keval.counted import counted
from keval.datasets._layout import ROW, ROW_TAKEN, Draw, Layout
from keval.documents.foreign_json import not_json, parse_json, unfit
from keval.documents.json_objects import JsonObjects
from keval.documents.mapping import UnfitError, kind
from keval.documents.packed import opened, unpacked_name
from keval.documents.row_problems import RowProblems
from keval.errors import InputError
from keval.ids import JsonObject, digest
from keval.processes.local_files import sha256_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = [
    "NOT_UTF_8",
    "ROW",
    "ROW_TAKEN",
    "Dataset",
    "Draw",
    "Layout",
    "Row",
    "Samples",
    "count",
    "format_of",
    "not_json",
    "opened",
    "parse_json",
    "read",
    "reader",
]

NOT_UTF_8 = "not UTF-8; save the file as UTF-8"
"""What is said of bytes that are no text."""

HEADLESS = "; if its first line is a sample, name all columns with columns"
"""What is said of a table whose first line holds no names."""

_DETAIL = re.compile(
    r"(?<=\(byte )\d+|(?<=\(column )\d+|(?<=, not )-?\d[\d.eE+-]*|(?<=fields: ).*|(?<=fields there: ).*"
)
"""What differs between messages that say the same of several records: a place, a number, the names of all fields."""

LONGEST_TIMEOUT_S = 31_536_000
"""A year, as in the config's schema."""


@dataclass(frozen=True, slots=True)
class Row:
    """One record of a dataset file, or why there is none.

    Formats without lines leave `line` out; the row's position then stands for it.
    """

    line: int | None
    record: JsonObject | None = None
    problem: str | None = None


@dataclass(frozen=True, kw_only=True)
class Dataset(ABC):
    """Base of all dataset formats; the file `keval/datasets/<ending>.py` reads files of that ending."""

    @abstractmethod
    def rows(self, path: Path) -> Iterator[Row]:
        """Yield a row for each record, good or bad, in the file's order.

        Raises InputError, without the path in its message, for a file that cannot be read at all.
        """

    def count(self, path: Path) -> int | None:  # noqa: ARG002 - a format that can count looks at it
        """Return how many records a good file has; None if that takes as long as to read them."""
        return None


@dataclass(frozen=True, slots=True)
class Samples:
    """The samples of one file: each has `id`, `question`, `answer` and whatever else its record held.

    `answer` is null in all of them if the dataset has no golden answers.
    """

    samples: JsonObjects
    sha256: str
    """Hash of the file's bytes, as `sha256sum` prints it."""
    path: Path


def format_of(path: Path) -> str:
    """Return the name of the plug-in that reads a file, which is the file's ending, without `.gz` or `.zst`.

    Raises InputError when there is none.
    """
    suffix = unpacked_name(path).suffix
    ending, known = suffix.lower().removeprefix("."), plugins.find("dataset")
    if ending not in known:
        hint = nearest.hint(ending, known)
        raise InputError(f"cannot read files that end in {suffix!r}{hint} (known: {', '.join(known)})")
    return ending


def reader(path: Path, columns: tuple[str, ...] = ()) -> Dataset:
    """Return the plug-in that reads a file; `columns` are the names that the file itself lacks.

    Raises InputError for an ending that none reads, and for columns of a file that names its own.
    """
    name = format_of(path)
    plugin = plugins.load("dataset", Dataset, name)
    if not columns:
        return plugin()
    if "columns" not in {option.name for option in plugins.options(plugin)}:
        raise InputError(f"columns: a {name} file names its fields itself")
    named: dict[str, Any] = {"columns": columns}
    return plugin(**named)


def count(path: Path, layout: Layout) -> int | None:
    """Return how many samples a good file gives; None if only reading it would tell."""
    if layout.fields:  # what they are made from, variables too, may differ from one reading to the next
        return None
    records = reader(path, layout.columns).count(path)
    return records if records is None or layout.draw is None else min(records, layout.draw.samples)


def read(path: Path, layout: Layout | None = None) -> Samples:
    """Read a dataset file, its fields renamed to `id`, `question` and `answer`.

    A record without the default id field gets a hash of its content as id. Raises InputError that lists
    all bad rows with their lines.
    """
    layout = layout or Layout()
    checked = _Checked(path, layout)
    try:
        sha256 = sha256_of(path)
        _check_encoding(path)
        number = 0
        for number, row in enumerate(reader(path, layout.columns).rows(path), start=1):
            checked.add(number, row)
        checked.say_once(number)
        samples = checked.drawn()
    except (InputError, UnfitError) as error:
        checked.problems.add(str(path), str(error))
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from error
    if checked.problems:
        them = "it" if len(checked.problems) == 1 else "them"
        wrong = f"{counted(len(checked.problems), 'problem')} in {path}; correct {them} and start again"
        raise InputError(*checked.problems.told(), wrong)
    if not samples:
        raise InputError(f"{path}: no samples in it; a dataset has at least one record")
    return Samples(samples, sha256, path)


def _check_encoding(path: Path) -> None:
    """Raise InputError for a file that is UTF-16: no line of it could be read."""
    with opened(path) as file:
        if file.read(2) in {codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE}:
            raise InputError("is UTF-16, and UTF-8 is needed; save it as UTF-8")


@dataclass
class _Checked:
    """What has been read so far."""

    path: Path
    layout: Layout
    samples: JsonObjects = field(default_factory=JsonObjects)
    problems: RowProblems = field(default_factory=RowProblems)
    first_use: dict[str, int | str] = field(default_factory=dict)
    """Where each id was first used."""
    lacking: dict[tuple[str, ...], list[str]] = field(default_factory=dict)
    """The fields of the records that lack question or answer, one text each, by what they lack."""

    columns: tuple[str, ...] = ()
    """The fields of the first of them."""

    def __post_init__(self) -> None:
        """Keep what the file calls `id`, `question` and, if it has golden answers, `answer`."""
        self.keys = self.layout.keys

    def drawn(self) -> JsonObjects:
        """Return the samples that are taken. Raises UnfitError for one that lacks the field to draw by."""
        draw = self.layout.draw
        return self.samples if draw is None or self.problems else self.samples.at(draw.places(self.samples))

    def add(self, number: int, row: Row) -> None:
        """Take a row, or what is wrong with it; `number` counts the file's rows from 1."""
        place = f"[{number - 1}]" if row.line is None else row.line
        where = f"{self.path}:{place}" if isinstance(place, int) else f"{self.path}: {place}"
        of_record = () if row.record is None else self._record(place, number, row.record)
        for problem in (*([row.problem] if row.problem else []), *of_record):
            self.problems.add(where, problem, _DETAIL.sub("", problem))

    def say_once(self, rows: int) -> None:
        """Let one problem stand for all if each of the rows lacks the same fields: the file calls them otherwise."""
        for names, fields in self.lacking.items():
            if len(fields) == rows:
                keys = " or ".join(repr(self.keys[name]) for name in sorted(names, reverse=True))
                options = " and ".join(self._option(name) for name in sorted(names, reverse=True))
                others = HEADLESS if self._may_lack_names() else ""
                self.problems = RowProblems()
                told = f"no column {keys}; it has {fields[0]}: a config names them with {options}{others}"
                self.problems.add(str(self.path), told)

    def _option(self, name: str) -> str:
        """Return the option that says what a field is called, with its value if only upper case makes it another."""
        key = next((key for key in self.columns if key.casefold() == self.keys[name].casefold()), None)
        return f"{name}_key" if key is None else f"{name}_key: {key}"

    def _may_lack_names(self) -> bool:
        """Return whether a table's first line looks like a sample, as it has numbers or whole sentences."""
        is_table = unpacked_name(self.path).suffix.lower() in {".csv", ".tsv"} and not self.layout.columns
        return is_table and any(re.fullmatch(r"[\d.]+|.*\s.*\s.*", key) for key in self.columns)

    def _record(self, place: int | str, number: int, record: JsonObject) -> list[str]:
        problem = unfit(record)
        if problem:
            return [problem]
        record, found = self.layout.mapped(record, number)
        made = self.layout.fields
        if not found and made and (problem := unfit(record)):
            return [problem]
        lacks = tuple(name for name, key in self.keys.items() if key not in record and name != "id" and key not in made)
        if lacks:
            self.lacking.setdefault(lacks, []).append(_names(record))
            self.columns = self.columns or tuple(record)
        found = found or self._field_problems(record)
        if found:
            return found
        sample = self._sample(record)
        sample_id = sample.get("id") or digest(sample)
        if sample_id in self.first_use:
            return [_duplicate(sample_id, self.first_use[sample_id], same_record="id" not in sample)]
        self.first_use[sample_id] = place
        self.samples.append({"id": sample_id, **sample})
        return []

    def _field_problems(self, record: JsonObject) -> list[str]:
        found = []
        for name, key in self.keys.items():
            if key in record or key != "id":
                found += _text_problems(record, key, name)
            if key in record and name in record and name not in self.keys.values():
                found.append(f"{name}: {key!r} is to be called so, but the record has a field of that name too")
        if "answer" not in self.keys and "answer" in record and "answer" not in self.keys.values():
            found.append(
                "answer: a field of that name, but answer_key is null; name the field as answer_key, or rename it"
            )
        return found + _timeout_problems(record)

    def _sample(self, record: JsonObject) -> JsonObject:
        sample = {name: record[key] for name, key in self.keys.items() if key in record}
        rest = {key: value for key, value in record.items() if key not in self.keys.values()}
        return {**sample, **({} if "answer" in self.keys else {"answer": None}), **rest}


def timeout_s(record: JsonObject) -> float | None:
    """Return how long an answer to a sample may take, in seconds, by its field `timeout_s`; None: as the config says.

    A number may be written as text, for a CSV file has nothing else. Raises ValueError for anything else.
    """
    value = record.get("timeout_s")
    if value is None or value == "":
        return None
    try:
        seconds = float(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else math.nan
    except ValueError:
        seconds = math.nan
    if not 0 < seconds <= LONGEST_TIMEOUT_S:
        raise ValueError(
            f"timeout_s: must be a number of seconds above 0 and up to {LONGEST_TIMEOUT_S}, not {kind(value)}"
        )
    return seconds


def _timeout_problems(record: JsonObject) -> list[str]:
    try:
        timeout_s(record)
    except ValueError as error:
        return [str(error)]
    return []


def _text_problems(record: JsonObject, key: str, name: str) -> list[str]:
    label = name if key == name else f"{key} (the {name})"
    if key not in record:
        return [f"{label}: missing; the record's fields: {_names(record)}"]
    value = record[key]
    if name == "question" and isinstance(value, list):
        texts = all(isinstance(message, str) and message.strip() for message in value)
        return [] if value and texts else [f"{label}: a list must be of texts that are not blank, one or more"]
    if not isinstance(value, str):
        return [f"{label}: must be a string, not {kind(value)}{_as_text(key, value)}"]
    # By a blank golden answer an agent that says nothing would be right.
    hint = "; a dataset without golden answers has `answer_key: null` in its config" if name == "answer" else ""
    return [] if value.strip() else [f"{label}: is blank{hint}"]


def _as_text(key: str, value: object) -> str:
    """Return how a config makes text of a field that holds numbers; nothing for what no template can name."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not re.fullmatch(r"[\w -]+", key):
        return ""
    return f'; `fields: {{{key}: "{{{key}}}"}}` in a config makes text of it'


def _names(record: JsonObject) -> str:
    return ", ".join(map(repr, record)) or "no fields"


def _duplicate(sample_id: str, first: int | str, *, same_record: bool) -> str:
    where = f"line {first}" if isinstance(first, int) else f"record {first}"
    if same_record:
        return f"the same record as {where}; remove one, or give both an id"
    return f"id: {sample_id!r} is also the id of {where}"
