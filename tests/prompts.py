"""Prompts for agents under test, with an environment that leads nowhere but where a test says."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from keval.agents import Prompt

SERVERS = Path(__file__).parent / "servers"


def stdio(script: str, *arguments: str, **env: str) -> dict[str, Any]:
    """Return the config of a server in tests/servers."""
    return {"type": "stdio", "command": "python", "args": [str(SERVERS / script), *arguments], "env": env}


def environment(*more: Mapping[str, str]) -> dict[str, str]:
    """Return an environment with this Python first in the path, and more."""
    path = os.pathsep.join([str(Path(sys.executable).parent), "/usr/bin", "/bin"])
    merged = {"PATH": path, "LANG": "C.UTF-8", "HOME": os.environ["HOME"]}
    for env in more:
        merged |= env
    return merged


def prompt(
    folder: Path,
    env: Mapping[str, str] | None = None,
    /,
    *,
    question: str = "What is a kiwi?",
    servers: Mapping[str, Mapping[str, Any]] | None = None,
    **fields: Any,  # noqa: ANN401 - any other field of a prompt
) -> Prompt:
    """Return a prompt whose workspace is a new folder inside `folder`."""
    workspace = folder / "workspace"
    workspace.mkdir(exist_ok=True)
    given: dict[str, Any] = {
        "question": question,
        "turns": (question,),
        "system_prompt": "Answer briefly.",
        "mcp_servers": servers or {},
        "repetition": 1,
        "workspace": workspace,
        "env": environment(env or {}),
        **fields,
    }
    return Prompt(**given)
