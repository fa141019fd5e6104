r"""Secrets leave a text before it becomes part of a summary.

A value goes for its shape (a vendor's prefix, a web token, a private key) or for its name (what is called a key, token
or password); the name stays. Hashes, paths, numbers, code and prose stay. Redacting twice is redacting once, and the
work grows with the length of the text alone (spec: P3.12).
"""

import re
from collections.abc import Callable
from itertools import groupby
from typing import NamedTuple

Redactor = Callable[[str], str]
"""Text in, the same text without secrets out."""

MASK = "[redacted]"


def redact(text: str) -> str:
    """The text with every secret's value replaced by `MASK`; never raises (spec: P3.12)."""
    for _ in range(4):  # one round finds all; but what a mask shortens may come into the reach of a pattern
        before, text = text, _redacted(text)
        if text == before:
            break
    return text


NO_HINT, _NAME, _ASSIGNS, _LOOK = "", "name", "assigns", "look"


def is_suspicious(hints: set[str]) -> bool:
    """Whether `redact` could change a text whose words gave these hints.

    A plain "token" or "key" is no reason to look unless something is assigned.
    """
    return bool(hints) and (_LOOK in hints or (_NAME in hints and _ASSIGNS in hints))


def hint_of(word: str) -> str:
    """Whether a piece of a text between white space may be a part of what `redact` replaces, and which."""
    low = word.lower()
    bare = low.strip(".,;!?()\"'`*")
    if bare in ("token", "tokens", "secret", "secrets", "key", "keys", "credential", "credentials"):
        return _NAME if low.endswith(bare, 0, len(low.rstrip(".,;!?"))) else _LOOK
    if low[:1] in ("=", ":", "：", "＝", "|") or low.strip("\"'`*") in ("is", "value:", "value="):
        return _ASSIGNS
    if low in _FIRST_WORDS or low.startswith("key"):
        return _LOOK
    at = 0
    while begin := _BEGINNINGS.search(low, at):
        rule, at = _RULE_AT[begin[0]], begin.end()
        if not rule.in_one_word or rule.pattern.match(word, begin.start()):
            return _LOOK
    return NO_HINT


def _redacted(text: str) -> str:
    lowered = text.replace("İ", "I").lower()  # the one letter that would change the length
    parts: list[str] = []
    done = at = 0
    while begin := _BEGINNINGS.search(lowered, at):
        rule, at = _RULE_AT[begin[0]], begin.end()
        if rule is _BY_NAME and _PROSE.match(lowered, at) and lowered[begin.start() - 1 : begin.start()] in (" ", "\n"):
            continue
        match = rule.pattern.match(text, begin.start())
        if match is None:
            continue
        start, end = match.span("value")
        if rule.is_secret(match):
            parts += text[done:start], MASK
            done = at = end
        else:  # a harmless value may hold a secret; a harmless shape holds none
            at = end if start == begin.start() else start
    return "".join(parts) + text[done:] if parts else text


# -- what is a secret, and what only looks like one --------------------------------------------------------------------

_PASSWORD = "passw(?:or[dt])?(?!s)|passphrase|passcode|pwd|密[码碼]|口令|パスワード|비밀번호|пароль|contraseña"
_KEY_OF = ("api", "access", "private", "auth", "account", "encryption", "signing", "master")
_KEYWORD = rf"(?:{'|'.join(_KEY_OF)}|secret)[ _-]?key|secret|token|passwords|credential|authorization|密[钥鑰]|令牌"

