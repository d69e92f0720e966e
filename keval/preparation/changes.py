"""Says, before anything is paid, what changed since the config's newest run and what is asked again for it."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from keval.config.model import Condition
from keval.counted import counted, first_of
from keval.ids import JsonObject
from keval.preparation.config_past import ConfigPast, ids_before
from keval.preparation.prepared import Prepared
from keval.processes.servers import REVISION

OF_A_CONDITION = {"system_prompt": "system prompt", "mcp_servers": "servers", "gates": "gates", "tools": "tools"}
"""What of a condition is its own, and what messages call it."""


@dataclass(frozen=True, slots=True)
class Changed:
    """What changed since a config's newest run, and what is asked again for it."""

    causes: str
    asked_again: Mapping[str, int]
    """How many responses of each condition; one that is asked again for several changes is counted once."""
    numbers: array[int]
    """Those of their tasks."""

    def told(self, then: str) -> str:
        """Return it in one sentence that ends with what that brings and costs, as `generation_ahead` words it."""
        responses = counted(sum(self.asked_again.values()), "response")
        return f"{self.causes}: {responses} of {', '.join(self.asked_again)} will be asked again{then}"

    def told_of_others(self) -> str:
        """Return it of responses that are not asked again now."""
        number = sum(self.asked_again.values())
        verb, are = ("counts", "it is") if number == 1 else ("count", "they are")
        responses = f"{counted(number, 'response')} of {', '.join(self.asked_again)}"
        return f"{self.causes}: {responses} {verb} no more until {are} asked again"


def changes(newest: JsonObject | None, past: ConfigPast, numbers: Sequence[int]) -> Changed | None:
    """Return what changed since a config's newest run and what is asked again for it; None if nothing is.

    `numbers` are those of the tasks that are to be asked.
    """
    if newest is None or newest["agent"] is None:
        return None
    prepared, edited = past.prepared, past.edited_questions()
    if not edited and _is_as_before(newest, prepared):
        return None
    found = _Changes(newest, prepared, edited, past.asked_again(newest, numbers))
    causes = [*found.of_agent(), *found.of_servers(), *found.of_conditions(), *found.of_questions()]
    if not causes:
        return None
    concerned = frozenset[tuple[int, bool]]().union(*(cause.concerned for cause in causes))
    asked_again = {
        condition.name: sum(len(found.asked_again[each]) for each in concerned if each[0] == place)
        for place, condition in enumerate(prepared.config.conditions)
        if any(condition.name in cause.conditions for cause in causes)
    }
    tasks = array("Q", chain.from_iterable(found.asked_again[each] for each in concerned))
    return Changed("; ".join(cause.message for cause in causes), asked_again, tasks)


def no_longer_counted(newest: JsonObject | None, past: ConfigPast) -> str | None:
    """Say how many responses the config no longer asks for that its newest run counted; None if there are none."""
    if newest is None or newest["agent"] is None:
        return None
    gone = past.no_longer_planned(newest)
    if not gone.responses:
        return None
    numbers = {"sample": gone.samples, "repetition": gone.repetitions}
    parts = [counted(number, what) for what, number in numbers.items() if number]
    them = "it stays" if gone.responses == 1 else "they stay"
    return (
        f"{counted(gone.responses, 'response')} will count no more: the plan now leaves out"
        f" {', '.join([*parts, *(f'condition {name}' for name in gone.conditions)])}; {them} in the log"
    )


def _is_as_before(newest: JsonObject, prepared: Prepared) -> bool:
    """Return whether a run had the same agent and, as far as it had them by name, the same conditions."""
    config, before = prepared.config, newest["conditions"]
    same = (before[each.name]["condition_id"] == each.condition_id for each in config.conditions if each.name in before)
    return newest["agent"]["agent_id"] == config.agent.agent_id and all(same)


@dataclass(frozen=True, slots=True)
class _Cause:
    """A change for which responses are asked again."""

    message: str
    conditions: Sequence[str]
    concerned: frozenset[tuple[int, bool]]
    """Whose responses are asked again: places of conditions, each with whether it is for an edited question."""


