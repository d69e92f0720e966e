"""Lists the commands, imports the one that is called, and turns errors into messages and exit codes.

This is the only place that prints an error and ends the process.
"""

from __future__ import annotations

import atexit
import errno
import gc
import importlib
import io
import os
import sys
from _thread import _count as running_threads  # `threading` does not know those of `processes/beside.py`
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import click

from keval import __version__, nearest
from keval.commands.messages import tell, tell_text
from keval.errors import EnvironmentLacksError, InterruptError, KevalError, ReaderGoneError, UsageError
from keval.logs.addresses import no_text
from keval.logs.standard_streams import give_up_stdout, outlive
from keval.printable import printable
from keval.processes import machine
from keval.processes.interruption import end_as_by_ctrl_c

COMMANDS = (
    "init",
    "generate",
    "judge",
    "aggregate",
    "report",
    "view",
    "plot",
    "export",
    "plan",
    "gate",
    "compare",
    "run",
    "show",
    "list",
    "sql",
    "import",
    "check",
    "trials",
    "summarize",
    "agreement",
    "calibrate",
    "label",
    "validate-refs",
    "balance",
    "validate",
    "retract",
    "scan",
    "push",
    "schemas",
    "plugins",
    "doctor",
)
"""What the user can type, in the order of the help; `keval/commands/<name>.py` is the command, with `_` for `-`."""

COLLECTED_AFTER = 50_000
"""New objects after which Python looks for cycles: nearly all that a command makes at its start stays until its end."""

LONGEST_NAME = 100
"""Characters of a name in a message about it: one that is too long for a file system has more."""

REPORT_BUGS_AT = "This is a bug in keval: please report it with the lines above and the command that you typed."


class Commands(click.Group):
    """A group that imports a command when it is called, so that `keval --help` pays for none."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the names of all commands, in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
        """Import and return one command."""
        if cmd_name not in COMMANDS:
            raise click.UsageError(f"no command {cmd_name!r}{nearest.hint(cmd_name, COMMANDS)}", ctx)
        found: click.Command = importlib.import_module(f"keval.commands.{_module(cmd_name)}").command
        found.name = cmd_name
        found.context_settings.setdefault("help_option_names", ["-h", "--help"])
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's signature
        """Write what each command is for: the first line of its file, which is not imported for it."""
        rows = [(name, _first_line(Path(__file__).parent / "commands" / f"{_module(name)}.py")) for name in COMMANDS]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Example: keval generate eval.yaml | keval judge | keval aggregate | keval report",
)
@click.version_option(__version__, "--version", prog_name="keval")
def root() -> None:
    """Tell whether a context makes your agent answer better: by how much, how surely, at what cost.

    Data goes to stdout, everything else to stderr. `keval COMMAND --help` has options and an example.
    """


def main() -> None:
    """Run the command line and end the process with the code that the outcome has."""
    outcome: list[int] = []
    atexit.register(_leave, outcome)  # the first one that is registered is called last
    gc.freeze()  # what was imported so far stays to the end
    gc.set_threshold(COLLECTED_AFTER)
    outlive()
    end_as_by_ctrl_c()
    machine.raise_limit()
    try:
        code = run()
    except KeyboardInterrupt:  # a second one, while the first was told
        code = InterruptError.exit_code
    try:
        sys.stdout.flush()
    except KevalError:
        give_up_stdout()
    if code == InterruptError.exit_code and running_threads():
        os._exit(code)  # a thread is still at work, perhaps in DuckDB: Python's end would wait for it, or abort
    if _has_run_code_of_users():
        gc.unfreeze()
    else:
        outcome.append(code)
    sys.exit(code)


def _has_run_code_of_users() -> bool:
    """Return whether functions or added plug-ins are loaded: what they have left open, Python's own end writes."""
    plugins = sys.modules.get("keval.plugins")
    return "keval.processes.functions" in sys.modules or (plugins is not None and bool(plugins.added_loaded))