_ABOUT = re.compile(  # token_type, secretName, password_reset.py: something about a secret
    r"iz\w+|\w*?[_.-]?(?:names?|types?|counts?|limits?|ids?|paths?|files?|dir|ur[il]s?|endpoint|refs?|arn|version|alias|"
    r"policy|expir\w*|ttl|age|len|length|size|budget|usage|used|reset|hint|fields?|label|pattern|format|provider|class|"
    r"index|env|var|header|param|stdin|manager|store)|\w*\.[a-z]{1,4}",
    re.IGNORECASE,
)
_STANDS_FOR_ONE = re.compile(  # a variable, a gap to fill in, an address, a state or type, a path, the name once more
    r"\$[({].*|\$(?:[A-Z_][A-Z0-9_]*|[a-z_]+)|%\(.*|<[^<>]*>?|\{+[^{}]*\}+|[*.…•_-]+|[*xX.…•]{3,}\w{0,4}|\[?redacted\]?|"
    r"your[-_ ][\w -]*|(?:os|process|import\.meta)\.env.*|[a-z][a-z0-9+.-]{1,20}://.*|--.*|"
    r"(?i:true|false|none|null|nil|undefined|string|optional|required|missing|invalid|incorrect|expired|changed|include|"
    r"unknown|disabled|enabled|(?:base|sha|md|utf)-?\d+\S*)|"
    r"(?:~|\.\.?)?(?:/[A-Z]?[a-z0-9_.@-]*)+|(?:[a-z0-9_.-]+/)+[a-z0-9_-]+\.[a-z]{2,4}|"
    rf"(?=.*(?i:{_KEYWORD}|{_PASSWORD}))(?:[A-Za-z_.: ]|->){{1,60}}\d?",
    re.DOTALL,
)
_NUMBER = re.compile(r"~?\d[\d,._]{0,14}[kKM]?(?:/\w+)?")
_CODE = re.compile(r"[A-Za-z_]{1,32}|[a-z]+(?:-[a-z]+)+|[A-Za-z_]+\d?(?:(?:\.|->|::)[A-Za-z_]+\d?){1,8}")
_CALL = re.compile(r"[A-Za-z_][\w.]*\(")
_QUOTE_WAS_CLOSING = re.compile(r"[,;)\]}]|\s+[+%&|]|\s*\Z")  # "password: " + word
_PROSE = re.compile(  # a word among words, "the token cache": common, and never a secret
    r"s? (?!(?:is|for|value|bearer|basic|token|api|digest|negotiate)\b)[a-z]+[ .\n]"
)
_OPTION = re.compile(r"(?:^|[\s\"'=])--?[\w-]*\Z")
_LONGEST_NAME = 200  # characters; what is longer stands for nothing, and is not read again


def _has_digit(match: re.Match[str]) -> bool:
    return any(letter.isdigit() for letter in match["value"])


def _is_opaque(match: re.Match[str]) -> bool:
    value = match["value"]
    return _has_digit(match) or not (value.islower() or value.isupper())


def _is_given(match: re.Match[str]) -> bool:
    return not (_STANDS_FOR_ONE.fullmatch(match["value"]) or _NUMBER.fullmatch(match["value"]))


def _is_for_curl(match: re.Match[str]) -> bool:
    return "curl" in match.string[max(0, match.start() - 400) : match.start()] and _is_given(match)


def _is_in_address(match: re.Match[str]) -> bool:
    """A password behind a user; a user alone only when it is as long as a token."""
    return _is_given(match) if match["user"] else len(match["value"]) >= 20 and _has_digit(match)


def _is_named(match: re.Match[str]) -> bool:
    value, sep = match["value"], match["sep"].strip()
    certain = bool(match["scheme"]) or (match["sep"] == "=" and match["key"].isupper())  # NAME=value
    if match["sep"] in (" ", "="):  # --password value
        certain = certain or bool(_OPTION.search(match.string[max(0, match.start() - 40) : match.start()]))
    certain = certain and match["about"] != "s"  # --max-tokens value: some, not one
    strict = certain or bool(match["strict"])
    if len(value) > _LONGEST_NAME and not match["open"]:
        return True
    if len(value) < (3 if strict else 6) or _ABOUT.fullmatch(match["about"]) or _STANDS_FOR_ONE.fullmatch(value):
        return False
    if sep in ("", "|", "is", "是", "为") and not certain:  # prose: "the token is missing", "password hunter2"
        dense = _has_digit(match) and not _NUMBER.fullmatch(value) and not value[:1].isspace()
        return dense and (len(value) >= 6 if strict else bool(sep) and len(value) >= 16)
    return not _QUOTE_WAS_CLOSING.match(value) if match["open"] else _is_bare(match, certain=certain, strict=strict)


