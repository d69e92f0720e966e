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


def changes(newest: JsonObject | None, prepared: Prepared, past: History) -> list[str]:
    """Return a line for each thing that changed since a run and for which responses are asked again.

    `newest` is the config's newest run event in the log, `prepared` a config whose servers were asked.
    """
    if newest is None or newest["agent"] is None:
        return []
    found = _Changes(newest, prepared, past, past.responses_done(mock=prepared.mock_url is not None))
    return [*found.of_agent(), *found.of_servers(), *found.of_conditions(), *found.of_questions()]


@dataclass(frozen=True)
class _Changes:
    newest: JsonObject
    prepared: Prepared
    past: History
    done: AbstractSet[str]

    def of_agent(self) -> Iterator[str]:
        """Yield what makes the agent another one."""
        agent, before = self.prepared.config.agent, self.newest["agent"]
        if agent.agent_id != before["agent_id"]:
            parts = _agent_parts(before, self._as_recorded(agent.described()))
            yield from self._line(f"agent {agent.name}", parts, self._conditions())

    def of_servers(self) -> Iterator[str]:
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
                yield from self._line(name, parts, [each for each in changed if name in each.mcp_servers])

    def of_conditions(self) -> Iterator[str]:
        """Yield what conditions are not what they were, their servers apart."""
        for condition in self._changed_conditions():
            before, now = self.newest["conditions"][condition.name], self._as_recorded(condition.described())
            parts = [words for part, words in OF_A_CONDITION.items() if before[part] != now[part]]
            if parts:
                yield from self._line(condition.name, parts, [condition])

    def of_questions(self) -> Iterator[str]:
        """Yield how many questions are not what they were."""
        changed = [sample_id for sample_id, before, now in self._questions() if before != now]
        if changed:
            number = "1 question" if len(changed) == 1 else f"{len(changed)} questions"
            named = [*changed[:MOST_NAMED], *(["…"] if len(changed) > MOST_NAMED else [])]
            yield from self._line(number, named, self._conditions(), edited_only=True)

    def _line(
        self, what: str, parts: Sequence[str], conditions: Sequence[Condition], *, edited_only: bool = False
    ) -> Iterator[str]:
        """Yield the line, if anything is asked again."""
        number = sum(self._asked_again(condition, edited_only=edited_only) for condition in conditions)
        if number:
            counted = "1 response" if number == 1 else f"{number} responses"
            whose = ", ".join(condition.name for condition in conditions)
            yield f"{what} changed ({', '.join(parts)}): {counted} of {whose} will be asked again"

    def _asked_again(self, condition: Condition, *, edited_only: bool) -> int:
        """Count the tasks of a condition that had a response by the run's ids and have none by today's."""
        agent, before = self.prepared.config.agent.agent_id, self.newest["conditions"][condition.name]["condition_id"]
        agent_before = self.newest["agent"]["agent_id"]
        return sum(
            response_id(question_before, before, agent_before, repetition) in self.done
            and response_id(question, condition.condition_id, agent, repetition) not in self.done
            for _, question_before, question in self._questions()
            if not edited_only or question_before != question
            for repetition in range(1, self.prepared.config.execution.repetitions + 1)
        )

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
