"""What is a secret, what only looks like one, and where to look: the table of `redact`, loaded when it is first used.

A row names what the place of a secret begins with, the pattern that is matched there, and the last word on its value.
"""

import re
from collections.abc import Callable, Mapping
from itertools import groupby
from typing import NamedTuple

_FOREIGN_PASSWORDS = ("密码", "密碼", "口令", "パスワード", "비밀번호", "пароль", "contraseña")
_FOREIGN_TOKENS = ("密钥", "密鑰", "令牌")


def _also_escaped(word: str) -> str:
    """A pattern for the word, as it is and as JSON in ASCII writes it, at any depth; without its first backslash."""
    escaped = "".join(letter if letter.isascii() else rf"\\+u{ord(letter):04x}" for letter in word)
    return word + "|" + escaped.removeprefix(r"\\+")


_PASS_OF = ("_", "-", "db", "admin", "smtp")  # DB_PASS; "pass" alone is a word of prose
_PASSWORD = (
    rf"passw(?:or[dt])?(?!s)|passphrase|passcode|pwd|(?:{'|'.join(_PASS_OF)})pass(?![a-z])|"
    f"{'|'.join(map(_also_escaped, _FOREIGN_PASSWORDS))}"
)
_KEY_OF = (
    *("api", "access", "private", "auth", "account", "encryption", "signing", "master"),
    *("app", "application", "subscription", "storage"),
)
_KEYWORD = (
    rf"(?:{'|'.join(_KEY_OF)}|secret)[ _-]?key|secret|token|passwords|credential|(?P<header>authorization)|"
    f"{'|'.join(map(_also_escaped, _FOREIGN_TOKENS))}"
)

_ABOUT = re.compile(  # token_type, secretName, password_reset.py: something about a secret
    r"iz\w+|\w*?[_.-]?(?:names?|types?|counts?|limits?|ids?|paths?|files?|dir|ur[il]s?|endpoint|refs?|arn|version|alias|"
    r"policy|expir\w*|ttl|time|age|len|length|size|budget|usage|used|reset|hint|fields?|label|pattern|format|provider|class|"
    r"index|env|var|header|param|stdin|manager|store)|\w*\.[a-z]{1,4}",
    re.IGNORECASE,
)
_STANDS_FOR_ONE = re.compile(  # a variable, a gap to fill in, an address, a state or type, a path, the name once more
    r"\$[({].*|\$(?:[A-Z_][A-Z0-9_]*|[a-z_]+)|%\(.*|(?:%[sdr]\W?)+|-[a-z_]+|<[^<>]*>?|\{+[^{}]*\}+|[*.…•_-]+|[*xX.…•]{3,}\w{0,4}|\[?redacted\]?|"
    r"your[-_ ][\w -]*|(?:os|process|import\.meta)\.env.*|[a-z][a-z0-9+.-]{1,20}://.*|--.*|"
    r"(?i:true|false|none|null|nil|undefined|string|optional|required|missing|invalid|incorrect|expired|changed|include|"
    r"unknown|disabled|enabled|(?:sha|md|utf)-?\d+\S*|base-?\d++(?!:\S{16})\S*)|"
    r"(?:~|\.\.?)?(?:/[A-Z]?[a-z0-9_.@-]*)+|(?:[a-z0-9_.-]+/)+[a-z0-9_-]+\.[a-z]{2,4}|"
    rf"(?=.*(?i:{_KEYWORD.replace('?P<header>', '?:')}|{_PASSWORD}))(?:[A-Za-z_.: ]|->){{1,60}}\d?",
    re.DOTALL,
)
_NUMBER = re.compile(r"~?\d[\d,._]{0,14}[kKM]?(?:/\w+)?")
_PORTS = re.compile(r"[\d.:]+(?:/\w+)?")
_CODE = re.compile(r"[A-Za-z_]{1,32}|[a-z]+(?:-[a-z]+)+|[A-Za-z_]+\d?(?:(?:\.|->|::)[A-Za-z_]+\d?){1,8}")
_CALL = re.compile(r"[A-Za-z_][\w.]*\(")
_QUOTE_WAS_CLOSING = re.compile(r"[,;)\]}]|\s+[+%&|]|\s*\Z")  # "password: " + word
PROSE = re.compile(  # a word among words, "the token cache": common, and never a secret
    r"s? (?!(?:is|for|value|bearer|basic|token|api|digest|negotiate)\b)[a-z]+[ .\n]"
)
_OPTION = re.compile(r"(?:^|[\s\"'=])--?[\w-]*\Z")
_SEPARATES_PROSE = ("", "|", "is", "是", "为", r"\u662f", r"\u4e3a")
_KIND_SECRET = re.compile(r"""[kK]ind["'\\]{0,9}\s?:\s?["'\\]{0,9}Secret\b""")
_LONGEST_NAME = 200  # characters; what is longer stands for nothing, and is not read again


