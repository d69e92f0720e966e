from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from keval.events import encode, event
from keval.ids import JsonObject
from keval.logs.stream import read
from keval.logs.writer import open_log

TEXTS = st.text(st.characters(exclude_categories=["Cs"])) | st.sampled_from(["\u2028", "a\u0085b", "\r\n", "\\n", '"'])


def a_retraction(reason: str) -> JsonObject:
    return event("retraction", "id", "run", target="t", reason=f"because {reason}", author=None)


@given(st.lists(TEXTS, max_size=5))
@settings(max_examples=60)
def test_what_is_appended_is_read_back(reasons: list[str]) -> None:
    """Any text survives the log, line separators of Unicode included."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.jsonl"
        events = [a_retraction(reason) for reason in reasons]

        async def main() -> None:
            with open_log(path, (), lambda _: None) as log:
                for each in events:
                    await log.append(each)

        asyncio.run(main())
        assert [line.event for line in read(path, lambda _: None)] == events


@given(st.lists(TEXTS, min_size=1, max_size=4), st.data())
@settings(max_examples=100)
def test_a_log_cut_at_any_byte_keeps_every_whole_line_and_can_be_appended_to(
    reasons: list[str], data: st.DataObject
) -> None:
    """Cut anywhere: the whole lines survive unchanged, the torn tail is set aside, appending works."""
    lines = [encode(a_retraction(reason)) for reason in reasons]
    whole = b"".join(lines)
    cut = data.draw(st.integers(0, len(whole)))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.jsonl"
        path.write_bytes(whole[:cut])

        async def main() -> None:
            with open_log(path, (), lambda _: None) as log:
                await log.append(a_retraction("after"))

        asyncio.run(main())
        kept = path.read_bytes().splitlines(keepends=True)
        survivors = [line for number, line in enumerate(lines) if len(b"".join(lines[: number + 1])) - 1 <= cut]
        assert kept[:-1] == survivors
        torn = Path(f"{path}.torn")
        lost = whole[len(b"".join(survivors)) : cut]
        assert (torn.read_bytes() if torn.exists() else b"") == (lost + b"\n" if lost else b"")
