from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from keval.errors import InputError
from keval.labels import filled_sheet, sheet
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
    filled = filled_sheet.read(
        written(tmp_path, ticked(text, "judge_bug").replace("Note:", "Note: really\nwrong", 1)), None
    )
    (said,) = filled.said
    assert (said.target, said.labeler, said.verdict) == (("r1", "j1", "completeness"), "ada", "judge_bug")
    assert (said.note, filled.empty, filled.answers) == ("really\nwrong", 1, {"r1": ENTRY.answer_sha256})


@pytest.mark.parametrize("field", ["question", "golden_answer", "answer", "reasoning"])
def test_text_from_outside_can_tick_no_box(tmp_path: Path, field: str) -> None:
    """An answer that looks like a filled-in entry is quoted: it says nothing, and ends nothing."""
    hostile = Entry(**{**{name: getattr(ENTRY, name) for name in Entry.__slots__}, field: HOSTILE})
    text = sheet.markdown([hostile], "ada")
    assert text.count("<") == 1  # the comment of the entry
    filled = filled_sheet.read(written(tmp_path, text), None)
    assert (filled.said, filled.empty) == ((), 1)
    (said,) = filled_sheet.read(written(tmp_path, ticked(text, "valid_failure")), None).said
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
        filled_sheet.read(written(tmp_path, text.replace(old, new)), None)
    assert f"{tmp_path / 'sheet.md'}:7: " in str(error.value)


def test_an_answer_is_scored_without_seeing_what_the_judge_says(tmp_path: Path) -> None:
    """Score, reasoning, judge and tools are not in a sheet of scores; what is filled in keeps how it was drawn."""
    blind = replace(ENTRY, draw={"method": "random", "seed": 1}, answer="No idea.\nScore: 5")
    for text in (sheet.markdown([blind], "ada"), sheet.jsonl([blind], "ada").decode()):
        assert not [word for word in ("lacks a fact", "rubric", "search", "FAILED", "judge_score") if word in text]
    text = sheet.markdown([blind], "ada")
    (said,) = filled_sheet.read(written(tmp_path, text.replace("\nScore:", "\nScore: 3.5")), None).said
    assert (said.score, said.verdict, said.draw) == (3.5, None, {"method": "random", "seed": 1})
    assert said.identity != replace(said, draw=None).identity
    assert filled_sheet.read(written(tmp_path, text), None).empty == 1
    for wrong, told in (("9", "9 is not from 1 to 5"), ("good", "'good' is not a number")):
        with pytest.raises(InputError, match=told):
            filled_sheet.read(written(tmp_path, text.replace("\nScore:", f"\nScore: {wrong}")), None)


@pytest.mark.parametrize(
    "written_box",
    ["- [X] judge_bug", "- ☒ judge_bug", "☑ judge_bug", "1. [x] judge_bug", "- [x] **judge_bug**",
     "- [x] **judge_bug:**",
     "\\- \\[x\\] judge_bug",
     "- [ x] judge_bug", "- [x ] judge_bug", "* [x] judge_bug", "  + [x]judge_bug", "[x] judge_bug",
     "- \\[x\\] judge\\_bug"],
)  # fmt: skip
def test_a_tick_counts_however_it_is_written(tmp_path: Path, written_box: str) -> None:
    """With another bullet, with spaces in its box, or as an editor escapes it."""
    text = sheet.markdown([ENTRY], "ada").replace("- [ ] judge_bug", written_box)
    (said,) = filled_sheet.read(written(tmp_path, text), None).said
    assert said.verdict == "judge_bug"


@pytest.mark.parametrize(
    "written_score",
    [
        "- Score: 4",
        "Score: `4`",
        "Score: 4\\",
        "Score:4",
        "Score : 4",
        "**Score:** 4",
        "**Score**: 4",
        " Score: 4",
        "score: 4",
        "Score: **4**  ",
    ],
)
def test_a_score_counts_however_it_is_written(tmp_path: Path, written_score: str) -> None:
    """Its line may be indented, bold or in small letters; so may that of the note."""
    text = sheet.markdown([replace(ENTRY, draw={"method": "random", "seed": 1})], "ada")
    text = text.replace("\nScore:", f"\n{written_score}").replace("\nNote:", "\n **note:** fine")
    (said,) = filled_sheet.read(written(tmp_path, text), None).said
    assert (said.score, said.note) == (4, "fine")


