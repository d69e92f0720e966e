"""Writes verdicts or answers as a sheet that a person fills in, Markdown or JSON lines, and reads what was filled in.

In the Markdown sheet all text from outside is quoted, line by line, so that an answer cannot tick a box, end its entry
or hide; what the sheet knows of an entry stands in a comment that people need not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import orjson

from keval.documents import strict_json
from keval.errors import InputError
from keval.ids import JsonObject
from keval.labels.draw import Entry
from keval.labels.labels import SAYS, Said
from keval.printable import without_markup

CHOICES = {True: ("valid_pass", "judge_bug", "ambiguous"), False: ("valid_failure", "judge_bug", "ambiguous")}
"""What may be said of a pass and of a failure."""

_ABOUT = re.compile(r"^<!-- keval (\{.*\}) -->$")
_BOX = re.compile(r"^\s*(?:[-*+]\s*)?\\?\[(?P<mark>[^\[\]\\]*)\\?\]\s*(?P<choice>[\w\\]+)")
"""A box, also as it looks when an editor has saved it with another bullet, or with backslashes."""


def _field(name: str) -> re.Pattern[str]:
    """Return a pattern of a line that fills a field in, such as `Score: 4` or `**score** : 4`."""
    return re.compile(rf"^\s*[*_]*{name}[*_]*\s*:[*_]*(.*)$", re.IGNORECASE)


_SCORE, _NOTE = _field("Score"), _field("Note")
_ODD = re.compile(r"^\s*(?:score\b|[-+]?\.?\d|(?:[-*+]\s*)?\\?\[(?:\s*[^\[\]\\]{0,3}\s*\\?\]|[^\]]*$))", re.IGNORECASE)
"""A line that says something, if it is neither a box nor a score."""


@dataclass(frozen=True, slots=True)
class Filled:
    """What a person filled in."""

    said: tuple[Said, ...]
    answers: dict[str, str]
    """The hash of each answer that something was said of, by its response's id."""
    empty: int
    """Entries of which nothing was said."""


