"""Skill tools. The digest of a skill's text must not look like a loaded skill: it says that the text is gone, and how
to have it again.
"""

from .reading import Call
from .registry import digest_for
from .wording import one_line


@digest_for("skill_view")
def view(call: Call) -> str:
    name = one_line(call.need("name", "skill"))
    inner = call.text("file_path")
    part = f" file={one_line(inner)}" if inner else ""
    return f"name={name}{part} ({call.size}, body removed; call {call.name} again to reload)"


@digest_for("skills_list")
def skills_list(call: Call) -> str:
    category = call.text("category")
    return f"listed {f'category {one_line(category)}' if category else 'all skills'} ({call.size} result)"


@digest_for("skill_manage")
def manage(call: Call) -> str:
    return f"{one_line(call.need('action'), 40)} {one_line(call.need('name', 'skill'))} ({call.size} result)"
