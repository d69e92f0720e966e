from __future__ import annotations

from mcp.types import AudioContent, CallToolResult, EmbeddedResource, ImageContent, TextContent, TextResourceContents

from keval.agents._tool_results import as_blocks, as_text


def test_the_model_sees_texts_and_images_and_the_log_has_texts() -> None:
    """Of anything else both have its kind; a text that is empty is left out, for the service takes none."""
    resource = TextResourceContents(uri="docs://a", text="of a resource")
    result = CallToolResult(
        content=[
            TextContent(type="text", text="found"),
            TextContent(type="text", text=""),
            ImageContent(type="image", data="QUJD", mime_type="image/png"),
            ImageContent(type="image", data="QUJD", mime_type="image/tiff"),
            AudioContent(type="audio", data="QUJD", mime_type="audio/wav"),
            EmbeddedResource(type="resource", resource=resource),
        ]
    )
    assert as_blocks(result) == [
        {"type": "text", "text": "found"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "QUJD"}},
        {"type": "text", "text": "[image]"},
        {"type": "text", "text": "[audio]"},
        {"type": "text", "text": "of a resource"},
    ]
    assert as_text(result) == "found\n\n[image]\n[image]\n[audio]\nof a resource"


def test_what_is_only_structured_is_told_as_json() -> None:
    """A server may leave the text out."""
    result = CallToolResult(content=[], structured_content={"n": 1})
    assert as_blocks(result) == [{"type": "text", "text": '{"n":1}'}]
    assert as_blocks(CallToolResult(content=[])) == []
