"""What a run may take from the environment, and what it records of it.

An agent's processes get an environment made from an allow-list: a path, a language, a place for
temporary files, certificates and proxies, and the one key that the agent names. Keys of anything
else, the judge's among them, are not in it.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Iterable, Mapping
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path

from keval.errors import EnvironmentLacksError
from keval.ids import JsonObject

ALLOWED = (
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "TZ", "TMPDIR", "LANG", "LANGUAGE",
    "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE",
    "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy",
)  # fmt: skip
"""Variables that every agent process may have; `LC_*` too."""

NO_PROXY = ("NO_PROXY", "no_proxy")
"""Hosts that are reached without a proxy."""

MOCK_KEY = "key-of-the-mock"
"""The key that clients of the mock get; it takes any."""

BASE_URL = "ANTHROPIC_BASE_URL"
"""Where the Messages API is; unset means the service's own address."""


MOCK_URL = "KEVAL_MOCK_URL"
"""Where the mock is; set only with --mock, it goes before every address that a config names."""


def allowed(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the part of an environment that any agent process may have.

    `python` in a config is the Python that runs keval: its folder comes first in the path.
    """
    kept = {name: value for name, value in environ.items() if name in ALLOWED or name.startswith("LC_")}
    kept["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), kept.get("PATH", os.defpath)])
    return kept


def for_models(environ: Mapping[str, str], keys: Iterable[str], mock_url: str | None) -> dict[str, str]:
    """Return the variables that reach the Messages API: its address and the named keys.

    With a mock every key is a dummy and the address is the mock's. Raises EnvironmentLacksError
    when a key is not set.
    """
    keys = tuple(keys)
    if mock_url is not None:
        # A proxy of this environment would not find a server on this machine.
        direct = {name: ",".join(filter(None, [environ.get(name), "127.0.0.1,localhost"])) for name in NO_PROXY}
        return {BASE_URL: mock_url, MOCK_URL: mock_url, **direct, **dict.fromkeys(keys, MOCK_KEY)}
    missing = sorted(key for key in keys if not environ.get(key))
    if missing:
        raise EnvironmentLacksError(
            f"not set: {', '.join(missing)}; export the key, or rehearse without spending with --mock"
        )
    return {name: environ[name] for name in (BASE_URL, *keys) if environ.get(name)}


def fingerprint(folder: Path) -> JsonObject:
    """Return the versions of everything that a run depends on, and the git state of `folder`."""
    commit = _git(folder, "rev-parse", "HEAD")
    status = _git(folder, "status", "--porcelain") if commit else None
    return {
        "keval": keval_version(),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "claude_agent_sdk": version_of("claude-agent-sdk"),
        "claude_code": claude_code(),
        "anthropic": version_of("anthropic"),
        "git_commit": commit or None,
        "git_dirty": None if status is None else bool(status),
    }


def keval_version() -> str:
    """Return keval's own version, as a run event has it."""
    return version("keval")


def version_of(package: str) -> str | None:
    """Return the version of a package; None if it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def claude_code() -> str | None:
    """Return the version of the CLI inside claude-agent-sdk, read from the file beside it."""
    try:
        path = distribution("claude-agent-sdk").locate_file("claude_agent_sdk/_bundled/claude.version")
        words = Path(str(path)).read_text(encoding="utf-8").split()
    except (PackageNotFoundError, OSError):
        return None
    return words[0] if words else None


def _git(folder: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(  # noqa: S603 - fixed arguments
            ["git", "-C", str(folder), *arguments],  # noqa: S607 - the user's own git
            capture_output=True, text=True, check=False, timeout=10,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
