"""The least that a program does which asks Claude Code by its SDK: what `keval generate` is compared with.

    python -m benchmarks.bare_sdk TASKS WORKERS

Asyncio workers take questions from a counter; each starts a CLI of its own, as keval does, in an empty folder and with
the same few options. There is no limit on starts, no look at what the CLI leaves running, no log. Prints how many
questions were answered, as JSON. What is inherited of `ANTHROPIC_*` has to lead to a mock.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
from pathlib import Path

from claude_agent_sdk import ClaudeAgentOptions, ClaudeSDKClient, ResultMessage


async def ask(number: int, folder: Path) -> bool:
    """Ask one question; returns whether it was answered."""
    home = folder / str(number)
    home.mkdir()
    own = {"HOME": str(home), "CLAUDE_CONFIG_DIR": str(home), "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
    options = ClaudeAgentOptions(
        model="claude-sonnet-5",
        system_prompt="Answer.",
        tools=[],
        setting_sources=[],
        skills=[],
        extra_args={"bare": None, "no-session-persistence": None, "disable-slash-commands": None},
        cwd=home,
        env=own,
        include_partial_messages=True,
    )
    async with ClaudeSDKClient(options) as client:
        await client.query(f"What does option {number} do?")
        results = [message async for message in client.receive_response() if isinstance(message, ResultMessage)]
    return bool(results) and not results[-1].is_error


async def pool(tasks: int, workers: int) -> int:
    """Ask so many questions with so many workers; returns how many were answered."""
    numbers = iter(range(tasks))
    answered: list[bool] = []

    async def work() -> None:
        answered.extend([await ask(number, Path(folder)) for number in numbers])

    with tempfile.TemporaryDirectory() as folder:
        async with asyncio.TaskGroup() as group:
            for _ in range(workers):
                group.create_task(work())
    return sum(answered)


def main() -> None:
    """Ask what the arguments say; of this process's variables the CLI gets none that could lead elsewhere."""
    tasks, workers = map(int, sys.argv[1:])
    kept = {"ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"}
    for name in [name for name in os.environ if name.startswith(("ANTHROPIC_", "CLAUDE_", "AWS_", "GOOGLE_"))]:
        if name not in kept:
            del os.environ[name]
    answered = asyncio.run(pool(tasks, workers))
    print(json.dumps({"answered": answered}))
    if answered != tasks:
        raise SystemExit(f"{answered} of {tasks} were answered")


if __name__ == "__main__":
    main()
