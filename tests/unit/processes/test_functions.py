from __future__ import annotations

from pathlib import Path

import pytest

from keval.errors import EnvironmentLacksError, KevalError, PluginError
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
    ("written", "kind", "said"),
    [
        ("gone.py:query", EnvironmentLacksError, "there is no file"),
        (
            "no_such_module_at_all:query",
            EnvironmentLacksError,
            "there is no module no_such_module_at_all",
        ),
        ("broken.py:query", PluginError, "cannot be imported: ZeroDivisionError"),
        ("unwritten.py:query", PluginError, r"SyntaxError: .* \(unwritten.py:2: def query\(\)$"),
        ("lacking.py:query", PluginError, "cannot be imported: ModuleNotFoundError: No module named 'no_such_module'"),
        ("unready.py:query", PluginError, "cannot be imported: FileNotFoundError"),
        ("fine.py:other", PluginError, "fine.py has no function other"),
        ("fine.py:number", PluginError, "fine.py has no function number"),
    ],
)
def test_what_cannot_be_called_is_named(tmp_path: Path, written: str, kind: type[KevalError], said: str) -> None:
    """The message says what was looked for and what is wrong: what is not there is another mistake than broken code."""
    (tmp_path / "broken.py").write_text("1 / 0\n")
    (tmp_path / "unwritten.py").write_text("\ndef query(\n")
    (tmp_path / "lacking.py").write_text("import no_such_module\n")
    (tmp_path / "unready.py").write_text("open('/no/such/file')\n")
    (tmp_path / "fine.py").write_text("number = 1\ndef query(): return 2\n")
    with pytest.raises(kind, match=said):
        functions.load(written, tmp_path)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("def query(a, b, c): ...", None),
        ("async def query(a, *more, d=1): ...", None),
        ("class query:\n    def __init__(self, a, b, c): ...", None),
        ("query = print", None),
        ("def query(a): ...", r"f.py:query takes \(a\), and is given 3 arguments: x, y, z \(too many positional"),
        ("def query(a, b, c, d): ...", r"takes \(a, b, c, d\), .*missing a required argument: 'd'"),
        ("def query(a, b, c, *, d): ...", "missing a required .*argument: 'd'"),
    ],
)
def test_a_function_that_cannot_take_what_it_is_given_is_known_before_a_call(
    tmp_path: Path, code: str, said: str | None
) -> None:
    """Each of its calls would fail, and count as a bad answer."""
    (tmp_path / "f.py").write_text(code)
    if said is None:
        functions.check("f.py:query", tmp_path, ["x", "y", "z"])
        return
    with pytest.raises(PluginError, match=said):
        functions.check("f.py:query", tmp_path, ["x", "y", "z"])


@pytest.mark.parametrize("written", ["query", ":query", "a.py:", "a.py:not a name"])
def test_what_names_no_function_is_refused(written: str) -> None:
    """It is a mistake of the config, whatever files there are."""
    with pytest.raises(ValueError, match="names no function"):
        functions.check_form(written)


@pytest.mark.parametrize("name", ["yaml", "test"])
def test_a_file_beside_the_config_is_never_taken_for_an_installed_module(tmp_path: Path, name: str) -> None:
    """The log would name a file that never ran."""
    (tmp_path / f"{name}.py").write_text("def dump(question, *rest): return question\n")
    with pytest.raises(PluginError, match=f"installed module; write {name}.py:dump"):
        functions.load(f"{name}:dump", tmp_path)
    assert functions.load(f"{name}.py:dump", tmp_path)("q") == "q"
