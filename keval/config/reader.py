"""Reads a config: one YAML file from which a run can be done again.

Everything that is wrong with it is found at once, before anything is asked or paid.
"""

from __future__ import annotations

import os
from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from keval import ids, plugins, schema
from keval.agents import Agent
from keval.config import (
    comparison_section,
    conditions_section,
    dataset_section,
    gate_section,
    metrics_section,
    plugin_options,
    workspace_section,
)
from keval.config.hints import with_hint
from keval.config.model import AgentConfig, Config, Execution, JudgeConfig
from keval.config.sections import list_in, mapping_in, whole
from keval.documents import yaml_document
from keval.errors import EnvironmentLacksError, InputError, KevalError, PluginError, UsageError, Warn
from keval.judges import Judge, Metric
from keval.models import prices
from keval.retry import Retry
from keval.sampling import Sampling
from keval.secrets.variables import Secrets, malformed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from keval.documents.yaml_document import Document, Keys
    from keval.ids import JsonObject

Plugin = TypeVar("Plugin", bound=Agent | Judge)

AGENT_KEYS = ("type", "name")
JUDGE_KEYS = ("type", "name", "replicates", "only_for", "sample_rate")
"""Keys of an agent and of a judge that are not options of the plug-in."""

JUDGE_AGAIN = "keval run CONFIG judges by the config as it is now, or name a judge with -j JUDGE.yaml"
"""What to do when a log's judge is no longer there."""


def load(path: Path, *, environ: Mapping[str, str] | None = None, with_datasets: bool = True) -> Config:
    """Read a config, `with_datasets` if these are to be there.

    Variables need not be set. Raises InputError that lists all problems with their lines, EnvironmentLacksError for
    what only a judge needs and is not there, PluginError for an agent or judge that is broken.
    """
    environ = os.environ if environ is None else environ
    draft = _Draft(yaml_document.read(path), Secrets(environ))
    draft.secrets.register_all(draft.written)
    draft.check("config")
    gate_section.check(draft.written, draft.problem)
    found = dataset_section.read_all(draft.written, path, draft.secrets, draft.problem) if with_datasets else []
    agent, judges = draft.agent(), draft.judges()
    tools = () if agent is None else agent.agent.tool_names
    conditions = conditions_section.read_all(draft.written, path, tools, draft.secrets, draft.problem)
    draft.check_pairs(judges, [condition.name for condition in conditions])
    for judge in judges:
        if agent is not None and judge.judge.uses_workspace and not agent.agent.uses_workspace:
            draft.problem((), f"judge {judge.name!r} looks at workspaces, and agent {agent.name!r} works in no folder")
    # Over judges that are wrong nothing can be said of a formula.
    metrics = () if draft.problems else tuple(metrics_section.read_all(draft.written, judges, draft.problem))
    comparison_section.check(draft.written, judges, metrics, draft.problem)
    if draft.problems or agent is None:
        raise draft.error()
    written = draft.written
    return Config(
        path=path.absolute(),
        name=written["name"],
        version=str(written.get("version", "1")),
        datasets=tuple(found),
        agent=agent,
        mcp_servers=written.get("mcp_servers", {}),
        conditions=tuple(conditions),
        judges=tuple(judges),
        metrics=metrics,
        execution=_execution(written.get("execution", {})),
        prices=prices.load(written.get("prices")),
        as_written=written,
        sha256=draft.document.sha256,
        secrets=draft.secrets,
        environ=environ,
    )


def load_judge(path: Path, *, secrets: Secrets | None = None) -> JudgeConfig:
    """Read a file that holds one judge.

    Raises InputError that lists all problems with their lines, EnvironmentLacksError for what the judge needs and is
    not there, PluginError for a judge that is broken.
    """
    draft = _Draft(yaml_document.read(path), Secrets(os.environ) if secrets is None else secrets)
    draft.secrets.register_all(draft.written)
    draft.check("judge")
    judge = draft.judge(draft.written, ())
    if draft.problems or judge is None:
        raise draft.error()
    return judge


