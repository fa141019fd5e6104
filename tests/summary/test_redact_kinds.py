"""Secrets of many kinds, in every place that a summary is made from: none comes through. All values are invented.

They are put together when the tests run, so that no scanner takes this file for a leak.
"""

import json
import random
import string
from base64 import b64encode
from typing import NamedTuple

import pytest

from abridged import ContextCompressor
from abridged.summary.redact import Redactor, redact
from abridged.summary.template import find_summary, frame
from abridged.testing import Message, ScriptedSummarizer, assistant, call, result, user

_dice = random.Random(20)
LETTERS, UPPER, HEX = string.ascii_letters + string.digits, string.ascii_uppercase + string.digits, "0123456789abcdef"


def made(length: int, letters: str = LETTERS) -> str:
    """Letters that nobody guesses, with a digit among them."""
    return "".join(_dice.choices(letters, k=length - 1)) + _dice.choice("23456789")


def uuid() -> str:
    return "-".join(made(length, HEX) for length in (8, 4, 4, 4, 12))


def base64(text: str) -> str:
    return b64encode(text.encode()).decode()


class Kind(NamedTuple):
    name: str
    text: str
    """As it stands in a file, a log, a command or a sentence."""
    core: str
    """What must not come through."""


def kind(name: str, text: str, core: str) -> Kind:
    """`text` with `core` in place of `@@`."""
    return Kind(name, text.replace("@@", core), core)


def pem(label: str, joint: str = "\n") -> Kind:
    body, dashes = made(64), "-" * 5
    lines = (f"{dashes}BEGIN {label}{dashes}", body, made(40), f"{dashes}END {label}{dashes}")
    return Kind(f"{label} {joint!r}", joint.join(lines), body)


def jwt() -> str:
    head, body = (base64(json.dumps(part)).rstrip("=") for part in ({"alg": "HS256"}, {"sub": "kim", "iat": 1}))
    return f"{head}.{body}.{made(43)}"


PASSWORD = "plum-Harbour7!tide"
WORD = "swordfish"

