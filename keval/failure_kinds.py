"""The kinds of failure, in one table: what failed, whose fault it is, and what it counts as.

Schemas, views, statistics, warnings and docs take the kinds from here. A new kind is a row of `FAILURE_KINDS`, its
word in the type below that its stage raises, and `make docs`.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

AgentFailureKind = Literal[
    "timeout", "agent_error", "infra_error", "mcp_not_ready", "mcp_failed", "mcp_unused", "mcp_all_failed"
]
"""How a task can fail; `timeout` and the gates `mcp_unused` and `mcp_all_failed` are found by the runner."""

JudgeFailureKind = Literal["judge_error", "judge_invalid", "code_refused"]
"""How judging a response can fail."""

BudgetFailureKind = Literal["budget"]
"""What ends an item of any stage that the budget does not allow to be tried again."""

Stage = Literal["generate", "judge"]
Fault = Literal["agent", "machine", "server", "gate", "judge", "budget", "code"]
CountsAs = Literal["minimum", "missing"]
"""What a failed task is in the headline mean: the worst score of the scale, or left out and counted beside it."""

Retried = Literal["yes", "no", "if temporary", "with retry_gates"]
"""Whether such an attempt is tried again; `if temporary` is decided by the error itself."""


class FailureKind(NamedTuple):
    """One kind of failure."""

    kind: AgentFailureKind | JudgeFailureKind | BudgetFailureKind
    stages: tuple[Stage, ...]
    """The stages whose items can fail so."""
    fault: Fault
    counts_as: CountsAs
    retried: Retried
    happened: str
    """What happened, for people."""
    next_step: str
    """What to do about it, for people."""


GENERATE: tuple[Stage, ...] = ("generate",)
JUDGE: tuple[Stage, ...] = ("judge",)

FAILURE_KINDS = (
    FailureKind(
        "timeout", GENERATE, "agent", "minimum", "no",
        "no answer within `timeout_s`, or no heartbeat within `idle_timeout_s`",
        "raise the limit in `execution` if the agent needs longer",
    ),
    FailureKind(
        "agent_error", GENERATE, "agent", "minimum", "if temporary",
        "the agent crashed, or answered with an error",
        "read the failure's message: it is the agent's own",
    ),
    FailureKind(
        "infra_error", GENERATE, "machine", "missing", "if temporary",
        "rate limit, overload or network, a key, model or address that was refused, or the machine had no more files, "
        "memory or space",
        "mend what the failure's message names, or run the same command again later with a lower `max_concurrent`",
    ),
    FailureKind(
        "mcp_not_ready", GENERATE, "server", "missing", "if temporary",
        "a server of the condition never connected or offered no tools",
        "`keval check CONFIG` connects to each server and says what is wrong",
    ),
    FailureKind(
        "mcp_failed", GENERATE, "server", "minimum", "yes",
        "a server of the condition went away in the middle of the task",
        "look into the server's own log",
    ),
    FailureKind(
        "mcp_unused", GENERATE, "gate", "minimum", "with retry_gates",
        "the gate `require_mcp_tool_use` was not met",
        "read the answer's turns; say in the system prompt when to use the tools",
    ),
    FailureKind(
        "mcp_all_failed", GENERATE, "gate", "minimum", "with retry_gates",
        "the gate `require_mcp_tool_success` was not met",
        "read the tools' results in the failure's turns",
    ),
    FailureKind(
        "budget", ("generate", "judge"), "budget", "missing", "no",
        "an attempt failed, and the budget did not allow another (what was not begun at all is «not done»)",
        "run the same command again: its budget is its own",
    ),
    FailureKind(
        "judge_error", JUDGE, "judge", "missing", "if temporary",
        "the judge could not be reached or broke",
        "`keval judge LOG` judges again what failed; a judge that was added with `-j` needs it again",
    ),
    FailureKind(
        "judge_invalid", JUDGE, "judge", "missing", "no",
        "the judge's reply could not be read or was out of scale, twice",
        "as after `judge_error`; if it stays so, change the rubric or the model",
    ),
    FailureKind(
        "code_refused", JUDGE, "code", "missing", "no",
        "a judge may not run the answer's code",
        "say `allow_code_execution: true` in the judge's config if it may, and judge again",
    ),
)  # fmt: skip
"""All kinds of failure, in the order in which people read of them."""

NAMES = tuple(row.kind for row in FAILURE_KINDS)

GATES = tuple(row.kind for row in FAILURE_KINDS if row.fault == "gate")
"""Failures by which a condition refuses an answer: to ask again until one passes would be a bias."""


AGENT_FAILED = tuple(row.kind for row in FAILURE_KINDS if row.counts_as == "minimum")
"""Failures that are the agent's: they say something of it, and count as the minimum of the scale."""


def view_rows() -> list[tuple[str, ...]]:
    """Return the table as the view `failure_kinds` has it: a row per kind and stage, with one text for each column."""
    return [
        (row.kind, stage, row.fault, row.counts_as, row.retried, row.happened, row.next_step)
        for row in FAILURE_KINDS
        for stage in row.stages
    ]
