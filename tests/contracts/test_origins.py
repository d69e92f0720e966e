"""What every origin promises; each file in keval/origins/ is tested by being there."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from keval import plugins
from keval.errors import InputError
from keval.origins import Origin

ORIGINS = sorted(plugins.find("origin"))


def made(name: str) -> Origin:
    """Return the origin."""
    return plugins.load("origin", Origin, name)()


@pytest.mark.parametrize("name", ORIGINS)
@given(st.binary(max_size=200))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_file_of_anything_is_refused_in_words(name: str, tmp_path: Path, content: bytes) -> None:
    """Whatever its bytes, it is an error of the input, never one of keval."""
    path = tmp_path / "file.json"
    path.write_bytes(content)
    made(name).fits(content)
    with suppress(InputError):
        assert list(made(name).read(path).rows()) == []
