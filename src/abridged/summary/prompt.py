"""What a summariser is asked: write a checkpoint for another assistant; answer nothing (spec: P3.1-P3.6).

The wording lies in `prompts/<version>`: a change of it is a new version, and a report says which one was used.
"""

import hashlib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from string import Template

PROMPT_VERSION = "v1"


def instructions() -> str:
    """Who the summariser is and what its answer looks like: the same in every request."""
    return _wording("instructions")


def record(
    turns: str,
    *,
    budget_tokens: int,
    previous: str = "",
    focus_topic: str | None = None,
    newest: Sequence[str] = (),
) -> str:
    """The turns and the task. All texts are without secrets.

    `budget_tokens`: the target size. `previous`: the checkpoint so far. `focus_topic`: what the user asked to keep in
    detail; where there is none, `newest`, the user's last requests, says what matters most.
    """
    parts = [fenced("EARLIER CHECKPOINT", previous)] if previous else []
    parts.append(fenced("NEW TURNS" if previous else "TURNS", turns))
    parts.append(Template(_wording("update" if previous else "first")).substitute(budget=budget_tokens))
    if focus_topic:
        parts += [_wording("topic"), fenced("TOPIC", focus_topic)]
    elif newest:
        parts += [_wording("newest"), fenced("NEWEST REQUESTS", "\n".join(newest))]
    return "\n\n".join(parts)


def fenced(label: str, text: str) -> str:
    """A text between fences that its own content cannot close: their mark is made from the content (spec: P3.12)."""
    mark = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return f"<<<{label} {mark}\n{text}\n{label} {mark}>>>"


@cache
def _wording(name: str) -> str:
    path = files("abridged.summary") / "prompts" / PROMPT_VERSION / f"{name}.txt"
    return path.read_text(encoding="utf-8").strip()
