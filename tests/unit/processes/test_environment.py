from __future__ import annotations

import sys
from pathlib import Path

import pytest

from keval.errors import EnvironmentLacksError
from keval.processes import environment


def test_only_what_is_on_the_list_reaches_an_agent() -> None:
    """Keys and settings of other programs are not in an agent's environment."""
    kept = environment.allowed(
        {"PATH": "/bin", "LC_ALL": "C", "JUDGE_KEY": "k", "AWS_SECRET_ACCESS_KEY": "k", "HOME": "/h"}
    )
    assert kept.keys() == {"PATH", "LC_ALL", "HOME"}


def test_python_in_a_config_is_the_python_that_runs_keval() -> None:
    """The interpreter of keval itself comes first in the path."""
    first = environment.allowed({"PATH": "/bin"})["PATH"].split(":")[0]
    assert Path(first) == Path(sys.executable).parent


def test_a_missing_key_is_told_with_the_next_step() -> None:
    """The message names the variable and offers the rehearsal."""
    with pytest.raises(EnvironmentLacksError, match=r"AGENT_KEY.*--mock"):
        environment.for_models({"OTHER": "x"}, ["AGENT_KEY"], None)


def test_with_a_mock_no_real_key_is_used() -> None:
    """Every key is a dummy and the address is the mock's, whatever the environment holds."""
    real = {"AGENT_KEY": "real", "ANTHROPIC_BASE_URL": "real", "NO_PROXY": "intranet"}
    found = environment.for_models(real, ["AGENT_KEY"], "http://127.0.0.1:1")
    assert (found["ANTHROPIC_BASE_URL"], found["AGENT_KEY"]) == ("http://127.0.0.1:1", "key-of-the-mock")


def test_the_mock_is_reached_without_a_proxy() -> None:
    """Loopback is added to the hosts that this environment reaches directly."""
    found = environment.for_models({"NO_PROXY": "intranet"}, [], "http://127.0.0.1:1")
    assert (found["NO_PROXY"], found["no_proxy"]) == ("intranet,127.0.0.1,localhost", "127.0.0.1,localhost")


def test_the_fingerprint_names_every_version(tmp_path: Path) -> None:
    """Outside a git checkout the commit is null, and the versions are there."""
    found = environment.fingerprint(tmp_path)
    assert found["git_commit"] is None
    assert found["git_dirty"] is None
    assert found["claude_code"]
    assert found["anthropic"]
