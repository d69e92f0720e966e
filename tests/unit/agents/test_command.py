from __future__ import annotations

import asyncio
import json
import resource
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from keval.agents import AgentError, Answer, Turn
from keval.agents.command import Command
from keval.processes import tree
from keval.usage import Usage
from tests.conftest import Keval
from tests.prompts import prompt
from tests.remains import is_gone

linux = pytest.mark.skipif(sys.platform != "linux", reason="there are no real-time signals elsewhere")

TELLS = "import json, os, sys; print(json.dumps([json.load(sys.stdin), dict(os.environ), os.getcwd(), sys.argv[1:]]))"


def python(program: str, *arguments: str, **options: Any) -> Command:  # noqa: ANN401 - any option of the agent
    """Return an agent that runs a Python program."""
    return Command(command=("python", "-c", program.replace("{", "{{").replace("}", "}}"), *arguments), **options)


async def failure(agent: Command, folder: Path) -> AgentError:
    """Return the error that an agent ends with."""
    with pytest.raises(AgentError) as caught:
        await agent.answer(prompt(folder))
    return caught.value


async def test_the_answer_is_what_the_program_writes(tmp_path: Path) -> None:
    """Stdout without its last newline is the answer, and its one turn."""
    answer = await python("print('ä b \\n')").answer(prompt(tmp_path))
    assert answer == Answer("answered", "ä b \n", turns=(Turn("text", text="ä b \n"),))


async def test_words_on_stderr_are_no_failure(tmp_path: Path) -> None:
    """Programs tell there how far they are; the exit status says whether they failed."""
    answer = await python("import sys; print('loading', file=sys.stderr); print('yes')").answer(prompt(tmp_path))
    assert (answer.status, answer.text) == ("answered", "yes")


async def test_silence_is_an_empty_answer(tmp_path: Path) -> None:
    """A program that says nothing but white space has not failed; it has not answered either."""
    assert (await python("").answer(prompt(tmp_path))).status == "empty"
    assert (await python("print(' ')").answer(prompt(tmp_path))).status == "empty"


async def test_the_program_is_told_the_task_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It gets six fields on stdin, the allow-listed environment, `env`, a mark, and the workspace to work in."""
    monkeypatch.setenv("JUDGE_KEY", "secret")
    asked = prompt(tmp_path, {"A": "1", "B": "2"}, servers={"docs": {"type": "http", "url": "http://x"}}, repetition=3)
    agent = python(TELLS, "{question}", "{{{repetition}}}", env={"B": "3", "C": "4"})
    given_input, environment, folder, arguments = json.loads((await agent.answer(asked)).text)
    assert given_input == {
        "question": "What is a kiwi?",
        "turns": ["What is a kiwi?"],
        "system_prompt": "Answer briefly.",
        "mcp_servers": {"docs": {"type": "http", "url": "http://x"}},
        "repetition": 3,
        "workspace": str(asked.workspace),
    }
    own = {"KEVAL_TASK", "LC_CTYPE"}  # LC_CTYPE is Python's own doing
    assert {name: value for name, value in environment.items() if name not in own} == {
        **asked.env, "B": "3", "C": "4"
    }  # fmt: skip
    assert Path(folder) == asked.workspace
    assert arguments == ["What is a kiwi?", "{3}"]


TAKES_ALL_FILES = """
import os, resource
soft, hard = resource.prlimit(os.getppid(), resource.RLIMIT_NOFILE)
resource.prlimit(os.getppid(), resource.RLIMIT_NOFILE, (3, hard))
print(7)
"""


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="only Linux lets a program change another one's limit")
async def test_an_answer_is_not_lost_when_nobody_can_look_what_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With no file to be had, the answer counts, and what may still run is ended with the run."""
    monkeypatch.setattr(tree, "PATIENCE_S", 0.05)
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        answer = await python(TAKES_ALL_FILES).answer(prompt(tmp_path))
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
        await tree.end_unmarked()
    assert (answer.text, answer.orphaned_processes) == ("7", ())


async def test_a_program_need_not_read_its_input(tmp_path: Path) -> None:
    """However long the question, a program that never reads it may answer."""
    asked = prompt(tmp_path, question="?" * 5_000_000)
    assert (await python("print('done')").answer(asked)).text == "done"
    assert (await python("import sys; print(len(sys.stdin.read()))", input="none").answer(asked)).text == "0"


