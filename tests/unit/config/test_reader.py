from __future__ import annotations

import dataclasses
import hashlib
import json
import tempfile
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from keval import plugins, schema
from keval.config import reader
from keval.config.model import Config, Execution, Gates, JudgeConfig
from keval.errors import EnvironmentLacksError, InputError, UsageError
from keval.retry import Retry
from keval.sampling import Sampling
from keval.secrets.variables import Secrets
from keval.usage import Usage

EVAL = """\
name: docs-server
version: "1"
dataset:
  path: questions.jsonl
agent:
  type: echo
mcp_servers:
  docs: {type: stdio, command: python, args: [docs_server.py], env: {TOKEN: "${DOCS_TOKEN}"}}
conditions:
  baseline: {system_prompt: "Answer from your own knowledge.", mcp_servers: []}
  with_docs:
    system_prompt: Use the docs tool.
    mcp_servers: [docs]
    require_mcp_tool_use: true
judges:
  - {type: exact_match}
"""

RUBRIC = """\
name: tone
instructions: Judge the tone.
metrics:
  - {name: tone, title: Tone, min: 0, max: 1, question: "Is it kind?", levels: {0: "No.", 1: "Yes."}}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a dataset and a rubric in it."""
    (tmp_path / "questions.jsonl").write_text('{"question": "Q?", "answer": "A"}\n')
    (tmp_path / "tone.yaml").write_text(RUBRIC)
    return tmp_path


def load(folder: Path, content: str = EVAL, **environ: str) -> Config:
    """Load a text as the config `eval.yaml`."""
    path = folder / "eval.yaml"
    path.write_text(content)
    return reader.load(path, environ=environ)


def edited(old: str, new: str) -> str:
    """Return the valid config with one thing in it changed."""
    assert EVAL.count(old) == 1
    return EVAL.replace(old, new)


def problems(folder: Path, content: str | bytes, **environ: str) -> list[str]:
    """Return the lines of the error that a bad config gives, without the folder."""
    path = folder / "eval.yaml"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(InputError) as caught:
        reader.load(path, environ=environ)
    return str(caught.value).replace(f"{folder}/", "").splitlines()


def judge(folder: Path, content: str, **environ: str) -> JudgeConfig:
    """Load a text as the judge `judge.yaml`."""
    path = folder / "judge.yaml"
    path.write_text(content)
    return reader.load_judge(path, secrets=Secrets(environ))


def test_a_config_has_all_that_it_says_and_defaults_for_the_rest(folder: Path) -> None:
    """What can have a default has one, and the order of conditions is the file's."""
    loaded = load(folder)
    assert (loaded.name, loaded.version, loaded.path) == ("docs-server", "1", folder / "eval.yaml")
    assert loaded.sha256 == hashlib.sha256((folder / "eval.yaml").read_bytes()).hexdigest()
    assert loaded.as_written == YAML(typ="safe", pure=True).load(EVAL)
    assert loaded.datasets[0].path.read_text().startswith("{")
    assert (loaded.datasets[0].written, loaded.datasets[0].layout.question_key) == ("questions.jsonl", "question")
    assert (loaded.agent.name, loaded.agent.type, loaded.agent.model) == ("echo", "echo", None)
    assert [condition.name for condition in loaded.conditions] == ["baseline", "with_docs"]
    assert loaded.conditions[1].mcp_servers == {"docs": loaded.mcp_servers["docs"]}
    assert loaded.conditions[1].gates == Gates(require_mcp_tool_use=True)
    assert (loaded.judges[0].name, loaded.judges[0].replicates) == ("exact_match", 1)
    execution = loaded.execution
    assert (execution.repetitions, execution.max_concurrent, execution.timeout_s, execution.seed) == (3, 5, 600, 0)
    assert (execution.idle_timeout_s, execution.budget_usd, execution.retry) == (None, None, Retry(3, 1, 2))


