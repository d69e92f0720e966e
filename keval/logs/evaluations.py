"""Tells the evaluations apart that stand in the same logs: each has a config of its own name."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import orjson

from keval.logs.line_copy import writing_copy
from keval.processes import temporary
from keval.projections.log_file import LogFile

if TYPE_CHECKING:
    from pathlib import Path

    from keval.ids import JsonObject


OPEN_AT_ONCE = 200
"""Copies that are written at once: a process may have few files open."""

DECLARATIONS = {"plan", "sample_change", "until_rule", "until_decided", "until_end"}
"""Events that concern every config that has the same questions, or stops by the same rule."""


@contextmanager
def evaluations(logs: Sequence[LogFile], names: Sequence[str]) -> Iterator[list[list[LogFile]]]:
    """Give the logs of each evaluation, by the names of their configs: copies of the lines that belong to it.

    What belongs to none, such as a line of an unknown type, is in all. Copies are gone at the end. Raises
    EnvironmentLacksError where there is no room for them.
    """
    found = _Owners()
    for log in logs:
        for line in log.read():
            found.learn(orjson.loads(line))
    with temporary.folder() as folder:
        copies: dict[str, list[LogFile]] = {name: [] for name in names}
        for number, log in enumerate(logs):
            for first in range(0, len(names), OPEN_AT_ONCE):
                places = range(first, min(first + OPEN_AT_ONCE, len(names)))
                paths = {names[place]: folder / f"{place}-{number}" for place in places}
                for name in _copy(log, folder, paths, found):
                    copies[name].append(LogFile(paths[name], log.name))
        yield list(copies.values())


@dataclass
class _Owners:
    """Which evaluations events belong to: those that have their condition and agent, whichever run wrote them."""

    of_runs: dict[str, str] = field(default_factory=dict)
    of_conditions: dict[tuple[str, str], set[str]] = field(default_factory=dict)
    of_events: dict[str, tuple[str, str]] = field(default_factory=dict)
    """The condition and agent of what has them, by its id."""
    keys_of_runs: dict[str, set[tuple[str, str]]] = field(default_factory=dict)
    """The same of what a run wrote: one that only judges belongs to what it judged."""
    of_plans: dict[str, set[str]] = field(default_factory=dict)
    """A log holds a plan once, whichever of its configs wrote it."""
    of_rules: dict[str, set[str]] = field(default_factory=dict)
    plans_of_questions: dict[str, set[str]] = field(default_factory=dict)

    def learn(self, event: JsonObject) -> None:
        """Note what a line says of whom it belongs to."""
        key = _key(event)
        if event["type"] == "run" and event.get("config_name") is not None:
            name = event["config_name"]
            self.of_runs[event["run_id"]] = name
            self.of_plans.setdefault(event["plan_id"], set()).add(name)
            for condition in event["conditions"].values() if event["agent"] else ():
                planned = condition["condition_id"], event["agent"]["agent_id"]
                self.of_conditions.setdefault(planned, set()).add(name)
        elif event["type"] == "plan":
            for question_id in event["question_ids"]:
                self.plans_of_questions.setdefault(question_id, set()).add(event["plan_id"])
        elif event["type"] == "until_rule":
            self.of_rules.setdefault(event["rule_id"], set()).add(event["config_name"])
        elif key is not None:
            self.of_events[event["id"]] = key
            self.keys_of_runs.setdefault(event["run_id"], set()).add(key)

    def of(self, event: JsonObject) -> Collection[str] | None:
        """Return the evaluations of an event; None for all."""
        if event["type"] in DECLARATIONS:
            return self._of_declaration(event) or None
        key = _key(event) or self.of_events.get(event.get("response_id") or event.get("target") or "")
        if key is not None and key in self.of_conditions:
            return self.of_conditions[key]
        if event["run_id"] in self.of_runs:
            return {self.of_runs[event["run_id"]]}
        keys = self.keys_of_runs.get(event["run_id"], ())
        return set().union(*(self.of_conditions.get(each, ()) for each in keys)) or None

    def _of_declaration(self, event: JsonObject) -> set[str]:
        if event["type"] == "plan":
            return self.of_plans.get(event["plan_id"], set())
        if event["type"] == "sample_change":
            plans = self.plans_of_questions.get(event["question_id"], ())
            return set().union(*(self.of_plans.get(plan_id, ()) for plan_id in plans))
        return self.of_rules.get(event["rule_id"], set())


def _key(event: JsonObject) -> tuple[str, str] | None:
    condition_id, agent_id = event.get("condition_id"), event.get("agent_id")
    return None if condition_id is None or agent_id is None else (condition_id, agent_id)


def _copy(log: LogFile, folder: Path, paths: Mapping[str, Path], owners: _Owners) -> list[str]:
    """Copy the lines of some evaluations into a folder, and return which of these have lines of their own in a log."""
    have_own: set[str] = set()
    with writing_copy(folder), ExitStack() as opened:
        targets = {name: opened.enter_context(path.open("wb")) for name, path in paths.items()}
        for line in log.read():
            names = owners.of(orjson.loads(line))
            for name in targets.keys() if names is None else targets.keys() & names:
                targets[name].write(line)
            have_own.update(names or ())
    return [name for name in paths if name in have_own]
