"""What every format promises, whatever it writes; each file in keval/formats/ is tested by being there."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from keval import plugins
from keval.cli import run
from keval.formats import Format
from keval.ids import JsonObject
from tests.builders import judgment_event, response_event, run_event, write_log
from tests.exporting import exported
from tests.reports import HOSTILE

FORMATS = sorted(plugins.find("format"))


def made(name: str) -> Format:
    """Return the format with its default options."""
    return plugins.load("format", Format, name)()


def log_of(text: str) -> list[JsonObject]:
    """Return a log one of whose conditions, and all that was said in it, has this text."""
    answers = [response_event(sample, text, text=text) for sample in ("q1", "q2")]
    return [run_event([text, "B"], samples=2, config_name=text), *answers, *map(judgment_event, answers)]


@pytest.mark.parametrize("name", FORMATS)
def test_a_format_is_a_frozen_dataclass_that_needs_no_options(name: str) -> None:
    """Every option has a default, and says in one sentence what it is for."""
    with pytest.raises(dataclasses.FrozenInstanceError):
        made(name).anything = 1  # type: ignore[attr-defined] # frozen: the assignment is what must fail
    assert all(option.help for option in plugins.options(type(made(name))))
    assert plugins.summary(plugins.find("format")[name]).endswith(".")


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.slow
@pytest.mark.parametrize("text", ["../../up", "plain", HOSTILE[0], HOSTILE[1]])
def test_whatever_a_log_holds_files_stay_in_their_folder(name: str, text: str, tmp_path: Path) -> None:
    """Names of conditions and configs lead nowhere else, and the same log gives the same files."""
    events = log_of(text)
    first, second = (exported(made(name), events, tmp_path / part) for part in ("a", "b"))
    assert first
    for path in first:
        assert path.resolve().is_relative_to((tmp_path / "a").resolve())
        assert (tmp_path / "b" / path.relative_to(tmp_path / "a")).read_bytes() == path.read_bytes()
    assert sorted(path for path in (tmp_path / "a").rglob("*") if path.is_file()) == sorted(first)
    assert len(first) == len(second)


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMATS)
def test_what_an_export_that_was_killed_left_is_removed_by_the_next(name: str, tmp_path: Path) -> None:
    """And nothing lies beside the files when they are written."""
    log = write_log(tmp_path / "run.jsonl", log_of("A"))
    (tmp_path / "out.kvtask-killed").mkdir()
    assert run(["export", str(log), "-f", name, "-o", str(tmp_path / "out")]) == 0
    assert {path.name for path in tmp_path.iterdir()} == {"run.jsonl", "out"}