def test_what_the_config_says_replaces_the_defaults(folder: Path) -> None:
    """Every part of the execution and of the dataset can be set; one judge needs no list."""
    content = edited("judges:\n  - {type: exact_match}\n", "judge: {type: exact_match, name: same, replicates: 2.0}\n")
    content = content.replace("path: questions.jsonl", "path: questions.jsonl\n  question_key: prompt\n  id_key: uid")
    content = content.replace('version: "1"', "version: 2")
    content += "execution: {repetitions: 2.0, budget_usd: 0.5, retry: {max_attempts: 1, initial_backoff_s: 0.5}}\n"
    loaded = load(folder, content)
    assert loaded.version == "2"
    assert (
        loaded.datasets[0].layout.question_key,
        loaded.datasets[0].layout.answer_key,
        loaded.datasets[0].layout.id_key,
    ) == (
        "prompt",
        "answer",
        "uid",
    )
    assert (loaded.judges[0].name, loaded.judges[0].replicates) == ("same", 2)
    assert (loaded.execution.repetitions, loaded.execution.budget_usd) == (2, 0.5)
    assert isinstance(loaded.execution.repetitions, int)
    assert loaded.execution.retry == Retry(1, 0.5, 2)


def test_the_baseline_of_a_config_is_no_part_of_a_judge_of_pairs(folder: Path) -> None:
    """Another name for it, or another order of conditions, makes no other judge; an option of its own does."""
    first, other = "judges: [{type: pairwise, model: claude-opus-5}]\n", "baseline: with_docs\n"
    own = "judges: [{type: pairwise, model: claude-opus-5, baseline: baseline}]\n"
    plain = EVAL.partition("judges:")[0]
    read = [load(folder, plain + more).judges[0] for more in (first, other + first, other + own)]
    assert [each.baseline for each in read] == [None, None, "baseline"]
    assert read[0].judge_id == read[1].judge_id != read[2].judge_id


def test_a_config_has_its_own_prices(folder: Path) -> None:
    """A price in the config takes the place of the shipped one; the others stay."""
    loaded = load(folder, EVAL + "prices: {my-model: {input: 1, output: 2.5}}\nexecution: {daily_budget_usd: 5}\n")
    assert loaded.prices.cost_usd("my-model", Usage(1_000_000, 1_000_000, 0, 0)) == 3.5
    assert (loaded.execution.budget_usd, loaded.execution.daily_budget_usd) == (None, 5)
    assert loaded.prices.cost_usd("claude-opus-5", Usage(1_000_000, 0, 0, 0)) == 5


def test_other_systems_editors_are_accepted(folder: Path) -> None:
    """A byte order mark and carriage returns change nothing."""
    path = folder / "eval.yaml"
    path.write_bytes(("\ufeff" + EVAL.replace("\n", "\r\n")).encode())
    assert reader.load(path, environ={}).as_written == YAML(typ="safe", pure=True).load(EVAL)


