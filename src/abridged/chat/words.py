"""What a terminal may be given: text of models, tools and files is never an instruction to it."""

import shutil
from collections.abc import Iterable
from textwrap import wrap

from abridged.chat.agent import Agent

_CONTROLS = {code: None for code in (*range(32), 127, *range(128, 160)) if chr(code) not in "\n\t"}


def printable(text: str) -> str:
    """The text without control characters; line breaks and tabs stay."""
    return text.replace("\r\n", "\n").translate(_CONTROLS)


def wrapped(text: str, indent: int = 0) -> str:
    """The text in lines that fit the terminal; further ones begin so many columns in."""
    width = max(20 + indent, shutil.get_terminal_size().columns - 1)
    lines = [
        wrap(line, width, subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False) or [""]
        for line in text.split("\n")
    ]
    return "\n".join(part for line in lines for part in line)


def table(rows: Iterable[tuple[str, str]]) -> str:
    """Names and what is to be said of them, in two columns."""
    named = list(rows)
    width = max((len(name) for name, _ in named), default=0) + 2
    return "\n".join(wrapped(f"{name:<{width}}{value}", width) for name, value in named)


def status_line(agent: Agent) -> str:
    """How full the window is, and what compressing has brought."""
    engine = agent.session.engine
    share = 100 * agent.used_tokens // engine.context_length if engine.context_length else 0
    threshold = f"compresses at {engine.threshold_tokens:,}" if agent.session.automatic else "compression is off"
    count = engine.compression_count
    done = f"{count} compression{'' if count == 1 else 's'}"
    if agent.saved_tokens:
        done += f", {agent.saved_tokens:,} saved"
    used = f"{agent.used_tokens:,} of {engine.context_length:,} tokens ({share} %)"
    return " · ".join([used, threshold, done, agent.model.name])
