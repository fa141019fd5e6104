"""Does a rule that the user gave once survive? Planted at the start, middle and end of real sessions, in two languages.

    python -m bench.constraints [--passes 5] [--window 32000]

Each wording stands once, alone in a user message or inside an existing one. Between passes new turns of the session
are added. Counted is whether the words stand verbatim in what is left.
"""

import argparse
from collections import Counter

from abridged import ContextCompressor
from bench.real_sessions import Messages, all_text, parts, sessions
from bench.writers import WRITERS

WORDINGS = (
    "Do not use pandas.", "From now on answer in French.", "Never touch the billing schema.",
    "Only use the standard library, nothing else.", "Always run the linter before you commit.",
    "We must stay compatible with Python 3.8.", "I prefer tabs over spaces in this project.",
    "Under no circumstances push to main.", "Make sure that every function has a docstring.",
    "Keep all answers below one hundred words.",
    "不要改动数据库结构。", "从现在起用法语回答。", "禁止使用 pandas。", "只能用标准库。", "每次提交前必须运行测试。",
    "请始终用中文回答。", "不得修改 config.yaml。", "回答尽量简短。", "务必保持向后兼容。", "代码注释一律用英文。",
)  # fmt: skip
PLACES = {"start": 0.02, "middle": 0.5, "end": 0.95}


def plant(messages: Messages, wording: str, share: float, *, alone: bool) -> Messages | None:
    """The session with the wording in it; `None` where there is no place."""
    users = [
        i for i, message in enumerate(messages) if message["role"] == "user" and isinstance(message["content"], str)
    ]
    at = next((i for i in users if i >= int(len(messages) * share)), users[-1] if users else None)
    if at is None:
        return None
    planted = list(messages)
    if alone:
        planted.insert(at, {"role": "user", "content": wording})
    else:
        planted[at] = {**planted[at], "content": f"{planted[at]['content']}\n{wording}"}
    return planted


def survives(messages: Messages, wording: str, passes: int, window: int, writer: str = "none") -> tuple[bool, bool]:
    """Whether the wording stands verbatim after the first, and after all passes with new turns between."""
    first, *more = parts(messages, [1.0 - 0.1 * (passes - 1) + 0.1 * n for n in range(passes - 1)])
    if wording not in all_text(first):  # planted behind the first cut: all of it is the first pass
        first, more = messages, [parts(messages, [0.02, 0.12])[1]] * (passes - 1)
    kept: Messages = []
    alive: list[bool] = []
    for new in [first, *more]:
        kept = ContextCompressor(window, summarizer=WRITERS[writer]()).compress([*kept, *new], force=True)
        alive.append(wording in all_text(kept))
    return alive[0], alive[-1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--passes", type=int, nargs="*", default=[1, 5])
    parser.add_argument("--window", type=int, default=32_000)
    parser.add_argument("--minimum", type=int, default=5_000, help="tokens of the smallest session")
    parser.add_argument("--misses", action="store_true", help="print what was lost")
    parser.add_argument("--writer", choices=WRITERS, default="none", help="who writes the summaries")
    given = parser.parse_args()
    for passes in given.passes:
        kept: Counter[str] = Counter()
        asked: Counter[str] = Counter()
        for number, (name, messages) in enumerate(sessions(given.minimum)):
            for place, share in PLACES.items():
                for index, wording in enumerate(WORDINGS):
                    planted = plant(messages, wording, share, alone=(number + index) % 2 == 0)
                    if planted is None:
                        continue
                    at_first, alive = survives(planted, wording, passes, given.window, given.writer)
                    language = "english" if wording.isascii() else "chinese"
                    for group in (place, language, "all"):
                        asked[group] += 1
                        kept[group] += alive
                    asked["kept by the first pass"] += at_first
                    kept["kept by the first pass"] += at_first and alive
                    if given.misses and not alive:
                        print(f"  lost: {name} {place} {wording}")
        shares = " | ".join(f"{group} {kept[group] / asked[group]:.1%} of {asked[group]}" for group in asked)
        print(f"constraints passes {passes} window {given.window} writer {given.writer} | {shares}", flush=True)


if __name__ == "__main__":
    main()
