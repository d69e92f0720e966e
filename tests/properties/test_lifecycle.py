"""A log through everything that may happen to it: work, crashes, edits, retractions, in any order.

The stages, the log and its views are the real ones; agent and judge are scripted. After every step a plain loop
over the lines says what must be true: what is asked and judged again is money.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import random
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import ClassVar

import duckdb
import orjson
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from keval import projections
from keval.agents import Agent, AgentError, Answer, McpUse, Prompt
from keval.config.model import AgentConfig, Config, Execution, JudgeConfig
from keval.config.reader import load
from keval.datasets import Samples
from keval.documents.json_objects import JsonObjects
from keval.events import encode, event, new_run_id
from keval.execution.config_session import past
from keval.execution.config_work import ConfigWork
from keval.execution.judge_session import JudgeWork
from keval.failure_kinds import GATES
from keval.ids import JsonObject, canonical, digest, given_sha256, judgment_id, sample_sha256
from keval.judges import Case, Context, Judge, JudgeError, Judgment, Metric, Score
from keval.logs.past import of_log
from keval.logs.stream import Line, Reader
from keval.logs.writer import Log, open_log
from keval.preparation.prepared import Prepared
from keval.preparation.request import Request
from keval.preparation.tasks import Task, work_list
from keval.retry import Retry
from keval.stats.aggregates import aggregate
from tests.builders import write_log

SAMPLES = 3
AT_ONCE = 2
SECRET = "tok-secret-1"  # noqa: S105 - one that is to be found and redacted
MOODS = ("yes", "no")
ODDITIES = (f" {SECRET}", " \ud83d", "")
"""What answers to the samples end with: what a log must not hold, what it cannot hold, and nothing."""

CONFIG = """\
name: lifecycle
version: "1"
dataset: {path: questions.jsonl}
agent: {type: echo}
conditions:
  plain: {system_prompt: "Answer with ${TOKEN}."}
  gated: {system_prompt: "Use the docs.", require_mcp_tool_use: true}
judge: {type: exact_match}
"""


@cache
def written() -> Config:
    """Return the config as loaded from a file; tests replace what changes."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "questions.jsonl").write_text('{"question": "q", "answer": "a"}\n')
        (folder / "eval.yaml").write_text(CONFIG)
        return load(folder / "eval.yaml", environ={"TOKEN": SECRET, "PATH": os.defpath})


@dataclass
class World:
    """What agent and judge do next, and what they were asked."""

    mood: str = MOODS[0]
    failing: frozenset[int] = frozenset()
    """Samples whose task fails."""
    idle: frozenset[int] = frozenset()
    """Samples whose answer calls no tool, which a gate refuses."""
    unjudgeable: frozenset[int] = frozenset()
    asked: list[tuple[str, str, int]] = field(default_factory=list)
    judged: int = 0
    dead: bool = False
    """What is done until the event loop has come to its end is not done any more."""

    def begin(self) -> None:
        """Begin a command: nothing was asked yet."""
        self.asked, self.judged, self.dead = [], 0, False

    def is_good(self) -> bool:
        """Return whether nothing fails."""
        return not self.failing | self.idle | self.unjudgeable

    def ask(self, prompt: Prompt) -> None:
        """Note what the agent is asked."""
        if not self.dead:
            self.asked.append((prompt.question, prompt.system_prompt, prompt.repetition))


@dataclass(frozen=True, kw_only=True)
class Scripted(Agent):
    """An agent that answers as the world says."""

    uses_models: ClassVar[bool] = False
    world: World

    async def answer(self, prompt: Prompt) -> Answer:
        """Answer with the question, the mood, and what a log must not or cannot hold."""
        self.world.ask(prompt)
        await asyncio.sleep(0)
        number = sample_number(prompt.question)
        if number in self.world.failing:
            raise AgentError("agent_error", f"no, {SECRET}")
        text = f"{prompt.question}: {self.world.mood}{ODDITIES[number]}"
        used = McpUse("connected", ("search",), called=0 if number in self.world.idle else 1)
        return Answer("answered", text, mcp={"docs": used}, cost_usd=1.0)


