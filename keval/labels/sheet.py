"""Writes verdicts or answers as a sheet that a person fills in, Markdown or JSON lines.

In the Markdown sheet all text from outside is quoted, line by line, so that an answer cannot tick a box, end its entry
or hide; what the sheet knows of an entry stands in a comment that people need not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import orjson

from keval.ids import JsonObject
from keval.labels.draw import Entry
from keval.labels.labels import SAYS
from keval.printable import without_markup

ASKS_SCORES, ASKS_VERDICTS = "# How good are these answers?", "# Are these verdicts right?"
"""How a sheet begins."""

TO_SCORE, TO_TICK = "Write a number after `Score:`", "Tick one box with an x"
OPTIONAL = "per entry; a note is optional. Then `keval calibrate LOG --read` this file."
"""What is to be done with it."""

CHOICES = {True: ("valid_pass", "judge_bug", "ambiguous"), False: ("valid_failure", "judge_bug", "ambiguous")}
"""What may be said of a pass and of a failure."""

KEYS = frozenset((
    "response_id", "judge_id", "metric", "answer_sha256", "min", "max", "draw", "passed", "judgment", "also", "judge",
    "pass_from", "reasoning", "question", "golden_answer", "answer", "asks", "judge_score", "tools", "choices",
    "labeler", "verdict", "score", "note",
))  # fmt: skip
"""The keys of a sheet's JSON lines."""


def markdown(entries: Sequence[Entry], labeler: str | None) -> str:
    """Return a sheet for people, in Markdown."""
    blind = any(entry.is_blind for entry in entries)
    parts = [
        f"{ASKS_SCORES if blind else ASKS_VERDICTS}\n",
        f"{TO_SCORE if blind else TO_TICK} {OPTIONAL}\n",
        f"Labeler: {labeler or ''}\n",
    ]
    for number, entry in enumerate(entries, start=1):
        parts.append(_entry(number, entry))
    return "\n".join(parts)


def jsonl(entries: Iterable[Entry], labeler: str | None) -> bytes:
    """Return a sheet for programs, an object per entry: its `verdict` or `score`, and `note`, are to be filled in."""
    return b"".join(
        orjson.dumps(
            {
                **_about(entry),
                **_shown(entry),
                "labeler": labeler,
                "verdict": None,
                "score": None,
                "note": None,
            },
            option=orjson.OPT_APPEND_NEWLINE,
        )
        for entry in entries
    )


def _shown(entry: Entry) -> JsonObject:
    """Return what a program is shown of an entry; of one that is to be scored nothing that the judge says."""
    of_judge = () if entry.is_blind else ("judge", "passed", "pass_from", "reasoning")
    names = ("metric", "min", "max", *of_judge, "question", "golden_answer", "answer")
    shown = {name: getattr(entry, name) for name in names}
    if entry.is_blind:
        return {**shown, "asks": entry.asks}
    if entry.passed is None:
        return shown
    return {**shown, "judge_score": entry.score, "tools": list(entry.tools), "choices": CHOICES[entry.passed]}


def _about(entry: Entry) -> JsonObject:
    return {
        "response_id": entry.response_id,
        "judge_id": entry.judge_id,
        "metric": entry.metric,
        "answer_sha256": entry.answer_sha256,
        "min": entry.min,
        "max": entry.max,
        "draw": entry.draw,
        **({} if entry.is_blind else {"passed": entry.passed, "judgment": entry.judgment}),
        **({"also": entry.also} if entry.also else {}),
    }


def _entry(number: int, entry: Entry) -> str:
    about = orjson.dumps(_about(entry)).decode().replace("--", "-\\u002d")
    return (
        f"## {number}\n\n<!-- keval {about} -->\n\n"
        f"**Question**\n\n{_quoted(entry.question)}\n\n"
        f"**Golden answer**\n\n{_quoted(entry.golden_answer or '(none)')}\n\n"
        f"**Answer**\n\n{_quoted(entry.answer)}\n\n"
        f"{_asked_score(entry) if entry.is_blind else _asked_verdict(entry)}\n\nNote:\n"
    )


def _asked_score(entry: Entry) -> str:
    asks = f"{_quoted(entry.asks)}\n\n" if entry.asks else ""
    return f"**{without_markup(entry.metric)}**, from {entry.min:g} to {entry.max:g}\n\n{asks}Score:"


def _asked_verdict(entry: Entry) -> str:
    passed = bool(entry.passed)
    verdict = f"{entry.judge}/{entry.metric}: {'passed' if passed else 'FAILED'}, score {entry.score:g}"
    needed = "" if entry.pass_from is None else f", passes from {entry.pass_from:g}"
    tools = "" if not entry.tools else f"**Tools called** {without_markup(', '.join(entry.tools))}\n\n"
    boxes = "\n".join(f"- [ ] {choice}: {SAYS[choice]}" for choice in CHOICES[passed])
    reasoning = _quoted(entry.reasoning or "(no reasoning)")
    return f"{tools}**Judge** {without_markup(verdict)}{needed}\n\n{reasoning}\n\n{boxes}"


def _quoted(text: str) -> str:
    return "\n".join(f"> {without_markup(line)}".rstrip() for line in re.split(r"\r\n|\r|\n", text))
