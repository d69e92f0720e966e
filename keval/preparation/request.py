"""What a user asks of a command, beside a config or a log."""

from __future__ import annotations

from dataclasses import dataclass, field

from keval.config.until_section import Until
from keval.preparation.chosen import Chosen


@dataclass(frozen=True, kw_only=True)
class Request:
    """What a user asks of a command, beside a config or a log."""

    mock_url: str | None = None
    """The address of the mock that stands for the Messages API."""
    limit: int | None = None
    """Take only this many samples, the first ones of each dataset."""
    chosen: Chosen = field(default_factory=Chosen)
    """Only these samples and conditions, of all that are planned."""
    retry_failed: bool = True
    """Try again what failed in earlier runs."""
    fresh: bool = False
    """Ask for every response again."""
    judge_all: bool = False
    """Judge also what answers a current question and is not in the newest plan."""
    max_concurrent: int | None = None
    """Judgments at once; else what the config says."""
    sample_rate: float | None = None
    """The share of all tasks that is judged; else what each judge says."""
    until: Until | None = None
    """That the run stops when it is decided; None: what the log says of it counts."""
    complete: bool = False
    """All samples are asked, whatever config and log say of stopping."""
    batch: bool = False
    """Let models answer in batches."""
    detach: bool = False
    """Leave the batches to a later command once they are submitted."""
    cluster: str | None = None
    """The address of the Ray cluster whose workers do the work; None: this process does it."""
    skip_invalid: bool = False
    quiet: bool = False

    @property
    def mock(self) -> bool:
        """Whether this is a mock run."""
        return self.mock_url is not None
