"""What stands behind `--server`, as a config writes it."""

from __future__ import annotations

from pathlib import Path

import pytest

from keval.errors import UsageError
from keval.ids import JsonObject
from keval.starters.server_option import header, placed, read, with_header


@pytest.mark.parametrize(
    ("option", "written"),
    [
        ("docs=python server.py", {"type": "stdio", "command": "python", "args": ["server.py"]}),
        ("docs=./server", {"type": "stdio", "command": "./server"}),
        ("docs=npx -y 'a b' --x=1", {"type": "stdio", "command": "npx", "args": ["-y", "a b", "--x=1"]}),
        ("docs=http://127.0.0.1:1/mcp?a=b", {"type": "http", "url": "http://127.0.0.1:1/mcp?a=b"}),
        ("docs=http://127.0.0.1:1/sse", {"type": "sse", "url": "http://127.0.0.1:1/sse"}),
    ],
    ids=["command", "program alone", "quotes", "address", "events"],
)
def test_an_option_becomes_a_server(option: str, written: JsonObject) -> None:
    """A command is divided as a shell would; an address that ends in /sse is of the older transport."""
    server = read(option, {})
    assert (server.name, server.written) == ("docs", written)


def test_settings_before_a_command_are_its_environment() -> None:
    """What a shell has put in for a variable is written as the variable, and no key gets into a file."""
    env = read("docs=API_TOKEN=s3cret-value MODE=fast REGION='${REGION}' ./server", {"API_TOKEN": "s3cret-value"})
    assert env.written["env"] == {"API_TOKEN": "${API_TOKEN}", "MODE": "fast", "REGION": "${REGION}"}


def test_the_value_of_a_secret_is_written_as_its_variable() -> None:
    """Wherever a shell put it: in an argument, in an address, in a header."""
    environ = {"DOCS_TOKEN": "s3cret-value", "LANG": "s3cret"}
    assert read("docs=serve --key=s3cret-value", environ).written["args"] == ["--key=${DOCS_TOKEN}"]
    server = read("docs=http://127.0.0.1:1/mcp?key=s3cret-value", environ)
    assert server.written["url"] == "http://127.0.0.1:1/mcp?key=${DOCS_TOKEN}"
    sent = dict([header("Authorization: Bearer s3cret-value", environ)])
    assert with_header(server, sent).written["headers"] == {"Authorization": "Bearer ${DOCS_TOKEN}"}
    assert "headers" not in with_header(read("docs=serve", {}), sent).written


def test_a_header_has_a_name_and_a_value() -> None:
    """Anything else is told how a header is written."""
    with pytest.raises(UsageError, match="is not NAME: VALUE"):
        header("Bearer abc", {})


@pytest.mark.parametrize(
    ("option", "told"),
    [
        ("python server.py", "a name for the server is missing"),
        ("http://127.0.0.1:1/mcp", "a name for the server is missing"),
        ("docs=", "a command or an address is missing"),
        ("docs=A=1", "a command or an address is missing"),
        ("docs=python 'server.py", "cannot be read as a command: No closing quotation"),
        ("docs=cd server && python server.py", "'&&' is for a shell"),
    ],
)
def test_what_is_no_server_is_shown_how_to_be_written(option: str, told: str) -> None:
    """Each mistake says what is missing."""
    with pytest.raises(UsageError, match=told):
        read(option, {})


def test_a_command_of_another_folder_starts_from_there(tmp_path: Path) -> None:
    """Paths that lead somewhere from here lead there from the config's folder; other words stay as they are."""
    (tmp_path / "pages").mkdir()
    (tmp_path / "server.py").touch()
    option = "docs=python server.py pages --root=pages --name pages.txt /opt server"
    server = placed(read(option, {}), tmp_path, tmp_path / "evals")
    args = ["../server.py", "../pages", "--root=../pages", "--name", "pages.txt", "/opt", "server"]
    assert (server.written["args"], server.moved) == (args, True)
    assert placed(read(option, {}), tmp_path, tmp_path) == read(option, {})


def test_a_program_is_moved_only_with_a_slash(tmp_path: Path) -> None:
    """A program without a slash is found by PATH, whatever lies here."""
    (tmp_path / "serve").touch()
    folder = tmp_path / "evals"
    assert placed(read("docs=serve", {}), tmp_path, folder).written["command"] == "serve"
    assert placed(read("docs=./serve", {}), tmp_path, folder).written["command"] == "../serve"
