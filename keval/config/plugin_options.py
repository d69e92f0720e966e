"""Checks the options that a config gives a plug-in against the fields of its dataclass.

A plug-in says what it takes by the annotations of its fields; nothing else declares its options.
"""

from __future__ import annotations

import collections.abc
import sys
import types
import typing
from pathlib import Path
from typing import Any, Literal, Union

from keval import nearest, plugins
from keval.errors import PluginError
from keval.secrets.variables import variables

if typing.TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from keval.documents.yaml_document import Keys
    from keval.ids import JsonObject
    from keval.secrets.variables import Secrets

Mistake = tuple["Keys", str]
"""Where among the options, and what is wrong there."""

NAMES: dict[str, object] = {
    "Any": Any,
    "Literal": Literal,
    "Mapping": collections.abc.Mapping,
    "Path": Path,
    "Sequence": collections.abc.Sequence,
}
"""What a field's annotation may name although its module imports it for type checkers only."""

PLAIN: dict[type, str] = {
    str: "a string",
    bool: "true or false",
    int: "an integer",
    float: "a number",
    types.NoneType: "null",
}


def read(
    plugin_class: type, written: Mapping[str, Any], folder: Path | None = None, beside: Sequence[str] = ()
) -> tuple[dict[str, Any], list[Mistake]]:
    """Return options as the plug-in's fields take them, and everything that is wrong with them.

    Lists become tuples where the field is one, integers become floats, and paths are taken from
    `folder` when one is given. `beside` are keys that stand beside options, which may be meant by a misspelt one.
    Raises PluginError for a field of a kind that no config can fill.
    """
    known = {option.name: option for option in plugins.options(plugin_class)}
    hints = _hints(plugin_class)
    mistakes: list[Mistake] = [
        ((), f"{name!r} is missing") for name, option in known.items() if option.required and name not in written
    ]
    values = {}
    for name, value in written.items():
        if name not in known:
            mistakes.append(((name,), _unknown(name, [*known, *beside])))
            continue
        try:
            values[name] = _fit(hints[name], value, (name,), folder)
        except _Unfit as unfit:
            mistakes.append((unfit.keys, unfit.message))
            values[name] = value
        except TypeError as error:
            raise PluginError(f"{plugin_class.__module__}: the option {name!r} is declared as {error}") from error
    return values, mistakes


def resolved(plugin_class: type, written: Mapping[str, Any], secrets: Secrets) -> JsonObject:
    """Return options with `${VAR}` replaced where the variable is set."""
    templates = {option.name for option in plugins.options(plugin_class) if option.is_template}
    return {name: secrets.resolve_known(value, in_template=name in templates) for name, value in written.items()}


def identity(plugin_class: type, written: Mapping[str, Any]) -> JsonObject:
    """Return what of a plug-in's options makes it the one it is, `model` apart.

    Missing options have their defaults, so that writing one down makes no other agent or judge.
    """
    values, _ = read(plugin_class, written)
    return {
        option.name: _as_json(values.get(option.name, option.default))
        for option in plugins.options(plugin_class)
        if option.identity and option.name != "model" and not _is_as_before(option, values)
    }


def _is_as_before(option: plugins.Option, values: Mapping[str, Any]) -> bool:
    """Return whether an option that came later has its default: then the plug-in is the one that it was."""
    return option.identity == "if set" and values.get(option.name, option.default) == option.default


class _Unfit(Exception):  # noqa: N818 - never leaves this file
    """A value that its field does not take."""

    def __init__(self, keys: Keys, message: str) -> None:
        super().__init__(message)
        self.keys = keys
        self.message = message


def _hints(plugin_class: type) -> dict[str, Any]:
    try:
        return typing.get_type_hints(plugin_class, localns=NAMES | vars(sys.modules[plugin_class.__module__]))
    except NameError as error:
        raise PluginError(
            f"{plugin_class.__module__}: the annotation of an option names what it lacks: {error}"
        ) from error


def _unknown(name: str, known: list[str]) -> str:
    meant = nearest.hint(name, known) or f"; known: {', '.join(known) or 'none'}"
    return f"unknown option {name!r}{meant}"


