from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from keval import schema
from keval.config.reader import load
from keval.errors import UsageError
from keval.execution.config_check import check
from keval.execution.identification import edited_meanwhile, failed_servers, identify, offered
from keval.ids import JsonObject
from keval.preparation.prepared import Prepared, check_turns, prepare, unread
from keval.preparation.readiness import check_tool_gates, set_up
from keval.preparation.run_events import is_recorded, judge_run_event, plan_records, run_event
from keval.processes import servers
from keval.processes.local_files import LocalFile
from keval.processes.servers import ServerInfo
from tests.prompts import SERVERS
from tests.tasks import config_past

CONFIG = """\
name: unit
dataset: {path: questions.jsonl}
agent: {type: echo}
mcp_servers:
  docs: {type: stdio, command: python, args: [docs.py], env: {DOCS_TOKEN: literal-token-1}}
conditions:
  plain: {system_prompt: "Answer."}
  with_docs: {system_prompt: "Search.", mcp_servers: [docs]}
judge: {type: exact_match}
"""
V1 = ServerInfo("docs", "docs", "1", ("search",), "aa", (LocalFile("docs.py", "f1"),))
SILENT = ServerInfo("docs", files=V1.files, error="no answer within 30 s")


@pytest.fixture
def prepared(tmp_path: Path) -> Prepared:
    """Return a config with two samples and a condition with a server."""
    (tmp_path / "docs.py").write_text((SERVERS / "docs.py").read_text())
    (tmp_path / "questions.jsonl").write_text(
        '{"id": "q1", "question": "Q1?", "answer": "A"}\n{"id": "q2", "question": "Q2?", "answer": "B"}\n'
    )
    return with_config(tmp_path, CONFIG)


def with_config(folder: Path, content: str) -> Prepared:
    (folder / "eval.yaml").write_text(content)
    return prepare(load(folder / "eval.yaml"), None, log=folder / "log.jsonl", warn=lambda _: None)


def condition_ids(prepared: Prepared) -> dict[str, str]:
    return {condition.name: condition.condition_id for condition in prepared.config.conditions}


def identified(prepared: Prepared, info: ServerInfo, newest: JsonObject | None = None) -> Prepared:
    return identify(prepared, {"docs": info}, newest)


@pytest.mark.parametrize(
    ("files", "taken"), [("**/*", 3), ("*.jsonl", 2), ("*.yaml", 1), ("kb/*", 0), ("kb/../log.jsonl", 1)]
)
def test_files_of_an_agent_are_none_that_change_without_it(tmp_path: Path, files: str, taken: int) -> None:
    """Each run changes the log, each question the dataset: then all answers would be paid again."""
    (tmp_path / "kb").mkdir()
    for name in ("kb/a.md", "log.jsonl", "questions.jsonl"):
        (tmp_path / name).write_text("")
    (tmp_path / "ag.py").write_text("def query(question, system_prompt, servers): return ''")
    agent = f"{{type: python, function: ag.py:query, files: ['{files}']}}"
    content = f"name: t\ndataset: {{path: questions.jsonl}}\nagent: {agent}\nconditions: {{a: {{system_prompt: x}}}}\n"
    content += "judge: {type: exact_match}\n"
    (tmp_path / "eval.yaml").write_text(content)
    with pytest.raises(UsageError, match="files finds") if taken else nullcontext() as refused:
        unread(load(tmp_path / "eval.yaml"), None, tmp_path / "log.jsonl")
    assert refused is None or str(refused.value).count(str(tmp_path)) == 1 + taken


@pytest.mark.parametrize(
    "change",
    [
        {"server_name": "other"},
        {"version": "2"},
        {"tools_sha256": "bb"},
        {"files": (LocalFile("docs.py", "f2"),)},
        {"files": ()},
    ],
)
def test_a_server_that_turns_out_to_be_another_makes_another_condition(
    prepared: Prepared, change: Mapping[str, object]
) -> None:
    """Its name, version, tools and files do, each by itself, for the conditions that use it and no other."""
    before = condition_ids(identified(prepared, V1))
    after = condition_ids(identified(prepared, replace(V1, **change)))  # type: ignore[arg-type] # any field
    assert after["with_docs"] != before["with_docs"]
    assert after["plain"] == before["plain"]


