"""A function that repeats all that it is told, as an agent."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def query(user_query: str, system_prompt: str, mcp_servers: Mapping[str, Any]) -> str:
    """Return what was asked."""
    return json.dumps([user_query, system_prompt, mcp_servers], ensure_ascii=False)