def _is_bare(match: re.Match[str], *, certain: bool, strict: bool) -> bool:
    """What stands without quotes may be code: a call, a variable, a type."""
    value, behind = re.split("[,;&]", match["value"])[0], match.string[match.end() : match.end() + 1]
    if _NUMBER.fullmatch(value):
        return strict
    if _CALL.match(value) or behind in ("[", "("):
        return False
    if certain or not _CODE.fullmatch(value):
        return True
    ends_line = behind in ("", "\n", "\r", "\\", "，", "。") and match["sep"] != " = "
    return strict and value.isalpha() and len(value) >= 6 and ends_line


# -- where to look -----------------------------------------------------------------------------------------------------


class _Rule(NamedTuple):
    """`begins`: what it begins with, in lower case. `pattern` is matched there; its group `value` is what goes."""

    begins: tuple[str, ...]
    pattern: re.Pattern[str]
    is_secret: Callable[[re.Match[str]], bool]
    in_one_word: bool = False
    """The pattern never crosses white space."""


def _shape(begins: str, pattern: str) -> _Rule:
    return _Rule(tuple(begins.split()), re.compile(f"(?P<value>{pattern})", re.ASCII), _is_opaque, True)


_PEM = r"""(?P<value> -----BEGIN\ [A-Z0-9 ]{0,30}PRIVATE\ KEY(?:\ BLOCK)?-----
    (?: (?:[^-]|-(?!----))*+ -----END\ [A-Z0-9 ]{0,30}-----  # or cut off: as far as its lines are dense
      | (?>(?:\s|\\+[nrt])*(?:[\w-]+:\ [^\n\\]+|[A-Za-z0-9+/=]{16,}))++ (?:(?:\s|\\+[nrt])*[A-Za-z0-9+/=]+)? ))
"""
_COOKIES = r"""(?i:cookie)\\*["']?[ \t]?[:=][ \t]?\\*["']?(?P<value>[\w.-]{1,100}=[^\s;"'\\][^\r\n"'\\]{2,})"""
_GIVEN = r"""["']?(?P<value>[^\s"'\\]{2,})"""
_CURL_USER = rf"""-[A-Za-z-]{{1,11}}?[ =]?\\*["']?[^\s:"'\\]{{1,80}}:{_GIVEN}"""
_STOP = r"""\s"'`<>\\\[\],;&\u3000-\u303f\u4e00-\u9fff\uff00-\uffef"""
_NAMED = rf"""
    (?P<key>(?i:(?P<strict>{_PASSWORD})|{_KEYWORD})) (?P<about>[A-Za-z0-9_.-]{{0,40}})
    (?:\\*["'`]|\*\*)?\]? (?:[ ]for[ ][\w@.-]{{1,40}})?
    (?P<sep> \s{{0,3}},?\s{{0,40}}\\*["']?\b[vV]alue\\*["']?[ \t]?[:=][ \t]?  # name: API_KEY, value: ...
        | [ \t]{{0,8}}(?:=>|:=|={{1,3}}|:(?!:)|[：＝])(?:\*\*)?[ \t]{{0,8}} | [ \t]is[ \t] | [ \t]?[是为][ \t]?
        | >(?=[^<>\s]+</) | [ \t]{{0,3}}\|?[ \t]{{1,3}})
    (?:[bfru]{{0,2}}(?P<open>(?P<deep>\\{{0,7}})(?:"{{3}}|'{{3}}|["'`])))?
    (?P<scheme>(?i:bearer|basic|token|api-?key|digest|negotiate)[ ]+)?
    (?P<value>(?(open)  # up to the same quote, as deep in JSON in JSON; without quotes up to the next thing
        [^\r\n]*?(?=(?<!\\)(?:(?P=deep)\\(?P=deep)\\)*(?P=open)|[\r\n]|\Z)
        | [^{_STOP}({{)] (?:[^{_STOP}] | \\[$!&#@*?] | [,;&](?=[^{_STOP}])(?![\w.-]{{1,40}}["']?[=:]))* (?<![).:!?}}|])
    ))
"""
_NAMES = (
    *(f"{word}{joint}key" for word in _KEY_OF for joint in ("", "_", "-", " ")),
    *("secret", "token", "credential", "authorization", "passw", "passphrase", "passcode", "pwd"),
    *("密码", "密碼", "密钥", "密鑰", "口令", "令牌", "パスワード", "비밀번호", "пароль", "contraseña"),
)  # fmt: skip