# spec: P3.12
# -- a vendor's mark, in a sentence and without a telling name ---------------------------------------------------------
MARKED = [
    kind("OpenAI", "we use sk-" + "@@ here", made(48)),
    kind("OpenAI project", "we use sk-" + "proj-@@ here", made(60)),
    kind("OpenAI service account", "we use sk-" + "svcacct-@@ here", made(60)),
    kind("OpenAI admin", "we use sk-" + "admin-@@ here", made(60)),
    kind("Anthropic", "we use sk-" + "ant-api03-@@ here", made(90)),
    kind("Anthropic OAuth", "we use sk-" + "ant-oat01-@@ here", made(90)),
    kind("OpenRouter", "we use sk-" + "or-v1-@@ here", made(64, HEX)),
    kind("Google API", "we use AI" + "za@@ here", made(35)),
    kind("Google OAuth access", "we use ya" + "29.@@ here", made(80)),
    kind("Google OAuth client", "we use GOC" + "SPX-@@ here", made(28)),
    kind("AWS key id", "we use AK" + "IA@@ here", made(16, UPPER)),
    kind("AWS session key id", "we use AS" + "IA@@ here", made(16, UPPER)),
    kind("Azure client", f"we use {made(3)}8Q" + "~@@ here", made(34)),
    kind("Azure SAS", "GET https://shop.blob.core.windows.net/x?sv=2024&sp=r&s" + "ig=@@%3D here", made(43)),
    kind("Azure SAS first", "GET https://shop.blob.core.windows.net/x?s" + "ig=@@%3D&sp=r here", made(43)),
    kind("S3 signed address", "GET https://s3.example.com/x?X-Amz-Signa" + "ture=@@ here", made(64, HEX)),
    kind("GCS signed address", "GET https://gcs.example.com/x?X-Goog-Signa" + "ture=@@ here", made(64, HEX)),
    kind("GitHub classic", "we use gh" + "p_@@ here", made(36)),
    kind("GitHub OAuth", "we use gh" + "o_@@ here", made(36)),
    kind("GitHub user", "we use gh" + "u_@@ here", made(36)),
    kind("GitHub server", "we use gh" + "s_@@ here", made(36)),
    kind("GitHub refresh", "we use gh" + "r_@@ here", made(36)),
    kind("GitHub fine-grained", "we use github" + f"_pat_{made(22)}_@@ here", made(59)),
    kind("GitLab", "we use gl" + "pat-@@ here", made(20)),
    kind("GitLab runner", "we use gl" + "rt-@@ here", made(20)),
    kind("GitLab feed", "we use gl" + "ft-@@ here", made(20)),
    kind("GitLab agent", "we use gl" + "agent-@@ here", made(50)),
    kind("Slack bot", "we use xo" + "xb-1234567890-@@ here", made(24)),
    kind("Slack user", "we use xo" + "xp-1234567890-@@ here", made(32)),
    kind("Slack session", "we use xo" + "xc-1234567890-@@ here", made(64, HEX)),
    kind("Slack app", "we use xa" + "pp-1-A0123-@@ here", made(64, HEX)),
    kind("Slack webhook", "POST https://hooks.slack.com/ser" + "vices/T00000000/B00000000/@@ here", made(24)),
    kind("Slack trigger", "POST https://hooks.slack.com/tri" + "ggers/T00000000/12345/@@ here", made(32, HEX)),
    kind("Discord bot", f"client.run('MT{made(24)}.G" + f"{made(5)}.@@')", made(38)),
    kind("Discord webhook", "POST https://discord.com/api/web" + "hooks/123456789012345678/@@ here", made(68)),
    kind("Telegram bot", "we use 123456789:A" + "A@@ here", made(33)),
    kind("Twilio", "we use S" + "K@@ here", made(32, HEX)),
    kind("SendGrid", "we use S" + f"G.{made(22)}.@@ here", made(43)),
    kind("Mailgun", "we use ke" + "y-@@ here", made(32, HEX)),
    kind("Brevo", "we use xkey" + "sib-@@-" + f"{made(16)} here", made(64, HEX)),
    kind("Stripe", "we use sk" + "_live_@@ here", made(24)),
    kind("Stripe restricted", "we use rk" + "_live_@@ here", made(24)),
    kind("Stripe webhook", "we use wh" + "sec_@@ here", made(32)),
    kind("Square", "we use sq" + "0atp-@@ here", made(22)),
    kind("Square OAuth", "we use sq" + "0csp-@@ here", made(43)),
    kind("Shopify", "we use sh" + "pat_@@ here", made(32, HEX)),
    kind("Shopify shared", "we use sh" + "pss_@@ here", made(32, HEX)),
    kind("npm", "we use np" + "m_@@ here", made(36)),
    kind("PyPI", "we use py" + "pi-AgEIcHlwaS5vcmc@@ here", made(70)),
    kind("RubyGems", "we use ruby" + "gems_@@ here", made(48, HEX)),
    kind("Docker Hub", "we use dckr" + "_pat_@@ here", made(27)),
    kind("Hugging Face", "we use h" + "f_@@ here", made(34)),
    kind("Replicate", "we use r" + "8_@@ here", made(37)),
    kind("Groq", "we use gs" + "k_@@ here", made(52)),
    kind("xAI", "we use xa" + "i-@@ here", made(80)),
    kind("Perplexity", "we use pp" + "lx-@@ here", made(48)),
    kind("NVIDIA", "we use nv" + "api-@@ here", made(64)),
    kind("Tavily", "we use tv" + "ly-dev-@@ here", made(32)),
    kind("LangSmith", "we use ls" + "v2_pt_@@_" + f"{made(10, HEX)} here", made(32, HEX)),
    kind("Pinecone", "we use pc" + "sk_@@ here", made(60)),
    kind("Databricks", "we use da" + "pi@@ here", made(32, HEX)),
    kind("DigitalOcean", "we use do" + "p_v1_@@ here", made(64, HEX)),
    kind("Heroku", "we use HRKU" + "-AA@@ here", made(58)),
    kind("Netlify", "we use nf" + "p_@@ here", made(36)),
    kind("Vercel", "we use vc" + "p_@@ here", made(56)),
    kind("Cloudflare origin", f"we use v1.0-{made(24, HEX)}-" + "@@ here", made(146, HEX)),
    kind("Linear", "we use lin" + "_api_@@ here", made(40)),
    kind("Notion", "we use nt" + "n_@@ here", made(46)),
    kind("Notion integration", "we use sec" + "ret_@@ here", made(43)),
    kind("Atlassian", "we use ATA" + "TT3xFfGF0@@=1A2B3C4D here", made(120)),
    kind("Bitbucket", "we use ATC" + "TT3xFfGN0@@=1A2B3C4D here", made(120)),
    kind("Airtable", f"we use pat{made(14)}" + ".@@ here", made(64, HEX)),
    kind("Figma", "we use fi" + "gd_@@ here", made(40)),
    kind("Postman", "we use PM" + f"AK-{made(24, HEX)}-@@ here", made(34, HEX)),
    kind("New Relic", "we use NR" + "AK-@@ here", made(27, UPPER)),
    kind("Grafana service account", "we use gl" + f"sa_@@_{made(8, HEX)} here", made(32)),
    kind("Grafana cloud", "we use gl" + "c_eyJvIjoi@@ here", made(80)),
    kind("Sentry", "we use sn" + "trys_eyJpYXQiOjE3@@ here", made(80)),
    kind("Supabase", "we use sb" + "p_@@ here", made(40, HEX)),
    kind("Supabase project", "we use sb" + "_secret_@@ here", made(31)),
    kind("PlanetScale", "we use ps" + "cale_tkn_@@ here", made(43)),
    kind("PlanetScale password", "we use ps" + "cale_pw_@@ here", made(43)),
    kind("Doppler", "we use dp" + ".pt.@@ here", made(43)),
    kind("Doppler service", "we use dp" + ".st.prd.@@ here", made(43)),
    kind("Vault", "we use hv" + "s.@@ here", made(90)),
    kind("Vault batch", "we use hv" + "b.@@ here", made(140)),
    kind("Terraform", f"we use {made(14)}.atla" + "sv1.@@ here", made(67)),
    kind("Pulumi", "we use pu" + "l-@@ here", made(40, HEX)),
    kind("CircleCI", "we use CC" + f"IPAT_{made(22)}_@@ here", made(40, HEX)),
    kind("SonarQube", "we use sq" + "p_@@ here", made(40, HEX)),
    kind("Tailscale", "we use ts" + f"key-auth-{made(12)}-@@ here", made(32)),
    kind("Fly", "we use fm" + "2_@@ here", made(120)),
    kind("1Password", "we use op" + "s_eyJ@@ here", made(200)),
    kind("Artifactory", "we use AKC" + "p@@ here", made(69)),
    kind("Dynatrace", "we use dt0" + f"c01.{made(24, UPPER)}.@@ here", made(64, UPPER)),
    kind("age", "we use AGE-SEC" + "RET-KEY-1@@ here", made(58, UPPER)),
    kind("JSON web token", "we use @@ here", jwt()),
]  # fmt: skip

