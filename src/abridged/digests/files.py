"""Tools that read, write and change files: the path, and how much."""

from .reading import PATH_KEYS, Call
from .registry import digest_for
from .wording import TARGET_CHARS, line_count, listed, short_path


def _path(call: Call) -> str:
    return short_path(call.path, TARGET_CHARS)


def _first_line(call: Call) -> int:
    shown = call.value("view_range")
    if isinstance(shown, list) and shown and isinstance(shown[0], int):
        return shown[0]
    return call.integer("offset", "line_number", "start_line", default=1)


@digest_for("read_file", "Read", "read", "open")
def read(call: Call) -> str:
    return f"read {_path(call)} from line {_first_line(call):,} ({call.size})"


@digest_for("read_many_files")
def read_many(call: Call) -> str:
    return f"read {listed(call.texts('paths', 'include') or [call.path])} ({call.size})"


@digest_for("list_directory", "LS", "ls", "list")
def listing(call: Call) -> str:
    return f"listed {short_path(call.text(*PATH_KEYS, default='.'), TARGET_CHARS)} ({call.result_lines:,} lines)"


@digest_for("goto", "scroll_up", "scroll_down")
def moved_window(call: Call) -> str:
    where = {"scroll_up": "up", "scroll_down": "down"}.get(call.tool) or f"to line {call.need('line_number')}"
    return f"moved {where} ({call.size})"


@digest_for("write_file", "Write", "write")
def wrote(call: Call) -> str:
    return f"wrote to {_path(call)} ({line_count(call.text('content', 'file_text')):,} lines)"


@digest_for("create")
def created(call: Call) -> str:
    return f"created {_path(call)} ({call.size} result)"


def _changed(how: str, call: Call) -> str:
    return f"{how} in {_path(call)} ({call.size} result)"


@digest_for("patch", "apply_patch")
def patch(call: Call) -> str:
    paths = call.patched_paths
    how = call.text("mode", default="patch" if paths else "replace")
    return f"{how} in {listed(paths)} ({call.size} result)" if paths else _changed(how, call)


@digest_for("Edit", "edit", "replace")
def edit(call: Call) -> str:
    return _changed("replace", call)


@digest_for("MultiEdit", "multiedit")
def edits(call: Call) -> str:
    return _changed(f"{len(call.objects('edits')):,} edits", call)


@digest_for("NotebookEdit")
def notebook(call: Call) -> str:
    return _changed(call.text("edit_mode", default="replace"), call)


@digest_for("insert")
def inserted(call: Call) -> str:
    return _changed("insert", call)


@digest_for("str_replace_editor", "str_replace_based_edit_tool")
def editor(call: Call) -> str:
    """One tool, five commands: `view` reads, `create` writes, the others change."""
    command = call.need("command")
    if command == "view":
        return read(call)
    return wrote(call) if command == "create" else _changed(command, call)
