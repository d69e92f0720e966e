"""What a person has filled in of one entry of a sheet, above its note."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import orjson

from keval.labels.labels import SAYS
from keval.labels.sheet import CHOICES
from keval.labels.sheet_lines import (
    ABOUT,
    AROUND,
    BEGINS,
    BOX,
    HEADS,
    MARK,
    OWN,
    RULE,
    SCORE,
    TOOL_NAMES,
    TOOLS,
    is_quoted,
    mark_of,
    without_heading,
)


@dataclass(slots=True)
class EntryForm:
    """What the lines of one entry say above its note."""

    about: dict[str, object] | None = None
    ticked: list[str] = field(default_factory=list)
    scores: list[tuple[int, str]] = field(default_factory=list)
    """With their lines."""
    boxes: set[str] = field(default_factory=set)
    """What may be ticked."""
    heads: set[str] = field(default_factory=set)
    """What says what stands below it."""
    fields: int = 0
    """Lines for a score, filled in or not."""
    may_quote: bool = False
    """Whether a quote may follow: each heading has one."""
    unfinished: str = ""
    """What is still to come of a line that an editor has wrapped."""
    begun: tuple[int, str] | None = None
    """The line that may be the first part of one of the sheet's, and what follows it."""
    problems: list[tuple[int, str]] = field(default_factory=list)

    def take(self, number: int, text: str, above: str) -> None:
        """Take the next line, which stands below another one."""
        if not text.strip() or RULE.match(text):
            self.end()
        elif is_quoted(text):
            self.end()
            self._take_quote(number, text, above)
        elif not self._is_continued(text.strip(), above) and not self._is_rest(text.strip()):
            self._take_line(number, text, above)

    def _take_line(self, number: int, text: str, above: str) -> None:
        """Take a line that begins with itself, and is not quoted."""
        if is_quoted(above):
            told = "stands right below a quote; begin it with `>` if it belongs to it, else put an empty line above"
            self.problems.append((number, f"{text.strip()!r} {told}"))
        elif self.about is None and "<!--" in text:
            self.about = _parsed(text)
        elif MARK in text:
            self.problems += without_heading(number, [text])
        elif OWN.match(text):
            self._take_own(number, text)
        elif (box := BOX.match(text)) is not None:
            self._take_box(number, box)
        elif (score := SCORE.match(text)) is not None:
            self._take_score(number, score[1].strip(AROUND))
        elif BEGINS.match(text) and not above.strip():
            self.begun = number, text.strip()
        else:
            self._name(number, text, above)

    def _name(self, number: int, text: str, above: str) -> None:
        """Name a line that is none of the sheet's."""
        told = "write `Score: 4`, tick a box as in `- [x]`, or move it below `Note:`"
        joined = "join it with the line above if it belongs to it, or " if above.strip() else ""
        self.problems.append((number, f"{text.strip()!r} cannot be read; {joined}{told}"))

    def end(self) -> None:
        """Take note that a line which began like one of the sheet's did not go on so."""
        if self.begun is not None:
            self._name(*self.begun, above="")
            self.begun = None

    def _is_rest(self, text: str) -> bool:
        """Return whether a line may be of the line that has begun."""
        if self.begun is None:
            return False
        number, before = self.begun
        whole = f"{before} {text}"
        if OWN.match(whole):
            self._take_own(number, whole)
            self.begun = None
        else:
            self.begun = number, whole
        return True

    def _take_own(self, number: int, text: str) -> None:
        self.may_quote = True
        if (head := HEADS.match(text)) is not None:
            self._take_once(number, text.strip(), head[1], self.heads)
        self.unfinished = "," if TOOLS in text and text.rstrip().endswith((",", "*", "_")) else ""

    def _take_once(self, number: int, text: str, name: str, there: set[str]) -> None:
        """Take note of what each entry has but once: a second one is of an entry that has lost its beginning."""
        if name in there:
            told = "stands here a second time: the heading and the comment of another entry are gone; make a new sheet"
            self.problems.append((number, f"{text!r} {told}"))
        there.add(name)

    def _take_quote(self, number: int, text: str, above: str) -> None:
        if not is_quoted(above) and not self.may_quote:
            told = "is quoted where the sheet quotes nothing; write it below `Note:`"
            self.problems.append((number, f"{text.strip()!r} {told}"))
        self.may_quote = False

    def _is_continued(self, text: str, above: str) -> bool:
        """Return whether a line is the rest of the one above it, which an editor has wrapped."""
        if not self.unfinished or not above.strip():
            self.unfinished = ""
        elif self.unfinished == "," and TOOL_NAMES.match(text):  # of which the last has no comma
            self.unfinished = "," if text.endswith(",") else ""
            return True
        elif self.unfinished.startswith(text):
            self.unfinished = self.unfinished.removeprefix(text).strip()
            return True
        return False

    def _take_box(self, number: int, box: re.Match[str]) -> None:
        self.may_quote = False
        mark, choice = mark_of(box), box["choice"].replace("\\", "")
        rest, says = " ".join((box["rest"] or "").removeprefix(":").split()), SAYS.get(choice, "")
        if says.startswith(rest):
            self.unfinished = says.removeprefix(rest).strip() if rest else ""
        elif choice in SAYS:
            self.problems.append((number, f"{rest!r} stands behind a box; write it below `Note:`"))
        if choice in SAYS:
            self._take_once(number, choice, choice, self.boxes)
            self._check_offered(number, choice)
        elif not mark:
            self._name(number, box[0], "")
        if mark in ("x", "X"):
            self.ticked.append(choice)
        elif mark:
            self.problems.append((number, f"[{mark}] is neither empty nor an x"))

    def _check_offered(self, number: int, choice: str) -> None:
        """Take note of a box that is of another entry: a pass cannot be a valid failure."""
        passed = (self.about or {}).get("passed")
        if isinstance(passed, bool) and choice not in CHOICES[passed]:
            verdict = "passed" if passed else "failed"
            self.problems.append((number, f"{choice!r} is no box of an answer that {verdict}; make a new sheet"))

    def _take_score(self, number: int, said: str) -> None:
        self.fields += 1
        self.may_quote = False
        if said and self.scores:
            self.problems.append((number, "another score is written above; keep one"))
        elif said:
            self.scores.append((number, said))

    @property
    def is_empty(self) -> bool:
        """Whether nothing is ticked, and no score is written."""
        return not self.ticked and not self.scores

    def lost(self) -> Iterator[str]:
        """Yield what is wrong with an entry that seems to be empty: it may have been filled in in another way."""
        if "passed" not in (self.about or {}):
            if not self.fields:
                yield "its line `Score:` is gone, or cannot be read"
        elif len(self.boxes) < len(SAYS) - 1:
            yield f"only {len(self.boxes)} of its {len(SAYS) - 1} boxes can be read; tick one as in `- [x] judge_bug`"


def _parsed(comment: str) -> dict[str, object] | None:
    """Return what a comment says that its entry is about; None if it is damaged."""
    found = ABOUT.match(comment)
    try:
        about = None if found is None else orjson.loads(found[1])
    except orjson.JSONDecodeError:
        return None
    return about if isinstance(about, dict) else None
