"""Reads what a person, or a program, has filled in on a sheet; nothing that is said is dropped in silence.

Of an entry in Markdown each line has to be one that the sheet has, or quoted: an editor may have moved or wrapped the
rest, and so it is named with its number.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from keval.documents import strict_json
from keval.errors import InputError
from keval.labels.entry_form import EntryForm
from keval.labels.labels import SAYS, Said, Target
from keval.labels.sheet import ASKS_SCORES, ASKS_VERDICTS, KEYS, OPTIONAL, TO_SCORE, TO_TICK
from keval.labels.sheet_lines import (
    AROUND,
    BOX,
    HEADING,
    HEADS,
    LABELER,
    MARK,
    NOTE,
    OWN,
    RULE,
    SCORE,
    mark_of,
    without_heading,
)
from keval.readable import written_number

_FIELDS = ("verdict", "score", "note", "labeler")
"""What is filled in of a JSON line."""


@dataclass(frozen=True, slots=True)
class Filled:
    """What a person filled in."""

    said: tuple[Said, ...]
    answers: dict[str, str]
    """The hash of each answer that something was said of, by its response's id."""
    judged: dict[Target, str]
    """The newest judgment behind each verdict that something was said of, where the sheet tells it."""
    empty: int
    """Entries of which nothing was said."""


