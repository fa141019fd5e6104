"""Tools by which an agent turns to somebody else: a helper, the user, a channel."""

from .reading import Call
from .registry import digest_for
from .wording import TARGET_CHARS, one_line


@digest_for("delegate_task", "Task", "task")
def delegate(call: Call) -> str:
    goals = [one_line(str(task.get("goal", "")), TARGET_CHARS) for task in call.objects("tasks")]
    goal = goals[0] if goals else one_line(call.need("goal", "description", "prompt"), TARGET_CHARS)
    more = f" (+{len(goals) - 1} more)" if len(goals) > 1 else ""
    return f"'{goal}'{more} ({call.size} result)"


@digest_for("clarify")
def clarify(call: Call) -> str:
    """The user's answer is what counts later, so it is part of the line."""
    answer = call.answer("user_response", "answer", "response") or ("" if call.payload else call.result)
    return f"asked '{one_line(call.need('question'), 100)}' -> '{one_line(answer, 100)}'"


@digest_for("send_message")
def message(call: Call) -> str:
    to = one_line(call.text("target", "to", "channel", default="default channel"))
    text = call.text("message", "text")
    return f"to {to}: '{one_line(text)}'" if text else f"{one_line(call.need('action'), 40)} ({call.size} result)"
