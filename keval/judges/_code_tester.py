"""Tests code that an agent wrote; it runs as a program of its own, with none of keval but the files that it names.

Two processes: the tester runs the sample's tests, which are trusted; its child runs the agent's code, and is shut in
before it is told any of it. Between them go plain values only. So the code sees neither the tests nor the mark that
proves a pass, has nothing of them to overwrite, and cannot hand over an object that equals everything.

On stdin: {"answer", "prompt", "test", "entry_point", "mark"}, or null to try the isolation only. On stdout, as its last
line: {"mark", "verdict", "why", "isolation"}; the verdict is `passed`, `failed`, or `broken` where the fault is that of
the tests.
"""

# ruff: noqa: ANN401, BLE001, S102 - it runs code, which takes, gives and raises anything

from __future__ import annotations

import builtins
import json
import operator
import os
import re
import resource
import socket
import sys
from collections import deque
from collections.abc import Callable
from pathlib import Path
from types import CoroutineType
from typing import Any

from keval.judges._code_in_answer import beginning, program
from keval.judges._code_isolation import hide, shut_in
from keval.judges._code_proxy import BY_ANSWER, GoneError, HandedOverError, Line, Proxy, RaisedError
from keval.judges._plain_values import decoded, encoded

NO_CODE = "the answer has no code that defines what is tested"


DECIDING: dict[str, tuple[str, ...]] = {
    "equals": ("__eq__",),
    "truth": ("__bool__", "__len__"),
    "contains": ("__contains__", "__iter__", "__getitem__"),
    "get": ("__getattr__", "__getattribute__"),
    "compare": ("__lt__", "__le__", "__gt__", "__ge__"),
}
"""Operations by which tests decide, with the methods of an object that may say whatever pleases them."""

COMPUTING = ("operate", "operate_reflected")
"""Operations whose result may be whatever pleases the tests, as in `abs(f(1) - 0.5) < 1e-6`."""

LONGEST_NAME, LONGEST_MESSAGE = 100, 500
"""Characters of an exception that are told."""


class ToldToPleaseError(BaseException):
    """An object of the answer's own class would decide itself whether a test is right."""


def serve(stream: Any, work: dict[str, Any], code: str | None) -> None:
    """Run the agent's code and then do what the tester asks of it. Never returns."""
    objects: list[Any] = []
    numbers: dict[int, int] = {}

    def remote(value: Any) -> int:
        if id(value) not in numbers:  # the list keeps it alive, so that no other gets its id
            numbers[id(value)] = len(objects)
            objects.append(value)
        return numbers[id(value)]

    namespace: dict[str, Any] = {"__name__": "answer"}
    reply: dict[str, Any] = {}
    try:
        if code is None:
            raise SyntaxError(NO_CODE)  # noqa: TRY301 - what is said of code that cannot be run
        exec(compile(code, "<answer>", "exec", dont_inherit=True), namespace)
        remote(namespace[work["entry_point"]])
    except BaseException as error:
        reply = failure(error, remote)
    while True:
        stream.write(json.dumps(reply).encode() + b"\n")
        stream.flush()
        asked = json.loads(stream.readline() or b"null")
        if asked is None:
            os._exit(0)
        try:
            reply = done(asked, objects, remote, objects_decide=work["objects_decide"])
        except ToldToPleaseError as error:
            reply = {"lost": str(error)}
        except BaseException as error:
            reply = failure(error, remote)


def done(
    asked: dict[str, Any], objects: list[Any], remote: Callable[[Any], int], *, objects_decide: bool
) -> dict[str, Any]:
    """Do what the tester asks, and return what becomes of it. Raises whatever the agent's code does."""
    target, operation = objects[asked["of"]], asked["do"]
    if not objects_decide:
        check_decides(target, operation)
    arguments = [decoded(each, objects.__getitem__) for each in asked["with"]]
    named = {name: decoded(each, objects.__getitem__) for name, each in asked["named"].items()}
    result = OPERATIONS[operation](target, *arguments, **named)

    def changed(value: Any) -> Any:
        return encoded(value, remote) if isinstance(value, CHANGEABLE) else None

    return {
        "result": encoded(result, remote),
        "awaitable": isinstance(result, CoroutineType),
        "with": [changed(each) for each in arguments],
        "named": {name: changed(each) for name, each in named.items()},
    }


