"""All ways in which a value may be spelt when somebody repeats it.

A server puts its token into JSON, a tool's result holds that JSON as text, a log shows a header in
base64, a page escapes it for HTML. Each spelling is plain text that can be searched for. What
somebody makes of a value by other means (its hash, half of it, its letters one by one) has none.
"""

from __future__ import annotations

import json
import math
import re
from base64 import b64encode
from collections.abc import Iterator
from html import escape
from urllib.parse import quote, quote_plus

from keval.secrets.lengths import SHORTEST_ENCODED, SHORTEST_REDACTED

MOST_DIGITS = 300
"""Longer numbers no JSON number holds."""

_IN_QUERIES = "!$%&'()*+,-./:;=?@[\\]^_`{|}~"
_IN_PATHS = "!$%&'()*+,-./:;=@[\\]^_|~"
"""What browsers and HTTP clients leave as it is in the parts of a URL (WHATWG, URL Standard, section 1.3)."""

_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_PERCENT = re.compile("%[0-9A-F]{2}")
_BREAK = r"(?:[\s:]|\\+[rn]){0,8}"
_ESCAPED_BREAKS = re.compile(r"(?<!\\)\\+[rn]")  # from its first backslash: from each one it would be quadratic
_LINE_BREAK = r"(?:[\s|>#*]|\\+[rnt]){1,60}"
"""Also with what stands before each line where a text is quoted, indented or commented out."""
_LINE_BREAKS = re.compile(_LINE_BREAK)
_UNICODE = re.compile(r"\\u[0-9a-f]{4}")


def encodings(value: str) -> set[str]:
    """Return the ways to spell a value in a text, without those too short to be told from other text.

    A value with a line break at its end, as files often have, is sent without it.
    """
    found = set()
    for plain in {value, value.strip()}:
        data = _bytes(plain)
        in_json = set(_in_json(plain))
        twice = {again for once in in_json for again in _in_json(once)}
        read = data.decode(errors="replace")
        found |= {plain, read, *in_json, *twice, *_in_urls(data), *_in_html(plain), *_in_programs(plain, data)}
        found |= set(_by_character(plain, data))
    found |= encoded(value)
    return {spelling for spelling in found if len(spelling) >= SHORTEST_REDACTED}


def encoded(value: str) -> set[str]:
    """Return those ways to spell a value that programs break into lines or groups: base64 and hex."""
    return {
        written
        for plain in {value, value.strip()}
        for written in _encoded(_bytes(plain))
        if len(written) >= max(SHORTEST_ENCODED, SHORTEST_REDACTED)
    }


def broken(spelling: str) -> str:
    """Return the pattern of what is encoded, wherever it is broken: by space, line or colon."""
    return _BREAK.join(map(re.escape, spelling))


def joined(found: str) -> str:
    """Return what is encoded without its breaks."""
    return "".join(_ESCAPED_BREAKS.sub("", found).split()).replace(":", "")


def in_lines(value: str) -> set[str]:
    """Return a value of several lines, as it is and as JSON has it, with one break between all parts that may be apart.

    Nothing for any other value, and for one that is too short to be told from other text.
    """
    lines = [line.strip() for line in value.splitlines() if line.strip()]
    if not lines[1:]:
        return set()
    found = {_LINE_BREAKS.sub("\n", "\n".join(each)) for each in (lines, *zip(*map(_in_json, lines), strict=True))}
    return {written for written in found if len(written) >= SHORTEST_REDACTED}


def between_lines(written: str) -> str:
    """Return the pattern of lines, however each is broken off and whatever it is indented or quoted by."""
    return _LINE_BREAK.join(map(re.escape, written.split("\n")))


def numbers(value: str) -> set[float]:
    """Return the numbers that a value may become when something takes it for one."""
    digits = value.strip()
    if not SHORTEST_REDACTED <= len(digits) <= MOST_DIGITS or not _NUMBER.fullmatch(digits):
        return set()
    rounded = float(digits)
    exact = {int(digits)} if digits.lstrip("-").isdigit() else set()
    return exact | ({rounded} if math.isfinite(rounded) else set())


def _bytes(text: str) -> bytes:
    """Return a text as a program gets it; a variable may hold bytes that are no text."""
    try:
        return text.encode(errors="surrogateescape")
    except UnicodeEncodeError:
        return text.encode(errors="surrogatepass")


def _in_json(text: str) -> Iterator[str]:
    for ascii_only in (True, False):
        written = json.dumps(text, ensure_ascii=ascii_only)[1:-1]
        yield written
        yield written.replace("/", r"\/")
        yield _UNICODE.sub(lambda match: r"\u" + match.group()[2:].upper(), written)
        # As Go and Rails write it, for pages that hold JSON.
        yield written.replace("<", r"\u003c").replace(">", r"\u003e").replace("&", r"\u0026")


def _in_urls(data: bytes) -> Iterator[str]:
    spellings = (quote(data), quote(data, safe=""), quote(data, safe="!'()*"), quote_plus(data))
    for written in (*spellings, quote(data, safe=_IN_PATHS), quote(data, safe=_IN_QUERIES)):
        yield written
        yield _PERCENT.sub(lambda match: match.group().lower(), written)


def _in_html(text: str) -> Iterator[str]:
    yield escape(text, quote=False)
    written = escape(text)
    for quotation_mark in ("&quot;", "&#34;"):
        for apostrophe in ("&#x27;", "&#39;", "&apos;", "'"):
            yield written.replace("&quot;", quotation_mark).replace("&#x27;", apostrophe)


def _by_character(text: str, data: bytes) -> Iterator[str]:
    """Yield how JSON, HTML and URLs may have a text of which each character is escaped, even where none has to be."""
    units = memoryview(text.encode("utf-16-le", errors="surrogatepass")).cast("H")
    for parts, forms in (
        (units, (r"\u{:04x}", r"\u{:04X}")),
        ([ord(character) for character in text], ("&#{};", "&#x{:x};", "&#x{:X};")),
        (data, ("%{:02X}", "%{:02x}")),
    ):
        for form in forms:
            yield "".join(map(form.format, parts))


def _in_programs(text: str, data: bytes) -> Iterator[str]:
    """Yield how Python and its like show a text in an error."""
    yield repr(text)[1:-1]
    yield repr(data)[2:-1]


def _encoded(data: bytes) -> Iterator[str]:
    yield data.hex()
    yield data.hex().upper()
    for written in (b64encode(data).decode(), *_inside_base64(data)):
        for alphabet in (written, written.replace("+", "-").replace("/", "_")):
            yield alphabet
            yield alphabet.rstrip("=")


def _inside_base64(data: bytes) -> Iterator[str]:
    """Yield what base64 makes of bytes in the middle of others: all letters that only these bytes decide.

    Three bytes become four letters, so there are three of them, one for each place to begin.
    """
    for before, shared in ((0, 0), (1, 2), (2, 3)):
        whole = (before + len(data)) * 8 // 6
        yield b64encode(bytes(before) + data).decode()[shared:whole]
