"""Finds the code in an agent's answer: the body of a function, a whole function or a class, fenced or not.

It runs where the code itself runs, shut in: to parse a hostile text can end a process.
"""

from __future__ import annotations

import ast
import io
import re
import textwrap
from collections.abc import Iterator

FENCED = re.compile(r"^[ \t]*```[^\n`]*\n(.*?)(?:^[ \t]*```|\Z)", re.DOTALL | re.MULTILINE)
"""A fenced block of an answer; the last one may lack its end."""

MOST_CUTS = 50
"""Lines at which what follows a program is cut off, until it is one."""


def program(answer: str, prompt: str, entry_point: str) -> str | None:
    """Return the program in an answer: a whole function after the prompt's imports, or the prompt with its body.

    Without code that defines the entry point it is None.
    """
    for code in blocks(answer, entry_point):
        whole = _code_only(code)
        if defines(whole, entry_point):
            return _joined(beginning(prompt), whole)
        if not code.strip():
            continue
        for body in (code, "\n" + code) if code.lstrip("\n").startswith((" ", "\t")) else (indented(code),):
            before = len(body) - len(body.lstrip("\n"))
            completed = cut(prompt + body, entry_point, least=prompt.count("\n") + before)
            if completed is not None:
                return completed
    return None


def blocks(answer: str, entry_point: str) -> list[str]:
    """Return the fenced blocks of an answer, the one that defines the entry point first, else the last one first."""
    fences = FENCED.findall(answer)
    if not fences:
        return [answer]
    named = re.compile(rf"^[ \t]*(?:async\s+def|def|class)\s+{re.escape(entry_point)}\b", re.MULTILINE)
    last_first = fences[::-1]
    return sorted(last_first, key=lambda block: named.search(block) is None)


def beginning(prompt: str) -> str:
    """Return a prompt as a program of its own: its function has no body yet."""
    return next((each + "\n" for each in (prompt, prompt + "\n    pass\n") if parsed(each) is not None), "")


def _joined(*programs: str) -> str:
    """Return programs one after the other, with the imports from the future at the front: elsewhere they are none."""
    parts = [_future_apart(each) for each in programs]
    return "".join([future for future, _ in parts] + [rest for _, rest in parts])


def _future_apart(text: str) -> tuple[str, str]:
    """Return the imports from the future of a program, and all else of it."""
    tree = parsed(text)
    found = (
        [each for each in tree.body if isinstance(each, ast.ImportFrom) and each.module == "__future__"] if tree else []
    )
    if not found:
        return "", text
    lines = [line.encode() for line in io.StringIO(text, newline=None)]  # lines and bytes, as Python counts them
    first, last = found[0], found[-1]
    assert last.end_lineno is not None  # noqa: S101 - it was parsed
    before = [*lines[: first.lineno - 1], lines[first.lineno - 1][: first.col_offset]]
    after = [lines[last.end_lineno - 1][last.end_col_offset :], *lines[last.end_lineno :]]
    return "".join(ast.unparse(each) + "\n" for each in found), b"".join([*before, b"pass", *after]).decode()


def _code_only(text: str) -> str:
    """Return the program that a text is, or that begins with its first line of code; prose after it is cut off."""
    text = textwrap.dedent(text)
    if parsed(text) is not None:
        return text + "\n"
    found = re.search(r"^(?:@|def |class |async def |import |from )", text, re.MULTILINE)
    return cut(text[found.start() :], None) or "" if found else ""


def indented(body: str) -> str:
    """Return a body as one: with the indentation that its first line, or each of its lines, has lost."""
    lines = body.strip("\n").splitlines()
    if not lines or lines[0].startswith((" ", "\t")):
        return body
    rest = [line for line in lines[1:] if line.strip()]
    if rest and all(line.startswith((" ", "\t")) for line in rest) and not lines[0].rstrip().endswith(":"):
        return "\n    " + "\n".join(lines) + "\n"
    return "\n" + textwrap.indent("\n".join(lines), "    ") + "\n"


def cut(text: str, entry_point: str | None, least: int = 0) -> str | None:
    """Return a program without the prose after it, None unless what is left defines the entry point."""
    lines = text.splitlines()
    for _ in range(MOST_CUTS):
        try:
            compile("\n".join(lines) + "\n", "<answer>", "exec", dont_inherit=True)
        except SyntaxError as error:
            if error.lineno is None or error.lineno <= least + 1:
                return None
            lines = lines[: min(error.lineno, len(lines)) - 1]
        except (ValueError, MemoryError, RecursionError):
            return None
        else:
            kept = "\n".join(lines) + "\n"
            return kept if entry_point is None or defines(kept, entry_point) else None
    return None


def defines(text: str, name: str) -> bool:
    """Return whether a program defines a function or class, or assigns the name, outside of functions and classes."""
    try:
        compile(text, "<answer>", "exec", dont_inherit=True)  # a body's `return` parses, and is no program
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return False
    return name in _names(ast.parse(text))


def _names(tree: ast.Module) -> Iterator[str]:
    """Yield the names of a program's functions, classes and variables, those within `if`, `try` and `with` too."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif not (isinstance(node, ast.comprehension) or (isinstance(node, ast.AnnAssign) and node.value is None)):
            waiting += ast.iter_child_nodes(node)


def parsed(text: str) -> ast.Module | None:
    """Return a program's tree, None for a text that does not parse."""
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None