def check_decides(target: Any, operation: str) -> None:
    """Raise ToldToPleaseError for an object whose class, made by the answer or for mocks, says how a test ends."""
    for kind in type(target).__mro__:
        root = str(getattr(kind, "__module__", "")).partition(".")[0]
        is_own = root in ("answer", "unittest")
        if is_own and (operation in COMPUTING or any(name in vars(kind) for name in DECIDING.get(operation, ()))):
            raise ToldToPleaseError(
                f"the code returned an object of its own class {kind.__name__[:LONGEST_NAME]}, "
                "which would itself say whether the test is right"
            )


CHANGEABLE = (list, dict, set, deque, bytearray)
"""What the agent's code may change where the tests see it."""


def _awaited(target: Any) -> Any:
    import asyncio  # it takes long, and few answers need it

    async def result() -> Any:
        return await target

    return asyncio.run(result())


def _leave(target: Any, kind: str | None, message: str) -> Any:
    """Leave a `with` block, with an error of the language if the tests raised one."""
    made = None if kind is None else getattr(builtins, kind, Exception)(message)
    return bool(type(target).__exit__(target, None if made is None else type(made), made, None))


OPERATIONS: dict[str, Callable[..., Any]] = {
    "call": lambda target, *arguments, **named: target(*arguments, **named),
    "await": _awaited,
    "get": getattr,
    "set": setattr,
    "delete": delattr,
    "iterate": iter,
    "next": next,
    "length": len,
    "item": lambda target, key: target[key],
    "set_item": operator.setitem,
    "delete_item": operator.delitem,
    "contains": lambda target, item: item in target,
    "truth": bool,
    "text": str,
    "shown": repr,
    "equals": lambda target, other: bool(target == other),
    "compare": lambda target, name, other: getattr(operator, name)(target, other),
    "operate": lambda target, name, *others: getattr(operator, name)(target, *others),
    "operate_reflected": lambda target, name, other: getattr(operator, name)(other, target),
    "convert": lambda target, name, *more: getattr(builtins, name)(target, *more),
    "is_instance": lambda target, value: isinstance(value, target),
    "is_subclass": lambda target, kind: issubclass(kind, target),
    "enter": lambda target: type(target).__enter__(target),
    "leave": _leave,
}


def failure(error: BaseException, remote: Callable[[Any], int]) -> dict[str, Any]:
    """Return what was raised, as JSON holds it: with the error of the language that it is, if it is one."""
    try:
        known = (kind.__name__ for kind in type(error).__mro__ if getattr(builtins, kind.__name__, None) is kind)
        return {
            "error": type(error).__name__[:LONGEST_NAME],
            "known": next(known, "Exception"),
            "message": str(error)[:LONGEST_MESSAGE],
            "arguments": [encoded(each, remote) for each in error.args],
        }
    except BaseException:
        return {"error": "Exception", "known": "Exception", "message": "which cannot be shown", "arguments": []}


