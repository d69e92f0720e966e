from __future__ import annotations

import errno
import json
import os
import shlex
from pathlib import Path

import pytest

from keval.cli import root
from keval.errors import EnvironmentLacksError, InputError, KevalError
from keval.events import written
from keval.execution import labelling
from keval.execution.labelling import DrawnFrom, ask_all, drawn
from keval.ids import JsonObject
from keval.labels.draw import Entry, Wanted
from keval.labels.labels import Said
from tests.builders import judge_entry, judgment_event, response_event, run_event, write_log
from tests.conftest import Keval
from tests.labelled import judged_log


def labels(log: Path) -> list[JsonObject]:
    return [event for line in log.read_bytes().splitlines() if (event := json.loads(line))["type"] == "label"]


@pytest.mark.slow
def test_a_sheet_goes_out_and_comes_back_once(keval: Keval, tmp_path: Path) -> None:
    """What is filled in becomes labels and numbers, reading it again adds nothing, and no sheet is written over."""
    log = judged_log(tmp_path, 60, 40)
    made = keval("calibrate", log, "-o", "sheet.jsonl", "--labeler", "ada")
    assert made.returncode == 0, made.stderr
    rows = [json.loads(line) for line in (tmp_path / "sheet.jsonl").read_text().splitlines()]
    verdicts = ["valid_failure"] * 7 + ["judge_bug"] * 2 + ["ambiguous"]
    filled = [row | {"verdict": verdict} for row, verdict in zip(rows, verdicts, strict=True)]
    (tmp_path / "sheet.jsonl").write_text("".join(json.dumps(row) + "\n" for row in filled))
    done = keval("calibrate", log, "--read", "sheet.jsonl", "-f", "jsonl")
    found = json.loads(done.stdout)
    assert (found["pass_rate"], round(found["corrected_pass_rate"], 4)) == (0.6, 0.6889)
    assert len(labels(log)) == 10
    before = log.read_bytes()
    again = keval("calibrate", log, "--read", "sheet.jsonl")
    assert (log.read_bytes(), "corrected pass rate  68.9%" in again.stdout) == (before, True), again.stderr
    assert keval("calibrate", log, "-o", "sheet.jsonl").returncode == 2


def test_several_sheets_are_read_together_or_not_at_all(keval: Keval, tmp_path: Path) -> None:
    """What the first of two people said counts as well; where one sheet is bad, the other waits until it is mended."""
    log = judged_log(tmp_path, 4, 2)
    made = keval("calibrate", log, "-o", "sheet.jsonl", "-n", "2")
    assert made.returncode == 0, made.stderr
    row, other = map(json.loads, (tmp_path / "sheet.jsonl").read_text().splitlines())
    for name, said in (("ada", row), ("bob", other)):
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(said | {"labeler": name, "verdict": "judge_bug"}))
    (tmp_path / "bad.jsonl").write_text(json.dumps(other | {"labeler": "eve", "verdict": "no"}))
    (tmp_path / "old.jsonl").write_text(
        json.dumps(other | {"verdict": "judge_bug", "labeler": "eve", "answer_sha256": "0"})
    )
    for refused in ("bad.jsonl", "old.jsonl"):
        assert keval("calibrate", log, "--read", "ada.jsonl", "--read", refused).returncode == 3
    assert labels(log) == []
    done = keval("calibrate", log, "--read", "ada.jsonl", "--read", "ada.jsonl", "--read", "bob.jsonl")
    assert [label["labeler"] for label in labels(log)] == ["ada", "bob"], done.stderr


@pytest.mark.slow
def test_of_several_sheets_the_last_one_has_the_last_word(keval: Keval, tmp_path: Path) -> None:
    """However often they are read: what an earlier one says of the same verdict is no newer for being read again."""
    log = judged_log(tmp_path, 4, 2)
    made = keval("calibrate", log, "-o", "sheet.jsonl", "-n", "1", "--labeler", "ada")
    assert made.returncode == 0, made.stderr
    row = json.loads((tmp_path / "sheet.jsonl").read_text())
    for verdict in ("judge_bug", "ambiguous"):
        (tmp_path / f"{verdict}.jsonl").write_text(json.dumps(row | {"verdict": verdict}))
    for first, last in 2 * [("judge_bug", "ambiguous")] + 2 * [("ambiguous", "judge_bug")]:
        done = keval("calibrate", log, "--read", f"{first}.jsonl", "--read", f"{last}.jsonl")
        assert labels(log)[-1]["verdict"] == last, done.stderr
    assert len(labels(log)) == 2


