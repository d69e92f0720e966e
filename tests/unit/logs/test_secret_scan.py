from __future__ import annotations

import bz2
import re._constants as kinds  # type: ignore[import-not-found] # no public name for what a pattern is parsed into
import re._parser as parser  # type: ignore[import-not-found] # no public name either
from collections.abc import Callable
from pathlib import Path

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keval.events import encode
from keval.secrets.encodings import encoded, encodings
from keval.secrets.key_forms import FORMS
from keval.secrets.scanner import Finding, Scanner
from tests.builders import response_event, small_event, write_log
from tests.conftest import Keval

HEX = "0a1b2c3d4e5f6789" * 10
LOWER = "a1b2c3d4e5f6g7h8" * 10
MIXED = "a1B2c3D4e5F6g7H8" * 20
UPPER = "A1B2C3D4E5F6G7H8" * 10
LETTERS = "aBcDeFgH" * 10
UUID = "01234567-89ab-cdef-0123-456789abcdef"

KEYS = {
    "an Anthropic key": (("sk-", "ant-api03-", MIXED[:32]), ("sk-", "ant-api03-", MIXED[:4])),
    "an OpenAI key": (("sk-", "proj-", MIXED[:74]), ("sk-", "proj-", MIXED[:12])),
    "an OpenRouter key": (("sk-", "or-v1-", HEX[:64]), ("sk-", "or-v1-", HEX[:63])),
    "an API key (sk-…)": (("sk-", MIXED[:40]), ("ta", "sk-", MIXED[:40])),
    "an AWS access key": (("AK", "IA", UPPER[:16]), ("AK", "IA", UPPER[:15])),
    "an AWS Bedrock key": (("AB", "SK", MIXED[:109]), ("AB", "SK", MIXED[:60])),
    "a GitHub token": (("gh", "p_", MIXED[:36]), ("gh", "p_", MIXED[:30])),
    "a GitLab token": (("gl", "pat-", MIXED[:20]), ("gl", "pat-", MIXED[:15])),
    "a Google key": (("AI", "za", MIXED[:35]), ("AI", "za", MIXED[:30])),
    "a Google OAuth secret": (("GOC", "SPX-", MIXED[:28]), ("GOC", "SPX-", MIXED[:27])),
    "a Google access token": (("ya", "29.", MIXED[:60]), ("ya", "29.", MIXED[:20])),
    "a Slack token": (("xo", "xb-", MIXED[:30]), ("xo", "xz-", MIXED[:30])),
    "a Slack app token": (("xa", "pp-1-", "A0123456789-", "0123456789-", LOWER[:64]), ("xa", "pp-1-", LOWER[:64])),
    "a Slack webhook": (("hooks.slack", ".com/services/T0/B0/", MIXED[:40]), ("hooks.slack", ".com/services/T0/B0/x")),
    "a Microsoft Teams webhook": (
        ("https://a.webhook.off", f"ice.com/webhookb2/{UUID}@{UUID}/IncomingWebhook/x"),
        ("https://a.webhook.off", f"ice.com/webhookb2/{UUID}/IncomingWebhook/x"),
    ),
    "a Discord webhook": (
        ("https://disc", "ord.com/api/webhooks/", "1" * 18, "/", MIXED[:68]),
        ("https://disc", "ord.com/api/webhooks/", "1" * 18),
    ),
    "a Discord bot token": (("M", MIXED[:24], ".", MIXED[:6], ".", MIXED[:27]), ("M", MIXED[:24], ".", MIXED[:27])),
    "a Telegram bot token": (("1234567890:", "AA", MIXED[:33]), ("1234567890:", "AA", MIXED[:34])),
    "a Hugging Face token": (("h", "f_", LETTERS[:34]), ("h", "f_", LETTERS[:33])),
    "a Groq key": (("gs", "k_", MIXED[:52]), ("gs", "k_", MIXED[:51])),
    "a Replicate token": (("r", "8_", MIXED[:37]), ("r", "8_", MIXED[:36])),
    "an xAI key": (("xa", "i-", MIXED[:80]), ("xa", "i-", MIXED[:79])),
    "a Perplexity key": (("pp", "lx-", MIXED[:48]), ("pp", "lx-", MIXED[:47])),
    "a LangSmith key": (("lsv", "2_pt_", HEX[:32], "_", HEX[:10]), ("lsv", "2_pt_", HEX[:32])),
    "an npm token": (("np", "m_", MIXED[:36]), ("np", "m_", MIXED[:35])),
    "a PyPI token": (("py", "pi-AgE", MIXED[:60]), ("py", "pi-AgE", MIXED[:40])),
    "a RubyGems key": (("ruby", "gems_", HEX[:48]), ("ruby", "gems_", HEX[:47])),
    "a Docker Hub token": (("dck", "r_pat_", MIXED[:27]), ("dck", "r_pat_", MIXED[:26])),
    "a Stripe key": (("sk", "_live_", MIXED[:24]), ("sk", "_other_", MIXED[:24])),
    "a Square token": (("sq", "0atp-", MIXED[:22]), ("sq", "0atp-", MIXED[:20])),
    "a Shopify token": (("sh", "pat_", HEX[:32]), ("sh", "pat_", HEX[:31])),
    "a SendGrid key": (("S", "G.", MIXED[:22], ".", MIXED[:43]), ("S", "G.", MIXED[:22], ".", MIXED[:42])),
    "a Twilio key": (("S", "K", HEX[:32]), ("S", "K", HEX[:33])),
    "a Mailgun key": (("ke", "y-", HEX[:32]), ("mon", "key-", HEX[:32])),
    "a Mailchimp key": ((HEX[:32], "-u", "s12"), (HEX[:32], "-u", "s123")),
    "a DigitalOcean token": (("do", "p_v1_", HEX[:64]), ("do", "p_v1_", HEX[:63])),
    "a Heroku key": (("HR", "KU-AA", MIXED[:58]), ("HR", "KU-AA", MIXED[:57])),
    "a Databricks token": (("da", "pi", HEX[:32]), ("da", "pi", HEX[:31])),
    "a Vault token": (("hv", "s.", MIXED[:90]), ("hv", "s.", MIXED[:20])),
    "a Terraform token": ((MIXED[:14], ".atla", "sv1.", MIXED[:67]), (MIXED[:13], ".atla", "sv1.", MIXED[:67])),
    "a Pulumi token": (("pu", "l-", HEX[:40]), ("pu", "l-", HEX[:39])),
    "a Doppler token": (("dp", ".pt.", MIXED[:43]), ("dp", ".pt.", MIXED[:30])),
    "a Grafana token": (("gl", "sa_", MIXED[:32], "_", HEX[:8]), ("gl", "sa_", MIXED[:32], "_", HEX[:7])),
    "a Sentry token": (("sn", "tryu_", HEX[:64]), ("sn", "tryu_", HEX[:63])),
    "a New Relic key": (("NR", "AK-", UPPER[:27]), ("NR", "AK-", UPPER[:26])),
    "a Postman key": (("PM", "AK-", HEX[:24], "-", HEX[:34]), ("PM", "AK-", HEX[:24], "-", HEX[:33])),
    "a Linear key": (("lin", "_api_", MIXED[:40]), ("lin", "_api_", MIXED[:39])),
    "a Notion token": (("nt", "n_", "1" * 11, MIXED[:35]), ("nt", "n_", "1" * 11, MIXED[:34])),
    "an Airtable token": (("pa", "t", MIXED[:14], ".", HEX[:64]), ("pa", "t", MIXED[:14], ".", HEX[:63])),
    "an Atlassian token": (("ATA", "TT3", MIXED[:186]), ("ATA", "TT3", MIXED[:50])),
    "a Figma token": (("fi", "gd_", MIXED[:40]), ("fi", "gd_", MIXED[:39])),
    "a Supabase token": (("sb", "p_", HEX[:40]), ("sb", "p_", HEX[:39])),
    "a PlanetScale token": (("psc", "ale_tkn_", MIXED[:43]), ("psc", "ale_tkn_", MIXED[:30])),
    "a 1Password token": (("op", "s_eyJ", MIXED[:250]), ("op", "s_eyJ", MIXED[:90])),
    "an Azure storage key": (("Account", "Key=", MIXED[:86], "=="), ("Account", "Key=", MIXED[:80], "==")),
    "an Azure signature (SAS)": (("?sv=2024&si", "g=", MIXED[:43], "%3D"), ("?sv=2024&si", "g=", MIXED[:40], "%3D")),
    "an Azure client secret": (("abc8", "Q~", MIXED[:34]), ("abc8", "Q~", MIXED[:20])),
    "a private key": (("-----BEGIN RSA ", "PRIVATE KEY-----"), ("-----BEGIN ", "PUBLIC KEY-----")),
    "an age key": (("AGE-SECRET-", "KEY-1", UPPER[:58]), ("AGE-SECRET-", "KEY-1", UPPER[:57])),
    "a JSON web token": (("ey", "J", MIXED[:20], ".ey", "J", MIXED[:20], ".", MIXED[:20]), ("ey", "J", MIXED[:20])),
    "an Authorization header": (("Bear", "er ", MIXED[:26]), ("Bear", "er ", MIXED[:12])),
    "a password in a URL": (("postgres://me:", "hunter22", "@db"), ("postgres://me:", "hunter22", "/db")),
}
"""For each form a key and what is none, in parts: no scanner shall take this file for one that holds keys."""


