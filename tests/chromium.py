"""Chromium for tests: Debian's package, without a sandbox, as containers give it none."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

CHROMIUM = shutil.which("chromium")


@contextmanager
def started() -> Iterator[Browser]:
    """Give a browser; without Chromium the tests are skipped, but where REQUIRE_BROWSER is set."""
    if CHROMIUM is None:
        if os.environ.get("REQUIRE_BROWSER"):
            pytest.fail("Chromium is missing")
        pytest.skip("Chromium is missing; Debian and Ubuntu have it: apt-get install chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()
