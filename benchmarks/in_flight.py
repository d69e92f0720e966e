"""Shows what the scheduler costs with up to 10,000 attempts in flight, on services whose limits are known.

Service and time are simulated, as in `rate_limits`; stage, limiter and waits are the real ones. The share of the
capacity is the same on any machine; the CPU time and the memory are of this one. Each load is a process of its own.

    python -m benchmarks.in_flight [--size tiny|modest|large]
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from benchmarks import child
from benchmarks.benchmark import Benchmark, Measurement, Size
from benchmarks.tables import table, told
from tests import limited_service
from tests.limited_service import Service, always

IN_FLIGHT = {Size.TINY: (10,), Size.MODEST: (100, 1_000, 10_000), Size.LARGE: (100, 1_000, 10_000, 100_000)}
"""Attempts that the config allows at once."""

SECONDS = {Size.TINY: 100, Size.MODEST: 600, Size.LARGE: 600}

SERVICES = ("takes all", "takes 37 % at once", "takes half as many a second")


def service(name: str, most: int) -> Service:
    """Return a service by what it takes of so many attempts at once, whose answers take ten seconds."""
    a_second = most / 20
    return {
        "takes all": Service(at_once=always(most)),
        "takes 37 % at once": Service(at_once=always(0.37 * most)),
        "takes half as many a second": Service(per_second=always(a_second), bucket=max(a_second, 1.0)),
    }[name]


def measure(size: Size, _: int) -> Iterator[Measurement]:
    """Simulate each service with each load, once."""
    for most in IN_FLIGHT[size]:
        for name in SERVICES:
            command = [sys.executable, "-m", "benchmarks.in_flight", "one", name, str(most), str(SECONDS[size])]
            done = subprocess.run(command, cwd=Path(child.ROOT), capture_output=True, text=True, check=False)
            failed = {"failed": done.stderr.strip()[-200:]} if done.returncode else {}
            yield {"service": name, "most": most, **(failed or json.loads(done.stdout))}


def one(name: str, most: int, seconds: float) -> Measurement:
    """Simulate one service in this process."""
    began_s = time.process_time()
    measured = limited_service.measure(service(name, most), seconds, most)
    cpu_s = time.process_time() - began_s
    peak_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    attempts = measured.served + measured.refused
    return {**asdict(measured), "cpu_us": round(1e6 * cpu_s / attempts, 1), "peak_mib": round(peak_mib, 1)}


def tables(measurements: Sequence[Measurement]) -> str:
    """Return one row for each load and service."""
    rows = [
        (
            f"{each['most']:,}", each["service"], f"{each['share']:.1%}", f"{each['served']:,}",
            f"{each['refused']:,}", each["failed_items"], told(each["cpu_us"], 0), told(each["peak_mib"], 0),
        )
        for each in measurements
        if "failed" not in each
    ]  # fmt: skip
    header = (
        "at once", "the service", "share of its capacity", "served", "refused attempts", "refused to the end",
        "CPU µs per attempt", "peak MiB",
    )  # fmt: skip
    return table(header, rows)


BENCHMARK = Benchmark(name="in_flight", measure=measure, tables=tables)

if __name__ == "__main__":
    if sys.argv[1:2] == ["one"]:
        print(json.dumps(one(sys.argv[2], int(sys.argv[3]), float(sys.argv[4]))))
    else:
        BENCHMARK.main()