@pytest.mark.slow
def test_the_command_that_is_told_counts_a_sheet_as_it_was_drawn(keval: Keval, tmp_path: Path) -> None:
    """It has the options without which the labels would be of no verdict, or of another stratum."""
    log = judged_log(tmp_path, 4, 4)
    drawing = ("--pass-from", "completeness=4", "--by", "id")
    made = keval("calibrate", log, "-o", "sheet.md", "-n", "2", *drawing)
    again = ["keval", "calibrate", str(log), "--read", "sheet.md", "--by", "id", "--pass-from", "completeness=4"]
    assert made.stderr.rstrip().endswith(f"fill it in, then: {shlex.join(again)}")


@pytest.mark.parametrize(
    ("sheet", "exit_code", "said"), [("nowhere/s.md", 4, "No such file"), ("dir.md", 2, "a folder")]
)
def test_a_sheet_that_cannot_be_written_is_named(tmp_path: Path, sheet: str, exit_code: int, said: str) -> None:
    """Before the log is read, and with the exit code that other outputs have."""
    log = tmp_path / "run.jsonl"
    log.touch()
    (tmp_path / "dir.md").mkdir()
    with pytest.raises(KevalError, match=said) as refused:
        root.main(["calibrate", str(log), "-o", str(tmp_path / sheet)], standalone_mode=False)
    assert refused.value.exit_code == exit_code


