"""Reads a YAML 1.2 file as JSON and knows the line of everything in it.

YAML says more than JSON can hold, and some of it (`010`, `0x1F`, a date) is seldom what was meant.
Such values are problems that name their line; nothing is turned into something else silently.
"""

from __future__ import annotations

import codecs
import hashlib
import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, StringMark
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
from ruamel.yaml.reader import ReaderError

from keval.documents.strict_json import DEEPEST_VALUE
from keval.errors import InputError
from keval.json_text import LARGEST_SIGNED_INT, SMALLEST_INT
from keval.schema import json_path

if TYPE_CHECKING:
    from pathlib import Path

Keys = tuple[str | int, ...]
"""Where a value is: the keys and indexes that lead to it."""

Pairs = dict[str, tuple[ScalarNode, Node]]
"""The key and the value of each member of a mapping."""

Problem = tuple[int, Keys, str]
"""Line, place and message."""

TAG = "tag:yaml.org,2002:"

INTEGER = re.compile(r"[-+]?(0|[1-9][0-9_]*)")
"""YAML also reads `0x8` and `0o10` as 8, and older readers take `010` for 8, newer ones for 10."""

BREAKS = "\x85\u2028\u2029"
"""To the parser these end a line, as in YAML 1.1; to YAML 1.2 and to editors they are data: stand-ins go through it."""

LONGEST_NUMBER = 40
"""Characters; Python takes long for the integers of thousands of digits, and we have no use for them."""

MOST_VALUES = 100_000
"""Aliases of aliases can make a small file huge; beyond this a file is refused."""


@dataclass
class Document:
    """A file's value, the line of each key and item in it, and what could not be read as JSON."""

    path: Path
    value: Any = None
    sha256: str = ""
    """Hash of the file's bytes, as `sha256sum` prints it."""
    lines: dict[Keys, int] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def line(self, keys: Keys) -> int:
        """Return the line of a value, or of the nearest one around it that is in the file."""
        while keys and keys not in self.lines:
            keys = keys[:-1]
        return self.lines.get(keys, 1)

    def described(self, problem: Problem) -> str:
        """Return a problem as `file:line: $.path: message`."""
        line, keys, message = problem
        return f"{self.path}:{line}: {json_path(keys)}: {message}"


