from __future__ import annotations

from pathlib import Path

import pytest

from keval.agents._claude_launch import Launch
from keval.agents.claude import Claude
from keval.processes import machine
from tests.prompts import environment, prompt, stdio

AGENT = Claude(model="claude-sonnet-5")


def test_the_start_script_has_names_and_no_values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes away what is inherited, and nothing secret stands in a file that can be executed or read by others."""
    monkeypatch.setenv("JUDGE_KEY", "sk-judge")
    env = environment({"ANTHROPIC_API_KEY": "sk-agent"})
    servers = {"docs": stdio("docs.py", ACCESS="sk-server")}
    launch = Launch(AGENT, prompt(tmp_path, env, servers=servers), tmp_path, "token")
    options = launch.options(lambda _line: None)
    script = Path(str(options.cli_path)).read_text()
    assert "-u JUDGE_KEY" in script
    assert f"ulimit -Sn {machine.own_limit()}" in script
    assert "sk-" not in script
    assert options.env["ANTHROPIC_API_KEY"] == "sk-agent"
    assert {path.stat().st_mode & 0o077 for path in tmp_path.iterdir() if path.is_file()} == {0}
