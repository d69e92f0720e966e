"""What a mock run tells the mock before it begins."""

from __future__ import annotations

import httpx2

from keval.execution.mock_tools import tell_tools
from keval.mock import Mock
from keval.processes.servers import ServerInfo

SERVER = ServerInfo("my docs", tools=("a", "b", "c"), read_only=("a",), destructive=("b",))
REQUEST = {
    "model": "m",
    "max_tokens": 100,
    "messages": [{"role": "user", "content": "What?"}],
    "tools": [{"name": f"mcp__my_docs__{name}", "input_schema": {"type": "object"}} for name in "cba"],
}


async def test_the_mock_calls_what_a_server_marks_as_read_only() -> None:
    """The marks that servers give their tools reach the mock by the names that agents use."""
    with Mock() as mock:
        await tell_tools(mock.base_url, [SERVER])
        async with httpx2.AsyncClient() as client:
            answer = await client.post(f"{mock.base_url}/v1/messages", json=REQUEST, headers={"x-api-key": "none"})
    assert answer.json()["content"][0]["name"] == "mcp__my_docs__a"
