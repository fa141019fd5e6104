"""The commands. Each reads all, works, and writes last: a fault or an interruption leaves everything as it was."""

import operator
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated, Any

import typer

from abridged.budget import Budget, Settings, SettingsArguments
from abridged.cli.archive import archive_app
from abridged.cli.chat import chat_here
from abridged.cli.inspection import inspect_conversation
from abridged.cli.inspection_view import inspection_parts
from abridged.cli.reading import parse_conversation, read_bytes
from abridged.cli.report_view import explanation, report_parts
from abridged.cli.settings import config_app, list_engines
from abridged.cli.tables import as_text, console_for
from abridged.cli.waiting import waiting
from abridged.cli.writing import ReaderGone, check_target, encode, render, render_report, write_file, write_stream
from abridged.engines.compressor import compress
from abridged.errors import AbridgedError, ConfigError
from abridged.report import CompressionReport

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

app.add_typer(archive_app, name="archive")
app.add_typer(config_app, name="config")
app.command(name="engines")(list_engines)
app.command(name="chat", epilog="Example: abridged chat --model qwen3:8b --base-url http://localhost:11434/v1")(
    chat_here
)

# What a setting is called on the command line, where that is not its own name.
_OPTIONS = {
    "threshold_percent": "threshold", "max_output_tokens": "max-output", "protect_first_n": "protect-first",
    "protect_last_n": "protect-last", "summary_timeout": "timeout",
}  # fmt: skip

File = Annotated[
    str,
    typer.Argument(
        metavar="FILE", help='A JSON list of messages, an object with "messages", or JSON lines; - for standard input.'
    ),
]
ContextLength = Annotated[int, typer.Option(metavar="TOKENS", help="The model's window.")]
MaxOutput = Annotated[int | None, typer.Option(metavar="TOKENS", help="What of it is reserved for the answer.")]
Threshold = Annotated[float, typer.Option(metavar="SHARE", help="Share of the window that counts as full.")]
ProtectFirst = Annotated[int, typer.Option(metavar="N", help="Messages to keep at the front.")]
ProtectLast = Annotated[int, typer.Option(metavar="N", help="Messages to keep at the end, as far as they fit.")]
AsJson = Annotated[bool, typer.Option("--json", help="The report as one JSON object.")]