def test_what_became_of_asking_a_server_is_not_what_it_is(prepared: Prepared) -> None:
    """That it lacks an expected tool, or left processes behind, is said and changes no identity."""
    noted = replace(V1, error="the server does not offer fetch", orphaned_processes=("sleep",))
    assert condition_ids(identified(prepared, noted)) == condition_ids(identified(prepared, V1))


def test_a_server_that_cannot_be_asked_is_what_the_newest_run_recorded(prepared: Prepared) -> None:
    """Its answers stay those of the condition; the files are looked at all the same."""
    known = identified(prepared, V1)
    newest = run_event(known, "generate", "r1")
    silent = identified(prepared, SILENT, newest)
    assert condition_ids(silent) == condition_ids(known)
    assert silent.servers["docs"].error == "no answer within 30 s"
    assert run_event(silent, "generate", "r2")["mcp_servers"]["docs"]["version"] == "1"
    edited = replace(SILENT, files=(LocalFile("docs.py", "f2"),))
    assert condition_ids(identified(prepared, edited, newest)) != condition_ids(known)


def test_a_server_of_another_config_that_cannot_be_asked_is_unknown(prepared: Prepared, tmp_path: Path) -> None:
    """What was recorded of the same name as it was written before says nothing of it."""
    newest = run_event(identified(prepared, V1), "generate", "r1")
    other = with_config(tmp_path, CONFIG.replace("args: [docs.py]", "args: [docs.py, --fast]"))
    assert identified(other, SILENT, newest).servers["docs"].version is None
    assert identified(other, SILENT, None).servers["docs"].tools_sha256 is None


def test_a_revision_stands_for_what_a_server_is(tmp_path: Path, prepared: Prepared) -> None:
    """A server that says something else each day is the same until its revision is another."""
    assert prepared
    known = with_config(tmp_path, CONFIG.replace("args: [docs.py]", 'args: [docs.py], revision: "1"'))
    later = with_config(tmp_path, CONFIG.replace("args: [docs.py]", 'args: [docs.py], revision: "2"'))
    today, tomorrow = V1, replace(V1, tools_sha256="bb", version="2", files=())
    assert condition_ids(identified(known, today)) == condition_ids(identified(known, tomorrow))
    assert condition_ids(identified(known, today)) != condition_ids(identified(later, today))


def test_what_a_server_with_a_revision_keeps_in_its_files_is_no_edit(tmp_path: Path, prepared: Prepared) -> None:
    """Its revision says which version it is; of a server without one an edit may change the answers."""
    edited = replace(V1, files=(LocalFile("docs.py", "f1", tmp_path / "docs.py"),))
    known = with_config(tmp_path, CONFIG.replace("args: [docs.py]", 'args: [docs.py], revision: "1"'))
    assert "docs.py changed while" in (edited_meanwhile(identified(prepared, edited)) or "")
    assert edited_meanwhile(identified(known, edited)) is None


def test_a_server_that_failed_is_told_with_the_conditions_that_need_it(tmp_path: Path, prepared: Prepared) -> None:
    """A run says before anything else what `keval check` would have said, and what it means for the run."""
    assert list(failed_servers(prepared, {"docs": V1})) == []
    prepared = with_config(tmp_path, CONFIG.replace("{type: echo}", "{type: claude, model: claude-haiku-4-5}"))
    broken = replace(SILENT, stderr_end="no index\nrun build first")
    (told,) = failed_servers(prepared, {"docs": broken})
    assert told.startswith("MCP server 'docs' FAILED: no answer within 30 s; its stderr ends: no index / run build")
    assert "without it no task of with_docs is answered" in told


def test_an_agent_that_connects_itself_is_asked_without_the_server(prepared: Prepared) -> None:
    """That its tasks fail unasked is true only of agents whose servers keval connects."""
    (told,) = failed_servers(prepared, {"docs": SILENT})
    assert "agent echo is asked under with_docs all the same, as it connects to servers itself" in told


