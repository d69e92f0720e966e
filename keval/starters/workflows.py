"""Writes a workflow file for a hosted CI, which runs a config, holds the log to its gate and shows the report."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from keval.starters.config_text import quoted, scalar

FILES = {"github": ".github/workflows/keval.yml", "gitlab": ".gitlab-ci.yml"}
"""Where each CI looks for its file, from the root of a checkout."""

NOT_KNOWN = "./keval"
"""What stands for keval where pip could not install this one on another machine."""


@dataclass(frozen=True, slots=True)
class Workflow:
    """What the file of a CI says."""

    ci: str
    config: str
    """From the root of a checkout."""
    secrets: Collection[str]
    """The variables that the config needs."""
    package: str | None
    """What pip installs as keval, None if that is not known."""

    def text(self) -> str:
        """Return the file."""
        from keval.exports.comment import MARKER  # loads all that reports are made of

        template = Path(__file__).with_name(f"{self.ci}.yml").read_text(encoding="utf-8")
        names = sorted(self.secrets)
        for mark, value in {
            "@TITLE@": scalar(self.config),
            "@CONFIG@": quoted(self.config),
            "@KEVAL@": self._keval(),
            "@SECRETS@": ", ".join(names) or "none",
            "@ENV@\n": "".join(f"      {name}: ${{{{ secrets.{name} }}}}\n" for name in names),
            "@MARKER@": MARKER,
        }.items():
            template = template.replace(mark, value)
        return template

    def _keval(self) -> str:
        if self.package is not None:
            return quoted(self.package)
        return f"{NOT_KNOWN}   # TO DO: what pip can install there as keval: a folder, a wheel or an address"


def package() -> str | None:
    """Return what pip installs as this keval: its version, or its commit; None where only this machine has it."""
    try:
        found = distribution("keval")
    except PackageNotFoundError:
        return None
    origin = found.read_text("direct_url.json")
    if origin is None:
        return f"keval=={found.version}"
    return _of_repository(json.loads(origin))


def _of_repository(origin: dict[str, dict[str, str]]) -> str | None:
    vcs = origin.get("vcs_info")
    return None if vcs is None else f"keval @ {vcs['vcs']}+{origin['url']}@{vcs['commit_id']}"


def root_of(folder: Path, here: Path) -> Path:
    """Return the root of the checkout that a folder is in; where it is in none, `here` if that is around it."""
    folder, here = folder.resolve(), here.resolve()
    for parent in (folder, *folder.parents):
        if (parent / ".git").exists():
            return parent
    return here if folder.is_relative_to(here) else folder