def test_nobody_is_asked_whose_label_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A log that is packed or that the system refuses to open for writing is named before it is read."""
    packed, refused = tmp_path / "run.jsonl.gz", tmp_path / "run.jsonl"
    packed.touch()
    refused.touch()

    def opened(path: Path, _: int) -> int:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(os, "open", opened)
    for log, exit_code, said in ((packed, 2, "is packed"), (refused, 4, "Permission denied")):
        with pytest.raises(KevalError, match=said) as found:
            root.main(["label", str(log), "--labeler", "ada"], standalone_mode=False)
        assert found.value.exit_code == exit_code


@pytest.mark.slow
def test_the_terminal_asks_and_goes_on_where_it_stopped(keval: Keval, tmp_path: Path) -> None:
    """Each answer is a label at once; a labeler who stops is asked the rest next time, and only that."""
    log = judged_log(tmp_path, 1, 3)
    first = keval("label", log, "--labeler", "ada", stdin="v\nit is bad\nq\n")
    assert first.returncode == 0, first.stderr
    assert [(each["verdict"], each["note"]) for each in labels(log)] == [("valid_failure", "it is bad")]
    second = keval("label", log, "--labeler", "ada", "--scores", stdin="9\n4\n\ns\ns\ns\n")
    assert second.returncode == 0, second.stderr
    assert "'9' is no number from 1 to 5" in second.stderr
    assert "── 4 of 4" in second.stderr
    assert labels(log)[1]["scores"] == {"completeness": 4}
    assert len(labels(log)) == 2


@pytest.mark.slow
def test_an_answer_is_shown_once_and_each_of_its_metrics_with_what_it_asks(keval: Keval, tmp_path: Path) -> None:
    """Who scores four metrics reads the answer once, and what the scores mean before each."""
    answer = response_event("q0")
    metrics = [{"name": name, "min": 1, "max": 5, "description": f"Is it {name}?"} for name in ("right", "clear")]
    judgment = judgment_event(answer, {"right": 3, "clear": 2})
    events = [run_event(judges=[judge_entry(metrics)]), answer, judgment]
    log = write_log(tmp_path / "run.jsonl", events)
    done = keval("label", log, "--labeler", "ada", "--scores", stdin="4\n\n2\n\n")
    assert done.returncode == 0, done.stderr
    assert [done.stderr.count(said) for said in ("Because.", "Is it right?", "Is it clear?")] == [2, 1, 1]
    assert "2 of 2 scores given" in done.stderr


@pytest.mark.slow
def test_what_was_piped_in_ends_like_quitting(keval: Keval, tmp_path: Path) -> None:
    """Also where a note would be asked for: what was said is kept, and nothing was interrupted."""
    log = judged_log(tmp_path, 1, 3)
    done = keval("label", log, "--labeler", "ada", stdin="v\n")
    assert (done.returncode, "interrupted" in done.stderr) == (0, False)
    assert [(each["verdict"], each["note"]) for each in labels(log)] == [("valid_failure", None)]


@pytest.mark.slow
@pytest.mark.parametrize("now", ["removed", "replaced"])
def test_a_label_goes_into_no_other_log(tmp_path: Path, now: str) -> None:
    """Of a log that is gone a new file would hold labels alone, and another log those of answers that it has not."""
    log = judged_log(tmp_path, 3, 3)
    entries = drawn(log, Wanted(3), print, "ada", skip_invalid=False)
    others = (tmp_path / "other.jsonl").absolute()
    others.write_bytes(log.read_bytes())
    before = others.read_bytes()

    def say(entry: Entry, place: int, _of: int) -> Said:
        if place == 2:
            log.unlink() if now == "removed" else others.replace(log)
        return Said((entry.response_id, entry.judge_id, entry.metric), "ada", "valid_failure")

    saying = ask_all(log, entries, say, print, DrawnFrom(log, skip_invalid=False))
    next(saying)
    with pytest.raises(EnvironmentLacksError, match="was moved, replaced or removed meanwhile"):
        next(saying)
    assert not log.exists() if now == "removed" else log.read_bytes() == before


@pytest.mark.parametrize("when", ["before", "first", "second"])
def test_what_changed_since_it_was_drawn_is_not_labelled(tmp_path: Path, when: str) -> None:
    """Another command may write to the log at any time: what it says of other answers changes nothing."""
    log = judged_log(tmp_path, 1, 2)
    drawn_from = DrawnFrom(log, skip_invalid=False)
    entries = drawn(log, Wanted(2), print, "ada", skip_invalid=False)

    def appears(moment: str) -> None:
        """Append what is of no entry, and at the right moment what changes the second one."""
        changed = [event_of(log, entries[1].response_id) | {"text": "Another."}] if moment == when else []
        with log.open("ab") as file:
            file.writelines(written(event)[1] for event in [response_event("q9", text=moment), *changed])

    def say(entry: Entry, place: int, _of: int) -> Said:
        appears("first" if place == 1 else "second")
        return Said((entry.response_id, entry.judge_id, entry.metric), "ada", "valid_failure")

    appears("before")
    saying = ask_all(log, entries, say, print, drawn_from)
    next(saying)
    with pytest.raises(
        InputError, match="was retracted, given anew or judged anew since it was drawn, so this label was not written"
    ):
        next(saying)
    assert len(labels(log)) == 1


def test_what_we_wrote_ourselves_is_no_change(tmp_path: Path) -> None:
    """Else the whole log would be read before each label."""
    log = judged_log(tmp_path, 0, 3)
    drawn_from = DrawnFrom(log, skip_invalid=False)
    entries = drawn(log, Wanted(3), print, "ada", skip_invalid=False)
    told: list[str] = []
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(labelling, "check_targets", lambda *_: told.append("read"))
        said = ask_all(log, entries, lambda entry, *_: Said(
            (entry.response_id, entry.judge_id, entry.metric), "ada", "valid_failure"
        ), print, drawn_from)  # fmt: skip
        assert len(list(said)) == 3
    assert told == []


def event_of(log: Path, event_id: str) -> JsonObject:
    """Return an event of a log by its id."""
    return next(each for each in map(json.loads, log.read_text().splitlines()) if each["id"] == event_id)
