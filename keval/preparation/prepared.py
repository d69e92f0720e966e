"""Reads what a config names, and looks before anything is paid whether a run can work: files, keys, programs."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from keval import datasets
from keval.config.model import Config
from keval.documents.json_objects import JsonObjects
from keval.errors import EnvironmentLacksError, InputError, UsageError, Warn
from keval.preparation.agent_doubts import agent_doubts
from keval.preparation.gate_check import check_gate_rules
from keval.preparation.keys import agent_env, judge_env, judge_keys
from keval.preparation.plan_events import plan_id
from keval.preparation.tasks import question_id, turns
from keval.processes import tree
from keval.processes.local_files import found_by
from keval.secrets import checks

if TYPE_CHECKING:
    from keval.datasets import Samples
    from keval.ids import JsonObject
    from keval.processes.servers import ServerInfo


@dataclass(frozen=True)
class Prepared:
    """A config with everything that it names read and found."""

    config: Config
    datasets: tuple[Samples, ...]
    """None of them until they are read (`with_samples`)."""
    samples: Sequence[JsonObject]
    """The samples of this run: all of the datasets, or the first ones of each with --limit."""
    mock_url: str | None
    log: Path | None = None
    """The log that is worked for; None in a pipe."""
    servers: Mapping[str, ServerInfo] = field(default_factory=dict)
    """What each MCP server turned out to be, once they were asked (`identify`)."""

    @property
    def mock(self) -> bool:
        """Whether this is a mock run, to which answers of the mock are answers."""
        return self.mock_url is not None

    @cached_property
    def question_ids(self) -> tuple[str, ...]:
        """The plan: what is to be answered under each condition, in the dataset's order."""
        return tuple(map(question_id, self.samples))

    def forget_question_ids(self) -> None:
        """Give back the memory of the plan; it is made again if it is asked for."""
        self.__dict__.pop("question_ids", None)

    @cached_property
    def plan_id(self) -> str:
        """The identity of the plan."""
        return plan_id(self.question_ids)

    @property
    def inputs(self) -> tuple[Path, ...]:
        """The files that nothing may be written over."""
        return (self.config.path, *(dataset.path for dataset in self.config.datasets))

    @property
    def dataset_sha256(self) -> str:
        """The hash of the dataset's file; of several, that of their hashes one after the other."""
        return sha256_of_all([read.sha256 for read in self.datasets])

    @property
    def agent_env(self) -> dict[str, str]:
        """The environment of the agent's processes. Raises EnvironmentLacksError for a missing key."""
        return agent_env(self.config, self.mock_url)

    @property
    def mark(self) -> dict[str, str]:
        """The environment variables that mark each process we start as ours; empty without a log."""
        return tree.mark(tree.log_mark(self.log)) if self.log else {}

    @property
    def judge_env(self) -> dict[str, str]:
        """What reaches the judges' models. Raises EnvironmentLacksError for a missing key."""
        return judge_env(self.config.judges, self.config.secrets, self.mock_url, self.config.environ)


def prepare(
    config: Config,
    mock_url: str | None,
    limit: int | None = None,
    log: Path | None = None,
    *,
    warn: Warn,
) -> Prepared:
    """Read what the config names.

    Raises InputError for a bad dataset, EnvironmentLacksError for a variable that is not set, and
    UsageError for a secret that stands in the dataset or in a system prompt.
    """
    return with_samples(unread(config, mock_url, log), limit, warn=warn)


def unread(config: Config, mock_url: str | None, log: Path | None) -> Prepared:
    """Return a config whose dataset is not read yet.

    Raises EnvironmentLacksError for a variable that is not set, and UsageError for an agent of files that runs change.
    """
    missing = config.missing_variables()
    if missing:
        them = "it" if len(missing) == 1 else "them"
        raise EnvironmentLacksError(f"{config.path}: not set: {', '.join(missing)}; export {them} and try again")
    config.secrets.register({*config.agent.agent.secret_names, *judge_keys(config.judges)})
    _check_agent_files(config, log)
    return Prepared(config, (), (), mock_url, log)