def test_three_mistakes_are_three_lines(folder: Path) -> None:
    """Mistakes of different kinds are reported together, by line, with what to do."""
    content = EVAL.replace("type: echo", "type: echo\n  txet: hello").replace("[docs]", "[dosc]")
    misspelt, meant = "require_mcp_tool_sucess", "require_mcp_tool_success"
    content = content.replace("require_mcp_tool_use: true", f"{misspelt}: true")
    assert problems(folder, content) == [
        "eval.yaml:7: $.agent.txet: unknown option 'txet'; did you mean 'text'?",
        "eval.yaml:14: $.conditions.with_docs.mcp_servers[0]: unknown server 'dosc'; did you mean 'docs'?",
        f"eval.yaml:15: $.conditions.with_docs.{misspelt}: unknown key {misspelt!r}; did you mean {meant!r}?",
        "3 problems in eval.yaml; nothing was run",
    ]


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("name: docs-server", "name: docs/server", "1: $.name: 'docs/server' is not"),
        ("name: docs-server", "name: ''", "1: $.name: '' is not"),
        ("name: docs-server\n", "", "1: $: 'name' is missing"),
        ('version: "1"', "version: 1.10", "2: $.version: expected a string or an integer, found 1.1"),
        ('version: "1"', "version: 2024-01-01", "2: $.version: '2024-01-01' is a date to YAML"),
        ("name: docs-server", "name: a\nname: b", "2: $.name: this key is already in line 1"),
        ("questions.jsonl", "question.jsonl", "4: $.dataset.path: question.jsonl does not exist; paths are relative"),
        ("questions.jsonl", "tone.yaml", "4: $.dataset.path: cannot read files that end in '.yaml'"),
        (
            "  path: questions.jsonl",
            "  paht: questions.jsonl",
            "4: $.dataset.paht: unknown key 'paht'; did you mean 'path'?",
        ),
        ("agent:", "budget_usd: 3\nagent:", "5: $.budget_usd: unknown key 'budget_usd'; it belongs under 'execution'"),
        ("path: questions.jsonl", "path: questions.jsonl\n  question_key: answer", "3: $.dataset: question_key and"),
        ("type: echo", "type: ehco", "6: $.agent.type: unknown agent 'ehco'; did you mean 'echo'?"),
        ("type: echo", "type: 3", "6: $.agent.type: expected a string, found 3"),
        ("type: echo", "type: echo\n  text: 3", "7: $.agent.text: expected a string, found 3"),
        ("type: echo", "type: echo\n  delay_s: -1", "7: $.agent.delay_s: must not be negative"),
        ("agent:\n  type: echo", "agent: null", "5: $.agent: expected an object, found null"),
        ("type: stdio", "type: foo", "8: $.mcp_servers.docs.type: 'foo' is not one of"),
        ("command: python, ", "", "8: $.mcp_servers.docs: 'command' is missing"),
        ('TOKEN: "${DOCS_TOKEN}"', "TOKEN: 3", "8: $.mcp_servers.docs.env.TOKEN: expected a string, found 3"),
        (
            "${DOCS_TOKEN}",
            "${DOCS_TOKEN:-none}",
            "8: $.mcp_servers.docs.env.TOKEN: '${DOCS_TOKEN:-none}' names no variable",
        ),
        (
            "mcp_servers: [docs]",
            "mcp_servers: [docs, [docs]]",
            "13: $.conditions.with_docs.mcp_servers[1]: expected a string",
        ),
        ("mcp_servers: [docs]", "mcp_servers: docs", "13: $.conditions.with_docs.mcp_servers: expected an array"),
        (
            "mcp_servers: [docs]",
            "mcp_servers: [x]",
            "13: $.conditions.with_docs.mcp_servers[0]: unknown server 'x'; mcp_servers has: docs",
        ),
        (
            "system_prompt: Use the docs tool.",
            "system_prompt: ''",
            "12: $.conditions.with_docs.system_prompt: must not be empty",
        ),
        ("    system_prompt: Use the docs tool.\n", "", "11: $.conditions.with_docs: 'system_prompt' or 'system_"),
        (
            "type: exact_match",
            "type: exact_mtach",
            "16: $.judges[0].type: unknown judge 'exact_mtach'; did you mean 'exact_match'?",
        ),
        ("type: exact_match", "type: exact_match, strip: 1", "16: $.judges[0].strip: expected true or false, found 1"),
        ("type: exact_match", "type: exact_match, temperature: 1", "16: $.judges[0].temperature: unknown option"),
        (
            "type: exact_match",
            "type: exact_match, only_fr: {a: 1}",
            "16: $.judges[0].only_fr: unknown option 'only_fr'; did you mean 'only_for'?",
        ),
        ("type: exact_match", "type: exact_match, replicates: 0", "16: $.judges[0].replicates: 0 is less than 1"),
        ("type: exact_match", "type: rubric", "16: $.judges[0]: 'model' is missing"),
        (
            "type: exact_match",
            "type: rubric, model: m, rubric: none.yaml",
            "16: $.judges[0].rubric: none.yaml: No such file",
        ),
        (
            "type: exact_match",
            "type: rubric, model: m, rubric: questions.jsonl",
            "16: $.judges[0].rubric: questions.jsonl:1: $",
        ),
        (
            "type: exact_match",
            "type: rubric, model: m, max_tokens: 0",
            "16: $.judges[0].max_tokens: must be more than 0",
        ),
        ("  - {type: exact_match}", "  - 3", "16: $.judges[0]: expected an object, found 3"),
        ("judges:\n  - {type: exact_match}", "judges: []", "15: $.judges: must not be empty"),
        ("judges:\n  - {type: exact_match}", "execution: {}", "1: $: 'judges' is missing"),
        ("judges:\n  - {type: exact_match}", "judge: [x]", "15: $.judge: expected an object, found an array"),
        ("judges:", "execution: {repetitions: 0}\njudges:", "15: $.execution.repetitions: 0 is less than 1"),
        ("judges:", "execution: {retry: {max_atempts: 1}}\njudges:", "15: $.execution.retry.max_atempts: unknown key"),
        ("judges:", "execution: {seed: 010}\njudges:", "15: $.execution.seed: '010' is a number that is not plainly"),
    ],
)
def test_each_mistake_is_named_with_line_and_path(folder: Path, old: str, new: str, told: str) -> None:
    """A misspelt or wrong value is an error with its place, never ignored."""
    found = problems(folder, edited(old, new))
    assert any(line.startswith(f"eval.yaml:{told}") for line in found), found
    assert found[-1].endswith("; nothing was run")


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("", "1: $: the file is empty"),
        ("- a\n", "1: $: expected an object, found an array"),
        ("null\n", "1: $: expected an object, found null"),
        ("{}\n", "1: $: 'agent' is missing"),
        ("name: [\n", "2: $: not YAML: "),
        (b"name: \xe4\n", "1: $: not UTF-8"),
        ("conditions: {}\n", "1: $.conditions: must not be empty"),
        ("conditions: {a: null}\n", "1: $.conditions.a: expected an object, found null"),
        ("conditions: 7\nmcp_servers: [x]\njudges: {}\ndataset: x\nexecution: null\n", "1: $.conditions: expected"),
    ],
)
def test_no_content_ends_in_a_traceback(folder: Path, content: str | bytes, told: str) -> None:
    """Whatever a file holds, what is wrong with it is said."""
    assert any(line.startswith(f"eval.yaml:{told}") for line in problems(folder, content))


