from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from keval.errors import InputError
from keval.labels import sheet
from keval.labels.draw import Entry

ENTRY = Entry(
    response_id="r1", judge_id="j1", judge="rubric", metric="completeness", passed=False, score=2, min=1, max=5,
    pass_from=4, reasoning="It lacks a fact.", question="Why?", golden_answer="Because.", answer="No idea.",
    tools=("search",), draw={"method": "by_verdict", "seed": 0},
)  # fmt: skip
HOSTILE = "## 2\n<!-- keval {} -->\n- [x] valid_pass\r- [x] judge_bug\nNote: mine\nLabeler: eve"


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "sheet.md"
    path.write_text(text)
    return path


def ticked(text: str, *choices: str) -> str:
    for choice in choices:
        text = text.replace(f"- [ ] {choice}", f"- [x] {choice}", 1)
    return text


def test_a_sheet_that_is_filled_in_is_read_back(tmp_path: Path) -> None:
    """The ticked box, the note and the labeler come back with what they are about; an empty entry says nothing."""
    text = sheet.markdown([ENTRY, ENTRY], "ada")
    filled = sheet.read(written(tmp_path, ticked(text, "judge_bug").replace("Note:", "Note: really\nwrong", 1)), None)
    (said,) = filled.said
    assert (said.target, said.labeler, said.verdict) == (("r1", "j1", "completeness"), "ada", "judge_bug")
    assert (said.note, filled.empty, filled.answers) == ("really\nwrong", 1, {"r1": ENTRY.answer_sha256})


@pytest.mark.parametrize("field", ["question", "golden_answer", "answer", "reasoning"])
def test_text_from_outside_can_tick_no_box(tmp_path: Path, field: str) -> None:
    """An answer that looks like a filled-in entry is quoted: it says nothing, and ends nothing."""
    hostile = Entry(**{**{name: getattr(ENTRY, name) for name in Entry.__slots__}, field: HOSTILE})
    text = sheet.markdown([hostile], "ada")
    assert text.count("<") == 1  # the comment of the entry
    filled = sheet.read(written(tmp_path, text), None)
    assert (filled.said, filled.empty) == ((), 1)
    (said,) = sheet.read(written(tmp_path, ticked(text, "valid_failure")), None).said
    assert (said.verdict, said.labeler, said.note) == ("valid_failure", "ada", None)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("- [ ]", "- [x]", "3 boxes are ticked; tick one"),
        ("<!-- keval", "<!-- kevil", "what says what it is about"),
        ("Labeler: ada", "Labeler:", "nobody is named as labeler"),
        ("- [ ] judge_bug", "- [x] whatever", "'whatever' is none of valid_failure"),
    ],
)
def test_a_mistake_is_named_with_its_line(tmp_path: Path, old: str, new: str, told: str) -> None:
    """Nothing is guessed, and all mistakes are told at once."""
    text = sheet.markdown([ENTRY], "ada")
    text = ticked(text, "valid_failure") if "Labeler" in old else text
    with pytest.raises(InputError, match=re.escape(told)) as error:
        sheet.read(written(tmp_path, text.replace(old, new)), None)
    assert f"{tmp_path / 'sheet.md'}:7: " in str(error.value)


def test_an_answer_is_scored_without_seeing_what_the_judge_says(tmp_path: Path) -> None:
    """Score, reasoning, judge and tools are not in a sheet of scores; what is filled in keeps how it was drawn."""
    blind = replace(ENTRY, draw={"method": "random", "seed": 1}, answer="No idea.\nScore: 5")
    for text in (sheet.markdown([blind], "ada"), sheet.jsonl([blind], "ada").decode()):
        assert not [word for word in ("lacks a fact", "rubric", "search", "FAILED", "judge_score") if word in text]
    text = sheet.markdown([blind], "ada")
    (said,) = sheet.read(written(tmp_path, text.replace("\nScore:", "\nScore: 3.5")), None).said
    assert (said.score, said.verdict, said.draw) == (3.5, None, {"method": "random", "seed": 1})
    assert said.identity != replace(said, draw=None).identity
    assert sheet.read(written(tmp_path, text), None).empty == 1
    for wrong, told in (("9", "9 is not from 1 to 5"), ("good", "'good' is not a number")):
        with pytest.raises(InputError, match=told):
            sheet.read(written(tmp_path, text.replace("\nScore:", f"\nScore: {wrong}")), None)


@pytest.mark.parametrize(
    "written_box",
    ["- [X] judge_bug", "- [ x] judge_bug", "- [x ] judge_bug", "* [x] judge_bug", "  + [x]judge_bug", "[x] judge_bug",
     "- \\[x\\] judge\\_bug"],
)  # fmt: skip
def test_a_tick_counts_however_it_is_written(tmp_path: Path, written_box: str) -> None:
    """With another bullet, with spaces in its box, or as an editor escapes it."""
    text = sheet.markdown([ENTRY], "ada").replace("- [ ] judge_bug", written_box)
    (said,) = sheet.read(written(tmp_path, text), None).said
    assert said.verdict == "judge_bug"


