from __future__ import annotations

from pathlib import Path

import pytest

from keval.errors import UsageError
from keval.processes import functions


def test_a_function_is_found_in_a_file_and_in_a_module(tmp_path: Path) -> None:
    """Both are looked for from the config's folder, with what lies beside them."""
    (tmp_path / "beside_the_function.py").write_text("WORD = 'found'\n")
    (tmp_path / "of_a_function.py").write_text("from beside_the_function import WORD\ndef query(): return WORD\n")
    for written in ("of_a_function.py:query", f"{tmp_path}/of_a_function.py:query", "of_a_function:query"):
        assert functions.load(written, tmp_path)() == "found"
        assert functions.source(written, tmp_path) == tmp_path / "of_a_function.py"
    assert functions.load("os.path:basename", tmp_path)("a/b") == "b"
    assert functions.source("os.path:basename", tmp_path) is None


def test_an_edited_file_is_another_function(tmp_path: Path) -> None:
    """The same file is imported once, an edited one anew."""
    file = tmp_path / "edited.py"
    file.write_text("def query(): return 1\n")
    first = functions.load("edited.py:query", tmp_path)
    assert functions.load("edited.py:query", tmp_path) is first
    file.write_text("def query(): return 2\n")
    assert (first(), functions.load("edited.py:query", tmp_path)()) == (1, 2)


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("gone.py:query", "there is no file"),
        ("broken.py:query", "cannot be imported: ZeroDivisionError"),
        ("no_such_module_at_all:query", "cannot be imported: ModuleNotFoundError"),
        ("fine.py:other", "fine.py has no function other"),
        ("fine.py:number", "fine.py has no function number"),
    ],
)
def test_what_cannot_be_called_is_named(tmp_path: Path, written: str, said: str) -> None:
    """The message says what was looked for and what is wrong."""
    (tmp_path / "broken.py").write_text("1 / 0\n")
    (tmp_path / "fine.py").write_text("number = 1\ndef query(): return 2\n")
    with pytest.raises(UsageError, match=said):
        functions.load(written, tmp_path)


@pytest.mark.parametrize("written", ["query", ":query", "a.py:", "a.py:not a name"])
def test_what_names_no_function_is_refused(written: str) -> None:
    """It is a mistake of the config, whatever files there are."""
    with pytest.raises(ValueError, match="names no function"):
        functions.check_form(written)