@pytest.mark.parametrize("beside", ["of 5 sources", "- 4", "**4**", "about 4", "Verdict: judge_bug", "Notes: wrong"])
def test_a_line_that_is_none_of_the_sheets_is_named(tmp_path: Path, beside: str) -> None:
    """Beside a tick or without one: it is a remark, or a score in another way, and would be lost."""
    for text in (sheet.markdown([ENTRY], "ada"), ticked(sheet.markdown([ENTRY], "ada"), "judge_bug")):
        with pytest.raises(InputError, match=re.escape(f"sheet.md:33: {beside!r} cannot be read; write `Score: 4`")):
            filled_sheet.read(written(tmp_path, text.replace("\nNote:", f"\n{beside}\n\nNote:")), None)


@pytest.mark.parametrize(
    ("place", "told"),
    [
        ("Labeler: ada\n", "6: 'Entry 1 is outdated' is in no entry; write it below the `Note:` of one"),
        ("**Question**\n", "12: 'Entry 1 is outdated' cannot be read; join it with the line above if it belongs to it"),
        ("It lacks a fact.\n", "29: '> Entry 1 is outdated' is quoted where the sheet quotes nothing"),
        ("is wrong\n", "32: '> Entry 1 is outdated' is quoted where the sheet quotes nothing"),
    ],
)
def test_a_remark_is_named_wherever_it_stands(tmp_path: Path, place: str, told: str) -> None:
    """Above the first entry, between the lines of an entry, or as a quote of the person's own."""
    remark = "Entry 1 is outdated\n" if "> " not in told else "\n> Entry 1 is outdated\n"
    text = ticked(sheet.markdown([ENTRY], "ada"), "judge_bug").replace(place, place + remark, 1)
    with pytest.raises(InputError, match=re.escape(f"sheet.md:{told}")):
        filled_sheet.read(written(tmp_path, text), None)


@pytest.mark.parametrize("remark", ["- [x] judge_bug", "Score: 4", "wrong"])
@pytest.mark.parametrize("line", ["## 1", "passes from 4", "Labeler: ada\n"])
def test_nothing_is_lost_behind_a_line_of_the_sheet(tmp_path: Path, line: str, remark: str) -> None:
    """Behind the heading of an entry or the judge's verdict, or as a line of one word above the first entry."""
    text = sheet.markdown([ENTRY], "ada").replace(line, f"{line} {remark}".replace("\n ", "\n"), 1)
    with pytest.raises(
        InputError, match=r"heads an entry; write `## 1`|cannot be read; |is in no entry; write it below"
    ):
        filled_sheet.read(written(tmp_path, text), None)


@pytest.mark.parametrize("saved", ["ada\\_b", "`ada_b`", "**ada_b**", " ada_b "])
def test_a_labeler_is_the_same_whatever_an_editor_escapes(tmp_path: Path, saved: str) -> None:
    """Else one person would be two, who agree or contradict each other."""
    text = ticked(sheet.markdown([ENTRY], "ada"), "judge_bug").replace("Labeler: ada", f"Labeler: {saved}")
    assert filled_sheet.read(written(tmp_path, text), "ada_b").said[0].labeler == "ada_b"


def test_lines_of_the_sheet_may_be_wrapped(tmp_path: Path) -> None:
    """By an editor that knows where their text goes on; a rule across the page says nothing."""
    entry = replace(ENTRY, tools=("search", "open_page", "open_page"))
    text = ticked(sheet.markdown([entry], "ada"), "ambiguous").replace("search, open_page, ", "search, open_page,\n")
    text = text.replace("nobody can tell, by this question and ", "nobody can tell, by this\n  question and\n  ")
    text = text.replace("a note is optional. ", "a note is optional.\n").replace("\nNote:", "\n---\n\nNote:")
    (said,) = filled_sheet.read(written(tmp_path, text), None).said
    assert (said.verdict, said.note) == ("ambiguous", None)


