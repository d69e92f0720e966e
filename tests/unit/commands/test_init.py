"""`keval init` as a newcomer types it: what it writes is checked by `keval check` as it is, and nothing is lost."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from keval import cli
from keval.commands.init import CONFIG, QUESTIONS, SCHEMA
from keval.config.reader import load
from keval.errors import EnvironmentLacksError, InputError, UsageError
from tests.conftest import Keval
from tests.prompts import SERVERS

WORKFLOW = ".github/workflows/keval.yml"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def init(*arguments: str) -> Result:
    """Call the command in this process; raises what it raises."""
    return CliRunner().invoke(cli.root, ["init", *arguments], catch_exceptions=False, standalone_mode=False)


def files(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


def test_with_nothing_there_is_a_config_with_examples(tmp_path: Path) -> None:
    """It names the files that it wrote, and the two commands to type next."""
    said = init().stdout.splitlines()
    assert set(files(tmp_path)) == {CONFIG, QUESTIONS, SCHEMA}
    assert said[-2:] == ["next      keval check eval.yaml --mock", "          keval run eval.yaml --mock"]
    assert load(tmp_path / CONFIG).datasets[0].path == tmp_path / QUESTIONS


def test_nothing_that_is_there_is_overwritten(tmp_path: Path) -> None:
    """Each file that is in the way is named, and none of the others is written."""
    (tmp_path / QUESTIONS).write_text("mine")
    (tmp_path / WORKFLOW).parent.mkdir(parents=True)
    (tmp_path / WORKFLOW).symlink_to("nowhere")
    with pytest.raises(UsageError) as refused:
        init("--ci", "github")
    assert [each.partition(" ")[0] for each in refused.value.problems] == [QUESTIONS, WORKFLOW]
    assert "--questions questions.jsonl" in str(refused.value)
    assert files(tmp_path) == {QUESTIONS: "mine"}


def test_the_schema_of_this_version_is_in_nobodys_way(tmp_path: Path) -> None:
    """Whoever threw the config away begins again; a file of that name that is something else stays."""
    init()
    (tmp_path / CONFIG).unlink()
    init("--questions", QUESTIONS)
    (tmp_path / CONFIG).unlink()
    (tmp_path / SCHEMA).write_text("{}")
    with pytest.raises(UsageError, match=r"eval\.schema\.json is there already"):
        init("--questions", QUESTIONS)


def test_questions_stay_where_they_are(tmp_path: Path) -> None:
    """The config names the file from its own folder; with many questions a rehearsal of a few is suggested."""
    (tmp_path / "q.csv").write_text("Prompt,Expected\n" + "".join(f"Why {n}?,So.\n" for n in range(30)))
    said = init("evals/it", "--questions", "q.csv").stdout
    assert load(tmp_path / "evals/it" / CONFIG).datasets[0].written == "../../q.csv"
    assert "30 samples, question 'Prompt', golden answer 'Expected', ids are hashes" in said
    assert "keval run evals/it/eval.yaml --mock --limit 5" in said


def test_names_that_tell_nothing_are_left_to_the_user(tmp_path: Path) -> None:
    """The message names what the file has and what to fill in."""
    (tmp_path / "q.csv").write_text("Frage,Antwort\nWarum?,Darum.\n")
    done = init("--questions", "q.csv")
    assert "it has 'Frage', 'Antwort', and eval.yaml has a line for question_key and answer_key" in done.stderr
    assert "next      in eval.yaml, below TO DO, fill in question_key and answer_key" in done.stdout


def test_questions_that_cannot_be_read_end_the_command(tmp_path: Path) -> None:
    """Their lines are named, and nothing is written."""
    (tmp_path / "q.jsonl").write_text('{"question": "Why?", "answer": ""}\n')
    with pytest.raises(InputError, match=r"q\.jsonl:1: answer: is blank"):
        init("--questions", "q.jsonl")
    assert set(files(tmp_path)) == {"q.jsonl"}


@pytest.mark.parametrize(
    ("header", "told"),
    [
        ("question,topic", "is the golden answer; it has 'question', 'topic', and eval.yaml has a line for answer_key"),
        ("topic,answer", "is the question; it has 'topic', 'answer', and eval.yaml has a line for question_key"),
    ],
)
def test_what_one_name_tells_need_not_be_filled_in(header: str, told: str, tmp_path: Path) -> None:
    """Of a question and a golden answer only the unknown one is left to the user."""
    (tmp_path / "q.csv").write_text(f"{header}\nWhy?,So.\n")
    assert told in init("--questions", "q.csv").stderr


@pytest.mark.parametrize(("folder", "name"), [("my évals 2", "my-evals-2"), ("...", "eval"), (".x", "x")])
def test_a_config_is_called_as_its_folder(folder: str, name: str, tmp_path: Path) -> None:
    """As far as a name can hold it; the commands to type next are quoted for a shell."""
    said = init(folder).stdout
    assert load(tmp_path / folder / CONFIG).name == name
    assert ("'my évals 2/eval.yaml'" in said) == (" " in folder)


def test_a_config_is_not_called_as_its_questions(tmp_path: Path) -> None:
    """Else a run would refuse to write its log over them."""
    init("questions")
    assert load(tmp_path / "questions" / CONFIG).name == "questions-eval"


def test_a_workflow_is_added_to_a_config_that_is_there(tmp_path: Path) -> None:
    """It has all keys that this config needs; a config without a gate is told to need one."""
    init("evals")
    text = (tmp_path / "evals" / CONFIG).read_text()
    text = text.partition("gate:")[0].replace("type: claude ", "type: claude\n  api_key_env: OTHER_KEY ")
    (tmp_path / "evals" / CONFIG).write_text(text)
    done = init("evals", "--ci", "github")
    written = files(tmp_path)
    assert all(
        each in written[WORKFLOW] for each in ("secrets.OTHER_KEY", "secrets.ANTHROPIC_API_KEY", "evals/eval.yaml")
    )
    assert written[f"evals/{CONFIG}"] == text
    assert "has no section gate" in done.stderr
    assert "next" not in done.stdout


def test_servers_have_names_of_their_own() -> None:
    """Two of one name would be one."""
    with pytest.raises(UsageError, match="two servers have one name"):
        init("--server", "a=x", "--server", "a=y")


def test_a_place_where_no_file_can_be_is_named(tmp_path: Path) -> None:
    """A folder that is a file is no bug."""
    (tmp_path / "taken").touch()
    for arguments in (["taken"], ["taken/evals", "--server", "docs=serve"]):
        with pytest.raises(UsageError, match="taken"):
            init(*arguments)


def test_a_variable_that_is_not_set_is_named(tmp_path: Path) -> None:
    """Before any server is started; no folder stays."""
    with pytest.raises(EnvironmentLacksError, match="not set: DOCS_TOKEN"):
        init("evals", "--server", "docs=http://127.0.0.1:9/mcp", "--header", "Authorization: Bearer ${DOCS_TOKEN}")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_server_that_fails_is_told_with_what_may_be_the_reason(tmp_path: Path) -> None:
    """What it wrote, where it was started and how; nothing is written, no folder stays."""
    with pytest.raises(EnvironmentLacksError) as failed:
        init("evals", "--server", "docs=python serer.py")
    assert "can't open file" in failed.value.problems[0]
    assert failed.value.problems[1] == (
        "it was started in the folder evals, where the config will be, as: python serer.py"
    )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_what_is_written_of_a_server_is_checked_as_it_is(tmp_path: Path, keval: Keval) -> None:
    """A server of the folder in which the command is called is found by the config of another one."""
    shutil.copy(SERVERS / "docs.py", tmp_path / "server.py")
    assert cli.run(["init", "evals", "--server", "docs=python server.py"]) == 0
    checked = keval("check", "evals/eval.yaml", "--mock")
    assert (checked.returncode, checked.stderr) == (0, "")
    assert "docs: connected, docs 1.0, tools: search, pages" in checked.stdout