_BY_NAME = _Rule(_NAMES, re.compile(_NAMED, re.VERBOSE), _is_named)
_RULES = (
    _shape(
        "sk-", r"sk-(?:(?<![A-Za-z0-9]sk-)|(?<=\\[nrt]sk-))[\w-]{20,}"
    ),  # OpenAI, Anthropic ...; no "desk-", "risk-"
    _shape("sk_live_ sk_test_ rk_live_ rk_test_ whsec_", r"(?:[rs]k_\w{5}|whsec_)[\w+/]{12,}"),  # Stripe
    _shape("ghp_ gho_ ghu_ ghs_ ghr_ github_pat_", r"gh._[A-Za-z0-9]{16,}|github_pat_\w{16,}"),  # GitHub
    _shape("glpat- gldt- glrt- glft- glcbt- glptt- glsoat-", r"gl[a-z]{2,4}-[\w-]{16,}"),  # GitLab
    _shape("xoxa- xoxb- xoxe- xoxo- xoxp- xoxr- xoxs- xapp-", r"x[a-z]{3}-[\w-]{10,}"),  # Slack
    _shape("hooks.slack.com/services/", r"[\w.]+/services/[\w/]{16,}"),
    _shape("akia asia", r"A(?:KIA|SIA)[A-Z0-9]{16}"),  # AWS
    _shape("aiza ya29. gocspx-", r"(?:AIza|ya29\.|GOCSPX-)[\w-]{16,}"),  # Google
    _shape("hf_ npm_ pypi-", r"(?:hf_|npm_)[A-Za-z0-9]{30,}|pypi-[\w-]{16,}"),  # Hugging Face and registries
    _shape("dop_v1_ doo_v1_ dor_v1_", r"do[opr]_v1_[0-9a-f]{32,}"),  # DigitalOcean
    _shape("sg.", r"SG\.[\w-]{16,}\.[\w-]{16,}"),  # SendGrid
    _shape("sk", r"SK(?<![A-Za-z0-9]SK)[0-9a-f]{32}\b"),  # Twilio
    _shape(":aa", r":(?<=\d{8}:)AA[\w-]{32,}"),  # a Telegram bot, behind its number
    _shape("eyj", r"eyJ[\w-]{8,2000}\.[\w-]{8,}(?:\.[\w-]*)?"),  # a JSON web token
    _Rule(("-----begin",), re.compile(_PEM, re.VERBOSE), _is_opaque),
    # user:password@ in an address, a signed one, a header without its name, all cookies of a header, given to commands
    _Rule(
        ("://",), re.compile(r"""://(?P<user>[^\s:/?#@"'<>\\]*:)?(?P<value>[^\s/?#"'<>\\]+)@"""), _is_in_address, True
    ),
    _Rule(("&sig=", "x-amz-signature="), re.compile(r"[^=]+=(?P<value>[\w%+/=-]{16,})"), _has_digit),
    _Rule(("bearer ",), re.compile(r"(?i:bearer) +(?P<value>[A-Za-z0-9._~+/=-]{12,})"), _has_digit),
    _Rule(("cookie",), re.compile(_COOKIES), _is_given),
    _Rule(("-u", "-su", "-ssu", "--user", "--proxy-user"), re.compile(_CURL_USER), _is_for_curl),
    _Rule(("sshpass -p", "identified by '"), re.compile(rf"(?i:sshpass -p ?|identified by (?=')){_GIVEN}"), _is_given),
    _BY_NAME,
)
_FIRST_WORDS = frozenset(begin.split()[0] for rule in _RULES for begin in rule.begins if " " in begin.strip()) | {
    "bearer"
}
_RULE_AT = {begin: rule for rule in _RULES for begin in rule.begins}
_BEGINNINGS = re.compile(  # alternatives by their first letter: three times as fast as one after another
    "|".join(
        f"{re.escape(first)}(?:{'|'.join(re.escape(begin[1:]) for begin in begins)})"
        for first, begins in groupby(sorted(_RULE_AT, reverse=True), key=lambda begin: begin[0])
    )
)
