"""The options of a judge or an agent that asks models by the Messages API: service, inference parameters, limits."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

from keval.models import prices
from keval.models.messages_api import Model
from keval.models.services import ServiceOptions
from keval.plugins import option


@dataclass(frozen=True, kw_only=True)
class ModelOptions(ServiceOptions):
    """The options of whoever asks a model, apart from which model that is."""

    max_tokens: int = field(default=4096, metadata=option("tokens that one reply may have, thinking included"))
    temperature: float | None = field(
        default=None, metadata=option("sent only when set: current models refuse it, older ones take it")
    )
    effort: Literal["low", "medium", "high", "xhigh", "max"] | None = field(
        default=None, metadata=option("how much the model thinks; sent only when set")
    )
    timeout_s: float = field(default=120, metadata=option("seconds that one reply may take", identity=False))
    prompt_cache: bool | None = field(
        default=None,
        metadata=option(
            "let the service keep what is the same in every prompt, which then costs less; default: for the models "
            "whose price for that is known",
            identity=False,
        ),
    )

    def model_problems(self) -> list[str]:
        """Return what is wrong with these options, each as `name: why`."""
        problems = self.service.problems()
        if self.max_tokens < 1:
            problems.append("max_tokens: must be more than 0")
        if not (math.isfinite(self.timeout_s) and self.timeout_s > 0):
            problems.append("timeout_s: must be more than 0")
        return problems

    def settings_of(self, model: str) -> Model:
        """Return a model that is asked with these options."""
        return Model(
            name=model,
            max_tokens=self.max_tokens,
            temperature=self.temperature,
            effort=self.effort,
            service=self.service,
            timeout_s=self.timeout_s,
            prompt_cache=prices.has_cache(model) if self.prompt_cache is None else self.prompt_cache,
        )