def test_two_judges_need_two_names(folder: Path) -> None:
    """Results are told apart by the judge's name, so two cannot share one."""
    content = edited("  - {type: exact_match}", "  - {type: exact_match}\n  - {type: exact_match, strip: false}")
    assert problems(folder, content)[0] == (
        "eval.yaml:17: $.judges[1]: two judges are called 'exact_match'; give each a name of its own"
    )


def test_one_judge_under_two_names_is_a_mistake(folder: Path) -> None:
    """Both would be the same judgments; more judgments of one judge are replicates."""
    content = edited(
        "  - {type: exact_match}", "  - {type: exact_match}\n  - {type: exact_match, name: b, strip: true}"
    )
    assert problems(folder, content)[0].startswith("eval.yaml:17: $.judges[1]: this is the judge 'exact_match' again")


def test_judge_and_judges_exclude_each_other(folder: Path) -> None:
    """Which of the two is meant is not guessed."""
    found = problems(folder, EVAL + "judge: {type: exact_match, name: b, strip: false}\n")
    assert found == [
        "eval.yaml:1: $: 'judge' and 'judges' exclude each other",
        "1 problem in eval.yaml; nothing was run",
    ]


def test_two_equal_conditions_are_a_mistake(folder: Path) -> None:
    """Conditions are what they say, so two that say the same would share their responses."""
    content = edited("conditions:\n", 'conditions:\n  again: {system_prompt: "Answer from your own knowledge."}\n')
    assert problems(folder, content)[0].startswith("eval.yaml:11: $.conditions.baseline: is the same as 'again'")


def test_variables_need_not_be_set_to_load(folder: Path) -> None:
    """A log can be judged without the agent's variables; what is missing is all told at once."""
    content = edited("type: echo", 'type: echo\n  text: "${TEXT}"').replace("Use the docs", "Use ${TOOL} $${LITERAL}")
    loaded = load(folder, content, TOOL="docs")
    assert loaded.missing_variables() == ["DOCS_TOKEN", "TEXT"]
    assert loaded.missing_variables("agent", "conditions") == ["TEXT"]
    assert vars(loaded.agent.agent)["text"] == "${TEXT}"
    assert loaded.secrets.resolve(loaded.conditions[1].system_prompt) == "Use docs ${LITERAL} tool."
    with pytest.raises(EnvironmentLacksError, match="DOCS_TOKEN"):
        loaded.secrets.resolve(loaded.mcp_servers)


