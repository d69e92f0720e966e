"""Says, before anything is paid, what changed since the config's newest run and what is asked again for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

from keval.config.model import Condition
from keval.execution.preparation import Prepared
from keval.ids import JsonObject, response_id
from keval.logs.history import History
from keval.processes.servers import REVISION

OF_A_CONDITION = {"system_prompt": "system prompt", "mcp_servers": "servers", "gates": "gates", "tools": "tools"}
"""What of a condition is its own, and what messages call it."""

MOST_NAMED = 3
"""Questions that a message names before it only counts the rest."""


def changes(newest: JsonObject | None, prepared: Prepared, past: History) -> str | None:
    """Return what changed since a run and how many responses are asked again for it; None if none are.

    A response that is asked again for several changes is counted once.

    `newest` is the config's newest run event in the log, `prepared` a config whose servers were asked.
    """
    if newest is None or newest["agent"] is None:
        return None
    found = _Changes(newest, prepared, past, past.responses_done(mock=prepared.mock_url is not None))
    causes = [*found.of_agent(), *found.of_servers(), *found.of_conditions(), *found.of_questions()]
    if not causes:
        return None
    asked_again = set().union(*(cause.asked_again for cause in causes))
    counted = "1 response" if len(asked_again) == 1 else f"{len(asked_again)} responses"
    concerned = {name for cause in causes for name in cause.conditions}
    whose = ", ".join(condition.name for condition in prepared.config.conditions if condition.name in concerned)
    return f"{'; '.join(cause.message for cause in causes)}: {counted} of {whose} will be asked again"


@dataclass(frozen=True, slots=True)
class _Cause:
    """A change for which responses are asked again."""

    message: str
    conditions: Sequence[str]
    asked_again: AbstractSet[str]
    """The ids of the responses that the new answers will have."""


@dataclass(frozen=True)
class _Changes:
    newest: JsonObject
    prepared: Prepared
    past: History
    done: AbstractSet[str]

    def of_agent(self) -> Iterator[_Cause]:
        """Yield what makes the agent another one."""
        agent, before = self.prepared.config.agent, self.newest["agent"]
        if agent.agent_id != before["agent_id"]:
            parts = _agent_parts(before, self._as_recorded(agent.described()))
            yield from self._cause(f"agent {agent.name}", parts, self._conditions())

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
        changed = [sample_id for sample_id, before, now in self._questions() if before != now]
        if changed:
            number = "1 question" if len(changed) == 1 else f"{len(changed)} questions"
            named = [*changed[:MOST_NAMED], *(["…"] if len(changed) > MOST_NAMED else [])]
            yield from self._cause(number, named, self._conditions(), edited_only=True)

    def _cause(
        self, what: str, parts: Sequence[str], conditions: Sequence[Condition], *, edited_only: bool = False
    ) -> Iterator[_Cause]:
        """Yield the change, if anything is asked again for it."""
        asked: set[str] = set()
        for condition in conditions:
            asked |= self._asked_again(condition, edited_only=edited_only)
        if asked:
            yield _Cause(f"{what} changed ({', '.join(parts)})", [each.name for each in conditions], asked)

    def _asked_again(self, condition: Condition, *, edited_only: bool) -> set[str]:
        """Return the new ids of a condition's responses that are there by the run's ids and not by today's."""
        agent, before = self.prepared.config.agent.agent_id, self.newest["conditions"][condition.name]["condition_id"]
        agent_before = self.newest["agent"]["agent_id"]
        return {
            new
            for _, question_before, question in self._questions()
            if not edited_only or question_before != question
            for repetition in range(1, self.prepared.config.execution.repetitions + 1)
            if response_id(question_before, before, agent_before, repetition) in self.done
            and (new := response_id(question, condition.condition_id, agent, repetition)) not in self.done
        }

    def _questions(self) -> Iterator[tuple[str, str, str]]:
        """Yield the ids of the planned samples that were asked before, of their question then and of that now."""
        for sample, question in zip(self.prepared.samples, self.prepared.question_ids, strict=True):
            record = self.past.newest_records.get(sample["id"])
            if record is not None and record.answered is not None:
                yield sample["id"], record.answered, question

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
