"""Starts any program once per task: the question goes in, its answer comes out.

By default the program reads one JSON object from stdin, `{"question", "turns", "system_prompt",
"mcp_servers", "repetition", "workspace"}`, and writes its answer to stdout. It runs in the task's
empty workspace, in a session of its own, with no more of the environment than an allow-list and
`env`. When it ends, or the task does, everything that it started is ended too.

Exit status 0 is an answer; 75 (`EX_TEMPFAIL`) asks to be tried again later; 126 and 127 mean that what
was to run was not found or cannot run, which is no answer of the agent; any other is its failure, reported
with the end of stderr.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

import orjson

from keval.agents import Agent, AgentError, Answer, Prompt, Status
from keval.agents._json_output import JsonOutput, as_answer, json_path
from keval.agents._templates import fill
from keval.plugins import option
from keval.processes import local_files, program, temporary
from keval.processes.local_files import LocalFile
from keval.processes.program import ProgramError
from keval.secrets.excerpts import beginning_of, end_of

if TYPE_CHECKING:
    from keval.agents._adapter import Adapter
    from keval.agents._adapter_events import Events

PLACEHOLDERS = ("question", "system_prompt", "workspace", "folder", "repetition")
"""What an argument of the command may contain in braces."""

KNOWN_BEFORE = ("folder",)
"""The placeholders that are known before there is a task."""

NOT_STARTED = (126, 127)
"""The exit codes with which `env` and shells say that they cannot run a program, or cannot find it."""

STDERR_TAIL = 2000
"""How many of the last characters of stderr a failure quotes."""

STDOUT_HEAD = 200
"""How many of the first characters of stdout a failure quotes of which nothing else is known."""


@dataclass(frozen=True, kw_only=True)
class Command(Agent):
    """An agent that is a program."""

    open_files: ClassVar[int] = 3
    beyond_mock: ClassVar[str | None] = "program"

    command: tuple[str, ...] = field(
        default=(),
        metadata=option(
            "the program, in the path or relative to the config's folder, and its arguments; "
            "{question}, {system_prompt}, {repetition}, {workspace} and {folder} "
            "(the config's folder) are filled in, a literal brace is {{",
            is_template=True,
        ),
    )
    adapter: Path | None = field(
        default=None,
        metadata=option(
            "instead of command: how another agent is asked and read: codex, gemini, or a YAML file of yours",
            identity=False,
        ),
    )
    arguments: tuple[str, ...] = field(
        default=(), metadata=option("further arguments, where the adapter has a place", identity="if set")
    )
    input: Literal["json", "none"] = field(default="json", metadata=option("what the program reads from stdin"))
    answer_path: str | None = field(
        default=None, metadata=option("where the answer is in JSON on stdout, as $.result.text; default: all of stdout")
    )
    usage_path: str | None = field(
        default=None, metadata=option("where JSON on stdout has an object with input_tokens, output_tokens, …")
    )
    cost_path: str | None = field(default=None, metadata=option("where JSON on stdout has the cost in US dollars"))
    env: Mapping[str, str] = field(
        default_factory=dict, hash=False, metadata=option("additional environment variables")
    )
    model: str | None = field(default=None, metadata=option("the model that the program asks, for the record"))
    files: tuple[str, ...] = field(default=(), metadata=option(local_files.HELP, identity=False))
    max_output_bytes: int = field(
        default=10 * 1024 * 1024, metadata=option("the longest output that is read", identity=False)
    )

    def __post_init__(self) -> None:
        if self.max_output_bytes <= 0:
            raise ValueError("max_output_bytes: must be more than 0")
        if self.adapter is not None:
            self._check_adapter()
            return
        if not self.command:
            raise ValueError("command: names no program")
        if self.arguments:
            raise ValueError("arguments: go with adapter; without it they stand in command")
        for argument in self.command:
            fill(argument, dict.fromkeys(PLACEHOLDERS, ""))
        for path in (self.answer_path, self.usage_path, self.cost_path):
            if path is not None:
                json_path(path)
        if self.answer_path is None and (self.usage_path or self.cost_path):
            raise ValueError("usage_path and cost_path go with answer_path: without it stdout is not JSON")

    def _check_adapter(self) -> None:
        """Raise ValueError for an invalid adapter, and for options that it excludes."""
        own = ("command", "input", "answer_path", "usage_path", "cost_path")
        defaults = {each.name: each.default for each in fields(self)}
        for name in own:
            if getattr(self, name) != defaults[name]:
                raise ValueError(f"{name}: the adapter says that; leave it out")
        _ = self._adapted

    @cached_property
    def _adapted(self) -> Adapter | None:
        if self.adapter is None:
            return None
        from keval.agents import _adapter

        return _adapter.load(self.adapter)

    @property
    def takes_turns(self) -> bool:
        """Whether the program is told all messages, or goes on with a conversation."""
        return self.input == "json" if self._adapted is None else self._adapted.takes_turns

    @property
    def says_costs(self) -> bool:
        """Whether its output has what an answer cost; an adapter's may lack it. A model that is named has a price."""
        return self.cost_path is not None and self.model is None

    @property
    def reports_tool_calls(self) -> bool:
        """Plain output has no place for them."""
        return self._adapted is not None and self._adapted.reports_tool_calls

    @property
    def is_given_system_prompts(self) -> bool:
        """Whether it stands on stdin, or has a place in the command or adapter."""
        if self._adapted is not None:
            return self._adapted.names_system_prompt
        return self.input == "json" or any("{system_prompt}" in word for word in self.command)

    def missing(self, folder: Path, env: Mapping[str, str]) -> str | None:
        """Return why the program cannot be started, or which file of its command is not there."""
        named = self.command[0] if self._adapted is None else self._adapted.program
        name = _known_before(named, folder)
        problem = program.not_startable(name, folder, {**env, **self.env}) if name else None
        problem = problem or local_files.not_there(self.command[1:], folder)
        return problem or local_files.without_match(self.files, folder)

    def local_files(self, folder: Path) -> tuple[LocalFile, ...]:
        """Return the adapter, else the files that the command names before a task is known; and those of `files`."""
        return (*self._program_files(folder), *local_files.matching(self.files, folder))

    def _program_files(self, folder: Path) -> tuple[LocalFile, ...]:
        if self._adapted is None:
            return local_files.named_by([_known_before(argument, folder) for argument in self.command], folder)
        (found,) = local_files.named_by(["", str(self._adapted.path)], folder)
        # Its path would say where keval is installed.
        return (replace(found, name=self._adapted.path.name) if self._adapted.is_shipped else found,)

    def files_elsewhere(self, folder: Path) -> tuple[str, ...]:
        """Return the arguments that are relative paths of files beside the config: the program runs elsewhere.

        A name with neither a slash nor an ending may mean anything.
        """
        arguments = [] if self._adapted is not None else self.command[1:]
        paths = [each for each in arguments if not Path(each).is_absolute() and ("/" in each or Path(each).suffix)]
        return tuple(path for path in paths if local_files.named_by(["", path], folder))

    async def answer(self, prompt: Prompt) -> Answer:
        """Run the program once.

        Cancelling the call ends every process that it started. Raises AgentError.
        """
        limits = program.Limits(self.max_output_bytes, self._adapted.timeout_s if self._adapted else None)
        run = _Run(prompt, limits)
        try:
            if self._adapted is not None:
                return replace(await self._adapted_answer(self._adapted, run), orphaned_processes=run.orphans)
            values = {name: getattr(prompt, name) for name in PLACEHOLDERS}
            words = [fill(argument, values) for argument in self.command]
            ended = await run.program(words, {**prompt.env, **self.env}, self._input(prompt))
            return replace(self._read_answer(ended), orphaned_processes=run.orphans)
        except ProgramError as error:
            # Who was not asked has not answered badly, be it that a text is too long for an argument.
            partial = replace(run.so_far, orphaned_processes=run.orphans)
            raise AgentError("infra_error", error.message, retryable=error.of_machine, partial=partial) from error
        except AgentError as error:
            error.partial = replace(run.so_far, orphaned_processes=run.orphans)
            raise

    async def _adapted_answer(self, adapter: Adapter, run: _Run) -> Answer:
        """Ask all messages in one session; stops at the first that is not answered. Raises AgentError."""
        from keval.agents._adapter_events import Events

        prompt, events = run.prompt, Events(adapter.written, tuple(run.prompt.mcp_servers))
        status: Status = "answered"
        with temporary.folder() as private:
            values = {name: getattr(prompt, name) for name in PLACEHOLDERS} | {"model": self.model}
            values |= {"private": private, "session": None}
            adapter.write_files(prompt, values)
            for number, message in enumerate(prompt.turns):
                values |= {"question": message, "session": events.session}
                if number and events.session is None:
                    raise AgentError("agent_error", "it named no session to go on with")
                env = {**prompt.env, **adapter.env(values), **self.env}
                ended = await run.program(adapter.command(values, self.arguments), env, adapter.stdin(values))
                status = self._read_events(adapter, events, ended, run)
                if status != "answered":
                    break
        return events.answer(status)

    def _read_events(self, adapter: Adapter, events: Events, ended: program.Ended, run: _Run) -> Status:
        """Take in what one run of the program has said, and return how it ended. Raises AgentError for a failure."""
        if ended.exceeded == "output_bytes":
            raise AgentError("agent_error", f"wrote more than max_output_bytes ({self.max_output_bytes})")
        meaning = adapter.written.get("exit_codes", {}).get(str(ended.exit_status))
        try:
            events.read(ended.stdout)
        except AgentError:
            if not ended.exit_status:
                raise
        run.so_far = events.answer("empty")
        if ended.exceeded == "seconds":
            raise AgentError("timeout", f"no answer to a message in {adapter.timeout_s:g} s, the adapter's timeout_s")
        if meaning == "limit":
            return "limit"
        if meaning == "temporary":
            raise _failure(program.TEMPORARY_FAILURE, ended.stderr)
        _check_ended_well(adapter, events, ended)
        return events.answer().status

    def _input(self, prompt: Prompt) -> bytes:
        if self.input == "none":
            return b""
        return orjson.dumps(
            {
                "question": prompt.question,
                "turns": list(prompt.turns),
                "system_prompt": prompt.system_prompt,
                "mcp_servers": {name: dict(server) for name, server in prompt.mcp_servers.items()},
                "repetition": prompt.repetition,
                "workspace": str(prompt.workspace),
            }
        )

    def _read_answer(self, ended: program.Ended) -> Answer:
        if ended.exceeded is not None:
            raise AgentError("agent_error", f"wrote more than max_output_bytes ({self.max_output_bytes})")
        if ended.exit_status:
            raise _failure(ended.exit_status, ended.stderr)
        try:
            text = ended.stdout.decode()
        except UnicodeDecodeError as error:
            raise AgentError("agent_error", f"stdout is not UTF-8: byte {error.start}: {error.reason}") from error
        if self.answer_path is None:
            return as_answer(re.sub(r"\r?\n\Z", "", text))
        return JsonOutput.read(text, "stdout").answer(self.answer_path, self.usage_path, self.cost_path)


