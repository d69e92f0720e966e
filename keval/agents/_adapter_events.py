"""Reads what another command-line agent says, event by event, by the rules of its adapter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import orjson

from keval.agents import AgentError, Answer, Status, Turn
from keval.agents._function_result import use_of
from keval.agents._json_output import json_path, look_up
from keval.agents._templates import fill
from keval.tool_names import server_of, tool_part
from keval.usage import Usage, known_cost_usd, known_usage

ANY = "*"
"""What stands in `when` for any value but null."""


class Events:
    """What an agent has said so far in one task, in one or several runs of its program."""

    def __init__(self, written: Mapping[str, Any], servers: Sequence[str]) -> None:
        self._written = written
        self._servers = servers
        self._turns: list[Turn] = []
        self._first = 0
        """Where the turns of this run begin."""
        self._places: dict[str, int] = {}
        """Where the calls of this run stand among the turns, by id."""
        self._began: dict[str, datetime] = {}
        self._answer: str | None = None
        self._is_continuing = False
        self._usages: list[Usage] = []
        self._costs: list[float] = []
        self._models: dict[str, None] = {}
        self.session: str | None = None
        self.failure: str | None = None
        self.is_understood = False
        """Whether a rule fits anything that this run has written."""

    @property
    def has_begun(self) -> bool:
        """Whether the agent has said or done anything in this task."""
        return bool(self._turns or self._answer)

    def read(self, stdout: bytes) -> None:
        """Read all that one run has written. Raises AgentError for what is not JSON."""
        self._places, self._began, self._answer, self._is_continuing = {}, {}, None, False
        self._first, self.is_understood = len(self._turns), False
        if self._written["output"] == "json":
            self._add(_parsed(stdout, "stdout"))
            return
        for number, line in enumerate(stdout.split(b"\n"), start=1):
            if line.lstrip().startswith(b"{"):  # anything else is a word for people
                self._add(_parsed(line, f"line {number} of stdout"))

    def answer(self, status: Status = "answered") -> Answer:
        """Return what is known: the text of the last run, and everything that led there."""
        texts = [turn.text or "" for turn in self._turns[self._first :] if turn.type == "text"]
        text = self._answer if self._answer is not None else texts[-1] if texts else ""
        reports = any("call" in rule for rule in self._written["events"])
        return Answer(
            status="empty" if status == "answered" and not text.strip() else status,
            text=text,
            turns=tuple(self._turns),
            mcp={name: use_of(name, self._turns) for name in self._servers} if reports else {},
            usage=sum(self._usages[1:], self._usages[0]) if self._usages else None,
            cost_usd=known_cost_usd(sum(self._costs)) if self._costs else None,
            models=tuple(self._models),
        )

    def _add(self, event: object) -> None:
        was_continuing, self._is_continuing = self._is_continuing, False
        for rule in self._written["events"]:
            if not all(_fits(event, path, wanted) for path, wanted in rule.get("when", {}).items()):
                continue
            self.is_understood = True
            if "text" in rule:
                self._add_text(_text(_at(event, rule["text"])), was_continuing and rule.get("continues", False))
                self._is_continuing = rule.get("continues", False)
            if "answer" in rule:
                self._answer = _text(_at(event, rule["answer"]))
            if "call" in rule:
                self._add_call(event, rule["call"])
            self._add_facts(event, rule)

    def _add_facts(self, event: object, rule: Mapping[str, Any]) -> None:
        """Take note of tokens, cost, model, session and failure."""
        if "usage" in rule:
            used = known_usage({name: _count(event, path) for name, path in rule["usage"].items()})
            self._usages = [used] if rule.get("usage_so_far", False) else [*self._usages, used]
        if "cost_usd" in rule and (cost := known_cost_usd(_at(event, rule["cost_usd"]))) is not None:
            self._costs.append(cost)
        if "model" in rule and (model := _text(_at(event, rule["model"]))):
            self._models[model] = None
        if "session" in rule:
            self.session = _text(_at(event, rule["session"])) or None
        if "failure" in rule:
            self.failure = _text(_at(event, rule["failure"])) or "it says that it failed, and not why"

    def _add_text(self, text: str, continues: bool) -> None:
        if not text:
            return
        if continues and self._turns and self._turns[-1].type == "text":
            self._turns[-1] = Turn("text", text=f"{self._turns[-1].text}{text}")
        else:
            self._turns.append(Turn("text", text=text))

    def _add_call(self, event: object, rule: Mapping[str, Any]) -> None:
        """Begin a call, or complete one that has begun; until it is answered it counts as failed."""
        target = _text(_at(event, rule["id"]))
        if target not in self._places:
            self._places[target] = len(self._turns)
            self._turns.append(Turn("tool_call", id=target, name="", error=True))
        place = self._places[target]
        known = self._named(event, rule, self._turns[place])
        moment = _moment(_at(event, self._written["time"])) if "time" in self._written else None
        if moment is not None:
            self._began.setdefault(target, moment)
        if rule.get("done", False):
            known = _answered(event, rule, known)
            if moment is not None and target in self._began:
                known = replace(known, duration_ms=max(0, round((moment - self._began[target]).total_seconds() * 1000)))
        self._turns[place] = known

    def _named(self, event: object, rule: Mapping[str, Any], turn: Turn) -> Turn:
        named = rule.get("name", "")
        name = (_text(_at(event, named)) if named.startswith("$") else named) or turn.name or ""
        server = turn.server or self._server(event, rule, name)
        given = _at(event, rule["input"]) if "input" in rule else None
        inputs = given if isinstance(given, Mapping) or given is None else {"input": given}
        return replace(turn, name=name, server=server, input=turn.input if inputs is None else inputs)

    def _server(self, event: object, rule: Mapping[str, Any], name: str) -> str | None:
        if "server" in rule:
            said = _text(_at(event, rule["server"]))
            return said if said in self._servers else None
        if "mcp_tool_name" not in self._written:
            return server_of(name, self._servers)
        begins = {each: fill(self._written["mcp_tool_name"], {"server": tool_part(each)}) for each in self._servers}
        return max((each for each, begin in begins.items() if name.startswith(begin)), key=len, default=None)


def _answered(event: object, rule: Mapping[str, Any], turn: Turn) -> Turn:
    error = _text(_at(event, rule["error"])) if "error" in rule else ""
    result = _text(_at(event, rule["result"])) if "result" in rule else ""
    failed = "failed" in rule and all(_fits(event, path, wanted) for path, wanted in rule["failed"].items())
    return replace(turn, result=result or error or turn.result or "", error=bool(error) or failed)


def _parsed(text: bytes, where: str) -> object:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise AgentError("agent_error", f"{where} is not JSON: {error}") from error


def _at(event: object, path: str) -> Any:  # noqa: ANN401 - any JSON value
    """Return the value at a path, None where there is none."""
    try:
        return look_up(event, json_path(path))
    except LookupError:
        return None


def _fits(event: object, path: str, wanted: object) -> bool:
    value = _at(event, path)
    if wanted == ANY:
        return value is not None
    return any(
        value == each and type(value) is type(each) for each in (wanted if isinstance(wanted, list) else [wanted])
    )


def _count(event: object, expression: str) -> object:
    """Return a number of tokens, or one minus another; None where one of them is not known."""
    first, *rest = (_at(event, path) for path in expression.split(" - "))
    if not all(type(each) is int for each in (first, *rest)):
        return None
    return first - sum(rest)


def _text(value: object) -> str:
    """Return a value as text: of blocks as MCP has them the texts, of anything else its JSON."""
    if value is None or isinstance(value, str):
        return value or ""
    blocks = (
        [each.get("text") if isinstance(each, Mapping) else None for each in value] if isinstance(value, list) else []
    )
    if blocks and all(isinstance(each, str) for each in blocks):
        return "\n".join(map(str, blocks))
    return orjson.dumps(value).decode()


def _moment(value: object) -> datetime | None:
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    return moment.replace(tzinfo=UTC) if moment and moment.tzinfo is None else moment
