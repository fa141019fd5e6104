"""The summary as it stands in the context: a block for each node, and its id and its sources written by code.

Whatever a text says, it can neither end the summary nor open a block.
"""

import re
from collections.abc import Mapping, Sequence

from abridged.archive.nodes import Node
from abridged.conversation.text import one_line

TOOLS_NOTE = (
    "The blocks below summarise earlier turns. lcm_expand gives the original messages of a block by its id, letter for "
    "letter; lcm_grep and lcm_recall find them by words; lcm_describe shows what a block is made of."
)
"""Where a host offers the tools."""
MOST_NAMES = 12
"""Ids of one line."""
_IMITATION = re.compile(r"^(?=[ \t]*(?:\[(?:end of )?n\d|\[not shown\b|\[CONTEXT |#{1,6} ))", re.MULTILINE)
_END = re.compile(r"-{2,} ?END OF CONTEXT SUMMARY", re.IGNORECASE)


def harmless(text: str) -> str:
    """The text with a mark before each line that looks like one of ours, and without half characters."""
    whole = text.encode("utf-8", "replace").decode()
    return _IMITATION.sub("> ", _END.sub("(end of context summary)", whole))


def block(node: Node, children: Sequence[int]) -> str:
    """One node: what it is, what it says, what it is of."""
    messages = f"messages {node.first}-{node.last}"
    flag = " · by rule: the model failed" if node.fallback else ""
    sources = ", ".join(f"n{number}" for number in children) or messages
    head = f"[{node.name} · depth {node.depth} · {messages}{flag}]"
    return f"{head}\n{node.text}\n[end of {node.name}; made of {sources}]"


def index_line(dropped: Sequence[Node]) -> str:
    """A line for nodes that there is no room for; "" for none."""
    if not dropped:
        return ""
    names = ", ".join(node.name for node in dropped[-MOST_NAMES:][::-1])
    more = f" and {len(dropped) - MOST_NAMES} older ones" if len(dropped) > MOST_NAMES else ""
    first, last = min(node.first for node in dropped), max(node.last for node in dropped)
    return f"[not shown: {names}{more} · messages {first}-{last} · lcm_expand reads them]"


def body(
    task: str, kept: Sequence[str], shown: Sequence[Node], dropped: Sequence[Node], children: Mapping[int, list[int]]
) -> str:
    """The summary without its frame. `task`: the newest request; `kept`: what a host wants to see word for word."""
    parts = [f"## Active Task\n- {harmless(one_line(task, len(task) + 1))}" if task else "## Active Task\nNone."]
    held = "\n".join(f"- {harmless(text)}" for text in kept)
    blocks = [index_line(dropped), *(block(node, children.get(node.number, [])) for node in shown)]
    parts += ["## Critical Context" + (f"\n{held}" if held else ""), *(part for part in blocks if part)]
    return "\n\n".join(parts)
