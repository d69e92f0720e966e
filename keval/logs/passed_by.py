"""What a pipe has brought so far: a judge on stdin cannot look ahead, and has no file to ask."""

from __future__ import annotations

from collections.abc import Container

from keval.events import now
from keval.ids import JsonObject
from keval.logs.costs import DATE, PAID, MeasuredCosts, Spent


class PassedBy:
    """The newest run, the judgments and the costs of the events that have come.

    Which responses count is known as far as they have come: a newer one may follow.
    """

    def __init__(self) -> None:
        self.newest: JsonObject | None = None
        """The newest `run` event of a config; a mock run that follows real responses replaces none, as in a log."""
        self._real: set[int] = set()
        """Hashes of the ids of responses that no stand-in gave, as small as those of what was paid for."""
        self._mock_runs: set[str] = set()
        self._imports: set[str] = set()
        self.silent_agents: set[str] = set()
        """The ids of the agents that do not report their tool calls; it grows."""
        self._costs = MeasuredCosts()
        self._begun = now()[:DATE]
        self._spent: dict[tuple[str, bool], Spent] = {}
        self._counted: set[int] = set()
        """Hashes of what was paid for: they take a quarter of the memory of ids, runs and times."""
        self._judged: dict[bool, set[str]] = {True: set(), False: set()}

    def add(self, event: JsonObject) -> None:
        """Take note of an event."""
        if self.is_mock(event):
            event = event | {"mock": True}
        if event["type"] in PAID and self._is_new(event):
            self._note_cost(event)
        match event["type"]:
            case "response" if not event.get("mock"):
                self._real.add(hash(event["id"]))
            case "judgment":
                for mock in {True, bool(event.get("mock"))}:
                    self._judged[mock].add(event["id"])
            case "retraction":
                self._real.discard(hash(event["target"]))
                for judged in self._judged.values():
                    judged.discard(event["target"])
            case "run":
                self._note_run(event)
            case "batch":
                self._costs.note_batch(event)
            case _:
                pass

    def is_mock(self, event: JsonObject) -> bool:
        """Return whether a stand-in made it: one that does not say so is as its run is."""
        mock: bool | None = event.get("mock")
        return event["run_id"] in self._mock_runs if mock is None else mock

    def counts(self, response: JsonObject) -> bool:
        """Return whether a response counts: what a mock answers takes the place of nothing real that has come."""
        return hash(response["id"]) not in self._real or not self.is_mock(response)

    def _note_run(self, run: JsonObject) -> None:
        if run["mock"]:
            self._mock_runs.add(run["run_id"])
        if run["command"] == "import":
            self._imports.add(run["run_id"])
        if (run["agent"] or {}).get("reports_tool_calls") is False:
            self.silent_agents.add(run["agent"]["agent_id"])
        if run["conditions"] and not (run["mock"] and self._real):
            self.newest = _with_imports(self.newest, run)

    def _is_new(self, event: JsonObject) -> bool:
        """Return whether an event was paid for once more: a merged log may hold it several times."""
        identity = hash((event["id"], event["run_id"], event["time"]))
        is_new = identity not in self._counted
        self._counted.add(identity)
        return is_new

    def _note_cost(self, event: JsonObject) -> None:
        # What was imported was paid for elsewhere.
        if event["time"][:DATE] >= self._begun and event["run_id"] not in self._imports:
            self._spent.setdefault((event["time"][:DATE], bool(event.get("mock"))), Spent()).add(event)
        if event["type"] != "failure":
            self._costs.add(event)

    def judged(self, *, mock: bool) -> Container[str]:
        """Return the ids of the judgments that have come, which grow: to a real run those of the mock are none."""
        return self._judged[mock]

    def costs(self) -> MeasuredCosts:
        """Return what answers and judgments have cost, at the usual price."""
        return self._costs

    def spent_today(self, *, mock: bool) -> Spent:
        """Return what today's events cost: to a mock run those of the mock, to a real run the others."""
        return self._spent.get((now()[:DATE], mock), Spent())


def _with_imports(before: JsonObject | None, run: JsonObject) -> JsonObject:
    """Return a run; an import with the conditions of those before it, of which each brings a part."""
    is_more = before is not None and before["command"] == run["command"] == "import"
    if before is None or not is_more or before["config_name"] != run["config_name"]:
        return run
    return run | {"conditions": before["conditions"] | run["conditions"]}