async def test_a_path_leads_to_the_answer_inside_json(tmp_path: Path) -> None:
    """Answer, tokens and cost come from where the paths say; what is not there is not known."""
    said = {"r": [{"the text": "yes"}], "n": {"input_tokens": 5, "output_tokens": True}, "usd": 0.5}
    agent = python(
        f"print({json.dumps(said)!r})", answer_path="$.r[0]['the text']", usage_path="$.n", cost_path="$.usd"
    )
    answer = await agent.answer(prompt(tmp_path))
    assert (answer.text, answer.usage, answer.cost_usd) == ("yes", Usage(input_tokens=5), 0.5)
    agent = python(f"print({json.dumps(said)!r})", answer_path="$.r[0]['the text']", usage_path="$.x", cost_path="$.n")
    answer = await agent.answer(prompt(tmp_path))
    assert (answer.text, answer.usage, answer.cost_usd) == ("yes", None, None)


@pytest.mark.parametrize(
    ("program", "options", "said"),
    [
        ("import sys; sys.exit('no index')", {}, "exit status 1; stderr ends: no index"),
        ("import sys; sys.exit(3)", {}, "exit status 3, nothing on stderr"),
        ("import os; os.kill(os.getpid(), 9)", {}, "ended by SIGKILL, nothing on stderr"),
        pytest.param("import os; os.kill(os.getpid(), 35)", {}, "ended by signal 35, nothing on stderr", marks=linux),
        ("import sys; sys.stdout.buffer.write(b'a\\xff')", {}, "stdout is not UTF-8: byte 1: invalid start byte"),
        ("print('x')", {"answer_path": "$.a"}, "stdout is not JSON"),
        ("print('{\"b\": 1}')", {"answer_path": "$.a"}, "stdout has nothing at $.a"),
        ("print('[\"b\"]')", {"answer_path": "$[0][0]"}, "stdout has nothing at $[0][0]"),
        ("print('{\"a\": null}')", {"answer_path": "$.a"}, "stdout has null at $.a, not a text"),
        ("print('x' * 101)", {"max_output_bytes": 100}, "wrote more than max_output_bytes (100)"),
    ],
)
async def test_what_is_no_answer_is_a_failure(
    tmp_path: Path, program: str, options: Mapping[str, Any], said: str
) -> None:
    """Each failure says what was wrong, and is not worth another attempt."""
    error = await failure(python(program, **options), tmp_path)
    assert (error.kind, error.retryable) == ("agent_error", False)
    assert error.message.startswith(said)


async def test_a_program_can_ask_to_be_tried_again(tmp_path: Path) -> None:
    """Exit status 75 is a temporary failure by convention."""
    error = await failure(python("import sys; sys.exit(75)"), tmp_path)
    assert (error.kind, error.retryable) == ("infra_error", True)


@pytest.mark.parametrize("script", ["exec env no-such-program", "no-such-program", "./a-folder"])
async def test_a_program_that_cannot_be_started_by_another_is_no_bad_answer(script: str, tmp_path: Path) -> None:
    """`env` and shells say with 126 and 127 that there was nothing to run."""
    (tmp_path / "a-folder").mkdir()
    error = await failure(Command(command=("sh", "-c", script)), tmp_path)
    assert (error.kind, error.retryable) == ("infra_error", False)


async def test_only_the_end_of_stderr_is_kept(tmp_path: Path) -> None:
    """A failure names the last words, not megabytes."""
    error = await failure(python("import sys; print('x' * 9999, 'end', file=sys.stderr); sys.exit(1)"), tmp_path)
    assert error.message.endswith("x end")
    assert len(error.message) < 2100


@pytest.mark.parametrize("program", ["no-such-program", "/etc/hostname", "./gone", "/etc"])
async def test_a_program_that_vanished_is_no_bad_answer(tmp_path: Path, program: str) -> None:
    """What cannot be started, or no longer, was not asked: the task is tried again."""
    error = await failure(Command(command=(program,)), tmp_path)
    assert error.message.startswith(f"cannot start '{program}': ")
    assert (error.kind, error.retryable) == ("infra_error", True)


@pytest.mark.parametrize("question", ["null \0 character", "too long" * 1_000_000])
async def test_a_question_that_no_program_can_be_given_is_a_failure(tmp_path: Path, question: str) -> None:
    """An impossible argument is impossible again; a program that was never asked has not answered badly."""
    with pytest.raises(AgentError, match="cannot start 'python': ") as caught:
        await python("", "{question}").answer(prompt(tmp_path, question=question))
    assert (caught.value.kind, caught.value.retryable) == ("infra_error", False)


