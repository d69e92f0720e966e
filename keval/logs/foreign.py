"""Knows what people give as logs and is none, by how it begins: files of other tools, datasets, configs."""

from __future__ import annotations

import codecs
import re

import orjson

from keval.logs.log_head import FIRST_KEY
from keval.schema import EVENT_TYPES

PEEKED_BYTES = 4096
"""How much of the beginning of a file says whose it is: no more than a pipe lets one look at without taking it."""

SHOWN_KEYS, SHOWN_KEY = 4, 20
"""How many keys of a foreign file's first object a message shows, and how much of each."""

INDEX = "a DuckDB file, as the index of a log is"

_HARNESS = rb'\A\s*\{\s*"id"\s*:\s*"(?:[^"\\]|\\.)*"\s*,\s*"input"\s*:'
"""How rows of agent-eval-harness begin."""

_BEGINNINGS = (
    ("promptfoo's output", (rb'\A\s*\{\s*"evalId"\s*:', rb'"results"\s*:')),
    ("promptfoo's output", (rb'\A\s*\{\s*"results"\s*:\s*\{\s*"(version|timestamp|prompts|stats)"\s*:',)),
    ("results of promptfoo", (rb'\A\s*\{\s*"', rb'"(namedScores|gradingResult)"\s*:', rb'"(promptIdx|latencyMs)"\s*:')),
    ("a log of Inspect", (rb'\A\s*\{\s*"version"\s*:', rb'"eval"\s*:\s*\{')),
    ("samples of lm-evaluation-harness", (rb'\A\s*\{\s*"doc_id"\s*:', rb'"(doc|resps)"\s*:')),
    ("results of lm-evaluation-harness", (rb'\A\s*\{\s*"results"\s*:', rb'"(alias|[\w ]+,[\w-]+)"\s*:')),
    ("results of k-eval", (rb'\A\s*\{\s*"schema_version"\s*:\s*"instance_level_eval_', rb'"sample_idx"\s*:')),
    ("results of agent-eval-harness", (_HARNESS, rb'"trajectory"\s*:\s*\[', rb'"timing"\s*:')),
    ("results of agent-eval-harness", (_HARNESS, rb'"trials"\s*:\s*\[\s*\{\s*"trialNum"\s*:')),
    ("a log of OpenAI Evals", (rb'\A\s*\{\s*"spec"\s*:', rb'"completion_fns"\s*:')),
    ("a packed file (zip), such as an .eval log of Inspect or an Excel sheet", (rb"\APK\x03\x04",)),
    (INDEX, (rb"(?s)\A.{8}DUCK",)),
)
"""What a file is, by what all has to stand in its beginning."""

_EVENT = re.compile(rb'"type"\s*:\s*"(?:%s)"' % "|".join(EVENT_TYPES).encode())
"""Says that a line is meant as an event."""

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"\s*:?|[{}\[\]]')
"""What tells where the keys of an object stand: texts, those that are keys with their colon, and brackets."""

_DATASET_KEYS = {"question", "answer", "golden_answer", "prompt", "input", "query", "problem"}
"""Keys by which records are taken for samples."""


def kind(head: bytes) -> str | None:
    """Return what a file is which begins so, by the tool that made it; None for a log, and for what nobody knows."""
    if head.startswith(FIRST_KEY):
        return None
    fitting = (name for name, marks in _BEGINNINGS if all(re.search(mark, head) for mark in marks))
    return next(fitting, None)


def instead_of_log(head: bytes) -> str | None:
    """Return what a message says that a file is which begins so, or None if it may be a log with mistakes."""
    tool = kind(head)
    if tool is not None:
        then = "name the log beside it" if tool == INDEX else "keval import makes events of answers"
        return f"it looks like {tool}; {then}"
    if _EVENT.search(head) or FIRST_KEY.startswith(head.lstrip()[: len(FIRST_KEY)]):
        return None
    keys = _keys(head)
    if "run_id" in keys or "v" in keys:
        return None
    if _DATASET_KEYS.intersection(keys):
        return f"it looks like a dataset: {described(head)}"
    return f"it holds {described(head)}"


def described(head: bytes) -> str:
    """Return what a file looks like that begins so, without what may be a secret in it."""
    try:
        value = orjson.loads(head.lstrip().partition(b"\n")[0])
    except orjson.JSONDecodeError:
        value = None
        if not _is_open_json(head):
            return "binary data" if b"\0" in head or not _is_text(head) else "text"
    found = list(value) if isinstance(value, dict) else _keys(head)
    if not found:
        return (
            "JSON" if value is not None else "JSON over several lines; a log has one event in each (jq -c writes it so)"
        )
    keys = [repr(key[:SHOWN_KEY]) for key in found][:SHOWN_KEYS]
    return f"JSON with the keys {', '.join(keys)}" + (", …" if len(found) > len(keys) else "")


def _is_open_json(head: bytes) -> bool:
    """Return whether a file begins with a JSON object, or a list, that goes on in its next line."""
    return re.match(rb'\s*(\[\s*)?(\{\s*"[^"\n]*"\s*:|[{\[]\s*\Z|\[\s*["\d\[])', head) is not None


def _keys(head: bytes) -> list[str]:
    """Return the keys of the object that a file begins with, be it on one line or on many, or first of a list."""
    keys: list[str] = []
    text = head.decode(errors="ignore").lstrip().removeprefix("[").lstrip()
    depth = 0
    for token in _TOKEN.findall(text) if text.startswith("{") else ():
        depth += (token in {"{", "["}) - (token in {"}", "]"})
        if depth == 0:
            break
        if depth == 1 and token.endswith(":"):
            keys.append(token.rstrip(": \t\r\n")[1:-1])
    return keys


def _is_text(head: bytes) -> bool:
    """Return whether bytes are UTF-8; the last character may be cut off."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return False
    return True
