from __future__ import annotations

import gzip
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from keval.agents import AgentError, Answer
from keval.agents.http import Http
from keval.usage import Usage
from tests.prompts import prompt
from tests.web_service import Reply, serving


async def test_the_template_is_posted_with_its_headers(tmp_path: Path) -> None:
    """What the config writes is what the service gets, lists and numbers as such."""
    body = {
        "model": "m",
        "n": 2,
        "stream": False,
        "messages": [{"role": "system", "content": "{system_prompt}"}, {"role": "user", "content": "Q: {question}"}],
        "all": ["{turns}", "{repetition}", "{{question}}"],
    }
    with serving(lambda _: Reply("yes")) as service:
        agent = Http(url=service.url + "?a=b", body=body, headers={"X-Key": "tok"})
        answer = await agent.answer(prompt(tmp_path, question='"{system_prompt}"', repetition=3))
    (asked,) = service.asked
    assert answer.text == "yes"
    assert (asked.path, asked.headers["X-Key"]) == ("/answer?a=b", "tok")
    assert json.loads(asked.body) == {
        **body,
        "messages": [
            {"role": "system", "content": "Answer briefly."},
            {"role": "user", "content": 'Q: "{system_prompt}"'},
        ],
        "all": [['"{system_prompt}"'], 3, "{question}"],
    }


async def test_paths_lead_to_answer_tokens_and_cost(tmp_path: Path) -> None:
    """What is not there is not known."""
    said = {"choices": [{"text": "a fruit"}], "usage": {"input_tokens": 7, "output_tokens": 2}, "usd": 0.25}
    with serving(lambda _: Reply(json.dumps(said))) as service:
        paths: Any = {"answer_path": "$.choices[0].text", "usage_path": "$.usage"}
        known = await Http(url=service.url, cost_path="$.usd", **paths).answer(prompt(tmp_path))
        unknown = await Http(url=service.url, cost_path="$.price", **paths).answer(prompt(tmp_path))
    assert (known.text, known.usage, known.cost_usd) == ("a fruit", Usage(input_tokens=7, output_tokens=2), 0.25)
    assert unknown.cost_usd is None


async def failure(reply: Reply, folder: Path, **options: Any) -> AgentError:  # noqa: ANN401 - any option
    """Return what an agent fails with when it gets a reply."""
    with serving(lambda _: reply) as service, pytest.raises(AgentError) as caught:
        await Http(url=service.url, **options).answer(prompt(folder))
    return caught.value


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (Reply("busy", 429, {"retry-after": "7"}), ("infra_error", True, True, 7.0)),
        (Reply("down", 503, {"retry-after": "soon"}), ("infra_error", True, True, None)),
        (Reply("broken", 500), ("infra_error", True, False, None)),
        (Reply("late", 408), ("infra_error", True, False, None)),
        (Reply(status=0), ("infra_error", True, False, None)),
        (Reply("who?", 401), ("infra_error", False, False, None)),
        (Reply("", 307, {"location": "/there"}), ("infra_error", False, False, None)),
        (Reply("", 302), ("infra_error", False, False, None)),
        (Reply("too long", 413), ("infra_error", False, False, None)),
        (Reply("no text", 400), ("infra_error", False, False, None)),
        (Reply("no question", 422), ("infra_error", False, False, None)),
        (Reply("no such model or path", 404), ("infra_error", False, False, None)),
        (Reply("not by POST", 405), ("infra_error", False, False, None)),
    ],
)
async def test_a_status_says_whose_fault_it_is(
    tmp_path: Path, reply: Reply, expected: tuple[str, bool, bool, float | None]
) -> None:
    """What may pass is tried again, as late as the service wishes; a refused request has no bad answer."""
    error = await failure(reply, tmp_path)
    assert (error.kind, error.retryable, error.overloaded, error.retry_after_s) == expected
    if reply.status:
        assert f"HTTP {reply.status}" in error.message


async def test_nobody_there_is_no_bad_answer(tmp_path: Path) -> None:
    """A connection that is refused, or an address that is none, is a failure of the infrastructure."""
    with serving(lambda _: Reply()) as gone:
        pass
    with pytest.raises(AgentError, match="cannot reach the service") as caught:
        await Http(url=gone.url).answer(prompt(tmp_path))
    assert (caught.value.kind, caught.value.retryable) == ("infra_error", True)
    with pytest.raises(AgentError) as caught:
        await Http(url="http://[::1/").answer(prompt(tmp_path))
    assert (caught.value.kind, caught.value.retryable) == ("infra_error", False)


