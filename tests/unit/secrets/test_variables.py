from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from base64 import b64encode, encodebytes, urlsafe_b64encode
from collections.abc import Callable
from html import escape
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from keval.errors import EnvironmentLacksError
from keval.secrets.encodings import encoded, encodings
from keval.secrets.lengths import SHORTEST_REDACTED
from keval.secrets.variables import Secrets, malformed, variables

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)
NAME = "KEY"
VALUES = st.text(st.characters(exclude_characters="\0${KEY}", exclude_categories=["Cs"]), min_size=SHORTEST_REDACTED)
"""Values that have no character in common with what stands in their place."""


def test_a_variable_is_resolved_in_every_nested_value_and_in_no_key() -> None:
    """`${VAR}` means the variable in values at any depth; keys stay as written."""
    secrets = Secrets({"TOKEN": "abcd"})
    written = {"headers": {"${TOKEN}": "Bearer ${TOKEN}"}, "args": ["--key=${TOKEN}${TOKEN}", 3, None, True]}
    assert secrets.resolve(written) == {
        "headers": {"${TOKEN}": "Bearer abcd"},
        "args": ["--key=abcdabcd", 3, None, True],
    }


@pytest.mark.parametrize(
    ("written", "resolved"),
    [
        ("$${TOKEN}", "${TOKEN}"),
        ("$$${TOKEN}", "$${TOKEN}"),
        ("$TOKEN and $$ and {TOKEN}", "$TOKEN and $$ and {TOKEN}"),
        ("$${", "${"),
        ("${1X} ${} ${A-B}", "${1X} ${} ${A-B}"),
    ],
)
def test_a_doubled_dollar_makes_a_literal(written: str, resolved: str) -> None:
    """`$${` stands for `${`, and what does not name a variable is text."""
    secrets = Secrets({"TOKEN": "abcd"})
    assert secrets.resolve(written) == resolved
    assert secrets.missing(written) == []


LINES = "-----BEGIN KEY-----\nMIIEvQIBADANBg kqhkiG\n\nggSjAgEAAoIBAQ\n-----END KEY-----\n"


@pytest.mark.parametrize(
    "written",
    [
        LINES,
        LINES.replace("\n", "\r\n"),
        "key: |\n" + "".join(f"    {line}\n" for line in LINES.splitlines()),
        "bad key:\n" + "".join(f"  | {line}\n" for line in LINES.splitlines()),
        json.dumps({"error": json.dumps(LINES.replace("\n", "\r\n"))}),
        LINES.replace("\n", " "),
        "# " + LINES.replace("\n", "\n# "),
    ],
)
def test_a_value_of_several_lines_is_found_however_they_are_broken(written: str) -> None:
    """A program may quote, indent or comment out the lines of a key, and end them in its own way."""
    secrets = Secrets({"KEY": LINES})
    secrets.resolve("${KEY}")
    redacted = secrets.redact(f"before {written} after")
    assert "${KEY}" in redacted
    assert not any(line in redacted for line in LINES.splitlines() if line)
    assert (redacted.startswith("before"), redacted.endswith("after")) == (True, True)


@given(
    lines=st.lists(st.text('ab"\\/é \t', min_size=6, max_size=12).map(str.strip), min_size=2, max_size=5),
    is_json=st.booleans(),
    line_break=st.sampled_from(["\n", "\r\n", "\n    ", "\\n", "\\r\\n", "\\\\n", " "]),
)
def test_no_line_of_a_value_stays_whatever_it_is_made_of(lines: list[str], is_json: bool, line_break: str) -> None:
    """Quotes and backslashes are in it, as in the file of a service account, and JSON has them in its own way."""
    secrets = Secrets({"KEY": "\n".join(lines)})
    secrets.resolve("${KEY}")
    assume(len("".join(lines).split()) and sum(map(len, "".join(lines).split())) >= SHORTEST_REDACTED)
    written = line_break.join(json.dumps(line)[1:-1] if is_json else line for line in lines if line)
    assert secrets.redact(f"<{written}>") == "<${KEY}>"


def test_what_a_variable_holds_is_no_template() -> None:
    """Its braces are doubled where placeholders are filled in, and so are those of a variable that is not set."""
    written = ["{question} ${A}", {"a": "$${A}"}, "${UNSET}"]
    resolved = Secrets({"A": "x{question}{{"}).resolve_known(written, in_template=True)
    assert resolved == ["{question} x{{question}}{{{{", {"a": "${A}"}, "${{UNSET}}"]


def test_what_a_variable_holds_is_not_looked_at_again() -> None:
    """A value that looks like a variable is a value."""
    assert Secrets({"A": "${B}", "B": "never"}).resolve("${A}") == "${B}"


