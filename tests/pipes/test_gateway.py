"""Another vendor's model behind a third-party gateway answers and judges: LiteLLM's proxy, with a canned model."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from keval.mock.filling import Filling
from tests.conftest import Keval
from tests.prompts import SERVERS
from tests.servers.over_http import free_port, is_served
from tests.web_service import Asked, Reply, serving

LITELLM = Path(__file__).parents[2] / ".servers" / "litellm" / "bin" / "litellm"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not LITELLM.exists(), reason="LiteLLM's proxy is not installed; `make gateway` does that"),
]

KEY = "sk-of-the-gateway"


def completion(asked: Asked) -> Reply:
    """Reply as a model with the other vendor's API: call the first tool, then repeat what it found."""
    body = json.loads(asked.body)
    results = [message["content"] for message in body["messages"] if message["role"] == "tool"]
    message: dict[str, Any] = {"role": "assistant", "content": None}
    wanted = body.get("response_format") or {}
    if body.get("tools") and not results:
        function = {"name": body["tools"][0]["function"]["name"], "arguments": json.dumps({"query": "kiwi"})}
        message["tool_calls"] = [{"id": "call_1", "type": "function", "function": function}]
    elif wanted.get("type") == "json_schema":
        message["content"] = json.dumps(
            Filling(wanted["json_schema"]["schema"], "fine").value(wanted["json_schema"]["schema"])
        )
    else:
        message["content"] = f"The tool said: {results[-1] if results else 'nothing'}"
    why = "tool_calls" if "tool_calls" in message else "stop"
    said = {
        "id": "1", "object": "chat.completion", "created": 1, "model": "canned",
        "choices": [{"index": 0, "message": message, "finish_reason": why}],
        "usage": {"prompt_tokens": 30, "completion_tokens": 7, "total_tokens": 37},
    }  # fmt: skip
    return Reply(json.dumps(said), headers={"content-type": "application/json"})


@contextmanager
def gateway(folder: Path, model_url: str) -> Iterator[str]:
    """Serve the Messages API by LiteLLM's proxy, with nothing of this machine's settings."""
    port = free_port()
    params = {"model": "hosted_vllm/canned", "api_base": model_url, "api_key": "none"}
    config = {
        "model_list": [{"model_name": "local", "litellm_params": params}],
        "general_settings": {"master_key": KEY},
    }
    (folder / "gateway.yaml").write_text(json.dumps(config))
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    command = [
        str(LITELLM),
        "--config",
        "gateway.yaml",
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
        "--telemetry",
        "False",
    ]
    with (folder / "gateway.log").open("wb") as log:
        server = subprocess.Popen(command, cwd=folder, env=env, stdout=log, stderr=log)
    try:
        while not is_served(port):
            assert server.poll() is None, (folder / "gateway.log").read_text()
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait()


def test_a_model_behind_a_gateway_answers_and_judges(
    keval: Keval, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tools, structured judgments, and tokens come through; what an unknown model costs is unknown."""
    monkeypatch.setenv("GATEWAY_KEY", KEY)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    (tmp_path / "questions.jsonl").write_text('{"id": "a", "question": "What is a kiwi?", "answer": "found: kiwi"}\n')
    with serving(completion) as model, gateway(tmp_path, model.url.removesuffix("/answer")) as url:
        reached = {"model": "local", "base_url": url, "api_key_env": "GATEWAY_KEY"}
        server = {"type": "stdio", "command": "python", "args": [str(SERVERS / "docs.py")]}
        config = {
            "name": "gateway",
            "dataset": {"path": "questions.jsonl"},
            "agent": {"type": "messages", **reached},
            "mcp_servers": {"docs": server},
            "conditions": {"with_docs": {"system_prompt": "Search.", "mcp_servers": ["docs"]}},
            "judges": [{"type": "rubric", **reached}],
            "execution": {"repetitions": 1},
        }
        (tmp_path / "eval.yaml").write_text(json.dumps(config))
        done = keval("run", "eval.yaml", "-o", "run.jsonl", "-q")
    lines = [json.loads(line) for line in (tmp_path / "run.jsonl").read_text().splitlines()]
    assert done.returncode == 0, (done.stderr, [line for line in lines if line["type"] == "failure"])
    (response,) = [line for line in lines if line["type"] == "response"]
    (judgment,) = [line for line in lines if line["type"] == "judgment"]
    assert response["text"] == "The tool said: found: kiwi"
    assert (response["mcp"]["docs"]["called"], response["mcp"]["docs"]["failed"]) == (1, 0)
    assert (response["usage"]["input_tokens"], response["cost_usd"]) == (60, None)
    assert all(score["score"] is not None for score in judgment["scores"].values())
    assert KEY not in (tmp_path / "run.jsonl").read_text()
