from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from keval import cli, plugins
from keval.errors import PluginError, UsageError
from keval.plugins import Option, option

WORKS = '''\
"""Answers with nothing.

More about it.
"""

from dataclasses import dataclass

from keval.agents import Agent, Answer


@dataclass(frozen=True, kw_only=True)
class Silent(Agent):
    """An agent."""

    async def answer(self, prompt):
        return Answer(status="empty", text="")
'''


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return the folder of another distribution, which Python finds, and whose plug-ins are looked for anew."""
    monkeypatch.syspath_prepend(str(tmp_path))
    plugins.forget()
    yield tmp_path
    plugins.forget()


def install(package: Path, name: str, module: str, source: str | None = None) -> None:
    """Add an agent by an entry point, as a distribution does."""
    info = package / f"of_{module}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: of_{module}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[keval.agents]\n{name} = {module}\n")
    if source is not None:
        (package / f"{module}.py").write_text(source)


@pytest.mark.parametrize("kind", plugins.KINDS)
def test_what_the_package_brings_is_found_by_file_name(kind: str) -> None:
    """Each file of the kind's folder that is not private is a plug-in, with a line of help and a class to load."""
    folder = Path(plugins.__file__).parent / f"{kind}s"
    found = plugins.find(kind)
    assert [*found] == sorted(path.stem for path in folder.glob("*.py") if not path.stem.startswith("_"))
    for name, plugin in found.items():
        assert plugins.summary(plugin)
        assert issubclass(plugins.load(kind, plugins.base(kind), name), plugins.base(kind))


def test_another_package_adds_a_plugin(package: Path) -> None:
    """By its entry point it is listed with its help, without being imported, and loaded like one of our own."""
    install(package, "silent", "silent_agent", WORKS)
    assert plugins.summary(plugins.find("agent")["silent"]) == "Answers with nothing."
    loaded = plugins.load("agent", plugins.base("agent"), "silent")
    assert (loaded.__name__, loaded.__module__) == ("Silent", "silent_agent")
    assert plugins.find("agent")["silent"].origin == "of_silent_agent"


def test_a_name_that_is_taken_breaks_both(package: Path) -> None:
    """Which of two agents would answer must not depend on the order in which they are found."""
    install(package, "echo", "other_echo", WORKS)
    with pytest.raises(PluginError, match=r"agent 'echo': of_other_echo and .*echo\.py both define it"):
        plugins.find("agent")


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (None, "ModuleNotFoundError"),
        ('"""An agent."""\nimport no_such_library', "No module named 'no_such_library'"),
        ('"""An agent."""\nraise OSError("at import")', "OSError: at import"),
        ('"""An agent."""\ndef broken(:', "SyntaxError"),
        ('"""An agent."""\n', "expected one class derived from Agent, found 0"),
        (WORKS + WORKS.replace("Silent", "Second"), "expected one class derived from Agent, found 2"),
        (WORKS.replace("@dataclass(frozen=True, kw_only=True)\n", ""), "Silent is not a dataclass"),
    ],
)
def test_a_plugin_that_cannot_be_used_is_named_with_the_cause(package: Path, source: str | None, said: str) -> None:
    """Whatever is wrong with it, the error says which plug-in, where it came from, and why."""
    module = f"broken_{package.parent.name}_{package.name}".replace("-", "_")  # no test gets the module of another
    install(package, "broken", module, source)
    with pytest.raises(PluginError, match=rf"agent 'broken' \(of_{module}\)") as caught:
        plugins.load("agent", plugins.base("agent"), "broken")
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("source", "said"),
    [("x = 1\n", "agent 'mute': .*: a plug-in begins"), ("x = (\n", r"agent 'mute': .*\.py:1: '\(' was never closed")],
)
def test_a_plugin_that_says_nothing_of_itself_is_named(package: Path, source: str, said: str) -> None:
    """A list of plug-ins is not made without one of them."""
    install(package, "mute", "mute_agent", source)
    with pytest.raises(PluginError, match=said):
        plugins.summary(plugins.find("agent")["mute"])


def test_an_unknown_name_is_a_usage_error() -> None:
    """The nearest name is proposed, and all are told."""
    with pytest.raises(UsageError, match=r"unknown judge 'rubrik'; did you mean 'rubric'\? \(known: .*exact_match"):
        plugins.load("judge", plugins.base("judge"), "rubrik")


def test_options_are_the_fields_of_the_class() -> None:
    """With default, help and identity, in their order; what begins with `_` is none."""

    @dataclass(frozen=True, kw_only=True)
    class Made:
        needed: str = field(metadata=option("what it is for"))
        words: list[str] = field(default_factory=list)
        key: str = field(default="K", metadata=option("a key", identity=False))
        _texts: str = ""

    assert plugins.options(Made) == [
        Option("needed", "str", None, required=True, help="what it is for", identity=True),
        Option("words", "list[str]", [], required=False, help="", identity=True),
        Option("key", "str", "K", required=False, help="a key", identity=False),
    ]


def test_a_broken_plugin_hides_no_other(package: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All that work are listed; the broken one is named with file and line, and the command ends with an error."""
    install(package, "raises", "raises", '"""Raises."""\n\nVALUE = 1 / 0\n')
    install(package, "silent", "silent_agent", WORKS)
    with pytest.raises(PluginError, match=r"agent 'raises' .*division by zero \(.*raises\.py:3\)"):
        cli.root.main(["plugins", "agent"], standalone_mode=False)
    listed = capsys.readouterr().out
    assert "agent echo:" in listed
    assert "agent silent: Answers with nothing." in listed