def _has_digit(match: re.Match[str]) -> bool:
    return any(letter.isdigit() for letter in match["value"])


def _is_opaque(match: re.Match[str]) -> bool:
    value = match["value"]
    return _has_digit(match) or not (value.islower() or value.isupper())


def _is_random(match: re.Match[str]) -> bool:
    return _has_digit(match) and match["value"].lower() != match["value"] != match["value"].upper()


def _is_given(match: re.Match[str]) -> bool:
    return not (_STANDS_FOR_ONE.fullmatch(match["value"]) or _NUMBER.fullmatch(match["value"]))


def _is_for_curl(match: re.Match[str]) -> bool:
    return "curl" in match.string[max(0, match.start() - 400) : match.start()] and _is_given(match)


def _is_for_command(match: re.Match[str]) -> bool:
    return _is_given(match) and not _PORTS.fullmatch(match["value"])


def _is_of_kubernetes(match: re.Match[str]) -> bool:
    return bool(_KIND_SECRET.search(match.string, max(0, match.start() - 1_000), match.end() + 1_000))


def _is_in_address(match: re.Match[str]) -> bool:
    """A password behind a user; a user alone only when it is as long as a token."""
    return _is_given(match) if match["user"] else len(match["value"]) >= 20 and _has_digit(match)


def _is_named(match: re.Match[str]) -> bool:
    value, sep = match["value"], match["sep"].strip()
    variable = match["key"].isupper()
    certain = bool(match["scheme"]) or (match["sep"] == "=" and variable)  # NAME=value
    if match["sep"] == " " and match["open"] == "'":  # PASSWORD 'value' in SQL
        certain = certain or variable
    if match["sep"] in (" ", "="):  # --password value
        start = match.start() + match["key"].startswith("-")
        certain = certain or bool(_OPTION.search(match.string[max(0, start - 40) : start]))
    certain = certain and match["about"] != "s"  # --max-tokens value: some, not one
    strict = certain or bool(match["strict"])
    if len(value) > _LONGEST_NAME and not match["open"]:
        return True
    if len(value) < (3 if strict else 6) or _ABOUT.fullmatch(match["about"]) or _STANDS_FOR_ONE.fullmatch(value):
        return False
    if sep in _SEPARATES_PROSE and not certain:  # "the token is missing", "password hunter2"
        dense = _has_digit(match) and not _NUMBER.fullmatch(value) and not value[:1].isspace()
        glued = match["about"] == "_" or (variable and "_" in match["key"])  # secret_value; ENV API_KEY value
        dense = dense and (variable or not match["key"].lower().endswith("pass"))  # proxy_pass 127.0.0.1:80
        return dense and (len(value) >= 6 if strict else (bool(sep) or glued) and len(value) >= 16)
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
    ahead: str = ""
    """What else must follow a beginning for a look to be worth while."""
    told_by: tuple[str, ...] = ()
    """What one of the words near must hold; where empty, one of `begins`."""


def _shape(begins: str, pattern: str, ahead: str = "") -> _Rule:
    value = re.compile(f"(?P<value>{pattern})", re.ASCII)
    return _Rule(tuple(begins.lower().split()), value, _is_opaque, True, ahead)