def test_resolved_values_are_only_in_the_plugins(folder: Path) -> None:
    """The plug-in gets the value; what goes into logs and errors has the name."""
    content = edited("type: echo", 'type: echo\n  text: "${TEXT}"')
    loaded = load(folder, content, TEXT="s3cret-text")
    assert vars(loaded.agent.agent)["text"] == "s3cret-text"
    assert loaded.agent.options == {"text": "${TEXT}"}
    assert loaded.secrets.redact("s3cret-text") == "${TEXT}"
    assert "s3cret" not in repr(loaded)
    assert "s3cret" not in str(loaded.as_written)


def test_an_error_does_not_show_a_resolved_value(folder: Path) -> None:
    """A value that does not fit, or a path that does not exist, is shown by its variable's name."""
    content = edited("type: exact_match", 'type: rubric, model: m, effort: "${EFFORT}"')
    content = content.replace("path: questions.jsonl", 'path: "${DATA}/q.jsonl"')
    found = "\n".join(problems(folder, content, EFFORT="s3cret-effort", DATA="/s3cret/data"))
    assert "s3cret" not in found
    assert "'${EFFORT}' is not one of" in found
    assert "${DATA}/q.jsonl does not exist" in found


def test_a_dataset_path_may_hold_a_variable(folder: Path) -> None:
    """It is resolved to open the file and kept as written for the log; unset, it is not looked for."""
    content = edited("path: questions.jsonl", 'path: "${DATA}/questions.jsonl"')
    loaded = load(folder, content, DATA=str(folder))
    assert loaded.datasets[0].path == folder / "questions.jsonl"
    assert loaded.datasets[0].written == "${DATA}/questions.jsonl"
    assert load(folder, content).missing_variables("dataset") == ["DATA"]


def test_a_condition_is_what_it_says(folder: Path) -> None:
    """Its name is not part of its identity; prompt, servers, gates and tools are."""
    first = load(folder).conditions[1].condition_id
    assert load(folder, edited("with_docs:", "renamed:")).conditions[1].condition_id == first
    for old, new in [
        ("Use the docs tool.", "Use the docs tool!"),
        ("docs_server.py", "other_server.py"),
        ("require_mcp_tool_use: true", "require_mcp_tool_success: true"),
        ("${DOCS_TOKEN}", "${OTHER_TOKEN}"),
    ]:
        assert load(folder, edited(old, new)).conditions[1].condition_id != first
    environ = {"DOCS_TOKEN": "1"}
    assert load(folder, EVAL, **environ).conditions[1].condition_id == first


def test_an_agent_is_what_it_says(folder: Path) -> None:
    """Neither its name nor a default written down nor what is no part of the identity changes it."""
    first = load(folder).agent.agent_id
    for same in ("name: other", "text: null", "delay_s: 0.5"):
        assert load(folder, edited("type: echo", f"type: echo\n  {same}")).agent.agent_id == first
    assert load(folder, edited("type: echo", "type: echo\n  text: x")).agent.agent_id != first


def test_a_judge_is_what_it_says_and_its_texts(folder: Path) -> None:
    """Its options, its rubric's content and its model make it; its name, replicates and files do not."""
    written = "type: rubric\nmodel: m\nrubric: tone.yaml\n"
    first = judge(folder, written).judge_id
    (folder / "same.yaml").write_text(RUBRIC)
    for same in ("name: x\n", "replicates: 3\n", "max_tokens: 4096\n", "redact: []\n", "timeout_s: 5\n"):
        assert judge(folder, written + same).judge_id == first
    assert judge(folder, written.replace("tone", "same")).judge_id == first
    (folder / "same.yaml").write_text(RUBRIC.replace("kind", "calm"))
    assert judge(folder, written.replace("tone", "same")).judge_id != first
    assert judge(folder, written.replace("model: m", "model: n")).judge_id != first
    assert judge(folder, written + "max_tokens: 4097\n").judge_id != first


