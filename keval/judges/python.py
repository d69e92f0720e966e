"""Lets a Python function of yours judge: it gets a dict and returns a bool, a number or a dict.

The dict has `question`, `answer` (the golden one), `response` (the agent's), `turns`, `sources`, `metadata` and
`workspace`. What is returned says whether the answer passes, or its score, or both, as in `{"pass": True, "score": 0.8,
"reasoning": "…", "outcome": {…}}`. The function may be async. It runs inside keval; a plain function runs in a thread.

What it raises is a `judge_error` that names the line, and the response stays as it is.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

import orjson

from keval.errors import EnvironmentLacksError, PluginError, UsageError
from keval.judges import Case, Context, JudgeError, Judgment
from keval.judges._own_code import OUTPUT_BYTES, OwnCodeJudge, given
from keval.plugins import option
from keval.processes import coroutines, functions
from keval.processes.local_files import sha256_of


@dataclass(frozen=True, kw_only=True)
class Python(OwnCodeJudge):
    """One metric, `score`, which the function gives."""

    deterministic: ClassVar[bool] = False

    function: str = field(
        metadata=option(
            "`file.py:function`, from the config's folder, or `module:function`, which may lie there, too",
            example="operator:truth",
        )
    )
    _folder: Path = field(default=Path(), repr=False)

    def __post_init__(self) -> None:
        """Raise UsageError with all that is wrong with the options."""
        try:
            functions.check_form(self.function)
        except ValueError as error:
            raise UsageError(f"function: {error}") from error
        super().__post_init__()

    def placed(self, folder: Path) -> Self:
        """Return the judge with its function looked for in a folder."""
        return replace(self, _folder=folder)

    def texts(self) -> Mapping[str, Any]:
        """Return the hash of the function's file: an edited one makes another judge.

        Raises EnvironmentLacksError for a file that is not there, and UsageError for a module that has none.
        """
        return {"file": self._file_sha256}

    @cached_property
    def _file_sha256(self) -> str:
        path = functions.source(self.function, self._folder)
        if path is None:
            raise UsageError("function: its module has no file, so nobody could tell an edited one")
        try:
            return sha256_of(path)
        except OSError as error:
            raise EnvironmentLacksError(f"function: there is no file {path}") from error

    def missing(self) -> None:
        """Raise EnvironmentLacksError for a function that is not there, PluginError for one that cannot be called."""
        functions.check(self.function, self._folder, ["the case"])

    async def judge(self, case: Case, context: Context) -> Judgment:  # noqa: ARG002 - it asks no model
        """Call the function once."""
        try:
            function = functions.load(self.function, self._folder)
        except (EnvironmentLacksError, PluginError) as error:  # it was there when the command began
            raise JudgeError("judge_error", str(error)) from error
        # A copy: what the function does to it concerns nobody else.
        call = functions.called(function, orjson.loads(orjson.dumps(given(case))))
        limit, began_s = asyncio.timeout(self.timeout_s), time.monotonic()
        try:
            with functions.printing_to_stderr():
                async with limit:
                    returned = await call
        except Exception as error:  # the user's code: whatever it raises is about this response only
            if isinstance(error, TimeoutError) and limit.expired():
                is_held_up = functions.is_async(function) and coroutines.stood_still(began_s)
                told = (
                    functions.blocked(self.function)
                    if is_held_up
                    else f"{self.function} took longer than timeout_s, {self.timeout_s:g} s"
                )
            else:
                told = f"{self.function}: {functions.told(error)}"
            raise JudgeError("judge_error", told) from error
        return self._judgment(returned)

    def _judgment(self, returned: object) -> Judgment:
        if not isinstance(returned, Mapping):
            returned = _of_python(returned)
        if isinstance(returned, bool):
            return self.scored(self.max if returned else self.min, passed=returned)
        if isinstance(returned, int | float):
            return self.scored(_plain(returned), passed=None)
        if isinstance(returned, Mapping):
            score = returned.get("score")
            if isinstance(score, float) and not math.isfinite(score):  # of which JSON would make null
                return self.scored(float(score), passed=None)
            try:
                said = orjson.dumps(returned, default=_in_json)
            except TypeError as error:
                raise JudgeError(
                    "judge_error", f"{self.function} returned a value that JSON cannot hold: {error}"
                ) from error
            if len(said) > OUTPUT_BYTES:
                raise JudgeError("judge_error", f"{self.function} returned more than {OUTPUT_BYTES} bytes")
            return self.read(orjson.loads(said))
        kind = type(returned).__name__
        raise JudgeError("judge_error", f"{self.function} returned {kind}; expected a bool, a number or a dict")


def _of_python(value: object) -> object:
    """Return a number or truth of numpy or torch, which is of a class of theirs, as Python's own; all else as it is."""
    item = getattr(value, "item", None)
    return item() if callable(item) and getattr(value, "shape", None) == () else value


def _in_json(value: object) -> bool | float:
    """Return a number or truth as JSON holds it. Raises TypeError for what is neither."""
    value = _of_python(value)
    return value if isinstance(value, bool) else _plain(value)


def _plain(value: object) -> float:
    """Return a number of a subclass as one of Python's own. Raises TypeError for what is no number."""
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value)
    raise TypeError(f"type is not JSON serializable: {type(value).__name__}")