def tested(job: dict[str, Any], line: Line) -> tuple[str, str | None]:
    """Run the tests, and return the verdict and why."""
    try:
        line.answer()
    except RaisedError as error:
        return "failed", f"the code raised {error}"
    except GoneError as error:
        return "failed", str(error)
    except Exception:
        return "failed", "the code ended its process"
    try:
        _run_tests(job, Proxy(line, 0))
    except AssertionError as error:
        verdict, why = "failed", f"assertion failed{place(error, job['test'])}{f': {error}' if str(error) else ''}"
    except GoneError as error:
        verdict, why = "failed", str(error)
    except BaseException as error:
        is_of_tests = isinstance(error, (HandedOverError, SyntaxError, NameError)) and BY_ANSWER not in vars(error)
        said = vars(error).get(BY_ANSWER) or f"{type(error).__name__}: {error}"
        verdict, why = "broken" if is_of_tests else "failed", said + place(error, job["test"])
    else:
        if line.lost is None and line.calls:
            return "passed", None
        verdict = "failed" if line.lost else "broken"
        why = line.lost or f"the tests never call {job['entry_point']!r}"
    return verdict, why


def _run_tests(job: dict[str, Any], entry_point: Proxy) -> None:
    names: dict[str, Any] = {"__name__": "tests"}
    exec(compile(beginning(job["prompt"]), "<prompt>", "exec", dont_inherit=True), names)
    names[job["entry_point"]] = entry_point
    exec(compile(job["test"], "<test>", "exec", dont_inherit=True), names)
    if callable(names.get("check")):
        names["check"](entry_point)


def place(error: BaseException, test: str) -> str:
    """Return which line of the tests an error came from."""
    found, trace = None, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == "<test>":
            found = trace.tb_lineno
        trace = trace.tb_next
    lines = test.splitlines()
    return f" in `{lines[found - 1].strip()[:200]}`" if found and found <= len(lines) else ""


def main() -> None:
    """Shut the child in, and let it be tested. Never returns."""
    settings = json.loads(sys.argv[1])
    _own_folder(settings["drop_to"])
    mine, other = socket.socketpair()
    child = os.fork()
    if child == 0:
        mine.close()
        _be_tested(other, settings)
    other.close()
    hide()
    resource.setrlimit(resource.RLIMIT_AS, (2 * settings["memory_bytes"],) * 2)
    stream = mine.makefile("rwb")
    isolation = json.loads(stream.readline() or b"null")
    work = json.loads(sys.stdin.buffer.read())
    stdout, sys.stdout = sys.stdout, sys.stderr
    if work is None:  # how well code would be shut in is all that is asked
        stdout.write(json.dumps({"isolation": isolation}) + "\n")
        stdout.flush()
        os._exit(0)
    verdict: str = "broken"
    why: str | None = "the code could not be shut in"
    if isolation is not None:
        objects_decide = decides(work)
        told = {name: work[name] for name in ("answer", "prompt", "entry_point")} | {"objects_decide": objects_decide}
        stream.write(json.dumps(told).encode() + b"\n")
        stream.flush()
        verdict, why = tested(work, Line(stream, objects_decide=objects_decide))
    shown = why and why.encode(errors="replace").decode()
    said = {"mark": work["mark"], "verdict": verdict, "why": shown, "isolation": isolation}
    stdout.write("\n" + json.dumps(said) + "\n")
    stdout.flush()
    os._exit(0)


def decides(work: dict[str, Any]) -> bool:
    """Return whether tests may rely on what objects of the answer say of themselves: where a class is asked for."""
    return work["entry_point"][:1].isupper() or bool(re.search(r"\bclass\b", work["prompt"] + work["test"]))


def _own_folder(user: int | None) -> None:
    """Make the folder of the agent's code; nothing else in the tester's is for it."""
    Path("own").mkdir(mode=0o700)
    if user is not None:
        os.chown("own", user, user)


def _be_tested(line: socket.socket, settings: dict[str, Any]) -> None:
    """Run the agent's code in this process. Never returns."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(nothing, number)
    os.chdir("own")
    isolation = shut_in(settings)
    stream = line.makefile("rwb")
    stream.write(json.dumps(isolation).encode() + b"\n")
    stream.flush()
    work = json.loads(stream.readline())
    code = program(work["answer"], work["prompt"], work["entry_point"])
    serve(stream, work, code)