def test_a_judge_file_is_checked_like_a_config(folder: Path) -> None:
    """All that is wrong with it is said at once, with lines."""
    with pytest.raises(InputError) as caught:
        judge(folder, "type: rubric\nreplicates: 0\nmodle: m\n")
    assert str(caught.value).replace(f"{folder}/", "").splitlines() == [
        "judge.yaml:1: $: 'model' is missing",
        "judge.yaml:2: $.replicates: 0 is less than 1",
        "judge.yaml:3: $.modle: unknown option 'modle'; did you mean 'model'?",
        "3 problems in judge.yaml; nothing was run",
    ]
    with pytest.raises(InputError, match="expected an object"):
        judge(folder, "- type: rubric\n")


NEEDY = """'''Needs what no run gives.'''
from dataclasses import dataclass
from keval.judges import Judge, Metric

@dataclass(frozen=True, kw_only=True)
class Needy(Judge):
    NEED

    @property
    def metrics(self):
        return (Metric("quality", 0, 1),)

    async def judge(self, case, context):
        raise AssertionError
"""


@pytest.mark.parametrize(
    ("module", "need", "told"),
    [
        ("needs_workspace", "unit, uses_workspace = 'pair', True", "compares two responses"),
    ],
)
def test_a_judge_that_needs_what_no_run_gives_is_refused(  # noqa: PLR0917 - fixtures and three parameters
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str, need: str, told: str
) -> None:
    """When it is read, from a config, a judge's file or a log: else each of its judgments would fail."""
    monkeypatch.syspath_prepend(str(tmp_path))
    info = tmp_path / f"of_{module}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: of_{module}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[keval.judges]\n{module} = {module}\n")
    (tmp_path / f"{module}.py").write_text(NEEDY.replace("NEED\n", f"{need}\n"))
    plugins.forget()
    try:
        (line, _) = problems(folder, edited("exact_match", module))
        assert line.startswith(f"eval.yaml:16: $.judges[0].type: the judge '{module}' {told}, and keval ")
        with pytest.raises(InputError, match=told):
            judge(folder, f"type: {module}\n")
        described = judge(folder, "type: exact_match\n").described()
        with pytest.raises(InputError, match=told):
            reader.judge_from_description(described | {"type": module, "parameters": {}})
    finally:
        plugins.forget()


def test_a_judge_is_rebuilt_from_its_description_without_files(folder: Path) -> None:
    """The run event is enough: the same judge, with the texts of then."""
    content = 'type: rubric\nmodel: "${MODEL}"\nrubric: tone.yaml\nreplicates: 2\nname: n\nredact: [x]\n'
    original = judge(folder, content, MODEL="some-model")
    description = orjson.loads(orjson.dumps(original.described()))
    (folder / "tone.yaml").unlink()
    rebuilt = reader.judge_from_description(description, secrets=Secrets({"MODEL": "some-model"}))
    assert rebuilt.judge_id == original.judge_id
    assert rebuilt.described() == original.described()
    assert rebuilt.judge.model_name == "some-model"
    assert rebuilt.judge.metrics == original.judge.metrics
    assert "some-model" not in json.dumps(description)


def test_a_judge_without_texts_is_rebuilt_from_its_options(folder: Path) -> None:
    """A judge that is a program has nothing but its options."""
    original = judge(folder, "type: exact_match\nstrip: false\n")
    assert reader.judge_from_description(original.described()).judge == original.judge


def test_a_description_that_does_not_fit_names_the_way_out(folder: Path) -> None:
    """A log of another version may name options or judges that this one does not have."""
    description = judge(folder, "type: exact_match\n").described()
    with pytest.raises(InputError, match=r"'exact_match' cannot be built again: .*'gone'.* -j JUDGE.yaml"):
        reader.judge_from_description(description | {"parameters": {"gone": 1}})
    with pytest.raises(UsageError, match="unknown judge 'gone'"):
        reader.judge_from_description(description | {"type": "gone"})
    rubric = judge(folder, "type: rubric\nmodel: m\n").described()
    with pytest.raises(InputError, match="cannot be built again"):
        reader.judge_from_description(rubric | {"texts": {}})


def test_the_recorded_model_outlives_a_default(folder: Path) -> None:
    """A description without the model among its parameters still asks the model that it names."""
    rubric = judge(folder, "type: rubric\nmodel: m\n").described()
    rebuilt = reader.judge_from_description(rubric | {"parameters": {}})
    assert rebuilt.judge.model_name == "m"
    assert rebuilt.judge_id == rubric["judge_id"]