def read(path: Path) -> Document:
    """Read a YAML file; what is wrong with its content is in `problems`.

    Raises InputError when the file itself cannot be read.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from error
    document = Document(path, sha256=hashlib.sha256(content).hexdigest())
    try:
        _Builder(document, content.removeprefix(codecs.BOM_UTF8).decode()).build()
    except UnicodeDecodeError as error:
        document.problems.append((error.object.count(b"\n", 0, error.start) + 1, (), "not UTF-8"))
    return document


class _Builder:
    """Turns the nodes of one YAML text into the value and the lines of a document."""

    def __init__(self, document: Document, text: str) -> None:
        self.document = document
        lowered = text.lower()
        spare = (code for code in range(0xE000, 0xF900) if chr(code) not in text and f"{code:x}" not in lowered)
        self.stand_ins = {next(spare): ord(character) for character in BREAKS if character in text}
        self.text = text.translate({character: code for code, character in self.stand_ins.items()})
        self.within: list[Node] = []
        self.known_pairs: dict[MappingNode, Pairs] = {}

    def build(self) -> None:
        try:
            node = _composed(self.text)
            if node is None:
                self.problem_at(1, (), "the file is empty")
            else:
                self.document.value = self.value(node, ())
        except ReaderError as error:
            line = self.text.count("\n", 0, error.position) + 1
            self.problem_at(line, (), f"not YAML: character {error.character:#x} is not allowed")
        except MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            told = ", ".join(part for part in (error.context, error.problem) if part)
            self.problem_at(mark.line + 1 if mark else 1, (), f"not YAML: {told}{_what_helps(told, self.text)}")
        except RecursionError:
            self.problem_at(1, (), "nested too deeply")

    def problem_at(self, line: int, keys: Keys, message: str) -> None:
        self.document.problems.append((line, keys, message))

    def problem(self, node: Node, keys: Keys, message: str) -> None:
        self.problem_at(_line(node), keys, message)

    def value(self, node: Node, keys: Keys) -> Any:  # noqa: ANN401 - any JSON value
        self.document.lines.setdefault(keys, _line(node))
        if len(self.document.lines) > MOST_VALUES:
            raise MarkedYAMLError(problem=f"more than {MOST_VALUES} values", problem_mark=node.start_mark)
        if len(self.within) > DEEPEST_VALUE:
            raise MarkedYAMLError(problem=f"deeper than {DEEPEST_VALUE} levels", problem_mark=node.start_mark)
        if node in self.within:
            self.problem(node, keys, "an alias of what it is in has no end")
            return None
        if isinstance(node, ScalarNode):
            return self.scalar(node, keys)
        self.within.append(node)
        try:
            if isinstance(node, MappingNode) and node.tag == f"{TAG}map":
                return self.mapping(node, keys)
            if isinstance(node, SequenceNode) and node.tag == f"{TAG}seq":
                return [self.value(item, (*keys, index)) for index, item in enumerate(node.value)]
        finally:
            self.within.pop()
        return self.foreign(node, keys)

    def foreign(self, node: Node, keys: Keys) -> None:
        self.problem(node, keys, f"{_tag(node)} has no JSON form")

    def mapping(self, node: MappingNode, keys: Keys) -> dict[str, Any]:
        mapping = {}
        for name, (key, value) in self.pairs(node, keys).items():
            self.document.lines[(*keys, name)] = _line(key)
            mapping[name] = self.value(value, (*keys, name))
        return mapping

    def pairs(self, node: MappingNode, keys: Keys) -> Pairs:
        """Return the keys and values of a mapping with those that `<<` brings in, its own first."""
        if node in self.known_pairs:
            return self.known_pairs[node]
        pairs: Pairs = {}
        self.known_pairs[node] = pairs  # known from here on, so that a mapping merged into itself has an end
        sources: list[Node] = []
        for key, value in node.value:
            name = self.as_text(key.value) if isinstance(key, ScalarNode) else None
            if name is None:
                self.problem(key, keys, "a key must be text")
            elif key.tag == f"{TAG}merge":
                sources += value.value if isinstance(value, SequenceNode) else [value]
            elif name in pairs:
                first = _line(pairs[name][0])
                self.problem(key, (*keys, name), f"this key is already in line {first}")
            else:
                pairs[name] = (key, value)
        for source in sources:
            if isinstance(source, MappingNode):
                self.known_pairs[node] = pairs = {**self.pairs(source, keys), **pairs}
            else:
                self.problem(source, keys, "`<<` takes a mapping or a list of mappings")
        return pairs

    def as_text(self, text: str) -> str | None:
        """Return a text with the surrogate pairs that JSON writes joined, or None when half of one is left."""
        try:
            return text.translate(self.stand_ins).encode("utf-16", "surrogatepass").decode("utf-16")
        except UnicodeDecodeError:
            return None

    def scalar(self, node: ScalarNode, keys: Keys) -> Any:  # noqa: ANN401 - any JSON value
        kind = _tag(node).removeprefix("!!")
        if kind == "null":
            return None
        found: str | float | None = None
        if kind in {"str", "value", "merge"}:
            found = self.as_text(node.value)
        elif kind == "bool":
            found = _BOOLEANS.get(node.value.lower())
        elif kind in {"int", "float"}:
            found = _number(kind, node.value)
        if found is None:
            self.problem(node, keys, _unfit_scalar(node))
            return ""
        return found


def with_quotes_hint(message: str) -> str:
    """Return what is said of a value, with what to do where YAML takes for a number or a truth what may be text."""
    is_no_text = re.fullmatch(r"expected a string\b.*, found (-?[0-9.e+]+|true|false)", message)
    return f"{message}; if text is meant, put it in quotes" if is_no_text else message


def _composed(text: str) -> Node | None:
    """Return the node of a YAML text. Raises YAMLError, also for what the parser itself breaks on."""
    try:
        node: Node | None = _parser().compose(text)
    except (ValueError, OverflowError, AssertionError, KeyError) as error:
        odd = _ODD.search(text)
        line = 0 if odd is None else text.count("\n", 0, odd.start())
        told = str(error) if odd is None else f"{odd[0]!r} has no meaning"
        raise MarkedYAMLError(problem=told, problem_mark=StringMark("", 0, line, 0, text, 0)) from error
    return node


_ODD = re.compile(r"\\U(?!000|0010)[0-9A-Fa-f]{8}|^%YAML.{,20}", re.MULTILINE)
"""Escapes of what is no character, and versions: the parser raises other errors for those that it does not know."""

_OFTEN = {
    "mapping values are not allowed here": "a text that has ': ' in it needs quotes; keys stand below each other",
    "expected <block end>": "this line, or one above it, begins further left or right than the lines beside it",
    "cannot start any token": "a tab, or a text that begins with this character, needs another form: spaces, or quotes",
}
"""What people mostly did where the parser says so."""


def _what_helps(told: str, text: str) -> str:
    """Return what to do about a file that is no YAML, as far as that is known."""
    if text.lstrip().startswith("{") and "\n{" in text.lstrip():
        return "; it has a JSON object on each line, as logs and datasets have: is it the file you meant?"
    return next((f"; {often}" for found, often in _OFTEN.items() if found in told), "")


_BOOLEANS = {"true": True, "false": False}


def _parser() -> YAML:
    parser = YAML(typ="safe", pure=True)
    parser.composer.warn_double_anchors = False  # YAML allows an anchor to be set anew, and stderr is ours
    return parser


def _tag(node: Node) -> str:
    """Return a node's tag in short, such as `!!int`."""
    return str(node.tag).replace(TAG, "!!")


def _line(node: Node) -> int:
    return int(node.start_mark.line) + 1


def _number(kind: str, text: str) -> float | None:
    if kind == "int":
        number = int(text.replace("_", "")) if INTEGER.fullmatch(text) and len(text) <= LONGEST_NUMBER else None
        return number if number is not None and SMALLEST_INT <= number <= LARGEST_SIGNED_INT else None
    try:
        real = float(text.replace("_", ""))
    except ValueError:
        return None
    return real if math.isfinite(real) else None


def _unfit_scalar(node: ScalarNode) -> str:
    kind = _tag(node)
    meaning = {
        "!!str": "half of a surrogate pair, no character",
        "!!timestamp": "a date",
        "!!int": "a number that is not plainly decimal or beyond 64 bits",
        "!!float": "not a plain number",
    }
    return f"{node.value!r} is {meaning.get(kind, f'a {kind}')} to YAML; if text is meant, put it in quotes"
