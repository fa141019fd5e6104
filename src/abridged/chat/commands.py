"""What a user can type besides words for the model: one registry for every front end.

A command that changes the conversation waits until the turn is over; the others answer at once.
"""

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from abridged.archive import Archive
from abridged.chat.agent import Agent
from abridged.chat.model import ModelError
from abridged.chat.words import table, wrapped
from abridged.config import Config
from abridged.conversation.measure import message_tokens
from abridged.conversation.text import Message, content_text
from abridged.conversation.tokens import estimate_tokens
from abridged.errors import AbridgedError
from abridged.summary.template import own_words

SHOWN = 20
"""Messages or hits that are listed unless more are asked for."""
LINE = 110
"""Characters of a message in a list."""


class Leave(Exception):
    """The user wants to leave."""


@dataclass(slots=True)
class Desk:
    """What commands work on."""

    agent: Agent
    config: Config


@dataclass(frozen=True, slots=True)
class Command:
    """One of them. `at_once`: it may run beside a turn."""

    name: str
    argument: str
    says: str
    run: Callable[[Desk, str], Awaitable[None]]
    at_once: bool = False

    @property
    def usage(self) -> str:
        return f"/{self.name} {self.argument}".strip()


COMMANDS: dict[str, Command] = {}


def command(
    name: str, argument: str, says: str, *, at_once: bool = False
) -> Callable[[Callable[[Desk, str], Awaitable[None]]], Callable[[Desk, str], Awaitable[None]]]:
    def add(run: Callable[[Desk, str], Awaitable[None]]) -> Callable[[Desk, str], Awaitable[None]]:
        COMMANDS[name] = Command(name, argument, says, run, at_once)
        return run

    return add


def command_in(line: str) -> tuple[Command | None, str] | None:
    """The command that a line calls, and its argument; `(None, name)` for an unknown one, `None` for no command.

    A path such as `/etc/hosts is wrong` is none.
    """
    if not line.startswith("/"):
        return None
    name, _, argument = line[1:].strip().partition(" ")
    if "/" in name:
        return None
    found = COMMANDS.get(name.lower())
    return (found, argument.strip()) if found else (None, name)


def unknown(name: str) -> str:
    """What to say of a command that is none."""
    near = get_close_matches(name.lower(), COMMANDS, 1, 0.5)
    return f"no command /{name}" + (f"; did you mean /{near[0]}?" if near else "; /help lists them")


# -- the conversation ----------------------------------------------------------------------------------------------


@command("compress", "[TOPIC]", "compress now; what is about TOPIC is kept in most detail")
async def compress(desk: Desk, argument: str) -> None:
    await desk.agent.compress(argument or None)


@command("undo-compression", "", "take the last compression back; what was said since stays")
async def undo_compression(desk: Desk, argument: str) -> None:
    agent = desk.agent
    if await agent.undo_compression():
        agent.view.say(
            f"taken back: {len(agent.messages)} messages, {agent.used_tokens:,} tokens; "
            "nothing is compressed by itself until the window is nearly full"
        )
    elif agent.session.archive is None or agent.session.archive_fault:
        why = agent.session.archive_fault or "the archive is switched off (archive.enabled)"
        agent.view.say(f"cannot be taken back: {why}", "fault")
    else:
        agent.view.say("there is no compression to take back")


@command("new", "", "begin a new conversation; pins stay, the old one is in the archive")
async def new(desk: Desk, argument: str) -> None:
    await desk.agent.restart(keep_pins=True)
    desk.agent.view.say(f"a new conversation{_with_pins(desk.agent)}")


@command("reset", "", "like /new, and the pins are forgotten too")
async def reset(desk: Desk, argument: str) -> None:
    await desk.agent.restart(keep_pins=False)
    desk.agent.view.say("a new conversation, without pins")


def _with_pins(agent: Agent) -> str:
    count = len(agent.instructions.pins)
    return f"; {count} pinned text{'s' if count > 1 else ''} stay{'s' if count == 1 else ''}" if count else ""


@command("retry", "", "ask the model again for an answer to the last word")
async def retry(desk: Desk, argument: str) -> None:
    if desk.agent.is_unanswered:
        await desk.agent.turn()
    else:
        desk.agent.view.say("the last word is the model's answer: say something first")


