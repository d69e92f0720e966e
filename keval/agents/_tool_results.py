"""What an MCP tool returned, as the model is given it and as the log holds it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from keval.ids import JsonObject

if TYPE_CHECKING:
    from mcp.types import CallToolResult

IMAGES = ("image/jpeg", "image/png", "image/gif", "image/webp")
"""The images that the Messages API takes."""


def as_blocks(result: CallToolResult) -> list[JsonObject]:
    """Return the content of a result for the model: texts, images, and of anything else only its kind."""
    blocks = [_block(part) for part in result.content] or [{"type": "text", "text": as_text(result)}]
    return [block for block in blocks if block.get("text") != ""]  # the service takes no empty text


def as_text(result: CallToolResult) -> str:
    """Return the content of a result as text; of what is not text only its kind."""
    if not result.content and result.structured_content is not None:
        return orjson.dumps(result.structured_content).decode()
    return "\n".join(_text(part) for part in result.content)


def _block(part: Any) -> JsonObject:  # noqa: ANN401 - any kind of content that the protocol has
    if part.type == "image" and part.mime_type in IMAGES:
        source = {"type": "base64", "media_type": part.mime_type, "data": part.data}
        return {"type": "image", "source": source}
    return {"type": "text", "text": _text(part)}


def _text(part: Any) -> str:  # noqa: ANN401 - any kind of content
    if part.type == "text":
        return str(part.text)
    inside = getattr(getattr(part, "resource", None), "text", None)
    return f"[{part.type}]" if inside is None else str(inside)