def found_in(text: str) -> list[str]:
    """Return what is found in a text, in an environment without secrets."""
    return [finding.what for finding in Scanner({}).findings_one_by_one({"text": text})]


def test_every_form_has_examples() -> None:
    """No form is added without a key that it finds and one that it does not."""
    assert KEYS.keys() == FORMS.keys()


@pytest.mark.parametrize("what", KEYS)
def test_a_key_is_found_and_a_near_miss_is_not(what: str) -> None:
    """In the middle of a text, in JSON inside the text, in a URL, and as a key of an object; once each."""
    key, near = ("".join(parts) for parts in KEYS[what])
    for text in (f"it is {key} they say", f'{{"said":"first\\n{key}"}}', f"https://example.org/?key%3D{key}", key):
        assert found_in(text) == [what], text
    assert [finding.what for finding in Scanner({}).findings_one_by_one({key: 1})] == [f"{what}, as a key"]
    assert what not in found_in(f"it is {near} they say")


@pytest.mark.parametrize("what", KEYS)
def test_a_key_is_found_in_a_line_however_json_spells_it(what: str) -> None:
    """As keval writes it, with a slash or all escaped, between other texts of which none begins or ends its word."""
    text = "".join(KEYS[what][0])
    spelt = (orjson.dumps(text).decode(), orjson.dumps(text).decode().replace("/", r"\/"))
    escaped = "".join(f"\\u{ord(character):04x}" for character in text)
    for each in (*spelt, f'"{escaped}"'):
        event = orjson.loads(f'{{"a": "a0", "text": {each}, "0a": ["A", "9"]}}')
        assert [*Scanner({}).findings(event)] == [Finding("$.text", what)], each