def read(path: Path, labeler: str | None) -> Filled:
    """Return what was filled in; `labeler` is who did, unless the sheet says so.

    Raises InputError that lists all mistakes with their lines.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")  # some editors mark a file that they save
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from error
    reader = _Reading(path, (labeler or "").strip())
    reader.take(_rows(text) if path.suffix == ".jsonl" else _entries(text))
    if reader.problems:
        raise InputError(*reader.problems, f"{path}: nothing was written to the log")
    if not reader.said and not reader.empty:
        raise InputError(f"{path}: no entry of a sheet is in it; keval calibrate LOG -o NEW.md writes one")
    return Filled(tuple(reader.said), reader.answers, reader.judged, reader.empty)


@dataclass(slots=True)
class _Entry:
    """One entry as it stands in a sheet."""

    line: int
    about: dict[str, object] | None
    """None: it does not say what it is about."""
    ticked: Sequence[str] = ()
    score: object = None
    note: str | None = None
    labeler: str = ""
    score_line: int | None = None
    problems: Sequence[tuple[int, str]] = ()
    """What of it cannot be read, with its lines."""


class _Reading:
    """What has been read of a sheet so far."""

    def __init__(self, path: Path, labeler: str) -> None:
        self.path = path
        self.labeler = labeler
        self.said: list[Said] = []
        self.answers: dict[str, str] = {}
        self.judged: dict[Target, str] = {}
        self.empty = 0
        self.problems: list[str] = []
        self._lines: dict[str, int] = {}
        """Where each label stands, by its id."""

    def take(self, entries: Iterable[_Entry]) -> None:
        for entry in entries:
            problems = entry.problems or list(self._problems(entry))
            if problems:
                self.problems += [f"{self.path}:{line}: {told}" for line, told in problems]
            elif not entry.ticked and entry.score is None:
                self.empty += 1
            else:
                self._add(entry)

    def _problems(self, entry: _Entry) -> Iterator[tuple[int, str]]:
        """Yield what is wrong with what an entry says, with its line."""
        if (told := self._problem(entry)) is not None:
            yield entry.line, told
        elif (told := _problem_of_score(entry.score, entry.about or {})) is not None:
            yield entry.score_line or entry.line, told

    def _problem(self, entry: _Entry) -> str | None:
        about = entry.about
        if about is None or not _is_whole(about):
            return "what says what it is about, its comment or the JSON of its line, is damaged; make a new sheet"
        if len(entry.ticked) > 1:
            return f"{len(entry.ticked)} boxes are ticked; tick one"
        if entry.ticked and entry.ticked[0] not in SAYS:
            return f"{entry.ticked[0]!r} is none of {', '.join(SAYS)}"
        if entry.ticked and entry.score is not None:
            return "a box is ticked, and a score is written; keep one of them"
        if not entry.ticked and entry.score is None:
            return (
                "it has a note and nothing else; say something of the answer, or remove the note"
                if entry.note
                else None
            )
        return self._problem_of_labeler(entry)

    def _problem_of_labeler(self, entry: _Entry) -> str | None:
        if entry.labeler and self.labeler and entry.labeler != self.labeler:
            return f"the sheet names {entry.labeler} as labeler, and --labeler says {self.labeler}; keep one of them"
        if not entry.labeler and not self.labeler:
            return "nobody is named as labeler; fill in the line `Labeler:`, or give --labeler"
        return None

    def _add(self, entry: _Entry) -> None:
        about = entry.about or {}
        drawn, passed, judgment = (about.get(name) for name in ("draw", "passed", "judgment"))
        response_id, judge_id, metric = (str(about[name]) for name in ("response_id", "judge_id", "metric"))
        said = Said(
            (response_id, judge_id, metric),
            entry.labeler or self.labeler,
            entry.ticked[0] if entry.ticked else None,
            score=None if entry.score is None else float(str(entry.score)),
            note=entry.note,
            draw=drawn if isinstance(drawn, dict) else None,
            passed=passed if isinstance(passed, bool) else None,
            answer_sha256=str(about["answer_sha256"]),
        )
        if (line := self._lines.setdefault(said.identity, entry.line)) != entry.line:
            self.problems.append(
                f"{self.path}:{entry.line}: {said.labeler} has said it in line {line}; keep one of both"
            )
        self.said += said.for_all(_also(about))
        self.answers[response_id] = str(about["answer_sha256"])
        if isinstance(judgment, str):
            self.judged[said.target] = judgment


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
        return f"score: {score:.12g} is not from {low:.12g} to {high:.12g}"
    return None


def _rows(text: str) -> Iterator[_Entry]:
    """Yield the entries of a sheet for programs."""
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = strict_json.parse(line.encode())
        except strict_json.NotStrictError:
            row = None
        if not isinstance(row, dict):
            yield _Entry(number, None)
            continue
        verdict, note, labeler = (row.get(name) for name in ("verdict", "note", "labeler"))
        yield _Entry(
            number,
            row,
            [] if verdict is None else [str(verdict)],
            row.get("score"),
            note if isinstance(note, str) and note.strip() else None,
            labeler.strip() if isinstance(labeler, str) else "",
            problems=[(number, told) for told in _problems_of_row(row)],
        )


def _problems_of_row(row: Mapping[str, object]) -> Iterator[str]:
    for name in ("note", "labeler"):
        if not isinstance(row.get(name), str | None):
            yield f"{name}: {row[name]!r} is not a text"
    for name in row:
        if name not in _FIELDS and name.strip().lower() in _FIELDS:
            yield f"{name!r} is not read; write {name.strip().lower()!r}"
        elif name not in KEYS and row.get("verdict") is None and row.get("score") is None:
            yield f"{name!r} is not read, and nothing is said of the answer; `verdict`, `score` and `note` are read"


def _entries(text: str) -> Iterator[_Entry]:
    """Yield the entries of a sheet for people, or of several one after the other."""
    lines = text.split("\n")
    titles = [number for number, line in enumerate(lines) if number and line.strip() in (ASKS_SCORES, ASKS_VERDICTS)]
    for start, end in pairwise([0, *titles, len(lines)]):
        yield from _of_one(start, lines[start:end])


def _of_one(before: int, lines: Sequence[str]) -> Iterator[_Entry]:
    """Yield the entries of one sheet; `before` counts the lines above it."""
    starts = [number for number in range(len(lines)) if _is_start(lines, number)]
    head = lines[: starts[0]] if starts else lines
    named = [_name(found[1]) for line in head if (found := LABELER.match(line)) is not None]
    if problems := list(_problems_of_head(before + 1, head)):
        yield _Entry(before + 1, None, problems=problems)
    for start, end in pairwise([*starts, len(lines)]):
        yield _entry(before + start + 1, lines[start:end], next(filter(None, named), ""))


def _is_start(lines: Sequence[str], number: int) -> bool:
    """Return whether an entry begins with a line; a heading within a note is none of the sheet's."""
    if not lines[number].startswith("## "):
        return False
    following = next((line for line in lines[number + 1 :] if line.strip()), "")
    return lines[number].removeprefix("## ").strip().isdecimal() or following.lstrip().startswith(MARK)


