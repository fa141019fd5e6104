"""New nodes: leaves of what leaves the context, nodes of nodes where there are too many, and second tries.

Each is committed by itself, and what somebody else made meanwhile is taken over: a pass may end anywhere.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from abridged.archive.nodes import Node, Nodes
from abridged.budget import Budget, Settings
from abridged.conversation.measure import TokenMemo
from abridged.conversation.roles import is_tool_result
from abridged.conversation.text import Message
from abridged.engines.lcm.writing import Writer, leaf_target

NODES_SHARE = 0.25
"""Of the threshold, the most that all nodes in a context may take."""
CHUNK_SHARE, MOST_CHUNK = 0.25, 20_000
"""Of the threshold, and tokens: how much one leaf is of at most, unless one group is longer."""
FAN_IN, LEAST_FAN_IN = 4, 2
CONDENSED_SHARE = 0.4
"""Of its children's tokens, what a condensed node should take."""
LARGEST_NODE = 0.33
"""Of the room of all nodes, the most for one of them."""


@dataclass(slots=True)
class Growth:
    """Of one session, in one pass. `scale`: real tokens per estimated one."""

    nodes: Nodes
    writer: Writer
    settings: Settings
    budget: Budget
    tokens: TokenMemo
    scale: float = 1.0

    def retry(self) -> bool:
        """Have written what could not be written last time; whether any was."""
        rewritten = False
        for node in self.nodes.roots() if not self.writer.ladder.empty else ():
            if not node.fallback or self.writer.failed or self.writer.cancel.cancelled:
                continue
            children = self.nodes.children(node.number)
            if children:
                text = self.writer.of_nodes(children, self._condensed_target(children))
            else:
                places = self.nodes.places(node.number)
                target = leaf_target(self.settings, node.source_tokens)
                text = self.writer.of_messages(self._said(places), places, target)
            if not text.fallback:
                self.nodes.rewrite(node.number, text)
                rewritten = True
        return rewritten

    def leaves(self, leaving: list[int]) -> None:
        """A leaf of each chunk; what somebody else made meanwhile is taken over."""
        chunk = max(500, min(MOST_CHUNK, int(self.budget.threshold_tokens * CHUNK_SHARE)))
        for places in self._chunks(leaving, chunk):
            if self.writer.cancel.cancelled:
                return
            messages = self._said(places)
            tokens = sum(map(self.tokens, messages))
            text = self.writer.of_messages(messages, places, leaf_target(self.settings, tokens))
            if self.nodes.add_leaf(text, places) is None:
                covered = self.nodes.covered()
                left = [place for place in places if place not in covered]
                if left and left != places:
                    self.leaves(left)

    def _chunks(self, leaving: list[int], most: int) -> list[list[int]]:
        """Runs of places of at most so many tokens, never between a call and its results, never with a gap."""
        chunks: list[list[int]] = []
        used = 0
        for group in self._groups(leaving):
            cost = sum(map(self.tokens, self._said(group)))
            if not chunks or used + cost > most or group[0] != chunks[-1][-1] + 1:
                chunks.append([])
                used = 0
            chunks[-1] += group
            used += cost
        return chunks

    def _groups(self, places: list[int]) -> list[list[int]]:
        groups: list[list[int]] = []
        for place, message in zip(places, self._said(places), strict=True):
            if groups and is_tool_result(message) and groups[-1][-1] == place - 1:
                groups[-1].append(place)
            else:
                groups.append([place])
        return groups

    def _said(self, places: list[int]) -> list[Message]:
        """The messages at these places, as they were said."""
        if not places:
            return []
        first = places[0]
        messages = self.nodes.archive.transcript(self.nodes.session, first, places[-1] + 1)
        return [messages[place - first] for place in places]

    def condense(self, shown: list[Node]) -> bool:
        """Make one node of the oldest neighbours of the least depth, of any depths in need; whether some could be."""
        if self.writer.cancel.cancelled:
            return False
        for fan_in, of_one_depth in ((FAN_IN, True), (LEAST_FAN_IN, True), (LEAST_FAN_IN, False)):
            runs = [shown[n : n + fan_in] for n in range(len(shown) - fan_in + 1)]
            able = [run for run in runs if not any(one.fallback for one in run)]
            able = [run for run in able if not of_one_depth or len({one.depth for one in run}) == 1]
            if not able:
                continue
            run = min(able, key=lambda run: (run[0].depth, run[0].first))
            text = self.writer.of_nodes(run, self._condensed_target(run))
            number = self.nodes.add_condensed(text, run)
            node = self.nodes.get(number) if number is not None else None
            if node is None:  # somebody else did it meanwhile
                numbers = {one.number for one in self.nodes.roots()}
                if all(one.number in numbers for one in shown):
                    return False
                shown[:] = [one for one in self.nodes.roots() if one.first <= shown[-1].last]
                return True
            at = shown.index(run[0])
            shown[at : at + fan_in] = [node]
            return True
        return False

    def _condensed_target(self, children: Sequence[Node]) -> int:
        """Tokens; small enough that some nodes have room beside it."""
        most = int(self.budget.threshold_tokens * NODES_SHARE * LARGEST_NODE / self.scale)
        return max(100, min(most, int(sum(child.tokens for child in children) * CONDENSED_SHARE)))