def test_descriptions_and_configs_are_what_the_schemas_say(folder: Path) -> None:
    """What a run event records of a judge has exactly the fields of its schema."""
    entry = schema.document("run")["properties"]["judges"]["items"]
    described = load(folder).judges[0].described()
    assert set(entry["required"]) == set(described)
    jury = "{type: jury, models: [one, two], only_for: {answer: A}, sample_rate: 0.5}"
    chosen = load(folder, edited("{type: exact_match}", jury))
    assert set(entry["properties"]) == {*chosen.judges[0].described(), "unit"}
    pairs = load(folder, edited("{type: exact_match}", "{type: pairwise, model: one}"))
    assert set(pairs.judges[0].described()) == {*entry["required"], "unit"}
    assert not schema.problems("config", load(folder).as_written)


def test_a_judge_of_a_share_draws_by_the_runs_seed(folder: Path) -> None:
    """`sample_rate` is no option of the plug-in, is above 0, and at most 1."""
    share = edited("{type: exact_match}", "{type: exact_match, sample_rate: 0.5}") + "execution: {seed: 7}\n"
    assert load(folder, share).judges[0].sampling == Sampling(0.5, 7)
    assert load(folder).sampled(0.25).judges[0].sampling == Sampling(0.25, 0)
    for rate in ("0", "1.5", "-1", "half"):
        with pytest.raises(InputError, match="sample_rate"):
            load(folder, share.replace("0.5", rate))


def test_yaml_aliases_and_merges_are_used(folder: Path) -> None:
    """Anchors save writing; what they stand for is checked like the rest."""
    content = edited(
        EVAL[EVAL.index("  with_docs:") : EVAL.index("judges:")],
        "  with_docs: &docs {system_prompt: Use it., mcp_servers: [docs]}\n"
        "  strict:\n    <<: *docs\n    require_mcp_tool_use: true\n",
    )
    with_docs, strict = load(folder, content).conditions[1:]
    assert strict.system_prompt == with_docs.system_prompt
    assert strict.gates != with_docs.gates