# -- private keys and other blocks -------------------------------------------------------------------------------------
BLOCKS = [
    pem("PRIVATE " + "KEY"),
    pem("RSA PRIVATE " + "KEY"),
    pem("EC PRIVATE " + "KEY"),
    pem("OPENSSH PRIVATE " + "KEY"),
    pem("ENCRYPTED PRIVATE " + "KEY"),
    pem("PGP PRIVATE " + "KEY BLOCK"),
    pem("PRIVATE " + "KEY", "\\n"),
    kind("PuTTY key", "PuTTY-User-Key-File-3: ssh-ed25519\nPublic-Lines: 1\nAAAA\nPrivate-" + "Lines: 1\n@@", made(60)),
    kind("private key in base64", "  tls.key: LS0tLS1CRUdJTiBSU0Eg" + "@@", made(80)),
    kind("kubeconfig", "    client-key-data: LS0tLS1CRUdJTiBFQyBQ" + "@@", made(80)),
    kind("Kubernetes secret, named", "kind: Secret\ndata:\n  username: a2lt\n  pass" + "word: @@", base64(PASSWORD)),
    kind("Kubernetes secret", "kind: Secret\ntype: Opaque\ndata:\n  dsn: @@", base64(f"pg {PASSWORD}")),
    kind("Kubernetes secret, printed", "data:\n  dsn: @@\nkind: Secret\n", base64(f"pg {PASSWORD}")),
]  # fmt: skip