def _problems_of_head(line: int, head: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield what stands above the first entry and is not the sheet's own, wrapped or not; and a second labeler."""
    yield from without_heading(line, head)
    own = (ASKS_SCORES, ASKS_VERDICTS, f"{TO_SCORE} {OPTIONAL}", f"{TO_TICK} {OPTIONAL}")
    named: set[str] = set()
    unfinished = ""
    for number, text in enumerate(head, start=line):
        labeler = LABELER.match(text)
        named |= set() if labeler is None else {_name(labeler[1])} - {""}
        if len(named) > 1:
            yield number, "another labeler is named above; each sheet is of one"
            named = set()
        if labeler is not None or MARK in text or RULE.match(text) or not text.strip():
            continue
        begun = next((each for each in (unfinished, *own) if each.startswith(text.strip())), None)
        unfinished = "" if begun is None else begun.removeprefix(text.strip()).strip()
        if begun is None:
            yield number, f"{text.strip()!r} is in no entry; write it below the `Note:` of one"


def _name(written: str) -> str:
    """Return the name that somebody wrote, as an editor may have saved it."""
    return re.sub(r"\\([_*-])", r"\1", written.strip(" \t*`"))


def _entry(line: int, lines: Sequence[str], labeler: str) -> _Entry:
    """Return the entry of these lines, the first of which is its heading."""
    written = (place for place, text in enumerate(lines) if not OWN.match(text))
    notes = ((place, found[1]) for place in written if (found := NOTE.match(lines[place])) is not None)
    noted, beginning = next(notes, (len(lines), ""))
    filled = EntryForm()
    if not HEADING.match(lines[0]):
        filled.problems.append((line, f"{lines[0]!r} heads an entry; write `## 1`, and what it says below `Note:`"))
    for place in range(1, noted):
        filled.take(line + place, lines[place], lines[place - 1])
    filled.end()
    rest = list(enumerate(lines[noted + 1 :], start=line + noted + 1))
    problems = [
        *filled.problems,
        *((number, told) for number, text in rest for told in _problem_in_note(text, filled)),
    ]
    if filled.about is not None and filled.is_empty and not problems:
        problems += [(line, told) for told in filled.lost()]
    return _Entry(
        line,
        filled.about,
        filled.ticked,
        _score(filled.scores[0][1]) if filled.scores else None,
        score_line=filled.scores[0][0] if filled.scores else None,
        note=_without_rules([beginning, *(text for _, text in rest)]),
        labeler=labeler,
        problems=problems,
    )


def _problem_in_note(text: str, filled: EntryForm) -> Iterator[str]:
    """Yield what is wrong with a line of a note: what may be meant for the entry, or is of another one."""
    box, score = BOX.match(text), SCORE.match(text)
    is_ticked = box is not None and bool(mark_of(box))
    is_scored = bool(score and score[1].strip(AROUND))
    is_of_sheet = is_ticked and box is not None and box["choice"].replace("\\", "") in SAYS
    if filled.is_empty and (is_ticked or is_scored):
        yield f"{text.strip()!r} stands in the note; move it above `Note:`"
    elif is_of_sheet or (is_scored and filled.scores) or HEADS.match(text) is not None:
        yield f"{text.strip()!r} stands in the note; begin it with `>` if it belongs to it"
    elif LABELER.match(text) is not None:
        yield f"{text.strip()!r} stands in the note; each sheet names its labeler above its first entry"
    elif MARK in text:
        yield from (told for _, told in without_heading(0, [text]))


def _without_rules(lines: Sequence[str]) -> str | None:
    """Return a note without the lines across the page at its end, which stand between entries; None if it is empty."""
    kept = list(lines)
    while kept and (not kept[-1].strip() or RULE.match(kept[-1])):
        kept.pop()
    return "\n".join(kept).strip() or None


def _score(written: str) -> float | str:
    """Return the number that somebody wrote; what is none is returned as it is, to be named."""
    found = written_number(written)
    return written if found is None else found
