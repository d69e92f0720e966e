"""What the keys of services look like, so that one can be found whose value nobody here knows.

A text may hold anything, so the time to look through it grows with its length and no faster: every form says how often
each of its parts may repeat, and none repeats a repetition.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_END = r"(?![A-Za-z0-9])"
"""The end of a word."""


@dataclass(frozen=True, slots=True)
class Form:
    """What the keys of a service look like."""

    marks: tuple[str, ...]
    """Pieces of which every such key has one: a text without any is not looked at further."""
    pattern: re.Pattern[str]


def _begin(head: str) -> str:
    """Return the pattern of the beginning of a word, also after a line break in JSON and after `=` in a URL.

    The head, which has a fixed length, stands first, and what is before it is looked at from its end: Python finds a
    character or a text fast, and a pattern that begins with a condition is tried at each place.
    """
    return rf"{head}(?:(?<![A-Za-z0-9_]{head})|(?<=\\[nrt]{head})|(?<=%[0-9A-Fa-f]{{2}}{head}))"


def _form(mark: str, pattern: str, *other_marks: str) -> Form:
    return Form((mark, *other_marks), re.compile(pattern))


def _word(mark: str, rest: str) -> Form:
    """Return the form of a key that begins with a mark and ends where a word ends."""
    return _form(mark, f"{_begin(re.escape(mark))}{rest}{_END}")


def _prefix(mark: str, rest: str) -> Form:
    """Return the form of a key that begins with a mark and may be longer than what is looked for."""
    return _form(mark, f"{_begin(re.escape(mark))}{rest}")


FORMS = {
    "an Anthropic key": _prefix("sk-ant-", "[A-Za-z0-9_-]{16}"),
    "an OpenAI key": _prefix("sk-", "(?:proj|svcacct|admin)-[A-Za-z0-9_-]{40}"),
    "an OpenRouter key": _word("sk-or-v1-", "[0-9a-f]{64}"),
    # With a digit: words joined by dashes have none.
    "an API key (sk-…)": _prefix(
        "sk-", r"(?!ant-|proj-|svcacct-|admin-|or-v1-)(?=[A-Za-z_-]{0,19}[0-9])[A-Za-z0-9_-]{20}"
    ),
    "an AWS access key": _form("AKIA", rf"{_begin('A(?:KI|SI|BI|CC)A')}[A-Z0-9]{{16}}{_END}", "ASIA", "ABIA", "ACCA"),
    "an AWS Bedrock key": _prefix("ABSK", "[A-Za-z0-9+/]{100}"),
    "a GitHub token": _form(
        "gh",
        rf"{_begin('gh')}[pousr]_[A-Za-z0-9]{{36}}|{_begin('github_pat_')}[A-Za-z0-9_]{{22}}",
        "github_pat_",
    ),
    "a GitLab token": _form(
        "gl",
        rf"{_begin('gl')}(?:(?:pat|dt|ft|rt|soat|ffct)-[A-Za-z0-9_-]{{20}}|imt-[A-Za-z0-9_-]{{25}}|ptt-[0-9a-f]{{40}}"
        r"|cbt-[A-Za-z0-9]{1,5}_[A-Za-z0-9_-]{20}|agent-[A-Za-z0-9_-]{50}|oas-[A-Za-z0-9_-]{64})"
        rf"|{_begin('GR1348941')}[A-Za-z0-9_-]{{20}}",
        "GR1348941",
    ),
    "a Google key": _prefix("AIza", "[A-Za-z0-9_-]{35}"),
    "a Google OAuth secret": _word("GOCSPX-", "[A-Za-z0-9_-]{28}"),
    "a Google access token": _prefix("ya29.", "[A-Za-z0-9_-]{30}"),
    "a Slack token": _prefix("xox", "[abeoprs](?:\\.xox[bp])?-[A-Za-z0-9-]{10}"),
    "a Slack app token": _prefix("xapp-", "[0-9]-[A-Z0-9]{5,20}-[0-9]{5,20}-[a-z0-9]{20}"),
    "a Slack webhook": _form(
        "hooks.slack.com/", r"hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9+/]{40}"
    ),
    "a Microsoft Teams webhook": _form(
        ".webhook.office.com/", r"\.webhook\.office\.com/webhookb2/[0-9a-f-]{36}@[0-9a-f-]{36}/IncomingWebhook/"
    ),
    "a Discord webhook": _form("/api/webhooks/", r"discord(?:app)?\.com/api/webhooks/[0-9]{17,20}/[A-Za-z0-9_-]{60}"),
    "a Discord bot token": _form(
        ".", rf"{_begin('[MNO]')}[A-Za-z0-9_-]{{23,25}}\.[A-Za-z0-9_-]{{6}}\.[A-Za-z0-9_-]{{27,38}}{_END}"
    ),
    "a Telegram bot token": _form(":AA", rf"{_begin('[0-9]')}[0-9]{{7,9}}:AA[A-Za-z0-9_-]{{33}}(?![A-Za-z0-9_-])"),
    "a Hugging Face token": _form("hf_", rf"(?:{_begin('hf_')}|{_begin('api_org_')})[A-Za-z]{{34}}{_END}", "api_org_"),
    "a Groq key": _word("gsk_", "[A-Za-z0-9]{52}"),
    "a Replicate token": _word("r8_", "[A-Za-z0-9]{37}"),
    "an xAI key": _word("xai-", "[A-Za-z0-9]{80}"),
    "a Perplexity key": _word("pplx-", "[A-Za-z0-9]{48}"),
    "a LangSmith key": _form("lsv2_", rf"{_begin('lsv2_')}(?:pt|sk)_[0-9a-f]{{32}}_[0-9a-f]{{10}}{_END}"),
    "an npm token": _word("npm_", "[A-Za-z0-9]{36}"),
    "a PyPI token": _prefix("pypi-AgE", "[A-Za-z0-9_-]{50}"),
    "a RubyGems key": _word("rubygems_", "[0-9a-f]{48}"),
    "a Docker Hub token": _prefix("dckr_pat_", "[A-Za-z0-9_-]{27}"),
    "a Stripe key": _form(
        "k_",
        rf"(?:{_begin('sk_')}|{_begin('rk_')})(?:live|test|prod)_[A-Za-z0-9]{{16}}"
        rf"|{_begin('whsec_')}[A-Za-z0-9+/]{{32}}",
        "whsec_",
    ),
    "a Square token": _form(
        "sq0",
        rf"(?:{_begin('sq0')}(?:atp-[A-Za-z0-9_-]{{22}}|csp-[A-Za-z0-9_-]{{43}})"
        rf"|{_begin('EAAA')}[A-Za-z0-9_-]{{60}}){_END}",
        "EAAA",
    ),
    "a Shopify token": _form("shp", rf"{_begin('shp')}(?:at|ca|pa|ss)_[0-9a-fA-F]{{32}}{_END}"),
    "a SendGrid key": _prefix("SG.", r"[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}"),
    "a Twilio key": _word("SK", "[0-9a-f]{32}"),
    "a Mailgun key": _word("key-", "[0-9a-f]{32}"),
    "a Mailchimp key": _form("-us", rf"{_begin('[0-9a-f]')}[0-9a-f]{{31}}-us[0-9]{{1,2}}{_END}"),
    "a DigitalOcean token": _form("_v1_", rf"{_begin('do[opr]_v1_')}[0-9a-f]{{64}}{_END}"),
    "a Heroku key": _prefix("HRKU-AA", "[A-Za-z0-9_-]{58}"),
    "a Databricks token": _word("dapi", "[0-9a-f]{32}(?:-[0-9])?"),
    "a Vault token": _form("hv", rf"{_begin('hv')}[sbr]\.[A-Za-z0-9_-]{{24}}"),
    "a Terraform token": _form(
        ".atlasv1.", rf"{_begin('[A-Za-z0-9]')}[A-Za-z0-9]{{13}}\.atlasv1\.[A-Za-z0-9_=-]{{60}}"
    ),
    "a Pulumi token": _word("pul-", "[0-9a-f]{40}"),
    "a Doppler token": _form("dp.", rf"{_begin('dp')}\.(?:pt|st|ct|sa)\.(?:[a-z0-9_-]{{2,35}}\.)?[A-Za-z0-9]{{40}}"),
    "a Grafana token": _form(
        "gl", rf"{_begin('gl')}(?:sa_[A-Za-z0-9]{{32}}_[0-9a-fA-F]{{8}}{_END}|c_[A-Za-z0-9+/]{{32}})"
    ),
    "a Sentry token": _form("sntry", rf"{_begin('sntry')}(?:s_eyJ[A-Za-z0-9+/=_]{{40}}|u_[0-9a-f]{{64}}{_END})"),
    "a New Relic key": _word("NRAK-", "[A-Z0-9]{27}"),
    "a Postman key": _word("PMAK-", "[0-9a-f]{24}-[0-9a-f]{34}"),
    "a Linear key": _word("lin_api_", "[A-Za-z0-9]{40}"),
    "a Notion token": _form(
        "ntn_",
        rf"(?:{_begin('ntn_')}[0-9]{{11}}[A-Za-z0-9]{{35}}|{_begin('secret_')}[A-Za-z0-9]{{43}}){_END}",
        "secret_",
    ),
    "an Airtable token": _word("pat", r"[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    "an Atlassian token": _prefix("ATATT3", "[A-Za-z0-9_=-]{60}"),
    "a Figma token": _prefix("figd_", "[A-Za-z0-9_-]{40}"),
    "a Supabase token": _word("sbp_", "[0-9a-f]{40}"),
    "a PlanetScale token": _form("pscale_", rf"{_begin('pscale_')}(?:tkn|pw|oauth)_[A-Za-z0-9_=.-]{{32}}"),
    "a 1Password token": _prefix("ops_eyJ", "[A-Za-z0-9+/]{100}"),
    "an Azure storage key": _form("ccount", r"[Aa]ccount[Kk]ey=[A-Za-z0-9+/]{86}=="),
    "an Azure signature (SAS)": _form("sig=", r"sig=(?<=[?&;]sig=)(?:[A-Za-z0-9+/]|%[0-9A-Fa-f]{2}){43}(?:=|%3[Dd])"),
    "an Azure client secret": _form(
        "Q~", rf"{_begin('[A-Za-z0-9_~.-]')}[A-Za-z0-9_~.-]{{2}}[0-9]Q~[A-Za-z0-9_~.-]{{31,34}}(?![A-Za-z0-9_~.-])"
    ),
    "a private key": _form("-----BEGIN ", r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"),
    "an age key": _word("AGE-SECRET-KEY-1", "[A-Z0-9]{58}"),
    # The dot in the middle, for a head of any length may stand before it.
    "a JSON web token": _form(".eyJ", r"\.eyJ(?<=[A-Za-z0-9_-]{10}\.eyJ)[A-Za-z0-9_-]{10}"),
    "an Authorization header": _form(
        "earer ", rf"(?i){_begin('(?-i:[Bb])')}(?:earer|asic) [a-z0-9+/_.=-]{{20}}", "EARER ", "asic ", "ASIC "
    ),
    "a password in a URL": _form("://", r"://(?<=[a-z0-9]://)[^\s/:@\"]{0,64}:[^\s/@\"]{4,256}@"),
}
"""What is looked for, by what a finding is called."""