@pytest.mark.parametrize(
    "written_score", ["Score:4", "Score : 4", "**Score:** 4", "**Score**: 4", " Score: 4", "score: 4", "Score: **4**  "]
)
def test_a_score_counts_however_it_is_written(tmp_path: Path, written_score: str) -> None:
    """Its line may be indented, bold or in small letters; so may that of the note."""
    text = sheet.markdown([replace(ENTRY, draw={"method": "random", "seed": 1})], "ada")
    text = text.replace("\nScore:", f"\n{written_score}").replace("\nNote:", "\n **note:** fine")
    (said,) = sheet.read(written(tmp_path, text), None).said
    assert (said.score, said.note) == (4, "fine")


@pytest.mark.parametrize("beside", ["[their page](http://x) says so", "- [see above]", "of 5 sources"])
def test_a_line_beside_the_boxes_may_say_anything_else(tmp_path: Path, beside: str) -> None:
    """What looks like no box and no score is a remark of the person's."""
    text = ticked(sheet.markdown([ENTRY], "ada"), "judge_bug").replace("- [x] judge_bug", f"{beside}\n- [x] judge_bug")
    (said,) = sheet.read(written(tmp_path, text), None).said
    assert said.verdict == "judge_bug"


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ("- [?] judge_bug", "30: [?] is neither empty nor an x"),
        ("- [x judge_bug", "30: '- [x judge_bug: "),
        ("- [ x ] **good**", "30: '- [ x ] **good**"),
        ("- [yes] **good**", "30: '- [yes] **good**"),
        ("Score 4", "30: 'Score 4: "),
        ("4", "30: '4: "),
        ("Score: 4\nScore: 2\n\n", "31: another score is written above; keep one"),
        ("- [x] judge_bug\nScore: 4\n\n", "7: a box is ticked, and a score is written; keep one of them"),
    ],
)
def test_what_cannot_be_meant_is_named_with_its_line(tmp_path: Path, wrong: str, told: str) -> None:
    """Nothing that somebody has written is dropped in silence."""
    text = sheet.markdown([ENTRY], "ada").replace("- [ ] judge_bug", wrong)
    with pytest.raises(InputError, match=re.escape(f"sheet.md:{told}")):
        sheet.read(written(tmp_path, text), None)


@pytest.mark.parametrize("moved", ["- [x] judge_bug", "Score: 4"])
def test_what_is_ticked_below_the_note_is_not_dropped(tmp_path: Path, moved: str) -> None:
    """An entry with nothing ticked above would count as not filled in."""
    text = sheet.markdown([ENTRY], "ada").replace("Note:", f"Note: wrong\n{moved}")
    with pytest.raises(InputError, match=re.escape(f"{moved!r} stands in the note; move it above `Note:`")):
        sheet.read(written(tmp_path, text), None)


def test_a_note_may_hold_headings(tmp_path: Path) -> None:
    """They end no entry: each entry of a sheet says what it is about."""
    text = ticked(sheet.markdown([ENTRY, ENTRY], "ada"), "judge_bug")
    text = text.replace("Note:", "Note: see\n## Details\n\n- [x] more", 1)
    filled = sheet.read(written(tmp_path, text), None)
    (said,) = filled.said
    assert (said.verdict, said.note) == ("judge_bug", "see\n## Details\n\n- [x] more")
    assert filled.empty == 1


@pytest.mark.parametrize("name", ["sheet.md", "sheet.jsonl"])
def test_a_mark_of_utf_8_damages_no_sheet(tmp_path: Path, name: str) -> None:
    """Some editors put one before what they save."""
    text = sheet.markdown([ENTRY], "ada") if name.endswith(".md") else sheet.jsonl([ENTRY], "ada").decode()
    (tmp_path / name).write_text(text, encoding="utf-8-sig")
    assert sheet.read(tmp_path / name, None).empty == 1


def test_json_lines_are_filled_in_by_programs(tmp_path: Path) -> None:
    """`verdict` or `score` and `note` are read; an untouched row says nothing, a broken one is an error."""
    row = json.loads(sheet.jsonl([ENTRY], "ada"))
    path = tmp_path / "sheet.jsonl"
    rows = [row, row | {"verdict": "ambiguous", "note": "hm"}, row | {"score": 4, "response_id": "r2"}]
    path.write_text("".join(json.dumps(each) + "\n" for each in rows))
    filled = sheet.read(path, None)
    assert [(said.verdict, said.score, said.note) for said in filled.said] == [
        ("ambiguous", None, "hm"),
        (None, 4, None),
    ]
    assert filled.empty == 1
    for wrong in ("no json", json.dumps(row | {"verdict": "maybe"}), json.dumps(row | {"score": "4"})):
        path.write_text(wrong + "\n")
        with pytest.raises(InputError, match=r"sheet\.jsonl:1: "):
            sheet.read(path, None)


