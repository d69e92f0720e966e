"""Measures how the time of `keval scan` grows with the length of a text, ordinary and hostile.

Each text repeats something on which a careless pattern tries again from every place. Prints the
processor seconds for each size and the ratio of the last two, and appends them to benchmarks/results.md: what
doubles with the text is linear, what grows fourfold is not. Run with `make bench`.
"""

from __future__ import annotations

import time

from benchmarks import results
from keval.logs.secret_scan import FORMS, Scanner

SIZES = (100_000, 200_000, 400_000, 800_000)
RUNS = 3
ENVIRON = {
    "DOCS_TOKEN": "3f9a2c" * 6,
    "DATABASE_PASSWORD": 'it\'s "a/b+c" & d',
    "LONG_SECRET": "a" * 64,
    "PIN_CODE_KEY": "1234567890",
}
"""Secrets that are looked for in all encodings; the long one is what a hostile text nearly repeats."""


def repeated(piece: str) -> str:
    """Return the longest text of the largest size that repeats a piece."""
    return (piece * (max(SIZES) // len(piece) + 1))[: max(SIZES)]


TEXTS = {
    "prose": repeated("The handbook says that a run can be resumed; see chapter 12. "),
    "hex": repeated("0123456789abcdef"),
    "one letter": repeated("a"),
    "name": repeated("abcdefgh.ijkl-mnop+"),
    "begun URLs": repeated("a://b:cdef"),
    "begun URL": "a://" + repeated("b:"),
    "dashes": repeated("-----BEGIN A B "),
    "begun web tokens": repeated("-eyJ.eyJ"),
    "every mark": repeated(" ".join(mark for form in FORMS.values() for mark in form.marks) + " "),
    "every mark, no space": repeated("".join(mark for form in FORMS.values() for mark in form.marks)),
    "nearly the secret": repeated("a" * 63 + "b"),
}


def seconds(scanner: Scanner, text: str) -> float:
    """Return the least time of some runs: what disturbs the machine only adds to it."""
    times = []
    for _ in range(RUNS):
        began = time.process_time()
        list(scanner.look({"text": text}))
        times.append(time.process_time() - began)
    return min(times)


def main() -> None:
    """Measure each text in each size, and print and append the figures."""
    scanner = Scanner(ENVIRON)
    rows = []
    for name, text in TEXTS.items():
        measured = [seconds(scanner, text[:size]) for size in SIZES]
        rows.append((name, *(f"{each:.3f}" for each in measured), f"{measured[-1] / measured[-2]:.2f}"))
    header = ("text", *(f"{size:,} characters" for size in SIZES), "last ratio")
    results.append("scan", f"CPU seconds, least of {RUNS} runs", header, rows)


if __name__ == "__main__":
    main()
