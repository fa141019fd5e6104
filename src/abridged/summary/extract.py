"""The offline summary: a document chosen by rule from the ledger, the previous summary merged in, inside a budget.

First the standing sections, each up to its share; then lines, chosen by what they add per token; then the
typed index of the names that no line has. Room that one form leaves goes to the other.
"""

import heapq
import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from abridged.conversation.text import one_line
from abridged.summary.candidates import ExtractRequest, candidates
from abridged.summary.document import INDEX_TITLE, Item, SummaryDocument, item_text
from abridged.summary.facts import worth_of
from abridged.summary.identifiers import kind_of
from abridged.summary.lines import ASKED, Line
from abridged.summary.words import names_in

_STANDING = {
    "Active Task": 0.15, "Goal": 0.10, "Constraints & Preferences": 0.30, "Active State": 0.08, "In Progress": 0.06,
    "Blocked": 0.08, "Pending User Asks": 0.06, "Remaining Work": 0.06, "Relevant Files": 0.08, "Key Decisions": 0.06,
}  # fmt: skip
"""Sections that are filled first, and the most of the budget that each may take."""
_OVERFLOWING = frozenset({"Key Decisions", "Relevant Files"})
"""Standing sections whose other lines may still be chosen for what they name."""
FAINT = 0.8
"""Below this rank a line of a standing section is a wish or a guess; those of a section share `FAINT_SHARE`."""
FAINT_SHARE = 0.08
REQUEST_SHARE = 0.10
"""The share of what the standing sections leave that is meant for what the user asked."""
INDEX_SHARE = 0.6
"""The share of what the standing sections leave that is meant for the index."""
SMALL_INDEX_SHARE = 0.95
"""The same in the smallest summary: a line takes the room of many names."""
SMALL_BUDGET = 3_000
"""From this many tokens down the one share becomes the other."""
CHARS_PER_TOKEN = 12
"""More never fit into a token on average: a line that is too long by this measure need not be counted."""
FOCUS_SHARE = 0.7
"""The share of what the standing sections leave that goes to lines on the focus topic first (spec: P3.6)."""


@dataclass(slots=True)
class Extract:
    """A document and how it was chosen."""

    document: SummaryDocument
    tokens: int = 0
    facts_found: int = 0
    facts_kept: int = 0
    lines_left_out: int = 0
    added: int = 0
    """Items by rule that a model's own text did not have; 0 where no model wrote."""


def extract(request: ExtractRequest) -> Extract:
    """The best document for the budget (spec: P3.1, P3.2, P3.4)."""
    return _Selection(request).run()


