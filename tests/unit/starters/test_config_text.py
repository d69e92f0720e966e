"""The text of a first config: valid YAML that says what it was made of, whatever names are in it."""

from __future__ import annotations

from pathlib import Path

import pytest
from ruamel.yaml import YAML

from keval import datasets
from keval.config.reader import load
from keval.ids import JsonObject
from keval.starters.columns import Columns, of_records
from keval.starters.config_text import EXAMPLES, TEMPLATE, AskedServer, Start, scalar, text

STDIO: JsonObject = {"type": "stdio", "command": "python", "args": ["a server.py", "--x"], "env": {"A": "${A}"}}
HTTP: JsonObject = {"type": "http", "url": "http://127.0.0.1:1/mcp?a={b}, c", "headers": {"X-Key": "a, ${KEY}"}}
HOSTILE = "x]\n  agent: {type: command} # \x1b[31m"


def started(folder: Path, columns: Columns | None = None, *servers: AskedServer) -> Start:
    """Return a start whose files are in a folder, the config included."""
    (folder / "questions.jsonl").write_text(TEMPLATE)
    start = Start("first", "questions.jsonl", columns or Columns(), servers, schema="eval.schema.json")
    (folder / "eval.yaml").write_text(text(start))
    return start


def test_each_server_has_a_condition_of_its_own(tmp_path: Path) -> None:
    """The baseline has none; the config says of each server what was read, and its tools in a comment."""
    started(
        tmp_path, None, AskedServer("docs", STDIO, ("search", "page")), AskedServer("wiki", HTTP, ("look",), ("look",))
    )
    config = load(tmp_path / "eval.yaml", environ={})
    assert {each.name: list(each.mcp_servers) for each in config.conditions} == {
        "baseline": [],
        "with_docs": ["docs"],
        "with_wiki": ["wiki"],
    }
    assert config.mcp_servers == {"docs": STDIO, "wiki": HTTP}
    assert "tool errors <= 10%" in config.as_written["gate"]["rules"]  # else a gate is met by a server that is down
    written = (tmp_path / "eval.yaml").read_text()
    assert "# expect_tools: [search, page]" in written
    assert "marks as destroying something: [look]" in written


def test_without_servers_two_prompts_are_compared(tmp_path: Path) -> None:
    """There is always something to compare, and a gate that says what of it."""
    start = started(tmp_path)
    config = load(tmp_path / "eval.yaml")
    assert [each.name for each in config.conditions] == ["baseline", *start.conditions]
    assert config.as_written["gate"]["rules"][2] == f"{start.conditions[0]} not lower than baseline by 0.5"


def test_a_hostile_name_changes_nothing(tmp_path: Path) -> None:
    """What a server or a file calls something cannot end its line, nor act on a terminal."""
    columns = of_records([{"Frage": HOSTILE, HOSTILE: "Darum."}])
    started(tmp_path, columns, AskedServer("docs", STDIO, (HOSTILE,), (HOSTILE,)))
    written = (tmp_path / "eval.yaml").read_text()
    assert load(tmp_path / "eval.yaml").agent.type == "claude"
    assert "\x1b" not in written


def test_columns_with_other_names_are_named(tmp_path: Path) -> None:
    """The keys and templates that the config says are those by which the columns were read."""
    columns = of_records([{"Prompt": "How many?", "Gold": 4, "QID": 7}])
    started(tmp_path, columns)
    dataset = load(tmp_path / "eval.yaml").datasets[0]
    assert dataset.layout == columns.layout()
    assert dict(columns.layout().mapped({"Prompt": "How many?", "Gold": 4, "QID": 7}, 1)[0]) == {
        "Prompt": "How many?",
        "Gold": 4,
        "QID": 7,
        "answer": "4",
        "id": "7",
    }


def test_a_column_that_could_be_the_id_has_only_to_be_uncommented(tmp_path: Path) -> None:
    """Then the config is valid and names the samples by it."""
    written = text(started(tmp_path, Columns(could_be_id="ticket")))
    (tmp_path / "eval.yaml").write_text(written.replace("# id_key: ticket", "id_key: ticket"))
    assert [dataset.layout.id_key for dataset in load(tmp_path / "eval.yaml").datasets] == ["ticket"]


def test_columns_that_no_name_tells_are_left_to_fill_in(tmp_path: Path) -> None:
    """With the # taken away and the fields' names put in, the config reads the file."""
    columns = of_records([{"Thema": "Physik", "Frage": "Warum?", "Antwort": "Darum."}])
    start = started(tmp_path, columns)
    written = text(start)
    assert '  #   Frage: "Warum?"' in written
    for key, name in (("question_key", "Frage"), ("answer_key", "Antwort")):
        written = written.replace(f"# {key}: FIELD", f"{key}: {name}")
    (tmp_path / "eval.yaml").write_text(written)
    layout = load(tmp_path / "eval.yaml").datasets[0].layout
    assert layout.keys == {"id": "id", "question": "Frage", "answer": "Antwort"}


def test_a_user_may_say_that_there_are_no_golden_answers(tmp_path: Path) -> None:
    """The lines for that stand in the config, too."""
    written = text(started(tmp_path, of_records([{"question": "Why?", "topic": "sky"}])))
    written = written.replace("# answer_key: FIELD", "answer_key: null").replace("# rubric:", "rubric:")
    (tmp_path / "eval.yaml").write_text(written)
    config = load(tmp_path / "eval.yaml")
    assert (config.datasets[0].layout.answer_key, config.judges[0].judge.metrics[0].name) == (None, "relevance")


def test_without_golden_answers_the_judge_needs_none(tmp_path: Path) -> None:
    """Questions alone are judged by a rubric that looks at nothing else, and the gate's margin fits its scale."""
    started(tmp_path, of_records([{"question": "Why?"}]))
    config = load(tmp_path / "eval.yaml")
    assert (config.datasets[0].layout.answer_key, config.judges[0].judge.metrics[0].name) == (None, "relevance")
    assert config.as_written["gate"]["rules"][2].endswith("by 0.1")


def test_the_template_is_a_dataset(tmp_path: Path) -> None:
    """It has three samples to replace."""
    (tmp_path / "questions.jsonl").write_text(TEMPLATE)
    assert len(datasets.read(tmp_path / "questions.jsonl").samples) == EXAMPLES == 3


@pytest.mark.parametrize("value", ["a.b", "../a", "yes", "null", "1.0", ".5", "- a", "a: b", "", "#", "é\u2028\x85"])
def test_a_scalar_is_read_as_it_was(value: str) -> None:
    """Whatever a text looks like, YAML has the same text in it, in one line."""
    assert YAML(typ="safe").load(f"key: {scalar(value)}") == {"key": value}
    assert len(scalar(value).splitlines()) <= 1
