"""Runs all benchmarks, one after the other, and says at the end which of them failed.

    python -m benchmarks [--size tiny|modest|large] [--repeat N] [--into FOLDER]

Each is a process of its own; when one fails, the others go on.
"""

from __future__ import annotations

import subprocess
import sys
import time

from benchmarks.child import ROOT

NAMES = (
    "startup",
    "throughput",
    "rate_limits",
    "in_flight",
    "latency",
    "messages",
    "claude",
    "growth",
    "scale",
    "ray_driver",
    "frameworks",
    "aggregation",
    "numbers",
    "memory",
    "scan",
    "kills",
    "false_differences",
    "coverage",
    "stopping_rule",
    "stopping_families",
    "stopping_runs",
)
"""Modules of this folder; what the others measure is said in the first lines of each."""


def main() -> None:
    """Run all; the process exits with 1 when one of them failed."""
    if {"-h", "--help"} & set(sys.argv[1:]):
        print(__doc__, "\nThey are:", ", ".join(NAMES))
        return
    ended = {}
    for name in NAMES:
        print(f"\n## {name}", flush=True)
        began = time.monotonic()
        done = subprocess.run([sys.executable, "-m", f"benchmarks.{name}", *sys.argv[1:]], cwd=ROOT, check=False)
        ended[name] = done.returncode
        how = "done" if done.returncode == 0 else f"FAILED with exit code {done.returncode}"
        print(f"{name}: {how} after {time.monotonic() - began:.0f} s", flush=True)
    failed = [name for name, code in ended.items() if code != 0]
    print(f"\nfailed: {', '.join(failed) or 'none'}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