# -- what a name tells -------------------------------------------------------------------------------------------------
NAMED = [
    kind("environment", "OPENAI_API" + "_KEY=@@", made(20)),
    kind("export", "export SOME_VENDOR_API" + "_KEY=@@", made(20)),
    kind("Windows", "setx MISTRAL_API" + "_KEY @@", made(32)),
    kind("PowerShell", '$env:COHERE_API' + '_KEY = "@@"', made(40)),
    kind("Dockerfile", "ENV TOGETHER_API" + "_KEY @@", made(64, HEX)),
    kind("AWS secret", "AWS_SECRET_ACCESS" + "_KEY=@@", made(19) + "/" + made(20)),
    kind("AWS credentials file", "[default]\naws_secret_access" + "_key = @@", made(19) + "+" + made(20)),
    kind("AWS session", "AWS_SESSION" + "_TOKEN=@@", made(200)),
    kind("Azure storage", "AccountName=shop;Account" + "Key=@@;EndpointSuffix=x", made(86) + "=="),
    kind("Azure bus", "Endpoint=sb://x.example.net/;SharedAccessKeyName=Root;SharedAccess" + "Key=@@", made(43) + "="),
    kind("Azure header", "Ocp-Apim-Subscription" + "-Key: @@", made(32, HEX)),
    kind("Azure function", "POST https://fn.example.net/api/run?co" + "de=@@== here", made(54)),
    kind("Twilio account", "TWILIO_AUTH" + "_TOKEN=@@", made(32, HEX)),
    kind("Vercel named", "VERCEL" + "_TOKEN=@@", made(24)),
    kind("Cloudflare token", "CLOUDFLARE_API" + "_TOKEN=@@", made(40)),
    kind("Cloudflare key", "X-Auth" + "-Key: @@", made(37, HEX)),
    kind("Heroku named", "HEROKU_API" + "_KEY=@@", uuid()),
    kind("Datadog", "DD_API" + "_KEY=@@", made(32, HEX)),
    kind("Datadog application", "DD-APPLICATION" + "-KEY: @@", made(40, HEX)),
    kind("Datadog app", "DD_APP" + "_KEY=@@", made(40, HEX)),
    kind("Algolia", "X-Algolia-API" + "-Key: @@", made(32, HEX)),
    kind("Asana", "ASANA_ACCESS" + "_TOKEN=@@", "1/1200000000000001:" + made(32, HEX)),
    kind("Mailchimp", "MAILCHIMP_API" + "_KEY=@@", made(32, HEX) + "-us12"),
    kind("Resend", "RESEND_API" + "_KEY=@@", "re_" + made(32)),
    kind("crates.io", "CARGO_REGISTRY" + "_TOKEN=@@", "cio" + made(32)),
    kind("Square named", "SQUARE_ACCESS" + "_TOKEN=@@", made(60)),
    kind("Rails", "SECRET_KEY" + "_BASE=@@", made(128, HEX)),
    kind("Rails master", "RAILS_MASTER" + "_KEY=@@", made(32, HEX)),
    kind("Laravel", "APP" + "_KEY=base64:@@", made(43) + "="),
    kind("Django", "SECRET" + "_KEY = '@@'", "django-insecure-" + made(40)),
    kind("Fernet", "FERNET" + "_KEY=@@", made(43) + "="),
    kind("Stripe named", "STRIPE" + "_KEY=@@", made(40)),
    kind("WireGuard", "[Interface]\nPrivate" + "Key = @@", made(43) + "="),
    kind("Sentry named", "SENTRY_AUTH" + "_TOKEN=@@", made(64, HEX)),
    kind("npmrc token", "//npm.example.com/:_auth" + "Token=@@", uuid()),
    kind("npmrc basic", "//npm.example.com/:_au" + "th=@@", base64(f"kim:{PASSWORD}")),
    kind("Docker config", '{"auths": {"r.example.com": {"au' + 'th": "@@"}}}', base64(f"kim:{PASSWORD}")),
    kind("netrc", "machine api.example.com\n  login kim\n  pass" + "word @@", WORD),
    kind("netrc line", "machine api.example.com login kim pass" + "word @@", PASSWORD),
    kind("pgpass", "db.example.com:5432:shop:kim:" + "@@", PASSWORD),
    kind("YAML", "database:\n  user: kim\n  pass" + "word: @@\n  host: db", PASSWORD),
    kind("YAML, a word", "database:\n  pass" + "word: @@\n  host: db", WORD),
    kind("JSON", '{"user": "kim", "pass' + 'word": "@@"}', PASSWORD),
    kind("TOML", "[db]\npass" + 'word = "@@"', PASSWORD),
    kind("XML", "<pass" + "word>@@</pass" + "word>", PASSWORD),
    kind("short name", "SMTP_P" + "ASS=@@", PASSWORD),
    kind("short name in YAML", "smtp_p" + "ass: @@", PASSWORD),
    kind("short name in JSON", '{"dbP' + 'ass": "@@"}', PASSWORD),
    kind("prose", "the pass" + "word is @@", PASSWORD),
    kind("Chinese", "密码" + "是 @@", PASSWORD),
    kind("passphrase", "the pass" + "phrase: @@", PASSWORD),
    kind("client", "client_sec" + "ret: @@", made(40)),
    kind("webhook", "WEBHOOK_SEC" + "RET=@@", made(32)),
]  # fmt: skip

