"""Texts that a field of the sample names, for judges whose options say which field that is."""

from __future__ import annotations

from typing import Any

from keval.judges._judgment import JudgeError


def sample_texts(value: Any, name: str) -> tuple[str, ...]:  # noqa: ANN401 - any JSON value of a sample
    """Return the texts of a field, which holds one or a list; blank ones are left out. Raises JudgeError for others."""
    texts = value if isinstance(value, list) else [] if value is None else [value]
    if not all(isinstance(text, str | int | float) for text in texts):
        raise JudgeError("judge_error", f"the sample's {name!r} is neither a text nor a list of texts")
    return tuple(str(text) for text in texts if str(text).strip())
