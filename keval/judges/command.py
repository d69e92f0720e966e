"""Lets a program of yours judge: a JSON object goes in, a JSON object with its verdict comes out.

On stdin it gets `{"question", "answer", "response", "turns", "sources", "metadata", "workspace"}`: `answer` is the
golden answer, `response` the agent's. On stdout it writes `{"pass": true}`, and if it likes `score`, `reasoning` and
`outcome`, an object of anything. It runs in an empty folder that is gone afterwards, and has no key.

Exit status 0 is a verdict. 75 (`EX_TEMPFAIL`) asks to be tried again later. Any other status, a timeout and
output that does not fit the protocol are a `judge_error`; the response stays as it is.
"""

from __future__ import annotations

import codecs
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

import orjson

from keval.documents import strict_json
from keval.errors import EnvironmentLacksError, UsageError
from keval.judges import Case, Context, JudgeError, Judgment
from keval.judges._own_code import OUTPUT_BYTES, OwnCodeJudge, given
from keval.plugins import option
from keval.processes import environment, local_files, program
from keval.secrets.excerpts import beginning_of, end_of

EXCERPT = 1000
"""Characters of stdout or stderr that go into a failure."""

FOLDER = "{folder}"


@dataclass(frozen=True, kw_only=True)
class Command(OwnCodeJudge):
    """One metric, `score`, which the program gives."""

    deterministic: ClassVar[bool] = False

    command: tuple[str, ...] = field(
        metadata=option(
            "the program, in the path or relative to the config's folder, and its arguments; in them {folder} is the "
            "config's folder",
            example=["python", "-I", "-S", "-c", "print('{\"pass\": true}')"],
        )
    )
    _folder: Path = field(default=Path(), repr=False)

    def __post_init__(self) -> None:
        """Raise UsageError with all that is wrong with the options."""
        if not self.command:
            raise UsageError("command: names no program")
        super().__post_init__()

    def placed(self, folder: Path) -> Self:
        """Return the judge with its program looked for in a folder."""
        return replace(self, _folder=folder)

    def texts(self) -> Mapping[str, Any]:
        """Return the hashes of the files that the command names: an edited one makes another judge."""
        return {"files": list(self._files)} if self._files else {}

    @cached_property
    def _files(self) -> Sequence[str]:
        return [file.sha256 for file in local_files.named_by(self._filled, self._folder.absolute())]

    @property
    def _filled(self) -> list[str]:
        return [word.replace(FOLDER, str(self._folder.absolute())) for word in self.command]

    def missing(self) -> None:
        """Raise EnvironmentLacksError for a program that cannot be started, or a file that is not there."""
        folder = self._folder.absolute()
        problem = program.not_startable(self._filled[0], folder, environment.allowed({}))
        problem = problem or local_files.not_there(self.command[1:], folder)
        if problem is not None:
            raise EnvironmentLacksError(problem)

    async def judge(self, case: Case, context: Context) -> Judgment:
        """Run the program once."""
        name, *arguments = self._filled
        ended = await context.run(
            [program.located(name, self._folder, context.program_env), *arguments],
            stdin=orjson.dumps(given(case)).decode(),
            limits=program.Limits(output_bytes=OUTPUT_BYTES, seconds=self.timeout_s),
        )
        return self.read(_said(ended))


def _said(ended: program.Ended) -> object:
    """Return the JSON value that a program has written. Raises JudgeError."""
    if ended.exceeded is not None:
        limit = "took longer than timeout_s" if ended.exceeded == "seconds" else f"wrote more than {OUTPUT_BYTES} bytes"
        raise JudgeError("judge_error", f"the program {limit}")
    if ended.exit_status:
        tail = end_of(ended.stderr.decode(errors="replace").strip(), EXCERPT)
        message = f"the program failed: {ended.how}; {f'stderr ends: {tail}' if tail else 'nothing on stderr'}"
        raise JudgeError("judge_error", message, retryable=ended.exit_status == program.TEMPORARY_FAILURE)
    if not ended.stdout.strip():
        raise JudgeError("judge_error", "the program wrote nothing to stdout")
    try:
        return strict_json.parse(ended.stdout.strip().removeprefix(codecs.BOM_UTF8))
    except strict_json.NotStrictError as error:
        written = repr(beginning_of(ended.stdout.decode(errors="replace"), EXCERPT))
        raise JudgeError(
            "judge_error", f"the program's output is not one JSON object: {error}; it is {written}"
        ) from error