def test_long_lines_of_the_sheet_may_be_wrapped_anywhere(tmp_path: Path) -> None:
    """The judge's verdict, a list that begins with a long name, and the name of a metric."""
    entry = replace(ENTRY, judge="a judge of a long name", tools=("search", "open_page"))
    text = ticked(sheet.markdown([entry], "ada"), "judge_bug").replace("a judge of a long", "a judge\nof a\nlong")
    text = text.replace("**Tools called** search", "**Tools called**\nsearch").replace(
        "score 2, passes", "score 2,\npasses"
    )
    (said,) = filled_sheet.read(written(tmp_path, text), None).said
    assert said.verdict == "judge_bug"
    blind = replace(ENTRY, metric="a metric of a long name", draw={"method": "random", "seed": 1})
    text = sheet.markdown([blind], "ada").replace("**a metric of", "**a metric\nof").replace("\nScore:", "\nScore: 2")
    assert filled_sheet.read(written(tmp_path, text), None).said[0].score == 2


@pytest.mark.parametrize("metric", ["Score: relevance", "note: tone", "*Score: 1", "Labeler: x"])
def test_the_name_of_a_metric_fills_nothing_in(tmp_path: Path, metric: str) -> None:
    """It stands in a line of the sheet's own, whatever it looks like."""
    blind = replace(ENTRY, metric=metric, draw={"method": "random", "seed": 1})
    text = sheet.markdown([blind], "ada")
    assert filled_sheet.read(written(tmp_path, text), None).empty == 1
    filled = filled_sheet.read(written(tmp_path, text.replace("\nScore:", "\nScore: 2")), None)
    assert [(said.score, said.note) for said in filled.said] == [(2, None)]


def test_a_box_that_nobody_ticked_may_stand_in_a_note(tmp_path: Path) -> None:
    """As a sign or in brackets; a ticked one is told by its line, see above."""
    text = ticked(sheet.markdown([ENTRY, ENTRY], "ada"), "judge_bug").replace(
        "Note:", "Note:\n- ☐ ask Bo\n- [ ] ask Cy"
    )
    with pytest.raises(InputError, match="it has a note and nothing else"):  # the second entry; no box is to be moved
        filled_sheet.read(written(tmp_path, text), None)


def test_a_line_of_very_many_underscores_is_read_at_once(tmp_path: Path) -> None:
    """It is no box, and takes no time that grows with the square of its length: minutes for this one."""
    line = "- [x] a" + "_" * 100_000 + "!"
    text = ticked(sheet.markdown([ENTRY], "ada"), "judge_bug")
    (said,) = filled_sheet.read(written(tmp_path, text.replace("Note:", f"Note: {line}\n{line}")), None).said
    assert said.note == f"{line}\n{line}"


def test_a_rule_between_entries_is_no_note(tmp_path: Path) -> None:
    """An editor, or a person, may draw a line across the page."""
    text = ticked(sheet.markdown([ENTRY, replace(ENTRY, response_id="r2")], "ada"), "judge_bug")
    filled = filled_sheet.read(written(tmp_path, text.replace("## 2", "---\n\n## 2")), None)
    assert ([said.note for said in filled.said], filled.empty) == ([None], 1)


def test_a_score_that_is_none_is_named_with_its_line(tmp_path: Path) -> None:
    """Not with that of its entry, of which there may be many."""
    text = sheet.markdown([replace(ENTRY, draw={"method": "random", "seed": 1})], "ada")
    text = text.replace("\nScore:", "\nScore: 4/5")
    with pytest.raises(InputError, match=r"sheet\.md:25: score: '4/5' is not a number"):
        filled_sheet.read(written(tmp_path, text), None)


