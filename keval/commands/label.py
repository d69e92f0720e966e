"""Ask in the terminal whether a judge's verdicts are right, one after the other."""

from __future__ import annotations

import sys
import termios
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from shlex import quote

import click

from keval.commands.messages import shown, tell, warn
from keval.commands.options import APPENDED_LOG, PASS_FROM, SKIP_INVALID, drawing_options
from keval.errors import UsageError
from keval.execution.appending import check_appendable
from keval.execution.labelling import DrawnFrom, ask_all, drawn
from keval.labels.draw import Entry, Wanted
from keval.labels.labels import SAYS, Said
from keval.labels.sheet import CHOICES
from keval.readable import written_number

SKIP, QUIT = "s", "q"


class _QuitError(Exception):
    """The person wants no more questions, or what was piped in has ended."""


@click.command(epilog="Example: keval label run.jsonl --labeler ada -n 20")
@APPENDED_LOG
@click.option("--labeler", metavar="NAME", required=True, help="Who says it.")
@drawing_options
@PASS_FROM
@SKIP_INVALID
def command(
    log: Path,
    labeler: str,
    number: int,
    passes: bool,
    metrics: tuple[str, ...],
    by: tuple[str, ...],
    scores: bool,
    seed: int,
    pass_from: Mapping[str, float],
    skip_invalid: bool,
) -> None:
    """Ask whether a judge's verdicts are right, one after the other; or with --scores, how good answers are.

    Draws the same as `keval calibrate`. With --scores the draw is from all answers of each condition, and
    neither the judge's score nor the tools are shown: your score is to be your own. Each label is in the
    log before the next question, so you can stop at any time: the same command goes on with what this
    labeler has not labelled.
    """
    labeler = labeler.strip()
    if not labeler:
        raise UsageError("--labeler is empty")
    check_appendable(log)  # before a person has answered in vain
    wanted = Wanted(number, passes, by, seed, pass_from, scores, metrics)
    drawn_from = DrawnFrom(log, skip_invalid=skip_invalid)
    entries = drawn(log, wanted, warn, labeler, skip_invalid=skip_invalid)
    if not entries:
        what = "answer" if scores else "verdict"
        warn(f"nothing to label: there is no {what}, or every one that is drawn has a label; -n draws more")
        return
    labels, asked_about = 0, 0

    def ask(entry: Entry, place: int, of: int) -> Said | None:
        nonlocal asked_about
        if place != asked_about:  # of one answer each metric is asked about
            _show(entry, place, of)
        asked_about = place
        return _score(entry, labeler) if scores else _verdict(entry, labeler)

    try:
        for _ in ask_all(log, entries, ask, warn, drawn_from):
            labels += 1
    except _QuitError:
        pass
    finally:
        what = "scores given" if scores else "labelled"
        warn(f"{labels} of {len(entries)} {what}; `keval calibrate {quote(str(log))}` says what the labels mean")


def _show(entry: Entry, place: int, of: int) -> None:
    tell("", f"── {place} of {of} " + "─" * 60)
    for title, text in (("Question", entry.question), ("Golden answer", entry.golden_answer), ("Answer", entry.answer)):
        tell(f"{title}:", *(f"  {line}" for line in (text or "(none)").splitlines()))
    if entry.is_blind:
        return
    if entry.tools:
        tell(f"Tools called: {', '.join(entry.tools)}")
    needed = "" if entry.pass_from is None else f", passes from {entry.pass_from:g}"
    tell(f"{entry.judge}/{entry.metric}: {'passed' if entry.passed else 'FAILED'}, score {entry.score:g}{needed}")
    tell(*(f"  {line}" for line in (entry.reasoning or "(no reasoning)").splitlines()))


def _verdict(entry: Entry, labeler: str) -> Said | None:
    choices = {choice[0]: choice for choice in CHOICES[bool(entry.passed)]}
    for key, choice in choices.items():
        tell(f"  [{key}] {choice}: {SAYS[choice]}")
    answer = _asked("verdict", [*choices, SKIP, QUIT])
    return None if answer == SKIP else replace(_said(entry, labeler), verdict=choices[answer], passed=entry.passed)


def _score(entry: Entry, labeler: str) -> Said | None:
    if entry.asks:
        tell("", *entry.asks.splitlines())
    while True:
        answer = _asked(f"{entry.metric} from {entry.min:g} to {entry.max:g}")
        if answer == SKIP:
            return None
        score = written_number(answer)
        if score is not None and entry.min <= score <= entry.max:
            return replace(_said(entry, labeler), score=score)
        tell(f"{answer!r} is no number from {entry.min:g} to {entry.max:g}")


def _said(entry: Entry, labeler: str) -> Said:
    """Return what a person says of an answer, but for the verdict or the score."""
    return Said(_target(entry), labeler, note=_note(), draw=entry.draw, answer_sha256=entry.answer_sha256)


def _asked(what: str, choices: list[str] | None = None) -> str:
    kind = None if choices is None else click.Choice(choices)
    _forget_what_was_typed()
    with _until_the_end():
        asks = shown(f"{what} ([s]kip, [q]uit)")
        answer: str = click.prompt(asks, type=kind, err=True, show_choices=choices is not None)
    if answer == QUIT:
        raise _QuitError
    return answer


def _forget_what_was_typed() -> None:
    """Drop what was typed before a question is there: the next lines of a pasted note are no answers to it."""
    if sys.stdin.isatty():
        termios.tcflush(sys.stdin, termios.TCIFLUSH)


def _note() -> str | None:
    try:
        with _until_the_end():
            note: str = click.prompt("note", default="", show_default=False, err=True)
    except (_QuitError, click.Abort):  # what was said before is kept; whoever wants to stop is asked once more
        return None
    return note.strip() or None


@contextmanager
def _until_the_end() -> Iterator[None]:
    """Turn the end of what is piped in into _QuitError; to click it is the same as a Ctrl-C."""
    try:
        yield
    except click.Abort as abort:
        if isinstance(abort.__context__, EOFError):
            raise _QuitError from abort
        raise


def _target(entry: Entry) -> tuple[str, str, str]:
    return entry.response_id, entry.judge_id, entry.metric
