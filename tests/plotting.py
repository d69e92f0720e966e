"""Reports of many conditions and samples for the tests of plots, and what stands in an SVG."""

from __future__ import annotations

import dataclasses
import random
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.transforms import Bbox

from keval.plots.picture import Picture
from keval.reports.details import MOST_SAMPLES, ConditionSamples, Details, SampleDifferences
from keval.reports.metric_tables import MetricTable
from keval.reports.model import Report
from tests.reports import difference, sample_values, score, small_report, summary

SVG = "{http://www.w3.org/2000/svg}"
LINK = "{http://www.w3.org/1999/xlink}href"


def large_report(
    conditions: int, samples: int, metrics: int = 1, name: Callable[[str], str] = lambda plain: plain
) -> Report:
    """Return a report of so many conditions, samples and metrics, in which `name` makes every name."""
    drawn = random.Random(1)  # noqa: S311 - the same scores each time
    names = [name(f"condition {number}" if number else "baseline") for number in range(conditions)]
    shown = [name(f"sample {each}") for each in range(min(samples, MOST_SAMPLES))]
    tables, of_conditions, of_pairs = [], [], []
    for place in range(metrics):
        metric = name(f"metric {place}")
        means = {
            condition: {name(f"sample {each}"): 1 + drawn.randrange(13) / 3 for each in range(samples)}
            for condition in names
        }
        pairs = {
            condition: {each: means[condition][each] - means[names[0]][each] for each in means[condition]}
            for condition in names[1:]
        }
        few = samples < 5
        found = [sum(means[condition].values()) / samples if samples else None for condition in names]
        tables.append(
            MetricTable(
                "judge", "judge-id", metric, 1, 5,
                tuple(
                    score(condition, mean=mean, ci_lower=None if few else (mean or 0) - 0.3,
                          ci_upper=None if few else (mean or 0) + 0.3, n_samples=samples)
                    for condition, mean in zip(names, found, strict=True)
                ),
                tuple(
                    difference(
                        condition, baseline=names[0], difference=mean - found[0] if samples else None,  # type: ignore[operator] # both are known
                        ci_lower=None if few else -0.2, ci_upper=None if few else 0.4,
                        conclusion="cannot tell" if few else "no difference shown",
                        reasons={"ci_lower": "fewer than 5 samples"} if few else {},
                    )
                    for condition, mean in zip(names[1:], found[1:], strict=True)
                ),
            )
        )  # fmt: skip
        of_conditions += [
            ConditionSamples(
                "judge-id", metric, f"{condition}-id", "agent-id", sample_values(means[condition], shown), ()
            )
            for condition in names
        ]
        of_pairs += [
            SampleDifferences("judge-id", metric, condition, names[0], sample_values(pairs[condition], shown))
            for condition in names[1:]
        ]
    return dataclasses.replace(
        small_report(),
        conditions=tuple(
            summary(each, agent_cost_per_answer_usd=None if place == 3 else 0.001 * 1.5**place)
            for place, each in enumerate(names)
        ),
        metrics=tuple(tables),
        details=Details(tuple(of_conditions), tuple(of_pairs), None, (), tuple(shown), samples - len(shown)),
    )


def boxes(picture: Picture) -> list[Bbox]:
    """Return where the lines of text of a picture stand as Matplotlib draws them, in inches from below left."""
    figure = picture._figure  # noqa: SLF001 - only Matplotlib knows how long a line has become
    picture.render("png", "")
    renderer = FigureCanvasAgg(figure).get_renderer()  # type: ignore[no-untyped-call] # Matplotlib has no type for it
    to_inches = figure.dpi_scale_trans.inverted()
    return [line.get_window_extent(renderer).transformed(to_inches) for line in figure.texts]


def texts(svg: bytes) -> list[str]:
    """Return all lines of text of an SVG."""
    return [element.text or "" for element in ET.fromstring(svg).iter(f"{SVG}text")]  # noqa: S314 - our own


def places(svg: bytes) -> dict[str, list[tuple[float, float]]]:
    """Return where the marks and the ends of the lines are that have a name, in inches."""
    found = {}
    for group in ET.fromstring(svg).iter(f"{SVG}g"):  # noqa: S314 - our own
        name = group.get("id", "")
        if name.partition("-")[0] in {"mark", "dots", "interval", "band", "columns"}:
            found[name] = list(_places(group))
    return found


def _places(group: ET.Element) -> Iterator[tuple[float, float]]:
    paths = [(path.get("id"), list(_points(path))) for path in group.iter(f"{SVG}path")]
    shapes = dict(paths)
    uses = [(each, float(each.get("x", 0)) / 72, float(each.get("y", 0)) / 72) for each in group.iter(f"{SVG}use")]
    is_mark = group.get("id", "").startswith(("mark", "dots"))
    for each, right, down in uses:
        points = [(0.0, 0.0)] if is_mark else shapes[each.get(LINK, "").removeprefix("#")]
        yield from ((right + x, down + y) for x, y in points)
    for _, points in () if uses else paths:
        yield from points


def _points(path: ET.Element) -> Iterator[tuple[float, float]]:
    """Yield the corners of a path of straight lines; one with curves is the shape of a mark, which has no place."""
    written = path.get("d") or ""
    if "C" not in written:
        numbers = [float(part) / 72 for part in written.replace("M", "").replace("L", "").replace("z", "").split()]
        yield from zip(numbers[::2], numbers[1::2], strict=True)
