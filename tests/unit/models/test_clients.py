from __future__ import annotations

import json
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from keval.models.messages_api import Model, ModelError
from keval.models.services import Service
from tests.scripted_service import message
from tests.web_service import Asked, Reply, serving

QUESTION = [{"role": "user", "content": "Why?"}]


def replying(asked: Asked) -> Reply:
    """Reply as the Messages API does, with the address that was asked as the text."""
    _, said = message(asked.path)
    return Reply(json.dumps(said), headers={"content-type": "application/json"})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("service", "path"),
    [
        (Service(api_key_env="MINE"), "/answer/v1/messages"),
        (
            Service(provider="bedrock", region="us-east-1", api_key_env="MINE"),
            "/answer/model/claude-opus-5/invoke",
        ),
    ],
)
async def test_a_service_is_asked_in_its_own_way(monkeypatch: pytest.MonkeyPatch, service: Service, path: str) -> None:
    """With the key that the config names and the config's headers, and nothing that is inherited."""
    for name in ("ANTHROPIC_API_KEY", "AWS_BEARER_TOKEN_BEDROCK", "ANTHROPIC_CUSTOM_HEADERS"):
        monkeypatch.setenv(name, "X-Stray: stray-secret")
    monkeypatch.setenv("ANTHROPIC_BEDROCK_BASE_URL", "http://127.0.0.1:9")
    with serving(replying) as gateway:
        at = Service(
            provider=service.provider, region=service.region, api_key_env="MINE", base_url=gateway.url,
            headers=(("X-Mine", "1"),),
        )  # fmt: skip
        reply = await Model(name="claude-opus-5", max_tokens=9, service=at).ask(
            {"MINE": "the-key", "ANTHROPIC_BASE_URL": "http://127.0.0.1:9"}, system="", messages=QUESTION
        )
    (asked,) = gateway.asked
    assert reply.text == asked.path == path
    headers = {name.lower(): value for name, value in asked.headers.items()}
    assert [headers.get(name) for name in ("authorization", "x-api-key")] == ["Bearer the-key", None]
    assert headers["x-mine"] == "1"
    assert "stray" not in str(headers)


@pytest.mark.slow
async def test_google_is_logged_in_to_with_the_key_file_that_the_environment_names(tmp_path: Path) -> None:
    """Its token comes from the address in the file, and the model is asked with it, by project and region."""

    def logging_in(asked: Asked) -> Reply:
        token = {"access_token": "the-token", "expires_in": 3600, "token_type": "Bearer"}
        return Reply(json.dumps(token)) if asked.path == "/answer/token" else replying(asked)

    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    written = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    with serving(logging_in) as cloud:
        account = {"client_email": "keval@p", "private_key": written, "token_uri": f"{cloud.url}/token"}
        (tmp_path / "account.json").write_text(json.dumps({"type": "service_account", **account}))
        service = Service(provider="vertex", region="us-east5", project="p", base_url=cloud.url)
        environment = {"GOOGLE_APPLICATION_CREDENTIALS": str(tmp_path / "account.json")}
        reply = await Model(name="claude-opus-5", max_tokens=9, service=service).ask(
            environment, system="", messages=QUESTION
        )
    login, asked = cloud.asked
    path = "/answer/projects/p/locations/us-east5/publishers/anthropic/models/claude-opus-5:rawPredict"
    assert (login.path, asked.path, reply.text) == ("/answer/token", path, path)
    assert {name.lower(): value for name, value in asked.headers.items()}["authorization"] == "Bearer the-token"


async def test_a_key_file_that_is_not_there_is_said(tmp_path: object) -> None:
    """So is what is not installed: what the provider needs is told with the provider."""
    service = Service(provider="vertex", region="global", project="p", base_url="http://127.0.0.1:9")
    with pytest.raises(ModelError, match=r"provider vertex: .*(keval\[vertex\]|No such file)") as caught:
        await Model(name="m", max_tokens=9, service=service).ask(
            {"GOOGLE_APPLICATION_CREDENTIALS": f"{tmp_path}/gone.json"}, system="", messages=QUESTION
        )
    assert not caught.value.retryable
