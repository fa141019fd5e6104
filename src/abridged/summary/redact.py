"""Secrets leave a text before it becomes part of a summary.

By name and shape, not by vendor alone: what is called a key, token or password loses its value; hashes, UUIDs, paths
and ordinary numbers stay (spec: P3.12).
"""

import re
from collections.abc import Callable

Redactor = Callable[[str], str]
"""Text in, the same text without secrets out."""

MASK = "[redacted]"

_NAMED = re.compile(
    r"(?P<name>[\"']?[\w.-]*(?:api[_-]?key|secret|token|passw(?:or)?d|passwd|pwd|credential|private[_-]?key|access[_-]?key|auth[_-]?key)"
    r"s?[\w.-]*[\"']?\s*(?:=|:|=>)\s*)(?P<quote>[\"']?)(?P<value>[^\s\"',;&<>{}\[\]()]{6,})",
    re.IGNORECASE,
)
_BEARER = re.compile(r"(?P<name>\b(?:bearer|basic|token)\s+)(?P<value>[A-Za-z0-9._~+/=-]{12,})", re.IGNORECASE)
_IN_URL = re.compile(r"(?P<name>\b[a-z][a-z0-9+.-]*://[^\s:/@]+:)(?P<value>[^\s@/]+)(?=@)", re.IGNORECASE)
_PREFIXED = re.compile(
    r"\b(?:sk-(?:ant-|proj-|or-)?|rk_live_|sk_live_|pk_live_|gh[pousr]_|github_pat_|glpat-|xox[abprs]-|AKIA|ASIA|AIza|hf_|"
    r"npm_|pypi-|dop_v1_|SG\.|ya29\.)[A-Za-z0-9_\-.]{12,}"
)
_JWT = re.compile(r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*")
_PEM = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL)
_HINTS = re.compile(
    r"key|secret|token|passw|pwd|credential|bearer|basic|://|sk-|_live_|gh[pousr]_|github_pat_|glpat-|xox|AKIA|ASIA|AIza|hf_|"
    r"npm_|pypi-|dop_v1_|SG\.|ya29|eyJ|PRIVATE",
    re.IGNORECASE,
)
_HARMLESS = re.compile(
    r"(?:true|false|none|null|undefined|\d{1,7}|\$\{?\w+\}?|<\w+>|\*+|x{4,}|\.{3,}|os\.environ\S*|getenv\S*)",
    re.IGNORECASE,
)


def redact(text: str) -> str:
    """The text with every secret's value replaced by `MASK`."""
    if not _HINTS.search(text):
        return text
    text = _PEM.sub(MASK, text)
    text = _JWT.sub(MASK, text)
    text = _PREFIXED.sub(MASK, text)
    text = _IN_URL.sub(rf"\g<name>{MASK}", text)
    text = _BEARER.sub(rf"\g<name>{MASK}", text)
    return _NAMED.sub(_mask_named, text)


def _mask_named(match: re.Match[str]) -> str:
    value = match["value"]
    if _HARMLESS.fullmatch(value) or value == MASK:
        return match[0]
    return f"{match['name']}{match['quote']}{MASK}"
