"""The door to S3 and what speaks its protocol, for what DuckDB's own extension does not do or is not there for."""

from __future__ import annotations

import os
from functools import cache
from importlib.util import find_spec
from typing import Any

from keval.errors import EnvironmentLacksError
from keval.secrets.variables import Secrets

BLOCK = 8 * 2**20
"""Bytes that are read at once."""

INSTALL = "pip install 'keval[s3]'"

_SECRETS = Secrets(os.environ)
"""Kept as long as the process lives: what it remembers is taken out of everything that is printed."""


def hide_credentials() -> None:
    """Have the credentials of the environment replaced in everything that this process prints."""
    _SECRETS.register(("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"))


def is_installed() -> bool:
    """Return whether the extra is installed."""
    return find_spec("s3fs") is not None


@cache
def filesystem() -> Any:  # noqa: ANN401 - the library ships no types
    """Return the file system of S3, with the credentials that other tools of AWS take. Raises EnvironmentLacksError."""
    hide_credentials()
    if not is_installed():
        raise EnvironmentLacksError(f"s3fs is not installed, which writes to S3: {INSTALL}")
    from s3fs import S3FileSystem

    return S3FileSystem(default_block_size=BLOCK, default_cache_type="readahead", use_listings_cache=False)
