from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import orjson
import pytest

from keval.config.reader import load
from keval.errors import UsageError
from keval.execution.config_session import generate
from keval.execution.judge_session import JudgeWork, judge_log
from keval.logs import index
from keval.logs.past import of_log
from keval.preparation import recorded_plan
from keval.preparation.prepared import unread
from keval.preparation.request import Request
from tests.builders import retraction_event

CONFIG = """\
name: recorded
dataset: {path: questions.jsonl}
agent: {type: echo}
conditions:
  plain: {system_prompt: "Answer."}
  other: {system_prompt: "Think."}
judge: {type: exact_match}
execution: {repetitions: 2}
"""
SAMPLES = 3

Edit = Callable[[Path], object]


def write_samples(folder: Path, *, count: int = SAMPLES, answer: str = "A", length: int = 1) -> None:
    """Write a dataset of so many samples, with questions of so many words."""
    samples = [{"id": f"q{number}", "question": "why? " * length, "answer": answer} for number in range(count)]
    (folder / "questions.jsonl").write_bytes(b"".join(orjson.dumps(sample) + b"\n" for sample in samples))


def run(folder: Path, limit: int | None = None) -> list[str]:
    """Generate what the log lacks; return what was said."""
    said: list[str] = []
    request = Request(limit=limit, quiet=True)
    assert generate(load(folder / "eval.yaml"), folder / "log.jsonl", request, said.append) == 0
    return said


def is_done(folder: Path, limit: int | None = None) -> bool:
    """Return whether nothing is missing, as far as that can be told without the dataset."""
    config, request = load(folder / "eval.yaml"), Request(limit=limit)
    with of_log(folder / "log.jsonl", lambda _: None, skip_invalid=True) as past:
        same = recorded_plan.is_same(config, past, request)
        return same and recorded_plan.is_done(unread(config, None, folder / "log.jsonl"), past)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a config and its log, to which nothing is missing."""
    (tmp_path / "eval.yaml").write_text(CONFIG)
    write_samples(tmp_path)
    run(tmp_path)
    return tmp_path


def lines(folder: Path) -> list[bytes]:
    """Return the lines of the log."""
    return (folder / "log.jsonl").read_bytes().splitlines(keepends=True)


def write_lines(folder: Path, kept: list[bytes]) -> None:
    """Write the lines of the log."""
    (folder / "log.jsonl").write_bytes(b"".join(kept))


def without(folder: Path, event_type: str) -> None:
    """Take the last event of a type out of the log."""
    kept = lines(folder)
    last = max(number for number, line in enumerate(kept) if orjson.loads(line)["type"] == event_type)
    write_lines(folder, kept[:last] + kept[last + 1 :])


def retract(folder: Path) -> None:
    """Take back the last response."""
    answered = orjson.loads(lines(folder)[-1])
    write_lines(folder, [*lines(folder), orjson.dumps(retraction_event(answered)) + b"\n"])


def answer_elsewhere(folder: Path) -> None:
    """Append the response of another run, with another record of its sample."""
    answered = orjson.loads(lines(folder)[-1])
    other = answered | {"run_id": "another", "sample_sha256": "0" * 24}
    write_lines(folder, [*lines(folder), orjson.dumps(other) + b"\n"])


def break_a_line(folder: Path) -> None:
    """Put a line that is no event before the others: what it was is not known."""
    write_lines(folder, [b"{}\n", *lines(folder)])


def run_again(folder: Path) -> None:
    """Put the run that planned all at the end: whatever it noted of changed records may be cut off."""
    write_lines(folder, [*lines(folder)[1:], lines(folder)[0]])


def edit(old: str, new: str) -> Edit:
    """Return what replaces a text of the config."""
    return lambda folder: (folder / "eval.yaml").write_text(CONFIG.replace(old, new))


def run_another(folder: Path) -> None:
    """Let another config run into the same log."""
    edit("name: recorded", "name: other")(folder)
    run(folder)
    edit("", "")(folder)


def edit_a_judges_file(folder: Path) -> None:
    """Change a function beside the config after a run, which is no change of the config's text."""
    edit("judge: {type: exact_match}", "judge: {type: python, function: judge.py:score}")(folder)
    for score in (0, 1):
        (folder / "judge.py").write_text(f"def score(case):\n    return {score}\n")
        if score == 0:
            run(folder)


def run_limited(folder: Path) -> None:
    """Begin the log anew with the first sample only."""
    (folder / "log.jsonl").unlink()
    run(folder, limit=1)


