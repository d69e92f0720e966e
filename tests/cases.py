"""Cases for judges under test, and the context that a judge gets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from keval.judges import Case, Context, Judge


def case(
    text: str,
    golden_answer: str | None = "The golden answer.",
    question: str = "What is it?",
    **fields: Any,  # noqa: ANN401 - any other field of a case
) -> Case:
    """Return a response to be judged."""
    return Case(sample={"question": question, "answer": golden_answer}, text=text, **fields)


def context(judge: Judge, env: Mapping[str, str] | None = None, seed: str = "judgment-1") -> Context:
    """Return the context of one judgment by a judge."""
    return Context(seed=seed, model=judge.model_settings, env=env or {})
