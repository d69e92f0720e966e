"""Reads what a config says of a dataset: where it is, and how its records become samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from keval import datasets
from keval.config.model import DatasetConfig
from keval.config.sections import Problem, list_in, mapping_in, whole
from keval.datasets import Draw, Layout
from keval.documents.mapping import rules
from keval.errors import InputError
from keval.secrets.variables import Secrets

if TYPE_CHECKING:
    from keval.documents.yaml_document import Keys
    from keval.ids import JsonObject

NAMED = ("id", "question", "answer")
"""Fields that a file may have under other names."""


def read_all(written: JsonObject, path: Path, secrets: Secrets, problem: Problem) -> list[DatasetConfig]:
    """Return the datasets of a config whose structure was checked; `problem` is told what else is wrong."""
    if {"dataset", "datasets"} <= written.keys():
        problem(("dataset",), "there is 'datasets' too; put all of them there")
    sections = [(("datasets", index), section) for index, section in enumerate(list_in(written, "datasets"))]
    if len(sections) > 1:
        _check_names(sections, problem)
    _check_clusters(sections, problem)
    everything: list[tuple[Keys, Any]] = [*sections, (("dataset",), written.get("dataset"))]
    read = [
        DatasetSection(section, keys, path, secrets, problem).read()
        for keys, section in everything
        if isinstance(section, dict)
    ]
    return [dataset for dataset in read if dataset is not None]


def _check_names(sections: Sequence[tuple[Keys, Any]], problem: Problem) -> None:
    names = [section.get("name") if isinstance(section, dict) else None for _, section in sections]
    for (keys, _), name in zip(sections, names, strict=True):
        if name is None:
            problem(keys, "'name' is missing; each of several datasets has one")
        elif names.count(name) > 1:
            problem((*keys, "name"), f"two datasets are called {name!r}")


def _check_clusters(sections: Sequence[tuple[Keys, Any]], problem: Problem) -> None:
    """Note a dataset without clusters beside one that has them: a sample that is in none would be none by mistake."""
    keyed = [isinstance(section, dict) and "cluster_key" in section for _, section in sections]
    for (keys, _), found in zip(sections, keyed, strict=True):
        if any(keyed) and not found:
            problem(keys, "'cluster_key' is missing; other datasets of this config have one")


@dataclass(frozen=True)
class DatasetSection:
    """One dataset of a config whose structure was checked; `problem` takes note of what else is wrong."""

    section: JsonObject
    keys: Keys
    config_path: Path
    secrets: Secrets
    problem: Problem

    def read(self) -> DatasetConfig | None:
        """Return the dataset, None if nothing can be said of it yet."""
        written = self.section.get("path")
        if not isinstance(written, str) or not written:
            return None
        path = self.config_path.parent / self.secrets.resolve_known(written)
        if not self.secrets.missing(written):
            self._check_path(path)
        self._check_names()
        return DatasetConfig(path, written, self._layout())

    def _check_path(self, path: Path) -> None:
        if path.exists() and not path.is_dir() and not path.is_file():
            self.problem((*self.keys, "path"), f"{path} is a pipe or a device, and a dataset is read more than once")
            return
        try:
            if not path.is_dir():
                datasets.reader(path, tuple(list_in(self.section, "columns")))
        except InputError as error:
            self.problem((*self.keys, "path"), str(error))
        if not path.is_file():
            what = "is a folder" if path.is_dir() else "does not exist"
            self.problem((*self.keys, "path"), f"{path} {what}; paths are relative to {self.config_path.name}")

    def _check_names(self) -> None:
        made = mapping_in(self.section, "fields")
        for name in NAMED:
            if f"{name}_key" in self.section and name in made:
                self.problem((*self.keys, "fields", name), f"{name}_key says where it is; leave one of them out")
        same = self.section.get("question_key", "question") == self.section.get("answer_key", "answer")
        if same and not made.keys() & {"question", "answer"}:
            self.problem(self.keys, "question_key and answer_key are the same: the agent would be told the answer")

    def _layout(self) -> Layout:
        section = self.section
        keys = {f"{name}_key": section[f"{name}_key"] for name in NAMED if f"{name}_key" in section}
        draw = {key: whole(value) for key, value in mapping_in(section, "draw").items()}
        return Layout(
            name=section.get("name"),
            **keys,
            cluster_key=section.get("cluster_key"),
            columns=tuple(list_in(section, "columns")),
            fields=rules(self.secrets.resolve_known(mapping_in(section, "fields")), self._rule_problem),
            draw=Draw(**draw) if isinstance(draw.get("samples"), int) else None,
        )

    def _rule_problem(self, name: str, message: str) -> None:
        self.problem((*self.keys, "fields", name), message)
