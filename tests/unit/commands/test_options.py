"""Options and arguments that several commands share."""

from __future__ import annotations

import importlib
import os
from pathlib import Path

import pytest

from keval import cli
from keval.errors import InputError
from tests.builders import response_event, run_event, write_log


@pytest.mark.parametrize(
    "words",
    [
        "gate run.jsonl --baseline nope",
        "gate run.jsonl --rules nope",
        "import nope",
        "calibrate run.jsonl --read nope",
        "calibrate run.jsonl --calibration nope",
        "balance nope",
    ],
)
def test_a_named_file_that_is_not_there_is_exit_code_3(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As a log is that is not there, whichever option names the file; so is a folder in its place."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run.jsonl").touch()
    (tmp_path / "dir").mkdir()
    found = [(cli.run(words.replace("nope", name).split()), capsys.readouterr().err) for name in ("nope", "dir")]
    assert found == [(3, "keval: nope: No such file or directory\n"), (3, "keval: dir: is a folder\n")]


def test_a_folder_is_no_log(tmp_path: Path) -> None:
    """It is a wrong input, not a wrong command line, also where a query may stand in its place."""
    for name in ("judge", "sql"):
        with pytest.raises(InputError, match=r"folder|directory"):
            cli.root.main([name, str(tmp_path)], standalone_mode=False)


@pytest.mark.parametrize("name", ["report", "show", "scan", "compare", "judge", "calibrate"])
def test_what_nobody_lets_us_read_is_left_to_who_reads_it(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Click does not refuse it as a wrong command line: the reason is said, with the exit code of a wrong input."""
    monkeypatch.setattr(os, "access", lambda *_, **__: False)
    log = tmp_path / "run.jsonl"
    log.touch()
    command = importlib.import_module(f"keval.commands.{name}").command
    (parameter,) = (each for each in command.params if each.name in {"log", "logs"})
    assert Path(parameter.type.convert(str(log), parameter, None)) == log


@pytest.mark.parametrize(
    "words",
    [
        *(
            "report LOG",
            "aggregate LOG",
            "show LOG",
            "summarize LOG",
            "judge LOG",
            "gate LOG",
            "agreement LOG",
            "sql LOG",
        ),
        *("calibrate LOG", "calibrate LOG -o s.md", "label LOG --labeler ada", "compare LOG LOG"),
        "plan LOG --difference 1",
    ],
)
def test_a_log_without_an_event_is_exit_code_3(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Whatever is asked of it: nothing can be said, be it good or bad."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run.jsonl").touch()
    query = ["select 1"] if words.startswith("sql") else []
    assert cli.run([*words.replace("LOG", "run.jsonl").split(), *query]) == 3
    assert "run.jsonl: no events in it" in capfd.readouterr().err


@pytest.mark.parametrize("words", ["aggregate LOG", "agreement LOG", "calibrate LOG", "label LOG --labeler ada"])
@pytest.mark.parametrize("seed", ["-1", str(2**63), "1" * 5000])
def test_a_seed_is_a_number_that_an_event_can_hold(
    words: str, seed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Another one is refused before any work, by each command that draws."""
    monkeypatch.chdir(tmp_path)
    write_log(tmp_path / "run.jsonl", [run_event(), response_event()])
    assert cli.run([*words.replace("LOG", "run.jsonl").split(), "--seed", seed]) == 2
    assert "Invalid value for '--seed'" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("sql LOG -o out.csv", "-o and -f go with a query"),
        ("sql LOG -f csv", "-o and -f go with a query"),
        ("sql LOG @query.sql --print-views", "--print-views goes with logs alone"),
        ("sql LOG --print-views -o out.sql", "--print-views goes without -o and -f"),
        ("plan LOG --difference 1 --samples 100", "--samples goes with --until decided"),
        ("plan --difference 1 --var-samples 1 --var-responses 1 --metric m", "--metric goes with LOG"),
        ("init --header X:y", "--header goes with a --server that has a URL"),
        ("init --server docs=echo --header X:y", "--header goes with a --server that has a URL"),
        ("calibrate LOG -o s.md --q0 0.1 --q1 0.9 --m0 9 --m1 9", "go with the numbers, which -o does not print"),
        ("calibrate LOG -o s.md --q0 0 --q1 0 --m0 9 --m1 9", "go with the numbers, which -o does not print"),
        ("calibrate LOG -o s.md -f jsonl", "go with the numbers, which -o does not print"),
    ],
)
def test_no_option_is_ignored(
    words: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """One that does nothing beside the others is refused, and what it goes with is said."""
    monkeypatch.chdir(tmp_path)
    write_log(tmp_path / "run.jsonl", [run_event(), response_event()])
    assert cli.run(words.replace("LOG", "run.jsonl").split()) == 2
    assert said in capfd.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["run.jsonl"]


@pytest.mark.parametrize("name", ["validate", "scan", "view", "compare"])
def test_a_quoted_pattern_means_all_files_that_match(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Also for commands that take no addresses; one that no file matches is told."""
    monkeypatch.chdir(tmp_path)
    assert cli.run([name, "run*.jsonl"]) == 3
    assert "run*.jsonl: no file matches this pattern" in capfd.readouterr().err
    for number in (1, 2):
        (tmp_path / f"run{number}.jsonl").touch()
    command = importlib.import_module(f"keval.commands.{name}").command
    taken = command.make_context(name, ["run*.jsonl"]).params
    assert [*taken.get("logs", ()), *taken.get("files", ())] == [Path("run1.jsonl"), Path("run2.jsonl")]


def test_show_takes_a_pattern_for_its_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """All logs that match are read as one."""
    monkeypatch.chdir(tmp_path)
    for number in (1, 2):
        write_log(tmp_path / f"run{number}.jsonl", [run_event(), response_event(f"q{number}")])
    assert cli.run(["show", "run*.jsonl"]) == 0
    shown = capfd.readouterr().out
    assert all(f"q{number} · baseline" in shown for number in (1, 2))


def test_compare_looks_where_it_writes_before_it_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """A file that is not to be replaced is told at once, though the logs are not even logs."""
    monkeypatch.chdir(tmp_path)
    for name in ("a.jsonl", "b.jsonl", "report.md"):
        (tmp_path / name).write_text("no log")
    assert cli.run(["compare", "a.jsonl", "b.jsonl", "-o", "report.md"]) == 2
    assert "report.md" in capfd.readouterr().err
