"""Answers and judges what a config asks for, as `keval run` does, and makes no report of it.

python -m benchmarks.evaluations CONFIG LOG
"""

from __future__ import annotations

import sys
from pathlib import Path

from keval.commands.messages import warn
from keval.config.reader import load
from keval.execution.config_session import run_all
from keval.preparation.request import Request


def main() -> None:
    """Do what the arguments say; tasks and judgments that fail make exit code 1."""
    config, log = map(Path, sys.argv[1:])
    sys.exit(min(run_all(load(config), log, Request(quiet=True), warn), 1))


if __name__ == "__main__":
    main()