class _Selection:
    def __init__(self, request: ExtractRequest) -> None:
        self.request = request
        self.count = request.counter
        self.document = SummaryDocument()
        self.worth = worth_of(request.ledger.facts, request.previous, request.length)
        self.covered: set[str] = set(request.kept_names)
        self.taken: list[Line] = []
        self.left = request.budget - self.count(self.document.render())

    def run(self) -> Extract:
        lines, skipped_before = candidates(self.request)
        standing: dict[str, list[Line]] = {section: [] for section in _STANDING}
        log: list[Line] = []
        for line in lines:
            standing.get(line.section, log).append(line)
        for section, share in _STANDING.items():
            rest = self._fill(section, standing[section], int(self.request.budget * share))
            if section in _OVERFLOWING:
                log += rest
        log = self._choose_topic(self._choose_requests(log))
        remaining = self._greedy(log, int(self.left * (1 - _index_share(self.request.budget))))
        self._choose_names()
        remaining = self._greedy(remaining, self.left)
        skipped = skipped_before + sum(line.section == "Completed Actions" for line in remaining)
        self._write(skipped)
        tokens = self._trim()
        kept = sum(name in self.covered for name in self.worth)
        added = sum(line.origin == "rule" for line in self.taken) if self.request.written else 0
        return Extract(self.document, tokens, len(self.worth), kept, skipped, added)

    # -- choosing -----------------------------------------------------------------------------------------------------

    def _fill(self, section: str, lines: list[Line], cap: int) -> list[Line]:
        """The best lines of a standing section up to its cap; the first is cut, not left out. Returns the rest."""
        room = min(cap, self.left)
        faint_room = int(self.request.budget * FAINT_SHARE)
        chosen: list[Line] = []
        for line in sorted(lines, key=lambda line: (-line.rank, -line.order)):
            if chosen and len(line.text) > room * CHARS_PER_TOKEN:
                continue
            cost = self._cost(line.text)
            if cost > room and not chosen:
                line = replace(line, text=_cut_to(line.text, room, self._cost), names=None)
                cost = self._cost(line.text)
            if line.rank < FAINT and chosen:
                faint_room -= cost
                if faint_room < 0:
                    break
            if cost <= room and line.text:
                chosen.append(line)
                room -= cost
                self.left -= cost
        for line in chosen:
            self._take(line)
        taken = {line.order for line in chosen}
        return [line for line in lines if line.order not in taken]

    def _choose_requests(self, lines: list[Line]) -> list[Line]:
        """The user's own words before all other events, up to their share. Returns the others."""
        goal = "".join(line.text for line in self.taken if line.section == "Goal")
        said = ASKED + one_line(goal, 60).rstrip("…")
        lines = [line for line in lines if not goal or not line.text.startswith(said)]  # once is enough
        asked = [line for line in lines if line.text.startswith(ASKED)]
        rest = self._greedy(asked, int(self.left * REQUEST_SHARE))
        return rest + [line for line in lines if not line.text.startswith(ASKED)]

    def _choose_topic(self, lines: list[Line]) -> list[Line]:
        """The lines on the focus topic first, with a share of all that is left. Returns the others (spec: P3.6)."""
        topic = _words(self.request.focus_topic or "")
        if not topic:
            return lines
        on = [line for line in lines if _touches(line.text, topic)]
        rest = self._greedy(on, int(self.left * FOCUS_SHARE))
        return rest + [line for line in lines if not _touches(line.text, topic)]

    def _greedy(self, lines: list[Line], room: int) -> list[Line]:
        """Take lines by worth per token; a line's worth falls as others name what it names. Returns the rest.

        A line's length stands for its cost until it is taken: most never are.
        """
        heap = [(-self._gain(line) / (len(line.text) + 8), place) for place, line in enumerate(lines)]
        heapq.heapify(heap)
        rest: list[int] = []
        shortest = min((len(line.text) for line in lines), default=0)
        most = room * CHARS_PER_TOKEN  # characters of a line that may still fit; lower once one did not
        while heap and room > 8 and shortest <= most:
            stale, place = heapq.heappop(heap)
            line = lines[place]
            if len(line.text) > most:
                rest.append(place)
                continue
            fresh = -self._gain(line) / (len(line.text) + 8)
            if fresh > stale + 1e-9 and heap and fresh > heap[0][0]:
                heapq.heappush(heap, (fresh, place))
                continue
            cost = self._cost(line.text)
            if cost > room:
                rest.append(place)
                most = len(line.text) - 1
                continue
            room -= cost
            most = min(most, room * CHARS_PER_TOKEN)
            self.left -= cost
            self._take(line)
        rest += [place for _, place in heap]
        return [lines[place] for place in sorted(rest)]

    def _cost(self, text: str) -> int:
        """Tokens of a line as it is written, its mark and line break counted."""
        return self.count(item_text(text)) + 2

    def _gain(self, line: Line) -> float:
        if line.names is None:
            line.names = tuple(names_in(line.text))
        worth, covered = self.worth, self.covered
        gain = line.rank
        for name in line.names:
            if name not in covered:
                gain += worth.get(name, 0.0)
        return gain

    def _take(self, line: Line) -> None:
        self.taken.append(line)
        self.covered.update(names_in(line.text) if line.names is None else line.names)

    def _choose_names(self) -> None:
        """The names that no line has, by worth per token, under the labels that share their cost (the typed index)."""
        room = self.left - self.count(INDEX_TITLE) - 4
        open_names = [name for name in self.worth if name not in self.covered]
        if not open_names:
            return
        open_names.sort(key=lambda name: self.worth[name] / (len(name) + 6), reverse=True)
        labels = self._labels(open_names)
        sample = ", ".join(open_names[:400])
        per_char = self.count(sample) / len(sample)
        chosen: dict[str, list[str]] = {}
        for name in open_names:
            label = labels[name]
            cost = (len(name) + 2) * per_char
            if label not in chosen:
                cost += self.count(label) + 4
            if cost > room:
                if room < 6:
                    break
                continue
            room -= cost
            chosen.setdefault(label, []).append(name)
            self.covered.add(name)
        if chosen:
            self.left = int(room)
            self.document.index = chosen

    def _labels(self, names: list[str]) -> dict[str, str]:
        """A label for each name: its JSON key where several share it, else its kind."""
        facts, previous = self.request.ledger.facts, self.request.previous.index
        carried = {name: label for label, names in previous.items() for name in names}
        labels = {name: facts[name].label if name in facts else carried.get(name, "name") for name in names}
        counts: dict[str, int] = {}
        for label in labels.values():
            counts[label] = counts.get(label, 0) + 1
        return {
            name: label if counts[label] > 2 or name in carried else kind_of(name) or "name"
            for name, label in labels.items()
        }

    def _write(self, skipped: int) -> None:
        """What was taken, in the order of events, with a word on what is missing."""
        for line in sorted(self.taken, key=lambda line: line.order):
            self.document.sections[line.section].append(Item(line.text, line.sources, line.origin))
        if skipped:
            self.document.sections["Completed Actions"].insert(0, Item(f"(… {skipped:,} earlier steps are not listed)"))

    def _trim(self) -> int:
        """What was counted in pieces may be a little more as a whole: then the least of the names go, then lines.

        Returns the tokens of the whole.
        """
        document, log = self.document, self.document.sections["Completed Actions"]
        while (over := (tokens := self.count(document.render())) - self.request.budget) > 0:
            if document.index:
                label = max(document.index, key=lambda label: len(document.index[label]))
                names = document.index[label]
                del names[-min(len(names), 1 + over // 4) :]
                if not names:
                    del document.index[label]
            elif log:
                del log[-1]
            else:
                break
        return tokens


def _index_share(budget: int) -> float:
    small = max(0.0, 1 - budget / SMALL_BUDGET)
    return INDEX_SHARE + (SMALL_INDEX_SHARE - INDEX_SHARE) * small


def _cut_to(text: str, tokens: int, cost: Callable[[str], int]) -> str:
    """The front of a text that costs at most so much, with an ellipsis; "" where nothing would be left."""
    length, cut = len(text), text
    while length >= 8 and (asked := cost(cut)) > tokens:
        length = min(length * max(tokens, 1) // asked, length - 1)
        cut = text[:length].rstrip() + "…"
    return cut if length >= 8 else ""


def _words(topic: str) -> frozenset[str]:
    return frozenset(re.findall(r"[a-z0-9_]{3,}|[一-鿿]{2,}", topic.casefold()))


def _touches(text: str, topic: frozenset[str]) -> bool:
    low = text.casefold()
    return any(word in low for word in topic)
