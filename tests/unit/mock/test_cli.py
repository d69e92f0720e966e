"""The mock behind the agent's real CLI, with a real MCP server."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

from claude_agent_sdk import ClaudeAgentOptions, ClaudeSDKClient, Message, ResultMessage

from keval.mock import Mock

SERVER = '''
from mcp.server import MCPServer

app = MCPServer("docs", version="1.0")


@app.tool()
def pages() -> list[str]:
    """List the pages."""
    return ["limits"]


@app.tool()
def lookup(topic: str, most: int = 3) -> str:
    """Search the pages."""
    return "# Limits\\n\\nCats sleep.\\n\\nThe default rate limit is 60 requests per minute.\\n"


app.run("stdio")
'''
FOREIGN = ("ANTHROPIC_", "CLAUDE", "AWS_", "GOOGLE_")


async def asked(mock: Mock, folder: Path) -> list[Message]:
    """Ask the CLI one question, with the documentation server at hand."""
    (folder / "docs_server.py").write_text(SERVER)
    workspace = folder / "workspace"
    workspace.mkdir()
    options = ClaudeAgentOptions(
        model="claude-sonnet-5",
        system_prompt="Use the docs.",
        tools=[],
        allowed_tools=["mcp__docs"],
        permission_mode="dontAsk",
        setting_sources=[],
        strict_mcp_config=True,
        mcp_servers={"docs": {"type": "stdio", "command": sys.executable, "args": [str(folder / "docs_server.py")]}},
        extra_args={"bare": None, "no-session-persistence": None, "disable-slash-commands": None},
        cwd=workspace,
        env={
            **{name: "" for name in os.environ if name.startswith(FOREIGN)},
            **mock.env,
            "HOME": str(folder),
            "CLAUDE_CONFIG_DIR": str(folder / "config"),
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        },
    )
    messages: list[Message] = []
    async with asyncio.timeout(60), ClaudeSDKClient(options=options) as client:
        while (await client.get_mcp_status())["mcpServers"][0]["status"] == "pending":  # noqa: ASYNC110 - no event tells
            await asyncio.sleep(0.02)
        await client.query("What is the default rate limit?")
        messages += [message async for message in client.receive_response()]
    return messages


async def test_the_real_cli_searches_and_answers_from_the_result(tmp_path: Path) -> None:
    """The CLI's own additions to a request do not hide question and result from the stand-in."""
    with Mock() as mock:
        messages = await asked(mock, tmp_path)
    last = messages[-1]
    assert isinstance(last, ResultMessage)
    assert (last.is_error, last.result) == (False, "The default rate limit is 60 requests per minute.")
    assert mock.requests.by_kind == {"tool_call": 1, "from_tool": 1}
    assert last.usage is not None
    assert last.usage["input_tokens"] > 100
