"""Conversations of any length with a known fact of each kind in every turn; a seed always gives the same one.

A turn is four messages: a request (ticket, rule), a call (path, key), its result with an error code in the middle, and
a decision. What fills the result decides what a compression costs: `plain` is words alone, `dense` has names and
numbers on every line, as logs, listings and JSON have.
"""

import json
import random
from collections.abc import Callable

from abridged.testing import Message, assistant, call, result, user

RESULT_CHARS = 2_400
"""About so many characters has each result."""
SYSTEM = "You maintain a warehouse application. Work through the tickets one by one and say what you decide."
WORDS = tuple(
    (  # noqa: SIM905
        "anchor basket bridge candle carton chart clerk copper corner crane daily depot drawer early engine extra "
        "filter forklift garden gentle handle harbour invoice kettle ladder label late lorry margin meadow merge "
        "mirror narrow number office order packing pallet paper parcel pencil picker plain pocket quick quiet ramp "
        "receipt refund remote return river round sample scale scanner second shelf shift silver simple sorted spare "
        "stack station stock string supply table timber transit truck upper urgent vendor wagon weekly weight yard"
    ).split()
)
RULES = (
    "Never change the columns of {word} without a migration.",
    "Always keep the old {word} endpoint alive.",
    "Use integers for every {word} amount.",
    "Do not log the names of {word} customers.",
)
DECISIONS = (
    "I decided to leave {path} as it is and to retry {code} once.",
    "We will move the check for {code} out of {path}.",
    "Decision: {path} returns early when {code} shows up.",
)


def conversation(turns: int, *, filler: str = "plain", seed: int = 0) -> list[Message]:
    """`4 * turns + 1` messages, the system prompt first."""
    dice = random.Random(seed)
    messages: list[Message] = [{"role": "system", "content": SYSTEM}]
    for turn in range(turns):
        messages += _turn(dice, turn, FILLERS[filler])
    return messages


Shape = Callable[[random.Random], str]
"""Makes one line of a result."""


def _turn(dice: random.Random, turn: int, shapes: tuple[Shape, ...]) -> list[Message]:
    folder, name, thing = dice.choices(WORDS, k=3)
    path, key, code = (
        f"src/{folder}/{name}_{turn}.py",
        f"k{turn}-{dice.randrange(10**6)}",
        f"E{turn}-{dice.randrange(999)}",
    )
    rule = dice.choice(RULES).format(word=f"{thing}_{turn}")
    lines = _lines(dice, shapes[turn % len(shapes)])
    lines.insert(len(lines) // 2, f"the step for {thing} ended with {code}")
    return [
        user(f"Please look into WH-{10_000 + turn * 7}: {' '.join(dice.choices(WORDS, k=8))}. {rule}"),
        assistant(f"I look at {path}.", call(f"call_{turn}", "check_module", path=path, key=key)),
        result(f"call_{turn}", "\n".join(lines)),
        assistant(dice.choice(DECISIONS).format(path=path, code=code)),
    ]


def _lines(dice: random.Random, shape: Shape) -> list[str]:
    lines: list[str] = []
    size = 0
    while size < RESULT_CHARS:
        lines.append(shape(dice))
        size += len(lines[-1]) + 1
    return lines


def _words(dice: random.Random) -> str:
    return " ".join(dice.choices(WORDS, k=12))


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


FILLERS: dict[str, tuple[Shape, ...]] = {"plain": (_words,), "dense": (_log, _listing, _record)}
