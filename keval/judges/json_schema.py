"""Passes an answer that is JSON and fits a JSON Schema.

No model is asked. The JSON is the whole answer, or stands in its last fenced block. The schema (draft 2020-12) stands
in the config or in a JSON file; it may refer to its own parts only. What does not fit is said with its place.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

from keval.documents import strict_json
from keval.errors import InputError, UsageError
from keval.judges import Case, Context, Judge, Judgment, Metric, Score
from keval.judges._code_in_answer import FENCED
from keval.judges._patterns import is_in, limited
from keval.judges._schema_references import reference_problem
from keval.plugins import option

METRIC = Metric("json_schema", 0, 1, type="binary")


@dataclass(frozen=True, kw_only=True)
class JsonSchema(Judge):
    """One metric, `json_schema`: 1 and passed when the answer fits the schema, else 0."""

    sample_fields: ClassVar[tuple[str, ...] | None] = ()
    needs_golden_answer: ClassVar[bool] = False

    schema: Mapping[str, Any] | Path = field(
        hash=False,
        # The schema is among the texts, which are part of the identity; where its file lies is not.
        metadata=option(
            "the JSON Schema, or the path of a JSON file with it", identity=False, example={"type": "string"}
        ),
    )
    fenced: bool = field(default=True, metadata=option("JSON in a fenced block counts, with any text around it"))

    @classmethod
    def from_texts(
        cls,
        options: Mapping[str, Any],
        texts: Mapping[str, Any],
        metrics: Sequence[Metric],  # noqa: ARG003 - it has one
    ) -> Self:
        """Rebuild a judge from a log's run event, which has the schema."""
        if not isinstance(texts.get("schema"), Mapping):
            raise InputError("the judge's texts in the log have no schema")
        return cls(**{**options, "schema": texts["schema"]})

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The one metric."""
        return (METRIC,)

    def texts(self) -> Mapping[str, Any]:
        """Return the schema. Raises UsageError for an invalid one."""
        return {"schema": self._schema}

    @cached_property
    def _schema(self) -> Mapping[str, Any]:
        from jsonschema import Draft202012Validator
        from jsonschema.exceptions import SchemaError

        schema = _read(self.schema) if isinstance(self.schema, Path) else self.schema
        try:
            Draft202012Validator.check_schema(schema)
        except SchemaError as error:
            raise UsageError(f"schema: is not a JSON Schema: {error.json_path}: {error.message}") from error
        problem = reference_problem(schema)
        if problem is not None:
            raise UsageError(f"schema: {problem}")
        return schema

    async def judge(self, case: Case, context: Context) -> Judgment:  # noqa: ARG002 - no model is asked
        """Check the answer."""
        problem = await limited(lambda: self._problem(case.text))
        return Judgment({METRIC.name: Score(int(problem is None), problem, passed=problem is None)})

    def _problem(self, text: str) -> str | None:
        from keval import schema as schemas

        blocks = FENCED.findall(text) if self.fenced else []
        try:
            value = strict_json.parse((blocks[-1] if blocks else text).strip().encode())
        except (strict_json.NotStrictError, UnicodeEncodeError) as error:
            return str(error)
        return schemas.problem_by(self._schema, value, KEYWORDS)


def _pattern(validator: Any, pattern: str, instance: Any, _: Any) -> Iterator[Any]:  # noqa: ANN401 - as jsonschema calls it
    """Check the keyword `pattern` as jsonschema does, under a time limit."""
    from jsonschema import ValidationError

    if validator.is_type(instance, "string") and not is_in(pattern, instance):
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


def _pattern_properties(validator: Any, patterns: Any, instance: Any, _: Any) -> Iterator[Any]:  # noqa: ANN401 - as jsonschema calls it
    """Check the keyword `patternProperties` as jsonschema does, under a time limit."""
    if validator.is_type(instance, "object"):
        for pattern, schema in patterns.items():
            for name in [name for name in instance if is_in(pattern, name)]:
                yield from validator.descend(instance[name], schema, path=name, schema_path=pattern)


def _multiple_of(validator: Any, divisor: float, instance: Any, _: Any) -> Iterator[Any]:  # noqa: ANN401 - as jsonschema calls it
    """Check the keyword `multipleOf` in decimals, as numbers are written: 0.29 is a multiple of 0.01."""
    from jsonschema import ValidationError

    if validator.is_type(instance, "number") and Fraction(str(instance)) % Fraction(str(divisor)):
        yield ValidationError(f"{instance!r} is not a multiple of {divisor!r}")


def _unique_items(validator: Any, wanted: bool, instance: Any, _: Any) -> Iterator[Any]:  # noqa: ANN401 - as jsonschema calls it
    """Check the keyword `uniqueItems` in a time that grows with the number of items, and not with its square."""
    from jsonschema import ValidationError

    if (
        wanted
        and validator.is_type(instance, "array")
        and len({_comparable(item) for item in instance}) < len(instance)
    ):
        yield ValidationError("has an item twice")


def _comparable(value: Any) -> Hashable:  # noqa: ANN401 - any JSON value
    """Return what is equal for equal JSON values only: 1 is 1.0 and is not true."""
    if isinstance(value, dict):
        return "object", frozenset((name, _comparable(item)) for name, item in value.items())
    if isinstance(value, list):
        return "array", *map(_comparable, value)
    return isinstance(value, bool), value


KEYWORDS: Mapping[str, Callable[..., Any]] = {
    "pattern": _pattern,
    "patternProperties": _pattern_properties,
    "multipleOf": _multiple_of,
    "uniqueItems": _unique_items,
}
"""Keywords that jsonschema would check without a limit, or in binary fractions."""


def _read(path: Path) -> Mapping[str, Any]:
    try:
        schema = strict_json.parse(path.read_bytes())
    except OSError as error:
        raise UsageError(f"schema: {path}: {error.strerror}") from error
    except strict_json.NotStrictError as error:
        raise UsageError(f"schema: {path}: is not JSON: {error}") from error
    if not isinstance(schema, dict):
        raise UsageError(f"schema: {path}: expected an object")
    return schema