@pytest.mark.parametrize(
    ("body", "options", "said"),
    [
        ("<html>", {"answer_path": "$.a"}, "the reply is not JSON"),
        ('{"a": 7}', {"answer_path": "$.a"}, r"the reply has a number at \$.a, not a text"),
        ("{}", {"answer_path": "$.a"}, r"the reply has nothing at \$.a"),
        (b"\xff", {}, "not UTF-8: byte 0"),
        ("x" * 2000, {"max_reply_bytes": 1000}, "longer than max_reply_bytes"),
    ],
)
async def test_a_reply_without_an_answer_is_the_agents_failure(
    tmp_path: Path, body: str | bytes, options: Mapping[str, Any], said: str
) -> None:
    """The message says what was found in its place."""
    error = await failure(Reply(body), tmp_path, **options)
    assert error.kind == "agent_error"
    assert re.search(said, error.message)


async def test_a_header_that_no_request_can_have_is_no_fault_of_the_service(tmp_path: Path) -> None:
    """As a token from a file that ends in a newline; to try again would not help."""
    with serving(lambda _: Reply("yes")) as service:
        with pytest.raises(AgentError, match="cannot be asked") as told:
            await Http(url=service.url, headers={"X-Key": "tok\n"}).answer(prompt(tmp_path))
        assert (told.value.kind, told.value.retryable, service.asked) == ("infra_error", False, [])


@pytest.mark.parametrize("options", [{}, {"answer_path": "$.a"}])
async def test_a_success_without_content_has_no_answer(tmp_path: Path, options: Mapping[str, Any]) -> None:
    """The reply itself is empty then; where JSON is expected it is a failure."""
    with serving(lambda _: Reply("", 204)) as service:
        asked = Http(url=service.url, **options).answer(prompt(tmp_path))
        if options:
            with pytest.raises(AgentError, match="the reply is not JSON"):
                await asked
        else:
            assert (await asked).status == "empty"


async def test_a_packed_reply_is_as_long_as_what_is_in_it(tmp_path: Path) -> None:
    """A few bytes that unpack to more than the limit are not unpacked to their end."""
    packed = gzip.compress(bytes(10_000_000))
    assert len(packed) < 100_000
    error = await failure(Reply(packed, headers={"content-encoding": "gzip"}), tmp_path, max_reply_bytes=1_000_000)
    assert "longer than max_reply_bytes" in error.message


async def test_connections_are_kept_and_cookies_are_not(tmp_path: Path) -> None:
    """In a run one connection serves task after task, and none is told what another one was given."""
    with serving(lambda _: Reply("yes", headers={"set-cookie": "session=1"})) as service:
        async with Http(url=service.url).opened() as opened:
            for _ in range(3):
                assert (await opened.answer(prompt(tmp_path))).text == "yes"
    assert len(service.connections) == 1
    assert not any("cookie" in map(str.lower, asked.headers) for asked in service.asked)


async def test_each_part_of_a_reply_is_a_sign_of_life(tmp_path: Path) -> None:
    """A long reply does not meet the idle timeout as long as it comes."""
    beats: list[Answer] = []
    with serving(lambda _: Reply("x" * 300_000)) as service:
        await Http(url=service.url).answer(prompt(tmp_path, heartbeat=beats.append))
    assert beats


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"url": "example.org"}, "begins with http"),
        ({"url": "http://x", "body": {"q": ["{answer}"]}}, "unknown placeholder {answer}"),
        ({"url": "http://x", "answer_path": "a"}, "begins with"),
        ({"url": "http://x", "usage_path": "$.a"}, "go with answer_path"),
        ({"url": "http://x", "max_reply_bytes": 0}, "more than 0"),
    ],
)
def test_an_impossible_option_is_refused_at_once(options: Mapping[str, Any], said: str) -> None:
    """Mistakes in the config are found before anything is asked."""
    with pytest.raises(ValueError, match=said):
        Http(**options)


def test_it_does_not_know_of_tool_calls() -> None:
    """What is not told is not counted as none."""
    assert not Http(url="http://x").reports_tool_calls


def test_a_service_that_is_sent_all_messages_takes_several() -> None:
    """However deep in the body they stand."""
    assert not Http(url="http://x").takes_turns
    assert Http(url="http://x", body={"a": [{"b": "{turns}"}]}).takes_turns


async def test_a_service_is_reached_whatever_it_makes_of_a_request_for_no_answer() -> None:
    """It is posted nothing: that could cost something."""
    with serving(lambda _: Reply("yes")) as service:
        assert await Http(url=service.url).unreachable() is None
    assert service.asked == []


async def test_a_service_that_is_not_there_is_not_reached() -> None:
    """Before a run as in it, the reason is that of the connection; an address that is none cannot be asked."""
    with serving(lambda _: Reply("yes")) as service:
        url = service.url
    for name, reason in ((url, "cannot reach the service: "), ("http://127.0.0.1:x", "cannot be asked: ")):
        found = await Http(url=name).unreachable()
        assert found is not None
        assert found.startswith(reason)