def test_what_was_wrapped_out_of_a_quote_fills_nothing_in(tmp_path: Path) -> None:
    """An answer that speaks of its own score would score itself."""
    blind = replace(ENTRY, draw={"method": "random", "seed": 1}, answer="My rating is Score: 5")
    text = sheet.markdown([blind], "ada").replace("rating is Score", "rating is\nScore")
    with pytest.raises(InputError, match=re.escape("'Score: 5' stands right below a quote; begin it with `>`")):
        filled_sheet.read(written(tmp_path, text), None)


def test_an_entry_that_was_damaged_is_no_part_of_the_one_above(tmp_path: Path) -> None:
    """What was ticked of one answer would be said of another."""
    first, second = sheet.markdown([ENTRY, replace(ENTRY, response_id="r2")], "ada").split("## 2\n")
    second = ticked(second, "judge_bug").replace("<!-- keval", " <!-- keval")
    for text in (first.replace("Note:\n", "") + "### 2\n" + second, first + second):
        with pytest.raises(InputError, match="the heading of this entry is gone"):
            filled_sheet.read(written(tmp_path, text), None)


def test_sheets_of_several_people_may_stand_in_one_file(tmp_path: Path) -> None:
    """Each is its labeler's; a sheet whose title is gone is none of another person's."""
    of_ada = ticked(sheet.markdown([ENTRY], "ada"), "judge_bug")
    of_bo = ticked(sheet.markdown([replace(ENTRY, response_id="r2")], "bo"), "valid_failure")
    filled = filled_sheet.read(written(tmp_path, of_ada + of_bo), None)
    assert [(said.labeler, said.target[0], said.note) for said in filled.said] == [
        ("ada", "r1", None),
        ("bo", "r2", None),
    ]
    with pytest.raises(InputError, match=r"sheet\.md:38: 'Labeler: bo' stands in the note"):
        filled_sheet.read(written(tmp_path, of_ada + of_bo.replace("# Are these verdicts right?", "")), None)


@pytest.mark.parametrize("name", ["sheet.md", "sheet.jsonl"])
def test_a_note_alone_is_not_dropped(tmp_path: Path, name: str) -> None:
    """The log keeps it only beside what it is a note of."""
    text = sheet.markdown([ENTRY], "ada").replace("Note:", "Note: hm")
    row = json.dumps(json.loads(sheet.jsonl([ENTRY], "ada")) | {"note": "hm"})
    (tmp_path / name).write_text(text if name.endswith(".md") else row)
    with pytest.raises(InputError, match="it has a note and nothing else"):
        filled_sheet.read(tmp_path / name, None)


def test_two_names_of_a_labeler_are_refused(tmp_path: Path) -> None:
    """The one in the sheet and the one of the option: nobody knows whose word it is."""
    text = ticked(sheet.markdown([ENTRY], "ada"), "judge_bug")
    assert filled_sheet.read(written(tmp_path, text), " ada ").said[0].labeler == "ada"
    with pytest.raises(InputError, match="the sheet names ada as labeler, and --labeler says bo"):
        filled_sheet.read(written(tmp_path, text), "bo")


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"note": 0}, "note: 0 is not a text"),
        ({"note": ["a"]}, r"note: \['a'\] is not a text"),
        ({"labeler": True}, "labeler: True is not a text"),
        ({"Verdict": "judge_bug"}, "'Verdict' is not read; write 'verdict'"),
    ],
)
def test_a_field_of_another_type_or_name_is_named(tmp_path: Path, wrong: dict[str, object], told: str) -> None:
    """Of a sheet that a program filled in."""
    path = tmp_path / "sheet.jsonl"
    path.write_text(json.dumps(json.loads(sheet.jsonl([ENTRY], "ada")) | wrong))
    with pytest.raises(InputError, match=rf"sheet\.jsonl:1: {told}"):
        filled_sheet.read(path, None)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ("- [?] judge_bug", "30: [?] is neither empty nor an x"),
        ("- [x judge_bug", "30: '- [x judge_bug: "),
        ("- [ x ] **good**", "7: 'good' is none of valid_failure"),
        ("- [yes] **good**", "30: [yes] is neither empty nor an x"),
        ("- [x] judge_bug/ambiguous", "30: '- [x] judge_bug/ambiguous: "),
        ("- [ ] judge_bug: maybe\n- [ ] judge_bug", "30: 'maybe' stands behind a box; write it below `Note:`"),
        ("Score 4", "30: 'Score 4: "),
        ("4", "30: '4: "),
        ("Score: 4\nScore: 2\n\n", "31: another score is written above; keep one"),
        (
            "Score: 4\n\n- [x] judge_bug",
            "7: a box is ticked, and a score is written; keep one of them",
        ),
    ],
)
def test_what_cannot_be_meant_is_named_with_its_line(tmp_path: Path, wrong: str, told: str) -> None:
    """Nothing that somebody has written is dropped in silence."""
    text = sheet.markdown([ENTRY], "ada").replace("- [ ] judge_bug", wrong)
    with pytest.raises(InputError, match=re.escape(f"sheet.md:{told}")):
        filled_sheet.read(written(tmp_path, text), None)