@command("pin", "[TEXT]", "keep TEXT word for word in every prompt; without TEXT: show the pins", at_once=True)
async def pin(desk: Desk, argument: str) -> None:
    agent = desk.agent
    if argument:
        agent.instructions.pins.append(argument)
        await agent.keep_pins()
        agent.view.say(f"pinned as {len(agent.instructions.pins)}: it is in every prompt from now on")
    elif agent.instructions.pins:
        pins = "\n".join(f"{n}. {text}" for n, text in enumerate(agent.instructions.pins, 1))
        agent.view.say(f"{pins}\n/unpin NUMBER takes one away", "plain")
    else:
        agent.view.say("nothing is pinned; /pin TEXT keeps a text in every prompt")


@command("unpin", "NUMBER", "take a pin away", at_once=True)
async def unpin(desk: Desk, argument: str) -> None:
    agent = desk.agent
    if argument.isdecimal() and 1 <= int(argument) <= len(agent.instructions.pins):
        gone = agent.instructions.pins.pop(int(argument) - 1)
        await agent.keep_pins()
        agent.view.say(f"no longer pinned: {gone}")
    else:
        agent.view.say(f"which one? /pin lists them ({len(agent.instructions.pins)} now)", "fault")


# -- the model -------------------------------------------------------------------------------------------------------


@command("model", "[NAME [TOKENS]]", "talk to another model, with a window of TOKENS; without NAME: show what there is")
async def model(desk: Desk, argument: str) -> None:
    name, _, window = argument.partition(" ")
    if not name:
        await _show_models(desk.agent)
        return
    tokens = int(window.replace(",", "").replace("_", "")) if window.strip().replace(",", "").isdecimal() else 0
    if window and not tokens:
        desk.agent.view.say(f"{window}: not a number of tokens; /model NAME TOKENS", "fault")
        return
    agent, config = desk.agent, desk.config
    agent.model = agent.model.named(name, config.server("model.base_url", name))
    known = tokens or await _window(desk, name)
    agent.session.switch_model(name, known or agent.session.engine.context_length)
    advice = "" if known else " (as before; /model NAME TOKENS says another)"
    agent.view.say(f"model {name}, window of {agent.session.engine.context_length:,} tokens{advice}")


async def _window(desk: Desk, model: str) -> int | None:
    """Tokens of a model's window: as set for it, or as its server says."""
    if "model.context_length" in desk.config.models.get(model, {}):
        return int(desk.config.get("model.context_length", model))
    return await desk.agent.model.window()


async def _show_models(agent: Agent) -> None:
    agent.view.say(f"model {agent.model.name}, window of {agent.session.engine.context_length:,} tokens")
    list_names = getattr(agent.model, "names", None)
    try:
        names: list[str] = await list_names() if list_names else []
    except ModelError as error:
        agent.view.say(f"what else there is, the server does not say: {error}")
        return
    more = f"\n… and {len(names) - 2 * SHOWN} more" if len(names) > 2 * SHOWN else ""
    agent.view.say("the server has: " + ", ".join(names[: 2 * SHOWN]) + more if names else "it lists no models")


# -- looking ---------------------------------------------------------------------------------------------------------


@command("status", "", "tokens, compressions, archive, faults", at_once=True)
async def status(desk: Desk, argument: str) -> None:
    agent, session = desk.agent, desk.agent.session
    engine = session.engine
    rows = [
        ("session", session.id),
        ("folder", str(agent.workspace.root)),
        ("model", agent.model.name),
        ("engine", engine.name + ("" if session.automatic else " (switched off: only /compress compresses)")),
        ("messages", f"{len(agent.messages):,}"),
        ("tokens", f"{agent.used_tokens:,} used, compressed from {engine.threshold_tokens:,} on, "
                   f"window {engine.context_length:,}"),
        ("compressions", f"{engine.compression_count}, {agent.saved_tokens:,} tokens saved"),
        ("rules", ", ".join(map(str, agent.instructions.rule_files)) or "none (AGENTS.md in this folder would be)"),
        ("pins", str(len(agent.instructions.pins))),
        ("archive", session.archive_fault or (session.archive.path if session.archive else "off")),
    ]  # fmt: skip
    faults = [session.engine_fault, *agent.instructions.faults]
    rows += [("fault", fault) for fault in faults if fault]
    rows += [("note", note) for note in getattr(getattr(engine, "budget", None), "notes", ())]
    rows += [("compressed" if not n else "", line) for n, line in enumerate(_records(agent))]
    agent.view.say(table(rows), "plain")


