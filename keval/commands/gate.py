"""Check a log against rules, for CI: the exit code says whether all are met, one is not, or nobody can tell."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from keval.commands.caveats import warn_of_several, warn_of_ungrouped
from keval.commands.messages import say, warn
from keval.commands.newest import check_named_or_piped
from keval.commands.options import ALLOW_MIXED, EVERYTHING, INPUT_FILE, LOGS, PASS_FROM, SKIP_INVALID
from keval.config import gate_section
from keval.config.gate_rules import PRESETS
from keval.config.gate_section import Rules
from keval.errors import UsageError
from keval.logs.collect import check_not_empty, collected

if TYPE_CHECKING:
    from collections.abc import Sequence

    from keval.gate.facts import Facts

CODES = {"met": 0, "not met": 1, "cannot tell": 7}


@click.command(epilog="Example: keval gate run.jsonl --rule 'completeness of with_docs >= 4' --rule 'missing <= 5%'")
@LOGS
@click.option("--rule", "rules", metavar="RULE", multiple=True, help="What has to hold; may be repeated.")
@click.option("--rules", "rules_file", metavar="FILE", type=INPUT_FILE,
              help="A YAML list of rules, or a config with a gate.")  # fmt: skip
@click.option("--preset", type=click.Choice(list(PRESETS)), help="Rules that have a name.")
@click.option("--baseline", metavar="OLD", type=INPUT_FILE,
              help="An earlier log; rules call it `before`.")  # fmt: skip
@click.option("--on", type=click.Choice(["interval", "mean"]),
              help="Whether the whole interval has to meet a rule (default), or the mean alone.")  # fmt: skip
@click.option("-f", "--format", "written", type=click.Choice(["text", "markdown", "json", "junit"]), default="text",
              show_default=True, help="For people, pull requests, programs or CI.")  # fmt: skip
@PASS_FROM
@EVERYTHING
@ALLOW_MIXED
@SKIP_INVALID
@click.pass_context
def command(
    context: click.Context,
    logs: tuple[Path, ...],
    rules: tuple[str, ...],
    rules_file: Path | None,
    preset: str | None,
    baseline: Path | None,
    on: str | None,
    written: str,
    pass_from: Mapping[str, float],
    everything: bool,
    allow_mixed: bool,
    skip_invalid: bool,
) -> None:
    """Check a log against rules.

    Without rules, those of the section `gate` of the log's config count. Exit code 0: all are met; 1: one is not
    met; 7: of one nobody can tell, because its interval includes the limit, or too much is missing.
    """
    from keval import projections
    from keval.exports._gate import FORMATS
    from keval.gate.facts import Facts
    from keval.gate.findings import judge_rules
    from keval.reports import mixed_answers
    from keval.reports.warnings import answered_after_failures, useless_servers

    check_named_or_piped(logs)
    filed = gate_section.read_file(rules_file) if rules_file else Rules(())
    given = (*filed.rules, *gate_section.given(rules, preset))
    # Texts tell whether records were edited since the earlier log, and to which group a sample belongs.
    with_texts = baseline is not None or not given or any(rule.by for rule in given)
    with ExitStack() as open_:

        def facts_of(paths: Sequence[Path]) -> Facts:
            files = open_.enter_context(collected(paths, warn, skip_invalid=skip_invalid))
            check_not_empty(files)
            connection = open_.enter_context(projections.connect(files, everything=everything, texts=with_texts))
            for sentence in mixed_answers.refuse_mixed(connection, allow=allow_mixed):
                warn(sentence)
            warn_of_several(connection)
            return Facts(connection, pass_from)

        now = facts_of(logs)
        before = None if baseline is None else facts_of([baseline])
        asked = replace(filed, rules=given) if given else _recorded(now)
        on_mean = asked.on_mean if on is None else on == "mean"
        for by in dict.fromkeys(rule.by for rule in asked.rules if rule.by is not None):
            warn_of_ungrouped(now.connection, [by], "for each")
        outcome = judge_rules(asked.rules, now, before, on_mean=on_mean)
        doubts = [*(found.text for found in useless_servers(now.servers())), *answered_after_failures(now.queries)]
        if before is not None:
            doubts += [f"{baseline}: {told}" for told in answered_after_failures(before.queries)]
    for told in doubts:
        warn(told)
    outcome = replace(outcome, warnings=tuple(doubts))
    for line in FORMATS[written](outcome):
        say(line) if written == "text" else click.echo(line)
    context.exit(CODES[outcome.verdict])


def _recorded(log: Facts) -> Rules:
    """Return the rules of the config that the log recorded."""
    found = gate_section.recorded(log.configured)
    if not found.rules:
        raise UsageError("no rules: give --rule, --rules or --preset, or write a section `gate` into the config")
    return found