def test_two_entries_that_ran_into_one_are_no_entry(tmp_path: Path) -> None:
    """What is ticked of the second would be stored about the first, which passed, and mean the opposite."""
    passed = replace(ENTRY, response_id="r2", passed=True, score=5)
    text = sheet.markdown([passed, ENTRY], "ada")
    begin, end = text.index("Note:"), text.index("**Question**", text.index("## 2"))
    ran_into = ticked(text[:begin] + text[end:], "valid_failure")
    with pytest.raises(InputError) as told:
        filled_sheet.read(written(tmp_path, ran_into), None)
    for lost in ("'**Question**' stands here a second time", "'judge_bug' stands here", "'valid_failure' is no box of"):
        assert lost in str(told.value)


@pytest.mark.parametrize("gone", [r"## 2\n+<!-- keval .*-->\n", r"## 2\n+<!-- keval .*-->\n+\*\*Question\*\*\n"])
def test_an_entry_that_is_in_the_note_of_another_is_named(tmp_path: Path, gone: str) -> None:
    """Its heading and its comment are gone, and what is ticked in it would be words of the entry above."""
    text = ticked(sheet.markdown([ENTRY, replace(ENTRY, response_id="r2")], "ada"), "judge_bug")
    text = re.sub(gone, "", text[: text.index("## 2")] + ticked(text[text.index("## 2") :], "valid_failure"))
    with pytest.raises(InputError, match=r"'- \[x\] valid_failure: .*stands in the note; begin it with `>`"):
        filled_sheet.read(written(tmp_path, text), None)


@pytest.mark.parametrize("note", ["- [x] judge_bug: after all", "**Answer**"])
def test_a_note_says_what_the_sheet_asks_only_if_it_is_quoted(tmp_path: Path, note: str) -> None:
    """A second tick below the note contradicts the first, or is of another entry; a tick of one's own is a note."""
    text = ticked(sheet.markdown([ENTRY], "ada"), "valid_failure").rstrip()
    with pytest.raises(InputError, match="stands in the note; begin it with `>` if it belongs to it"):
        filled_sheet.read(written(tmp_path, f"{text} no, rather:\n{note}\n"), None)
    for kept in (f"> {note}", "- [x] asked Bob", "- [ ] ask Bob"):
        (said,) = filled_sheet.read(written(tmp_path, f"{text} no, rather:\n{kept}\n"), None).said
        assert said.note == f"no, rather:\n{kept}"


def test_a_second_score_below_the_note_is_named(tmp_path: Path) -> None:
    """Nobody can tell which of the two is meant."""
    text = sheet.markdown([replace(ENTRY, passed=None)], "ada").replace("Score:", "Score: 4").rstrip()
    with pytest.raises(InputError, match="'Score: 2' stands in the note"):
        filled_sheet.read(written(tmp_path, f"{text} I take it back\nScore: 2\n"), None)


@pytest.mark.parametrize("own", ["- [ ] other: the golden answer is wrong", "- [] todo: ask Bob", "☐ todo ask Bob"])
@pytest.mark.parametrize("passed", [False, None])
def test_a_box_of_ones_own_is_not_dropped(tmp_path: Path, own: str, passed: bool | None) -> None:
    """Nobody ticked it, and yet it says something."""
    text = sheet.markdown([replace(ENTRY, passed=passed)], "ada").replace("Note:", f"{own}\n\nNote:")
    with pytest.raises(InputError, match="cannot be read; write `Score: 4`, tick a box"):
        filled_sheet.read(written(tmp_path, text), None)