# -- headers, addresses, commands --------------------------------------------------------------------------------------
CARRIED = [
    kind("bearer", "Author" + "ization: Bearer @@", made(40)),
    kind("bearer alone", "send Bear" + "er @@ along", made(40)),
    kind("basic", "Author" + "ization: Basic @@", base64(f"kim:{PASSWORD}")),
    kind("bot", "Author" + "ization: Bot @@", made(60)),
    kind("another scheme", "Author" + "ization: SSWS @@", "00" + made(40)),
    kind("AWS signature", "Author" + "ization: AWS4-HMAC-SHA256 SignedHeaders=host, Signa" + "ture=@@", made(64, HEX)),
    kind("proxy", "Proxy-Author" + "ization: Basic @@", base64(f"kim:{PASSWORD}")),
    kind("header", "curl -H 'X-Api" + "-Key: @@' https://example.com", made(32)),
    kind("cookie", "Coo" + "kie: theme=dark; session=@@", made(32)),
    kind("cookie set", "Set-Coo" + "kie: sid=@@; Path=/; HttpOnly", made(32)),
    kind("curl cookie", "curl -b 'sid=@" + "@' https://example.com", made(32)),
    *(
        kind(scheme, f"{scheme}://app:@" + "@@db.example.com/shop", "plum-Harbour7!tide")
        for scheme in ("postgres", "mysql", "redis", "mongodb+srv", "amqp", "https", "ftp", "smb")
    ),
    kind("no user", "redis://:@" + "@@cache:6379/0", PASSWORD),
    kind("SQLAlchemy", "postgresql+psycopg2://app:@" + "@@db/shop", WORD),
    kind("token as user", "git clone https://@" + "@@git.example.com/r.git", made(40)),
    kind("token in query", "GET https://example.com/cb?access_to" + "ken=@@&x=1", made(32)),
    kind("JDBC", "jdbc:sqlserver://db:1433;user=sa;pass" + "word=@@;encrypt=true", PASSWORD),
    kind("JDBC query", "jdbc:mysql://db/shop?user=kim&pass" + "word=@@", PASSWORD),
    kind("Oracle", "jdbc:oracle:thin:scott/@" + "@@//db:1521/x", PASSWORD),
    kind("ODBC", "Driver=x;Server=db;Uid=sa;P" + "wd=@@;", PASSWORD),
    kind("docker login", "docker login -u kim -p @" + "@ r.example.com", PASSWORD),
    kind("registry login", "helm registry login r.example.com --username kim --pass" + "word @@", WORD),
    kind("az login", "az login --service-principal -u app -p @" + "@ --tenant t", PASSWORD),
    kind("curl", "curl -u kim:@" + "@ https://example.com", PASSWORD),
    kind("curl long", "curl --user 'kim:@" + "@' https://example.com", PASSWORD),
    kind("wget", "wget --http-pass" + "word=@@ https://example.com", WORD),
    kind("mysql command", "mysql -h db -u root -p@" + "@ shop", WORD),
    kind("mysql, in quotes", "mysqldump -u root -p'@" + "@' shop", PASSWORD),
    kind("PGPASSWORD", "PGPASS" + "WORD=@@ psql -h db", WORD),
    kind("MYSQL_PWD", "MYSQL_P" + "WD=@@ mysql -h db", WORD),
    kind("sshpass", "sshpass -p @" + "@ ssh kim@host", PASSWORD),
    kind("sshpass, joined", "sshpass -p'@" + "@' ssh kim@host", PASSWORD),
    kind("redis-cli", "redis-cli -h cache -a @" + "@ PING", PASSWORD),
    kind("mongo", "mongosh db/shop -u kim -p @" + "@ --quiet", PASSWORD),
    kind("openssl", "openssl rsa -passin pass:@" + "@ -in k.pem", PASSWORD),
    kind("SQL", "CREATE USER kim IDENTIFIED " + "BY '@@'", PASSWORD),
    kind("Postgres SQL", "ALTER ROLE kim WITH PASS" + "WORD '@@'", WORD),
    kind("sudo", "echo '@" + "@' | sudo -S systemctl restart x", PASSWORD),
    kind("piped login", "echo @" + "@ | docker login -u kim --password-stdin", PASSWORD),
]  # fmt: skip

