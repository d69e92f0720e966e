"""Answers as pages show them: each text cut, with where all of it is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from keval.readable import number
from keval.transcripts.drawing import FIRST_CHARACTERS, LAST_CHARACTERS, unfolded
from keval.transcripts.sections import Section, about, question, result, sections, steps
from keval.transcripts.transcript import Transcript
from keval.viewer import addresses


@dataclass(frozen=True, slots=True)
class Text:
    """A text under a title, or its beginning and its end."""

    title: str
    begin: str
    left_out: int = 0
    """Characters between beginning and end."""
    end: str = ""
    address: str | None = None
    """Where all of it is, if something is left out."""


@dataclass(frozen=True, slots=True)
class Shown:
    """One answer or failure."""

    condition: str
    repetition: int
    outcome: str
    """What came of it in a word: the score of each metric, or how it failed."""
    about: str
    address: str
    question: tuple[Text, ...]
    result: tuple[Text, ...]
    steps: tuple[Text, ...]


def shown(transcript: Transcript) -> Shown:
    """Return an answer or failure as pages show it; why it got its scores comes first."""
    event_id = _id_of(transcript)
    numbers = {section: place for place, section in enumerate(sections(transcript))}

    def texts(found: Iterable[Section]) -> tuple[Text, ...]:
        return tuple(_cut(section, addresses.text(event_id, numbers[section])) for section in found)

    return Shown(
        transcript.condition,
        transcript.outcome["repetition"],
        _outcome(transcript),
        about(transcript),
        addresses.response(event_id),
        texts(question(transcript)),
        texts(sorted(result(transcript), key=lambda section: section.title != "Scores")),
        texts(steps(transcript)),
    )


def _id_of(transcript: Transcript) -> str:
    """Return the id of an answer or failure."""
    event = transcript.outcome
    is_own = transcript.response is not None or transcript.failure is not None
    return str(event["id"] if is_own else event["response_id"])


def whole(transcript: Transcript, place: int) -> str | None:
    """Return one text of an answer to its end; None if there is none of that number."""
    return next((section.text for number, section in enumerate(sections(transcript)) if number == place), None)


def _cut(section: Section, address: str) -> Text:
    text = unfolded(section.text)
    left_out = len(text) - FIRST_CHARACTERS - LAST_CHARACTERS
    if left_out <= 0:
        return Text(section.title, text)
    return Text(section.title, text[:FIRST_CHARACTERS], left_out, text[-LAST_CHARACTERS:], address)


def _outcome(transcript: Transcript) -> str:
    if transcript.failure is not None:
        return str(transcript.failure["kind"])
    return ", ".join(_scores(transcript)) or "not judged"


def _scores(transcript: Transcript) -> Iterator[str]:
    """Yield each score that was given, and each judge's failure."""
    for judgment in transcript.judgments:
        for metric, given in judgment["scores"].items():
            yield f"{metric} {number(given['score'])}"
    for failure in transcript.judge_failures:
        yield f"{failure['judge']['name']}: {failure['kind']}"
