from __future__ import annotations

from typing import Any

import pytest

from keval.models.services import ANTHROPIC_URL, Service
from keval.processes import environment


def test_an_address_is_the_configs_then_the_environments_then_the_providers() -> None:
    """What a config says goes before what is inherited."""
    inherited = {"ANTHROPIC_BASE_URL": "http://inherited"}
    written = Service(base_url="http://written", headers=(("X-A", "1"),))
    assert written.reached_by(inherited) == written
    assert Service().reached_by(inherited).base_url == "http://inherited"
    assert Service().reached_by({}).base_url == ANTHROPIC_URL


@pytest.mark.parametrize(
    "service",
    [
        Service(),
        Service(base_url="http://gateway", headers=(("X-Key", "secret"),), api_key_env="MINE"),
        Service(provider="bedrock", region="us-east-1"),
        Service(provider="vertex", region="us-east5", project="p"),
    ],
)
def test_a_mock_goes_before_everything(service: Service) -> None:
    """Neither an address nor a header nor a key of the config reaches it, or anything else."""
    env = environment.for_models({service.key_name: "secret"}, [service.key_name], "http://127.0.0.1:1")
    reached = service.reached_by(env)
    assert (reached.provider, reached.base_url, reached.headers) == ("anthropic", "http://127.0.0.1:1", ())
    assert env[reached.key_name] == environment.MOCK_KEY
    cli = service.cli_env(env)
    assert cli == {"ANTHROPIC_API_KEY": environment.MOCK_KEY, "ANTHROPIC_BASE_URL": "http://127.0.0.1:1"}


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, {"ANTHROPIC_API_KEY": "k"}),
        (
            {"base_url": "http://g", "headers": (("A", "1"), ("B", "2")), "api_key_env": "MINE"},
            {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": "http://g", "ANTHROPIC_CUSTOM_HEADERS": "A: 1\nB: 2"},
        ),
        (
            {"provider": "bedrock", "region": "us-east-1", "base_url": "http://g"},
            {
                "CLAUDE_CODE_USE_BEDROCK": "1",
                "AWS_REGION": "us-east-1",
                "AWS_BEARER_TOKEN_BEDROCK": "k",
                "ANTHROPIC_BEDROCK_BASE_URL": "http://g",
            },
        ),
        (
            {"provider": "vertex", "region": "global", "project": "p"},
            {
                "CLAUDE_CODE_USE_VERTEX": "1",
                "CLOUD_ML_REGION": "global",
                "ANTHROPIC_VERTEX_PROJECT_ID": "p",
                "GOOGLE_APPLICATION_CREDENTIALS": "k",
            },
        ),
    ],
)
def test_claude_code_is_led_to_the_same_service(options: dict[str, Any], expected: dict[str, str]) -> None:
    """By its own variables."""
    service = Service(**options)
    assert service.cli_env({service.key_name: "k", "OTHER": "x"}) == expected


def test_what_a_provider_needs_is_asked_for() -> None:
    """All at once."""
    assert Service(provider="vertex", base_url="gateway").problems() == [
        "base_url: begins with http:// or https://",
        "region: provider vertex needs one, such as us-east-1",
        "project: provider vertex needs one",
    ]
    assert Service(provider="bedrock", region="r").problems() == []