@dataclass(frozen=True, kw_only=True)
class Opinion(Judge):
    """A judge that likes one mood."""

    likes: str
    _world: World

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """One metric from 0 to 1."""
        return (Metric("liked", 0, 1),)

    async def judge(self, case: Case, context: Context) -> Judgment:
        """Score 1 for the mood that it likes."""
        assert not context.env
        self._world.judged += not self._world.dead
        await asyncio.sleep(0)
        if sample_number(case.question) in self._world.unjudgeable:
            raise JudgeError("judge_error", "no")
        return Judgment({"liked": Score(float(self.likes in case.text))}, cost_usd=1.0)


class DiedError(Exception):
    """The process dies here."""


class Mortal:
    """A log whose process dies when it wants to write one line more than it may."""

    def __init__(self, log: Log, world: World, lives: int | None) -> None:
        self.path = log.path
        self.tell = log.tell
        self._log = log
        self._world = world
        self._lives = lives

    async def append(self, written: JsonObject) -> None:
        """Write an event, or die."""
        await self.write(encode(written))

    async def write(self, line: bytes) -> None:
        """Write the line of an event, or die."""
        if self._lives == 0:
            self._world.dead = True
            raise DiedError
        if self._lives is not None:
            self._lives -= 1
        await self._log.write(line)


def question(number: int, version: int) -> str:
    """Return a version of a sample's question."""
    return f"{number}. What is it, in version {version}?"


def sample_number(asked: str) -> int:
    """Return the number of the sample that a question is of."""
    return int(asked.partition(".")[0])


@dataclass(frozen=True)
class Facts:
    """What the lines of a log say, found by a plain loop over them."""

    live: dict[str, JsonObject]
    """The last event of each id that is not retracted."""
    at: dict[str, int]
    """Its position."""
    retracted: set[str]
    records: dict[str, list[tuple[JsonObject, set[str] | None]]]
    """By question, the records that asked it, in order, each with the fields that are said to have changed."""
    gated: set[str]
    """Tasks whose last answer a gate refused: they are not tried again."""

    @classmethod
    def of(cls, events: Sequence[JsonObject]) -> Facts:
        """Fold the lines."""
        found = cls({}, {}, set(), {}, set())
        for position, each in enumerate(events):
            if each["type"] == "retraction":
                found.live.pop(each["target"], None)
                found.retracted.add(each["target"])
                continue
            found.live[each["id"]], found.at[each["id"]] = each, position
            found.retracted.discard(each["id"])
            if each["type"] in {"response", "sample_change"}:
                told = set(each["changed"]) if each["type"] == "sample_change" else None
                found.records.setdefault(each["question_id"], []).append((each["sample"], told))
        return replace(found, gated=found.refused(events))

    def refused(self, events: Sequence[JsonObject]) -> set[str]:
        """Return the tasks without an answer whose last failure, if no answer came since, was that of a gate."""
        last: dict[str, JsonObject] = {}
        for each in events:
            if each["type"] == "response":
                last.pop(each["id"], None)
            elif each["type"] == "failure" and each["stage"] == "generate" and self.live.get(each["id"]) is each:
                last[each["response_id"]] = each
        return {known for known, each in last.items() if each["kind"] in GATES and known not in self.live}

    def ids(self, event_type: str) -> set[str]:
        """Return the ids of a type that count."""
        return {known for known, each in self.live.items() if each["type"] == event_type}

    def planned(self) -> set[str]:
        """Return the responses that the newest run with a whole plan asks for; without any, all."""
        runs = [each for each in self.live.values() if each["type"] == "run" and each["conditions"]]
        for run in sorted(runs, key=lambda each: self.at[each["id"]], reverse=True):
            plans = (each for each in self.live.values() if each["type"] == "plan")
            parts = [each for each in plans if each["plan_id"] == run["plan_id"]]
            if not parts or len(parts) < parts[0]["parts"]:
                continue
            asked = {known for part in parts for known in part["question_ids"]}
            conditions = {each["condition_id"] for each in run["conditions"].values()}
            return {
                known
                for known in self.ids("response")
                for each in (self.live[known],)
                if each["question_id"] in asked
                and each["condition_id"] in conditions
                and each["agent_id"] == run["agent"]["agent_id"]
                and each["repetition"] <= run["repetitions"]
            }
        return self.ids("response")

    def unjudged(self, judges: Sequence[JudgeConfig]) -> set[str]:
        """Return the judgments of planned responses that are missing."""
        missing = set()
        for known in self.planned():
            record, _ = self.records[self.live[known]["question_id"]][-1]
            given = given_sha256(record, ("question", "answer"))
            for judge in judges:
                target = judgment_id(known, self.live[known]["text"], given, judge.judge_id, 1)
                if target not in self.live or not self._is_of_now(self.live[target]):
                    missing.add(target)
        return missing

    def _is_of_now(self, judgment: JsonObject) -> bool:
        """Return whether nothing that the judge was given has changed since the log last had the record that it had."""
        for record, changed in reversed(self.records[self.live[judgment["response_id"]]["question_id"]]):
            if sample_sha256(record) == judgment["sample_sha256"]:
                return True
            if changed is not None and changed & {"question", "answer"}:
                return False
        return False


