"""Says what a reader of a report must be warned of, beside what the numbers themselves show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from keval.counted import counted
from keval.ids import JsonObject
from keval.readable import share
from keval.reports.judgments_left import judgments_left
from keval.reports.metric_tables import MetricTable, statistic
from keval.reports.model import ConditionSummary, Header, ReportWarning, ServerUse
from keval.reports.queries import Queries, by_condition
from keval.reports.tool_use import ToolUse
from keval.stats.conclusions import is_at_most_alpha


def incomplete(
    queries: Queries, conditions: Sequence[ConditionSummary], does_rest: str | None
) -> Iterator[ReportWarning]:
    """Yield what must be read before any number: that planned answers are not done, and the command that does them."""
    lacking = [found for found in conditions if found.not_done]
    if lacking:
        planned = sum(found.planned or 0 for found in conditions)
        where = ", ".join(f"{found.name} {found.not_done}" for found in lacking)
        not_done = sum(found.not_done or 0 for found in lacking)
        other = _by_earlier_agents(queries, lacking)
        yield ReportWarning(
            "incomplete",
            f"INCOMPLETE: {not_done} of {planned} planned answers are not done ({where})."
            + (f" {_of_earlier_agents(other)}." if other else "")
            + (f" {does_rest} does what is missing." if does_rest else ""),
        )


def unfinished(tables: Sequence[MetricTable]) -> Iterator[ReportWarning]:
    """Yield the same of saved aggregates, which say by each metric how many planned answers have no score yet."""
    lacking = {score.condition: score.not_done for table in tables for score in table.scores if score.not_done}
    if lacking:
        where = ", ".join(f"{condition} {number}" for condition, number in lacking.items())
        yield ReportWarning("incomplete", f"INCOMPLETE: planned answers were not done, or not judged ({where}).")


def unjudged(
    queries: Queries, conditions: Sequence[ConditionSummary], does_rest: str, *, names_judge: bool, mock: bool
) -> Iterator[ReportWarning]:
    """Yield what the judges have still to do, and what does it: of answers of a stand-in, for nothing.

    `names_judge`: whether the log's newest run names a judge that `keval judge LOG` can ask.
    """
    command = "keval judge LOG --mock" if mock else "keval judge LOG"
    judges = judgments_left(queries.ask)
    for is_added, does in ((False, command), (True, f"{command} -j JUDGE.yaml")):
        these = [each for each in judges if each.is_added is is_added]
        # Where a judge failed all judgments of an answer, that is told among the failures.
        if any(each.missing or each.failed_replicates for each in these):
            # The command makes those that failed again, too.
            missing = {each.judge: number for each in these if (number := each.missing + each.failed)}
            number, failed = sum(missing.values()), sum(each.failed for each in these)
            are = f"{number:,} {'judgment is' if number == 1 else 'judgments are'} missing"
            which = ", ".join(f"{name} {n:,}" for name, n in missing.items())
            of_these = f", of which {failed:,} failed" if failed else ""
            yield ReportWarning("unjudged", f"{are} ({which}){of_these}: {does}")
    if any(not each.of_pairs for each in judges):
        return
    left = [row for _, row in _each(queries, "unjudged", conditions)]
    number, unpaired = (sum(row[name] for row in left) for name in ("count", "unpaired"))
    if unpaired:
        have = f"{counted(unpaired, 'response')} {'has' if unpaired == 1 else 'have'}"
        yield ReportWarning(
            "unpaired", f"{have} none of the baseline to be compared with: {does_rest} asks for those that failed"
        )
    # Of judges that the log does not name it is not known what they are to do.
    if number and not judges:
        have = f"{counted(number, 'response')} {'has' if number == 1 else 'have'}"
        yield ReportWarning("unjudged", f"{have} no judgment: {command if names_judge else f'{command} -j JUDGE.yaml'}")


def useless_servers(used: Iterable[tuple[str, Sequence[ServerUse]]]) -> Iterator[ReportWarning]:
    """Yield where an MCP server was never connected, or no call of it succeeded: so it is as if there were none.

    `used` has the name of each condition with what became of its servers.
    """
    for name, servers in used:
        for use in servers:
            if use.connected == 0:
                yield ReportWarning(
                    "never_connected",
                    f"{name}: {use.server} was connected in none of {counted(use.tasks, 'task')}; the scores say "
                    "nothing about this server",
                )
            if use.called and use.failed == use.called:
                calls = "its only call" if use.called == 1 else f"{use.called} of {use.called} calls"
                yield ReportWarning(
                    "all_calls_failed",
                    f"{name}: {calls} of {use.server} failed; the scores say nothing about this server",
                )


def failure_rates(tables: Sequence[MetricTable]) -> Iterator[ReportWarning]:
    """Yield under which conditions the agent failed more often, or less often, than under the baseline."""
    told = set()
    for found in (found for table in tables for found in table.differences):
        more, p = statistic(found, "failure_rate_difference"), statistic(found, "p_failure_rate")
        if more and is_at_most_alpha(p) and (found.condition, found.baseline) not in told:
            told.add((found.condition, found.baseline))
            often = f"{'more' if more > 0 else 'less'} often"
            yield ReportWarning(
                "failure_rates_differ",
                f"{found.condition}: the agent failed {often} than under {found.baseline}, by "
                f"{share(abs(more))} of the answers (sign-flip test of the failure rates, p = {p:.2g})",
            )


def others(
    queries: Queries,
    header: Header,
    conditions: Sequence[ConditionSummary],
    bodies: Sequence[JsonObject],
    used: Mapping[tuple[str, str], ToolUse],
) -> Iterator[ReportWarning]:
    """Yield everything else that the views over a log give cause for."""
    known = {model for model in (header.agent.model if header.agent else None, *header.models) if model}
    for judge in header.judges:
        for model in judge.models:
            if model in known:
                yield ReportWarning("judge_is_agent", judge_is_agent(judge.name, model))
    if len({found.agent_id for found in conditions}) > 1:
        yield ReportWarning(
            "several_agents", "the conditions were answered by different agents; only those of one agent are compared"
        )
    yield from _unplanned(conditions, bodies)
    yield from _answer_leakage(conditions, used)
    yield from _asked_again(queries, conditions)
    for told in answered_after_failures(queries):
        yield ReportWarning("answered_after_failures", told)
    yield from _orphaned(queries, conditions)
    yield from _not_applicable(queries)
    yield from _order_dependent(queries)
    yield from _merged_out_of_order(queries)
    yield from _left_out(queries)
    yield from _older(queries, conditions, bodies)
    if len(header.files) > 1:
        yield from _answered_in_several_logs(queries)


def judge_is_agent(judge: str, model: str) -> str:
    """Return what is to be said of a judge that asks the model that answers."""
    return f"judge {judge} and the agent are the same model, {model}: it may favour its own answers"


def _unplanned(conditions: Sequence[ConditionSummary], bodies: Sequence[JsonObject]) -> Iterator[ReportWarning]:
    """Yield what the newest run does not say: which condition is the baseline, or what is planned of some."""
    unplanned = [found.name for found in conditions if found.planned is None]
    baselines = dict.fromkeys(body["baseline"] for body in bodies if body["type"] == "comparison" and body["current"])
    if len(unplanned) == len(conditions):
        for baseline in baselines if conditions else ():
            yield ReportWarning(
                "baseline_by_name",
                f"no run event says which condition is the baseline: {baseline} is taken, the first by name",
            )
    elif unplanned:
        yield ReportWarning(
            "not_in_config",
            f"not in the config of the newest run, so nothing more is planned of it: {', '.join(unplanned)}",
        )


def _answer_leakage(
    conditions: Sequence[ConditionSummary], used: Mapping[tuple[str, str], ToolUse]
) -> Iterator[ReportWarning]:
    """Yield where a tool that belongs to no MCP server of the condition returned the golden answer."""
    for found in conditions:
        use = used.get(found.key)
        if use is not None and use.found_elsewhere:
            yield ReportWarning(
                "answer_leakage",
                f"{found.name}: in {counted(use.found_elsewhere, 'answer')} the golden answer was returned by a tool "
                f"that belongs to no MCP server of the condition ({', '.join(sorted(use.tools_elsewhere))}): the "
                "agent can read it where no agent should find it",
            )


def _orphaned(queries: Queries, conditions: Sequence[ConditionSummary]) -> Iterator[ReportWarning]:
    for found, row in _each(queries, "orphaned", conditions):
        left = f"left processes behind: {', '.join(row['names'])}; they were ended"
        yield ReportWarning("orphaned_processes", f"{found.name}: {counted(row['count'], 'task')} {left}")


def _asked_again(queries: Queries, conditions: Sequence[ConditionSummary]) -> Iterator[ReportWarning]:
    """Yield where a condition asked again for what its gates refused: it was let choose among its answers."""
    for found, row in _each(queries, "asked_again", conditions):
        yield ReportWarning(
            "asked_again_by_a_gate",
            f"{found.name}: {counted(row['answers'], 'answer')} met the condition's gates only when asked again "
            f"(retry_gates); {counted(row['refused'], 'attempt')} that did not are in no mean",
        )


def answered_after_failures(queries: Queries) -> Iterator[str]:
    """Yield of each condition whose tasks one run answered and another one failed: who fails more gets more tries."""
    for row in queries.ask("answered_after_failures"):
        if row["later"]:
            yield (
                f"{row['condition']}: {counted(row['later'], 'answer')} came in a later run, after the agent had "
                "failed the task; the failures are in no mean, which favours a condition that fails often (keval run "
                "--no-retry-failed would have kept them)"
            )
        if row["earlier"]:
            yield (
                f"{row['condition']}: {counted(row['earlier'], 'answer')} came in an earlier run, and the task failed "
                "when it was asked again; the old answer counts and the failure is in no mean (a log of its own for "
                "each run, -o NEW.jsonl, says how that run was)"
            )


def _each(
    queries: Queries, name: str, conditions: Sequence[ConditionSummary]
) -> Iterator[tuple[ConditionSummary, JsonObject]]:
    """Yield what a query finds of each condition, in the order of the conditions."""
    rows = by_condition(queries.ask(name))
    for found in conditions:
        for row in rows.get(found.key, []):
            yield found, row


def _merged_out_of_order(queries: Queries) -> Iterator[ReportWarning]:
    """Yield that an older copy of a log stands behind a newer one, so that the old lines count."""
    (row,) = queries.ask("merged_out_of_order")
    if row["count"]:
        yield ReportWarning(
            "merged_out_of_order",
            f"an older copy of a log, with {counted(row['count'], 'run')}, stands behind a newer run, retraction or "
            "changed sample, so what the older copy says counts: give it first, or merge anew",
        )


def _by_earlier_agents(queries: Queries, conditions: Sequence[ConditionSummary]) -> Counter[str]:
    """Return how many answers to these conditions are by an agent before it was changed, by condition."""
    answers: Counter[str] = Counter()
    names = {found.name for found in conditions}
    for row in queries.ask("older_conditions"):
        if row["same"] and row["answers"] and row["condition"] in names:
            answers[row["condition"]] += row["answers"]
    return answers


def _of_earlier_agents(answers: Counter[str]) -> str:
    """Return what is said of the answers of earlier agents."""
    each = ", ".join(f"{name} {number:,}" for name, number in answers.items())
    count = "1 answer" if answers.total() == 1 else f"{answers.total():,} answers"
    return f"{count} by the agent before it was changed {'is' if answers.total() == 1 else 'are'} not counted ({each})"


def _older(
    queries: Queries, conditions: Sequence[ConditionSummary], bodies: Sequence[JsonObject]
) -> Iterator[ReportWarning]:
    older = [(row["condition"], row["same"]) for row in queries.ask("older_conditions")] or [
        (name, False)
        for name, _ in dict.fromkeys(
            (body["condition"], body["condition_id"]) for body in bodies if not body["current"]
        )
    ]
    if names := [name for name, is_same in older if not is_same]:
        told = ", ".join(dict.fromkeys(names))
        yield ReportWarning(
            "older_conditions",
            f"conditions that the newest run dropped or changed are not shown: {len(names)} ({told})",
        )
    # Of those that lack answers it stands above all numbers.
    if answers := _by_earlier_agents(queries, [found for found in conditions if not found.not_done]):
        yield ReportWarning("older_agents", _of_earlier_agents(answers))
    judged: Counter[str] = Counter()
    for row in queries.ask("replaced_judges"):
        judged[row["judge"]] += row["judgments"]
    if judged:
        each = ", ".join(f"{name} {number:,}" for name, number in judged.items())
        yield ReportWarning(
            "older_judges",
            "judgments by judges that the newest run dropped or changed are not counted: "
            f"{judged.total():,} ({each}); --all takes them",
        )
    (row,) = queries.ask("older_questions")
    if row["count"]:
        yield ReportWarning(
            "older_samples", f"answers to older versions of their questions are not counted: {row['count']}"
        )


def _left_out(queries: Queries) -> Iterator[ReportWarning]:
    """Yield how many responses the newest plan does not have: what it leaves out is in no number of the report."""
    (row,) = queries.ask("left_out")
    if row["count"] and row["stopped"]:
        responses = counted(row["count"], "response")
        yield ReportWarning("after_the_stop", f"{responses} that came in after the stop are in no mean")
    elif row["count"]:
        one = row["count"] == 1
        responses = "1 response of an earlier plan is" if one else f"{row['count']} responses of earlier plans are"
        yield ReportWarning("earlier_plans", f"{responses} left out; --all takes them")


def _answered_in_several_logs(queries: Queries) -> Iterator[ReportWarning]:
    """Yield how many tasks several of the logs answer: one who takes them for more answers would take half for all."""
    (row,) = queries.ask("answered_in_several_logs")
    if row["count"]:
        responses = "1 response stands" if row["count"] == 1 else f"{row['count']} responses stand"
        yield ReportWarning(
            "answered_in_several_logs",
            f"{responses} in several of the logs, from different runs: only one of each counts",
        )


def _order_dependent(queries: Queries) -> Iterator[ReportWarning]:
    """Yield how often a judge of pairs preferred a place and not an answer."""
    for row in queries.ask("order_dependent"):
        yield ReportWarning(
            "order_dependent",
            f"judge {row['judge']}: in {row['order_dependent']} of {counted(row['compared'], 'pair')} the verdict "
            "depended on the order of the answers; these count as ties",
        )


def _not_applicable(queries: Queries) -> Iterator[ReportWarning]:
    """Yield which metrics were not applicable to some answers, which are in no mean of theirs."""
    for row in queries.ask("not_applicable"):
        each = ", ".join(f"{found['condition']} {found['answers']}" for found in row["by_condition"])
        yield ReportWarning(
            "not_applicable",
            f"{row['metric']}, judge {row['judge']}: not applicable to {counted(row['answers'], 'answer')} ({each}), "
            f"left out of its means ({row['reason']})",
        )
