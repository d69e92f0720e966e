"""Compares logs: two runs of the same work make events that differ in a few fields only."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

from keval.ids import JsonObject

VOLATILE = {"time", "run_id", "duration_ms", "environment", "cost_usd"}
"""What differs between two runs of the same work; what it costs depends on what the prompt cache has when."""

PROMPT = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
"""Tokens of a prompt, wherever they come from."""


def lasting(log: Path) -> dict[tuple[str, str], JsonObject]:
    """Return a log's events without what differs between two runs, by type and id."""
    events = [orjson.loads(line) for line in log.read_bytes().splitlines()]
    return {
        (each["type"], each["command"] if each["type"] == "run" else each["id"]): _without_volatile(each)
        for each in events
    }


def _without_volatile(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    if isinstance(value, Mapping) and set(PROMPT) <= set(value):
        return {"prompt": sum(value[name] or 0 for name in PROMPT), "output_tokens": value["output_tokens"]}
    if isinstance(value, Mapping):
        return {
            key: _without_volatile(item)
            for key, item in value.items()
            if key not in VOLATILE and not (key == "id" and value.get("type") in {"run", "tool_call"})
        }
    return [_without_volatile(item) for item in value] if isinstance(value, list) else value
