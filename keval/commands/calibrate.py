"""Let people check a judge: draw its verdicts as a sheet, read the sheet back, and say how far to trust it."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

import click

from keval import projections
from keval.commands import caveats
from keval.commands.messages import say, say_json, warn
from keval.commands.options import APPENDED_LOG, INPUT_FILE, PASS_FROM, PATH, SKIP_INVALID, FiniteRange, drawing_options
from keval.counted import counted
from keval.errors import UsageError
from keval.execution.labelling import drawn, take_in
from keval.labels import calibration_lines, filled_sheet, sheet
from keval.labels.corrections import REQUIREMENT, MeanCorrection, mean_corrections
from keval.labels.draw import Wanted, check_metrics, without_verdicts
from keval.labels.error_rates import ForeignCalibration, read
from keval.labels.filled_sheet import Filled
from keval.labels.labels import READ, CalibratedJudge, calibrated, known_labels
from keval.logs.collect import check_not_empty, collected
from keval.logs.outputs import check_stdout, replaced
from keval.stats import stopped_run
from keval.stats.rogan_gladen import ErrorRates


@click.command(epilog="Example: keval calibrate run.jsonl -n 20 --include-passes -o sheet.md")
@APPENDED_LOG
@click.option("-o", "--output", metavar="SHEET", type=PATH,
              help="Write a sheet to be filled in: Markdown (.md) or JSON lines (.jsonl).")  # fmt: skip
@click.option("--read", "filled", metavar="SHEET", type=INPUT_FILE, multiple=True,
              help="Append what a filled-in sheet says as labels; may be repeated.")  # fmt: skip
@drawing_options
@click.option("--labeler", metavar="NAME", help="Who fills in the sheet, unless it says so.")
@click.option("-f", "--format", "written", type=click.Choice(["text", "jsonl"]), default="text", show_default=True,
              help="How the numbers are printed.")  # fmt: skip
@click.option("--calibration", metavar="FILE", type=INPUT_FILE,
              help="Correct pass rates by another log's error rates, as -f jsonl printed them.")  # fmt: skip
@click.option("--q0", type=FiniteRange(0, 1), metavar="SHARE",
              help="Correct by these error rates: of M0 bad answers the judge failed this share …")  # fmt: skip
@click.option("--q1", type=FiniteRange(0, 1), metavar="SHARE", help="… and of M1 good ones passed this share.")
@click.option("--m0", type=click.IntRange(min=1), metavar="N", help="How many bad answers q0 is of.")
@click.option("--m1", type=click.IntRange(min=1), metavar="N", help="How many good answers q1 is of.")
@PASS_FROM
@SKIP_INVALID
def command(
    log: Path,
    output: Path | None,
    filled: tuple[Path, ...],
    number: int,
    passes: bool,
    metrics: tuple[str, ...],
    by: tuple[str, ...],
    scores: bool,
    seed: int,
    labeler: str | None,
    written: str,
    calibration: Path | None,
    q0: float | None,
    q1: float | None,
    m0: int | None,
    m1: int | None,
    pass_from: Mapping[str, float],
    skip_invalid: bool,
) -> None:
    """Let people check a judge: draw its verdicts, read their labels, and say how far to trust it.

    With -o, draws N failures (and as many passes, if asked for), spread over conditions, judges and
    metrics, and writes a sheet; verdicts that have a label are left out. With --read, appends what
    the sheet says; reading it twice adds nothing. Prints, except with -o, what all labels of the
    log say of each judge: predictive values, the pass rate corrected by them, and, of answers that
    --scores drew, the mean score corrected by people's (PPI++). With --calibration or --q0 to --m1,
    pass rates are corrected by error rates from elsewhere, too (Rogan and Gladen).
    """
    if output is not None and filled:
        raise UsageError("-o writes a sheet and --read reads one: one at a time")
    if output is not None and (written != "text" or calibration is not None or {q0, q1, m0, m1} != {None}):
        raise UsageError(
            "-f, --calibration and --q0 to --m1 go with the numbers, which -o does not print: leave them out"
        )
    wanted = Wanted(number, passes, by, seed, pass_from, scores, metrics)
    elsewhere = _elsewhere(calibration, q0, q1, m0, m1)
    if output is not None:
        _write(log, output, wanted, labeler, skip_invalid=skip_invalid)
        return
    check_stdout([log], "write to another file")
    if filled:
        _take_in(log, [filled_sheet.read(each, labeler) for each in filled], skip_invalid=skip_invalid)
    judges, means = _what_labels_say(log, wanted, skip_invalid=skip_invalid)
    for judge in judges:
        by_rates = None if elsewhere is None else judge.corrected_by(elsewhere)
        if written == "jsonl":
            say_json(judge.as_json() | ({"by_error_rates": by_rates.as_json()} if by_rates else {}))
        else:
            _say_all(calibration_lines.of_verdicts(judge, by_rates))
    for mean in means:
        if written == "jsonl":
            say_json(mean.as_json())
        else:
            _say_all(calibration_lines.of_mean(mean))
    if means:
        warn(f"corrected means: {REQUIREMENT}")


def _elsewhere(
    calibration: Path | None, q0: float | None, q1: float | None, m0: int | None, m1: int | None
) -> ForeignCalibration | None:
    """Return the error rates that the user gives. Raises UsageError for some of them without the others."""
    given = (q0, q1, m0, m1)
    if q0 is not None and q1 is not None and m0 is not None and m1 is not None:
        if calibration is not None:
            raise UsageError("--calibration and --q0 to --m1 both give error rates: one of them")
        return ForeignCalibration(ErrorRates(q0, q1, m0, m1))
    if any(each is not None for each in given):
        raise UsageError("--q0, --q1, --m0 and --m1 go together")
    return None if calibration is None else read(calibration)


def _write(log: Path, output: Path, wanted: Wanted, labeler: str | None, *, skip_invalid: bool) -> None:
    if output.suffix not in {".md", ".jsonl"}:
        raise UsageError(f"{output}: a sheet ends in .md or .jsonl")
    if os.path.isfile(output):  # noqa: PTH113 - Path.is_file raises what the system refuses to tell
        raise UsageError(f"{output} exists, and may be filled in already; name another file, or remove it")
    with replaced(output, [log], lambda _: False) as temporary:
        entries = drawn(log, wanted, warn, None, skip_invalid=skip_invalid)
        if not entries:
            passes = "" if wanted.passes or wanted.scores else ", --include-passes passes"
            others = "" if wanted.scores else ", --scores answers"
            raise UsageError(f"{log}: nothing is left to be labelled; -n draws more{passes}{others}")
        written = sheet.markdown(entries, labeler).encode() if output.suffix == ".md" else sheet.jsonl(entries, labeler)
        temporary.write_bytes(written)
    what = f"{counted(len(entries), 'score')} to give" if wanted.scores else counted(len(entries), "verdict")
    again = shlex.join(["keval", "calibrate", str(log), "--read", str(output), *_options(wanted)])
    warn(f"{output} has {what}; fill it in, then: {again}")


def _options(wanted: Wanted) -> Iterator[str]:
    """Yield the options that what is drawn has to be read with, to be counted as it was drawn."""
    for name in wanted.metrics:
        yield from ("--metric", name)
    for field in wanted.by:
        yield from ("--by", field)
    for name, score in wanted.pass_from.items():
        yield from ("--pass-from", f"{name}={score:.12g}")


def _take_in(log: Path, sheets: Sequence[Filled], *, skip_invalid: bool) -> None:
    added = take_in(log, sheets, warn, skip_invalid=skip_invalid)
    there, empty = sum(len(each.said) for each in sheets) - added, sum(each.empty for each in sheets)
    warn(f"{counted(added, 'label')} added, {there:,} there already; not filled in: {empty:,}")


def _what_labels_say(
    log: Path, wanted: Wanted, *, skip_invalid: bool
) -> tuple[list[CalibratedJudge], list[MeanCorrection]]:
    """Return what the labels of a log say of each judge's verdicts, and of its means."""
    with ExitStack() as open_:
        (file,) = open_.enter_context(collected([log], warn, skip_invalid=skip_invalid))
        check_not_empty([file])
        asked = {*READ, *caveats.READ_FOR_MOCK, *stopped_run.READ}
        connection = open_.enter_context(projections.connect([file], tools=False, asked=asked))
        caveats.warn_of_mock(connection)
        caveats.warn_of_stopped(connection)
        check_metrics(connection, wanted)
        for told in without_verdicts(connection, wanted):
            warn(told)
        judges = calibrated(connection, known_labels(connection, file.path), wanted)
        means = mean_corrections(connection)
        return (
            [each for each in judges if wanted.is_about(each.metric, each.judge, each.judge_id)],
            [each for each in means if wanted.is_about(each.metric, each.judge, each.judge_id)],
        )


def _say_all(lines: Iterable[str]) -> None:
    for line in lines:
        say(line)