@pytest.mark.parametrize("name", ["sheet.md", "sheet.jsonl"])
@pytest.mark.parametrize("text", ["", "\n", "\ufeff"])
def test_a_file_without_an_entry_is_no_sheet(tmp_path: Path, name: str, text: str) -> None:
    """A person's work would be missing without a word; the file is there, so no sheet is written in its place."""
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"no entry of a sheet is in it; keval calibrate LOG -o NEW\.md writes"):
        sheet.read(tmp_path / name, "ada")


@pytest.mark.parametrize(
    "written_box",
    ["-\u00a0[x] judge_bug", "\u00a0- [x] judge_bug", "-\u00a0[x]\u00a0judge_bug"],
)
def test_a_space_that_breaks_no_line_is_a_space(tmp_path: Path, written_box: str) -> None:
    """An editor may write it, and nobody sees it."""
    text = sheet.markdown([ENTRY], "ada").replace("- [ ] judge_bug", written_box)
    (said,) = sheet.read(written(tmp_path, text), None).said
    assert said.verdict == "judge_bug"


@pytest.mark.parametrize(
    "lost",
    ["\u2611 judge_bug", "<input checked> judge_bug", "| [x] | judge_bug |", "> - [x] judge_bug", "judge_bug x", ""],
)
def test_an_entry_that_lacks_a_box_is_not_taken_for_empty(tmp_path: Path, lost: str) -> None:
    """What was filled in may be written in a way that nobody reads."""
    text = sheet.markdown([ENTRY], "ada").replace("- [ ] judge_bug", lost)
    with pytest.raises(InputError, match=r"sheet\.md:7: only 2 of its 3 boxes can be read"):
        sheet.read(written(tmp_path, text), None)
    blind = sheet.markdown([replace(ENTRY, draw={"method": "random", "seed": 1})], "ada").replace("Score:", "Mark: 4")
    with pytest.raises(InputError, match=r"sheet\.md:7: its line `Score:` is gone"):
        sheet.read(written(tmp_path, blind), None)


@pytest.mark.parametrize(("gone", "line"), [("## 1\n", 8), ("## 2\n", 36)])
def test_an_entry_without_its_heading_is_named(tmp_path: Path, gone: str, line: int) -> None:
    """It would be a part of what stands before it, and what was said of it be lost."""
    both = [ENTRY, replace(ENTRY, response_id="r2")]
    text = ticked(sheet.markdown(both, "ada"), "judge_bug", "judge_bug").replace(gone, "")
    with pytest.raises(InputError, match=rf"sheet\.md:{line}: the heading of this entry is gone"):
        sheet.read(written(tmp_path, text), None)


def test_what_is_said_twice_of_one_answer_is_named(tmp_path: Path) -> None:
    """Each reading would turn the label over; two people may say two things."""
    row = json.loads(sheet.jsonl([ENTRY], "ada")) | {"verdict": "judge_bug"}
    path = tmp_path / "sheet.jsonl"
    path.write_text(f"{json.dumps(row)}\n{json.dumps(row | {'verdict': 'valid_failure'})}\n")
    with pytest.raises(InputError, match=r"sheet\.jsonl:2: ada has said it in line 1; keep one of both"):
        sheet.read(path, None)
    path.write_text(f"{json.dumps(row)}\n{json.dumps(row | {'labeler': 'bo'})}\n")
    assert len(sheet.read(path, None).said) == 2


@pytest.mark.parametrize(
    "damage",
    [
        {"draw": {"x": 1}},
        {"draw": {"method": 5, "seed": 0}},
        {"draw": {"method": "random"}},
        {"draw": {"method": [], "seed": 0}},
        {"draw": []},
        {"also": [1]},
        {"answer_sha256": None},
    ],
)
def test_what_a_program_has_damaged_is_named(tmp_path: Path, damage: dict[str, object]) -> None:
    """Before anything of it becomes an event; a key that stands twice is damage, too."""
    row = json.loads(sheet.jsonl([ENTRY], "ada")) | {"verdict": "judge_bug"}
    path = tmp_path / "sheet.jsonl"
    for text in (json.dumps(row | damage), json.dumps(row)[:-1] + ', "verdict": "valid_failure"}'):
        path.write_text(text)
        with pytest.raises(InputError, match="what says what it is about"):
            sheet.read(path, None)


def test_a_number_is_written_without_underscores(tmp_path: Path) -> None:
    """Python would take 0_4 for 4."""
    text = sheet.markdown([replace(ENTRY, draw={"method": "random", "seed": 1})], "ada").replace("Score:", "Score: 0_4")
    with pytest.raises(InputError, match="'0_4' is not a number"):
        sheet.read(written(tmp_path, text), None)