def markdown(entries: Sequence[Entry], labeler: str | None) -> str:
    """Return a sheet for people, in Markdown."""
    blind = any(entry.is_blind for entry in entries)
    what = "Write a number after `Score:`" if blind else "Tick one box with an x"
    parts = [
        "# How good are these answers?\n" if blind else "# Are these verdicts right?\n",
        f"{what} per entry; a note is optional. Then `keval calibrate LOG --read` this file.\n",
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


def read(path: Path, labeler: str | None) -> Filled:
    """Return what was filled in. Raises InputError that lists all mistakes with their lines."""
    try:
        text = path.read_text(encoding="utf-8-sig")  # some editors mark a file that they save
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from error
    reader = _Reading(path, labeler)
    reader.take(_rows(text) if path.suffix == ".jsonl" else _sections(text))
    if reader.problems:
        raise InputError(*reader.problems, f"{path}: nothing was written to the log")
    if not reader.said and not reader.empty:
        raise InputError(f"{path}: no entry of a sheet is in it; keval calibrate LOG -o NEW.md writes one")
    return Filled(tuple(reader.said), reader.answers, reader.empty)


@dataclass(slots=True)
class _Section:
    """One entry as it stands in a sheet."""

    line: int
    about: dict[str, object] | None
    """None: it does not say what it is about."""
    ticked: list[str]
    score: object = None
    note: str | None = None
    labeler: object = None
    problems: Sequence[tuple[int, str]] = ()
    """What of it cannot be read, with its lines."""


class _Reading:
    """What has been read of a sheet so far."""

    def __init__(self, path: Path, labeler: str | None) -> None:
        self.path = path
        self.labeler = labeler
        self.said: list[Said] = []
        self.answers: dict[str, str] = {}
        self.empty = 0
        self.problems: list[str] = []
        self._lines: dict[str, int] = {}
        """Where each label stands, by its id."""

    def take(self, sections: Iterable[_Section]) -> None:
        for section in sections:
            problem = self._problem(section)
            problems = section.problems or ([] if problem is None else [(section.line, problem)])
            if problems:
                self.problems += [f"{self.path}:{line}: {told}" for line, told in problems]
            elif not section.ticked and section.score is None:
                self.empty += 1
            else:
                self._add(section)

    def _problem(self, section: _Section) -> str | None:
        about = section.about
        if about is None or not _is_whole(about):
            return "what says what it is about, its comment or the JSON of its line, is damaged; make a new sheet"
        if len(section.ticked) > 1:
            return f"{len(section.ticked)} boxes are ticked; tick one"
        if section.ticked and section.ticked[0] not in SAYS:
            return f"{section.ticked[0]!r} is none of {', '.join(SAYS)}"
        if section.ticked and section.score is not None:
            return "a box is ticked, and a score is written; keep one of them"
        problem = _problem_of_score(section.score, about)
        said = bool(section.ticked) or section.score is not None
        if problem is None and said and not self._labeler_of(section):
            return "nobody is named as labeler; fill in the line `Labeler:`, or give --labeler"
        return problem

    def _labeler_of(self, section: _Section) -> str:
        return str(section.labeler or self.labeler or "").strip()

    def _add(self, section: _Section) -> None:
        about = section.about or {}
        drawn, passed = about.get("draw"), about.get("passed")
        response_id, judge_id, metric = (str(about[name]) for name in ("response_id", "judge_id", "metric"))
        verdict = section.ticked[0] if section.ticked else None
        said = Said(
            (response_id, judge_id, metric),
            self._labeler_of(section),
            verdict,
            score=None if section.score is None else float(str(section.score)),
            note=section.note,
            draw=drawn if isinstance(drawn, dict) else None,
            passed=passed if isinstance(passed, bool) else None,
            answer_sha256=str(about["answer_sha256"]),
        )
        if (line := self._lines.setdefault(said.identity, section.line)) != section.line:
            self.problems.append(
                f"{self.path}:{section.line}: {said.labeler} has said it in line {line}; keep one of both"
            )
        self.said += said.for_all(_also(about))
        self.answers[response_id] = str(about["answer_sha256"])


def _is_whole(about: Mapping[str, object]) -> bool:
    """Return whether what an entry is about is as it was written, as far as that can be seen."""
    names = ("response_id", "judge_id", "metric", "answer_sha256")
    draw = about.get("draw")
    is_drawn = (
        isinstance(draw, dict) and draw.get("method") in ("random", "by_verdict") and type(draw.get("seed")) is int
    )
    are_ids = all(isinstance(each, str) for each in (*map(about.get, names), *_also(about)))
    return are_ids and (draw is None or is_drawn)


def _also(about: Mapping[str, object]) -> Sequence[str]:
    """Return the other judges that a score is of."""
    found = about.get("also")
    return found if isinstance(found, list) else ()


def _problem_of_score(score: object, about: Mapping[str, object]) -> str | None:
    if score is None:
        return None
    if isinstance(score, bool) or not isinstance(score, int | float):
        return f"score: {score!r} is not a number"
    low, high = about.get("min"), about.get("max")
    if isinstance(low, int | float) and isinstance(high, int | float) and not low <= score <= high:
        return f"score: {score:g} is not from {low:g} to {high:g}"
    return None


def _rows(text: str) -> Iterator[_Section]:
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = strict_json.parse(line.encode())
        except strict_json.NotStrictError:
            row = None
        if not isinstance(row, dict):
            yield _Section(number, None, [])
            continue
        ticked = [] if row.get("verdict") is None else [str(row["verdict"])]
        note = row.get("note")
        yield _Section(number, row, ticked, row.get("score"), note and str(note), row.get("labeler"))


def _sections(text: str) -> Iterator[_Section]:
    lines = text.replace("\r\n", "\n").split("\n")
    starts = [number for number in range(len(lines)) if _is_start(lines, number)]
    head = lines[: starts[0]] if starts else lines
    named = [line.removeprefix("Labeler:").strip() for line in head if line.startswith("Labeler:")]
    if any(_ABOUT.match(line) for line in head):
        yield _Section(1, None, [], problems=list(_without_heading(1, head)))
    for start, end in pairwise([*starts, len(lines)]):
        yield _section(start + 1, lines[start:end], next(iter(named), None))


def _is_start(lines: Sequence[str], number: int) -> bool:
    """Return whether an entry begins with a line; a heading within a note is none of the sheet's."""
    if not lines[number].startswith("## "):
        return False
    following = next((line for line in lines[number + 1 :] if line.strip()), "")
    return lines[number].removeprefix("## ").strip().isdecimal() or following.startswith("<!-- keval")


def _without_heading(line: int, lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Yield the lines that say what an entry is about which has no heading, with what is wrong."""
    for number, text in enumerate(lines, start=line):
        if _ABOUT.match(text):
            yield number, "the heading of this entry is gone; write `## 1` above it"


def _section(line: int, lines: Sequence[str], labeler: str | None) -> _Section:
    notes = ((place, found[1]) for place, text in enumerate(lines) if (found := _NOTE.match(text)) is not None)
    noted, beginning = next(notes, (len(lines), ""))
    note = "\n".join([beginning, *lines[noted + 1 :]]).strip()
    about, ticked, scores = None, [], []
    problems: list[tuple[int, str]] = []
    boxes = fields = 0
    for number, text in enumerate(lines[:noted], start=line):
        box, score = _BOX.match(text), _SCORE.match(text)
        if about is None and (found := _ABOUT.match(text)) is not None:
            about, rest = _parsed(found[1]), number - line + 1
            problems += _without_heading(number + 1, lines[rest:])
        elif box is not None:
            boxes += 1
            mark = box["mark"].strip()
            ticked += [box["choice"].replace("\\", "")] if mark in ("x", "X") else []
            problems += [] if mark in ("", "x", "X") else [(number, f"[{mark}] is neither empty nor an x")]
        elif score is not None:
            fields += 1
            scores += [(number, said)] if (said := score[1].strip(" \t*_")) else []
        elif _ODD.match(text):
            problems.append((number, f"{text.strip()!r} cannot be read; write `Score: 4`, or tick a box as in `- [x]`"))
    problems += [(number, "another score is written above; keep one") for number, _ in scores[1:]]
    problems += [
        (number, f"{text.strip()!r} stands in the note; move it above `Note:`")
        for number, text in enumerate(lines[noted + 1 :], start=line + noted + 1)
        if not ticked and not scores and _is_said(text)
    ]
    if about is not None and not (ticked or scores or problems):
        problems += [(line, told) for told in _lost(about, boxes, fields)]
    return _Section(
        line,
        about,
        ticked,
        _number(scores[0][1]) if scores else None,
        note=note or None,
        labeler=labeler,
        problems=problems,
    )


def _lost(about: Mapping[str, object], boxes: int, fields: int) -> Iterator[str]:
    """Yield what is wrong with an entry that seems to be empty: what was filled in may be written in another way."""
    if "passed" not in about:
        if not fields:
            yield "its line `Score:` is gone, or cannot be read"
    elif boxes < len(SAYS) - 1:
        yield f"only {boxes} of its {len(SAYS) - 1} boxes can be read; tick one as in `- [x] judge_bug`"


def _is_said(text: str) -> bool:
    """Return whether a line is a ticked box, or a score that is filled in."""
    box, score = _BOX.match(text), _SCORE.match(text)
    return bool(box and box["mark"].strip()) or bool(score and score[1].strip(" \t*_"))


def _number(written: str) -> float | str:
    """Return a number that somebody wrote; what is none is returned as it is, to be named."""
    try:
        return written if "_" in written else float(written)  # Python takes 0_4 for 4
    except ValueError:
        return written


def _parsed(text: str) -> dict[str, object] | None:
    try:
        found = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    return found if isinstance(found, dict) else None


def _about(entry: Entry) -> JsonObject:
    return {
        "response_id": entry.response_id,
        "judge_id": entry.judge_id,
        "metric": entry.metric,
        "answer_sha256": entry.answer_sha256,
        "min": entry.min,
        "max": entry.max,
        "draw": entry.draw,
        **({} if entry.is_blind else {"passed": entry.passed}),
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
