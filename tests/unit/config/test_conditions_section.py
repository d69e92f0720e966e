"""Properties of what a config says of its conditions."""

from __future__ import annotations

from pathlib import Path

import pytest

from keval.config.model import Config
from keval.config.reader import load
from keval.errors import InputError

CONFIG = """\
name: prompts
dataset: {path: questions.jsonl}
agent: {type: echo}
conditions: {plain: {PROMPT}, other: {system_prompt: "Other."}}
judge: {type: exact_match}
"""


def loaded(folder: Path, prompt: str) -> Config:
    """Load a config of which one condition has this prompt."""
    (folder / "questions.jsonl").touch()
    (folder / "eval.yaml").write_text(CONFIG.replace("PROMPT", prompt))
    return load(folder / "eval.yaml", environ={"PLACE": "prompts", "NAME": "value"})


def from_file(folder: Path, content: bytes) -> Config:
    """Load a config of which one condition's prompt stands in a file."""
    (folder / "prompts").mkdir(exist_ok=True)
    (folder / "prompts" / "plain.md").write_bytes(content)
    return loaded(folder, 'system_prompt_file: "${PLACE}/plain.md"')


def test_a_prompt_in_a_file_is_that_prompt(tmp_path: Path) -> None:
    """Who moves a prompt into a file of its own keeps all answers, whatever an editor puts at the end of it."""
    in_config = loaded(tmp_path, 'system_prompt: "Answer — briefly.\\n\\nBe kind."').conditions[0]
    in_file = from_file(tmp_path, "\ufeffAnswer — briefly.\r\n\r\nBe kind.\r\n \n".encode()).conditions[0]
    assert in_file.system_prompt == in_config.system_prompt
    assert in_file.condition_id == in_config.condition_id
    assert from_file(tmp_path, b"Answer at length.").conditions[0].condition_id != in_config.condition_id


@pytest.mark.parametrize("text", ["Use ${NAME}.", "Write $${NAME}.", "A $$${NAME}, a ${, and a ${x:-y}"])
def test_nothing_in_a_file_is_replaced(tmp_path: Path, text: str) -> None:
    """A prompt may hold code: what the agent is given is what stands in the file."""
    config = from_file(tmp_path, text.encode())
    assert config.secrets.resolve(config.conditions[0].system_prompt) == text


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b" \n", r"plain\.md is empty"),
        (b"caf\xe9", r"plain\.md is no UTF-8 text: byte 3 is 0xe9"),
    ],
)
def test_a_file_without_a_prompt_is_refused(tmp_path: Path, content: bytes, told: str) -> None:
    """With its place in the config."""
    with pytest.raises(InputError, match=rf"eval\.yaml:4: \$\.conditions\.plain\.system_prompt_file: .*{told}"):
        from_file(tmp_path, content)


@pytest.mark.parametrize(
    ("prompt", "told"),
    [
        ("system_prompt_file: nowhere.md", r"nowhere\.md: No such file or directory; paths are relative to eval\.yaml"),
        ("system_prompt_file: .", "Is a directory"),
        ("system_prompt_file: /dev/zero", "is a pipe or a device"),
        ('system_prompt_file: "a\\0b"', "is a name that no file can have"),
        ("system_prompt_file: 7", "expected a string"),
        ("system_prompt_fil: a.md", "did you mean 'system_prompt_file'"),
        ("mcp_servers: []", "'system_prompt' or 'system_prompt_file' is missing"),
        ("system_prompt: A., system_prompt_file: a.md", "'system_prompt' and 'system_prompt_file' exclude each other"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(tmp_path: Path, prompt: str, told: str) -> None:
    """Before anything is asked."""
    with pytest.raises(InputError, match=told):
        loaded(tmp_path, prompt)


def test_a_file_whose_name_is_not_known_yet_is_a_prompt_all_the_same(tmp_path: Path) -> None:
    """`keval validate` needs no variable: the condition is there, and the run says which variable is not set."""
    config = loaded(tmp_path, 'system_prompt_file: "${ELSEWHERE}/plain.md"')
    assert [each.name for each in config.conditions] == ["plain", "other"]
    assert config.missing_variables("conditions") == ["ELSEWHERE"]


def test_a_file_that_is_missing_is_the_only_problem(tmp_path: Path) -> None:
    """It is one problem, beside the line that counts them: the condition counts as there."""
    for written in ("nowhere.md", "''"):
        with pytest.raises(InputError) as caught:
            loaded(tmp_path, f"system_prompt_file: {written}}}, baseline: {{system_prompt: Base.")
        assert len(caught.value.problems) == 2, caught.value.problems