def recorded(config: object, warn: Warn) -> tuple[Execution, prices.Prices]:
    """Return how the work is done, and the prices, by a config that a log recorded; None or a foreign one may do.

    What does not fit this version is named and left out, so that its default counts.
    """
    sections = config if isinstance(config, dict) else {}
    part = deepcopy({name: sections[name] for name in ("execution", "prices") if name in sections})
    for problem in schema.problems("config", part):
        # A price that is half a price is none; of `execution` each key is by itself.
        keys = problem.keys[:2] if problem.keys[:1] == ("prices",) else problem.keys
        if keys and keys[0] in part:
            warn(f"the config that the log recorded: {problem.path}: {problem.message}; it is left out")
            _remove(part, keys)
    return _execution(part.get("execution", {})), prices.load(part.get("prices"))


def _remove(value: Any, keys: Keys) -> None:  # noqa: ANN401 - any JSON value
    """Remove what stands at a place, if it is still there."""
    for key in keys[:-1]:
        if key not in value:
            return
        value = value[key]
    value.pop(keys[-1], None)


def judge_from_description(description: Mapping[str, Any], *, secrets: Secrets | None = None) -> JudgeConfig:
    """Build a judge again from its entry in a `run` event; no file is read.

    A judge class that has texts takes them by its classmethod `from_texts(options, texts, metrics)`. Raises
    InputError when the entry does not fit this version's judge.
    """
    secrets = Secrets(os.environ) if secrets is None else secrets
    name, judge_type = str(description["name"]), str(description["type"])
    judge_class = plugins.load("judge", Judge, judge_type)
    try:
        judge = _rebuilt(judge_class, description, secrets)
    except PluginError:
        raise
    except EnvironmentLacksError as error:
        told = secrets.redact(str(error))
        raise EnvironmentLacksError(f"the log's judge {name!r}: {told}; {JUDGE_AGAIN}") from error
    except Exception as error:  # what a log says of a judge may be anything: whatever it leads to, the log is at fault
        told = secrets.redact(str(error) if isinstance(error, KevalError | ValueError) else repr(error))
        raise InputError(f"the log's judge {name!r} cannot be built again: {told}; {JUDGE_AGAIN}") from error
    replicates, parameters = whole(description["replicates"]), dict(description["parameters"])
    sampling = Sampling(**description.get("sampling", {}))
    only_for = dict(description.get("only_for") or {})
    return JudgeConfig(name, judge_type, judge, replicates, parameters, only_for, sampling)


def _rebuilt(judge_class: type[Judge], description: Mapping[str, Any], secrets: Secrets) -> Judge:
    options = dict(description["parameters"])
    named = any(option.name == "model" for option in plugins.options(judge_class))
    if description["model"] is not None and named:
        options.setdefault("model", description["model"])  # another version may have another default
    values, mistakes = plugin_options.read(judge_class, plugin_options.resolved(judge_class, options, secrets))
    if mistakes:
        raise InputError("; ".join(f"{schema.json_path(keys)}: {message}" for keys, message in mistakes))
    metrics = [Metric(**metric) for metric in description["metrics"]]
    judge = judge_class.from_texts(values, description["texts"], metrics).placed(Path.cwd())
    lacking = _lacking(judge)
    if lacking is not None:
        raise InputError(f"it {lacking}")
    if ids.canonical(judge.texts()) != ids.canonical(description["texts"]):
        raise InputError("the files that it names are not here, or not what they were")
    _ = judge.metrics
    return judge