def _leave(outcome: Sequence[int]) -> None:
    """End the process when threads and the exit functions that were registered after this one are done.

    Python would take apart all that was imported and made, a fifth of the time of judging a small log: the SDK of the
    models has some three thousand modules. Nothing that keval imports before registers an exit function.
    """
    if not outcome:  # something else ended the command, or Python has to take apart what users have made
        return
    with suppress(KevalError):  # only an exit function can have printed anything since `main` flushed it
        sys.stdout.flush()
    sys.stderr.flush()
    os._exit(outcome[0])


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line, or what is given instead, and return the exit code."""
    try:
        _check_text(sys.argv[1:] if arguments is None else arguments)
        outcome = root.main(arguments, prog_name="keval", standalone_mode=False)
        sys.stdout.flush()
    except KevalError as error:
        return _failed(error)
    except click.ClickException as error:
        shown = io.StringIO()
        error.show(shown)
        tell_text(shown.getvalue().expandtabs(2))  # click indents choices by tabs, which would be shown as escapes
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("keval: interrupted", err=True)
        return InterruptError.exit_code
    except Exception as error:  # noqa: BLE001 - whatever is left is a bug, and this is where it is told
        known = _out_of_memory(error) if isinstance(error, MemoryError) else _as_told(error)
        if known is not None:
            return _failed(known)
        _tell_bug()
        return 70
    return outcome if isinstance(outcome, int) else 0


def _out_of_memory(error: MemoryError) -> KevalError:
    what = f" for {error}" if str(error) else ""
    return EnvironmentLacksError(f"not enough memory{what}; end other programs, or raise the limit (`ulimit -v`)")


def _as_told(error: Exception) -> KevalError | None:
    """Return what an error is that any look at a path may raise: of a name that no file can have, or of the machine."""
    if isinstance(error, RuntimeError):
        return _as_python_tells(str(error))
    if not isinstance(error, OSError):
        return None
    if error.errno in {errno.ENAMETOOLONG, errno.ELOOP}:
        name = str(error.filename or "a name")
        shown = name if len(name) <= LONGEST_NAME else f"{name[:LONGEST_NAME]}…"
        return UsageError(f"{printable(shown)}: {error.strerror}")
    if error.errno == errno.EMFILE:
        return EnvironmentLacksError(f"{error.strerror}: this shell allows too few (`ulimit -n`)")
    if error.errno == errno.ENFILE:  # all programs together have too many
        return EnvironmentLacksError(str(error.strerror))
    return None


def _as_python_tells(said: str) -> KevalError | None:
    """Return the same of an error that Python raises in the place of the system's."""
    if said == machine.NO_THREAD:
        return EnvironmentLacksError(
            f"{said}: this shell allows too few processes (`ulimit -u`), or there is no memory"
        )
    if said.startswith("Symlink loop"):  # pathlib's own, before Python 3.13
        return UsageError(f"{said}: it can be no file")
    return None


def _check_text(arguments: Sequence[str]) -> None:
    """Raise UsageError for an argument, or the name of this folder, that is no text: no log and no path holds such."""
    with suppress(FileNotFoundError):  # a folder that is gone has no name
        arguments = (*arguments, str(Path.cwd()))
    for given in arguments:
        if (problem := no_text(given)) is not None:
            raise UsageError(problem)


def _failed(error: KevalError) -> int:
    if isinstance(error, ReaderGoneError):
        return error.exit_code
    first, *others = error.problems or ("",)
    tell(f"keval: {first}", *others)
    if error.exit_code == KevalError.exit_code:
        _tell_bug()
    return error.exit_code


def _tell_bug() -> None:
    """Show where the error that is handled now came from."""
    import traceback

    tell_text(traceback.format_exc())
    tell(REPORT_BUGS_AT)


def _module(command: str) -> str:
    return command.replace("-", "_")


def _first_line(path: Path) -> str:
    """Return the first line of a file's docstring, with which the file begins."""
    with path.open(encoding="utf-8") as file:
        return file.readline().strip().strip('"')
