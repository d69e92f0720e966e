"""Finds agents, judges, datasets and exports by file name, and loads the one that is asked for.

A plug-in is one file in `keval/<kind>s/`, called what the user types: a module docstring whose
first line is the help text, and one frozen dataclass that subclasses the kind's base and whose
fields are its options. Other packages add theirs by the entry-point group `keval.<kind>s`; the
entry point's name is the plug-in's name and its value is the module.

Listing reads the docstring from the source and imports nothing.
"""

from __future__ import annotations

import ast
import dataclasses
import importlib
import importlib.util
import inspect
import traceback
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, TypeVar

from keval import nearest
from keval.errors import PluginError, UsageError

Base = TypeVar("Base")

KINDS = ("agent", "judge", "dataset", "export", "format", "origin")
"""What can be added by a file; `keval/<kind>s/` holds those of the package."""

added_loaded: set[str] = set()
"""Modules of plug-ins that other packages add and that were imported."""


@dataclass(frozen=True, slots=True)
class Plugin:
    """Where one plug-in was found; nothing of it has been imported."""

    kind: str
    name: str
    module: str
    origin: str
    """The file, or the distribution that added it."""


@cache
def find(kind: str) -> dict[str, Plugin]:
    """Return all plug-ins of a kind by name, sorted.

    Raises PluginError when two have one name.
    """
    folder = Path(__file__).parent / f"{kind}s"
    found = {
        path.stem: Plugin(kind, path.stem, f"keval.{kind}s.{path.stem}", str(path))
        for path in folder.glob("*.py")
        if not path.stem.startswith("_")
    }
    for entry in _added().select(group=f"keval.{kind}s"):
        origin = entry.dist.name if entry.dist else entry.value
        if entry.name in found:
            raise PluginError(f"{kind} {entry.name!r}: {origin} and {found[entry.name].origin} both define it")
        found[entry.name] = Plugin(kind, entry.name, entry.value, origin)
    return dict(sorted(found.items()))


@cache
def _added() -> Any:  # noqa: ANN401 - its type is not the same in all versions of Python
    """Return what the installed packages add to others: to look through them all takes as long as many imports."""
    from importlib.metadata import entry_points

    return entry_points()


def forget() -> None:
    """Look for plug-ins anew."""
    find.cache_clear()
    _added.cache_clear()


def summary(plugin: Plugin) -> str:
    """Return the first line of a plug-in's module docstring, without importing the module."""
    spec = importlib.util.find_spec(plugin.module)
    if spec is None or spec.origin is None:
        raise PluginError(f"{plugin.kind} {plugin.name!r}: no module {plugin.module} ({plugin.origin})")
    try:
        return _docstring_line(Path(spec.origin))
    except PluginError as error:
        raise PluginError(f"{plugin.kind} {plugin.name!r}: {error}") from error


def _docstring_line(path: Path) -> str:
    """Return the first line of a source file's docstring.

    Raises PluginError when the file has none or does not parse.
    """
    try:
        text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    except SyntaxError as error:
        raise PluginError(f"{path}:{error.lineno}: {error.msg}") from error
    if not text:
        raise PluginError(f"{path}: a plug-in begins with a docstring; its first line is the help text")
    return text.splitlines()[0]


def base(kind: str) -> type[object]:
    """Return the class that every plug-in of a kind derives from."""
    found: type[object] = getattr(importlib.import_module(f"keval.{kind}s"), kind.capitalize())
    return found


def load(kind: str, base: type[Base], name: str) -> type[Base]:
    """Import a plug-in and return its class.

    Raises UsageError for an unknown name (with the nearest known one), PluginError for a
    plug-in that exists and cannot be used.
    """
    known = find(kind)
    if name not in known:
        raise UsageError(f"unknown {kind} {name!r}{nearest.hint(name, known)} (known: {', '.join(known)})")
    plugin = known[name]
    if not plugin.module.startswith(f"{__package__}."):
        added_loaded.add(plugin.module)
    try:
        module = importlib.import_module(plugin.module)
    except Exception as error:  # foreign code: whatever it raises, the plug-in is what is broken
        said = f"{type(error).__name__}: {error}"
        raise PluginError(f"{kind} {name!r} ({plugin.origin}): {said}{_place_of(error)}") from error
    return _only_class(plugin, module, base)


def _place_of(error: Exception) -> str:
    """Return where an error was raised: the place that a syntax error names, else the innermost line that ran."""
    if isinstance(error, SyntaxError):
        return ""  # its own text says it
    frames = traceback.extract_tb(error.__traceback__)
    return f" ({frames[-1].filename}:{frames[-1].lineno})" if frames else ""


def _only_class(plugin: Plugin, module: ModuleType, base: type[Base]) -> type[Base]:
    classes = [
        member
        for member in vars(module).values()
        if inspect.isclass(member) and issubclass(member, base) and member.__module__ == module.__name__
    ]
    where = f"{plugin.kind} {plugin.name!r} ({plugin.origin})"
    if len(classes) != 1:
        raise PluginError(f"{where}: expected one class derived from {base.__name__}, found {len(classes)}")
    if "__dataclass_fields__" not in vars(classes[0]):  # its base is one, so `is_dataclass` would always say yes
        raise PluginError(f"{where}: {classes[0].__name__} is not a dataclass")
    return classes[0]


Identity = bool | Literal["if set"]


@dataclass(frozen=True, slots=True)
class Option:
    """One option of a plug-in: a field of its dataclass."""

    name: str
    annotation: str
    default: object
    required: bool
    help: str
    identity: Identity
    """Whether a change of it makes another agent or judge (keys and limits do not).

    `if set`: it came later than its plug-in, and is no part of the identity as long as it has its default.
    """
    example: object = None
    """A value that a config may have; of an option that is needed, by itself or with others, there is one."""
    is_template: bool = False
    """Whether `{placeholders}` are filled in; what comes of a variable is no part of the template."""


def option(
    help_text: str, *, identity: Identity = True, example: object = None, is_template: bool = False
) -> dict[str, object]:
    """Return the field metadata of an option: its help text, whether it is part of the identity, and an example.

    The examples of a judge's options together make one that can judge. `is_template`: `{placeholders}` are filled in.
    """
    return {"help": help_text, "identity": identity, "example": example, "is_template": is_template}


def options(plugin_class: type) -> list[Option]:
    """Return the options of a loaded plug-in class, in the order of its fields.

    A field whose name begins with `_` is not an option: it is how a plug-in is rebuilt from a log.
    """
    return [
        Option(
            name=field.name,
            annotation=str(field.type),
            default=_default(field),
            required=field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING,
            help=str(field.metadata.get("help", "")),
            identity=field.metadata.get("identity", True),
            example=field.metadata.get("example"),
            is_template=bool(field.metadata.get("is_template")),
        )
        for field in dataclasses.fields(plugin_class)
        if not field.name.startswith("_")
    ]


def _default(field: dataclasses.Field[object]) -> object:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return None if field.default is dataclasses.MISSING else field.default