@dataclass(frozen=True)
class _Changes:
    newest: JsonObject
    prepared: Prepared
    edited: Sequence[int]
    """The places of the samples with another question than before."""
    asked_again: Mapping[tuple[int, bool], array[int]]
    """The numbers of the tasks that are, by the condition's place and whether it is for an edited question."""

    def of_agent(self) -> Iterator[_Cause]:
        """Yield what makes the agent another one."""
        agent, before = self.prepared.config.agent, self.newest["agent"]
        if agent.agent_id != before["agent_id"]:
            parts = _agent_parts(before, self._as_recorded(agent.described()))
            yield from self._cause(f"agent {agent.name}", parts, self._known())

    def of_servers(self) -> Iterator[_Cause]:
        """Yield what MCP servers are not what they were."""
        written = self.prepared.config.mcp_servers
        written_before = (self.newest["config"] or {}).get("mcp_servers", {})
        changed = self._changed_conditions()
        for name, info in self.prepared.servers.items():
            if name not in self.newest["mcp_servers"]:
                continue
            parts = [] if written_before.get(name) == self._as_recorded(written[name]) else ["its config"]
            if REVISION not in written[name]:
                now = self._as_recorded(info.as_event_field())
                parts += _server_parts(self.newest["mcp_servers"][name], now)
            if parts:
                yield from self._cause(name, parts, [each for each in changed if name in each.mcp_servers])

    def of_conditions(self) -> Iterator[_Cause]:
        """Yield what conditions are not what they were, their servers apart."""
        for condition in self._changed_conditions():
            before, now = self.newest["conditions"][condition.name], self._as_recorded(condition.described())
            parts = [words for part, words in OF_A_CONDITION.items() if before[part] != now[part]]
            if parts:
                yield from self._cause(condition.name, parts, [condition])

    def of_questions(self) -> Iterator[_Cause]:
        """Yield how many questions are not what they were."""
        edited = self.edited
        if edited:
            number = counted(len(edited), "question")
            named = first_of([str(self.prepared.samples[place]["id"]) for place in edited])
            yield from self._cause(number, [named], self._known(), edited_only=True)

    def _cause(
        self, what: str, parts: Sequence[str], conditions: Sequence[Condition], *, edited_only: bool = False
    ) -> Iterator[_Cause]:
        """Yield the change, if anything is asked again for it."""
        names = [condition.name for condition in conditions]
        concerned = frozenset(
            (place, is_edited)
            for place, is_edited in self.asked_again
            if self.prepared.config.conditions[place].name in names and (is_edited or not edited_only)
        )
        if concerned:
            yield _Cause(f"{what} changed ({', '.join(parts)})", names, concerned)

    def _known(self) -> list[Condition]:
        """Return the conditions that the newest run had, be it by another name."""
        conditions = self.prepared.config.conditions
        known = ids_before(self.newest, conditions)
        return [each for each in conditions if each.name in known]

    def _conditions(self) -> list[Condition]:
        return [each for each in self.prepared.config.conditions if each.name in self.newest["conditions"]]

    def _changed_conditions(self) -> list[Condition]:
        before = self.newest["conditions"]
        return [each for each in self._conditions() if each.condition_id != before[each.name]["condition_id"]]

    def _as_recorded(self, value: Mapping[str, Any]) -> JsonObject:
        found: JsonObject = self.prepared.config.secrets.redact_value(value)
        return found


def _agent_parts(before: JsonObject, now: JsonObject) -> list[str]:
    parts = [
        f"{key} {_shown(before[key])} -> {_shown(now[key])}" for key in ("type", "model") if before[key] != now[key]
    ]
    names = dict.fromkeys([*before["options"], *now["options"]])
    parts += [name for name in names if name != "model" and before["options"].get(name) != now["options"].get(name)]
    if before.get("workspace") != now.get("workspace"):
        parts.append("its workspace")
    return [*parts, *_file_parts(before["files"], now["files"])] or ["a default of its options"]


def _server_parts(before: JsonObject, now: JsonObject) -> list[str]:
    parts = [
        f"{words} {_shown(before[key])} -> {_shown(now[key])}"
        for key, words in {"server_name": "name", "version": "version"}.items()
        if before[key] != now[key]
    ]
    if before["tools_sha256"] != now["tools_sha256"]:
        numbers = [None if tools is None else len(tools) for tools in (before["tools"], now["tools"])]
        same = sorted(before["tools"] or []) == sorted(now["tools"] or [])
        told = "what its tools say of themselves" if same else "tools"
        parts.append(told if numbers[0] == numbers[1] else f"tools {_shown(numbers[0])} -> {_shown(numbers[1])}")
    return [*parts, *_file_parts(before["files"], now["files"])]


def _file_parts(before: Sequence[Mapping[str, str]], now: Sequence[Mapping[str, str]]) -> list[str]:
    """Return the names of the files whose content differs, or that are named on one side only."""
    old, new = ({file["name"]: file["sha256"] for file in files} for files in (before, now))
    return [name for name in dict.fromkeys([*new, *old]) if old.get(name) != new.get(name)]


def _shown(value: object) -> str:
    return "unknown" if value is None else str(value)