def script(path: Path, first: str = "#!/bin/sh", mode: int = 0o755) -> Path:
    """Write a script that answers `found`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{first}\necho found\n")
    path.chmod(mode)
    return path


@pytest.mark.parametrize("program", ["v/bin/agent", "./v/bin/agent", "{folder}/v/bin/agent", "agent", "linked/agent"])
async def test_a_program_is_found_beside_the_config_or_in_the_path(tmp_path: Path, program: str) -> None:
    """A path with a slash is relative to the config, a bare name stands in the path of the agent's processes."""
    made = script(tmp_path / "v" / "bin" / "agent")
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / "agent").symlink_to(made)
    agent = Command(command=(program,), env={"PATH": f"/nowhere:{made.parent}:/bin"})
    assert agent.missing(tmp_path, {"PATH": "/nowhere"}) is None
    assert (await agent.answer(prompt(tmp_path, folder=tmp_path))).text == "found"


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("no-such-program", "no program 'no-such-program' in the path that agents and judges have (/usr/bin:/bin)"),
        ("v/none", "cannot start 'v/none': FOLDER/v/none does not exist; a path is relative to the config's folder"),
        ("/no/such", "cannot start '/no/such': /no/such does not exist"),
        ("./v", "cannot start './v': FOLDER/v is a folder; a path is relative to the config's folder"),
        ("v/text", "cannot start 'v/text': FOLDER/v/text is not executable; a path is relative to the config's folder"),
        ("v/lost", "cannot start 'v/lost': FOLDER/v/lost is a script for /no/sh, which does not exist"),
        (
            "v/bare",
            "cannot start 'v/bare': FOLDER/v/bare is a script whose first line names no program for it, as #!/bin/sh",
        ),
        ("v/windows", "cannot start 'v/windows': FOLDER/v/windows has Windows line ends, so its"),
        ("v/binary", None),
        ("{workspace}/made-by-nobody", None),
    ],
)
def test_what_cannot_be_started_is_told_before_a_run(tmp_path: Path, program: str, said: str | None) -> None:
    """With the path that was tried, as far as it can be known without a task."""
    script(tmp_path / "v" / "text", mode=0o644)
    script(tmp_path / "v" / "lost", "#!/no/sh -e")
    script(tmp_path / "v" / "bare", "echo 4")
    script(tmp_path / "v" / "windows", "#!/bin/sh\r")
    script(tmp_path / "v" / "binary", "\x7fELF\0")
    told = Command(command=(program,)).missing(tmp_path, {"PATH": "/usr/bin:/bin"})
    assert (told is None) if said is None else str(told).startswith(said.replace("FOLDER", str(tmp_path)))


def test_a_file_that_the_command_names_and_that_is_not_there_is_told_before_a_run(tmp_path: Path) -> None:
    """Python would fail in each task for want of its script."""
    told = Command(command=("sh", "{folder}/nope.sh")).missing(tmp_path, {"PATH": "/usr/bin:/bin"})
    assert told == f"its command names {{folder}}/nope.sh, and {tmp_path}/nope.sh does not exist"


@pytest.mark.parametrize("command", ["generate", "run", "check"])
def test_a_program_that_is_missing_ends_a_command_before_it_begins(tmp_path: Path, keval: Keval, command: str) -> None:
    """Exit code 4, and no log."""
    (tmp_path / "questions.jsonl").write_text('{"id": "q", "question": "What?", "answer": "7"}\n')
    (tmp_path / "eval.yaml").write_text(
        "name: gone\ndataset: {path: questions.jsonl}\nagent: {type: command, command: [v/bin/agent]}\n"
        "conditions: {plain: {system_prompt: Answer.}}\njudge: {type: exact_match}\n"
    )
    done = keval(command, "eval.yaml", *(("-o", "run.jsonl") if command != "check" else ()))
    assert done.returncode == 4, done.stderr
    assert f"{tmp_path}/v/bin/agent does not exist" in done.stderr
    assert not (tmp_path / "run.jsonl").exists()


async def test_endless_output_is_cut_off(tmp_path: Path) -> None:
    """A program that never stops writing is ended at the limit."""
    error = await failure(python("while True: print('x' * 1000)", max_output_bytes=100_000), tmp_path)
    assert "max_output_bytes" in error.message


async def test_output_is_a_sign_of_life(tmp_path: Path) -> None:
    """Whoever watches for idleness hears of each growth of the output, on stderr too."""
    signs: list[Answer] = []
    program = "import sys, time\nfor _ in range(3): print('.', file=sys.stderr, flush=True); time.sleep(0.3)"
    await python(program).answer(prompt(tmp_path, heartbeat=signs.append))
    assert len(signs) >= 2


