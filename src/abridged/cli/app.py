"""The commands. Each reads all, works, and writes last: a fault or an interruption leaves everything as it was."""

import operator
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from abridged.cli.archive import archive_app
from abridged.cli.chat import chat_here
from abridged.cli.hermes import hermes_app
from abridged.cli.inspection import inspect_conversation
from abridged.cli.inspection_view import inspection_parts
from abridged.cli.once import compress_once
from abridged.cli.reading import parse_conversation, read_bytes
from abridged.cli.report_view import explanation, report_parts
from abridged.cli.settings import ConfigFile, config_app, list_engines
from abridged.cli.tables import as_text, console_for
from abridged.cli.waiting import waiting
from abridged.cli.writing import ReaderGone, check_target, encode, render, render_report, write_file, write_stream
from abridged.config import Config, load
from abridged.errors import AbridgedError, ConfigError, SettingsError, one_line
from abridged.plugins import DEFAULT_ENGINE
from abridged.report import CompressionReport
from abridged.setup import engine_from

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

app.add_typer(archive_app, name="archive")
app.add_typer(config_app, name="config")
app.add_typer(hermes_app, name="hermes")
app.command(name="engines")(list_engines)
app.command(name="chat", epilog="Example: abridged chat --model qwen3:8b --base-url http://localhost:11434/v1")(
    chat_here
)

# What a setting is called on the command line.
_OPTIONS = {
    "model.context_length": "context-length", "model.max_output_tokens": "max-output", "model.name": "model",
    "model.base_url": "base-url", "compression.threshold_percent": "threshold",
    "compression.protect_first_n": "protect-first", "compression.protect_last_n": "protect-last",
    "compression.summary_timeout": "timeout", "summarizer.model": "model", "summarizer.base_url": "base-url",
    "summarizer.context_length": "model-window", "archive.path": "archive",
}  # fmt: skip

File = Annotated[
    str,
    typer.Argument(
        metavar="FILE", help='A JSON list of messages, an object with "messages", or JSON lines; - for standard input.'
    ),
]
ContextLength = Annotated[
    int | None, typer.Option(metavar="TOKENS", help="The model's window, 128000 unless set.", show_default=False)
]
MaxOutput = Annotated[int | None, typer.Option(metavar="TOKENS", help="What of it is reserved for the answer.")]
Threshold = Annotated[float | None, typer.Option(metavar="SHARE", help="Share of the window that counts as full.")]
ProtectFirst = Annotated[int | None, typer.Option(metavar="N", help="Messages to keep at the front.")]
ProtectLast = Annotated[int | None, typer.Option(metavar="N", help="Messages to keep at the end, as far as they fit.")]
AsJson = Annotated[bool, typer.Option("--json", help="The report as one JSON object.")]


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
    if isinstance(fault, ConfigError) and fault.parameter in _OPTIONS and not isinstance(fault, SettingsError):
        return f"--{_OPTIONS[fault.parameter]} {fault.value}: not possible; it takes {fault.allowed}"
    return one_line(str(fault))


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
    context_length: ContextLength = None,
    max_output: MaxOutput = None,
    focus: Annotated[str | None, typer.Option(metavar="TOPIC", help="What to keep in most detail.")] = None,
    threshold: Threshold = None,
    protect_first: ProtectFirst = None,
    protect_last: ProtectLast = None,
    force: Annotated[
        bool, typer.Option("--force", help="Compress it although it fits, or compression is switched off.")
    ] = False,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Who writes the summary: gpt-4o-mini, claude-…, litellm/…; else as set, else by rule."
        ),
    ] = None,
    base_url: Annotated[
        str | None, typer.Option(metavar="URL", help="An OpenAI-compatible server, such as http://localhost:11434/v1.")
    ] = None,
    model_window: Annotated[int | None, typer.Option(metavar="TOKENS", help="The window of that model.")] = None,
    timeout: Annotated[float | None, typer.Option(metavar="SECONDS", help="What one request to it may take.")] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show which messages each item tells of.")] = False,
    json_report: AsJson = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No report.")] = False,
    config: ConfigFile = None,
) -> None:
    """Compress a conversation: its middle becomes a summary, old tool results become one line each.

    The messages go to OUT or to standard output, in the shape in which they came, the report to standard error (with
    --json and --output: to standard output). What fits the window comes out unchanged.

    With --model a model writes the summary and what it says is checked against the messages; where it cannot, the
    summary is written by rule. Its key is read from the environment (OPENAI_API_KEY, ANTHROPIC_API_KEY, …).
    What no option says is as `abridged config show` shows it.
    """
    settings = _settings(
        config, context_length, max_output, threshold, protect_first, protect_last,
        {"summarizer.model": model, "summarizer.base_url": base_url, "summarizer.context_length": model_window,
         "compression.summary_timeout": timeout},
    )  # fmt: skip
    name = settings.get("model.name")
    writer = settings.get("summarizer.model", name)
    if base_url and not writer:
        raise ConfigError("summarizer.base_url", base_url, "a --model beside it")
    target = None if output in (None, "-") else Path(str(output))
    if target:
        check_target(target)
    # What an engine prints is no part of the conversation.
    with waiting("Compressing …") as say, redirect_stdout(sys.stderr):
        engine = engine_from(settings, name, lambda part, parts: say(f"{writer} summarises part {part} of {parts} …"))
        raw = read_bytes(file)
        conversation = parse_conversation(raw, file)
        if settings.get("compression.enabled", name) or force:
            messages, report = compress_once(engine, conversation.messages, focus, force=force)
        else:
            messages = conversation.messages
            report = CompressionReport(reason="compression is switched off (compression.enabled); --force compresses")
        same = len(messages) == len(conversation.messages)
        same = same and all(map(operator.is_, messages, conversation.messages))
        data = raw if same else render(conversation, messages)
    if target:
        write_file(target, data)
    else:
        write_stream(data)
    if quiet:
        return
    notes = getattr(getattr(engine, "budget", None), "notes", ())
    if json_report:
        facts = {
            "file": conversation.name, "output": str(target) if target else None, "engine": engine.name,
            "context_length": engine.context_length, "threshold_tokens": engine.threshold_tokens, "notes": notes,
            **report.to_dict(explain=explain),
        }  # fmt: skip
        write_stream(render_report(facts), sys.stdout if target else sys.stderr)
    else:
        parts = report_parts(conversation.name, report, engine.threshold_tokens, notes)
        _say([*parts, *(explanation(report) if explain else [])], stderr=True)


