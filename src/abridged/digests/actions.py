"""What a call did, for the summary's ledger: its kind, its target, how it ended.

The kind comes from the tool's name where the tool is known, else from the names of its arguments: foreign tools differ
in name far more than in what they call a command, a path or a query.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from .outcome import exit_code_in, failure_of
from .reading import COMMAND_KEYS, PATH_KEYS, PATTERN_KEYS, Call

ActionKind = Literal["run", "read", "write", "search", "fetch", "plan", "other"]

_URL_KEYS = ("url", "urls", "uri")
_PLAN_KEYS = ("todos", "plan")
_CONTENT_KEYS = (
    "content", "new_str", "new_string", "edits", "patch", "file_text", "diff", "new_source", "insert_line", "replace",
)  # fmt: skip
_MEANS_WRITING = re.compile(r"write|edit|create|delete|remove|move|rename|append|insert|replace|patch", re.IGNORECASE)

_TOOLS: dict[ActionKind, str] = {
    "run": "terminal process execute_code Bash bash shell shell_command exec_command local_shell execute_bash"
    " execute_ipython_cell run_shell_command",
    "read": "read_file Read read open read_many_files list_directory LS ls goto scroll_up scroll_down",
    "write": "write_file patch Write write Edit edit MultiEdit NotebookEdit apply_patch create insert replace",
    "search": "search_files Glob glob Grep grep search_file search_dir find_file search_file_content web_search"
    " WebSearch google_web_search session_search",
    "fetch": "web_extract browser_navigate WebFetch webfetch web_fetch fetch",
    "plan": "todo TodoWrite todowrite update_plan write_todos",
    "other": "browser_click browser_type browser_scroll browser_snapshot browser_vision vision_analyze image_generate"
    " text_to_speech delegate_task memory clarify cronjob send_message skill_view skills_list skill_manage Task task"
    " browser think finish submit save_memory",
}
_KIND_OF_TOOL: dict[str, ActionKind] = {name: kind for kind, names in _TOOLS.items() for name in names.split()}
_EDITORS = frozenset({"str_replace_editor", "str_replace_based_edit_tool"})


@dataclass(frozen=True, slots=True)
class Action:
    """What one call did.

    `target` is the command, path, query or URL, in full ("" if there is none); `others` are further targets of the
    same call (a patch over several files). `exit_code` is None where none was stated, `failed` where nothing tells.
    (spec: P3.9)
    """

    kind: ActionKind
    target: str
    exit_code: int | None
    failed: bool | None
    others: tuple[str, ...] = ()


def action_of(name: str | None, arguments: object, result: str) -> Action:
    """Return what a call did, from its name, its arguments (of any type) and its result's text. Never raises."""
    return action_of_call(Call.read(name, arguments, result))


def action_of_call(call: Call) -> Action:
    """Like `action_of`, for a call that was read already."""
    kind = _kind_of(call)
    # Only a program's output may state an exit code in plain words: a file that was read may speak of one as well.
    exit_code = call.exit_code if kind == "run" else exit_code_in(call.payload)
    try:
        targets = _TARGETS[kind](call)
    except ValueError:  # an object where a path should stand, a number too long to write
        targets = []
    failed = failure_of(call.result, call.payload, exit_code)
    return Action(kind, targets[0] if targets else "", exit_code, failed, tuple(targets[1:]))


def _kind_of(call: Call) -> ActionKind:
    kind = _KIND_OF_TOOL.get(call.tool)
    if kind is None:
        kind = _kind_of_editor(call) if call.tool in _EDITORS else _kind_by_arguments(call)
    return "write" if kind == "run" and _is_patch_command(call) else kind


def _kind_of_editor(call: Call) -> ActionKind:
    return "read" if call.value("command") == "view" else "write"


def _kind_by_arguments(call: Call) -> ActionKind:
    given: Mapping[str, object] = call.arguments

    def has(keys: tuple[str, ...]) -> bool:
        return any(given.get(key) for key in keys)

    if has(COMMAND_KEYS):
        return "run"
    by_path = has(PATH_KEYS)
    if has(("patch",)) or (by_path and (has(_CONTENT_KEYS) or _MEANS_WRITING.search(call.tool))):
        return "write"
    if has(_URL_KEYS):
        return "fetch"
    if has(("query", "pattern", "regex", "search_term")):
        return "search"
    if by_path:
        return "read"
    return "plan" if has(_PLAN_KEYS) else "other"


def _is_patch_command(call: Call) -> bool:
    command = call.value(*COMMAND_KEYS)
    text = " ".join(call.texts(*COMMAND_KEYS)) if isinstance(command, list) else command
    return isinstance(text, str) and "*** Begin Patch" in text[:300]


def _one(text: str) -> list[str]:
    return [text] if text.strip() else []


def _commands(call: Call) -> list[str]:
    if call.value(*COMMAND_KEYS) is not None:
        return _one(call.command)
    return _one(call.text("code", "session_id"))


def _written(call: Call) -> list[str]:
    return call.patched_paths or [call.path]


def _read(call: Call) -> list[str]:
    return call.texts("paths", "include") or [call.path]


_TARGETS: dict[ActionKind, Callable[[Call], list[str]]] = {
    "run": _commands,
    "read": _read,
    "write": _written,
    "search": lambda call: _one(call.text(*PATTERN_KEYS)),
    "fetch": lambda call: call.texts(*_URL_KEYS),
    "plan": lambda call: [],
    "other": lambda call: [],
}