def test_all_missing_variables_are_named_at_once_and_sorted() -> None:
    """One error names every variable that is not set."""
    secrets = Secrets({"SET": ""})
    written = {"b": ["${ZULU}", "${SET}"], "a": "${ALPHA} $${LITERAL}", "${KEY}": 1}
    assert secrets.missing(written) == ["ALPHA", "ZULU"]
    with pytest.raises(EnvironmentLacksError, match="ALPHA, ZULU"):
        secrets.resolve(written)
    assert secrets.resolve_known("${SET}${ZULU}") == "${ZULU}"


def test_only_values_that_were_handed_out_are_redacted() -> None:
    """What the config does not name is not ours to hide."""
    secrets = Secrets({"USED": "first-secret", "UNUSED": "second-secret"})
    assert secrets.redact("first-secret") == "first-secret"
    secrets.resolve("${USED}")
    assert secrets.redact("first-secret second-secret") == "${USED} second-secret"


def test_the_longest_value_wins() -> None:
    """A value that contains another is replaced as a whole, not in part."""
    secrets = Secrets({"PART": "abcd", "WHOLE": "abcdefgh"})
    secrets.resolve("${PART} ${WHOLE}")
    assert secrets.redact("abcdefgh abcd") == "${WHOLE} ${PART}"


LITERAL = """
from keval.secrets.variables import Secrets
secrets = Secrets({})
secrets.register_all({"headers": {"Authorization": "Bearer abcdefghij"}})
print(secrets.known)
"""


def test_of_a_header_each_process_knows_the_same() -> None:
    """A worker whose secrets are not those of the command is refused; sets have another order in each process."""
    for seed in ("1", "2"):
        environ = {**os.environ, "PYTHONHASHSEED": seed}
        known = subprocess.run([sys.executable, "-c", LITERAL], env=environ, capture_output=True, text=True, check=True)
        assert known.stdout == "{'Authorization': ['Bearer abcdefghij', 'abcdefghij']}\n"


def test_short_values_stay() -> None:
    """Values below the limit are too common to be told from text."""
    secrets = Secrets({"SHORT": "abc", "EMPTY": ""})
    secrets.resolve("${SHORT}${EMPTY}")
    assert secrets.redact("abcabc") == "abcabc"
    assert secrets.redact_value(["abcabc"]) == ["abcabc"]


def test_a_value_is_found_inside_json_and_urls() -> None:
    """Escaping does not let a value through."""
    value = 'pä"ss\\w/o rd\n'
    secrets = Secrets({"KEY": value})
    secrets.resolve("${KEY}")
    for form in (value, value.strip(), json.dumps(value), json.dumps(value, ensure_ascii=False), quote(value, safe="")):
        assert "ss" not in secrets.redact(f"before {form} after")


SECRET = st.text(st.characters(min_codepoint=1, exclude_categories=["Cs", "Z", "Cc"]), min_size=30)
SPELLINGS: dict[str, Callable[[str], str]] = {
    "base64": lambda value: b64encode(value.encode()).decode(),
    "base64 after one byte": lambda value: b64encode(b":" + value.encode() + b"!").decode(),
    "base64 after two bytes": lambda value: b64encode(b"a:" + value.encode() + b"!!").decode(),
    "base64 for URLs": lambda value: urlsafe_b64encode(b"me:" + value.encode()).decode().rstrip("="),
    "hex": lambda value: value.encode().hex(),
    "hex in capitals": lambda value: value.encode().hex().upper(),
    "a URL": lambda value: quote(value, safe=""),
    "a URL in small letters": lambda value: re.sub("%..", lambda found: found[0].lower(), quote(value, safe="")),
    "a form": quote_plus,
    "JSON": json.dumps,
    "JSON in JSON": lambda value: json.dumps(json.dumps({"said": value})),
    "HTML": escape,
    "Python": repr,
}


@settings(max_examples=4)  # what is looked for is made anew for each value, which takes most of the time
@given(value=SECRET)
def test_a_value_is_found_however_it_is_spelt(value: str) -> None:
    """Its name stands in its place, and what is left of an encoding are a few letters at its ends."""
    secrets = Secrets({"NAME": value})
    secrets.resolve("${NAME}")
    for name, spelling in SPELLINGS.items():
        spelt = spelling(value)
        assert secrets.names_in(spelt) == {"NAME"}, name
        left = secrets.redact(spelt).split("${NAME}")
        assert sum(map(len, left)) <= 20, (name, left)


@pytest.mark.parametrize("value", ["ghp_" + 5 * "0123456789ABCDEF", "s3cr3t-token+x"])
@pytest.mark.parametrize(
    "spelt",
    [
        lambda data: encodebytes(data).decode(),
        lambda data: encodebytes(b"User: somebody; key: " + data + b"; and what follows").decode(),
        lambda data: encodebytes(data).decode().replace("\n", "\r\n  "),
        lambda data: json.dumps({"result": json.dumps(encodebytes(data).decode())}),
        lambda data: data.hex(":"),
        lambda data: "".join(f" {data[at : at + 16].hex(' ')}\n" for at in range(0, len(data), 16)),
    ],
)
def test_a_value_is_found_where_its_encoding_is_broken(spelt: Callable[[bytes], str], value: str) -> None:
    """As `base64` breaks its lines, and `od` and fingerprints part their bytes."""
    secrets = Secrets({NAME: value})
    secrets.resolve(f"${{{NAME}}}")
    text = spelt(value.encode())
    assert secrets.names_in(text) == {NAME}
    assert f"${{{NAME}}}" in secrets.redact(text)


