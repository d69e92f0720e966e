"""What a sample asks: one message of the user, or a list of several in one conversation."""

from __future__ import annotations


def messages(question: object) -> tuple[str, ...]:
    """Return the user's messages in order."""
    return tuple(map(str, question)) if isinstance(question, list | tuple) else (str(question),)


def as_text(question: object) -> str:
    """Return all messages as one text for a reader, with a blank line between them."""
    return "\n\n".join(messages(question))
