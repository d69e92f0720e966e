from __future__ import annotations

import asyncio
import json
import pickle
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from keval.judges import Context, JudgeError
from keval.models.messages_api import Asking, Model, ModelError, Reply
from keval.processes.program import Limits
from keval.usage import Usage
from tests.scripted_service import COST_USD, OVERLOADED, message, serving

MODEL = Model(name="claude-opus-5", max_tokens=1000)
SCHEMA = {
    "type": "object",
    "properties": {"fine": {"type": "boolean"}},
    "required": ["fine"],
    "additionalProperties": False,
}
GOOD = message('{"fine": true}')
BAD = message("Fine, I would say.")


def context(env: dict[str, str] | None = None, seed: str = "j1") -> Context:
    """Return a context with a model."""
    return Context(seed=seed, model=MODEL, env=env or {})


async def ask(given: Context) -> Any:  # noqa: ANN401 - whatever the model replied
    """Ask one question."""
    return await given.ask(system="Be fair.", user="Is it fine?", schema=SCHEMA)


async def test_a_reply_comes_back_as_the_value_that_was_asked_for() -> None:
    """The question holds the schema; tokens and cost are counted."""
    with serving(GOOD) as service:
        given = context(service.env)
        assert await ask(given) == {"fine": True}
    (asked,) = service.asked
    assert asked == {
        "model": "claude-opus-5",
        "max_tokens": 1000,
        "system": "Be fair.",
        "messages": [{"role": "user", "content": "Is it fine?"}],
        "output_config": {"format": {"type": "json_schema", "schema": SCHEMA}},
    }
    assert given.usage == Usage(1000, 100, 0, 0)
    assert given.cost_usd == pytest.approx(COST_USD)


async def test_an_unusable_reply_is_asked_for_once_more() -> None:
    """The second question continues the conversation and says what was wrong; both replies are paid for."""
    with serving(BAD, GOOD) as service:
        given = context(service.env)
        assert await ask(given) == {"fine": True}
    first, second = service.asked
    assert second["messages"][:1] == first["messages"]
    reply, question = second["messages"][1:]
    assert reply == {"role": "assistant", "content": "Fine, I would say."}
    assert re.search(r"cannot be used: it is not one JSON object .*\.\nGive the whole", question["content"])
    assert given.usage == Usage(2000, 200, 0, 0)
    assert given.cost_usd == pytest.approx(2 * COST_USD)


async def test_a_reply_without_text_is_told_back_as_such() -> None:
    """The service refuses a turn without text."""
    with serving(message("", stop_reason="refusal", content=[]), GOOD) as service:
        await ask(context(service.env))
    assert service.asked[1]["messages"][1] == {"role": "assistant", "content": "(no text)"}


async def test_two_unusable_replies_are_an_error_that_quotes_the_last() -> None:
    """There is no third question and no retry; the cost of both replies is known."""
    with serving(BAD, message("F\x1bive. " * 1000)) as service:
        given = context(service.env)
        with pytest.raises(JudgeError) as caught:
            await ask(given)
    assert len(service.asked) == 2
    assert caught.value.kind == "judge_invalid"
    assert not caught.value.retryable
    assert given.cost_usd == pytest.approx(2 * COST_USD)
    assert re.search(
        r"^no usable reply in 2: it is not one JSON object .*; it said 'F\\x1bive\. ", caught.value.message
    )
    assert len(caught.value.message) < 1000


async def test_an_error_of_the_service_says_whether_to_try_again() -> None:
    """What was paid before it is not forgotten."""
    with serving(BAD, OVERLOADED) as service:
        given = context(service.env)
        with pytest.raises(JudgeError) as caught:
            await ask(given)
    assert caught.value.kind == "judge_error"
    assert "Overloaded" in caught.value.message
    assert caught.value.retryable
    assert caught.value.overloaded
    assert given.usage == Usage(1000, 100, 0, 0)
    assert given.cost_usd == pytest.approx(COST_USD)


def asking(*replies: Reply | BaseException) -> Asking:
    """Return what replies and fails in order."""
    coming = iter(replies)

    async def ask(*_: object, **__: object) -> Reply:
        reply = next(coming)
        if isinstance(reply, BaseException):
            raise reply
        return reply

    return ask


def spent(given: Context) -> tuple[Usage | None, float | None]:
    """Return tokens and cost of all that was asked."""
    return given.usage, given.cost_usd


@pytest.mark.parametrize("status", [401, 429, 500, 529])
async def test_a_call_that_is_refused_costs_nothing(status: int) -> None:
    """Without a reply all is free; what a reply before it has cost remains."""
    refusal = {"type": "error", "error": {"type": "error", "message": "no"}}
    with serving((status, refusal), BAD, (status, refusal)) as service:
        for cost_usd in (0.0, COST_USD):
            given = context(service.env)
            with pytest.raises(JudgeError):
                await ask(given)
            assert given.has_asked
            assert given.cost_usd == cost_usd


@pytest.mark.parametrize("doubt", [ModelError("no reply within 120 s", retryable=True), asyncio.CancelledError()])
async def test_after_a_call_in_doubt_the_cost_is_unknown(doubt: BaseException) -> None:
    """Whatever was replied before it and after it; the tokens are those of the replies."""
    good = Reply('{"fine": true}', "end_turn", "claude-opus-5", Usage(1, 2, 0, 0), 0.5)
    given = Context(seed="j1", model=MODEL, asking=asking(good, doubt, good))
    await ask(given)
    assert spent(given) == (Usage(1, 2, 0, 0), 0.5)
    with pytest.raises((JudgeError, asyncio.CancelledError)):
        await ask(given)
    assert spent(given) == (Usage(1, 2, 0, 0), None)
    await ask(given)
    assert spent(given) == (Usage(2, 4, 0, 0), None)


