"""Says, before anything is paid, what of a config's agent is probably not meant as it is written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from keval.config.model import Config


def agent_doubts(config: Config, *, mock: bool) -> Iterator[str]:
    """Yield what the agent's program will not get, and what a mock run does not keep from it, one sentence each."""
    if mock:
        yield from _beyond_mock(config)
    yield from _unheard_prompts(config)
    yield from _paths_as_prompts(config)
    yield from _shared_folders(config)


def _beyond_mock(config: Config) -> Iterator[str]:
    """Yield what of the agent a mock run really calls."""
    what = config.agent.agent.beyond_mock
    if what is not None:
        yield (
            f"agent {config.agent.name}: --mock stands in for models behind the Messages API, not for the agent's "
            f"{what}: that is really called, and what it does may cost money"
        )


def _unheard_prompts(config: Config) -> Iterator[str]:
    """Yield which conditions have a system prompt that the agent's program is not given."""
    prompted = [condition.name for condition in config.conditions if condition.system_prompt]
    if prompted and not config.agent.agent.is_given_system_prompts:
        yield (
            f"agent {config.agent.name}: its program is not given the system prompt of {', '.join(prompted)}; write "
            "{system_prompt} into its command or adapter"
        )


def _paths_as_prompts(config: Config) -> Iterator[str]:
    """Yield which conditions have a system prompt that is the path of a file: the agent would be told the path."""
    for condition in config.conditions:
        prompt = condition.system_prompt
        if len(prompt.split()) == 1 and _is_file(config.path.parent / prompt):
            yield (
                f"condition {condition.name}: its system prompt is the text {prompt!r}, not what stands in that file; "
                f"write `system_prompt_file: {prompt}`"
            )


def _is_file(path: Path) -> bool:
    with suppress(OSError):  # such as that the name is too long
        return path.is_file()
    return False


def _shared_folders(config: Config) -> Iterator[str]:
    """Yield which links of the copied folder lead to what is not copied."""
    template = config.agent.workspace.template
    outside = [] if template is None else template.links_out()
    if outside:
        more = f" and {len(outside) - 1} more" if len(outside) > 1 else ""
        yield (
            f"workspace: {outside[0]}{more}, a link, leads out of the folder that is copied: all tasks share what is "
            "there and can change it, and keval does not notice when it changes"
        )
