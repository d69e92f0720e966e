"""Looks for secrets that may have slipped into a log, before the log is shared.

What a config names is replaced when it is written. This finds what came in by other ways: a key
that an agent printed, a token in a tool's result. It finds known forms of keys, and the values of
variables of this environment whose names sound like secrets, however they are spelt.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shlex import quote
from typing import BinaryIO

from keval.documents import packed
from keval.errors import InputError, Warn
from keval.logs.outputs import STDIN
from keval.logs.stream import Reader, standard_input
from keval.processes.interrupted_input import read_to_the_end
from keval.secrets.scanner import Finding, Scanner

NOT_IN_TEXT = re.compile(rb"[\x00-\x08\x0e-\x1a]")
"""Bytes that stand in no text, not even in a damaged one, and soon in a packed file; without tabs and line ends."""


@contextmanager
def _opened(log: Path, warn: Warn) -> Iterator[BinaryIO]:
    if log == STDIN:
        with read_to_the_end(warn):
            yield standard_input(warn).source
    else:
        with packed.opened(log) as source:
            yield source


def scan_log(log: Path, scanner: Scanner, warn: Warn, *, skip_invalid: bool) -> Iterator[tuple[int, Finding]]:
    """Yield what is found in each line, with its number; an invalid line's problem is not told, for it quotes the line.

    Raises InputError for an invalid line that is not to be left out as an event, and scanned as text; and for a file
    that is no text.
    """
    untold: list[str] = []
    name = "stdin" if log == STDIN else str(log)
    try:
        with _opened(log, warn) as source:
            reader = Reader(source, name, untold.append, skip_invalid=True)
            for number, raw in enumerate(source, start=1):
                event = reader.parse(number, raw)
                if event is not None:
                    yield from ((number, finding) for finding in scanner.findings(event.event))
                elif raw.strip():
                    _check_scannable(log, number, raw, as_text=skip_invalid or reader.torn)
                    warn(f"{name}:{number}: {'cut off' if reader.torn else 'no valid event'}; scanned as text")
                    text = raw.decode(errors="replace")
                    yield from ((number, Finding("$", what)) for what in scanner.found_in(text))
    except OSError as error:
        raise InputError(f"{name}: {error.strerror}") from error


def _check_scannable(log: Path, number: int, raw: bytes, *, as_text: bool) -> None:
    """Raise InputError for a line without a valid event that is not to be scanned as text, or that is none."""
    if number == 1 and NOT_IN_TEXT.search(raw):
        raise InputError(
            f"{log} is no text, such as Parquet or a database, and is not looked through; scan the log instead"
        )
    if not as_text and log == STDIN:
        raise InputError(f"stdin:{number}: no valid event; --skip-invalid scans the line as text")
    if not as_text:
        raise InputError(
            f"{log}:{number}: no valid event; keval validate {quote(str(log))} says why (--skip-invalid scans the line"
            " as text)"
        )
