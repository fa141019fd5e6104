"""Conversations of any length with a known fact of every kind in each turn; a seed always gives the same one.

A turn is four messages: a request (ticket, rule), a call (path, key), its result with an error code in the middle, and
a decision. Results take turns in three shapes, since logs, listings and JSON do not cost the same.
"""

import json
import random
from collections.abc import Callable
from dataclasses import dataclass

from abridged.testing import Message, assistant, call, result, user

RESULT_CHARS = 2_400
"""About so many characters has each result."""
SYSTEM = "You maintain a warehouse application. Work through the tickets one by one and say what you decide."
WORDS = (
    "anchor basket bridge candle carton chart clerk copper corner crane daily depot drawer early engine extra filter "
    "forklift garden gentle handle harbour invoice kettle ladder label late lorry margin meadow merge mirror narrow "
    "number office order packing pallet paper parcel pencil picker plain pocket quick quiet ramp receipt refund remote "
    "return river round sample scale scanner second shelf shift silver simple sorted spare stack station stock string "
    "supply table ticket timber transit truck upper urgent vendor wagon weekly weight window winter yard yellow zone"
).split()
RULES = (
    "Never change the columns of {word} without a migration.",
    "Always keep the old {word} endpoint alive.",
    "Use integers for every {word} amount.",
    "Do not log the names of {word} customers.",
)
DECISIONS = (
    "I decided to keep {path} as it is and to retry {code} once.",
    "We will move the check for {code} out of {path}.",
    "Decision: {path} returns early when {code} shows up.",
)


@dataclass(frozen=True, slots=True)
class Facts:
    """What was planted in one turn."""

    ticket: str
    rule: str
    path: str
    key: str
    code: str


def conversation(turns: int, seed: int = 0) -> tuple[list[Message], list[Facts]]:
    """`4 * turns + 1` messages, the system prompt first, and what stands in each turn."""
    dice = random.Random(seed)
    messages: list[Message] = [{"role": "system", "content": SYSTEM}]
    planted: list[Facts] = []
    for turn in range(turns):
        facts = _facts(dice, turn)
        planted.append(facts)
        messages += _turn(dice, turn, facts)
    return messages, planted


def _facts(dice: random.Random, turn: int) -> Facts:
    word, other = dice.choices(WORDS, k=2)
    return Facts(
        ticket=f"WH-{10_000 + turn * 7}",
        rule=dice.choice(RULES).format(word=f"{word}_{turn}"),
        path=f"src/{word}/{other}_{turn}.py",
        key=f"k{turn}-{dice.randrange(16**6):06x}",
        code=f"E{turn}-{dice.randint(100, 999)}",
    )


def _turn(dice: random.Random, turn: int, facts: Facts) -> list[Message]:
    lines = _filler(dice, SHAPES[turn % len(SHAPES)])
    lines.insert(len(lines) // 2, f"the step for {facts.key} ended with {facts.code}")
    call_id = f"call_{turn}"
    decision = dice.choice(DECISIONS).format(path=facts.path, code=facts.code)
    return [
        user(f"Please look into {facts.ticket}: {' '.join(dice.choices(WORDS, k=8))}. {facts.rule}"),
        assistant(f"I look at {facts.path}.", call(call_id, "check_module", path=facts.path, key=facts.key)),
        result(call_id, "\n".join(lines)),
        assistant(decision),
    ]


def _filler(dice: random.Random, shape: Callable[[random.Random], str]) -> list[str]:
    lines: list[str] = []
    size = 0
    while size < RESULT_CHARS:
        lines.append(shape(dice))
        size += len(lines[-1]) + 1
    return lines


def _log(dice: random.Random) -> str:
    hour, minute, second = dice.randrange(24), dice.randrange(60), dice.randrange(60)
    words = " ".join(dice.choices(WORDS, k=6))
    return f"{hour:02}:{minute:02}:{second:02} INFO {dice.choice(WORDS)}: {words} in {dice.randrange(2_000)} ms"


def _listing(dice: random.Random) -> str:
    folder, name, verb, thing = dice.choices(WORDS, k=4)
    return f"src/{folder}/{name}.py:{dice.randint(1, 400)}:    {thing} = {verb}_{thing}({folder}, {name}.{thing})"


def _record(dice: random.Random) -> str:
    name, place = dice.choices(WORDS, k=2)
    number = dice.randrange(1_000_000)
    return json.dumps({"sku": f"{name.upper()[:3]}{number:06}", "place": place, "count": number % 97})


SHAPES = (_log, _listing, _record)
