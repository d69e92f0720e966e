"""Looks before a run for secrets that taking them out of the log would confuse with what is measured.

Whatever comes back from an agent loses the values of secrets. A password such as `postgres` is also
a word of answers, and of golden answers: those who read the log later, and judge it again, would
find a name in place of the right word.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from keval.errors import UsageError
from keval.secrets.encodings import encodings
from keval.secrets.lengths import SHORTEST_UNWARNED
from keval.secrets.variables import Secrets, variables

LONGEST_WORD = 11
"""Longer ones are no words, even if they look like one."""

_WORD = re.compile(r"([A-Za-z][a-z]*|[A-Z]+)[0-9]{0,4}")
"""A word, perhaps with a few digits after it."""


def check(secrets: Secrets, samples: Iterable[Mapping[str, Any]], prompts: Mapping[str, str]) -> Iterator[str]:
    """Yield warnings, one line each, about values of variables that ordinary text may hold.

    `prompts` are the system prompts as written, by condition. Raises UsageError where a secret's
    value stands in a sample or in a prompt. A setting, such as a model's name, is only warned of.
    """
    spelt = {name: set[str]().union(*map(encodings, values)) for name, values in secrets.known.items()}
    places = {name: f"the system prompt of {condition!r}"
              for condition, prompt in prompts.items()
              for name in _names_in(prompt, spelt)}  # fmt: skip
    for sample in samples:
        if not spelt:
            break
        for path, text in _texts(sample):
            for name in _names_in(text, spelt):
                places[name] = f"the dataset (sample {sample['id']!r}, {path})"
                del spelt[name]  # its first place is enough
    problems = [
        f"{name}: its value stands in {place}, so that the log would have ${{{name}}} in place of that word in "
        f"answers; give {name} a value that stands nowhere else, or change that text"
        for name, place in places.items()
        if name in secrets.secret_names
    ]
    if problems:
        raise UsageError(*problems)
    for name, place in places.items():
        yield (
            f"{name}: its value stands in {place}; answers that hold it have ${{{name}}} in its place in the log, and "
            "so has what a later keval judge reads"
        )
    yield from warn_of_weak_secrets(secrets)


def warn_of_command_lines(secrets: Secrets, config: Mapping[str, Any]) -> Iterator[str]:
    """Yield a warning for each secret that a config gives to a program in its arguments."""
    for name in sorted(variables(list(_command_lines(config))) & secrets.secret_names):
        yield (
            f"{name}: stands in the arguments of a program, which all users of this machine can read while it runs; "
            "better give it by `env`"
        )


def _command_lines(value: object) -> Iterator[object]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            if key in {"command", "args", "arguments"}:
                yield item
            else:
                yield from _command_lines(item)
    elif isinstance(value, list):
        for item in value:
            yield from _command_lines(item)


def warn_of_weak_secrets(secrets: Secrets) -> Iterator[str]:
    """Yield a warning for each secret that is like a word."""
    for name in sorted(secrets.secret_names):
        if any(map(is_like_a_word, secrets.known[name])):
            yield (
                f"{name}: its value is short or like a word; wherever an answer holds it, the log has ${{{name}}} in "
                "its place; better use a value that no ordinary text holds"
            )


def is_like_a_word(value: str) -> bool:
    """Return whether ordinary text may hold a value by chance."""
    told = value.strip()
    return len(told) < SHORTEST_UNWARNED or (len(told) <= LONGEST_WORD and bool(_WORD.fullmatch(told)))


def _names_in(text: str, spelt: Mapping[str, set[str]]) -> list[str]:
    return [name for name, forms in spelt.items() if any(form in text for form in forms)]


def _texts(sample: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield every text of a sample with its path, keys included."""
    waiting: list[tuple[str, Any]] = [("", sample)]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, str):
            yield path, value
        elif isinstance(value, Mapping):
            for key, item in value.items():
                yield f"a key of {path or 'the sample'}", key
                waiting.append((f"{path}.{key}".removeprefix("."), item))
        elif isinstance(value, list):
            waiting += [(f"{path}[{index}]", item) for index, item in enumerate(value)]