def test_paths_are_relative_to_the_config(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the command is run does not matter to what a config names."""
    (folder / "elsewhere").mkdir()
    monkeypatch.chdir(folder / "elsewhere")
    (folder / "eval.yaml").write_text(edited("type: exact_match", "type: rubric, model: m, rubric: tone.yaml"))
    loaded = reader.load(Path("../eval.yaml"), environ={})
    assert loaded.datasets[0].path.read_text()
    assert loaded.path.is_absolute()
    assert [metric.name for metric in loaded.judges[0].judge.metrics] == ["tone"]


JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 5)
    | st.sampled_from([0.5, 2.0, "", "docs", "echo", "${X", "${Y}", "ü"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["type", "path", "name"]), inner),
    max_leaves=6,
)
KEYS = st.sampled_from([
    ("name",), ("dataset",), ("dataset", "path"), ("agent",), ("agent", "type"), ("mcp_servers",),
    ("mcp_servers", "docs"), ("conditions",), ("conditions", "baseline"), ("conditions", "with_docs", "mcp_servers"),
    ("conditions", "with_docs", "system_prompt"), ("judges",), ("judge",), ("execution",), ("agent", "text"),
])  # fmt: skip


@given(KEYS, JSON_VALUES)
def test_any_value_anywhere_is_accepted_or_explained(keys: tuple[str, ...], value: object) -> None:
    """A config loads, or each of its problems has a line and a path; nothing else can happen."""
    written: Any = YAML(typ="safe", pure=True).load(EVAL)
    section = written
    for key in keys[:-1]:
        section = section[key]
    section[keys[-1]] = value
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "eval.yaml"
        path.with_name("questions.jsonl").touch()
        path.write_text(json.dumps(written))
        try:
            found = reader.load(path, environ={})
        except InputError as error:
            lines = str(error).splitlines()
            assert all(line.startswith(f"{path}:1: $") for line in lines[:-1])
            assert lines[:-1]
        else:
            assert found.as_written == written


WHOLE_NUMBERS = {"repetitions": 4, "max_concurrent": 6, "timeout_s": 7, "idle_timeout_s": 8, "seed": 9}
WHOLE_IN_RETRY = {"max_attempts": 5, "initial_backoff_s": 2, "backoff_multiplier": 3}


def test_a_whole_number_may_be_written_with_a_point(folder: Path) -> None:
    """3.0 is the integer 3 for every number of `execution`, in a config and in what a log recorded of one."""
    execution: dict[str, Any] = {name: float(number) for name, number in WHOLE_NUMBERS.items()}
    execution["retry"] = {name: float(number) for name, number in WHOLE_IN_RETRY.items()}
    execution |= {"budget_usd": 10.0, "daily_budget_usd": 11.0}
    written = YAML(typ="safe", pure=True).load(EVAL) | {"execution": execution}
    (folder / "eval.yaml").write_text(json.dumps(written))
    said: list[str] = []
    loaded = reader.load(folder / "eval.yaml", environ={})
    recorded, _ = reader.recorded(orjson.loads(orjson.dumps(loaded.as_written)), said.append)
    wanted = Execution(**WHOLE_NUMBERS, retry=Retry(**WHOLE_IN_RETRY), budget_usd=10, daily_budget_usd=11)
    assert repr(loaded.execution) == repr(recorded) == repr(wanted)  # 3 and 3.0 are equal, and look different
    assert set(dataclasses.asdict(wanted)) == execution.keys()
    assert not said


def test_a_log_may_hold_whole_numbers_with_a_point(folder: Path) -> None:
    """A judge that another tool recorded with 2.0 replicates has 2."""
    (folder / "judge.yaml").write_text("{type: exact_match, replicates: 2.0}")
    described = reader.load_judge(folder / "judge.yaml", secrets=Secrets({})).described()
    assert repr(described["replicates"]) == "2"
    rebuilt = reader.judge_from_description(described | {"replicates": 2.0}, secrets=Secrets({}))
    assert repr(rebuilt.replicates) == "2"


@pytest.mark.parametrize(
    ("config", "told"),
    [
        (None, []),
        ({"execution": "x", "prices": 7}, ["$.execution: expected an object", "$.prices: expected an object"]),
        (
            {"execution": {"max_concurrent": 0, "budget_usd": 5, "new": 1, "retry": {"max_attempts": "x"}}},
            [
                "$.execution.max_concurrent: 0 is less than 1",
                "$.execution.new: unknown key",
                "$.execution.retry.max_att",
            ],
        ),
        (
            {"prices": {"mine": {"input": 1, "output": 2}, "odd": {"input": -1}}},
            ["$.prices.odd: 'output' is missing", "$.prices.odd.input: -1 is less than 0"],
        ),
    ],
)
def test_what_a_log_recorded_of_a_config_may_be_anything(config: object, told: list[str]) -> None:
    """What fits is used; what does not is named, and its default counts."""
    said: list[str] = []
    execution, prices = reader.recorded(config, said.append)
    assert [any(each in one for one in said) for each in told] == [True] * len(told)
    assert len(said) == len(told)
    assert (execution.max_concurrent, execution.retry.max_attempts) == (5, 3)
    assert execution.budget_usd == (5 if "budget" in str(config) else None)
    assert prices.is_own("mine") == ("mine" in str(config))


def test_an_edited_program_of_the_agent_is_another_agent(folder: Path) -> None:
    """A script that the command names is part of the agent, and of what a run records of it."""
    (folder / "agent.py").write_text("print(1)")
    content = EVAL.replace("type: echo", "type: command\n  command: [python, agent.py]")
    before = load(folder, content).agent
    assert [file["name"] for file in before.described()["files"]] == ["agent.py"]
    assert load(folder, content).agent.agent_id == before.agent_id
    (folder / "agent.py").write_text("print(2)")
    assert load(folder, content).agent.agent_id != before.agent_id


def test_a_dataset_may_be_said_to_have_no_golden_answers(folder: Path) -> None:
    """`answer_key: null` is another thing than leaving it out."""
    without = EVAL.replace("path: questions.jsonl", "path: questions.jsonl\n  answer_key: null")
    assert load(folder, without).datasets[0].layout.answer_key is None
    assert load(folder).datasets[0].layout.answer_key == "answer"