class Lifecycle(RuleBasedStateMachine):
    """One log, from its first line on."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.log = self.folder / "run.jsonl"
        self.world = World()
        self.versions = [0] * SAMPLES
        self.answers = [0] * SAMPLES
        self.notes = [0] * SAMPLES
        self.repetitions = 1
        self.judges = [self._judge("yes")]
        self.torn: list[bytes] = []
        self.before = b""
        self.aggregated = False

    def teardown(self) -> None:
        """Let the same command end, and ask SQL what it makes of the log."""
        try:
            if self.log.exists():
                self.resume()
                check_views(self.log, len(self._planned()))
        finally:
            shutil.rmtree(self.folder)

    # What may happen.

    @rule(
        failing=st.frozensets(st.integers(0, SAMPLES - 1), max_size=2),
        idle=st.frozensets(st.integers(0, SAMPLES - 1), max_size=1),
        unjudgeable=st.frozensets(st.integers(0, SAMPLES - 1), max_size=1),
        mood=st.sampled_from(MOODS),
    )
    def the_world_changes(
        self, failing: frozenset[int], idle: frozenset[int], unjudgeable: frozenset[int], mood: str
    ) -> None:
        """From now on other tasks fail, and answers are others."""
        self.world.failing, self.world.idle, self.world.unjudgeable = failing, idle, unjudgeable
        self.world.mood = mood

    @rule(lives=st.none() | st.integers(0, 8), kept=st.none() | st.floats(0, 1), fresh=st.booleans())
    def generate(self, lives: int | None, kept: float | None, fresh: bool) -> None:
        """`keval generate -o LOG`, to its end or to a crash."""
        config = self._config()
        missing = self._missing(fresh=fresh)
        died = self._command(self._generate(config, fresh=fresh), ("generate",), lives, kept)
        asked = [self._targets(config)[each] for each in self.world.asked]
        assert len(asked) == len(set(asked)), "asked twice in one run"
        assert set(asked) <= missing
        assert died or set(asked) == missing

    @precondition(lambda self: self.log.exists())
    @rule(lives=st.none() | st.integers(0, 8), kept=st.none() | st.floats(0, 1))
    def judge(self, lives: int | None, kept: float | None) -> None:
        """`keval judge LOG`, to its end or to a crash."""
        missing = self._facts_after_mending().unjudged(self.judges)
        died = self._command(self._judge_log, ("judge",), lives, kept)
        assert self.world.judged <= len(missing)
        assert died or self.world.judged == len(missing)

    @rule(lives=st.integers(0, 12), kept=st.none() | st.floats(0, 1))
    def run_and_crash(self, lives: int, kept: float | None) -> None:
        """`keval run`, until it crashes or has nothing left to do."""
        self._command(self._run(self._config()), ("generate", "judge"), lives, kept)

    @rule()
    def resume(self) -> None:
        """`keval run` on a good day, twice: then nothing is missing, and the second call does nothing."""
        self.world.failing = self.world.idle = self.world.unjudgeable = frozenset()
        config = self._config()
        missing = self._missing(fresh=False)
        self._command(self._run(config), ("generate", "judge"), None, None)
        assert Counter(self._targets(config)[each] for each in self.world.asked) == Counter(missing)
        facts = Facts.of(self.events())
        assert set(self._planned()) <= facts.ids("response") | facts.gated
        assert facts.unjudged(self.judges) == set()
        done = self.log.read_bytes()
        self._command(self._run(config), ("generate", "judge"), None, None)
        assert self.log.read_bytes() == done
        assert (self.world.asked, self.world.judged) == ([], 0)

    @precondition(lambda self: self.log.exists())
    @rule(which=st.integers(0, 99))
    def retract(self, which: int) -> None:
        """`keval retract LOG ID`."""
        facts = Facts.of(self.events())
        kinds = [sorted(known) for kind in ("response", "judgment", "failure") if (known := facts.ids(kind))]
        if not kinds:
            return
        ids = kinds[which % len(kinds)]
        target = ids[which // len(kinds) % len(ids)]
        self.take_back(target)

    @precondition(lambda self: self.log.exists() and not self.aggregated)
    @rule()
    def append_aggregates(self) -> None:
        """`keval aggregate --append LOG`."""
        self.aggregated = True
        self._mend()
        with projections.connect([self.log]) as connection:
            bodies = aggregates(connection)

        async def append_all(log: Mortal) -> None:
            for number, body in enumerate(bodies):
                fields = {name: value for name, value in body.items() if name != "type"}
                await log.append(event(body["type"], digest("aggregate", number), "aggregates", **fields))

        def work(log: Mortal) -> None:
            asyncio.run(append_all(log))

        self._command(work, ("aggregate",), None, None)

    @rule(number=st.integers(0, SAMPLES - 1))
    def edit_a_question(self, number: int) -> None:
        """Write another question in the dataset."""
        self.versions[number] += 1

    @rule(number=st.integers(0, SAMPLES - 1), back=st.booleans())
    def correct_a_golden_answer(self, number: int, back: bool) -> None:
        """Write another golden answer in the dataset, or the first one again."""
        self.answers[number] = 0 if back else self.answers[number] + 1

    @rule(number=st.integers(0, SAMPLES - 1))
    def add_a_note(self, number: int) -> None:
        """Write in the dataset what neither agent nor judge is given."""
        self.notes[number] += 1

    @precondition(lambda self: self.repetitions == 1)
    @rule()
    def add_a_repetition(self) -> None:
        """Raise `repetitions` in the config."""
        self.repetitions += 1

    @precondition(lambda self: len(self.judges) == 1)
    @rule()
    def add_a_judge(self) -> None:
        """Add a judge to the config."""
        self.judges.append(self._judge("no"))

    # What must be true after each of them.

    @invariant()
    def what_was_written_stays(self) -> None:
        """Whole lines never change; a cut-off one is beside the log."""
        now = self.log.read_bytes() if self.log.exists() else b""
        assert now.startswith(self.before[: self.before.rfind(b"\n") + 1])
        aside = Path(f"{self.log}.torn")
        assert (aside.read_bytes() if aside.exists() else b"") == b"".join(self.torn)
        self.before = now

    @invariant()
    def every_line_is_valid(self) -> None:
        """Let the reader refuse none; only the last line may be torn."""
        assert [line.number for line in self._lines()] == list(range(1, len(self._lines()) + 1))

    # How it happens.

    def _judge(self, likes: str) -> JudgeConfig:
        return JudgeConfig(likes, "opinion", Opinion(likes=likes, _world=self.world), 1, {"likes": likes})

    def _config(self) -> Config:
        execution = Execution(repetitions=self.repetitions, max_concurrent=AT_ONCE, retry=Retry(1, 0, 1))
        agent = AgentConfig("scripted", "scripted", Scripted(world=self.world), {})
        state = canonical([self.repetitions, [judge.judge_id for judge in self.judges]])
        return replace(
            written(),
            agent=agent,
            judges=tuple(self.judges),
            execution=execution,
            sha256=hashlib.sha256(state).hexdigest(),
        )

    def _samples(self) -> tuple[JsonObject, ...]:
        return tuple(
            {"id": f"s{number}", "question": question(number, version), "answer": f"yes{answer}", "note": note}
            for number, (version, answer, note) in enumerate(zip(self.versions, self.answers, self.notes, strict=True))
        )

    def _prepared(self, config: Config) -> Prepared:
        samples = self._samples()
        sha256 = hashlib.sha256(canonical(list(samples))).hexdigest()
        return Prepared(
            config, (Samples(JsonObjects(samples), sha256, self.folder / "questions.jsonl"),), samples, None, self.log
        )

    def _planned(self) -> dict[str, Task]:
        return {task.response_id: task for task in work_list(self._config(), self._samples())}

    def _targets(self, config: Config) -> dict[tuple[str, str, int], str]:
        """Return the id of the response that each prompt asks for."""
        return {
            (task.sample["question"], config.secrets.resolve(task.condition.system_prompt), task.repetition): known
            for known, task in self._planned().items()
        }

    def _missing(self, *, fresh: bool) -> set[str]:
        facts = self._facts_after_mending()
        done = set() if fresh else facts.ids("response") | facts.gated
        return set(self._planned()) - done

    def _lines(self) -> list[Line]:
        with (self.log if self.log.exists() else Path(os.devnull)).open("rb") as source:
            return list(Reader(source, "log", lambda _: None))

    def events(self) -> list[JsonObject]:
        """Return the whole lines of the log."""
        return [line.event for line in self._lines()]

    def _facts_after_mending(self) -> Facts:
        """Return the facts that the next command finds: it leaves out a cut-off line, and so does the reader."""
        return Facts.of(self.events())

    def take_back(self, target: str) -> None:
        """Append a retraction."""
        run_id = new_run_id()
        made = event("retraction", digest("retraction", target, run_id), run_id, target=target, reason="r", author=None)

        def work(log: Mortal) -> None:
            asyncio.run(log.append(made))

        self._command(work, (), None, None)

    def _mend(self) -> None:
        def nothing(_: Mortal) -> None:
            return

        self._command(nothing, (), None, None)

    def _command(
        self, work: Callable[[Mortal], None], stages: tuple[str, ...], lives: int | None, kept: float | None
    ) -> bool:
        """Do the work of one command and return whether it died; `kept` is how much of the last line stays then."""
        self.world.begin()
        self._expect_mending()
        died = False
        with open_log(self.log, stages, lambda _: None) as log:
            mended = self.log.read_bytes()
            try:
                work(Mortal(log, self.world, lives))
            except* DiedError:
                died = True
        written_now = self.log.read_bytes()
        new = [orjson.loads(line) for line in written_now[len(mended) :].splitlines()]
        self._check_in_flight(new)
        if died and kept is not None and new:
            self._tear(written_now, kept)
        return died

    def _check_in_flight(self, new: Sequence[JsonObject]) -> None:
        """Check that no more was asked and not written than there are slots; a failure is written without one."""
        answers = [each for each in new if each["type"] == "response" or each.get("stage") == "generate"]
        judgments = [each for each in new if each["type"] == "judgment" or each.get("stage") == "judge"]
        slots = AT_ONCE if self.world.is_good() else 2 * AT_ONCE
        assert len(answers) <= len(self.world.asked) <= len(answers) + slots
        assert len(judgments) <= self.world.judged <= len(judgments) + slots
        assert len({each["id"] for each in new}) == len(new)

    def _tear(self, whole: bytes, kept: float) -> None:
        """Cut the last line off as a crash of the machine may: it was not on disk yet, or not all of it."""
        begins = whole.rfind(b"\n", 0, -1) + 1
        os.truncate(self.log, begins + int(kept * (len(whole) - begins)))
        self.before = whole[:begins]

    def _expect_mending(self) -> None:
        tail = self.log.read_bytes().rpartition(b"\n")[2] if self.log.exists() else b""
        if tail and not tail.endswith(b"}"):
            self.torn.append(tail + b"\n")
        elif tail:
            try:
                orjson.loads(tail)
            except orjson.JSONDecodeError:
                self.torn.append(tail + b"\n")

    def _generate(self, config: Config, *, fresh: bool) -> Callable[[Mortal], None]:
        def work(log: Mortal) -> None:
            self._do(config, log, Request(fresh=fresh, quiet=True))

        return work

    def run_afresh(self) -> None:
        """`keval run --fresh`, to its end."""
        config = self._config()

        def work(log: Mortal) -> None:
            self._do(config, log, Request(fresh=True, quiet=True), config.judges)

        self._command(work, ("generate", "judge"), None, None)

    def _run(self, config: Config) -> Callable[[Mortal], None]:
        def work(log: Mortal) -> None:
            self._do(config, log, Request(quiet=True), config.judges)

        return work

    def _do(self, config: Config, log: Mortal, request: Request, judges: Sequence[JudgeConfig] = ()) -> None:
        with past(log.path, request, ignored) as found:
            ConfigWork(self._prepared(config), log, found, request, ignored, judges=judges).do()

    def _judge_log(self, log: Mortal) -> None:
        request, secrets = Request(quiet=True, max_concurrent=AT_ONCE), self._config().secrets
        work = JudgeWork(given=self.judges, request=request, environ={}, secrets=secrets, warn=ignored)
        with of_log(log.path, ignored) as found:
            work.judge(log, found)


def ignored(_: str) -> None:
    """Say nothing."""


def aggregates(connection: duckdb.DuckDBPyConnection) -> list[JsonObject]:
    """Return all aggregates and comparisons."""
    return list(aggregate(connection, levels=["condition", "sample"]))


def check_views(log: Path, planned: int) -> None:
    """Check that SQL says the same as a plain loop, that nothing is missing, and that no retracted line is anywhere."""
    events = [orjson.loads(line) for line in log.read_bytes().splitlines()]
    facts = Facts.of(events)
    with projections.connect([log]) as connection:

        def ids(query: str) -> set[str]:
            return {known for (known,) in connection.execute(f"select id from {query}").fetchall()}  # noqa: S608 - ours

        assert ids("responses") == facts.ids("response")
        assert ids("failures") == facts.ids("failure")
        assert ids("judgments where current") <= facts.ids("judgment") - facts.retracted
        query = "select sum(planned)::int, sum(not_done)::int from missing where current"
        assert connection.execute(query).fetchall() == [(planned, 0)]
        found = aggregates(connection)
    assert {body["not_done"] for body in found if body["type"] == "aggregate" and body["current"]} == {0}
    check_order(events, found)


def check_order(events: Sequence[JsonObject], found: Sequence[JsonObject]) -> None:
    """Check that the order of lines that have nothing to do with each other makes no difference."""
    with tempfile.TemporaryDirectory() as folder:
        other = write_log(Path(folder) / "other.jsonl", shuffled(events, len(events)))
        with projections.connect([other]) as connection:
            assert aggregates(connection) == found


def shuffled(events: Sequence[JsonObject], seed: int) -> Iterator[JsonObject]:
    """Yield the lines in another order that keeps that of the lines about one sample, and of runs."""
    by_sample: dict[str, list[JsonObject]] = {}
    about: dict[str, str] = {}
    for each in events:
        sample = each.get("sample_id") or each.get("sample", {}).get("id") or about.get(each.get("target", ""), "run")
        about[each["id"]] = sample
        by_sample.setdefault(sample, []).append(each)
    order = [name for name, group in by_sample.items() for _ in group]
    random.Random(seed).shuffle(order)  # noqa: S311 - an order
    queues = {name: iter(group) for name, group in by_sample.items()}
    return (next(queues[name]) for name in order)


@pytest.mark.slow
def test_a_log_survives_everything_that_may_happen_to_it() -> None:
    """Whatever is done, in whatever order: nothing written is lost, nothing is paid twice, and all becomes complete."""
    calm = settings(
        max_examples=4,
        stateful_step_count=20,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    run_state_machine_as_test(Lifecycle, settings=calm)


@pytest.mark.slow
def test_an_answer_that_comes_back_has_its_judgment() -> None:
    """Asked afresh twice, an answer is first another one and then the old one, which nobody pays to judge again."""
    life = Lifecycle()
    life.resume()
    for mood in reversed(MOODS):
        life.world.mood = mood
        life.generate(lives=None, kept=None, fresh=True)
        life.judge(lives=None, kept=None)
    life.teardown()


@pytest.mark.slow
def test_an_answer_that_comes_back_in_a_run_has_its_judgment() -> None:
    """`keval run --fresh` judges an answer at once, and pays for none that was judged when it was given before."""
    life = Lifecycle()
    life.resume()
    judged = []
    for mood in reversed(MOODS):
        life.world.mood = mood
        life.run_afresh()
        judged.append(life.world.judged)
    assert judged == [2 * SAMPLES, 0]
    life.teardown()


@pytest.mark.slow
def test_what_a_gate_refused_is_asked_again_once_that_is_retracted() -> None:
    """A refused answer is not asked for again, unless the refusal is taken back."""
    life = Lifecycle()
    life.world.idle = frozenset({0})
    life.generate(lives=None, kept=None, fresh=False)
    (refused,) = Facts.of(life.events()).gated
    life.resume()
    (failure,) = Facts.of(life.events()).ids("failure")
    life.take_back(failure)
    life.resume()
    assert refused in Facts.of(life.events()).ids("response")
    life.teardown()
