"""Knows the files of other tools that people give as logs, by how they begin."""

from __future__ import annotations

import re

HEAD = 4096
"""Bytes of a file's beginning that tell."""

_BEGINNINGS = {
    "promptfoo's output": (rb'\A\s*\{\s*"evalId"\s*:', rb'"results"\s*:'),
    "a log of Inspect": (rb'\A\s*\{\s*"version"\s*:', rb'"eval"\s*:\s*\{'),
    "samples of lm-evaluation-harness": (rb'\A\s*\{\s*"doc_id"\s*:', rb'"resps"\s*:'),
    "results of lm-evaluation-harness": (rb'\A\s*\{\s*"results"\s*:', rb'"alias"\s*:'),
    "a log of OpenAI Evals": (rb'\A\s*\{\s*"spec"\s*:', rb'"completion_fns"\s*:'),
    "a packed file (zip), such as an .eval log of Inspect or an Excel sheet": (rb"\APK\x03\x04",),
}
"""What a file is, by what all has to stand in its beginning."""


def kind(head: bytes) -> str | None:
    """Return what a file that begins so looks like; None for a log, and for what nobody knows."""
    if head.startswith(b'{"type":'):
        return None
    fitting = (name for name, marks in _BEGINNINGS.items() if all(re.search(mark, head) for mark in marks))
    return next(fitting, None)
