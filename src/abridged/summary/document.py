"""The summary as a document: 13 sections of short items, and a typed index of names.

Writing is exact, reading is forgiving: heading levels, bold, numbering, case, other languages' headings. What was
written is read back as it was (`parse(render(d))` holds the same items), so that a summary found in a conversation is
as good as one in memory.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from abridged.summary.template import SECTIONS

EMPTY = "None."
"""Stands in a section that has nothing."""
INDEX_TITLE = "Names by kind, the most relevant first:"
"""Opens the typed index at the end of the last section."""
INDEX_SECTION = "Critical Context"
_NUMBERED = "Completed Actions"

_HEADING = re.compile(r"^\s{0,3}(?:#{1,6}\s*)(?:\d+[.)]\s*)?[*_]*(.+?)[*_]*\s*[:：]?[*_]*\s*$")
_BOLD_HEADING = re.compile(r"^\s{0,3}(?:\d+[.)]\s*)?\*\*(.+?)\*\*\s*[:：]?\s*$")
_ITEM = re.compile(r"^\s{0,3}(?:[-*•]\s+|\d{1,6}[.)]\s+)(.*)$")
_INDEX_LINE = re.compile(r"^\s{2,}-\s+(\S.*?): (.+)$")
_EMPTY_ITEM = re.compile(r"(?:\(?none\.?\)?|n/?a\.?|无。?|（无）|没有。?|-+)", re.IGNORECASE)

_ALIASES = {
    "当前任务": 0, "活动任务": 0, "进行中的任务": 0, "current task": 0, "historical task snapshot": 0,
    "目标": 1, "总体目标": 1, "goals": 1,
    "约束与偏好": 2, "约束和偏好": 2, "约束": 2, "偏好": 2, "constraints": 2, "preferences": 2,
    "constraints and preferences": 2,
    "已完成的操作": 3, "已完成操作": 3, "已完成的工作": 3, "已完成": 3, "completed": 3, "completed work": 3,
    "当前状态": 4, "活动状态": 4, "current state": 4,
    "进行中": 5, "正在进行": 5, "historical in-progress state": 5,
    "阻塞": 6, "受阻": 6, "障碍": 6, "blockers": 6, "blocked/errors": 6,
    "关键决策": 7, "重要决策": 7, "decisions": 7,
    "已解决的问题": 8, "已回答的问题": 8,
    "待处理的用户请求": 9, "未回答的用户请求": 9, "pending asks": 9, "historical pending user asks": 9,
    "相关文件": 10, "files": 10,
    "剩余工作": 11, "next steps": 11, "remaining": 11, "historical remaining work": 11,
    "关键上下文": 12, "重要上下文": 12, "context": 12,
}  # fmt: skip
_BY_TITLE = {title.casefold(): title for title in SECTIONS} | {
    alias: SECTIONS[place] for alias, place in _ALIASES.items()
}


@dataclass(slots=True)
class Item:
    """One short statement of the summary."""

    text: str
    sources: tuple[int, ...] = ()
    """Indexes of the messages that it was read from; empty where it came from an earlier summary."""
    origin: str = "rule"
    """Who wrote it: `rule`, `model`, or `earlier` for a summary that was found in the conversation."""


@dataclass(slots=True)
class SummaryDocument:
    """Items by section, and names by label, best first."""

    sections: dict[str, list[Item]] = field(default_factory=lambda: {title: [] for title in SECTIONS})
    index: dict[str, list[str]] = field(default_factory=dict[str, list[str]])

    @property
    def empty(self) -> bool:
        return not self.index and not any(self.sections.values())

    def render(self) -> str:
        """The body of a summary: all 13 sections, in order (spec: P3.2)."""
        return "\n\n".join(f"## {title}\n{self.section_text(title)}" for title in SECTIONS)

    def section_text(self, title: str) -> str:
        """One section without its heading."""
        lines = list(_item_lines(title, self.sections[title]))
        if title == INDEX_SECTION and self.index:
            lines.append(f"- {INDEX_TITLE}")
            lines += (f"  - {label}: {', '.join(names)}" for label, names in self.index.items())
        return "\n".join(lines) or EMPTY


def _item_lines(title: str, items: list[Item]) -> Iterable[str]:
    for number, item in enumerate(items, start=1):
        yield (f"{number}. " if title == _NUMBERED else "- ") + item_text(item.text)


def item_text(text: str) -> str:
    """An item as it is written, without its mark. More than one line is quoted: none of them can be a heading."""
    return text if "\n" not in text else "|\n  > " + text.replace("\n", "\n  > ")


def parse(text: str) -> SummaryDocument:
    """Read a summary's body, ours or a model's. What stands under no known heading is kept as critical context."""
    document = SummaryDocument()
    title: str | None = None
    in_index = False
    lines = text.replace("\r\n", "\n").split("\n")
    for line in lines:
        # In a numbered list a bold title is an item of it.
        heading = None if title == _NUMBERED and _ITEM.match(line) else _title_of(line)
        if heading:
            title, in_index = heading, False
            continue
        if not line.strip():
            continue
        section = document.sections[title or INDEX_SECTION]
        if line.strip().lstrip("-* ").strip() == INDEX_TITLE:
            in_index = True
        elif in_index and (entry := _INDEX_LINE.match(line)):
            document.index.setdefault(entry[1].strip(), []).extend(entry[2].split(", "))
        else:
            _add_line(section, line)
    for items in document.sections.values():
        items[:] = [item for item in items if item.text and not _EMPTY_ITEM.fullmatch(item.text)]
    return document


def _title_of(line: str) -> str | None:
    match = _HEADING.match(line) or _BOLD_HEADING.match(line)
    if not match:
        return None
    return _BY_TITLE.get(match[1].strip().strip("*_:： ").casefold())


def _add_line(section: list[Item], line: str) -> None:
    item = _ITEM.match(line)
    if item:
        section.append(Item("" if item[1] == "|" else item[1].strip()))
    elif section and line.startswith((" ", "\t")):
        own = line.strip()
        own = own[1:].removeprefix(" ") if own.startswith(">") else own
        section[-1].text = f"{section[-1].text}\n{own}" if section[-1].text else own
    else:
        section.append(Item(line.strip()))
