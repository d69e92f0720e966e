"""What several tests of live pages read: a small log, opened once."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from tests.viewing import browsing, small_log


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """Give a browser with the pages of a small log."""
    with browsing(small_log(tmp_path_factory.mktemp("viewer") / "run.jsonl")) as opened:
        yield opened