@pytest.mark.slow
async def test_a_server_is_asked_with_the_files_that_its_command_names(prepared: Prepared) -> None:
    """Of a real server the script is among what a run records."""
    prepared = replace(prepared, log=None)
    infos = await offered(prepared)
    assert (infos["docs"].version, [file.name for file in infos["docs"].files]) == ("1.0", ["docs.py"])
    written = run_event(identify(prepared, infos, None), "generate", "r")
    assert schema.event_problem(orjson.loads(orjson.dumps(written))) is None
    assert [file["name"] for file in written["mcp_servers"]["docs"]["files"]] == ["docs.py"]


@pytest.mark.parametrize(
    ("agent", "seconds"), [("{type: claude, model: m, mcp_timeout_s: 1.5}", 1.5), ("{type: echo}", 60.0)]
)
async def test_a_server_may_take_as_long_as_the_agent_lets_it(
    prepared: Prepared, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, agent: str, seconds: float
) -> None:
    """Before a run as in a task; an agent that says nothing of it waits for a minute."""
    waited: list[float] = []

    async def inspect(*given: Any) -> Mapping[str, ServerInfo]:  # noqa: ANN401 - all that servers are asked with
        waited.append(given[-1])
        return {"docs": V1}

    assert prepared
    monkeypatch.setattr(servers, "inspect", inspect)
    asked = with_config(tmp_path, CONFIG.replace("{type: echo}", agent))
    await offered(replace(asked, log=None))
    assert waited == [seconds]


def test_a_run_records_all_that_its_numbers_come_from(prepared: Prepared, tmp_path: Path) -> None:
    """Prompts, servers, agent, judge with the texts that it asks with, dataset and config with hashes, and versions."""
    written = run_event(identified(prepared, V1), "generate", "r1")
    plain, with_docs = written["conditions"].values()
    assert (plain["system_prompt"], with_docs["mcp_servers"]) == ("Answer.", ["docs"])
    assert written["config"]["mcp_servers"]["docs"]["args"] == ["docs.py"]
    assert written["config_sha256"] == hashlib.sha256((tmp_path / "eval.yaml").read_bytes()).hexdigest()
    assert written["dataset"]["sha256"] == hashlib.sha256((tmp_path / "questions.jsonl").read_bytes()).hexdigest()
    assert (written["mcp_servers"]["docs"]["version"], written["seed"], written["repetitions"]) == ("1", 0, 3)
    assert written["environment"]["keval"]
    asking = with_config(tmp_path, CONFIG.replace("{type: exact_match}", "{type: rubric, model: m, temperature: 0.5}"))
    (judge,) = run_event(asking, "generate", "r1")["judges"]
    assert (judge["parameters"]["model"], judge["parameters"]["temperature"]) == ("m", 0.5)
    assert "factual_adherence" in json.dumps(judge["texts"])


def recorded(prepared: Prepared) -> list[JsonObject]:
    """Return what a run of this config writes into a new log before it asks anything."""
    with config_past(prepared, []) as about:
        return [run_event(prepared, "generate", "r1"), *plan_records(about.prepared, about.past, "r1")]


def is_known(prepared: Prepared, events: Sequence[JsonObject]) -> bool:
    """Return whether a log of these events has all that a run of this config would write."""
    with config_past(prepared, events) as about:
        return is_recorded(about)


def test_what_a_run_wrote_need_not_be_written_again(prepared: Prepared) -> None:
    """The same config, dataset and servers are recorded after one run."""
    known = identified(prepared, V1)
    assert not is_known(known, [])
    assert is_known(known, recorded(known))
    with config_past(known, recorded(known)) as about:
        assert list(plan_records(about.prepared, about.past, "r2")) == []


def test_a_config_is_recorded_anew_after_another_one(prepared: Prepared) -> None:
    """A report is of the config that ran last: who runs one again wants to see that one."""
    known = identified(prepared, V1)
    another = run_event(known, "generate", "r2") | {"config_name": "another"}
    assert not is_known(known, [*recorded(known), another])