OTHER_KEYS = {
    "an AWS access key": [("AS", "IA", UPPER[:16]), ("AB", "IA", UPPER[:16]), ("AC", "CA", UPPER[:16])],
    "a GitHub token": [("github", "_pat_", MIXED[:22])],
    "a GitLab token": [("GR13", "48941", MIXED[:20]), ("gl", "cbt-a1_", MIXED[:20]), ("gl", "oas-", MIXED[:64])],
    "a Hugging Face token": [("api", "_org_", LETTERS[:34])],
    "a Stripe key": [("wh", "sec_", MIXED[:32]), ("rk", "_live_", MIXED[:24])],
    "a Square token": [("EA", "AA", MIXED[:60]), ("sq", "0csp-", MIXED[:43])],
    "a Grafana token": [("gl", "c_", MIXED[:32])],
    "a Sentry token": [("sn", "trys_eyJ", MIXED[:40])],
    "a Notion token": [("sec", "ret_", MIXED[:43])],
    "an Authorization header": [("BEAR", "ER ", MIXED[:26]), ("Bas", "ic ", MIXED[:26]), ("BAS", "IC ", MIXED[:26])],
}
"""Keys of forms that have several kinds, each in another way than in `KEYS`."""


def test_a_key_of_another_kind_is_found() -> None:
    """Each mark of each form has a key, which both ways find where a word begins, and only there."""
    keys = {what: ["".join(parts) for parts in (KEYS[what][0], *OTHER_KEYS.get(what, []))] for what in KEYS}
    for what, form in FORMS.items():
        assert all(any(mark in key for key in keys[what]) for mark in form.marks), what
    for what in OTHER_KEYS:
        for key in keys[what]:
            found = [Finding("$[0]", what), Finding("$[1]", what), Finding("$[2]", what)]
            value = [key, f"first\\n{key}", f"key%3D{key}", f"a{key}", f"9{key}"]
            assert [*Scanner({}).findings_one_by_one(value)] == [*Scanner({}).findings(value)] == found, key


