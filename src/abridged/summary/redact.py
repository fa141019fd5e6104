r"""Secrets leave a text before it becomes part of a summary.

A value goes for its shape (a vendor's prefix, a web token, a private key) or for its name (what is called a key, token or
password); the name stays. Hashes, UUIDs, paths, numbers, code and prose stay. Redacting twice is redacting once, and the
work grows with the length of the text alone (spec: P3.12).
"""

import re
from collections.abc import Callable
from typing import NamedTuple

Redactor = Callable[[str], str]
"""Text in, the same text without secrets out."""

MASK = "[redacted]"

_Match = re.Match[str]


class _Rule(NamedTuple):
    """`hints`: without one of them in the text in lower case there is nothing to find (none: the pattern is as fast).
    `pattern`: its group `value` is what goes. `is_secret` has the last word; after a no the search goes on behind the
    group `name` where there is one, for a harmless value may hold a secret."""

    hints: tuple[str, ...]
    pattern: re.Pattern[str]
    is_secret: Callable[[_Match], bool]


def redact(text: str) -> str:
    """The text with every secret's value replaced by `MASK`; never raises (spec: P3.12)."""
    for _ in range(4):  # one round finds all; but a mask may bring a name and a value together
        before, lowered = text, text.lower()
        for rule in _RULES:
            if not rule.hints or any(hint in lowered for hint in rule.hints):
                text = _masked(text, rule)
        if text == before:
            break
    return text


def _masked(text: str, rule: _Rule) -> str:
    parts: list[str] = []
    done = at = 0
    while match := rule.pattern.search(text, at):
        start, at = match.span("value")
        if rule.is_secret(match):
            parts += text[done:start], MASK
            done = at
        elif "name" in rule.pattern.groupindex:
            at = match.end("name")
    return "".join(parts) + text[done:] if parts else text


# -- what is a secret, and what only looks like one --------------------------------------------------------------------

_PASSWORD = "passw(?:or[dt])?(?!s)|passphrase|passcode|pwd|密[码碼]|口令|パスワード|비밀번호|пароль|contraseña"
_KEYWORD = (
    r"(?:api|access|private|auth|account|encryption|signing|master|secret)[ _-]?key|secret|token|passwords|credential|"
    r"authorization|密[钥鑰]|令牌"
)
_ABOUT = re.compile(  # token_type, secretName, password_reset.py: something about a secret
    r"iz\w+|\w*?[_.-]?(?:names?|types?|counts?|limits?|ids?|paths?|files?|dir|ur[il]s?|endpoint|refs?|arn|version|alias|"
    r"policy|expir\w*|ttl|age|len|length|size|budget|usage|used|reset|hint|fields?|label|pattern|format|provider|class|"
    r"index|env|var|header|param|stdin|manager|store)|\w*\.[a-z]{1,4}",
    re.IGNORECASE,
)
_STANDS_FOR_ONE = re.compile(  # a variable, a gap to fill in, a state, a type, an address, a path, the name once more
    r"\$[({].*|\$(?:[A-Z_][A-Z0-9_]*|[a-z_]+)|%\(.*|<[^<>]*>?|\{+[^{}]*\}+|[*xX.…•_-]+|\[?redacted\]?|your[-_ ][\w -]*|"
    r"(?:os|process|import\.meta)\.env.*|[a-z][a-z0-9+.-]{1,20}://.*|--.*|"
    r"(?i:true|false|none|null|nil|undefined|string|optional|required|missing|invalid|incorrect|expired|changed|include|"
    r"unknown|disabled|enabled|(?:base|sha|md|utf)-?\d+\S*)|"
    r"(?:~|\.\.?)?(?:/[A-Z]?[a-z0-9_.@-]*)+|(?:[a-z0-9_.-]+/)+[a-z0-9_-]+\.[a-z]{2,4}|"
    rf"(?=.*(?i:{_KEYWORD}|{_PASSWORD}))(?:[A-Za-z_.: ]|->){{1,60}}\d?",
    re.DOTALL,
)
_NUMBER = re.compile(r"\d[\d,._]{0,14}[kKM]?")
_WORDS_OF_CODE = re.compile(r"[A-Za-z_]{1,32}|[a-z]+(?:-[a-z]+)+|[A-Za-z_]+\d?(?:(?:\.|->|::)[A-Za-z_]+\d?){1,8}")
_CALL = re.compile(r"[A-Za-z_][\w.]*\(")
_QUOTE_WAS_CLOSING = re.compile(r"[,;)\]}]|\s+[+%&|]|\s*\Z")  # "password: " + word
_OPTION = re.compile(r"(?:^|[\s\"'=])--?[\w-]*\Z")


