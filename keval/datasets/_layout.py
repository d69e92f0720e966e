"""How the records of a dataset file become samples: which fields are what, and which samples are taken."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from keval.counted import counted
from keval.documents.mapping import Rule, UnfitError, has, look_up, way_out
from keval.ids import JsonObject, canonical, digest

ROW = "@row"
"""What rules call the number of a record in its file, from 1."""

ROW_TAKEN = f"a field is called {ROW!r}, as rules call the number of a row; give it another name"
"""What is wrong with a record that has a field of that name."""


@dataclass(frozen=True, slots=True)
class Draw:
    """Some of the samples, drawn at random: the same ones for the same seed, wherever they stand in the file.

    More of them hold all of fewer.
    """

    samples: int
    seed: int = 0
    evenly_by: str | None = None
    """A field, of whose values each gets as many samples as every other, as far as it has them."""

    def places(self, samples: Sequence[JsonObject]) -> list[int]:
        """Return the places of the drawn samples, in order. Raises UnfitError for one that lacks the field."""
        order = sorted(range(len(samples)), key=lambda place: digest("draw", self.seed, samples[place]["id"]))
        if self.evenly_by is not None:
            group = _groups(samples, self.evenly_by)
            before: Counter[str] = Counter()
            rank = {}
            for place in order:
                rank[place] = before[group[place]]
                before[group[place]] += 1
            order.sort(key=rank.__getitem__)
        return sorted(order[: self.samples])


def _groups(samples: Sequence[JsonObject], path: str) -> list[str]:
    """Return the value at a path of each sample. Raises UnfitError, which says how many lack it and names the first."""
    groups, said, lacking = [], "", 0
    for sample in samples:
        try:
            # As text: the bytes of each would keep the kilobytes into which they were written.
            groups.append(canonical(look_up(sample, path)).decode())
        except UnfitError as error:
            lacking += 1
            said = said or f"the first one is {sample['id']!r}: {error}"
    if lacking:
        of_all = f"{lacking:,} of {counted(len(samples), 'sample')} {'lacks' if lacking == 1 else 'lack'} it"
        raise UnfitError(f"draw.evenly_by needs {path!r} in every sample; {of_all}, {said}")
    return groups


@dataclass(frozen=True, slots=True)
class Layout:
    """What the fields of a file are called, which fields are made, and what is drawn."""

    name: str | None = None
    """What the dataset is called; its samples have it as their field `dataset`."""
    id_key: str = "id"
    question_key: str = "question"
    answer_key: str | None = "answer"
    """None: the samples have no golden answers."""
    cluster_key: str | None = None
    """The field by whose value samples belong together; they have it as their field `cluster`, too."""
    columns: tuple[str, ...] = ()
    """Names of the columns of a file without a header."""
    fields: Mapping[str, Rule] = field(default_factory=dict)
    """Fields that are made from a record, by name; each takes the place of the record's own."""
    draw: Draw | None = None

    @property
    def keys(self) -> dict[str, str]:
        """What the records call `id`, `question` and, if there are golden answers, `answer`."""
        named = {} if self.answer_key is None else {"answer": self.answer_key}
        return {"id": self.id_key, "question": self.question_key, **named}

    def mapped(self, record: JsonObject, number: int) -> tuple[JsonObject, list[str]]:
        """Return the record of this number, from 1, with the fields that are made from it, and what cannot be made."""
        made, problems = {}, []
        if self.fields and ROW in record:
            problems.append(ROW_TAKEN)
        record_and_number = {**record, ROW: number}
        for name, rule in self.fields.items():
            try:
                made[name] = rule.of(record_and_number)
            except UnfitError as error:
                problems.append(f"{name}: {error}")
        if self.name is not None:
            if record.get("dataset", self.name) != self.name:
                problems.append(f"dataset: a field of that name, but the dataset's name is {self.name!r}; rename one")
            made["dataset"] = self.name
        whole = {**record, **made}
        if self.cluster_key is not None:
            problems += _cluster_problems(whole, self.cluster_key)
            whole["cluster"] = whole.get(self.cluster_key)
        return whole, problems


def _cluster_problems(record: JsonObject, key: str) -> list[str]:
    """Return why a record is in no cluster: none stands for all that lack one, nor is each of these its own."""
    value = record.get(key)
    if key not in record and has(record, key):
        name, makes_it = way_out(key, record)
        inside = f"{key} (the cluster): stands inside a field, and cluster_key names a field"
        return [f"{inside}: {makes_it} makes {name} one"]
    if value is None or isinstance(value, dict | list) or (isinstance(value, str) and not value.strip()):
        there = f"missing; the record's fields: {', '.join(map(repr, record)) or 'none'}"
        said = there if key not in record else "must be a text or a number that is not blank"
        return [f"{key} (the cluster): {said}; every sample belongs to one"]
    if key != "cluster" and "cluster" in record:
        taken = f"cluster: cluster_key makes a field of this name out of {key!r}, but the record has one of its own"
        return [f"{taken}; rename the record's, or write `cluster_key: cluster`, which takes its values"]
    return []
