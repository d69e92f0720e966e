from __future__ import annotations

import asyncio
import gc
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


def test_a_function_that_cancels_itself_cancels_nobody_who_waits() -> None:
    """The worker goes on, and the cancellation is told as what the function raised."""

    async def itself() -> None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await asyncio.sleep(0)

    async def worker() -> int:
        with pytest.raises(asyncio.CancelledError):
            await functions.called(itself)
        task = asyncio.current_task()
        assert task is not None
        return task.cancelling()

    assert asyncio.run(worker()) == 0


def test_a_coroutine_that_raises_what_closes_one_ends_like_any_other() -> None:
    """`GeneratorExit` of its own is an error of the function; one that closes it stays what it is."""

    async def leaves() -> None:
        raise GeneratorExit

    with pytest.raises(RuntimeError, match="GeneratorExit"):
        asyncio.run(functions.called(leaves))


def test_who_is_cancelled_cancels_the_function() -> None:
    """It does not run on unseen."""
    seen = []

    async def waits() -> None:
        try:
            await asyncio.sleep(3600)
        finally:
            seen.append("ended")

    async def main() -> None:
        waiting = asyncio.ensure_future(functions.called(waits))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    asyncio.run(main())
    assert seen == ["ended"]


def test_a_function_that_refuses_to_end_holds_nobody_up(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Neither who waits for it nor the end of the run, as a bare `except` around each call would; nothing is said."""
    monkeypatch.setattr(functions, "GRACE_S", 0.05)

    async def refuses() -> None:
        while True:
            try:
                await asyncio.sleep(3600)
            except asyncio.CancelledError:
                continue

    async def main() -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await functions.called(refuses)

    asyncio.run(main())
    gc.collect()
    assert caplog.text == ""


def test_what_a_function_returns_when_it_is_cancelled_is_not_lost() -> None:
    """An answer that comes while it is ended may have been paid for."""

    async def returns() -> str:
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            return "late"
        return "early"

    async def main() -> object:
        waiting = asyncio.ensure_future(functions.called(returns))
        for _ in range(3):
            await asyncio.sleep(0)
        waiting.cancel()
        return await waiting

    assert asyncio.run(main()) == "late"


@pytest.mark.parametrize("name", ["yaml", "test"])
def test_a_file_beside_the_config_is_never_taken_for_an_installed_module(tmp_path: Path, name: str) -> None:
    """The log would name a file that never ran."""
    (tmp_path / f"{name}.py").write_text("def dump(question, *rest): return question\n")
    with pytest.raises(PluginError, match=f"installed module; write {name}.py:dump"):
        functions.load(f"{name}:dump", tmp_path)
    assert functions.load(f"{name}.py:dump", tmp_path)("q") == "q"
