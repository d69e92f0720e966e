from __future__ import annotations

from pathlib import Path

import pytest

from keval.config.model import WorkspaceConfig
from keval.config.reader import load
from keval.errors import InputError

CONFIG = """\
name: work
dataset: {path: questions.jsonl}
agent: AGENT
workspace: WORKSPACE
conditions: {plain: {system_prompt: "Answer."}}
judge: {type: exact_match}
"""


def workspace(folder: Path, written: str, agent: str = "{type: command, command: [cat]}") -> WorkspaceConfig:
    """Load a config with this section."""
    (folder / "questions.jsonl").write_text('{"question": "q", "answer": "a"}\n')
    (folder / "eval.yaml").write_text(CONFIG.replace("AGENT", agent).replace("WORKSPACE", written))
    return load(folder / "eval.yaml", environ={"TEMPLATE": "template"}).agent.workspace


def test_a_folder_is_found_from_the_configs_folder(tmp_path: Path) -> None:
    """Variables in its name are filled in; the log has it as written."""
    (tmp_path / "template").mkdir()
    read = workspace(tmp_path, '{copy: "${TEMPLATE}", keep: failed, keep_in: kept}')
    assert read.template is not None
    assert (read.template.path, read.template.written) == (tmp_path / "template", "${TEMPLATE}")
    assert (read.keep, read.keep_in) == ("failed", "kept")


def test_a_folder_is_empty_by_default(tmp_path: Path) -> None:
    """And nothing is kept."""
    assert workspace(tmp_path, "{}") == WorkspaceConfig(None, "none", None)


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("{copy: nowhere}", r"eval\.yaml:4: \$\.workspace\.copy: .*nowhere does not exist"),
        ("{git: nowhere}", r"eval\.yaml:4: \$\.workspace\.git: .*nowhere does not exist"),
        ("{git: .}", r"\$\.workspace\.git: .*no 'HEAD'"),
        ("{copy: ., git: .}", "'copy' and 'git' exclude each other"),
        ("{copy: ., ref: main}", "git"),
        ("{keep: some}", r"\$\.workspace\.keep: 'some' is not one of 'none', 'failed', 'all'"),
        ("{copy: ., keeps: all}", "did you mean 'keep'"),
    ],
)
def test_what_is_wrong_is_told_before_anything_is_asked(tmp_path: Path, written: str, told: str) -> None:
    """With its place in the config."""
    with pytest.raises(InputError, match=told):
        workspace(tmp_path, written)


def test_an_agent_that_works_in_no_folder_takes_no_section(tmp_path: Path) -> None:
    """Nor a judge that would look at it."""
    with pytest.raises(InputError, match="this agent works in no folder"):
        workspace(tmp_path, "{keep: all}", "{type: echo}")
    looks = CONFIG.replace("workspace: WORKSPACE\n", "").replace("AGENT", "{type: echo}")
    looks = looks.replace("{type: exact_match}", "{type: command, command: [cat], workspace: true}")
    (tmp_path / "eval.yaml").write_text(looks)
    with pytest.raises(InputError, match="judge 'command' looks at workspaces, and agent 'echo' works in no folder"):
        load(tmp_path / "eval.yaml")
