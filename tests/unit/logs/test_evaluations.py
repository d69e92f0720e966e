"""Which lines of a log belong to which evaluation."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest

from keval.errors import EnvironmentLacksError
from keval.logs.evaluations import evaluations
from keval.projections.log_file import LogFile


def run(run_id: str, name: str | None, *conditions: str, plan_id: str | None = None) -> dict[str, object]:
    """Return the run event of a config; of no config it plans nothing."""
    planned = {each: {"condition_id": f"{each}-id"} for each in conditions}
    agent = {"agent_id": "agent"} if name else None
    return {
        "type": "run", "id": run_id, "run_id": run_id, "config_name": name, "conditions": planned, "agent": agent,
        "plan_id": plan_id,
    }  # fmt: skip


def said(run_id: str, type_: str, condition: str, **more: str) -> dict[str, object]:
    """Return an event about a condition."""
    return {"type": type_, "run_id": run_id, "condition_id": f"{condition}-id", "agent_id": "agent", **more}


def test_each_evaluation_has_what_its_config_asked_for_and_what_was_said_of_it(tmp_path: Path) -> None:
    """Runs, answers, later judgments, labels and retractions; an answer that two configs ask for is in both."""
    events = [
        run("r1", "law", "plain", "docs"),
        said("r1", "response", "plain", id="a"),
        said("r1", "response", "docs", id="b"),
        run("r2", "tax", "plain"),
        run("r3", None),
        said("r3", "judgment", "docs", id="j", response_id="b"),
        {"type": "retraction", "run_id": "r4", "id": "t", "target": "b"},
        {"type": "label", "run_id": "r5", "id": "l", "response_id": "a"},
        {"type": "unknown", "run_id": "r6", "id": "u"},
    ]
    log = tmp_path / "both.jsonl"
    log.write_bytes(b"".join(orjson.dumps(event) + b"\n" for event in events))
    with evaluations([LogFile(log, "both.jsonl")], ["law", "tax"]) as parts:
        found = [[orjson.loads(line)["id"] for file in part for line in file.read()] for part in parts]
        assert {file.name for part in parts for file in part} == {"both.jsonl"}
    assert found == [["r1", "a", "b", "r3", "j", "t", "l", "u"], ["a", "r2", "l", "u"]]


def test_what_several_configs_share_is_in_each_of_them_whoever_wrote_it(tmp_path: Path) -> None:
    """A log holds a plan, a changed sample and a stopping rule once, as the first config that needs it writes it."""
    of_rule = {"plan_id": "p1", "rule_id": "law-rule"}
    events = [
        run("r1", "law", "plain", plan_id="p1"),
        {"type": "plan", "run_id": "r1", "id": "p1", "plan_id": "p1", "question_ids": ["q1", "q2"]},
        {"type": "until_rule", "run_id": "r1", "id": "rule", "config_name": "law", **of_rule},
        run("r2", "tax", "plain", plan_id="p1"),
        run("r3", "art", "plain", plan_id="p2"),
        {"type": "plan", "run_id": "r3", "id": "p2", "plan_id": "p2", "question_ids": ["q3"]},
        {"type": "sample_change", "run_id": "r1", "id": "changed", "question_id": "q2"},
        {"type": "until_decided", "run_id": "without-a-run-line", "id": "decided", **of_rule},
        {"type": "until_end", "run_id": "without-a-run-line", "id": "end", **of_rule},
    ]
    log = tmp_path / "all.jsonl"
    log.write_bytes(b"".join(orjson.dumps(event) + b"\n" for event in events))
    with evaluations([LogFile(log, "all.jsonl")], ["law", "tax", "art"]) as parts:
        found = [[orjson.loads(line)["id"] for file in part for line in file.read()] for part in parts]
    assert found == [
        ["r1", "p1", "rule", "changed", "decided", "end"], ["p1", "r2", "changed"], ["r3", "p2"],
    ]  # fmt: skip


def test_a_log_without_an_own_line_of_an_evaluation_is_none_of_its_logs(tmp_path: Path) -> None:
    """Its name does not stand in the other's header."""
    logs = []
    for name in ("law", "tax"):
        path = tmp_path / f"{name}.jsonl"
        path.write_bytes(orjson.dumps(run(name, name, name)) + b"\n")
        logs.append(LogFile(path, name))
    with evaluations(logs, ["law", "tax"]) as parts:
        assert [[file.name for file in part] for part in parts] == [["law"], ["tax"]]


def test_many_evaluations_are_told_apart_without_a_file_open_for_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some are written at once, so that a log is not read once for each of them either."""
    names = [f"n{number}" for number in range(5)]
    log = tmp_path / "all.jsonl"
    log.write_bytes(b"".join(orjson.dumps(run(name, name, name)) + b"\n" for name in names))
    read, reads = LogFile.read, []

    def counted(file: LogFile) -> Iterator[bytes]:
        reads.append(file.name)
        return read(file)

    monkeypatch.setattr(LogFile, "read", counted)
    monkeypatch.setattr("keval.logs.evaluations.OPEN_AT_ONCE", 2)
    with evaluations([LogFile(log, "all")], names) as parts:
        assert len(reads) == 4  # to learn whose each line is, and for two, two and one of them
        found = [[orjson.loads(line)["id"] for file in part for line in file.read()] for part in parts]
    assert found == [[name] for name in names]


def test_no_room_for_a_copy_is_told_as_such(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is the machine that lacks something, and no bug."""
    log = tmp_path / "law.jsonl"
    log.write_bytes(orjson.dumps(run("law", "law", "law")) + b"\n")
    opened = Path.open

    def refused(path: Path, mode: str = "r") -> object:
        if mode == "wb":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        return opened(path, mode)

    monkeypatch.setattr(Path, "open", refused)
    with (
        pytest.raises(EnvironmentLacksError, match="No space left on device; TMPDIR names another folder"),
        evaluations([LogFile(log, "law")], ["law"]),
    ):
        pass
