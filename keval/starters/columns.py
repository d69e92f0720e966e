"""Finds out which fields of a questions file are the question, the golden answer and the id, as far as names tell.

Of two names that both could be it none is guessed: the config then says what the file has, for a person to choose.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

from keval import datasets
from keval.datasets import Layout
from keval.documents.mapping import rules
from keval.errors import InputError
from keval.ids import JsonObject

KNOWN = {
    "question": (
        *("question", "prompt", "input", "query", "problem", "instruction", "user_input", "user_message"),
        *("user_prompt", "question_text", "questions", "ask"),
    ),
    "answer": (
        *("answer", "golden_answer", "golden", "gold", "gold_answer", "golden_response", "expected", "expected_answer"),
        *("expected_output", "expected_response", "target", "reference", "reference_answer", "reference_output"),
        *("ground_truth", "ideal", "ideal_answer", "correct_answer", "solution", "canonical_solution", "answers"),
        "best_answer",
    ),
    "id": ("id", "_id", "uid", "uuid", "qid", "question_id", "sample_id", "task_id", "example_id", "prompt_id", "nr"),
}
"""What people call the three, the name in a sample first; case, spaces, `-`, `_` and `.` make no difference."""

LOOKED_AT = 1000
"""So many records are looked at; all of them are read when the config is checked."""

LOOKS_LIKE_A_VALUE = re.compile(r"[\d.]+|.*\s.*\s.*", re.DOTALL)
"""A name that may be the value of a record, in a table without a header."""

NAMEABLE = re.compile(r"[^.\[\]{}@!:]+")
"""A field that a template can name."""


@dataclass(frozen=True, slots=True)
class Columns:
    """What the fields of a file are; None where no name, or more than one, says it."""

    question: str | None = "question"
    answer: str | None = "answer"
    id: str | None = None
    could_be_id: str | None = None
    """A field that would do for the id, whatever it is called, where no name says which is."""
    examples: Mapping[str, Any] = field(default_factory=dict)
    """All fields, each with the first value that it has."""
    numbers: frozenset[str] = frozenset()
    """The fields of which some value is a number, which a config makes text of."""
    samples: int = 0
    """How many samples the file has, as far as it was read."""
    maybe_headless: bool = False
    """Whether the names look like the values of a first record."""

    @property
    def has_no_answer(self) -> bool:
        """Whether no field can be a golden answer, because there are no others."""
        return self.answer is None and not set(self.examples) - {self.question, self.id}

    @property
    def are_told(self) -> bool:
        """Whether it is known what to ask, and what is right or that nothing says so."""
        return self.question is not None and (self.answer is not None or self.has_no_answer)

    @property
    def keys(self) -> dict[str, str | None]:
        """What a config says of fields with other names than a sample's, by the config's keys."""
        named: dict[str, str | None] = {
            f"{name}_key": key
            for name, key in (("question", self.question), ("answer", self.answer), ("id", self.id))
            if key is not None and key != name and key not in self.numbers
        }
        return named | ({"answer_key": None} if self.has_no_answer and self.question is not None else {})

    @property
    def made(self) -> dict[str, str]:
        """The templates that make text of numbers, by the sample's field."""
        found = (("answer", self.answer), ("id", self.id))
        return {name: f"{{{key}}}" for name, key in found if key is not None and key in self.numbers}

    def layout(self) -> Layout:
        """Return how the config's dataset will be read."""
        keys: dict[str, Any] = self.keys
        return Layout(**keys, fields=rules(self.made, lambda _name, _message: None))


def of_file(path: Path) -> Columns:
    """Return the columns of a file, all of whose records are read where names tell what they are.

    Raises InputError for a file that cannot be read, or whose records are no samples.
    """
    try:
        rows = datasets.reader(path).rows(path)
        records = [row.record for row in islice(rows, LOOKED_AT) if row.record is not None]
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from error
    found = of_records(records)
    if found.are_told or not records:
        return replace(found, samples=len(datasets.read(path, found.layout()).samples))
    return found


def of_records(records: Sequence[JsonObject]) -> Columns:
    """Return what the fields of records are; one that lacks a value in some records is told when it is read."""
    examples: dict[str, Any] = {}
    values: dict[str, list[Any]] = {}
    for record in records:
        for key, value in record.items():
            examples[key] = examples.get(key) or value
            values.setdefault(key, []).append(value)
    numbers = {key for key in values if _has_numbers(values[key]) and NAMEABLE.fullmatch(key)}
    texts = {key for key in values if all(map(_is_text, values[key]))}
    question = _named("question", {key for key in values if all(map(_is_question, values[key]))})
    answer = _named("answer", (texts | numbers) - {question})
    ids = {key for key in texts | numbers if key == "id" or _differ([record.get(key) for record in records])}
    ids -= {question, answer}
    named = _named("id", ids)
    return Columns(
        question=question,
        answer=answer,
        id=named,
        could_be_id=next((key for key in examples if key in ids and _are_names(values[key])), None)
        if not named
        else None,
        examples=examples,
        numbers=frozenset(numbers),
        maybe_headless=any(LOOKS_LIKE_A_VALUE.fullmatch(key) for key in examples),
    )


def _named(name: str, fields: Iterable[str]) -> str | None:
    """Return the field that is called as the sample's, or the only one with another known name."""
    fields = set(fields)
    if name in fields:
        return name
    known = {_plain(each) for each in KNOWN[name]}
    found = [each for each in fields if _plain(each) in known]
    return found[0] if len(found) == 1 else None


def _plain(name: str) -> str:
    return re.sub(r"[\s_.-]", "", name).casefold()


def _is_text(value: object) -> bool:
    return value is None or isinstance(value, str)


def _is_question(value: object) -> bool:
    """Return whether a value is a text, or several: messages of one conversation."""
    return _is_text(value) or (isinstance(value, list) and all(isinstance(each, str) for each in value))


def _has_numbers(values: Sequence[object]) -> bool:
    """Return whether some values are numbers and all others texts."""
    numbers = [isinstance(value, int | float) and not isinstance(value, bool) for value in values]
    return any(numbers) and all(number or _is_text(value) for number, value in zip(numbers, values, strict=True))


def _are_names(values: Sequence[object]) -> bool:
    """Return whether values are words, as names are, not texts."""
    return all(isinstance(value, str) and not re.search(r"\s", value) for value in values)


def _differ(values: Sequence[object]) -> bool:
    texts = {str(value).strip() for value in values if value is not None}
    return len(texts) == len(values) and "" not in texts
