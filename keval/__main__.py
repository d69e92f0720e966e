"""Starts the command line, as `keval` and as `python -m keval`."""

import sys

INTERRUPTED = 130
"""The exit code of a command that was interrupted; see `keval.errors`, which may not be imported yet."""


def main() -> None:
    """Run the command line; who interrupts it while it is imported gets the same exit code as later."""
    try:
        from keval.cli import main as run

        run()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
