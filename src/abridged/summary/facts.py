"""Names and values that occurred: who used them, and what each is worth to somebody who goes on working."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from abridged.summary.document import SummaryDocument
from abridged.summary.identifiers import labels_in, shape_of
from abridged.summary.template import SECTIONS
from abridged.summary.words import names_in

Who = Literal["user", "argument", "assistant", "result"]

_KIND_WORTH = {"path": 0.6, "code": 0.8, "id": 0.6, "url": 0.4, "email": 0.4, "hash": 0.4, "date": 0.2}
"""What a name gains by its kind."""
_KIND_FACTOR = {"number": 0.4, "time": 0.7}
"""Kinds that are plenty and seldom asked for again."""
CARRIED_WORTH = 3.5
"""What the first name of the previous summary's index is worth; the last one three fifths of it."""
CROWD = 12
"""From so many names of one shape in one result on, each is a row of a listing and worth less."""
SHAPE_WORTH = 1.5
"""What a name gains when names of its shape were used as arguments: calls take the like again."""
LABEL_WORTH = 1.5
"""The same for names that stood under a key under which arguments stood."""


@dataclass(slots=True)
class Fact:
    """A name or value, and how it was used."""

    label: str
    """The JSON key it stood under, else its kind."""
    kind: str
    shape: str
    user: int = 0
    argument: int = 0
    assistant: int = 0
    result: int = 0
    last: int = 0
    """Index of the newest message that names it."""
    crowd: int = 0
    """How many names of its shape stood in the one result that has the fewest: a row of a listing says little."""


class Facts(dict[str, Fact]):
    """All names of a range of messages, in the order in which they came up."""

    def note(
        self, names: Mapping[str, str], who: Who, index: int, text: str, labels: Mapping[str, str] | None = None
    ) -> None:
        """`who` named these (name -> kind) in the message at `index`. `labels`: their keys, else read from `text`."""
        for name, kind in names.items():
            fact = self.get(name)
            if fact is None:
                labels = labels_in(text) if labels is None else labels
                fact = self[name] = Fact(labels.get(name, kind), kind, shape_of(name))
            setattr(fact, who, getattr(fact, who) + 1)
            fact.last = index

    def note_crowd(self, names: Iterable[str]) -> None:
        """These stood together in one result."""
        found = [self[name] for name in names]
        shapes = Counter(fact.shape for fact in found)
        for fact in found:
            crowd = shapes[fact.shape]
            fact.crowd = min(fact.crowd, crowd) if fact.crowd else crowd


def worth_of(facts: Facts, previous: SummaryDocument, length: int) -> dict[str, float]:
    """What each name is worth: who used it, how often, how recently (of `length` messages), and of what kind it is."""
    used_shapes = Counter(fact.shape for fact in facts.values() if fact.argument)
    used_labels = Counter(fact.label for fact in facts.values() if fact.argument)
    worth = {
        name: _worth(fact, used_shapes[fact.shape], used_labels[fact.label], fact.last / max(1, length))
        for name, fact in facts.items()
    }
    for names in previous.index.values():
        for place, name in enumerate(names):
            carried = CARRIED_WORTH * (1 - 0.4 * place / max(1, len(names)))
            worth[name] = max(worth.get(name, 0.0), carried)
    for section in SECTIONS:
        for item in previous.sections[section]:
            for name in names_in(item.text):
                worth[name] = max(worth.get(name, 0.0), CARRIED_WORTH * 0.8)
    return {name: value for name, value in worth.items() if value > 0}


def _worth(fact: Fact, shape_uses: int, label_uses: int, recency: float) -> float:
    uses = fact.user + fact.argument + fact.assistant + fact.result
    value = (
        0.4
        + (2.0 + math.log1p(fact.argument) if fact.argument else 0.0)
        + (1.5 if fact.user else 0.0)
        + (0.8 if fact.assistant else 0.0)
        + 0.5 * math.log1p(uses)
        + 0.8 * recency**2
        + SHAPE_WORTH * min(1.0, math.log1p(shape_uses) / 2)
        + LABEL_WORTH * min(1.0, math.log1p(label_uses) / 2)
        + _KIND_WORTH.get(fact.kind, 0.0)
    )
    merely_shown = uses == fact.result
    if merely_shown and fact.crowd > CROWD:
        value *= math.sqrt(CROWD / fact.crowd)
    return value * _KIND_FACTOR.get(fact.kind, 1.0)