def _check_agent_files(config: Config, log: Path | None) -> None:
    """Raise UsageError if the agent's patterns find what changes without it: all answers would be paid again."""
    found = {path.resolve() for path in found_by(config.agent.agent.file_patterns, config.path.parent)}
    changing = [config.path, *(dataset.path for dataset in config.datasets), *([] if log is None else [log])]
    taken = [str(path) for path in changing if path.resolve() in found]
    if taken:
        raise UsageError(
            f"{config.path}: agent.files finds {', '.join(taken)}: after each change of these all answers would be "
            "asked again; name only what the answers depend on, such as kb/**/*.md"
        )


def with_samples(prepared: Prepared, limit: int | None, *, warn: Warn) -> Prepared:
    """Read the dataset of a config, of each file the first samples up to `limit`.

    Raises InputError for a bad dataset, and UsageError for a secret that stands in the dataset or in a system prompt,
    and for a gate of conditions, or of fields, that are not there.
    """
    config = prepared.config
    found = tuple(datasets.read(dataset.path, dataset.layout) for dataset in config.datasets)
    _check_ids_differ(found)
    _check_judges_are_for_some(config, found)
    samples = sum((read.samples[:limit] for read in found), JsonObjects())
    prompts = {condition.name: condition.system_prompt for condition in config.conditions}
    check_gate_rules(config, samples if limit is None else sum((read.samples for read in found), JsonObjects()), warn)
    for warning in (
        *agent_doubts(config, mock=prepared.mock),
        *checks.check(config.secrets, samples, prompts),
        *checks.warn_of_command_lines(config.secrets, config.as_written),
    ):
        warn(warning)
    return replace(prepared, datasets=found, samples=samples)


def with_questions(prepared: Prepared, limit: int | None, *, warn: Warn) -> Prepared:
    """Read the dataset of a config for its agent to answer. Raises as `with_samples` and `check_turns`."""
    found = with_samples(prepared, limit, warn=warn)
    check_turns(found)
    return found


def sha256_of_all(hashes: Sequence[str]) -> str:
    """Return what stands for the files of a config's datasets, whose hashes these are."""
    return hashes[0] if len(hashes) == 1 else hashlib.sha256("".join(hashes).encode()).hexdigest()


def _check_ids_differ(found: Sequence[Samples]) -> None:
    """Raise InputError for two samples of different datasets that have one id."""
    files: dict[str, Path] = {}
    for read in found if len(found) > 1 else ():  # those of one file differ, or it would not have been read
        for sample in read.samples:
            other = files.setdefault(sample["id"], read.path)
            if other is not read.path:
                raise InputError(
                    f"{read.path}: the id {sample['id']!r} is also the id of a sample in {other}; give the datasets"
                    f' ids that differ, as in fields: {{id: "{sample["dataset"]}-{{id}}"}}'
                )


def _check_judges_are_for_some(config: Config, found: Sequence[Samples]) -> None:
    """Raise UsageError for a judge that is for no sample at all."""
    for judge in config.judges:
        if all(judge.not_for(sample) is not None for read in found for sample in read.samples):
            why = f"the first one: {judge.not_for(found[0].samples[0])}"
            raise UsageError(f"{config.path}: the judge {judge.name!r} is for none of the samples; {why}")


def check_turns(prepared: Prepared) -> None:
    """Raise UsageError for a question of several messages where the agent answers only one."""
    agent = prepared.config.agent
    several = [str(sample["id"]) for sample in prepared.samples if len(turns(sample)) > 1]
    if several and not agent.agent.takes_turns:
        number = (
            f"sample {several[0]!r} has" if len(several) == 1 else f"{len(several)} samples, as {several[0]!r}, have"
        )
        raise UsageError(
            f"{prepared.config.path}: {number} several messages, and agent {agent.name!r} answers one: choose an agent "
            "that goes on with a conversation (docs/agents.md), or leave these samples out"
        )