@dataclass
class _Run:
    """The runs of the program for one task, and what is known of them."""

    prompt: Prompt
    limits: program.Limits
    orphans: tuple[str, ...] = ()
    so_far: Answer = field(default_factory=lambda: Answer("empty", ""))

    async def program(self, command: Sequence[str], env: Mapping[str, str], stdin: bytes) -> program.Ended:
        """Run the program once. Raises ProgramError."""
        return await program.run(
            command,
            folder=self.prompt.workspace,
            relative_to=self.prompt.folder,
            env=env,
            limits=self.limits,
            stdin=stdin,
            on_output=lambda: self.prompt.heartbeat(self.so_far),
            on_end=self._take_note,
        )

    def _take_note(self, names: tuple[str, ...]) -> None:
        self.orphans += names
        # Whoever cancels the task is told, too.
        self.prompt.heartbeat(replace(self.so_far, orphaned_processes=self.orphans))


def _known_before(argument: str, folder: Path) -> str:
    """Return an argument as it is in every task; an empty one if it depends on the task."""
    try:
        return fill(argument, dict.fromkeys(KNOWN_BEFORE, folder))
    except ValueError:
        return ""


def _check_ended_well(adapter: Adapter, events: Events, ended: program.Ended) -> None:
    """Raise AgentError for a run that failed, by what it says or its exit status, or that nobody understands."""
    if events.failure is not None:
        told = f"it says that it failed: {events.failure}"
        if events.has_begun and not adapter.blames_service(events.failure):
            raise AgentError("agent_error", told)
        raise AgentError("infra_error", told, retryable=True)  # its service may be there again
    if ended.exit_status:
        raise _failure(ended.exit_status, ended.stderr, has_begun=events.has_begun)
    if not events.is_understood:
        begins = beginning_of(ended.stdout.decode(errors="replace").strip(), STDOUT_HEAD)
        told = f"nothing that it wrote is what the adapter {adapter.written['name']} reads"
        raise AgentError("infra_error", f"{told}; stdout {f'begins: {begins}' if begins else 'is empty'}")


def _failure(exit_status: int, stderr: bytes, *, has_begun: bool = True) -> AgentError:
    """Return the error for a program that did not exit with 0; a negative status is a signal's number.

    One that ended before it has begun, such as for a wrong key or a server that did not start, has asked nobody.
    """
    how = program.how_ended(exit_status)
    tail = end_of(stderr.decode(errors="replace").strip(), STDERR_TAIL)
    message = f"{how}; stderr ends: {tail}" if tail else f"{how}, nothing on stderr"
    if exit_status == program.TEMPORARY_FAILURE:
        return AgentError("infra_error", message, retryable=True)
    if exit_status in NOT_STARTED:
        return AgentError("infra_error", f"the program, or what starts it, was not found or cannot run: {message}")
    return AgentError("agent_error" if has_begun else "infra_error", message)
