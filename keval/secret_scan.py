"""Looks for secrets that may have slipped into a log, before the log is shared.

What a config names is replaced when it is written. This finds what came in by other ways: a key
that an agent printed, a token in a tool's result. It finds known forms of keys, and the values of
variables of this environment whose names sound like secrets.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from keval.secrets import SOUNDS_SECRET

FORMS = {
    "an Anthropic key": r"sk-ant-[A-Za-z0-9_-]{16,}",
    "an API key (sk-…)": r"sk-(?!ant-)[A-Za-z0-9_-]{20,}",
    "an AWS access key": r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b",
    "a GitHub token": r"\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{22,})",
    "a Google key": r"\bAIza[A-Za-z0-9_-]{35}",
    "a Slack token": r"\bxox[abprs]-[A-Za-z0-9-]{10,}",
    "a private key": r"-----BEGIN [A-Z ]*PRIVATE KEY-----",
    "a JSON web token": r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}",
    "an Authorization header": r"(?i)\b(?:bearer|basic) [A-Za-z0-9+/_.=-]{20,}",
    "a password in a URL": r"[a-z][a-z0-9+.-]*://[^\s/:@\"]+:[^\s/@\"]{4,}@",
}
"""What is looked for, by what a finding is called."""

SHORTEST = 8
"""Shorter values are not looked for: they stand in any text by chance."""


@dataclass(frozen=True, slots=True)
class Leak:
    """One place where a secret may stand; the secret itself is not kept."""

    path: str
    """JSON path in the event."""
    what: str


def look(value: object, environ: Mapping[str, str]) -> Iterator[Leak]:
    """Yield what may be a secret in an event's strings, keys included."""
    forms = [(what, re.compile(form)) for what, form in FORMS.items()]
    forms += [
        (f"the value of {name}", re.compile(re.escape(secret)))
        for name, secret in environ.items()
        if SOUNDS_SECRET.search(name) and len(secret) >= SHORTEST
    ]
    for path, text in _strings(value, "$"):
        for what, form in forms:
            if form.search(text):
                yield Leak(path, what)


def _strings(value: object, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield f"{path} (a key)", key
            yield from _strings(item, f"{path}.{key}")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _strings(item, f"{path}[{index}]")