async def test_without_a_key_nothing_is_sent_that_costs() -> None:
    """The judge has failed, and is free."""
    given = context()
    with pytest.raises(JudgeError, match="is not set"):
        await ask(given)
    assert given.cost_usd == 0.0


async def test_all_questions_of_one_judgment_are_added_up() -> None:
    """A judge may ask as often as it likes; one unknown price makes the sum unknown."""
    with serving(GOOD, GOOD, message('{"fine": false}', model="gpt-4o")) as service:
        given = context(service.env)
        for _ in range(2):
            await ask(given)
        assert given.usage == Usage(2000, 200, 0, 0)
        assert given.cost_usd == pytest.approx(2 * COST_USD)
        await ask(given)
        assert given.usage == Usage(3000, 300, 0, 0)
        assert given.cost_usd is None


def test_what_is_not_asked_costs_nothing() -> None:
    """A judge that is a program is free, and that is known."""
    assert (context().usage, context().cost_usd) == (None, 0.0)


async def test_a_judge_without_a_model_that_asks_is_told_what_it_lacks() -> None:
    """The message is for who writes the judge."""
    with pytest.raises(JudgeError, match="does not derive from ModelJudge"):
        await ask(Context(seed="j1"))


async def test_a_context_is_plain_data_that_works_in_any_process() -> None:
    """It can be pickled; random numbers and questions are the same on the other side."""
    with serving(GOOD) as service:
        given = context(service.env)
        copy = pickle.loads(pickle.dumps(given))  # noqa: S301 - our own
        assert await ask(copy) == {"fine": True}
    assert [copy.random.random() for _ in range(3)] == [given.random.random() for _ in range(3)]


def test_random_numbers_depend_on_the_judgment_alone() -> None:
    """They go on while they are drawn; another judgment gets others."""
    one, same, other = context(), context(), context(seed="j2")
    drawn = [one.random.random() for _ in range(3)]
    assert drawn == [same.random.random() for _ in range(3)]
    assert len(set(drawn)) == 3
    assert drawn != [other.random.random() for _ in range(3)]


def test_a_context_shows_no_key() -> None:
    """Its text may stand in a traceback."""
    assert "secret" not in repr(context({"ANTHROPIC_API_KEY": "secret"}))


TELLS = """
import json, os, pathlib, sys
found = {str(path): path.read_text() for path in sorted(pathlib.Path().rglob("*")) if path.is_file()}
print(json.dumps([found, sorted(os.environ), sys.stdin.read()]))
"""


async def test_a_program_works_in_a_folder_of_its_own_with_the_files_it_is_given(tmp_path: Path) -> None:
    """A copy of the workspace, and over it the files; the workspace itself is not touched, and no key is at hand."""
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "a.txt").write_text("theirs")
    (tmp_path / "b.txt").write_text("theirs")
    given = Context(seed="j1", env={"ANTHROPIC_API_KEY": "key"})
    ended = await given.run(
        [sys.executable, "-c", TELLS], stdin="in", files={"tests/a.txt": "ours", "c.txt": "ours"}, copy_of=tmp_path
    )
    found, names, said = json.loads(ended.stdout)
    assert found == {"tests/a.txt": "ours", "b.txt": "theirs", "c.txt": "ours"}
    assert set(names) - {"LC_CTYPE"} == {"PATH", "KEVAL_TASK"}
    assert said == "in"
    assert (tmp_path / "tests" / "a.txt").read_text() == "theirs"


async def test_each_program_has_another_folder_and_none_stays() -> None:
    """What one run of an answer's code leaves, the next does not find."""
    source = "import os; open('left', 'x'); print(os.getcwd())"
    folders = [(await Context(seed="j1").run([sys.executable, "-c", source])).stdout for _ in range(2)]
    assert folders[0] != folders[1]
    assert not any(Path(folder.decode().strip()).exists() for folder in folders)  # noqa: ASYNC240 - a test may wait


@pytest.mark.parametrize("name", ["../outside.txt", "/tmp/outside.txt", "link/outside.txt"])  # noqa: S108 - refused
async def test_no_file_is_written_outside_the_programs_folder(tmp_path: Path, name: str) -> None:
    """Neither by its name nor by a link that an agent has left in its workspace."""
    (tmp_path / "link").symlink_to("/tmp")  # noqa: S108 - refused
    with pytest.raises(ValueError, match="lies outside the program's folder"):
        await Context(seed="j1").run(["true"], files={name: "x"}, copy_of=tmp_path)


async def test_a_program_over_its_limit_is_no_error() -> None:
    """That an answer's code does not end may be just what the judge wants to know."""
    limits = Limits(output_bytes=1000, seconds=0.5)
    ended = await Context(seed="j1").run([sys.executable, "-c", "import time; time.sleep(600)"], limits=limits)
    assert ended.exceeded == "seconds"


async def test_a_program_that_is_not_there_is_a_judge_error() -> None:
    """It may be there the next time."""
    with pytest.raises(JudgeError, match="cannot start 'no-such-program'") as caught:
        await Context(seed="j1").run(["no-such-program"])
    assert caught.value.kind == "judge_error"
    assert caught.value.retryable