LEAVES_DAEMON = """
import os, signal, sys, time
if os.fork():
    while not os.path.exists("daemon.pid"): time.sleep(0.01)
    {after}
    sys.exit()
os.setsid()
if os.fork(): os._exit(0)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
with open("pid", "w") as file: file.write(str(os.getpid()))
os.rename("pid", "daemon.pid")
time.sleep(600)
"""


async def test_a_daemon_that_it_leaves_behind_neither_holds_up_the_answer_nor_survives(tmp_path: Path) -> None:
    """An orphan in a session of its own, deaf to SIGTERM, with our stdout in its hands, ends with the task."""
    begun = time.monotonic()
    answer = await python(LEAVES_DAEMON.format(after="print('done')")).answer(prompt(tmp_path))
    assert answer.text == "done"
    assert is_gone(int((tmp_path / "workspace" / "daemon.pid").read_text()))
    assert time.monotonic() - begun < 20


async def test_what_outlives_the_program_is_told_by_name(tmp_path: Path) -> None:
    """The name only, of an answer and of a failure; a program that ends with all of its own leaves nothing."""
    name = Path(sys.executable).name
    answer = await python(LEAVES_DAEMON.format(after="print('done')")).answer(prompt(tmp_path))
    assert answer.orphaned_processes == (name,)
    (tmp_path / "workspace" / "daemon.pid").unlink()
    error = await failure(python(LEAVES_DAEMON.format(after="sys.exit('no')")), tmp_path)
    assert error.partial is not None
    assert error.partial.orphaned_processes == (name,)
    assert (await python("print('done')").answer(prompt(tmp_path))).orphaned_processes == ()


async def test_a_cancelled_task_leaves_no_process(tmp_path: Path) -> None:
    """Cancelling ends the program, its daemon, and nothing remains in the folder for temporary files."""
    asking = asyncio.create_task(python(LEAVES_DAEMON.format(after="time.sleep(600)")).answer(prompt(tmp_path)))
    pid = tmp_path / "workspace" / "daemon.pid"
    while not pid.exists():
        await asyncio.sleep(0.01)
        assert not asking.done()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert is_gone(int(pid.read_text()))


async def test_it_leads_a_session_of_its_own(tmp_path: Path) -> None:
    """Ctrl-C in the terminal reaches keval, which decides, and not the program."""
    answer = await python("import os; print(os.getsid(0) == os.getpid())").answer(prompt(tmp_path))
    assert answer.text == "True"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"command": ()}, "names no program"),
        ({"command": ("a", "{answer}")}, "unknown placeholder {answer}"),
        ({"command": ("a", "{question!r}")}, "unknown placeholder"),
        ({"command": ("a", "{")}, "'{' has a lone brace; a literal brace is"),
        ({"command": ("a",), "answer_path": "result"}, r"begins with \$"),
        ({"command": ("a",), "answer_path": "$.a[b]"}, r"cannot read '\[b\]'"),
        ({"command": ("a",), "cost_path": "$.a"}, "go with answer_path"),
        ({"command": ("a",), "max_output_bytes": 0}, "more than 0"),
        ({"adapter": Path("codex"), "max_output_bytes": -1}, "more than 0"),
    ],
)
def test_an_impossible_option_is_refused_at_once(options: Mapping[str, Any], said: str) -> None:
    """Mistakes in the config are found before anything runs."""
    with pytest.raises(ValueError, match=said):
        Command(**options)


def test_relative_paths_can_be_made_relative_to_the_config(tmp_path: Path) -> None:
    """`{folder}` is where the config is, since the program runs in the empty workspace."""
    agent = Command(command=("python", "{folder}/agent.py"))
    asked = prompt(tmp_path, folder=tmp_path)
    (tmp_path / "agent.py").write_text("print('from the config')")
    assert asyncio.run(agent.answer(asked)).text == "from the config"


def test_the_model_and_the_key_are_no_business_of_keval() -> None:
    """The model is for the record, no key is asked for, and --mock still reaches the program."""
    agent = Command(command=(sys.executable,), model="claude-sonnet-5")
    assert (agent.model_name, agent.secret_names, agent.uses_models) == ("claude-sonnet-5", (), True)


def test_the_files_that_the_command_names_are_part_of_the_agent(tmp_path: Path) -> None:
    """What depends on the task names none; the config's folder is filled in."""
    (tmp_path / "agent.py").write_text("print('yes')")
    agent = Command(command=("python", "{folder}/agent.py", "{question}", "{workspace}/agent.py"))
    assert [file.name for file in agent.local_files(tmp_path)] == ["agent.py"]
