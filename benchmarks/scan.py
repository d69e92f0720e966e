"""Measures how the time of `keval scan` grows with the length of a text, ordinary and hostile.

Each text repeats something on which a careless pattern tries again from every place. Each length is twice the one
before it. What to look at is the ratio of the last two times: what doubles with the text is linear, what grows
fourfold is not.

    python -m benchmarks.scan [--size tiny|modest|large]
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from benchmarks.benchmark import Benchmark, Measurement, Size
from benchmarks.tables import middle, table, told, values, where
from keval.secrets.key_forms import FORMS
from keval.secrets.scanner import Scanner

LENGTHS = {
    Size.TINY: (1_000, 2_000),
    Size.MODEST: (100_000, 200_000, 400_000, 800_000),
    Size.LARGE: (100_000, 200_000, 400_000, 800_000),
}
LONGEST = max(max(lengths) for lengths in LENGTHS.values())
ENVIRON = {
    "DOCS_TOKEN": "3f9a2c" * 6,
    "DATABASE_PASSWORD": 'it\'s "a/b+c" & d',
    "LONG_SECRET": "a" * 64,
    "PIN_CODE_KEY": "1234567890",
}
"""Secrets that are looked for in all encodings; the long one is what a hostile text nearly repeats."""


def repeated(piece: str) -> str:
    """Return the longest text that repeats a piece."""
    return (piece * (LONGEST // len(piece) + 1))[:LONGEST]


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


def measure(size: Size, repeat: int) -> Iterator[Measurement]:
    """Measure each text in each length, in this process."""
    for _ in range(repeat):
        scanner = Scanner(ENVIRON)  # anew, for it remembers short texts that hold nothing
        for name, text in TEXTS.items():
            for length in LENGTHS[size]:
                began = time.process_time()
                list(scanner.findings({"text": text[:length]}))
                yield {"text": name, "characters": length, "cpu_s": round(time.process_time() - began, 5)}


def tables(measurements: Sequence[Measurement]) -> str:
    """Return the medians by text and length."""
    lengths = values(measurements, "characters")
    rows = []
    for text in values(measurements, "text"):
        found = [middle(where(measurements, text=text, characters=length), "cpu_s") for length in lengths]
        shorter, longer = found[-2:]
        ratio = None if not shorter or longer is None else longer / shorter
        rows.append((text, *(told(each, 3) for each in found), told(ratio)))
    header = ("text", *(f"{length:,} characters" for length in lengths), "last ratio")
    return f"{table(header, rows)}\n\nCPU seconds, medians."


BENCHMARK = Benchmark(name="scan", measure=measure, tables=tables)

if __name__ == "__main__":
    BENCHMARK.main()