def test_what_was_found_is_found_again() -> None:
    """Only texts in which nothing was found are remembered, and no number is."""
    scanner = Scanner({"PIN_SECRET": "1234567890"})
    for secret in ("".join(KEYS["a GitHub token"][0]), 1234567890, "is 1234567890"):
        for each in ({"text": secret}, {"text": "nothing"}, {"text": secret}):
            assert [*scanner.findings(each)] == [*scanner.findings_one_by_one(each)]


ENVIRON = {
    "PIN_KEY": "1234567890",
    "FLOAT_TOKEN": "-12345.678e3",
    "ONE_SECRET": "00000001",
    "QUOTED_PASSWORD": 'it\'s "a\\b/c+d" & <é€𝄞>',
    "NAMED_TOKEN": "good-name-returned",
    "LINES_SECRET": "-----BEGIN-----\nMIIEvQIBADANBg kqhkiG\n\nggSjAgEAAoIBAQ\n-----END-----\n",
    "BYTES_KEY": "bytes\udcff\udc80here",
}
"""Secrets of digits only, with quotes, breaks and bytes that are no text, and with letters that may end an escape."""

SPELT = sorted(spelling for value in ENVIRON.values() for spelling in encodings(value))
CODED = sorted(spelling for value in ENVIRON.values() for spelling in encoded(value))
BREAKS = st.sampled_from(["\n", "\r\n  ", ":", r"\n", r"\\r\\n", " "])
ESCAPES: list[Callable[[str], str]] = [
    str,
    lambda text: orjson.dumps(text).decode() if text.isascii() else text,
    lambda text: text.replace("/", r"\/"),
    lambda text: "".join(f"\\u{ord(character):04x}" if ord(character) < 2**16 else character for character in text),
    lambda text: text[:-1],
]


def in_groups(text: str, breaks: str) -> str:
    """Return a text with a break after every four characters."""
    return breaks.join(text[at : at + 4] for at in range(0, len(text), 4))


def lines_broken_by(breaks: str) -> str:
    """Return the secret of several lines with another break between them."""
    return breaks.join(ENVIRON["LINES_SECRET"].splitlines())


NOISE = st.sampled_from(
    ["a", "0", "_", "-", " ", "\\", r"\n", r"\u00", "41", "%3D", "/", '"', "\n", "n", "é"]
) | st.text(max_size=3)
PLANTED = st.one_of(
    st.sampled_from(["".join(parts) for both in KEYS.values() for parts in both]),
    st.sampled_from(SPELT),
    st.builds(in_groups, st.sampled_from(CODED), BREAKS),
    BREAKS.map(lines_broken_by),
    NOISE,
)
TEXTS = st.builds(
    lambda before, planted, after, first, then: then(first(before + planted + after)),
    st.lists(NOISE, max_size=2).map("".join),
    PLANTED,
    st.lists(NOISE, max_size=2).map("".join),
    st.sampled_from(ESCAPES),
    st.sampled_from(ESCAPES),
)
"""What is before and after a secret decides, too."""

