"""How a model is asked in another way than each call by itself: by a batch, for one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from keval.models.messages_api import Model, Reply


class Asking(Protocol):
    """Asks a model as its own `ask` does, in another way."""

    async def __call__(
        self,
        model: Model,
        env: Mapping[str, str],
        /,
        *,
        system: str,
        messages: Sequence[Mapping[str, Any]],
        schema: Mapping[str, Any] | None = None,
    ) -> Reply:
        """Return the reply. Raises ModelError."""