def _records(agent: Agent) -> list[str]:
    """What was compressed in this session, and taken back, a line each."""
    archive = None if agent.session.archive_fault else agent.session.archive
    records = archive.compactions(agent.session.id) if archive else []
    lines: list[str] = []
    for record in records:
        at = time.strftime("%H:%M:%S", time.localtime(record.at))
        report = record.report
        sizes = f"{report.get('tokens_before', 0):,} → {report.get('tokens_after', 0):,} tokens"
        lines.append(f"{at}  {sizes if report.get('compressed') else report.get('reason', '')}")
    return lines


@command("history", "[all]", "the conversation as the model sees it, one line a message", at_once=True)
async def history(desk: Desk, argument: str) -> None:
    messages = desk.agent.messages
    first = 0 if argument == "all" else max(0, len(messages) - SHOWN)
    if not messages:
        desk.agent.view.say("nothing was said yet")
        return
    lines = [_line(place, message) for place, message in enumerate(messages) if place >= first]
    head = [f"… {first} earlier ones: /history all"] if first else []
    desk.agent.view.say("\n".join([*head, *lines]), "plain")


@command("recall", "TEXT", "find what was said in this session, also what was compressed away", at_once=True)
async def recall(desk: Desk, argument: str) -> None:
    view, session = desk.agent.view, desk.agent.session
    archive: Archive | None = None if session.archive_fault else session.archive
    if archive is None:
        view.say(session.archive_fault or "the archive is switched off (archive.enabled)", "fault")
    elif not argument:
        view.say('what? /recall WORDS, or "words in this order"', "fault")
    else:
        found = archive.search(argument, session=session.id, limit=SHOWN)
        texts = [_around(content_text(hit.message.get("content")), argument) for hit in found]
        lines = [f"{hit.place:>5}  {hit.role:<10}{text}" for hit, text in zip(found, texts, strict=True)]
        view.say("\n".join(lines) if found else f"nothing with {argument}", "plain" if found else "notice")


@command("help", "", "this", at_once=True)
async def show_help(desk: Desk, argument: str) -> None:
    keys = "Ctrl-C breaks a turn off, Ctrl-D leaves. What you type while the model works is said afterwards."
    commands = table((one.usage, one.says) for one in COMMANDS.values())
    desk.agent.view.say(f"{commands}\n\n{wrapped(keys)}", "plain")


@command("exit", "", "leave; `abridged chat --resume` goes on", at_once=True)
async def leave(desk: Desk, argument: str) -> None:
    raise Leave  # a front end leaves before it comes to this


async def run_command(desk: Desk, found: Command, argument: str) -> None:
    """Run one; what goes wrong is said, and ends nothing. Raises `Leave` and `ModelError`."""
    try:
        await found.run(desk, argument)
    except AbridgedError as error:
        desk.agent.view.say(f"/{found.name}: {error}", "fault")


def _line(place: int, message: Message) -> str:
    own = own_words(message)
    text = "" if own is message else "[summary of what was said before] "
    text += " ".join(content_text(own.get("content")).split()) if own else ""
    calls: list[Any] = message.get("tool_calls") or []
    named = ", ".join(str(call["function"]["name"]) for call in calls)
    shown = f"→ {named}  {text}" if named else text
    tokens = message_tokens(message, estimate_tokens)
    return f"{place:>5}  {message.get('role')!s:<10}{tokens:>7,}  {shown[:LINE]}{'…' if len(shown) > LINE else ''}"


def _around(text: str, words: str) -> str:
    """The part of a text where the first of the words stands."""
    flat = " ".join(text.split())
    first = words.strip('"').split()[0].lower() if words.strip('"').split() else ""
    at = max(0, flat.lower().find(first) - LINE // 3)
    return f"{'…' if at else ''}{flat[at : at + LINE]}{'…' if len(flat) > at + LINE else ''}"
