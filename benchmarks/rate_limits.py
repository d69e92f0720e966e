"""Shows how much of a service's capacity keval uses when the service refuses what is too much.

The service is simulated, and so is the time: what a stage does in half an hour takes a second. The stage, its limiter
and its waits between two attempts are the real ones. A good call takes ten seconds, a refusal a twentieth; up to 100
calls are allowed at once.
The rows are the same on any machine.

    python -m benchmarks.rate_limits [--size tiny|modest|large]
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict

from benchmarks.benchmark import Benchmark, Measurement, Size
from benchmarks.tables import table
from tests import limited_service
from tests.limited_service import Service, always, less_between

SECONDS = {Size.TINY: 200, Size.MODEST: 2000, Size.LARGE: 2000}

SERVICES = {
    **{f"{count} at once": Service(at_once=always(count)) for count in (1, 2, 5, 10, 37, 80, 100)},
    "37 at once, latencies of 2 to 60 s": Service(at_once=always(37), jitter=0.8),
    "37 at once, a refusal takes 3 s": Service(at_once=always(37), refusal_s=3.0),
    "37 at once, it says how long to wait": Service(at_once=always(37), tells_when=True),
    "80 at once, 10 from minute 10 to 20": Service(at_once=less_between(80, 10, 600, 1200)),
    "80 at once, none for a minute": Service(at_once=less_between(80, 0, 600, 660)),
    "100 at once, none for five seconds": Service(at_once=less_between(100, 0, 600, 605)),
    "5 a second, 60 together": Service(per_second=always(5), bucket=60),
    "5 a second, 5 together": Service(per_second=always(5), bucket=5),
    "5 a second, one at a time": Service(per_second=always(5), bucket=1),
    "8 a second, it says how long to wait": Service(per_second=always(8), bucket=8, tells_when=True),
    "5 a second, 1 from minute 10 to 20": Service(per_second=less_between(5, 1, 600, 1200), bucket=5),
    "50 at once and 3 a second": Service(at_once=always(50), per_second=always(3), bucket=3),
}


def measure(size: Size, _: int) -> Iterator[Measurement]:
    """Simulate each service, once."""
    for name, service in SERVICES.items():
        yield {"service": name, **asdict(limited_service.measure(service, SECONDS[size]))}


def tables(measurements: Sequence[Measurement]) -> str:
    """Return one row for each service."""
    rows = [
        (each["service"], f"{each['share']:.1%}", f"{each['served']:,}", each["refused"], each["failed_items"])
        for each in measurements
    ]
    return table(
        ("the service takes", "share of its capacity", "served", "refused attempts", "refused to the end"), rows
    )


BENCHMARK = Benchmark(name="rate_limits", measure=measure, tables=tables)

if __name__ == "__main__":
    BENCHMARK.main()