KINDS = [*MARKED, *BLOCKS, *NAMED, *CARRIED]

# -- every kind in every place -----------------------------------------------------------------------------------------

REPLY = "## Goal\nship the shop\n\n## Completed Actions\n- looked at the settings"


def talk(*middle: Message) -> list[Message]:
    """A conversation with these messages in its middle: what it keeps verbatim is around them."""
    return [
        {"role": "system", "content": "You are an agent."},
        user("Please set the shop up."),
        assistant("I begin."),
        *middle,
        *(
            assistant(f"Step {n} is done. " + "All is well so far, and nothing is to be said about it. " * 60)
            for n in range(6)
        ),
        user("Go on, please."),
        assistant("I go on."),
    ]


def in_a_result(kind: Kind) -> tuple[list[Message], None]:
    return talk(
        assistant(None, call("c1", "read_file", path="notes.txt")), result("c1", f"a line\n{kind.text}\n")
    ), None


def in_arguments(kind: Kind) -> tuple[list[Message], None]:
    return talk(assistant(None, call("c1", "terminal", command=f"true\n{kind.text}")), result("c1", "exit 0")), None


def in_raw_arguments(kind: Kind) -> tuple[list[Message], None]:
    """As text that opens the argument, and letters beyond ASCII as they are."""
    made_call = call("c1", "write_file", path="notes.txt")
    given = {"path": "notes.txt", "content": f"{kind.text}\n"}
    made_call["function"]["arguments"] = json.dumps(given, ensure_ascii=False)
    return talk(assistant(None, made_call), result("c1", "written")), None


