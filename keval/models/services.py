"""Where a model is asked: Anthropic's own service, a cloud that offers it, or any gateway with the same API.

An agent and each judge have a service of their own. Nothing is inherited from settings of the machine but the key that
is named. With a mock everything goes there, whatever a config says.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from keval.plugins import option
from keval.processes.environment import BASE_URL, MOCK_KEY, MOCK_URL

ANTHROPIC_URL = "https://api.anthropic.com"

Provider = Literal["anthropic", "bedrock", "vertex"]

USUAL_KEY = "ANTHROPIC_API_KEY"

KEYS: Mapping[Provider, str] = {
    "anthropic": USUAL_KEY,
    "bedrock": "AWS_BEARER_TOKEN_BEDROCK",
    "vertex": "GOOGLE_APPLICATION_CREDENTIALS",
}
"""The variable that holds the key, if the config names no other; for Vertex the path of a service account's file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """One service, and how it is reached."""

    provider: Provider = "anthropic"
    base_url: str | None = None
    """None for the provider's own address, or the one in the environment."""
    headers: tuple[tuple[str, str], ...] = ()
    region: str | None = None
    project: str | None = None
    api_key_env: str = USUAL_KEY

    @property
    def key_name(self) -> str:
        """The environment variable that holds the key."""
        return KEYS[self.provider] if self.api_key_env == USUAL_KEY else self.api_key_env

    def reached_by(self, env: Mapping[str, str]) -> Service:
        """Return the service with its address as an environment has it; with a mock it is the mock."""
        if env.get(MOCK_URL):
            return Service(base_url=env[MOCK_URL], api_key_env=self.key_name)
        if self.provider != "anthropic":
            return self
        url = self.base_url or env.get(BASE_URL) or ANTHROPIC_URL
        return Service(base_url=url, headers=self.headers, api_key_env=self.api_key_env)

    def problems(self) -> list[str]:
        """Return what is wrong with the options, each as `name: why`."""
        wrong = []
        if self.base_url is not None and not self.base_url.startswith(("http://", "https://", "${")):
            wrong.append("base_url: begins with http:// or https://")
        if self.provider != "anthropic" and self.region is None:
            wrong.append(f"region: provider {self.provider} needs one, such as us-east-1")
        if self.provider == "vertex" and self.project is None:
            wrong.append("project: provider vertex needs one")
        return wrong

    def cli_env(self, env: Mapping[str, str]) -> dict[str, str]:
        """Return the variables by which Claude Code finds the service; `env` has the key."""
        if env.get(MOCK_URL):
            return {USUAL_KEY: MOCK_KEY, BASE_URL: env[MOCK_URL]}
        key, url = env.get(self.key_name, ""), self.base_url
        headers = "\n".join(f"{name}: {value}" for name, value in self.headers)
        shared = {"ANTHROPIC_CUSTOM_HEADERS": headers} if headers else {}
        if self.provider == "bedrock":
            own = {"CLAUDE_CODE_USE_BEDROCK": "1", "AWS_REGION": self.region or "", KEYS["bedrock"]: key}
            return {**shared, **own, **({"ANTHROPIC_BEDROCK_BASE_URL": url} if url else {})}
        if self.provider == "vertex":
            where = {"CLOUD_ML_REGION": self.region or "", "ANTHROPIC_VERTEX_PROJECT_ID": self.project or ""}
            own = {"CLAUDE_CODE_USE_VERTEX": "1", **where, KEYS["vertex"]: key}
            return {**shared, **own, **({"ANTHROPIC_VERTEX_BASE_URL": url} if url else {})}
        return {**shared, USUAL_KEY: key, **({BASE_URL: url} if url else {})}


@dataclass(frozen=True, kw_only=True)
class ServiceOptions:
    """The options of whoever asks a model; what decides which model answers is part of the identity."""

    provider: Provider = field(
        default="anthropic", metadata=option("whose service offers the model", identity="if set")
    )
    base_url: str | None = field(
        default=None,
        metadata=option(
            "the address of a gateway that speaks the Messages API; default: the provider's", identity="if set"
        ),
    )
    headers: Mapping[str, str] = field(
        default_factory=dict, hash=False, metadata=option("additional headers of each request", identity="if set")
    )
    region: str | None = field(
        default=None, metadata=option("the region of bedrock or vertex", identity=False, example="us-east-1")
    )
    project: str | None = field(
        default=None, metadata=option("the project of vertex", identity=False, example="my-project")
    )
    api_key_env: str = field(
        default=USUAL_KEY,
        metadata=option(
            "the environment variable that holds the key; for bedrock AWS_BEARER_TOKEN_BEDROCK if not set, for vertex "
            "GOOGLE_APPLICATION_CREDENTIALS, the path of a service account's file",
            identity=False,
        ),
    )

    @property
    def service(self) -> Service:
        """The service as these options have it."""
        return Service(
            provider=self.provider,
            base_url=self.base_url,
            headers=tuple(self.headers.items()),
            region=self.region,
            project=self.project,
            api_key_env=self.api_key_env,
        )

    @property
    def secret_names(self) -> tuple[str, ...]:
        """The environment variable that must hold the key."""
        return (self.service.key_name,)
