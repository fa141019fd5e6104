"""Whether what was said is found again: questions made by rule from recorded sessions.

python -m bench.recall [--questions 200] [--seed 1] [--messages 100000]

Each asks for one id, path, value or error by what stands beside it, once in the words of the session and once with
synonyms in their place. It is answered when one of the first five passages holds the answer, letter for letter.
Weights were chosen on the even sessions and are judged on the odd ones. With `--messages` the time of a look into a
session of that length is measured as well.
"""

import argparse
import random
import re
import tempfile
import time
from collections import Counter
from dataclasses import dataclass

from abridged.archive import Archive
from abridged.archive.recall import Recall
from abridged.conversation.measure import replayed_text
from abridged.summary.identifiers import labels_in, names_in_word
from bench.planted import conversation
from bench.real_sessions import sessions

SYNONYMS = {
    "order": "purchase", "user": "customer", "address": "location", "error": "failure", "failed": "broke",
    "file": "document", "create": "make", "created": "made", "get": "fetch", "find": "locate", "status": "state",
    "price": "cost", "payment": "billing", "product": "article", "item": "article", "items": "articles",
    "return": "give back", "cancel": "call off", "cancelled": "called off", "change": "modify", "changed": "modified",
    "flight": "plane trip", "reservation": "booking", "book": "reserve", "passenger": "traveller", "city": "town",
    "country": "nation", "name": "title", "first": "initial", "last": "final", "email": "mail", "phone": "telephone",
    "test": "check", "tests": "checks", "run": "execute", "line": "row", "lines": "rows", "code": "program",
    "function": "routine", "class": "type", "value": "number", "number": "count", "list": "enumeration",
    "delivered": "shipped", "pending": "waiting", "available": "free", "method": "way", "details": "particulars",
    "message": "note", "output": "result", "import": "load", "path": "route", "folder": "directory",
    "time": "hour", "date": "day", "amount": "sum", "total": "sum", "small": "little", "large": "big", "old": "former",
    "new": "recent", "open": "start", "close": "shut", "search": "look up", "read": "view", "write": "put",
    "card": "plastic", "gift": "present", "color": "shade", "size": "extent", "material": "fabric",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Question:
    session: str
    answer: str
    exact: str
    paraphrase: str


def words_around(text: str, at: int, answer: str) -> list[str]:
    """Words and names near a place, without the answer itself."""
    near = text[max(0, at - 220) : at + len(answer) + 220].replace(answer, " ")
    return [word.strip("\"'.,:;(){}[]") for word in re.split(r"[\s\"',:{}\[\]()=]+", near)[1:-1]]


def questions(name: str, messages: list, dice: random.Random, most: int) -> list[Question]:
    """Of one session: facts that stand in at most two of its messages."""
    texts = [replayed_text(message) for message in messages]
    seen = Counter(value for text in texts for value in set(re.findall(r"\S+", text)))
    made: list[Question] = []
    places = [place for place, message in enumerate(messages) if message["role"] == "tool" and len(texts[place]) > 120]
    dice.shuffle(places)
    for place in places:
        text = texts[place]
        labels = labels_in(text)
        facts = [(value, key) for value, key in labels.items()]
        facts += [(value, kind) for word in text.split() for value, kind in names_in_word(word) if value not in labels]
        facts = [(value, key) for value, key in facts if len(value) > 4 and sum(value in other for other in texts) <= 2]
        if not facts:
            continue
        answer, key = dice.choice(facts)
        context = [word for word in dict.fromkeys(words_around(text, text.find(answer), answer)) if len(word) > 2]
        plain = [word for word in context if word.isalpha()]
        rare = sorted((word for word in context if not word.isdigit()), key=lambda word: seen[word])[:3]
        asked = list(dict.fromkeys([*rare, *dice.sample(plain, min(4, len(plain)))]))
        if len(asked) < 3:
            continue
        if sum(all(word in other for word in asked) for other in texts) > 2:
            continue  # nobody could tell which one is meant
        exact = f"which {key.replace('_', ' ')} was said when {' '.join(asked)}"
        other = [SYNONYMS.get(word.lower(), word) for word in exact.split()]
        made.append(Question(name, answer, exact, " ".join(other)))
        if len(made) == most:
            break
    return made


def judged(archive: Archive, asked: list[Question]) -> tuple[float, float, list[float]]:
    """Shares answered in the first five, exact and paraphrased, and the seconds of each look."""
    recall, taken = Recall(archive), list[float]()
    right = [0, 0]
    for question in asked:
        for way, text in enumerate((question.exact, question.paraphrase)):
            started = time.perf_counter()
            found = recall.find(text, question.session)
            taken.append(time.perf_counter() - started)
            right[way] += any(question.answer in one.text for one in found)
    return right[0] / len(asked), right[1] / len(asked), sorted(taken)


def speed(count: int, dice: random.Random) -> None:
    """Seconds of a look into a long session of planted facts, in a file."""
    with tempfile.TemporaryDirectory() as folder, Archive(f"{folder}/a.db") as archive:
        archive.start("s")
        archive.append("s", conversation(count // 4, seed=5))
        recall, taken = Recall(archive), list[float]()
        started = time.perf_counter()
        recall.find("harbour", "s")
        print(f"caught up with {count:,} messages in {time.perf_counter() - started:.1f} s")
        for _ in range(300):
            n = dice.randrange(count // 4)
            asked = dice.choice(
                (f"which ticket WH-{10_000 + 7 * n}", f"error E{n}", f"k{n}", "harbour truck refund what was decided",
                 "paper transit", "which column may never be changed")
            )  # fmt: skip
            started = time.perf_counter()
            recall.find(asked, "s")
            taken.append(time.perf_counter() - started)
        taken.sort()
        print(f"a look: median {1_000 * taken[150]:.1f} ms, p95 {1_000 * taken[285]:.1f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--messages", type=int, default=0)
    given = parser.parse_args()
    dice = random.Random(given.seed)
    taken = [(name, messages) for name, messages in sessions() if len(messages) >= 20]
    halves: tuple[list[Question], list[Question]] = ([], [])
    with Archive() as archive:
        for at, (name, messages) in enumerate(taken):
            archive.start(name)
            archive.append(name, messages)
            halves[at % 2].extend(questions(name, messages, dice, -(-2 * given.questions // len(taken)) + 4))
        for half, title in zip(halves, ("chosen on", "judged on"), strict=True):
            dice.shuffle(half)
            asked = half[: given.questions]
            changed = sum(question.exact != question.paraphrase for question in asked)
            exact, paraphrase, spent = judged(archive, asked)
            print(
                f"{title}: {len(asked)} questions, {changed} of them paraphrased; in the first five: "
                f"exact {100 * exact:.1f} %, paraphrase {100 * paraphrase:.1f} %; "
                f"median {1_000 * spent[len(spent) // 2]:.1f} ms"
            )
    if given.messages:
        speed(given.messages, dice)


if __name__ == "__main__":
    main()
