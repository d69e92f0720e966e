from typing import Any

from keval.mock.prompt_cache import KEPT_S, PromptCache

MARK = {"cache_control": {"type": "ephemeral"}}
LONG = "word " * 2000


def request(system: str = LONG, user: str = "Q", model: str = "claude-opus-5", **more: Any) -> dict[str, Any]:  # noqa: ANN401 - any part of a request
    """Return a request whose system prompt is marked."""
    return {
        "model": model,
        "system": [{"type": "text", "text": system, **MARK}],
        "messages": [{"role": "user", "content": user}],
        **more,
    }


def test_a_prefix_is_written_once_and_read_by_every_request_that_begins_with_it() -> None:
    """What comes after the mark does not matter."""
    cache = PromptCache()
    read, written = cache.use(request())
    assert (read, written > 2000) == (0, True)
    assert cache.use(request(user="another")) == (written, 0)


def test_another_prefix_model_or_tool_is_another_entry() -> None:
    """A cached prompt is never served for something else."""
    cache = PromptCache()
    cache.use(request())
    others = (request(system=LONG + "x"), request(model="claude-sonnet-5"), request(tools=[{"name": "search"}]))
    assert [cache.use(other)[0] for other in others] == [0, 0, 0]


def test_a_request_that_is_marked_itself_is_kept_whole() -> None:
    """A conversation that goes on reads all that was said before."""
    cache = PromptCache()
    said = [{"role": "user", "content": LONG}]
    more = [*said, {"role": "assistant", "content": "A"}, {"role": "user", "content": "Q"}]
    first, second = ({"model": "claude-opus-5", "messages": messages, **MARK} for messages in (said, more))
    _, written = cache.use(first)
    read, added = cache.use(second)
    assert written > 2000
    assert read == written
    assert 0 < added < 100


def test_what_is_too_short_for_the_model_is_not_kept() -> None:
    """It costs what it costs without a mark."""
    cache = PromptCache()
    for model in ("claude-haiku-4-5", "claude-haiku-4-5-20251001"):
        haiku = request(model=model)
        assert [cache.use(haiku), cache.use(haiku)] == [(0, 0), (0, 0)]


def test_what_is_not_marked_is_not_kept() -> None:
    """Nobody pays for what they did not ask for."""
    cache = PromptCache()
    plain = request(system="") | {"system": LONG}
    assert [cache.use(plain), cache.use(plain)] == [(0, 0), (0, 0)]


def test_the_longest_prefix_that_is_there_is_read_and_the_rest_up_to_the_last_mark_written() -> None:
    """A conversation that grows reads what was there of it."""
    cache = PromptCache()
    _, first = cache.use(request())
    longer = request(user="") | {"messages": [{"role": "user", "content": [{"type": "text", "text": LONG, **MARK}]}]}
    read, written = cache.use(longer)
    assert read == first
    assert written > 2000
    assert cache.use(longer) == (read + written, 0)


def test_an_entry_is_kept_for_five_minutes_after_its_last_use() -> None:
    """Reading it keeps it."""
    now = [0.0]
    cache = PromptCache(lambda: now[0])
    _, written = cache.use(request())
    for _ in range(3):
        now[0] += KEPT_S - 1
        assert cache.use(request()) == (written, 0)
    now[0] += KEPT_S
    assert cache.use(request()) == (0, written)
