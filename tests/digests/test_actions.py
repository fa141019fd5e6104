"""What a call did: its kind, its target, how it ended."""

import json

import pytest

from abridged.digests import Action, action_of

PATCH = "*** Begin Patch\n*** Update File: a.py\n*** Move to: c.py\n*** Delete File: b.py\n*** End Patch"
UNIFIED = "--- a/x.py\n+++ b/x.py\n@@\n--- a/gone.py\n+++ /dev/null\n"

# spec: P3.9 (files touched, commands with exit codes)
KNOWN = [
    ("terminal", {"command": "npm test"}, '{"output": "x", "exit_code": 0}', Action("run", "npm test", 0, False)),
    ("Bash", {"command": "cat a.py"}, "Exit code 1\nno such file", Action("run", "cat a.py", 1, True)),
    ("shell", {"command": ["bash", "-lc", "sed -n 1p a"]}, "x", Action("run", "sed -n 1p a", None, None)),
    ("execute_code", {"code": "print(1)"}, "1", Action("run", "print(1)", None, None)),
    ("process", {"action": "poll", "session_id": "p1"}, "x", Action("run", "p1", None, None)),
    ("Read", {"file_path": "/a.py"}, "text", Action("read", "/a.py", None, None)),
    ("Write", {"file_path": "/a.py", "content": ""}, "Error: no space", Action("write", "/a.py", None, True)),
    ("Edit", {"file_path": "/a.py"}, "The file /a.py has been updated.", Action("write", "/a.py", None, False)),
    ("str_replace_editor", {"command": "view", "path": "/a"}, "x", Action("read", "/a", None, None)),
    ("str_replace_editor", {"command": "create", "path": "/a"}, "x", Action("write", "/a", None, None)),
    ("apply_patch", {"input": PATCH}, "Success. Updated", Action("write", "a.py", None, False, ("c.py", "b.py"))),
    ("apply_patch", PATCH, "ok", Action("write", "a.py", None, False, ("c.py", "b.py"))),
    ("shell", {"command": ["apply_patch", PATCH]}, "x", Action("write", "a.py", None, None, ("c.py", "b.py"))),
    ("patch", {"mode": "patch", "patch": UNIFIED}, '{"success": true}', Action("write", "x.py", None, False)),
    ("edit", {"search": "x"}, "Text replaced.\n(Open file: /a.py)\nbash-$", Action("write", "/a.py", None, False)),
    ("Grep", {"pattern": "def", "path": "src"}, "a", Action("search", "def", None, None)),
    ("web_search", {"query": "tea"}, "a", Action("search", "tea", None, None)),
    ("web_extract", {"urls": ["u1", "u2"]}, "a", Action("fetch", "u1", None, None, ("u2",))),
    ("read_many_files", {"paths": ["a", "b"]}, "a", Action("read", "a", None, None, ("b",))),
    ("TodoWrite", {"todos": []}, "ok", Action("plan", "", None, False)),
    ("think", {"thought": "hm"}, "x", Action("other", "", None, None)),
    ("mcp__fs__read_file", {"path": "a"}, "x", Action("read", "a", None, None)),
]

UNKNOWN = [
    ({"cmd": "ls"}, "run", "ls"),
    ({"path": "a", "content": "x"}, "write", "a"),
    ({"file_path": "a", "edits": [{}]}, "write", "a"),
    ({"patch": UNIFIED}, "write", "x.py"),
    ({"filename": "a"}, "read", "a"),
    ({"pattern": "x", "path": "src"}, "search", "x"),
    ({"query": "select 1"}, "search", "select 1"),
    ({"url": "https://example.com"}, "fetch", "https://example.com"),
    ({"plan": [{}]}, "plan", ""),
    ({"id": 5}, "other", ""),
    ({"path": {"odd": 1}}, "read", ""),
    ([1], "other", ""),
    (None, "other", ""),
]

ENDINGS = [
    ('{"success": false}', True),
    ('{"error": "no such user"}', True),
    ('{"error": null, "success": true}', False),
    ('{"is_error": true}', True),
    ('{"status": "failed"}', True),
    ('{"status": "ok"}', False),
    ('{"rows": []}', None),
    ("Error: not enough seats", True),
    ("ERROR:\nNo replacement was performed", True),
    ("ValueError: bad", True),
    ("Traceback (most recent call last):\n ...", True),
    ("started\nTraceback (most recent call last)\n  x\nKeyError: 'a'\n", True),
    ("<tool_use_error>File has not been read</tool_use_error>", True),
    ("Errors.py: 12 lines", None),
    ("errorless", None),
    ("Success. Updated the following files", False),
    ("", None),
]


@pytest.mark.parametrize(("name", "arguments", "result", "action"), KNOWN)
def test_known_tools(name: str, arguments: object, result: str, action: Action) -> None:
    assert action_of(name, arguments, result) == action


@pytest.mark.parametrize(("arguments", "kind", "target"), UNKNOWN)
def test_unknown_tools_are_understood_by_their_arguments(arguments: object, kind: str, target: str) -> None:
    # spec: P3.9
    action = action_of("some_tool", arguments, "x")
    assert (action.kind, action.target) == (kind, target)


@pytest.mark.parametrize("name", ["delete_file", "create_file", "fs_rename"])
def test_an_unknown_tool_whose_name_says_so_writes(name: str) -> None:
    # spec: P3.9
    assert action_of(name, {"path": "a"}, "x").kind == "write"


@pytest.mark.parametrize(("result", "failed"), ENDINGS)
def test_failure_is_read_from_the_result(result: str, failed: bool | None) -> None:
    # spec: P3.9
    assert action_of("some_tool", {}, result).failed is failed


def test_the_exit_code_decides_over_what_a_program_prints() -> None:
    # spec: P3.9
    assert action_of("Bash", {"command": "x"}, "Error: shown on purpose\n[exit code: 0]").failed is False
    assert action_of("Bash", {"command": "x"}, "all fine\n[exit code: 2]").failed is True


def test_only_a_program_states_exit_codes_in_plain_words() -> None:
    # spec: P3.9
    manual = "Exit code 1\nmeans that nothing matched."
    assert action_of("read_file", {"path": "manual.txt"}, manual) == Action("read", "manual.txt", None, None)
    assert action_of("some_tool", {}, json.dumps({"exit_code": 3})).exit_code == 3