@pytest.mark.usefixtures("prepared")
def test_an_agent_whose_file_is_as_before_again_is_recorded_anew(tmp_path: Path) -> None:
    """The config's text never changed, and yet the last run had another agent, of which reports would go on to be."""
    function = tmp_path / "agent.py"
    agent = CONFIG.replace("{type: echo", "{type: python, function: agent.py:answer")
    events: list[JsonObject] = []
    for answer in ("'A'", "'B'", "'A'"):
        function.write_text(f"def answer(question, system_prompt, messages):\n    return {answer}\n")
        written = identified(with_config(tmp_path, agent), V1)
        assert not is_known(written, events)
        with config_past(written, events) as about:
            number = len(events)
            events += [
                run_event(written, "generate", f"r{number}"),
                *plan_records(about.prepared, about.past, f"r{number}"),
            ]
        assert is_known(written, events)


@pytest.mark.usefixtures("prepared")
def test_a_score_that_passes_now_is_recorded_anew(tmp_path: Path) -> None:
    """It stands in the rubric, beside the config, and is in no id: reports go by what was recorded last of it."""
    scale = "{name: q, title: Q, min: 1, max: 5, question: Is it good?, pass_from: 4, levels: {1: bad, 5: good}}"
    rubric = f"name: r\ninstructions: Score it.\nmetrics: [{scale}]\n"
    (tmp_path / "rubric.yaml").write_text(rubric)
    config = CONFIG.replace("{type: exact_match}", "{type: rubric, model: m, rubric: rubric.yaml}")
    before = with_config(tmp_path, config)
    events = recorded(before)
    assert is_known(before, events)
    (tmp_path / "rubric.yaml").write_text(rubric.replace("pass_from: 4", "pass_from: 3"))
    now = with_config(tmp_path, config)
    assert not is_known(now, events)
    events.append(judge_run_event(now.config.judges, "r2", mock=False))
    assert not is_known(before, events)
    assert is_known(now, events)


@pytest.mark.slow
def test_what_changes_is_recorded_anew(prepared: Prepared, tmp_path: Path) -> None:
    """Another server, fewer samples, another dataset, or a plan of which a part was lost in a crash."""
    known = identified(prepared, V1)
    past = recorded(known)
    assert not is_known(identified(prepared, replace(V1, version="2")), past)
    assert not is_known(replace(known, samples=known.samples[:1]), past)
    (tmp_path / "questions.jsonl").write_text('{"id": "q1", "question": "Q1?", "answer": "C"}\n')
    assert not is_known(identified(with_config(tmp_path, CONFIG), V1), past)
    crashed = past[:1]
    assert not is_known(known, crashed)
    with config_past(known, crashed) as about:
        assert [record["type"] for record in plan_records(about.prepared, about.past, "r2")] == ["plan"]


def test_several_messages_for_an_agent_that_answers_one_are_refused(tmp_path: Path, prepared: Prepared) -> None:
    """Before anything is asked: the last message alone is another question."""
    check_turns(prepared)
    several = replace(prepared, samples=({"id": "s1", "question": ["One?", "Two?"], "answer": "a"},))
    check_turns(several)
    alone = with_config(tmp_path, CONFIG.replace("{type: echo", "{type: command, command: [cat], input: none"))
    check_turns(replace(alone, samples=({"id": "s1", "question": ["One?"], "answer": "a"},)))
    with pytest.raises(UsageError, match="sample 's1' has several messages, and agent 'command' answers one"):
        check_turns(replace(alone, samples=several.samples))
    with pytest.raises(UsageError, match="2 samples, as 's1', have several messages"):
        check_turns(replace(alone, samples=[*several.samples, *several.samples]))


@pytest.mark.slow
@pytest.mark.parametrize("gate", ["require_mcp_tool_use", "require_mcp_tool_success"])
def test_a_gate_on_calls_that_nobody_reports_is_refused(tmp_path: Path, prepared: Prepared, gate: str) -> None:
    """Before a run and by `check`: no answer could pass it, or every answer would."""
    check_tool_gates(prepared)
    gated = CONFIG.replace("mcp_servers: [docs]", f"mcp_servers: [docs], {gate}: true")
    assert gated != CONFIG
    check_tool_gates(with_config(tmp_path, gated))
    silent = with_config(tmp_path, gated.replace("{type: echo", "{type: command, command: [cat]"))
    with pytest.raises(UsageError, match="agent 'command' does not report its tool calls"):
        set_up(silent)
    found = check(silent.config, tmp_path / "log.jsonl", lambda _: None)
    assert any("does not report its tool calls" in problem for problem in found.problems)
