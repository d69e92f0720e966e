"""What every origin promises; each file in keval/origins/ is tested by being there."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from keval import plugins
from keval.config.import_mapping import of_results
from keval.errors import InputError
from keval.imports.importing import AnswerFile
from keval.origins import Origin
from tests.origins import EXAMPLES, INSPECT_SAMPLES, Example, inspect_archive

ORIGINS = sorted(plugins.find("origin"))

ODD: list[Any] = [None, -1.5, 2**60, True, "", "x", [], {}, ["x"], [[]], [{}], {"a": None}]
"""What may stand in a file where something else should."""


def made(name: str) -> Origin:
    """Return the origin."""
    return plugins.load("origin", Origin, name)()


def imported(name: str, path: Path) -> None:
    """Read a file down to its events."""
    results = made(name).read(path)
    AnswerFile(path, of_results(results.mapping()), results.rows).survey()


def places(document: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:  # noqa: ANN401 - any JSON value
    """Yield where each value stands in a document, as keys and indexes."""
    yield at
    for key in document if isinstance(document, dict) else range(len(document) if isinstance(document, list) else 0):
        yield from places(document[key], (*at, key))


def put(document: Any, at: tuple[Any, ...], value: object) -> Any:  # noqa: ANN401 - any JSON value
    """Return a copy of a document with another value in one place."""
    if not at:
        return value
    changed = inner = copy.deepcopy(document)
    for key in at[:-1]:
        inner = inner[key]
    inner[at[-1]] = value
    return changed


@pytest.mark.parametrize("name", ORIGINS)
@given(st.binary(max_size=200))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_file_of_anything_is_refused_in_words(name: str, tmp_path: Path, content: bytes) -> None:
    """Whatever its bytes, it is an error of the input, never one of keval."""
    path = tmp_path / "file.json"
    path.write_bytes(content)
    made(name).fits(content)
    with suppress(InputError):
        assert list(made(name).read(path).rows()) == []


@pytest.mark.parametrize("name", ORIGINS)
def test_each_origin_knows_its_files_and_no_others(name: str) -> None:
    """Two origins would contend for a file otherwise."""
    fitting = [other for other in ORIGINS if made(other).fits(EXAMPLES[name].content[:4096])]
    assert fitting == [name]


@pytest.mark.slow
@pytest.mark.parametrize("name", ORIGINS)
def test_any_value_in_any_place_is_read_or_told_in_words(name: str, tmp_path: Path) -> None:
    """Files of other versions have other values; none of them is an error of keval."""
    example: Example = EXAMPLES[name]
    path = tmp_path / example.name
    imported(name, example.written(path, example.document))
    for at in places(example.document):
        for value in ODD:
            with suppress(InputError):
                imported(name, example.written(path, put(example.document, at, value)))


@pytest.mark.slow
def test_a_damaged_archive_is_told_in_words(tmp_path: Path) -> None:
    """Wherever a byte is another one, and wherever it is cut off."""
    good = inspect_archive(tmp_path, INSPECT_SAMPLES).read_bytes()
    path = tmp_path / "damaged.eval"
    for place in range(0, len(good), 3):
        changed = bytearray(good)
        changed[place] ^= 1 << place % 8
        for damaged in (changed, good[:place]):
            path.write_bytes(damaged)
            with suppress(InputError):
                imported("inspect", path)


def test_the_rows_of_an_example_are_json(tmp_path: Path) -> None:
    """The examples are as the tools write them: an object, or one in each line."""
    for example in EXAMPLES.values():
        lines = example.written(tmp_path / "x", example.document).read_bytes().splitlines()
        assert all(isinstance(orjson.loads(line), dict) for line in lines)