def in_an_earlier_summary(kind: Kind) -> tuple[list[Message], None]:
    told = f"## Goal\nship the shop\n\n## Critical Context\n- first of all\n- noted: {kind.text}\n- and more"
    return talk(user(frame(told)), assistant("I read it."), user("Is it done?"), assistant("Not yet.")), None


def in_the_topic(kind: Kind) -> tuple[list[Message], str]:
    return talk(user("Is it done?"), assistant("Not yet.")), f"the settings, {kind.text}"


def in_arguments_of_a_long_result(kind: Kind) -> tuple[list[Message], None]:
    """What is too long to be shown whole is shown with its digest, which quotes the arguments."""
    made = call("l", "deploy", note=kind.text)
    return talk(
        assistant(None, made), result("l", "row of the report\n" * 500), user("Go on."), assistant("Yes.")
    ), None


PLACES = (
    in_a_result,
    in_arguments,
    in_arguments_of_a_long_result,
    in_raw_arguments,
    in_an_earlier_summary,
    in_the_topic,
)


def texts_of(request: object) -> list[str]:
    """All texts that a summariser is given, whatever they are called."""
    values = (getattr(request, name) for name in dir(request) if not name.startswith("_"))
    return [value for value in values if isinstance(value, str)]


def compressed(
    messages: list[Message], topic: str | None, *, online: bool, redactor: Redactor | None = None
) -> tuple[str, str]:
    """All that the summariser was asked, and the summary."""
    summarizer = ScriptedSummarizer([REPLY]) if online else None
    engine = ContextCompressor(16_000, summarizer=summarizer, redactor=redactor, protect_last_n=3)
    shorter = engine.compress(messages, force=True, focus_topic=topic)
    summaries = [found.body for found in map(find_summary, shorter) if found]
    assert len(summaries) == 1
    asked = summarizer.requests if summarizer else []
    assert bool(asked) == online
    return "\n".join(text for request in asked for text in texts_of(request)), summaries[0]


def stands_in(core: str, text: str) -> bool:
    """Letter by letter, or as JSON writes it."""
    return core in text or json.dumps(core)[1:-1] in text


def test_there_are_many_kinds():
    assert len({kind.name for kind in KINDS}) == len(KINDS) >= 200
    assert all(kind.core in kind.text for kind in KINDS)


@pytest.mark.parametrize("place", PLACES)
def test_no_secret_reaches_a_model_or_a_summary(place):
    # spec: P3.12
    leaks: list[str] = []
    for kind in KINDS:
        messages, topic = place(kind)
        for online in (True, False):
            prompt, summary = compressed(messages, topic, online=online)
            leaks += [f"{kind.name}, {online=}, in the prompt"] if stands_in(kind.core, prompt) else []
            leaks += [f"{kind.name}, {online=}, in the summary"] if stands_in(kind.core, summary) else []
    assert leaks == []


@pytest.mark.parametrize("place", PLACES)
def test_without_redaction_each_would(place):
    """That the places are read, and the test above can fail."""
    for kind in KINDS:
        prompt, _ = compressed(*place(kind), online=True, redactor=lambda text: text)
        assert stands_in(kind.core, prompt), kind.name


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_what_is_redacted_once_stays_as_it_is(kind: Kind):
    # spec: P3.12
    assert redact(redact(kind.text)) == redact(kind.text)
