"""Looks before anything is paid whether this machine can do what a config asks: files, keys, programs."""

from __future__ import annotations

from keval import schema
from keval.config.model import Config
from keval.errors import EnvironmentLacksError, PluginError, UsageError
from keval.preparation.keys import check_keys, judge_services, services
from keval.preparation.prepared import Prepared
from keval.processes import machine, temporary, tree


def set_up(prepared: Prepared, at_once: int | None = None) -> None:
    """Make this process ready to start agents, and the machine free of what killed commands left in folders.

    `at_once` is how many tasks run in this process, by default as many as the config allows. Raises UsageError when
    these do not fit into the limit of open files, a gate means nothing, or a command names a file that its program
    cannot find, and EnvironmentLacksError for what the agent cannot work without.
    """
    check_fits(prepared, at_once)
    check_program(prepared)
    check_files(prepared)
    check_tool_gates(prepared)
    schema.load_events()  # later there may be no file to read them with
    temporary.remove_abandoned()
    tree.adopt_orphans()


def check_fits(prepared: Prepared, at_once: int | None = None) -> None:
    """Raise UsageError when so many tasks at once do not fit into the limit of open files."""
    most = prepared.config.execution.max_concurrent if at_once is None else at_once
    machine.check_fits(most, _open_files(prepared.config))


def _open_files(config: Config) -> int:
    """Return how many open files a task and its judgment need at most."""
    agent = config.agent.agent
    # A task's folder is held open, too, and so is that of one which waits for another attempt.
    folders = 2 if agent.uses_workspace else 0
    judges = 2 if any(judge.judge.uses_models for judge in config.judges) else 0
    return agent.open_files + folders + judges


def check_tool_gates(prepared: Prepared) -> None:
    """Raise UsageError for a gate on tool calls where the agent does not report any: no answer could pass it."""
    agent = prepared.config.agent
    gated = [
        each.name
        for each in prepared.config.conditions
        if each.gates.require_mcp_tool_use or each.gates.require_mcp_tool_success
    ]
    if gated and not agent.agent.reports_tool_calls:
        raise UsageError(
            f"{prepared.config.path}: agent {agent.name!r} does not report its tool calls, so a gate on them means "
            f"nothing; remove require_mcp_tool_use and require_mcp_tool_success from: {', '.join(gated)}"
        )


def check_program(prepared: Prepared) -> None:
    """Raise EnvironmentLacksError for a missing key, and for a program or file of the agent that is not there.

    Raises PluginError for a function that cannot be called.
    """
    agent, folder = prepared.config.agent, prepared.config.path.parent
    try:
        missing = agent.agent.missing(folder, prepared.agent_env)
    except PluginError as error:
        raise PluginError(f"agent {agent.name!r}: {error}; nothing was asked") from error
    if missing is not None:
        raise EnvironmentLacksError(f"agent {agent.name!r}: {missing}; nothing was asked")


def check_files(prepared: Prepared) -> None:
    """Raise UsageError for files beside the config that the agent's program would look for where they are not."""
    agent = prepared.config.agent
    if agent.workspace.template is not None:  # it may have files of these names
        return
    elsewhere = agent.agent.files_elsewhere(prepared.config.path.parent)
    if elsewhere:
        right = ", ".join(f"{{folder}}/{name.removeprefix('./')}" for name in elsewhere)
        raise UsageError(
            f"agent {agent.name!r}: its program runs in an empty folder, where {', '.join(elsewhere)} is not; write "
            f"{right} for what stands beside the config; nothing was asked"
        )


async def check_agent_keys(prepared: Prepared) -> None:
    """Check the keys of the agent. Raises EnvironmentLacksError."""
    agent = prepared.config.agent.agent
    if agent.uses_models and agent.secret_names:
        await check_keys(prepared.agent_env, services(agent))


async def check_judge_keys(prepared: Prepared) -> None:
    """Check the keys of the config's judges. Raises EnvironmentLacksError."""
    await check_keys(prepared.judge_env, judge_services(prepared.config.judges))