def test_what_was_all_answered_is_done_without_the_dataset(folder: Path) -> None:
    """So it is with a limit that leaves no sample out."""
    assert is_done(folder)
    assert is_done(folder, limit=SAMPLES)


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [
        lambda folder: write_samples(folder, answer="B"),
        lambda folder: write_samples(folder, count=SAMPLES + 1),
        edit("Think.", "Think again."),
        edit("type: echo", "type: echo, delay_s: 0.001"),
        edit("repetitions: 2", "repetitions: 3"),
        lambda folder: without(folder, "response"),
        lambda folder: without(folder, "plan"),
        retract,
        answer_elsewhere,
        run_again,
        break_a_line,
        run_another,
        edit_a_judges_file,
        run_limited,
    ],
)
def test_whatever_is_not_as_the_newest_run_left_it_needs_the_dataset(folder: Path, change: Edit) -> None:
    """Then it is not certain that nothing is missing, and the answer is no."""
    change(folder)
    assert not is_done(folder)


def test_fields_that_are_made_need_the_dataset(folder: Path) -> None:
    """What they are made from, such as a variable, may have changed where no file has."""
    edit("questions.jsonl}", "questions.jsonl, fields: {topic: {field: answer}}}")(folder)
    run(folder)
    assert not is_done(folder)


@pytest.mark.slow
def test_a_limit_needs_the_dataset_unless_the_run_had_it(folder: Path) -> None:
    """A run of the first sample is done for that limit, and for no other."""
    assert not is_done(folder, limit=1)
    run_limited(folder)
    assert is_done(folder, limit=1)
    assert not is_done(folder, limit=2)


def test_a_question_of_several_messages_is_refused_beside_an_index_too(tmp_path: Path) -> None:
    """The dataset is read after the log then, and the agent would get the last message alone."""
    (tmp_path / "eval.yaml").write_text(CONFIG.replace("{type: echo}", "{type: command, command: [echo], input: none}"))
    write_samples(tmp_path)
    run(tmp_path)
    before = lines(tmp_path)
    index.path_of(tmp_path / "log.jsonl").touch()
    with (tmp_path / "questions.jsonl").open("ab") as dataset:
        dataset.write(b'{"id": "talk", "question": ["One?", "Two?"], "answer": "A"}\n')
    with pytest.raises(UsageError, match="sample 'talk' has several messages, and agent 'command' answers one"):
        run(tmp_path)
    assert lines(tmp_path) == before


@pytest.mark.slow
def test_a_large_log_is_asked_first_and_says_what_a_small_one_does(tmp_path: Path) -> None:
    """Nothing is added while nothing changed; a corrected answer and a new question are noted and asked as ever."""
    (tmp_path / "eval.yaml").write_text(CONFIG)
    write_samples(tmp_path, length=index.SMALLEST // 10 // len("why? "))
    run(tmp_path)
    assert run(tmp_path) == ["nothing to generate: every task has its response"]
    assert recorded_plan.may_serve(tmp_path / "log.jsonl", Request())
    before = len(lines(tmp_path))
    assert run(tmp_path) == ["nothing to generate: every task has its response"]
    assert len(lines(tmp_path)) == before
    write_samples(tmp_path, answer="B", count=SAMPLES + 1, length=index.SMALLEST // 10 // len("why? "))
    run(tmp_path)
    added = [orjson.loads(line)["type"] for line in lines(tmp_path)[before:]]
    assert sorted(added) == sorted(["run", "plan", *["sample_change"] * SAMPLES, *["response"] * 4])


@pytest.mark.slow
def test_what_came_after_the_index_is_judged_and_asked_as_ever(tmp_path: Path) -> None:
    """The judges get the new responses too, and a record that changed since is noted."""
    (tmp_path / "eval.yaml").write_text(CONFIG)
    write_samples(tmp_path, length=index.SMALLEST // 10 // len("why? "))
    run(tmp_path)
    everything = lines(tmp_path)
    write_lines(tmp_path, everything[:-1])
    with of_log(tmp_path / "log.jsonl", lambda _: None):
        assert index.path_of(tmp_path / "log.jsonl").exists()
    with (tmp_path / "log.jsonl").open("ab") as log:
        log.writelines(everything[-1:])
    assert is_done(tmp_path)
    work = JudgeWork.of([], Request(quiet=True), {}, lambda _: None)
    assert judge_log(tmp_path / "log.jsonl", work) == 0
    types = [orjson.loads(line)["type"] for line in lines(tmp_path)]
    assert types.count("judgment") == types.count("response") == SAMPLES * 4


@pytest.mark.slow
def test_a_record_that_changed_is_noted_beyond_the_index(tmp_path: Path) -> None:
    """Where it was last in the log is known of new lines as of old ones."""
    (tmp_path / "eval.yaml").write_text(CONFIG)
    write_samples(tmp_path, length=index.SMALLEST // 10 // len("why? "))
    run(tmp_path)
    everything = lines(tmp_path)
    write_lines(tmp_path, everything[:-1])
    with of_log(tmp_path / "log.jsonl", lambda _: None):
        pass
    write_lines(tmp_path, everything)
    write_samples(tmp_path, answer="B", length=index.SMALLEST // 10 // len("why? "))
    run(tmp_path)
    types = [orjson.loads(line)["type"] for line in lines(tmp_path)]
    assert types.count("sample_change") == SAMPLES
    assert types.count("response") == SAMPLES * 4