@app.command(name="inspect", epilog="Example: abridged inspect session.json --context-length 200000")
def inspect_file(
    file: File,
    context_length: ContextLength = None,
    max_output: MaxOutput = None,
    threshold: Threshold = None,
    protect_first: ProtectFirst = None,
    protect_last: ProtectLast = None,
    json_report: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Show what fills a conversation, what is wrong with it, and what a compression would do. Nothing is written.

    What would happen is what the built-in engine would do, with the settings that `abridged config show` shows.
    """
    settings = _settings(config, context_length, max_output, threshold, protect_first, protect_last, {})
    model = settings.get("model.name")
    raw = read_bytes(file)
    with waiting("Inspecting …"):
        conversation = parse_conversation(raw, file)
        found = inspect_conversation(
            conversation.messages, settings.get("model.context_length", model),
            max_output_tokens=settings.get("model.max_output_tokens", model), **asdict(settings.settings(model)),
        )  # fmt: skip
    chosen = settings.get("context.engine", model).strip() or DEFAULT_ENGINE
    if json_report:
        facts = {"file": conversation.name, "engine": DEFAULT_ENGINE, "chosen_engine": chosen}
        write_stream(render_report({**facts, **found.to_dict()}))
    else:
        another = f"note: the settings name the engine {chosen}; this is what {DEFAULT_ENGINE} would do"
        notes = [] if chosen == DEFAULT_ENGINE else ["", Text(another, style="yellow")]
        _say([*inspection_parts(conversation.name, found), *notes], stderr=False)


def _settings(
    file: str | None, context_length: int | None, max_output: int | None, threshold: float | None,
    protect_first: int | None, protect_last: int | None, more: dict[str, Any],
) -> Config:  # fmt: skip
    """The configuration, and what the options say before it."""
    options = {
        "model.context_length": context_length, "model.max_output_tokens": max_output,
        "compression.threshold_percent": threshold, "compression.protect_first_n": protect_first,
        "compression.protect_last_n": protect_last,
    }  # fmt: skip
    return load(file, options={**options, **more})


def _say(parts: Sequence[Any], *, stderr: bool) -> None:
    stream = sys.stderr if stderr else sys.stdout
    write_stream(encode(as_text(console_for(stderr=stderr), parts), stream.encoding or "utf-8"), stream)
