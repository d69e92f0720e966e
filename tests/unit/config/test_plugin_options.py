from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keval.agents.command import Command
from keval.agents.messages import Messages
from keval.config import plugin_options
from keval.errors import PluginError
from keval.plugins import option
from keval.secrets.variables import Secrets


@dataclass(frozen=True, kw_only=True)
class Everything:
    """A plug-in with a field of each kind."""

    needed: str
    text: str = "default"
    whole: int = 1
    number: float = 0.5
    flag: bool = False
    anything: Any = None
    maybe: float | None = None
    either: str | list[str] = "one"
    words: tuple[str, ...] = ()
    more: list[int] = field(default_factory=list)
    sequence: Sequence[str] = ()
    named: Mapping[str, float] = field(default_factory=dict)
    plain: dict[str, str] = field(default_factory=dict)
    choice: Literal["low", "high", 1] = "low"
    file: Path | None = None
    model: str = "m"
    key: str = field(default="K", metadata=option("a key", identity=False))
    _hidden: int = 0


@dataclass(frozen=True)
class Odd:
    """A plug-in with a field that no config can fill."""

    option: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class Pair:
    """A plug-in with a tuple of two."""

    option: tuple[int, str] = (1, "x")


@dataclass(frozen=True)
class Unnamed:
    """A plug-in whose annotation cannot be evaluated."""

    option: Nowhere = 1  # type: ignore[name-defined] # noqa: F821 - the mistake that the test is about


def test_values_become_what_the_fields_hold() -> None:
    """Lists become tuples, integers floats and texts paths where the field asks for it."""
    written = {
        "needed": "n",
        "number": 2,
        "maybe": None,
        "either": ["a"],
        "words": ["a", "b"],
        "more": [1],
        "sequence": ["s"],
        "named": {"x": 1},
        "plain": {"y": "z"},
        "choice": 1,
        "anything": {"any": [None]},
        "file": "sub/f.yaml",
    }
    values, mistakes = plugin_options.read(Everything, written, Path("/folder"))
    assert not mistakes
    assert Everything(**values) == Everything(
        needed="n",
        number=2.0,
        maybe=None,
        either=["a"],
        words=("a", "b"),
        more=[1],
        sequence=("s",),
        named={"x": 1.0},
        plain={"y": "z"},
        choice=1,
        anything={"any": [None]},
        file=Path("/folder/sub/f.yaml"),
    )
    assert type(values["number"]) is float
    assert plugin_options.read(Everything, {"needed": "", "file": "/abs"}, Path("/folder"))[0]["file"] == Path("/abs")


@pytest.mark.parametrize(
    ("name", "value", "keys", "message"),
    [
        ("text", 7, (), "expected a string, found 7; put it in quotes"),
        ("text", None, (), "expected a string, found null"),
        ("whole", 1.0, (), "expected an integer, found 1.0"),
        ("whole", True, (), "expected an integer, found true"),
        ("number", "x", (), "expected a number, found 'x'"),
        ("number", False, (), "expected a number, found false"),
        ("flag", 1, (), "expected true or false, found 1"),
        ("maybe", "x", (), "expected a number, found 'x'"),
        ("either", {}, (), "expected a string, found a mapping, and expected a list, found a mapping"),
        ("either", ["a", 2], (1,), "expected a string, found 2; put it in quotes"),
        ("words", "abc", (), "expected a list, found 'abc'"),
        ("words", ["a", []], (1,), "expected a string, found a list"),
        ("named", [], (), "expected a mapping, found a list"),
        ("named", {"x": "y"}, ("x",), "expected a number, found 'y'"),
        ("choice", "hihg", (), "'hihg' is not one of 'low', 'high', 1; did you mean 'high'?"),
        ("choice", True, (), "true is not one of 'low', 'high', 1"),
        ("file", 3, (), "expected a string, found 3; put it in quotes"),
        ("wholle", 3, (), "unknown option 'wholle'; did you mean 'whole'?"),
        ("_hidden", 3, (), "unknown option '_hidden'; known: needed, text, whole"),
    ],
)
def test_a_value_that_does_not_fit_is_named_with_its_place(
    name: str, value: object, keys: tuple[str | int, ...], message: str
) -> None:
    """A wrong type is found wherever it is, and never made to fit."""
    (mistake,) = plugin_options.read(Everything, {"needed": "n", name: value})[1]
    assert mistake[0] == (name, *keys)
    assert mistake[1].startswith(message)