def _marked(marks: str, body: str, ahead: str = "") -> _Rule:
    """A vendor's mark, in its own case and not within a word (the escape of a line's end is no letter), then `body`."""
    any_mark = "|".join(map(re.escape, marks.split()))
    return _shape(marks, rf"(?:(?<![A-Za-z0-9])|(?<=\\[nrt]))(?:{any_mark}){body}", ahead)


_PEM = r"""(?P<value> -----BEGIN\ [A-Z0-9 ]{0,30}PRIVATE\ KEY(?:\ BLOCK)?-----
    (?: (?:[^-]|-(?!----))*+ -----END\ [A-Z0-9 ]{0,30}-----  # or cut off: as far as its lines are dense
      | (?>(?:\s|\\+[nrt])*(?:[\w-]+:\ [^\n\\]+|[A-Za-z0-9+/=]{16,}))++ (?:(?:\s|\\+[nrt])*[A-Za-z0-9+/=]+)? ))
"""
_COOKIES = r"""(?i:cookie)\\*["']?[ \t]?[:=][ \t]?\\*["']?(?P<value>[\w.-]{1,100}=[^\s;"'\\][^\r\n"'\\]{2,})"""
_GIVEN = r"""\\*["']?(?P<value>[^\s"'\\]{2,})"""
_CURL_USER = rf"""-[A-Za-z-]{{1,11}}?[ =]?\\*["']?[^\s:"'\\]{{1,80}}:{_GIVEN}"""
_CURL_COOKIE = r"""-(?:b|-cookie)[ =]?\\*["']?(?P<value>[\w.-]{1,100}=[^\r\n"'\\]{2,})"""
_ON = r"(?:[^\n|;&\\]|\\++[\"'\n]){0,200}?[ \t]"  # on in the same command
_COMMAND = (
    rf"(?i:sshpass -p ?|by (?<=identified by )(?=\\*')|(?:mysql|mariadb)\w*{_ON}-p|"
    rf"(?:mongo\w*|\w+ login){_ON}-p ?|redis-cli{_ON}-a ?){_GIVEN}"
)
_AUTH = r"""auth\\*["']?[:=][ ]?\\*["']?(?P<value>[A-Za-z0-9+/]{12,}+(?:={1,2}|(?![\w.([-])))"""
_ANY_KEY = r"""
    (?<!PUBLIC)(?<!PUBLISHABLE)_KEY\\*["']?[:=][ ]?\\*["']?
    (?P<value>(?:base64:)?(?!pk_)[\w+/-]{20,}+(?:={1,2}|(?![\w.([])))
"""
_LOGINS = ("docker login", "podman login", "registry login", "az login")
_PIPED = r"""
    echo[ ](?:-n[ ])?\\*["']?(?P<value>[^\s|"'\\]{2,})\\*["']?
    [ ]{0,9}\|[ ]{0,9}(?:sudo[ ]-\w{0,9}S|[^|\n]{0,120}--password-stdin)
"""
_LINE = r"(?:\n|\\+n)"
_KUBERNETES = rf"""
    data\\*["']?:[ ]?(?P<value> \{{[^{{}}]{{4,9999}} | (?:{_LINE}[ ]+[\w.-]+:[ ][^\s\\"]+){{1,60}} )
"""
_GAP = r"(?:\s|\\+[nt]){1,9}"
_NETRC = rf"machine[ ]\S{{1,80}}?{_GAP}login[ ]\S{{1,80}}?{_GAP}password[ ]{_GIVEN}"
_STOP = r"""\s"'`<>\\\[\],;&\u3000-\u303f\u4e00-\u9fff\uff00-\uffef"""
_NAMED = rf"""
    (?P<key>(?i:(?P<strict>{_PASSWORD})|{_KEYWORD})) (?P<about>[A-Za-z0-9_.-]{{0,40}})
    (?:\\*["'`]|\*\*)?\]? (?:[ ]for[ ][\w@.-]{{1,40}})?
    (?P<sep> (?<=ecret_)(?=[A-Za-z0-9]{{32}})  # secret_...
        | \s{{0,3}},?\s{{0,40}}\\*["']?\b[vV]alue\\*["']?[ \t]?[:=][ \t]?  # name: API_KEY, value: ...
        | [ \t]{{0,8}}(?:=>|:=|={{1,3}}|:(?!:)|[：＝]|\\+uff1a)(?:\*\*)?[ \t]{{0,8}}
        | [ \t]is[ \t] | [ \t]?(?:[是为]|\\+u662f|\\+u4e3a)[ \t]?
        | >(?=[^<>\s]+</) | [ \t]{{0,3}}\|?[ \t]{{1,3}})
    (?:[bfru]{{0,2}}(?P<open>(?P<deep>\\{{0,7}})(?:"{{3}}|'{{3}}|["'`])))?
    (?P<scheme>(?i:bearer|basic|token|api-?key|digest|negotiate)[ ]+
        | (?(header)(?:(?<=[:=])|(?<=[:=][ ])|(?<=["'`]))[A-Za-z][\w-]{{1,20}}[ ]+(?=[^\s"'`=]{{0,80}}\d)|(?!)))?
    (?P<value>(?(open)  # up to the same quote, as deep in JSON in JSON; without quotes up to the next thing
        [^\r\n]*?(?=(?<!\\)(?:(?P=deep)\\(?P=deep)\\)*(?P=open)|[\r\n]|\Z)
        | [^{_STOP}({{)] (?:[^{_STOP}] | \\[$!&#@*?] | [,;&](?=[^{_STOP}])(?![\w.-]{{1,40}}["']?[=:]))* (?<![).:!?}}|])
    ))
"""
_NAMES = (
    *(f"{word}{joint}key" for word in _KEY_OF for joint in ("", "_", "-", " ")),
    *("secret", "token", "credential", "authorization", "passw", "passphrase", "passcode", "pwd"),
    *(word[:8] for word in (*_FOREIGN_PASSWORDS, *_FOREIGN_TOKENS)),
)  # fmt: skip

