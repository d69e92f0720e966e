"""The options of the Claude Code agent: what its start, its record and the agent itself have to know of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from keval.agents import Agent
from keval.models.services import ServiceOptions
from keval.plugins import option

OPTIONS: Mapping[str, str] = {
    "CLAUDE_CODE_USE_BEDROCK": "provider",
    "CLAUDE_CODE_USE_VERTEX": "provider",
    "ANTHROPIC_BASE_URL": "base_url",
    "ANTHROPIC_CUSTOM_HEADERS": "headers",
    "CLAUDE_CODE_MAX_RETRIES": "max_retries",
    "MCP_TIMEOUT": "mcp_timeout_s",
}
"""Variables of the CLI for which there is an option: only that is checked before a run, and replaced by a mock."""

OTHER_SERVICES = {
    f"CLAUDE_CODE_USE_{name}" for name in ("FOUNDRY", "MANTLE", "GATEWAY", "ANTHROPIC_AWS", "ANTHROPIC_GOOGLE_CLOUD")
}
"""Variables by which the CLI asks a service that keval does not know, mock or not."""


@dataclass(frozen=True, kw_only=True)
class ClaudeOptions(ServiceOptions, Agent):
    """An agent that Claude Code is behind; how it is asked is in `claude.py`."""

    model: str = field(metadata=option("the model, as the Messages API names it"))
    tools: tuple[str, ...] = field(
        default=(), metadata=option("built-in tools such as Edit or WebSearch, the same in every condition")
    )
    max_turns: int | None = field(default=None, metadata=option("the most turns that the agent may take"))
    effort: Literal["low", "medium", "high", "xhigh", "max"] | None = field(
        default=None, metadata=option("how much the model thinks")
    )
    env: Mapping[str, str] = field(
        default_factory=dict,
        hash=False,
        metadata=option("additional environment variables of the CLI, such as its limits"),
    )
    mcp_timeout_s: float = field(
        default=60.0, metadata=option("how long the MCP servers may take to be ready, in seconds", identity=False)
    )
    max_starts: int | None = field(
        default=None,
        metadata=option(
            "how many Claude Codes may start at once; default: one per processor, and at least two", identity=False
        ),
    )
    max_retries: int = field(
        default=2, metadata=option("how often the CLI itself tries a failed model call again", identity=False)
    )

    def __post_init__(self) -> None:
        for name in ("max_turns", "mcp_timeout_s", "max_starts"):
            value = getattr(self, name)
            if value is not None and value <= 0:
                raise ValueError(f"{name}: must be more than 0")
        if self.max_retries < 0:
            raise ValueError("max_retries: must not be negative")
        for name in self.env:
            if name in OPTIONS:
                raise ValueError(f"env: {name}: the option {OPTIONS[name]} says that")
            if name in OTHER_SERVICES:
                raise ValueError(f"env: {name}: keval does not know this service; --mock would not take its place")
        if problems := self.service.problems():
            raise ValueError("; ".join(problems))