NUMBERS = st.sampled_from([1234567890, 1234567890.0, -12345678, 1, 1.0, 0.5]) | st.integers() | st.floats()
VALUES = st.recursive(
    TEXTS | NOISE | NUMBERS | st.booleans() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS | NOISE, inner, max_size=3),
    max_leaves=4,
)


@settings(max_examples=100)
@given(st.lists(VALUES, max_size=4))
def test_the_fast_way_finds_what_the_plain_way_finds(values: list[object]) -> None:
    """The same in the same order, in whatever a log may hold; what was looked at before changes nothing."""
    plain, fast = Scanner(ENVIRON), Scanner(ENVIRON)
    for value in [*values, *values]:
        assert [*fast.findings(value)] == [*plain.findings_one_by_one(value)]


@pytest.mark.parametrize("what", KEYS)
def test_a_key_is_found_in_json_in_a_text(what: str) -> None:
    """A tool returns JSON as a text, and a line that is cut off is scanned as one; some programs escape much."""
    key = "".join(KEYS[what][0])
    for spelt in (key.replace("/", r"\/"), "".join(f"\\u{ord(character):04X}" for character in key)):
        said = f'{{"said": "{spelt}"}}'
        assert found_in(said) == found_in(orjson.dumps(said).decode()) == [what], spelt


# Python counts no steps of a pattern, and seconds on a busy machine prove nothing: the bound is read from the pattern
# as Python itself parses it. No public module does that; if the private one changes, these two tests fail at once.
def repeats(parsed: parser.SubPattern) -> list[tuple[int, int, parser.SubPattern]]:
    """Return the repetitions in a parsed pattern that may stop early: least, most, and what is repeated."""
    found: list[tuple[int, int, parser.SubPattern]] = []
    for kind, value in parsed:
        parts = value if isinstance(value, tuple | list) else (value,)
        if kind in (kinds.MAX_REPEAT, kinds.MIN_REPEAT, kinds.POSSESSIVE_REPEAT):
            found.append(tuple(value))
        for part in parts:
            for inner in part if isinstance(part, list) else (part,):
                if isinstance(inner, parser.SubPattern):
                    found += repeats(inner)
    return found


@pytest.mark.parametrize("what", FORMS)
def test_the_work_at_each_place_of_a_text_is_bounded(what: str) -> None:
    """Every repetition has an end, and none that may stop early is inside another that may repeat."""
    for least, most, repeated in repeats(parser.parse(FORMS[what].pattern.pattern)):
        assert most <= 300, (least, most)
        if most > 1:
            assert all(inner[0] == inner[1] for inner in repeats(repeated))


def test_the_check_of_patterns_sees_what_is_unbounded() -> None:
    """The pattern that once took minutes has two repetitions without an end."""
    found = repeats(parser.parse(r"[a-z][a-z0-9+.-]*://[^\s/:@\"]+:[^\s/@\"]{4,}@"))
    assert [int(most) for _, most, _ in found] == [int(kinds.MAXREPEAT)] * 3


def test_values_of_variables_that_sound_secret_are_found() -> None:
    """A variable called …TOKEN is looked for by value, one called PATH is not."""
    environ = {"MY_TOKEN": "correct-horse", "PATH": "correct-battery", "SHORT_KEY": "abc"}
    found = list(Scanner(environ).findings_one_by_one({"text": "correct-horse correct-battery abc"}))
    assert [finding.what for finding in found] == ["the value of MY_TOKEN"]


def test_values_are_found_however_they_are_spelt_and_as_numbers() -> None:
    """Base64 in the middle of other data, hex, and a JSON number."""
    scanner = Scanner({"PIN_SECRET": "1234567890"})
    for value in ("eHgxMjM0NTY3ODkweA==", b"1234567890".hex(), 1234567890, 1234567890.0):
        assert [finding.what for finding in scanner.findings_one_by_one({"a": [value]})] == [
            "the value of PIN_SECRET"
        ], value