@given(
    value=st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from("rn\n\\"), min_size=SHORTEST_REDACTED),
    before=st.sampled_from(["", "x", "\\", "\\\\", ": ", "\\ "]),
    breaks=st.sampled_from(["", " ", "\n", r"\n", r"\\r\\n", ": \n"]),
    data=st.data(),
)
def test_where_no_value_may_stand_none_is_found(value: str, before: str, breaks: str, data: st.DataObject) -> None:
    """The fast test looks for a piece of each spelling, also where it is broken, or begins with what ends an escape."""
    secrets = Secrets({NAME: value})
    secrets.resolve(f"${{{NAME}}}")
    spelling = data.draw(st.sampled_from(sorted(encodings(value))))
    text = before + breaks.join(spelling) + before
    assert secrets.may_stand_in(text) or not secrets.names_in(text)


@pytest.mark.parametrize("value", ["good-name-of-it", "kind-name-of-it"])
def test_an_encoding_may_begin_with_what_ends_an_escape(value: str) -> None:
    """Base64 of each has a spelling with `n` or `r` in front, which after a backslash looks like a line break."""
    secrets = Secrets({NAME: value})
    secrets.resolve(f"${{{NAME}}}")
    spelt = [f"\\{spelling}" for spelling in encoded(value) if spelling[0] in "nr"]
    assert spelt
    assert all(secrets.names_in(text) and secrets.may_stand_in(text) for text in spelt)


def test_a_value_of_another_text_may_not_stand_in_it() -> None:
    """The fast test would be of no use if it said of any text that something may be in it."""
    secrets = Secrets({"A": "correct-horse", "B": LINES})
    assert not secrets.may_stand_in("correct-horse")
    secrets.resolve("${A}${B}")
    assert secrets.may_stand_in("a correct-horse")
    assert not secrets.may_stand_in("a correct horse in BEGIN KEY")


@pytest.mark.parametrize(("number", "may"), [(12345678, True), (12345678.0, True), (1234567, False), (None, False)])
def test_a_value_may_be_among_numbers(number: float | None, may: bool) -> None:
    """As an integer and as a float, as for `name_of`."""
    secrets = Secrets({"PIN": "12345678"})
    secrets.resolve("${PIN}")
    assert secrets.may_be_among(["x", number, True]) is may


def test_nested_values_are_redacted_with_their_keys() -> None:
    """A value may come back as a key, for instance in a tool's result."""
    secrets = Secrets({"KEY": "s3cret"})
    secrets.resolve("${KEY}")
    assert secrets.redact_value({"s3cret": ["is s3cret", 1, None]}) == {"${KEY}": ["is ${KEY}", 1, None]}


def test_secrets_do_not_show_in_their_own_repr() -> None:
    """A traceback that shows the object shows names only."""
    secrets = Secrets({"KEY": "s3cret"})
    secrets.resolve("${KEY}")
    assert "s3cret" not in repr(secrets)
    assert "KEY" in repr(secrets)


def test_shell_like_defaults_are_malformed() -> None:
    """Only a plain name is a variable; everything else is pointed out."""
    assert malformed("${A} $${B} ${C:-x} ${} ${ d } ${") == ["${C:-x}", "${}", "${", "${"]
    assert malformed("plain $X $ {Y}") == []


@given(JSON_VALUES, VALUES)
def test_no_value_survives_redaction(value: object, variable: str) -> None:
    """Whatever was resolved, its redacted form holds no secret value."""
    secrets = Secrets({NAME: variable})
    resolved = secrets.resolve({"written": f"x${{{NAME}}}y", "other": repr(value).replace("${", "") + variable})
    assert all(variable not in text for text in secrets.redact_value(resolved).values())
    assert variable not in secrets.redact(json.dumps(resolved))
    assert variable not in json.loads(secrets.redact(json.dumps(resolved)))["written"]


@given(JSON_VALUES)
def test_values_without_variables_are_unchanged(value: object) -> None:
    """Resolving changes nothing but variables and the doubled dollar."""
    assume(not variables(value))
    assume("$${" not in json.dumps(value, ensure_ascii=False))
    assert Secrets({}).resolve(value) == value


@given(st.text())
def test_any_text_can_be_written_literally(text: str) -> None:
    """Doubling the dollar before each brace gives back the text, whatever it holds."""
    assert Secrets({}).resolve(text.replace("${", "$${")) == text


def test_the_limit_is_as_documented() -> None:
    """Four characters are the shortest that is redacted."""
    secrets = Secrets({"KEY": "x" * SHORTEST_REDACTED})
    secrets.resolve("${KEY}")
    assert secrets.redact("xxxx") == "${KEY}"