_DEFAULTS = Settings()


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; see `abridged.cli.main`."""
    try:
        app(args=None if arguments is None else list(arguments), prog_name="abridged")
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else 1
    except ReaderGone:
        return 141
    except AbridgedError as fault:
        print(f"abridged: {_wording(fault)}", file=sys.stderr)
        return 2
    return 0


def _wording(fault: AbridgedError) -> str:
    if isinstance(fault, ConfigError):
        option = _OPTIONS.get(fault.parameter, fault.parameter.replace("_", "-"))
        return f"--{option} {fault.value}: not possible; it takes {fault.allowed}"
    return str(fault)


def _show_version(wanted: bool) -> None:
    if not wanted:
        return
    try:
        number = version("abridged")
    except PackageNotFoundError:  # run from a source tree
        number = "(not installed)"
    typer.echo(f"abridged {number}")
    raise typer.Exit


@app.callback(epilog="Example: abridged inspect session.json")
def abridged(
    show_version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_show_version, help="Show the version and leave.")
    ] = False,
) -> None:
    """Keep conversations of LLM agents inside their context window: offline, no key, no model."""


@app.command(name="compress", epilog='Example: abridged compress session.json -o shorter.json --focus "the login bug"')
def compress_file(
    file: File,
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="OUT", help="Where the messages go (may be FILE itself).")
    ] = None,
    context_length: ContextLength = 128_000,
    max_output: MaxOutput = None,
    focus: Annotated[str | None, typer.Option(metavar="TOPIC", help="What to keep in most detail.")] = None,
    threshold: Threshold = _DEFAULTS.threshold_percent,
    protect_first: ProtectFirst = _DEFAULTS.protect_first_n,
    protect_last: ProtectLast = _DEFAULTS.protect_last_n,
    force: Annotated[bool, typer.Option("--force", help="Compress it although it fits.")] = False,
    model: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Who writes the summary: gpt-4o-mini, claude-…, litellm/…; none: by rule."),
    ] = None,
    base_url: Annotated[
        str | None, typer.Option(metavar="URL", help="An OpenAI-compatible server, such as http://localhost:11434/v1.")
    ] = None,
    model_window: Annotated[int | None, typer.Option(metavar="TOKENS", help="The window of that model.")] = None,
    timeout: Annotated[
        float, typer.Option(metavar="SECONDS", help="What one request to it may take.")
    ] = _DEFAULTS.summary_timeout,
    explain: Annotated[bool, typer.Option("--explain", help="Show which messages each item tells of.")] = False,
    json_report: AsJson = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No report.")] = False,
) -> None:
    """Compress a conversation: its middle becomes a summary, old tool results become one line each.

    The messages go to OUT or to standard output, in the shape in which they came, the report to standard error (with
    --json and --output: to standard output). What fits the window comes out unchanged.

    With --model a model writes the summary and what it says is checked against the messages; where it cannot, the
    summary is written by rule. Its key is read from the environment (OPENAI_API_KEY, ANTHROPIC_API_KEY, …).
    """
    settings: SettingsArguments = {
        "threshold_percent": threshold, "protect_first_n": protect_first, "protect_last_n": protect_last,
        "summary_timeout": timeout,
    }  # fmt: skip
    if base_url and not model:
        raise ConfigError("base_url", base_url, "a --model beside it")
    summarizer = None
    if model:
        from abridged.summarizers.by_name import summarizer_for  # what needs a model's client need not be paid by all

        summarizer = summarizer_for(model, base_url=base_url, context_length=model_window)
    budget = Budget.derive(Settings(**settings), context_length, max_output)
    target = None if output in (None, "-") else Path(str(output))
    if target:
        check_target(target)
    raw = read_bytes(file)
    with waiting("Compressing …") as say:
        conversation = parse_conversation(raw, file)
        messages, report = compress(
            conversation.messages,
            context_length,
            focus_topic=focus,
            force=force,
            max_output_tokens=max_output,
            summarizer=summarizer,
            progress=lambda part, parts: say(f"{model} summarises part {part} of {parts} …"),
            **settings,
        )
        same = len(messages) == len(conversation.messages)
        same = same and all(map(operator.is_, messages, conversation.messages))
        data = raw if same else render(conversation, messages)
    if target:
        write_file(target, data)
    else:
        write_stream(data)
    if quiet:
        return
    if json_report:
        facts = _report_facts(conversation.name, target, report, budget, explain=explain)
        write_stream(render_report(facts), sys.stdout if target else sys.stderr)
    else:
        parts = report_parts(conversation.name, report, budget.threshold_tokens, budget.notes)
        _say([*parts, *(explanation(report) if explain else [])], stderr=True)


def _report_facts(
    name: str, target: Path | None, report: CompressionReport, budget: Budget, *, explain: bool
) -> dict[str, Any]:
    return {
        "file": name,
        "output": str(target) if target else None,
        "context_length": budget.context_length,
        "threshold_tokens": budget.threshold_tokens,
        "notes": budget.notes,
        **report.to_dict(explain=explain),
    }


@app.command(name="inspect", epilog="Example: abridged inspect session.json --context-length 200000")
def inspect_file(
    file: File,
    context_length: ContextLength = 128_000,
    max_output: MaxOutput = None,
    threshold: Threshold = _DEFAULTS.threshold_percent,
    protect_first: ProtectFirst = _DEFAULTS.protect_first_n,
    protect_last: ProtectLast = _DEFAULTS.protect_last_n,
    json_report: AsJson = False,
) -> None:
    """Show what fills a conversation, what is wrong with it, and what a compression would do. Nothing is written."""
    settings: SettingsArguments = {
        "threshold_percent": threshold, "protect_first_n": protect_first, "protect_last_n": protect_last,
    }  # fmt: skip
    Budget.derive(Settings(**settings), context_length, max_output)  # a wrong option is said before the file is read
    raw = read_bytes(file)
    with waiting("Inspecting …"):
        conversation = parse_conversation(raw, file)
        found = inspect_conversation(
            conversation.messages, context_length, max_output_tokens=max_output, **settings
        )  # fmt: skip
    if json_report:
        write_stream(render_report({"file": conversation.name, **found.to_dict()}))
    else:
        _say(inspection_parts(conversation.name, found), stderr=False)


def _say(parts: Sequence[Any], *, stderr: bool) -> None:
    stream = sys.stderr if stderr else sys.stdout
    write_stream(encode(as_text(console_for(stderr=stderr), parts), stream.encoding or "utf-8"), stream)