BY_NAME = _Rule(_NAMES, re.compile(_NAMED, re.VERBOSE), _is_named)
_BY_SHORT_NAME = BY_NAME._replace(begins=tuple(f"{word}pass" for word in _PASS_OF), ahead="(?![a-z])")
_RULES = (
    # OpenAI, Anthropic, OpenRouter ...; no "desk-", "risk-"
    _shape("sk-", r"sk-(?:(?<![A-Za-z0-9]sk-)|(?<=\\[nrt]sk-))[\w-]{20,}"),
    _shape("sk_live_ sk_test_ rk_live_ rk_test_ whsec_", r"(?:[rs]k_\w{5}|whsec_)[\w+/]{12,}"),  # Stripe
    _shape("ghp_ gho_ ghu_ ghs_ ghr_ github_pat_", r"gh._[A-Za-z0-9]{16,}|github_pat_\w{16,}"),  # GitHub
    _shape(  # GitLab
        "glpat- gldt- glrt- glft- glcbt- glptt- glsoat- glimt- glagent- gloas- glwt-", r"gl[a-z]{2,5}-[\w-]{16,}"
    ),
    _shape("xoxa- xoxb- xoxc- xoxd- xoxe- xoxo- xoxp- xoxr- xoxs- xapp-", r"x[a-z]{3}-[\w%-]{10,}"),  # Slack
    _shape("akia asia", r"A(?:KIA|SIA)[A-Z0-9]{16}"),  # AWS
    _shape("aiza ya29. gocspx-", r"(?:AIza|ya29\.|GOCSPX-)[\w-]{16,}"),  # Google
    _shape("hf_ npm_ pypi-", r"(?:hf_|npm_)[A-Za-z0-9]{30,}|pypi-[\w-]{16,}"),  # Hugging Face and registries
    _shape("dop_v1_ doo_v1_ dor_v1_", r"do[opr]_v1_[0-9a-f]{32,}"),  # DigitalOcean
    _shape("sg.", r"SG\.[\w-]{16,}\.[\w-]{16,}"),  # SendGrid
    _shape("sk", r"SK(?<![A-Za-z0-9]SK)[0-9a-f]{32}\b", r"(?=[0-9a-f]{8})"),  # Twilio
    _shape(":aa", r":(?<=\d{8}:)AA[\w-]{32,}"),  # a Telegram bot, behind its number
    _shape("q~", r"Q~(?<=[\w~.-]{3}\dQ~)[\w~.-]{31,}"),  # Azure, behind what all may know
    _shape(".g", r"\.G(?<=[\w-]{24}\.G)[\w-]{5}\.[\w-]{27,}", r"(?=[\w-]{5}\.)"),  # a Discord bot, behind its number
    # a JSON web token; JSON behind a mark: Grafana, Sentry, 1Password
    _shape("eyj", r"eyJ(?:[\w-]{8,2000}\.[\w-]{8,}(?:\.[\w-]*)?|(?<=_eyJ)[\w+/=-]{40,})"),
    _shape("s0tls1crudjti", r"S0tLS1CRUdJTiB(?!DRVJU|QVUJM)[\w+/=]{16,}"),  # a private key in base 64
    _marked("key- dapi", r"[0-9a-f]{32}\b", r"(?=[0-9a-f]{8})"),  # Mailgun, Databricks
    _marked(  # mail and shops; registries and hosts; models; tools; keys of one's own
        "xkeysib- xsmtpsib- shpat_ shpca_ shppa_ shpss_ rubygems_ nfp_ pul- HRKU- AKCp r8_ gsk_ xai- pplx- pcsk_ "
        "ntn_ sbp_ sqp_ squ_ sqa_ NRAK- AGE-SECRET-KEY-1",
        r"[A-Za-z0-9-]{20,}",
    ),
    _marked(  # with more signs in them
        "dckr_pat_ dckr_oat_ nvapi- tvly- sq0atp- sq0csp- glsa_ sb_secret_ "
        "pscale_tkn_ pscale_pw_ pscale_oauth_ dp.pt. dp.st. dp.ct. dp.sa. dp.scim. hvs. hvb. hvr. tskey- "
        "ATATT3 ATCTT3 PMAK- CCIPAT_ dt0c01.",
        r"[\w./+=-]{20,}",
    ),
    _shape(  # the end of a mark whose first letter would be looked for too often: Linear, LangSmith; Vercel, Figma, Fly
        "_api_ _oauth_ _pt_ _sk_ p_ d_ m2_",
        r"(?:_[a-z]+_(?:(?<=lin_api_)|(?<=lin_oauth_)|(?<=lsv2_[ps][tk]_))|[pdm]2?_(?:(?<=vcp_)|(?<=figd_)|(?<=fm2_)))"
        r"[\w+/=-]{20,}",
        r"(?=[\w-]{20})",
    ),
    _shape(".0-", r"\.0-(?<=v1\.0-)[0-9a-f]{24}-[0-9a-f]{100,}", r"(?=[0-9a-f]{24}-)"),  # Cloudflare
    _marked("pat", r"[A-Za-z0-9]{14}\.[0-9a-f]{64}", r"(?=\w{14}\.)"),  # Airtable
    _shape("atlasv1.", r"atlasv1\.[\w-]{40,}"),  # Terraform
    _shape("hooks.slack.com/ api/webhooks/ webhookb2/", r"(?:[\w.]+/[a-z]+|api/webhooks|webhookb2)/[\w/@-]{16,}"),
    _Rule(("-----begin",), re.compile(_PEM, re.VERBOSE), _is_opaque),
    # user:password@ in an address, a signed one, a header without its name, all cookies of a header
    _Rule(
        ("://",),
        re.compile(r"""://(?P<user>[^\s:/?#@"'<>\\]*:)?(?P<value>[^\s/?#"'<>\\]+)@"""),
        _is_in_address,
        True,
        r"""(?=[^\s/?#"'<>\\]*@)""",
    ),
    _Rule(
        ("sig=", "signature=", "code="),
        re.compile(
            r"(?:(?i:sig(?<![a-z]sig)|signature)|(?<=[?&])code(?==[\w%+/=-]{30}))=(?P<value>[\w%+/=-]{16,}+(?![(.\[]))"
        ),
        _has_digit,
        True,
    ),
    _Rule(
        ("bearer ",), re.compile(r"(?i:bearer) +(?P<value>[A-Za-z0-9._~+/=-]{12,})"), _has_digit, told_by=("bearer",)
    ),
    _Rule(("cookie",), re.compile(_COOKIES), _is_given),
    # what a command is given
    _Rule(("-u", "-su", "-ssu", "--user", "--proxy-user"), re.compile(_CURL_USER), _is_for_curl, told_by=("curl",)),
    _Rule(("-b", "--cookie"), re.compile(_CURL_COOKIE), _is_for_curl, told_by=("curl",)),
    _Rule(
        ("sshpass -p", "by '", "by \\", "mysql", "mariadb", "mongo", *_LOGINS, "redis-cli"),
        re.compile(_COMMAND),
        _is_for_command,
        told_by=("sshpass", "identified", "mysql", "mariadb", "mongo", "redis-cli"),
    ),
    _Rule(("echo ",), re.compile(_PIPED, re.VERBOSE), _is_given, told_by=("sudo", "--password-stdin")),
    _Rule(("passin pass:", "passout pass:"), re.compile(rf"(?i:pass\w+ pass:){_GIVEN}"), _is_given, told_by=("pass:",)),
    _Rule((":oracle:",), re.compile(r":oracle:\w+:[^\s/@:]+/(?P<value>[^\s/@]+)@"), _is_given, True),
    # what a file holds
    _Rule((":5432:",), re.compile(r":5432:[^\s:]{1,60}:[^\s:]{1,60}:(?P<value>[^\s\"'\\]{3,})"), _is_given, True),
    _Rule(("machine ",), re.compile(_NETRC), _is_given, told_by=("password",)),
    _Rule(("private-lines:",), re.compile(rf"(?i:private-lines): \d+(?P<value>(?:{_LINE}[\w+/=]+)+)"), _is_opaque),
    _Rule(('auth"', "auth\\", "auth=", "auth:"), re.compile(_AUTH), _is_random),
    _Rule(("_key=", "_key:", '_key"', "_key\\"), re.compile(_ANY_KEY, re.VERBOSE), _is_random),
    _Rule(("data:", 'data"', "data\\"), re.compile(_KUBERNETES, re.VERBOSE), _is_of_kubernetes, told_by=("kind:",)),
    BY_NAME,
    _BY_SHORT_NAME,
)
FIRST_WORDS = frozenset(
    ["login", *(begin.split()[0] for rule in _RULES for begin in rule.begins if " " in begin and not rule.told_by)]
)
_ESCAPED = {f"u{ord(word[0]):04x}": BY_NAME for word in (*_FOREIGN_PASSWORDS, *_FOREIGN_TOKENS) if word[0] > "~"}
RULE_AT = {begin: rule for rule in _RULES for begin in rule.begins} | _ESCAPED
RULE_TOLD_BY = {sign: rule for rule in _RULES for sign in rule.told_by or rule.begins} | _ESCAPED


def _any_of(literals: Mapping[str, _Rule]) -> re.Pattern[str]:
    return re.compile(_tree([(literal, rule.ahead) for literal, rule in sorted(literals.items(), reverse=True)]))


def _tree(literals: list[tuple[str, str]]) -> str:
    """Alternatives letter by letter, faster than one literal after another; the longest one wins."""
    branches: list[str] = []
    for first, group in groupby(literals, key=lambda pair: pair[0][:1]):
        rest = [(literal[1:], ahead) for literal, ahead in group]
        branches.append(re.escape(first) + _tree(rest) if first else rest[0][1])
    return branches[0] if len(branches) == 1 else f"(?:{'|'.join(branches)})"


BEGINNINGS = _any_of({begin: rule for begin, rule in RULE_AT.items() if begin not in _ESCAPED})
"""What a secret's place begins with, in lower case."""
BEGINNINGS_ESCAPED = _any_of(RULE_AT)
"""The same for a text in which JSON wrote letters beyond ASCII as escapes."""
SIGNS = _any_of(RULE_TOLD_BY)
"""What a word holds that is a part of a secret's place."""
