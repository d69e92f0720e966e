"""A sheet that nobody has touched says nothing, and one that is filled in says what was filled in."""

from __future__ import annotations

import string
import tempfile
from collections.abc import Sequence
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from keval.labels import sheet
from keval.labels.draw import Entry
from keval.labels.filled_sheet import Filled, read

HOSTILE = [
    "Score: 1", "Note: x", "- [x] judge_bug", "## 2", "<!-- keval {} -->", "**Judge** a/b: passed, score 1", "---",
    "Labeler: eve", "> quoted", "# Are these verdicts right?", "**x**, from 1 to 2", ", ", "*", "__", "`", "\\", "\r",
]  # fmt: skip
TEXTS = st.lists(st.sampled_from(HOSTILE) | st.text(max_size=8), max_size=4).map("\n".join)
NAMES = st.lists(
    st.sampled_from([each for each in HOSTILE if each != "\r"]) | st.text(string.ascii_letters + " -_.:", max_size=8),
    min_size=1, max_size=3,
).map("".join).filter(str.strip)  # fmt: skip
NUMBERS = st.integers(-10, 10) | st.floats(-1e6, 1e6)


@st.composite
def entries(draw: st.DrawFn) -> list[Entry]:
    """Return entries of one sheet: all verdicts, or all to be scored."""
    is_blind = draw(st.booleans())
    low = draw(NUMBERS)
    return [
        Entry(
            response_id=f"r{number}", judge_id="j", judge=draw(NAMES), metric=draw(NAMES), passed=draw(st.booleans()),
            score=low, min=low, max=low + draw(st.floats(0.5, 100)), pass_from=draw(st.none() | NUMBERS),
            reasoning=draw(st.none() | TEXTS), question=draw(TEXTS), golden_answer=draw(st.none() | TEXTS),
            answer=draw(TEXTS), tools=tuple(draw(st.lists(NAMES, max_size=3))),
            draw={"method": "random" if is_blind else "by_verdict", "seed": 0}, asks=draw(st.none() | TEXTS),
            judgment=None if is_blind else "a b",
        )
        for number in range(draw(st.integers(1, 3)))
    ]  # fmt: skip


def read_back(text: str) -> Filled:
    """Return what is read of a sheet."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sheet.md"
        path.write_text(text, encoding="utf-8")
        return read(path, "ada")


@given(entries(), st.integers(0, 2))
def test_a_sheet_says_what_was_filled_in(shown: Sequence[Entry], place: int) -> None:
    """Of each entry what stands in its own box or field; of the others nothing."""
    text = sheet.markdown(shown, None)
    assert (read_back(text).said, read_back(text).empty) == ((), len(shown))
    filled = shown[place % len(shown)]
    head, own = text.split(f"\n## {place % len(shown) + 1}\n\n<!-- keval ")
    blank = "\nScore:" if filled.is_blind else "\n- [ ] judge_bug"
    before, after = own.split(blank, 1)
    said = f"\nScore: {filled.min!r}" if filled.is_blind else "\n- [x] judge_bug"
    found = read_back(f"{head}\n## {place % len(shown) + 1}\n\n<!-- keval {before}{said}{after}")
    assert [(each.target[0], each.target[2]) for each in found.said] == [(filled.response_id, filled.metric)]
    assert [each.score if filled.is_blind else each.verdict for each in found.said] == [
        filled.min if filled.is_blind else "judge_bug"
    ]
    assert found.empty == len(shown) - 1