def _always(_: _Match) -> bool:
    return True


def _has_digit(match: _Match) -> bool:
    return any(letter.isdigit() for letter in match["value"])


def _is_opaque(match: _Match) -> bool:
    value = match["value"]
    return _has_digit(match) or not (value.islower() or value.isupper())


def _is_given(match: _Match) -> bool:
    return not (_STANDS_FOR_ONE.fullmatch(match["value"]) or _NUMBER.fullmatch(match["value"]))


def _is_in_address(match: _Match) -> bool:
    """A password behind a user; a user alone only when it is as long as a token."""
    return _is_given(match) if match["user"] else len(match["value"]) >= 20 and _has_digit(match)


def _is_named(match: _Match) -> bool:
    value, sep = match["value"], match["sep"].strip()
    certain = bool(match["scheme"]) or (match["sep"] == "=" and match["key"].isupper())  # NAME=value
    if not sep:
        certain = bool(_OPTION.search(match.string[max(0, match.start() - 40) : match.start()]))  # --password value
    strict = certain or bool(match["strict"])
    if not (sep or certain) or len(value) < (3 if strict else 6):
        return False
    if _ABOUT.fullmatch(match["about"]) or _STANDS_FOR_ONE.fullmatch(value):
        return False
    if sep in ("is", "是", "为"):  # prose: "the token is missing"
        return _has_digit(match) and (strict or len(value) >= 16)
    return not _QUOTE_WAS_CLOSING.match(value) if match["open"] else _is_bare(match, certain=certain, strict=strict)


def _is_bare(match: _Match, *, certain: bool, strict: bool) -> bool:
    """What stands without quotes may be code: a call, a variable, a type."""
    value, behind = re.split("[,;&]", match["value"])[0], match.string[match.end() : match.end() + 1]
    if _NUMBER.fullmatch(value):
        return strict
    if _CALL.match(value) or behind in ("[", "("):
        return False
    if certain or not _WORDS_OF_CODE.fullmatch(value):
        return True
    ends_line = behind in ("", "\n", "\r", "\\", "，", "。") and match["sep"] != " = "
    return strict and value.isalpha() and len(value) >= 6 and ends_line


# -- where to look -----------------------------------------------------------------------------------------------------