@pytest.mark.parametrize(
    "text",
    [
        "sha256 9f86d081884c7d659a2feaa0c55ad015 and task-based skills, see https://example.org/a:b",
        "a risk-adjusted-return-on-capital, sk-learn-compatible-estimators-of-all-kinds",
        "the basic understanding of bearer instruments; git@github.com:keval/keval.git",
        "urn:uuid:01234567-89ab-cdef-0123-456789abcdef http://127.0.0.1:8080/mcp?x=a@b",
    ],
)
def test_ordinary_text_is_no_secret(text: str) -> None:
    """Hashes, ids, addresses and prose are not taken for keys."""
    assert found_in(text) == []


def test_a_key_of_an_object_that_may_be_a_secret_stands_in_no_path() -> None:
    """It is told by its position, also in the paths of what is inside it; so is a key that could forge a line."""
    key = "".join(KEYS["a GitHub token"][0])
    value = {"ok": 0, key: {"inner": key}, "evil\nline": [key], "correct-horse": {"inner": key}}
    found = list(Scanner({"MY_TOKEN": "correct-horse"}).findings_one_by_one(value))
    assert found == [
        Finding("$.<key 2>", "a GitHub token, as a key"),
        Finding("$.<key 4>", "the value of MY_TOKEN, as a key"),
        Finding("$.<key 2>.inner", "a GitHub token"),
        Finding("$.<key 3>[0]", "a GitHub token"),
        Finding("$.<key 4>.inner", "a GitHub token"),
    ]


def test_what_is_nested_deeper_than_calls_may_be_is_scanned() -> None:
    """Depth is a matter of memory, not of the stack."""
    value: object = "".join(KEYS["a GitHub token"][0])
    for _ in range(5000):
        value = [value]
    assert [finding.what for finding in Scanner({}).findings_one_by_one(value)] == ["a GitHub token"]


def test_the_command_names_the_place_and_never_the_secret(keval: Keval, tmp_path: Path) -> None:
    """Exit 1 with file, line and path; the secret is in no byte of the output."""
    log = tmp_path / "run.jsonl"
    secret = "".join(KEYS["an Anthropic key"][0])
    log.write_bytes(encode(small_event(1, f"leaked {secret}")))
    done = keval("scan", log)
    assert done.returncode == 1
    assert f"{log}:1: $.reason: an Anthropic key" in done.stdout
    assert secret not in done.stdout + done.stderr
    log.write_bytes(encode(small_event(1, "fine")))
    assert keval("scan", log).returncode == 0


def test_lines_that_are_no_events_are_scanned_and_not_quoted(keval: Keval, tmp_path: Path) -> None:
    """A secret in an invalid or cut line is found; no part of it is in an error, cut or whole."""
    secret = "".join(KEYS["an Anthropic key"][0])
    log = write_log(tmp_path / "run.jsonl", [response_event() | {"v": secret}])
    refused = keval("scan", log)
    assert (refused.returncode, secret[:12] in refused.stderr + refused.stdout) == (3, False)
    with log.open("ab") as file:
        file.write(f'{{"type": "{secret}"'.encode())
    done = keval("scan", log, "--skip-invalid")
    assert done.returncode == 1
    assert done.stdout.splitlines() == [f"{log}:{number}: $: an Anthropic key" for number in (1, 2)]
    assert secret[:12] not in done.stderr


@pytest.mark.parametrize(
    "data",
    [b"PAR1\x15\x04\x15\x00 ...\n ... PAR1", bz2.compress(b"some answers"), "an answer".encode("utf-16")],
    ids=["parquet", "bz2", "utf-16"],
)
def test_a_file_that_is_no_text_is_refused(keval: Keval, tmp_path: Path, data: bytes) -> None:
    """Nothing can be found in what is packed, such as Parquet: "nothing found" would be taken for an answer."""
    packed = tmp_path / "packed"
    packed.write_bytes(data)
    for options in ((), ("--skip-invalid",)):
        found = keval("scan", packed, *options)
        assert (found.returncode, "is no text" in found.stderr) == (3, True)


@pytest.mark.slow
@pytest.mark.xdist_group("demo")
def test_an_ordinary_log_has_no_finding(keval: Keval, demo: Path) -> None:
    """The log of the quickstart, with its config, its tools and its judgments, is clean."""
    done = keval("scan", demo / "demo.jsonl")
    assert (done.returncode, done.stdout) == (0, ""), done.stdout
