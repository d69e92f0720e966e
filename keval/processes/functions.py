"""Finds a function of the user's that a config names: `module:function` or `path/to/file.py:function`.

Both are looked for from the config's folder, and a module in what is installed as well. A function runs inside keval
and sees what keval sees.
"""

from __future__ import annotations

import asyncio
import hashlib
import importlib
import importlib.util
import inspect
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from keval.counted import counted
from keval.errors import EnvironmentLacksError, PluginError
from keval.processes import coroutines

_from_files: dict[tuple[Path, str], ModuleType] = {}
"""Modules by the path and the hash of their file: an edited file is another module."""

_entered: list[None] = []
"""One entry for each who lets functions print to stderr now."""

_stdout = sys.stdout
"""Where the others print."""


def check_form(written: str) -> None:
    """Raise ValueError for what names no function, whatever there is."""
    place, _, name = written.rpartition(":")
    if not place or not name.isidentifier():
        raise ValueError(f"{written!r} names no function; write module:function or file.py:function")


def load(written: str, folder: Path) -> Callable[..., Any]:
    """Return a function; `folder` is the config's.

    Raises EnvironmentLacksError for a file or module that is not there, PluginError for one that is broken or does not
    have the function.
    """
    place, _, name = written.rpartition(":")
    if place.endswith(".py") and not (folder / place).exists():
        raise EnvironmentLacksError(f"{written}: there is no file {folder / place}")
    try:
        module = _of_file(folder / place) if place.endswith(".py") else _of_name(place, folder)
    except (Exception, SystemExit) as error:  # foreign code: whatever it raises, the user's module is what is broken
        if isinstance(error, ModuleNotFoundError) and _is_or_holds(error.name, place):
            raise EnvironmentLacksError(f"{written}: {_no_module(place)}") from error
        raise PluginError(f"{written}: cannot be imported: {told(error)}") from error
    _check_is_source(module, written, folder)
    function = getattr(module, name, None)
    if not callable(function):
        raise PluginError(f"{written}: {place} has no function {name}")
    found: Callable[..., Any] = function
    return found


def _check_is_source(module: ModuleType, written: str, folder: Path) -> None:
    """Raise PluginError for an installed module in the place of the file in the config's folder that has its name."""
    place, _, name = written.rpartition(":")
    file = source(written, folder)
    if not place.endswith(".py") and file is not None and Path(module.__file__ or "").resolve() != file.resolve():
        raise PluginError(f"{written}: {place} is also the name of an installed module; write {file.name}:{name}")


def check(written: str, folder: Path, given: Sequence[str]) -> None:
    """Raise what `load` raises, and PluginError for a function that cannot take as many arguments as it is given."""
    function = load(written, folder)
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # some that are written in C have none
        return
    try:
        signature.bind(*given)
    except TypeError as error:
        told_given = f"{counted(len(given), 'argument')}: {', '.join(given)}"
        raise PluginError(f"{written} takes {signature}, and is given {told_given} ({error})") from error


def _is_or_holds(missing: str | None, module: str) -> bool:
    return missing is not None and f"{module}.".startswith(f"{missing}.")


def _no_module(module: str) -> str:
    return f"there is no module {module} in the config's folder or among the installed ones"


def is_async(function: Callable[..., Any]) -> bool:
    """Return whether a function, or an object that can be called, is a coroutine function."""
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)


def blocked(written: str) -> str:
    """Return what is said of an async function that came to no end, as something blocked it or it blocked others."""
    return f"an async function blocked the others: {written} has to await, or to be a plain function"


async def called(function: Callable[..., Any], *arguments: object) -> object:
    """Call a function: a coroutine function in the event loop of the user's, any other in a new thread of its own.

    A thread cannot be ended: one that nobody waits for any more runs on. So does a coroutine that refuses to end.
    """
    if inspect.iscoroutinefunction(function):
        return await coroutines.awaited(function(*arguments))
    loop = asyncio.get_running_loop()
    done: asyncio.Future[object] = loop.create_future()

    def tell(settle: Callable[[Any], None], value: object) -> None:
        if not done.done():
            settle(value)

    def work() -> None:
        settle: Callable[[Any], None] = done.set_result
        try:
            value = function(*arguments)
        except BaseException as error:  # noqa: BLE001 - it is raised where the function is awaited
            settle, value = done.set_exception, coroutines.raisable(error)
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(tell, settle, value)

    # A daemon: one that never returns must not keep keval from ending.
    threading.Thread(target=work, name="keval-function", daemon=True).start()
    returned = await done
    return await coroutines.awaited(returned) if inspect.isawaitable(returned) else returned


def told(error: BaseException) -> str:
    """Return an exception's last line, and the line of code that raised it."""
    said = traceback.format_exception_only(error)[-1].strip()
    if isinstance(error, SyntaxError) and error.filename is not None:
        return f"{said} ({Path(error.filename).name}:{error.lineno}: {(error.text or '').strip()})"
    frames = traceback.extract_tb(error.__traceback__)
    place = next((frame for frame in reversed(frames) if not frame.filename.startswith("<frozen")), None)
    if place is None or place.filename == __file__:
        return said
    return f"{said} ({Path(place.filename).name}:{place.lineno}: {place.line})"


@contextmanager
def printing_to_stderr() -> Iterator[None]:
    """Let what functions print while this is entered go to stderr: stdout is data. Several may be entered at once."""
    global _stdout
    _entered.append(None)
    if len(_entered) == 1:
        _stdout, sys.stdout = sys.stdout, sys.stderr
    try:
        yield
    finally:
        _entered.pop()
        if not _entered:
            sys.stdout = _stdout


def source(written: str, folder: Path) -> Path | None:
    """Return the file that holds a function, from the config's folder or else from what is installed.

    None for a module that has no file, such as one that is built in. Raises EnvironmentLacksError when there is no such
    module.
    """
    place = written.rpartition(":")[0]
    if place.endswith(".py"):
        return folder / place
    candidates = (
        folder / Path(*place.split(".")).with_suffix(".py"),
        folder.joinpath(*place.split("."), "__init__.py"),
    )
    return next((path for path in candidates if path.is_file()), None) or _installed(place)


def _installed(module: str) -> Path | None:
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError) as error:
        raise EnvironmentLacksError(f"function: there is no module {module}: {error}") from error
    if spec is None:
        raise EnvironmentLacksError(f"function: {_no_module(module)}")
    return Path(spec.origin) if spec.origin is not None and spec.has_location else None


class _FromSource(SourceFileLoader):
    """Runs what a file holds now: Python's cache takes an edit within a second that keeps the length for no edit."""

    def get_code(self, fullname: str) -> CodeType:
        """Return the compiled file."""
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)


def _of_file(path: Path) -> ModuleType:
    content = hashlib.sha256(path.read_bytes()).hexdigest()
    index = (path.resolve(), content)
    if index not in _from_files:
        name = f"keval_user_{path.stem}_{content[:16]}"
        spec = importlib.util.spec_from_file_location(name, path, loader=_FromSource(name, str(path)))
        if spec is None or spec.loader is None:
            raise ImportError(f"{path} is no Python file")
        _look_in(path.parent)
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module  # dataclasses look their module up
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[name]
            raise
        _from_files[index] = module
    return _from_files[index]


def _of_name(name: str, folder: Path) -> ModuleType:
    _look_in(folder)
    return importlib.import_module(name)


def _look_in(folder: Path) -> None:
    """Let modules beside the function be imported, but nothing of keval's be replaced by them."""
    text = str(folder.resolve())
    if text not in sys.path:
        sys.path.append(text)
    importlib.invalidate_caches()
