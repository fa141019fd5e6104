"""Tools by which an agent keeps its own plan, memory and schedule, and ends its work."""

from .reading import Call
from .registry import digest_for
from .wording import TARGET_CHARS, one_line, value_text

_DONE = frozenset({"completed", "done"})
_CURRENT = frozenset({"in_progress", "active"})


@digest_for("todo", "TodoWrite", "todowrite", "write_todos", "update_plan")
def plan(call: Call) -> str:
    items = call.objects("todos", "plan")
    if not items:
        return f"read the list ({call.size} result)"
    done = sum(value_text(item.get("status")) in _DONE for item in items)
    current = [item for item in items if value_text(item.get("status")) in _CURRENT]
    names = [
        value_text(item[key]) for item in current[:1] for key in ("content", "step", "description") if item.get(key)
    ]
    now = f", now: '{one_line(names[0])}'" if names else ""
    return f"{len(items):,} items, {done:,} completed{now}"


@digest_for("memory")
def memory(call: Call) -> str:
    return f"{one_line(call.need('action'), 40)} on {one_line(call.text('target', 'key', default='memory'))}"


@digest_for("save_memory")
def remember(call: Call) -> str:
    return f"store '{one_line(call.need('fact'), TARGET_CHARS)}'"


@digest_for("cronjob")
def cronjob(call: Call) -> str:
    said = [one_line(call.need("action"), 40), *(one_line(call.text(key)) for key in ("name", "job_id", "schedule"))]
    return f"{' '.join(filter(None, said))} ({call.size} result)"


@digest_for("think")
def think(call: Call) -> str:
    return f"'{one_line(call.need('thought'), TARGET_CHARS)}'"


@digest_for("finish", "submit")
def finish(call: Call) -> str:
    message = call.text("message")
    return f"'{one_line(message, TARGET_CHARS)}'" if message else f"work handed in ({call.size} result)"
