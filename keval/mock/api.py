"""The routes of the Messages API, answered by the stand-in or with a fault."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass, field

import orjson
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from keval.ids import JsonObject
from keval.mock import batches, conversation, stand_in, wire
from keval.mock.batches import Batch, Batches
from keval.mock.faults import HTTP_ERRORS, OF_BATCHES, OF_RESULTS, Faults
from keval.mock.filling import SchemaError
from keval.mock.journal import Journal, Recorded, json_object
from keval.mock.prompt_cache import PromptCache

MODELS = ("claude-opus-5", "claude-sonnet-5", "claude-haiku-4-5")
"""The models that the mock lists; it answers for any."""

EVERY_METHOD = ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")

GARBAGE = b"<!doctype html><title>Welcome</title><p>Please accept the terms of this network."


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """One HTTP answer as an ASGI application, and what the journal says of it."""

    outcome: str
    chunks: Sequence[bytes] = ()
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    kind: stand_in.ReplyKind | None = None

    async def __call__(self, _scope: Scope, receive: Receive, send: Send) -> None:
        """Send it. One that hangs is never sent; one that is cut is left unfinished, so the server closes."""
        if self.outcome == "hang":
            while (await receive())["type"] != "http.disconnect":
                pass
            return
        headers = [(name.encode(), value.encode()) for name, value in self.headers.items()]
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        for chunk in self.chunks:
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
        if self.outcome != "cut":
            await send({"type": "http.response.body", "body": b"", "more_body": False})


Handler = Callable[[Request, bytes], Awaitable[HttpAnswer]]


@dataclass(frozen=True, slots=True)
class MessagesApi:
    """The API, and what it keeps and does on demand."""

    journal: Journal
    faults: Faults
    latency_s: float
    retry_after_s: float
    bugs: list[Exception]
    """What went wrong in the mock itself."""
    batches: Batches
    prompt_cache: PromptCache = field(default_factory=PromptCache)
    marks: dict[str, dict[str, bool]] = field(default_factory=dict)
    """What MCP servers say of their tools; see `PUT /tools`."""

    def app(self) -> Starlette:
        """Return the application with all routes."""
        return Starlette(
            routes=[
                self._route("POST", "/v1/messages", self._message),
                self._route("POST", "/v1/messages/count_tokens", _count_tokens),
                self._route("POST", "/v1/messages/batches", self._new_batch),
                self._route("GET", "/v1/messages/batches", self._batches),
                self._route("GET", "/v1/messages/batches/{id}", self._batch),
                self._route("GET", "/v1/messages/batches/{id}/results", self._results),
                self._route("GET", "/v1/models", _models),
                self._route("GET", "/v1/models/{id}", _model),
                self._route("GET", "/stats", self._stats),
                self._route("PUT", "/tools", self._tools),
                self._route("GET", "/", _root),
                Route("/{path:path}", self._counted("other", _not_found), methods=EVERY_METHOD),
            ]
        )

    def _route(self, method: str, path: str, handler: Handler) -> Route:
        return Route(path, self._counted(f"{method} {path}", handler), methods=[method])

    def _counted(self, route: str, handler: Handler) -> Callable[[Request], Awaitable[HttpAnswer]]:
        """Return an endpoint that answers by the handler and makes an entry in the journal."""

        async def endpoint(request: Request) -> HttpAnswer:
            try:
                raw = await request.body()
            except ClientDisconnect:
                return HttpAnswer("left")
            with self.journal.answering():
                answer = await self._answer(handler, request, raw)
            recorded = Recorded(request.method, request.url.path, dict(request.headers), raw, answer.outcome)
            self.journal.add(route, recorded, answer.kind)
            return answer

        return endpoint

    async def _answer(self, handler: Handler, request: Request, raw: bytes) -> HttpAnswer:
        has_key = request.headers.get("x-api-key") or request.headers.get("authorization")
        if request.url.path.startswith("/v1/") and (not has_key or self.faults.refuse_every_key):
            return _error("401")
        try:
            return await handler(request, raw)
        except Exception as error:  # noqa: BLE001 - nothing else may stop the server; whoever stops it gets the error
            self.bugs.append(error)
            return _error("500", f"the mock is broken: {error!r}")

    async def _message(self, _request: Request, raw: bytes) -> HttpAnswer:
        fault = self.faults.draw()
        body = json_object(raw)
        await asyncio.sleep(self.latency_s)
        problem = conversation.problem(body)
        if problem:
            return _error("400", problem)
        if fault in HTTP_ERRORS:
            return _error(fault, retry_after_s=self.retry_after_s)
        if fault == "hang":
            return HttpAnswer("hang")
        if fault == "garbage":
            return HttpAnswer("garbage", [GARBAGE], headers={"content-type": "text/html"})
        return self._answered(body, cut=fault == "cut")

    def _answered(self, body: JsonObject, *, cut: bool) -> HttpAnswer:
        try:
            reply = stand_in.reply(body, self.marks)
        except SchemaError as error:
            return _error("400", str(error))
        message = wire.message(body, reply, self.prompt_cache.use(body))
        if body.get("stream"):
            answer = HttpAnswer(
                "ok", wire.stream(message), headers={"content-type": "text/event-stream"}, kind=reply.kind
            )
            middle = len(answer.chunks) // 2
            return HttpAnswer("cut", answer.chunks[:middle], headers=answer.headers) if cut else answer
        answer = _json(message, kind=reply.kind)
        middle = len(answer.chunks[0]) // 2
        return HttpAnswer("cut", [answer.chunks[0][:middle]], headers=answer.headers) if cut else answer

    def _message_of(self, body: JsonObject) -> JsonObject:
        return wire.message(body, stand_in.reply(body, self.marks), self.prompt_cache.use(body))

    async def _new_batch(self, request: Request, raw: bytes) -> HttpAnswer:
        body = json_object(raw)
        if refused := batches.problem(body, len(raw)):
            return _error(*refused)
        fault = self.faults.draw(OF_BATCHES)
        if fault == "batch_lost":
            return _error("500")
        made = _json(self.batches.add(body["requests"]).described(str(request.base_url)))
        if fault == "batch_500":
            return _error("500")
        return _cut(made) if fault == "batch_cut" else made

    async def _batches(self, request: Request, _raw: bytes) -> HttpAnswer:
        asked = request.query_params
        limit = batches.limit(asked.get("limit", "20"))
        if limit is None:
            return _error("400", f"limit: Input should be a number from 1 to {batches.MOST_LISTED}")
        found, more = self.batches.newest(limit, asked.get("after_id"))
        data = [self._settled(batch).described(str(request.base_url)) for batch in found]
        first, last = (found[0].batch_id, found[-1].batch_id) if found else (None, None)
        return _json({"data": data, "has_more": more, "first_id": first, "last_id": last})

    async def _batch(self, request: Request, _raw: bytes) -> HttpAnswer:
        batch = self.batches.made.get(request.path_params["id"])
        return _error("404") if batch is None else _json(self._settled(batch).described(str(request.base_url)))

    async def _results(self, request: Request, _raw: bytes) -> HttpAnswer:
        batch = self.batches.made.get(request.path_params["id"])
        if batch is None or not self._settled(batch).ended:
            return _error("404")
        answer = HttpAnswer("ok", [b"".join(batch.lines())], headers={"content-type": "application/x-jsonl"})
        return _cut(answer) if self.faults.draw(OF_RESULTS) else answer

    def _settled(self, batch: Batch) -> Batch:
        self.batches.settle(batch, self._message_of)
        return batch

    async def _stats(self, _request: Request, _raw: bytes) -> HttpAnswer:
        return _json(asdict(self.journal.requests()))

    async def _tools(self, _request: Request, raw: bytes) -> HttpAnswer:
        self.marks.update(json_object(raw))
        return _json({})


async def _count_tokens(_request: Request, raw: bytes) -> HttpAnswer:
    body = json_object(raw)
    problem = conversation.problem({"max_tokens": 1, **body})
    return _error("400", problem) if problem else _json({"input_tokens": stand_in.input_tokens(body)})


async def _models(_request: Request, _raw: bytes) -> HttpAnswer:
    models = [_model_info(name) for name in MODELS]
    return _json({"data": models, "has_more": False, "first_id": MODELS[0], "last_id": MODELS[-1]})


async def _model(request: Request, _raw: bytes) -> HttpAnswer:
    return _json(_model_info(request.path_params["id"]))


async def _root(_request: Request, _raw: bytes) -> HttpAnswer:
    return _json({})


async def _not_found(request: Request, _raw: bytes) -> HttpAnswer:
    return _error("404", f"Not found: {request.method} {request.url.path}")


def _model_info(name: str) -> JsonObject:
    created = "1970-01-01T00:00:00Z"
    return {"type": "model", "id": name, "display_name": name, "created_at": created, "lifecycle": "active"}


def _json(
    value: object, kind: stand_in.ReplyKind | None = None, *, outcome: str = "ok", status: int = 200
) -> HttpAnswer:
    whole = orjson.dumps(value)
    headers = {"content-type": "application/json", "content-length": str(len(whole))}
    return HttpAnswer(outcome, [whole], status, headers, kind)


def _cut(answer: HttpAnswer) -> HttpAnswer:
    """Return an answer that ends in its middle."""
    (whole,) = answer.chunks
    return HttpAnswer("cut", [whole[: len(whole) // 2]], headers=answer.headers)


def _error(name: str, message: str = "", *, retry_after_s: float = 0) -> HttpAnswer:
    known = HTTP_ERRORS[name]
    answer = _json(wire.error(known.type, message or known.message), outcome=name, status=known.status)
    if known.retry_after:
        answer.headers["retry-after"] = f"{retry_after_s:g}"
    return answer
