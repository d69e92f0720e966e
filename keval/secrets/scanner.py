"""Looks for secrets in JSON values: known forms of keys, and the values of variables whose names sound like secrets.

A value may hold anything, so the time for a text grows with its length and no faster: see `key_forms.py`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from keval.secrets.key_forms import FORMS, Form
from keval.secrets.lengths import SHORTEST_SCANNED
from keval.secrets.variables import SOUNDS_SECRET, Secrets

MOST_CLEAN = 2_000
"""So many texts in which nothing was found are remembered, because most of a line stands in others, too: its keys, the
names of conditions and judges, questions."""

LONGEST_CLEAN = 2_000
"""Characters of the longest of them."""

BETWEEN_TEXTS = "\n"
"""Between texts that are looked through at once. It is in no key and in no escape, a word ends before it, and another
may begin after it: so whatever is found in one of the texts is found in all of them together."""

MOST_KEYS = 1000
"""What was found in so many keys is remembered: all events of a log have the same ones."""

SHOWN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,39}")
"""Keys that a path shows as they are, unless they hold a secret; all others by their position."""

_MARKS = [(mark, what) for what, form in FORMS.items() for mark in form.marks]
"""All marks in one list: to look for each of them is what takes most of the time of a scan."""

_ESCAPE = re.compile(r"\\(?:([/\\])|u([0-9A-Fa-f]{4}))")


def _unescaped(text: str) -> str:
    """Return a text with the characters that JSON in it may spell otherwise."""
    if "\\u" not in text and "\\/" not in text:
        return text
    return _ESCAPE.sub(lambda found: found[1] or chr(int(found[2], 16)), text)


def _spellings(text: str) -> Collection[str]:
    """Return a text as it is, and as JSON in it is read, and JSON in that, for a line that is cut off may hold it."""
    once = _unescaped(text)
    return dict.fromkeys((text, once, _unescaped(once)))


def _forms_found(text: str, forms: Mapping[str, Form]) -> Iterator[str]:
    for what, form in forms.items():
        if any(mark in text for mark in form.marks) and form.pattern.search(text):
            yield what


def _forms_among(spellings: Iterable[str]) -> Mapping[str, Form]:
    """Return the forms of keys that stand in the spellings of a text."""
    found = {what for text in spellings for mark, what in _MARKS if mark in text and FORMS[what].pattern.search(text)}
    return {what: form for what, form in FORMS.items() if what in found} if found else {}


def _texts_and_others(value: object) -> tuple[set[str], list[object]]:
    """Return the texts in a JSON value, keys included, each once; and its numbers, with what else is no text."""
    texts: set[str] = set()
    others: list[object] = []
    waiting = [value]
    for each in waiting:  # which grows meanwhile
        if isinstance(each, str):
            texts.add(each)
        elif isinstance(each, dict):
            texts.update(each)
            waiting.extend(each.values())
        elif isinstance(each, list):
            waiting.extend(each)
        else:
            others.append(each)
    return texts, others


@dataclass(frozen=True, slots=True)
class Finding:
    """One place where a secret may stand; the secret itself is not kept."""

    path: str
    """JSON path in the event; a key that may be or hold a secret stands as its position in the object."""
    what: str


class Scanner:
    """Looks for known forms of keys, and for the values of an environment's variables that sound secret."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._secrets = Secrets(environ)
        self._secrets.register(
            name for name, value in environ.items() if SOUNDS_SECRET.search(name) and len(value) >= SHORTEST_SCANNED
        )
        self._clean: set[str] = set()
        self._found_in_key = lru_cache(MOST_KEYS)(lambda key: [*self.found_in(key)])

    def findings(self, value: object) -> Iterator[Finding]:
        """Yield what may be a secret in a JSON value: in its texts and numbers, keys included.

        All texts that are new are looked through at once, for most values hold nothing; only if something may be in
        them `findings_one_by_one` says where.
        """
        texts, others = _texts_and_others(value)
        texts -= self._clean
        spellings = _spellings(BETWEEN_TEXTS.join(texts))
        forms = _forms_among(spellings)
        if forms or any(map(self._secrets.may_stand_in, spellings)) or self._secrets.may_be_among(others):
            yield from self.findings_one_by_one(value, forms)
        else:
            self._remember(texts)

    def _remember(self, clean: Iterable[str]) -> None:
        """Remember texts in which nothing was found; once there are too many, the older ones are forgotten."""
        if len(self._clean) > MOST_CLEAN:
            self._clean.clear()
        self._clean.update(text for text in clean if len(text) <= LONGEST_CLEAN)

    def findings_one_by_one(self, value: object, forms: Mapping[str, Form] = FORMS) -> Iterator[Finding]:
        """Yield what `findings` yields, and look through each text by itself; `forms` are those that it may have."""
        waiting = [("$", value)]
        while waiting:
            path, found = waiting.pop()
            if isinstance(found, str):
                yield from (Finding(path, what) for what in self.found_in(found, forms))
            elif isinstance(found, int | float) and not isinstance(found, bool):
                name = self._secrets.name_of(found)
                if name is not None:
                    yield Finding(path, f"the value of {name}")
            elif isinstance(found, list):
                waiting += [(f"{path}[{index}]", item) for index, item in reversed(list(enumerate(found)))]
            elif isinstance(found, dict):
                steps = []
                for position, (key, item) in enumerate(found.items(), start=1):
                    inside = self._found_in_key(key)
                    step = f".{key}" if SHOWN_KEY.fullmatch(key) and not inside else f".<key {position}>"
                    yield from (Finding(f"{path}{step}", f"{what}, as a key") for what in inside)
                    steps.append((path + step, item))
                waiting += reversed(steps)

    def found_in(self, text: str, forms: Mapping[str, Form] = FORMS) -> Iterator[str]:
        """Yield what may stand in a text, also as JSON in it spells it: the names of forms and of variables."""
        spellings = _spellings(text)
        yield from dict.fromkeys(what for each in spellings for what in _forms_found(each, forms))
        names = set[str]().union(*map(self._secrets.names_in, spellings))
        yield from (f"the value of {name}" for name in sorted(names))