_VENDORS = (
    r"sk-(?:(?<![A-Za-z0-9]sk-)|(?<=\\[nrt]sk-))[\w-]{20,}",  # OpenAI, Anthropic and others; not "desk-", "risk-"
    r"sk_(?:live|test)_\w{12,}|rk_(?:live|test)_\w{12,}|whsec_[\w+/]{16,}",  # Stripe
    r"gh[pousr]_[A-Za-z0-9]{16,}|github_pat_\w{16,}|gl(?:pat|[dfr]t|cbt|ptt|soat)-[\w-]{16,}",  # GitHub, GitLab
    r"xox[abeoprs]-[\w-]{10,}|xapp-[\w-]{16,}|hooks\.slack\.com/services/[\w/]{16,}",  # Slack
    r"A(?:KIA|SIA)[A-Z0-9]{16}|AIza[\w-]{30,}|ya29\.[\w-]{16,}|GOCSPX-[\w-]{16,}",  # AWS, Google
    r"hf_[A-Za-z0-9]{16,}|npm_[A-Za-z0-9]{30,}|pypi-[\w-]{16,}|do[opr]_v1_[0-9a-f]{32,}",  # ..., DigitalOcean
    r"SG\.[\w-]{16,}\.[\w-]{16,}|SK(?<![A-Za-z0-9]SK)[0-9a-f]{32}\b|:(?<=\d{8}:)AA[\w-]{32,}",  # SendGrid, Twilio, Telegram
    r"eyJ[\w-]{8,2000}\.[\w-]{8,}(?:\.[\w-]*)?",  # a JSON web token
)
_PEM = r"""
    -----BEGIN\ [A-Z0-9 ]{0,30}PRIVATE\ KEY(?:\ BLOCK)?-----
    (?: (?:[^-]|-(?!----))*+ -----END\ [A-Z0-9 ]{0,30}-----
      | (?>(?:\s|\\+[nrt])*[A-Za-z0-9+/=]{16,})*+ (?:(?:\s|\\+[nrt])*[A-Za-z0-9+/=]+)? )  # cut off: dense lines
"""
_STOP = r"""\s"'`<>\\\[\],;&\u3000-\u303f\u4e00-\u9fff\uff00-\uffef"""
_NAMED = rf"""
    (?P<name> (?=[aAcCeEmMpPsStT密口令パ비пПсС])  # how keywords begin: what begins otherwise is passed over quickly
        (?P<key>(?i:(?P<strict>{_PASSWORD})|{_KEYWORD})) (?P<about>[A-Za-z0-9_.-]{{0,40}}) (?:\\*["'`])?\]?
        (?P<sep> \s{{0,3}},?\s{{0,40}}\\*["']?\b[vV]alue\\*["']?[ \t]?[:=][ \t]?  # name: API_KEY, value: ...
            | [ \t]{{0,8}}(?:=>|:=|={{1,3}}|:(?!:)|[：＝])[ \t]{{0,8}} | [ \t]is[ \t] | [ \t]?[是为][ \t]?
            | >(?=[^<>\s]+</) | [ \t]{{1,3}})
        (?:[bfru]{{0,2}}(?P<open>(?P<deep>\\*)(?:"{{3}}|'{{3}}|["'`])))?
        (?P<scheme>(?i:bearer|basic|token|api-?key|digest|negotiate)[ ]+)?
    )
    (?P<value>(?(open)  # up to the same quote, as deep in JSON in JSON; or as far as no other thing begins
        [^\r\n]*?(?=(?<!\\)(?:(?P=deep)\\(?P=deep)\\)*(?P=open)|[\r\n]|\Z)
        | [^{_STOP}({{)] (?:[^{_STOP}] | \\[$!&#@*?] | [,;&](?=[^{_STOP}])(?![\w.-]{{1,40}}["']?[=:]))* (?<![).:!?}}|])
    ))
"""
_RULES = (
    # Shapes first: they need no name.
    _Rule(("private key",), re.compile(f"(?P<value>{_PEM})", re.VERBOSE), _always),
    _Rule((), re.compile(f"(?P<value>{'|'.join(_VENDORS)})", re.ASCII), _is_opaque),
    # A user and a password in an address; a header without its name; what curl is given; every cookie of a header.
    _Rule(("://",), re.compile(r"""://(?P<user>[^\s:/?#@"'<>\\]*:)?(?P<value>[^\s/?#"'<>\\]+)@"""), _is_in_address),
    _Rule(("bearer ",), re.compile(r"[bB](?i:earer) +(?P<value>[A-Za-z0-9._~+/=-]{12,})"), _has_digit),
    _Rule(
        ("curl",),
        re.compile(
            r"""\s-(?:[A-Za-z]{0,6}[uU]|-(?:proxy-)?user)[ =]?\\*["']?[^\s:"'\\]{1,80}:(?P<value>[^\s"'\\]{2,})"""
        ),
        _is_given,
    ),
    _Rule(
        ("cookie",),
        re.compile(r"""[cC](?i:ookie)\\*["']?[ \t]?[:=][ \t]?\\*["']?(?P<value>[\w.-]{1,100}=[^\s;"'\\][^\r\n"'\\]{2,})"""),
        _always,
    ),
    # Names: what is called a secret.
    _Rule(
        ("key", "secret", "token", "pass", "pwd", "credential", "authorization", "密", "口令", "令牌", "パスワード",
         "비밀번호", "пароль", "contraseña"),
        re.compile(_NAMED, re.VERBOSE),
        _is_named,
    ),
)  # fmt: skip