@pytest.mark.parametrize("name", ["label", "verdicts", "comment"])
def test_a_field_that_no_sheet_has_is_named_where_nothing_else_is_said(tmp_path: Path, name: str) -> None:
    """A program that fills in another field has said something; beside a verdict it may keep what it likes."""
    path = tmp_path / "sheet.jsonl"
    row = json.loads(sheet.jsonl([ENTRY], "ada"))
    assert row.keys() <= sheet.KEYS
    path.write_text(json.dumps({**row, name: "judge_bug"}))
    with pytest.raises(InputError, match=f"'{name}' is not read, and nothing is said of the answer"):
        filled_sheet.read(path, None)
    path.write_text(json.dumps({**row, name: "judge_bug", "verdict": "ambiguous"}))
    assert len(filled_sheet.read(path, None).said) == 1


@pytest.mark.parametrize("moved", ["- [x] judge_bug", "Score: 4"])
def test_what_is_ticked_below_the_note_is_not_dropped(tmp_path: Path, moved: str) -> None:
    """An entry with nothing ticked above would count as not filled in."""
    text = sheet.markdown([ENTRY], "ada").replace("Note:", f"Note: wrong\n{moved}")
    with pytest.raises(InputError, match=re.escape(f"{moved!r} stands in the note; move it above `Note:`")):
        filled_sheet.read(written(tmp_path, text), None)


def test_a_note_may_hold_headings(tmp_path: Path) -> None:
    """They end no entry: each entry of a sheet says what it is about."""
    text = ticked(sheet.markdown([ENTRY, ENTRY], "ada"), "judge_bug")
    text = text.replace("Note:", "Note: see\n## Details\n\n- [x] more", 1)
    filled = filled_sheet.read(written(tmp_path, text), None)
    (said,) = filled.said
    assert (said.verdict, said.note) == ("judge_bug", "see\n## Details\n\n- [x] more")
    assert filled.empty == 1


@pytest.mark.parametrize("name", ["sheet.md", "sheet.jsonl"])
def test_a_mark_of_utf_8_damages_no_sheet(tmp_path: Path, name: str) -> None:
    """Some editors put one before what they save."""
    text = sheet.markdown([ENTRY], "ada") if name.endswith(".md") else sheet.jsonl([ENTRY], "ada").decode()
    (tmp_path / name).write_text(text, encoding="utf-8-sig")
    assert filled_sheet.read(tmp_path / name, None).empty == 1


def test_json_lines_are_filled_in_by_programs(tmp_path: Path) -> None:
    """`verdict` or `score` and `note` are read; an untouched row says nothing, a broken one is an error."""
    row = json.loads(sheet.jsonl([ENTRY], "ada"))
    path = tmp_path / "sheet.jsonl"
    rows = [row, row | {"verdict": "ambiguous", "note": "hm"}, row | {"score": 4, "response_id": "r2"}]
    path.write_text("".join(json.dumps(each) + "\n" for each in rows))
    filled = filled_sheet.read(path, None)
    assert [(said.verdict, said.score, said.note) for said in filled.said] == [
        ("ambiguous", None, "hm"),
        (None, 4, None),
    ]
    assert filled.empty == 1
    for wrong in ("no json", json.dumps(row | {"verdict": "maybe"}), json.dumps(row | {"score": "4"})):
        path.write_text(wrong + "\n")
        with pytest.raises(InputError, match=r"sheet\.jsonl:1: "):
            filled_sheet.read(path, None)


@pytest.mark.parametrize("name", ["sheet.md", "sheet.jsonl"])
@pytest.mark.parametrize("text", ["", "\n", "\ufeff"])
def test_a_file_without_an_entry_is_no_sheet(tmp_path: Path, name: str, text: str) -> None:
    """A person's work would be missing without a word; the file is there, so no sheet is written in its place."""
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"no entry of a sheet is in it; keval calibrate LOG -o NEW\.md writes"):
        filled_sheet.read(tmp_path / name, "ada")


