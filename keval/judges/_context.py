"""What a judge works with beside the case: a model, programs under limits, and random numbers.

All that costs or fails outside the judge is here, once: keys, the HTTP call, prices, the second question after an
unusable reply, which errors may pass, processes that have to be ended. A context is made from plain data, so that a
judge can work in any process.
"""

from __future__ import annotations

import asyncio
import random
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from string import Template
from typing import Any

from keval.errors import EnvironmentLacksError
from keval.judges._judgment import JudgeError
from keval.judges._model_replies import UnusableReplyError, read
from keval.models import messages_api
from keval.models import prices as model_prices
from keval.models.messages_api import Asking, Model, ModelError, Reply
from keval.models.prices import Prices
from keval.processes import environment, program, temporary
from keval.secrets.excerpts import beginning_of
from keval.usage import Usage

ASK_AGAIN = """\
Your reply cannot be used: $problem.
Give the whole JSON object again, and nothing else."""
"""What the model is told of a reply that cannot be used."""

REPLIES = 2
"""How often a reply is asked for: once, and once more when it cannot be used."""

EXCERPT = 200
"""Characters of a reply that an error message quotes."""

PROGRAM_LIMITS = program.Limits(output_bytes=1024 * 1024, seconds=60)
"""What a judge's program may use unless the judge says otherwise."""


@dataclass(slots=True)
class _Calls:
    """What became of the calls of a model; one that is neither replied to nor free is in doubt."""

    asked: int = 0
    free: int = 0
    """How many were refused or never sent."""
    replies: list[Reply] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class Context:
    """What one judge may use for one judgment, and what that has cost so far."""

    seed: str
    """The judgment's id: the same judgment gets the same random numbers, in any process."""
    model: Model | None = None
    """The judge's model, None for a judge that is a program."""
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The Messages API's address and the judge's key, as environment variables."""
    prices: Prices = field(default_factory=model_prices.load, repr=False)
    """What tokens cost: the shipped prices, and those of the config in place of theirs."""
    program_env: Mapping[str, str] = field(default_factory=lambda: environment.allowed({}), repr=False)
    """The whole environment of the judge's programs; no key is in it."""
    asking: Asking | None = field(default=None, repr=False)
    """What asks the models; by default each call is sent at once."""
    _calls: _Calls = field(default_factory=_Calls, init=False, repr=False)

    @cached_property
    def random(self) -> random.Random:
        """Random numbers that depend on the judgment alone."""
        return random.Random(self.seed)  # noqa: S311 - to be repeated, not to be kept secret

    @property
    def usage(self) -> Usage | None:
        """The tokens of all replies, None without a reply; see `messages_api.total`."""
        return messages_api.total(self._calls.replies)[0] if self._calls.replies else None

    @property
    def cost_usd(self) -> float | None:
        """What all calls cost, 0 without one that is paid for, None when it is not known, as after a call in doubt."""
        calls = self._calls
        if calls.asked > calls.free + len(calls.replies):
            return None
        return messages_api.total(calls.replies)[1] if calls.replies else 0.0

    @property
    def has_asked(self) -> bool:
        """Whether a model was asked, whatever became of the call."""
        return self._calls.asked > 0

    async def ask(
        self,
        *,
        system: str,
        user: str,
        schema: Mapping[str, Any],
        ask_again: str = ASK_AGAIN,
        model: Model | None = None,
    ) -> Any:  # noqa: ANN401 - whatever the schema asks for
        """Ask the judge's model, or another `model`, and return the JSON value that it replied, which fits `schema`.

        A reply that cannot be used is asked for once more; `ask_again` is the message for that, with `$problem`
        in it. Raises JudgeError: `judge_invalid` after two unusable replies, `judge_error` without a reply.
        """
        messages = [{"role": "user", "content": user}]
        problem, said = "", ""
        for _ in range(REPLIES):
            reply = await self._reply(model or self.model, system, messages, schema)
            try:
                return read(reply, schema)
            except UnusableReplyError as error:
                problem, said = str(error), reply.text
                messages += _asked_again(said, Template(ask_again).substitute(problem=problem))
        quoted = repr(beginning_of(said, EXCERPT))
        raise JudgeError("judge_invalid", f"no usable reply in {REPLIES}: {problem}; it said {quoted}")

    async def _reply(
        self, model: Model | None, system: str, messages: Sequence[Mapping[str, str]], schema: Mapping[str, Any]
    ) -> messages_api.Reply:
        if model is None:
            raise JudgeError("judge_error", "this judge has no model to ask: its class does not derive from ModelJudge")
        self._calls.asked += 1
        try:
            asked = model.ask if self.asking is None else partial(self.asking, model)
            reply = await asked(self.env, system=system, messages=messages, schema=schema)
        except ModelError as error:
            self._calls.free += error.is_free
            raise JudgeError(
                "judge_error",
                error.message,
                retryable=error.retryable,
                retry_after_s=error.retry_after_s,
                overloaded=error.overloaded,
            ) from error
        reply = messages_api.at_own_price(reply, model.name, self.prices)
        self._calls.replies.append(reply)
        return reply

    async def run(
        self,
        command: Sequence[str],
        *,
        stdin: str = "",
        files: Mapping[str, str] | None = None,
        copy_of: Path | None = None,
        limits: program.Limits = PROGRAM_LIMITS,
    ) -> program.Ended:
        """Run a program in a folder of its own, which is gone afterwards, and return what became of it.

        The folder holds `files` (text by name), and before them a copy of `copy_of`, such as the case's workspace.
        A program that fails or exceeds a limit does not raise an error: that may be just what the judge wants to know.
        Raises JudgeError when it cannot be started.
        """
        try:
            with temporary.folder() as folder:
                await asyncio.to_thread(_fill, folder, files or {}, copy_of)
                return await program.run(
                    command, folder=folder, env=self.program_env, limits=limits, stdin=stdin.encode(errors="replace")
                )
        except program.ProgramError as error:
            raise JudgeError("judge_error", error.message, retryable=error.of_machine) from error
        except EnvironmentLacksError as error:
            raise JudgeError("judge_error", str(error), retryable=True) from error


def _asked_again(said: str, question: str) -> list[dict[str, str]]:
    # The service refuses a turn without text. Thinking is left out: it cannot be sent back when cut off.
    return [
        {"role": "assistant", "content": said if said.strip() else "(no text)"},
        {"role": "user", "content": question},
    ]


def _fill(folder: Path, files: Mapping[str, str], copy_of: Path | None) -> None:
    if copy_of is not None:
        shutil.copytree(copy_of, folder, symlinks=True, dirs_exist_ok=True)
    for name, text in files.items():
        path = folder / name
        # A link that an agent has left in its workspace must lead nobody out of the folder.
        if not path.resolve().is_relative_to(folder.resolve()):
            raise ValueError(f"the file {name!r} lies outside the program's folder")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", errors="replace")