class _Draft:
    """A file while it is checked; each part that is right comes back, each problem is kept."""

    def __init__(self, read: Document, secrets: Secrets) -> None:
        self.document = read
        self.problems = list(read.problems)
        self.kinds: dict[tuple[int, Keys, str], type[KevalError]] = {}
        self.secrets = secrets
        self.folder = read.path.parent
        self.written: JsonObject = read.value if isinstance(read.value, dict) else {}

    def problem(self, keys: Keys, message: str, kind: type[KevalError] = InputError) -> None:
        found = (self.document.line(keys), keys, message)
        self.problems.append(found)
        self.kinds[found] = kind

    def error(self) -> KevalError:
        """Return the error that lists all problems by line, each once.

        It is an InputError unless the file is right and only what it names is missing or broken.
        """
        unique = sorted(set(self.problems), key=lambda problem: (problem[0], schema.json_path(problem[1]), problem[2]))
        count = "1 problem" if len(unique) == 1 else f"{len(unique)} problems"
        told = [*map(self.document.described, unique), f"{count} in {self.document.path}; nothing was run"]
        kinds = [self.kinds.get(each, InputError) for each in unique]
        kind = InputError if InputError in kinds else kinds[0]
        return kind(*map(self.secrets.redact, told))

    def check(self, name: str) -> None:
        """Check the structure, and that each `${` is one that will be replaced.

        Raises InputError at once when there is nothing that could be checked further.
        """
        if self.document.value is None and self.problems:
            raise self.error()
        # To explain takes a library that is as long to import as a small command takes altogether.
        if not schema.is_valid(name, self.document.value):
            told = [keys for _, keys, _ in self.problems]
            for found in filter(lambda each: each.keys not in told, schema.problems(name, self.document.value)):
                self.problem(found.keys, with_hint(found.keys, found.message, self.written))
        if not self.written:
            raise self.error()
        for keys, text in _texts(self.written, ()):
            for wrong in malformed(text):
                self.problem(keys, f"{wrong!r} names no variable (${{NAME}} does); write $${{ for a literal ${{")

    def agent(self) -> AgentConfig | None:
        """Build the agent."""
        section = mapping_in(self.written, "agent")
        built = self.plugin("agent", Agent, section, ("agent",))
        if built is None:
            return None
        name = str(section.get("name") or section["type"])
        folder = self.folder.absolute()
        options, files = _without(section, AGENT_KEYS), built.local_files(folder)
        workspace = workspace_section.read(
            mapping_in(self.written, workspace_section.SECTION), folder, built, self.secrets, self.problem
        )
        return AgentConfig(name, section["type"], built, options, files, workspace)

    def judges(self) -> list[JudgeConfig]:
        """Build all judges."""
        if not self.written.keys() & {"judge", "judges"}:
            self.problem((), "'judges' is missing")
        sections: list[tuple[Keys, Any]] = [
            (("judges", index), section) for index, section in enumerate(list_in(self.written, "judges"))
        ]
        if "judge" in self.written:
            sections.append((("judge",), self.written["judge"]))
        judges: list[JudgeConfig] = []
        for keys, section in sections:
            judge = self.judge(section, keys) if isinstance(section, dict) else None
            if judge is not None:
                self.check_is_new(judge, judges, keys)
                judges.append(judge)
        return judges

    def check_is_new(self, judge: JudgeConfig, others: list[JudgeConfig], keys: Keys) -> None:
        for other in others:
            if judge.name == other.name:
                self.problem(keys, f"two judges are called {judge.name!r}; give each a name of its own")
            elif judge.judge_id == other.judge_id:
                self.problem(keys, f"this is the judge {other.name!r} again; for more judgments set its replicates")

    def judge(self, section: JsonObject, keys: Keys) -> JudgeConfig | None:
        """Build one judge and read its texts."""
        built = self.plugin("judge", Judge, section, keys)
        if built is None:
            return None
        name, replicates = str(section.get("name") or section["type"]), whole(section.get("replicates", 1))
        try:
            lacking = _lacking(built)
        except (EnvironmentLacksError, PluginError) as error:
            self.problem((*keys, "type"), f"judge {name!r}: {error}", type(error))
            return None
        if lacking is not None:
            self.problem((*keys, "type"), f"the judge {section['type']!r} {lacking}")
            return None
        only_for = mapping_in(section, "only_for")
        seed = whole(mapping_in(self.written, "execution").get("seed", 0))
        sampling = Sampling(section.get("sample_rate", 1), seed)
        options = _without(section, JUDGE_KEYS)
        return JudgeConfig(name, section["type"], built, replicates, options, only_for, sampling)

    def check_pairs(self, judges: Sequence[JudgeConfig], conditions: Sequence[str]) -> None:
        """Note judges of pairs whose baseline is not a condition, or that have nothing to compare it with."""
        for judge in judges:
            if judge.judge.unit != "pair":
                continue
            unknown = judge.unknown_baseline(conditions)
            if unknown is not None:
                self.problem((), unknown)
            elif len(conditions) == 1:
                self.problem((), f"judge {judge.name} compares conditions, and there is only {conditions[0]!r}")

    def plugin(self, kind: str, base: type[Plugin], section: JsonObject, keys: Keys) -> Plugin | None:
        """Build an agent or a judge from a section, or note what is wrong with it."""
        plugin_type = section.get("type")
        if not isinstance(plugin_type, str) or not plugin_type:
            return None
        try:
            plugin_class: type[Plugin] = plugins.load(kind, base, plugin_type)
        except UsageError as error:
            self.problem((*keys, "type"), str(error))
            return None
        beside = AGENT_KEYS if kind == "agent" else JUDGE_KEYS
        resolved = plugin_options.resolved(plugin_class, _without(section, beside), self.secrets)
        values, mistakes = plugin_options.read(plugin_class, resolved, self.folder, beside)
        for where, message in mistakes:
            self.problem((*keys, *where), message)
        if mistakes:
            return None
        try:
            return _built(plugin_class, values, self.folder.absolute())
        except (KevalError, ValueError, OSError) as error:
            if isinstance(error, PluginError):
                raise
            lacks = isinstance(error, EnvironmentLacksError)
            self.refusal(str(error), values, keys, EnvironmentLacksError if lacks else InputError)
            return None

    def refusal(self, message: str, values: Mapping[str, Any], keys: Keys, kind: type[KevalError]) -> None:
        """Note what a plug-in said against its options: `name: …` or `file: …` is about that option."""
        for line in message.splitlines():
            about = [
                (name, line.removeprefix(f"{name}: "))
                for name, value in values.items()
                if line.startswith(f"{name}: ") or (isinstance(value, Path) and line.startswith(f"{value}:"))
            ]
            if about:
                self.problem((*keys, about[0][0]), about[0][1], kind)
            else:
                self.problem(keys, line, kind)


