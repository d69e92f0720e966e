"""Resolves `${VAR}` in the values of a config, and takes the resolved values out of everything that is written.

A config keeps its text as written; only what is started or asked gets the resolved form. Whatever
comes back goes through `redact`, which puts the variable's name in place of its value, however it
is spelt (`encodings.py`). Keys of models and what a config holds literally in `headers` and
`env` are taken out too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain, count
from typing import Any, ClassVar, NamedTuple
from weakref import WeakSet

from keval.errors import EnvironmentLacksError
from keval.secrets.lengths import SHORTEST_LITERAL, SHORTEST_REDACTED

VARIABLE = re.compile(r"\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
"""`${VAR}`, or `$${`, which stands for a literal `${`."""

MALFORMED = re.compile(r"\$\$\{|(\$\{(?![A-Za-z_][A-Za-z0-9_]*\})[^}\s]*\}?)")
"""A `${` that is neither of the two, such as `${VAR:-default}`."""

SOUNDS_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|AUTHORIZATION|COOKIE", re.IGNORECASE)
"""Names of variables and of headers whose values nobody else may see."""

HARMLESS_HEADERS = re.compile(r"accept(-.*)?|cache-control|content-type|user-agent|mcp-.*", re.IGNORECASE)
"""Headers whose values are words that stand in many texts."""


class _Pieces(NamedTuple):
    """Parts of spellings, of which at least one stands in every text that holds a value."""

    in_text: Sequence[str]
    """Those that stand in the text as it is."""
    in_joined: Sequence[str]
    """Those that stand in it once its breaks are taken out (`encodings.joined`): of base64 and hex."""


class Secrets:
    """The environment variables that a config names; remembers each value that it has handed out."""

    _all: ClassVar[WeakSet[Secrets]] = WeakSet()
    """For what is printed where no config is at hand, such as a traceback."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._all.add(self)
        self._environ = environ
        self._resolved: dict[str, str] = {}
        self._names: dict[str, str] = {}
        """Each way to spell a value, and the variable it belongs to."""
        self._encoded: set[str] = set()
        """Those of them that may be broken into lines."""
        self._lined: set[str] = set()
        """Those of them that are lines, which may be quoted or indented."""
        self._numbers: dict[float, str] = {}
        """Values that may turn up as a JSON number."""
        self._compiled: re.Pattern[str] | None = None
        self._gathered: _Pieces | None = None
        self._literal: set[tuple[str, str]] = set()
        """What a config holds literally, with the name of the header or variable; two servers may share a name."""
        self._secret_names: set[str] = set()

    def __repr__(self) -> str:
        return f"Secrets({', '.join(sorted(self._resolved))})"

    def resolve(self, value: Any) -> Any:  # noqa: ANN401 - any JSON value
        """Return a JSON value with `${VAR}` replaced in every string value (not in keys).

        Raises EnvironmentLacksError that names all missing variables.
        """
        if isinstance(value, str) and "${" not in value:
            return value
        missing = self.missing(value)
        if missing:
            raise EnvironmentLacksError(f"not set: {', '.join(missing)}; export what the config names")
        return self.resolve_known(value)

    def resolve_known(self, value: Any, *, in_template: bool = False) -> Any:  # noqa: ANN401 - any JSON value
        """Return a JSON value with `${VAR}` replaced where the variable is set, and as written where not.

        `in_template`: in the texts `{placeholders}` will be filled in, so braces that come of a variable are doubled.
        """
        if isinstance(value, str):
            return VARIABLE.sub(self._in_template if in_template else self._replacement, value)
        if isinstance(value, Mapping):
            return {key: self.resolve_known(item, in_template=in_template) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.resolve_known(item, in_template=in_template) for item in value]
        return value

    def missing(self, value: object) -> list[str]:
        """Return the names of all variables in a JSON value that are not set, sorted."""
        return sorted(variables(value) - self._environ.keys())

    def register(self, names: Iterable[str]) -> None:
        """Remember the values of variables that others read, such as the keys of models."""
        for name in names:
            self.resolve_known(f"${{{name}}}")
            self._secret_names.add(name)

    def register_all(self, written: object) -> None:
        """Remember the variables that a config names, and what it holds literally in `headers` and `env`.

        Of `env` only what has a name that sounds secret: the rest are settings, such as a model's name.
        """
        for name in variables(written):
            self.resolve_known(f"${{{name}}}")
            if SOUNDS_SECRET.search(name):
                self._secret_names.add(name)
        for section, name, value in _settings(written):
            secret = bool(SOUNDS_SECRET.search(name)) if section == "env" else not HARMLESS_HEADERS.fullmatch(name)
            if secret:
                self._secret_names |= variables(value)
            if secret and "${" not in value:
                # A header such as `Authorization: Bearer abc`: the last word alone is the secret.
                for part in (value, *value.split()[-1:]):
                    if len(part) >= SHORTEST_LITERAL:
                        self._remember(name, part)
                        self._literal.add((name, part))
                        self._secret_names.add(name)

    @classmethod
    def redact_all(cls, text: str) -> str:
        """Return a text without the values that any config of this process has handed out."""
        for secrets in cls._all:
            text = secrets.redact(text)
        return text

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to hide."""
        return not self._names

    @property
    def known(self) -> Mapping[str, Sequence[str]]:
        """All values that are taken out of texts, by name; those of one name are sorted."""
        values: dict[str, list[str]] = {}
        for name, value in sorted({*self._resolved.items(), *self._literal}):
            if len(value.strip()) >= SHORTEST_REDACTED:
                values.setdefault(name, []).append(value)
        return values

    @property
    def secret_names(self) -> AbstractSet[str]:
        """Names of known values that nobody else may see: keys, passwords, headers. The others are settings."""
        return self._secret_names & self.known.keys()

    def names_in(self, text: str) -> set[str]:
        """Return the names of the values that stand in a text, however they are spelt."""
        return {self._name(found) for found in self._pattern.findall(text)} if self._names else set()

    def may_stand_in(self, text: str) -> bool:
        """Return False only if `names_in` finds no value in a text; this takes much less time."""
        from keval.secrets.encodings import joined

        if not self._names:
            return False
        pieces = self._pieces
        if any(piece in text for piece in pieces.in_text):
            return True
        without_breaks = joined(text)
        return any(piece in without_breaks for piece in pieces.in_joined)

    def may_be_among(self, values: Iterable[object]) -> bool:
        """Return whether one of some values may be a number that `name_of` names; True is taken for the number 1."""
        return not self._numbers.keys().isdisjoint(values)

    def name_of(self, number: float) -> str | None:
        """Return the name of the value that a JSON number is."""
        return self._numbers.get(number)

    def redact(self, text: str) -> str:
        """Return a text with `${NAME}` in place of every value handed out so far.

        Of two spellings that begin at the same place the longer one wins.
        """
        if not self._names:
            return text
        return self._pattern.sub(lambda match: f"${{{self._name(match.group())}}}", text)

    def redact_keys(self, keys: Iterable[str]) -> list[str]:
        """Return the keys of an object with `redact` applied; those that become alike are numbered, so none is lost."""
        found: dict[str, None] = {}
        for key in keys:
            redacted = self.redact(key)
            numbered = (f"{redacted} ({number})" for number in count(2))
            found[next(each for each in chain((redacted,), numbered) if each not in found)] = None
        return list(found)

    def redact_value(self, value: Any) -> Any:  # noqa: ANN401 - any JSON value
        """Return a JSON value with `redact` applied to every string in it, keys included, and to every number."""
        if not self._names:
            return value
        if isinstance(value, str):
            return self.redact(value)
        if isinstance(value, int | float) and not isinstance(value, bool):
            name = self.name_of(value)
            return value if name is None else f"${{{name}}}"
        if isinstance(value, Mapping):
            return dict(zip(self.redact_keys(value), map(self.redact_value, value.values()), strict=True))
        if isinstance(value, list | tuple):
            return [self.redact_value(item) for item in value]
        return value

    def _replacement(self, match: re.Match[str]) -> str:
        name = match.group(1)
        if name is None:
            return "${"
        if name not in self._environ:
            return match.group()
        if name not in self._resolved:
            self._resolved[name] = self._environ[name]
            self._remember(name, self._environ[name])
        return self._resolved[name]

    def _in_template(self, match: re.Match[str]) -> str:
        found = self._replacement(match)
        return found if match.group(1) is None else found.replace("{", "{{").replace("}", "}}")

    def _remember(self, name: str, value: str) -> None:
        from keval.secrets.encodings import encoded, encodings, in_lines, numbers  # loads half of Python's web

        for spelling in encodings(value):
            self._names.setdefault(spelling, name)
        self._encoded |= encoded(value)
        for lines in in_lines(value):
            self._names.setdefault(lines, name)
            self._lined.add(lines)
        for number in numbers(value):
            self._numbers.setdefault(number, name)
        self._compiled = self._gathered = None

    @property
    def _pieces(self) -> _Pieces:
        """The pieces of all spellings: a text without any of them holds no value."""
        if self._gathered is None:
            # Without its first letter, which is gone with the breaks if it is the `n` of what looks like one: `\nabc`.
            encoded = {spelling[1:] for spelling in self._encoded - self._lined}
            lines = {max(spelling.split("\n"), key=len) for spelling in self._lined}
            whole = self._names.keys() - self._encoded - self._lined
            self._gathered = _Pieces(_shortest(whole | lines), _shortest(encoded))
        return self._gathered

    @property
    def _pattern(self) -> re.Pattern[str]:
        if self._compiled is None:
            longest_first = sorted(self._names, key=len, reverse=True)
            self._compiled = re.compile("|".join(map(self._as_pattern, longest_first)))
        return self._compiled

    def _as_pattern(self, spelling: str) -> str:
        from keval.secrets.encodings import between_lines, broken

        if spelling in self._lined:
            return between_lines(spelling)
        return broken(spelling) if spelling in self._encoded else re.escape(spelling)

    def _name(self, found: str) -> str:
        """Return the name of the value that was found in a text."""
        from keval.secrets.encodings import between_lines, joined

        name = self._names.get(found) or self._names.get(joined(found))
        return name or next(self._names[lines] for lines in self._lined if re.fullmatch(between_lines(lines), found))


def _shortest(pieces: Iterable[str]) -> list[str]:
    """Return those of some pieces that hold no other: wherever a piece stands, one of these does."""
    kept: list[str] = []
    for piece in sorted(pieces, key=len):
        if not any(each in piece for each in kept):
            kept.append(piece)
    return kept


def variables(value: object) -> set[str]:
    """Return the names of all variables in the string values of a JSON value."""
    return {name for text in _texts(value) for name in VARIABLE.findall(text) if name}


def _settings(value: object, section: str = "") -> Iterator[tuple[str, str, str]]:
    """Yield every text in an object called `headers` or `env`, at any depth: the section, its name, the text."""
    if isinstance(value, Mapping):
        for name, item in value.items():
            if section and isinstance(item, str):
                yield section, name, item
            else:
                yield from _settings(item, name if name in {"headers", "env"} else "")
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _settings(item)


def verbatim(text: str) -> str:
    """Return what to write in a config for a text in which nothing is to be replaced."""
    return text.replace("${", "$${")


def malformed(text: str) -> list[str]:
    """Return every `${` in a text, with what follows it, that neither names a variable nor is `$${`."""
    return [found for found in MALFORMED.findall(text) if found]


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)