def _fit(hint: Any, value: Any, keys: Keys, folder: Path | None) -> Any:  # noqa: ANN401 - any field, any value
    """Return a value as a field of this type takes it. Raises _Unfit, or TypeError for a type not known here."""
    if hint is Any:
        return value
    if hint in PLAIN:
        return _plain(hint, value, keys)
    if hint is Path:
        text = Path(_plain(str, value, keys))
        return text if folder is None else folder.absolute() / text
    fitting = _FITTINGS.get(typing.get_origin(hint))
    if fitting is None:
        raise TypeError(f"{hint}, which no value of a config can be")
    return fitting(typing.get_args(hint), value, keys, folder)


def _plain(kind: type, value: Any, keys: Keys) -> Any:  # noqa: ANN401 - any value
    if kind is float and type(value) is int:
        return float(value)
    if type(value) is not kind:
        hint = "; put it in quotes" if kind is str and isinstance(value, int | float) else ""
        raise _Unfit(keys, f"expected {PLAIN[kind]}, found {_shown(value)}{hint}")
    return value


def _choice(choices: tuple[Any, ...], value: Any, keys: Keys, _: Path | None) -> Any:  # noqa: ANN401 - any value
    # Compared with their types: 1 is not True. A variable that is not set may hold a choice.
    if any(value == choice and type(value) is type(choice) for choice in choices) or variables(value):
        return value
    raise _Unfit(keys, f"{_shown(value)} is not one of {', '.join(map(_shown, choices))}{nearest.hint(value, choices)}")


def _alternative(hints: tuple[Any, ...], value: Any, keys: Keys, folder: Path | None) -> Any:  # noqa: ANN401 - any value
    refused = []
    for hint in hints:
        try:
            return _fit(hint, value, keys, folder)
        except _Unfit as unfit:
            refused.append(unfit)
    telling = [unfit for hint, unfit in zip(hints, refused, strict=True) if hint is not types.NoneType]
    # What is wrong inside one alternative says more than that none of them fits.
    deepest = max(telling, key=lambda unfit: len(unfit.keys))
    if len(telling) == 1 or len(deepest.keys) > len(keys):
        raise deepest
    raise _Unfit(keys, ", and ".join(unfit.message for unfit in telling))


def _list(hints: tuple[Any, ...], value: Any, keys: Keys, folder: Path | None) -> list[Any]:  # noqa: ANN401 - any value
    if not isinstance(value, list):
        raise _Unfit(keys, f"expected a list, found {_shown(value)}")
    return [_fit(hints[0], item, (*keys, index), folder) for index, item in enumerate(value)]


def _tuple(hints: tuple[Any, ...], value: Any, keys: Keys, folder: Path | None) -> tuple[Any, ...]:  # noqa: ANN401 - any value
    if hints[1:] not in {(), (...,)}:
        raise TypeError(f"a tuple of {hints}, which no value of a config can be")
    return tuple(_list(hints, value, keys, folder))


def _mapping(hints: tuple[Any, ...], value: Any, keys: Keys, folder: Path | None) -> dict[str, Any]:  # noqa: ANN401 - any value
    if not isinstance(value, dict):
        raise _Unfit(keys, f"expected a mapping, found {_shown(value)}")
    return {key: _fit(hints[1], item, (*keys, key), folder) for key, item in value.items()}


_FITTINGS: dict[object, Callable[[tuple[Any, ...], Any, Keys, Path | None], Any]] = {
    Literal: _choice,
    Union: _alternative,
    types.UnionType: _alternative,
    list: _list,
    tuple: _tuple,
    collections.abc.Sequence: _tuple,
    dict: _mapping,
    collections.abc.Mapping: _mapping,
}
"""What reads each kind of annotation, given its arguments."""


def _shown(value: object) -> str:
    if isinstance(value, list):
        return "a list"
    if isinstance(value, dict):
        return "a mapping"
    return (
        {None: "null", True: "true", False: "false"}[value] if value is None or isinstance(value, bool) else repr(value)
    )


def _as_json(value: object) -> object:
    if isinstance(value, collections.abc.Mapping):
        return {key: _as_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_as_json(item) for item in value]
    return str(value) if isinstance(value, Path) else value
