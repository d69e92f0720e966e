"""Reads what a config says of the folders in which the agent works."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from keval.agents import Agent
from keval.config.model import WorkspaceConfig
from keval.errors import InputError
from keval.processes import workspace_template
from keval.processes.workspace_template import Template
from keval.secrets.variables import Secrets

if TYPE_CHECKING:
    from keval.documents.yaml_document import Keys
    from keval.ids import JsonObject

SECTION = "workspace"


def read(
    section: JsonObject, folder: Path, agent: Agent, secrets: Secrets, problem: Callable[[Keys, str], None]
) -> WorkspaceConfig:
    """Return what a section says whose structure was checked; `problem` takes note of what else is wrong."""
    keeps = {name: section[name] for name in ("keep", "keep_in") if name in section}
    if section and not agent.uses_workspace:
        problem((SECTION,), "this agent works in no folder; leave the section out")
        return WorkspaceConfig()
    template: Template | None = None
    for kind in ("copy", "git"):
        written = section.get(kind)
        if isinstance(written, str) and not secrets.missing(written):
            path = folder / secrets.resolve_known(written)
            try:
                template = _template(kind, path, written, str(section.get("ref", "HEAD")))
            except InputError as error:
                problem((SECTION, kind), str(error))
    return WorkspaceConfig(template, **keeps)


def _template(kind: str, path: Path, written: str, ref: str) -> Template:
    if kind == "copy":
        return workspace_template.of_folder(path, written)
    return workspace_template.of_repository(path, written, ref)
