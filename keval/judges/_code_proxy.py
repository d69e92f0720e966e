"""What the tests hold of the agent's code: proxies for its objects, and the line on which they ask it."""

# ruff: noqa: ANN401 - it stands for anything, and is given anything

from __future__ import annotations

import builtins
import json
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, cast

from keval.judges._plain_values import decoded, encoded

LONGEST_LINE = 32 * 1024 * 1024
"""Bytes of one message of the agent's code."""

BY_ANSWER = "raised by the agent's code"
"""The attribute of an exception that only passes through the tests: what was raised."""


TELLING = ("equals", "compare", "operate", "operate_reflected")
"""Operations in which the tests tell an object what they expect, so that its answer is worth nothing."""

OF_VALUES = {name for kind in (str, bytes, frozenset, int, float) for name in dir(kind) if name[0] != "_"} - {
    name for kind in (list, dict) for name in dir(kind)
}
"""Methods of plain values, such as `startswith`, that an object of the code would only have to please the tests."""


class GoneError(BaseException):
    """The agent's code has ended its process, or said what nobody asked for."""


class Line:
    """Asks the child; unless `objects_decide`, the child's objects are not believed where a test hangs on them."""

    def __init__(self, stream: Any, *, objects_decide: bool) -> None:
        self.stream = stream
        self.objects_decide = objects_decide
        self.calls = 0
        self.lost: str | None = None

    def ask(self, of: int, do: str, *arguments: Any, **named: Any) -> Any:
        """Return what an operation on an object of the child gives.

        Raises RaisedError, GoneError, and HandedOverError for what the object would be asked to decide.
        """
        message = {
            "of": of,
            "do": do,
            "with": [encoded(each, reference) for each in arguments],
            "named": {name: encoded(each, reference) for name, each in named.items()},
        }
        self.calls += do == "call"
        try:
            self.stream.write(json.dumps(message).encode() + b"\n")
            self.stream.flush()
            result = self.answer(arguments, named)
        except (OSError, ValueError, KeyError, TypeError, AttributeError, ArithmeticError, RecursionError) as error:
            self.lost = "the code ended its process, or wrote into what it is asked by"
            raise GoneError(self.lost) from error
        # The child refuses objects of the answer's own class by itself, as long as the code has not changed the child.
        if do in TELLING and not self.objects_decide:
            raise HandedOverError("the tests compare or compute with an object that only the code knows")
        return result

    def refuse(self, name: str) -> None:
        """Raise GoneError for an object that has a method of plain values."""
        self.lost = (
            f"the code returned an object with its own {name!r}, which would itself say whether the test is right"
        )
        raise GoneError(self.lost)

    def answer(self, arguments: tuple[Any, ...] = (), named: Mapping[str, Any] = MappingProxyType({})) -> Any:
        """Return the child's next result."""
        reply = json.loads(self.stream.readline(LONGEST_LINE))
        if "lost" in reply:
            self.lost = str(reply["lost"])[:1000]
            raise GoneError(self.lost)
        if "error" in reply:
            raise RaisedError(reply, [decoded(each, self.proxy) for each in reply["arguments"]])
        changes = [*zip(arguments, reply.get("with", ()), strict=False)]
        changes += [(named[name], changed) for name, changed in reply.get("named", {}).items()]
        for argument, changed in changes:
            if changed is not None:
                put_back(argument, decoded(changed, self.proxy))
        result = decoded(reply.get("result"), self.proxy)
        return _awaited(result) if reply.get("awaitable") else result

    def proxy(self, number: int) -> Proxy:
        """Return what stands for an object of the child."""
        return Proxy(self, int(number))


async def _awaited(proxy: Proxy) -> Any:
    """Stand for a coroutine of the child, which runs to its end there."""
    return proxy._ask("await")  # noqa: SLF001 - its own file


class RaisedError(Exception):
    """What the agent's code raised."""

    def __init__(self, reply: Mapping[str, Any], arguments: list[Any]) -> None:
        name, message = str(reply["error"])[:100], str(reply["message"])[:500]
        super().__init__(f"{name}: {message}" if message else name)
        self.known = str(reply["known"])
        self.arguments = arguments


