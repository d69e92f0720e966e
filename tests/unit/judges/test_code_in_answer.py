import pytest

from keval.judges._code_in_answer import program

PROMPT = 'import math\n\n\ndef area(r):\n    """Return the area."""\n'


@pytest.mark.parametrize(
    "answer",
    [
        "    return math.pi * r * r",
        "    # round\n    return math.pi * r * r\n",
        "return math.pi * r * r",
        '    """Return it."""\n    return math.pi * r * r',
        "def area(r):\n    return math.pi * r * r",
        "PI = 3.141592653589793\ndef area(r):\n    return PI * r * r",
        "```\ndef area(r):\n    return math.pi * r * r",
        "Here:\n\n    ```py\n    def area(r):\n        return math.pi * r * r\n    ```\n",
        "area = lambda r: math.pi * r * r",
        "    def square(n):\n        return n * n\n    return math.pi * square(r)",
        "from __future__ import annotations\n\ndef area(r: int) -> int:\n    return math.pi * r * r",
        '"""Ä."""\nfrom __future__ import (\n    annotations,\n); area = lambda r: math.pi * r * r',
        "from __future__ import division\nfrom __future__ import annotations\n\narea = lambda r: math.pi * r * r",
        "from typing import Any\narea: Any = lambda r: math.pi * r * r",
        "area, twice = (lambda r: math.pi * r * r), (lambda r: 2 * r)",
        "[area, *others] = [lambda r: math.pi * r * r, 1]",
        "if math:\n    def area(r):\n        return math.pi * r * r",
        "try:\n    import nothing\nexcept ImportError:\n    def area(r):\n        return math.pi * r * r",
        "import contextlib\nwith contextlib.suppress(ValueError):\n    def area(r):\n        return math.pi * r * r",
        "    area = math.pi * r * r\n    return area",
        "    area: float\n    return [math.pi * area * area for area in [r]][0]",
    ],
)
def test_the_program_is_what_the_answer_means(answer: str) -> None:
    """It defines the entry point and works."""
    found = program(answer, PROMPT, "area")
    assert found is not None
    names: dict[str, object] = {}
    exec(found, names)  # noqa: S102 - written above
    assert names["area"](1) == 3.141592653589793  # type: ignore[operator] # it is a function


def test_imports_from_the_future_of_a_prompt_and_of_an_answer_stand_first() -> None:
    """Before all else of both."""
    future = "from __future__ import annotations\n"
    found = program(f"{future}def area(r: R):\n    return 2", f'"""Areas."""\n{future}{PROMPT}', "area")
    assert found is not None
    names: dict[str, object] = {}
    exec(found, names)  # noqa: S102 - written above
    assert names["area"](1) == 2  # type: ignore[operator] # it is a function


@pytest.mark.parametrize("answer", ["", "I cannot.", "    return (", "```\n```", "\ud800", "(" * 5000])
def test_an_answer_without_code_has_no_program(answer: str) -> None:
    """What is prose, or broken, is none."""
    assert program(answer, PROMPT, "area") is None