def test_all_mistakes_are_found_at_once() -> None:
    """A missing option does not hide a wrong one."""
    mistakes = plugin_options.read(Everything, {"whole": "x", "unknwon": 1})[1]
    assert [keys for keys, _ in mistakes] == [(), ("whole",), ("unknwon",)]
    assert mistakes[0][1] == "'needed' is missing"


def test_a_variable_that_is_not_set_may_hold_a_choice() -> None:
    """What cannot be known yet is no mistake."""
    assert plugin_options.read(Everything, {"needed": "${A}", "choice": "${B}"})[1] == []


@pytest.mark.parametrize("plugin", [Odd, Pair, Unnamed])
def test_a_field_that_no_config_can_fill_breaks_the_plugin(plugin: type) -> None:
    """A plug-in's own mistake is not blamed on the config."""
    with pytest.raises(PluginError):
        plugin_options.read(plugin, {"option": [1]})


def test_identity_leaves_out_what_makes_no_other() -> None:
    """Neither the model, which is told apart, nor what is marked so is part of the options' identity."""
    written = {"needed": "n", "key": "OTHER", "model": "other", "file": "f.yaml"}
    identity = plugin_options.identity(Everything, written)
    assert identity == plugin_options.identity(Everything, {"needed": "n", "file": "f.yaml"})
    assert identity["file"] == "f.yaml"
    assert not identity.keys() & {"key", "model", "_hidden"}
    assert identity != plugin_options.identity(Everything, {"needed": "n"})


@given(st.sets(st.sampled_from(["text", "whole", "number", "flag", "words", "more", "named", "choice", "maybe"])))
def test_writing_a_default_down_changes_nothing(names: set[str]) -> None:
    """The identity of options with and without their defaults is the same."""
    defaults = {
        "text": "default", "whole": 1, "number": 0.5, "flag": False, "words": [], "more": [], "named": {},
        "choice": "low", "maybe": None,
    }  # fmt: skip
    written = {"needed": "n"} | {name: defaults[name] for name in names}
    assert plugin_options.identity(Everything, written) == plugin_options.identity(Everything, {"needed": "n"})


def test_one_number_has_one_identity() -> None:
    """2 and 2.0 are the same number."""
    assert plugin_options.identity(Everything, {"needed": "n", "number": 2}) == plugin_options.identity(
        Everything, {"needed": "n", "number": 2.0}
    )


def test_an_option_that_came_later_changes_no_identity_until_it_is_set() -> None:
    """Answers of before stay those of the same agent; what decides which model answers makes another one."""
    before = {"model": "m"}
    same: dict[str, Any] = {
        **before,
        "provider": "anthropic",
        "base_url": None,
        "headers": {},
        "api_key_env": "MINE",
        "region": "r",
    }
    assert plugin_options.identity(Messages, same) == plugin_options.identity(Messages, before)
    assert not {"provider", "base_url", "headers"} & plugin_options.identity(Messages, before).keys()
    for name, value in {"provider": "bedrock", "base_url": "http://g", "headers": {"anthropic-beta": "x"}}.items():
        assert plugin_options.identity(Messages, {**before, name: value})[name] == value


def test_what_a_variable_holds_is_part_of_no_template() -> None:
    """Only the options in which placeholders are filled in have its braces doubled."""
    written = {"command": ["ask", "${A}"], "env": {"KEY": "${A}"}}
    resolved = plugin_options.resolved(Command, written, Secrets({"A": "{question}"}))
    assert resolved == {"command": ["ask", "{{question}}"], "env": {"KEY": "{question}"}}