def _built(plugin_class: type[Plugin], values: Mapping[str, Any], folder: Path) -> Plugin:
    """Return a plug-in made from its options; a judge has read its texts.

    Raises what a plug-in says against its options; anything else that it raises is PluginError.
    """
    try:
        built = plugin_class(**values)
        if isinstance(built, Judge):
            built = built.placed(folder)
            built.texts()
            _ = built.metrics
    except (KevalError, ValueError, OSError):
        raise
    except Exception as error:  # foreign code: whatever else it raises, the plug-in is what is broken
        raise PluginError(f"{plugin_class.__module__}: {type(error).__name__}: {error}") from error
    return built


def _lacking(judge: Judge) -> str | None:
    """Return what a judge needs and does not get, so that each of its judgments would fail."""
    if judge.unit == "pair" and judge.uses_workspace:
        return "compares two responses, and keval shows such judges no workspaces"
    return judge.missing()


def _execution(section: JsonObject) -> Execution:
    values = {key: whole(value) for key, value in section.items() if key != "retry"}
    retry = {key: whole(value) for key, value in mapping_in(section, "retry").items()}
    return Execution(**values, retry=Retry(**retry))


def _texts(value: object, keys: Keys) -> Iterator[tuple[Keys, str]]:
    if isinstance(value, str):
        yield keys, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _texts(item, (*keys, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _texts(item, (*keys, index))


def _without(section: JsonObject, keys: tuple[str, ...]) -> JsonObject:
    return {key: value for key, value in section.items() if key not in keys}