@pytest.mark.parametrize(
    "written_box",
    ["-\u00a0[x] judge_bug", "\u00a0- [x] judge_bug", "-\u00a0[x]\u00a0judge_bug"],
)
def test_a_space_that_breaks_no_line_is_a_space(tmp_path: Path, written_box: str) -> None:
    """An editor may write it, and nobody sees it."""
    text = sheet.markdown([ENTRY], "ada").replace("- [ ] judge_bug", written_box)
    (said,) = filled_sheet.read(written(tmp_path, text), None).said
    assert said.verdict == "judge_bug"


@pytest.mark.parametrize(
    "lost",
    ["<input checked> judge_bug: x", "| [x] | judge_bug |", "judge_bug x"],
)
def test_a_box_that_nobody_can_read_is_named(tmp_path: Path, lost: str) -> None:
    """What was filled in may be written in a way of its own."""
    text = sheet.markdown([ENTRY], "ada").replace("- [ ] judge_bug: the judge is wrong", lost)
    with pytest.raises(InputError, match=re.escape(f"sheet.md:30: {lost!r} cannot be read")):
        filled_sheet.read(written(tmp_path, text), None)


@pytest.mark.parametrize("lost", ["> - [x] judge_bug: x\n", ""])
def test_an_entry_that_lacks_a_box_is_not_taken_for_empty(tmp_path: Path, lost: str) -> None:
    """What was filled in may be gone."""
    text = sheet.markdown([ENTRY], "ada").replace("- [ ] judge_bug: the judge is wrong\n", lost)
    with pytest.raises(InputError, match=r"sheet\.md:7: only 2 of its 3 boxes|stands right below a quote"):
        filled_sheet.read(written(tmp_path, text), None)
    blind = sheet.markdown([replace(ENTRY, draw={"method": "random", "seed": 1})], "ada").replace("Score:", "")
    with pytest.raises(InputError, match=r"sheet\.md:7: its line `Score:` is gone"):
        filled_sheet.read(written(tmp_path, blind), None)


@pytest.mark.parametrize(("gone", "line"), [("## 1\n", 8), ("## 2\n", 36)])
def test_an_entry_without_its_heading_is_named(tmp_path: Path, gone: str, line: int) -> None:
    """It would be a part of what stands before it, and what was said of it be lost."""
    both = [ENTRY, replace(ENTRY, response_id="r2")]
    text = ticked(sheet.markdown(both, "ada"), "judge_bug", "judge_bug").replace(gone, "")
    with pytest.raises(InputError, match=rf"sheet\.md:{line}: the heading of this entry is gone"):
        filled_sheet.read(written(tmp_path, text), None)


def test_what_is_said_twice_of_one_answer_is_named(tmp_path: Path) -> None:
    """Each reading would turn the label over; two people may say two things."""
    row = json.loads(sheet.jsonl([ENTRY], "ada")) | {"verdict": "judge_bug"}
    path = tmp_path / "sheet.jsonl"
    path.write_text(f"{json.dumps(row)}\n{json.dumps(row | {'verdict': 'valid_failure'})}\n")
    with pytest.raises(InputError, match=r"sheet\.jsonl:2: ada has said it in line 1; keep one of both"):
        filled_sheet.read(path, None)
    path.write_text(f"{json.dumps(row)}\n{json.dumps(row | {'labeler': 'bo'})}\n")
    assert len(filled_sheet.read(path, None).said) == 2


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
            filled_sheet.read(path, None)


def test_a_number_is_written_without_underscores(tmp_path: Path) -> None:
    """Python would take 0_4 for 4."""
    text = sheet.markdown([replace(ENTRY, draw={"method": "random", "seed": 1})], "ada").replace("Score:", "Score: 0_4")
    with pytest.raises(InputError, match="'0_4' is not a number"):
        filled_sheet.read(written(tmp_path, text), None)
