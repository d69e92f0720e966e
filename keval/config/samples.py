"""Reads the samples of a dataset file, or of all datasets that a config names."""

from __future__ import annotations

from pathlib import Path

from keval import datasets
from keval.config import reader
from keval.ids import JsonObject

CONFIGS = {".yaml", ".yml"}


def read_samples(path: Path) -> list[JsonObject]:
    """Return all samples of a dataset, or of a config's datasets as the config maps them. Raises InputError."""
    if path.suffix not in CONFIGS:
        return list(datasets.read(path).samples)
    named = reader.load(path).datasets
    return [sample for dataset in named for sample in datasets.read(dataset.path, dataset.layout).samples]
