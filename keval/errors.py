"""Everything that keval raises on purpose, and the exit code that each becomes.

    KevalError                      exit
    ├── UsageError                  2   the command line or the config asks for something impossible
    ├── InputError                  3   a file or stream is not what it says it is
    ├── EnvironmentLacksError       4   a key, server or program is missing
    ├── PluginError                 5   an agent, judge, export or function exists and cannot be used
    ├── BudgetReachedError          6   the money is spent; the same command resumes
    ├── ReaderGoneError             0   whoever read our stdout has left (`| head`)
    └── InterruptError            130   Ctrl-C; what was written is whole

These are errors about the run. An error about one item is an `ItemError`: an `AgentError` or a
`JudgeError` (beside the agents and judges). It becomes a `failure` event and the run goes on.
Only `cli.py` prints an error and ends the process. What does not end it is told to a `Warn`.
"""

from __future__ import annotations

from collections.abc import Callable

Warn = Callable[[str], None]
"""Is told what people should know of a command that goes on all the same."""

EXIT_CODES: dict[int, str] = {
    0: "done",
    1: "done, but items failed or a gate was not met",
    2: "usage: the command line or the config asks for something impossible",
    3: "input is not what it says it is, cannot be read or is not there",
    4: "something is missing in the environment (key, server, program)",
    5: "a plug-in, or a function that a config names, is broken",
    6: "budget reached (the same command resumes)",
    7: "a gate cannot tell: an interval includes the limit, or too much is missing",
    70: "a bug (traceback, where to report)",
    130: "interrupted",
}
"""What each exit code of the command means; the docs are generated from here."""


class KevalError(Exception):
    r"""Base of all errors about the run; each problem is a line with coordinates and the next step.

    A line break inside a problem came from outside and is shown as `\n`: nobody forges a line.
    """

    exit_code = 70

    def __init__(self, *problems: str) -> None:
        super().__init__(*problems)
        self.problems = problems

    def __str__(self) -> str:
        return "\n".join(self.problems)


class UsageError(KevalError):
    """The command line or the config asks for something impossible."""

    exit_code = 2


class InputError(KevalError):
    """A file or stream is not what it says it is."""

    exit_code = 3


class EnvironmentLacksError(KevalError):
    """A key, a server or a program is missing."""

    exit_code = 4


class PluginError(KevalError):
    """A plug-in, or a function of the user's, exists and cannot be used; the message names file and cause."""

    exit_code = 5


class BudgetReachedError(KevalError):
    """The money that the config allows is spent; the same command resumes."""

    exit_code = 6


class ReaderGoneError(KevalError):
    """Whoever read our stdout has left; what was written so far is whole."""

    exit_code = 0


class InterruptError(KevalError):
    """The user asked to stop; what was in flight is finished or left for the next call."""

    exit_code = 130


class ItemError(Exception):
    """One item could not be done: what becomes a `failure` event.

    `kind` is the event's `kind`; `retryable` says whether another attempt is worth it,
    `retry_after_s` what the service asked to wait, `overloaded` that it asked for fewer calls at once.
    """

    def __init__(
        self,
        kind: str,
        message: str,
        *,
        retryable: bool = False,
        retry_after_s: float | None = None,
        overloaded: bool = False,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.retryable = retryable
        self.retry_after_s = retry_after_s
        self.overloaded = overloaded