def put_back(argument: Any, changed: Any) -> None:
    """Let a collection be what the agent's code has made of its copy."""
    if type(argument) is not type(changed):
        return
    if isinstance(argument, (list, bytearray)):
        argument[:] = changed
    elif isinstance(argument, deque):
        argument.clear()
        argument.extend(changed)
    elif isinstance(argument, (dict, set)):
        argument.clear()
        argument.update(changed)


class HandedOverError(BaseException):
    """The tests pass a value that is not plain data, or rely on one that the code alone has."""


def reference(value: Any) -> int:
    """Return the number of an object of the child. Raises HandedOverError for what is another one."""
    if type(value) is Proxy:
        return value._number  # noqa: SLF001 - its own file
    raise HandedOverError(f"the tests pass a {type(value).__name__}, which is not plain data")


class Proxy:
    """Stands for an object of the agent's code; it equals nothing but another such object."""

    _line: Line
    _number: int

    def __init__(self, line: Line, number: int) -> None:
        self.__dict__.update(_line=line, _number=number)

    def _ask(self, do: str, *arguments: Any, **named: Any) -> Any:
        try:
            return self._line.ask(self._number, do, *arguments, **named)
        except RaisedError as error:
            # Tests may expect an error of the language; what is of no such kind is told, not made.
            kind = getattr(builtins, error.known, None)
            if isinstance(kind, type) and issubclass(kind, Exception) and kind is not Exception:
                try:
                    known = kind(*error.arguments)
                except TypeError:
                    raise error from None
                known.__dict__[BY_ANSWER] = str(error)
                raise known from None
            raise

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self._ask("call", *arguments, **named)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name not in TOLD:
            raise AttributeError(name)
        found = self._ask("get", name)
        if name in OF_VALUES and type(found) is Proxy and not self._line.objects_decide:
            self._line.refuse(name)
        return found

    def __setattr__(self, name: str, value: object) -> None:
        self._ask("set", name, value)

    def __delattr__(self, name: str) -> None:
        self._ask("delete", name)

    def __len__(self) -> int:
        return int(self._ask("length"))

    def __bool__(self) -> bool:
        return self._ask("truth") is True

    def __contains__(self, item: object) -> bool:
        if self._line.objects_decide:
            return self._ask("contains", item) is True
        return any(each is item or each == item for each in cast("Iterable[Any]", self))

    def __str__(self) -> str:
        return str(self._ask("text"))

    def __repr__(self) -> str:
        return str(self._ask("shown"))

    def __eq__(self, other: object) -> bool:
        if type(other) is not Proxy:
            return False
        return self._number == other._number or self._ask("equals", other) is True

    def __hash__(self) -> int:
        return self._number

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> bool:
        return self._ask("leave", None if kind is None else kind.__name__, str(error)) is True

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise HandedOverError("the tests copy an object of the code, which lives in another process")


TOLD = ("__name__", "__qualname__", "__annotations__", "__wrapped__", "__defaults__")
"""Attributes of Python's own that are asked of the child; it looks for others to see what a proxy can do."""

ASKED = {
    "iter": "iterate", "next": "next", "getitem": "item", "setitem": "set_item", "delitem": "delete_item",
    "enter": "enter", "instancecheck": "is_instance", "subclasscheck": "is_subclass",
}  # fmt: skip
"""Methods that are one operation of the child."""

OPERATORS = ("add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "pow", "lshift", "rshift", "and", "or", "xor")

CONVERSIONS = ("int", "float", "complex", "round", "reversed", "bytes", "format", "divmod")


def _method(do: str, *before: str) -> Callable[..., Any]:
    return lambda self, *arguments: self._ask(do, *before, *arguments)


def _give_methods() -> None:
    """Let a proxy do what Python looks for in an object's class."""
    for name, do in ASKED.items():
        setattr(Proxy, f"__{name}__", _method(do))
    for name in ("lt", "le", "gt", "ge"):
        setattr(Proxy, f"__{name}__", _method("compare", name))
    for name in ("neg", "pos", "abs", "invert", "index"):
        setattr(Proxy, f"__{name}__", _method("operate", name))
    for name in OPERATORS:
        function = f"{name}_" if name in ("and", "or") else name
        setattr(Proxy, f"__{name}__", _method("operate", function))
        setattr(Proxy, f"__i{name}__", _method("operate", f"i{name}"))
        setattr(Proxy, f"__r{name}__", _method("operate_reflected", function))
    for name in CONVERSIONS:
        setattr(Proxy, f"__{name}__", _method("convert", name))


_give_methods()
