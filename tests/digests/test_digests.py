"""One row per tool: what the call was, and the exact line that stands for its result."""

import json

import pytest

from abridged.digests import DIGESTS, Call, DigestRegistry, digest_for
from abridged.digests.reading import Unreadable

LINES_47 = "\n".join(f"line {number}" for number in range(47))
TODOS = [
    {"content": "Read", "status": "completed"},
    {"content": "Fix auth", "status": "in_progress"},
    {"content": "Test"},
]
PATCH = "*** Begin Patch\n*** Update File: src/a.py\n@@\n-x\n+y\n*** Add File: src/b.py\n+z\n*** End Patch"


def sized(chars: int) -> str:
    return "x" * chars


# spec: P1.3
TABLE = [
    ("terminal", {"command": "npm test"}, json.dumps({"output": LINES_47, "exit_code": 0, "error": None}),
     "[terminal] ran `npm test` -> exit 0, 47 lines output"),
    ("process", {"action": "poll", "session_id": "proc_1"}, json.dumps({"status": "running", "output": "a\nb"}),
     "[process] poll session=proc_1 -> running, 2 lines output"),
    ("execute_code", {"code": "import os; print(os.getcwd())"}, "1\n2\n3",
     "[execute_code] `import os; print(os.getcwd())` (3 lines output)"),
    ("read_file", {"path": "config.py"}, sized(1200), "[read_file] read config.py from line 1 (1,200 chars)"),
    ("write_file", {"path": "config.py", "content": "a\n" * 15}, "ok", "[write_file] wrote to config.py (15 lines)"),
    ("patch", {"mode": "replace", "path": "config.py"}, sized(3400),
     "[patch] replace in config.py (3,400 chars result)"),
    ("search_files", {"pattern": "compress", "path": "agent/", "target": "content"}, json.dumps({"total_count": 12}),
     "[search_files] content search for 'compress' in agent/ -> 12 matches"),
    ("web_search", {"query": "hermes agent"}, sized(8500), "[web_search] query='hermes agent' (8,500 chars result)"),
    ("web_extract", {"urls": ["https://a.example/x", "https://b.example"]}, sized(9000),
     "[web_extract] https://a.example/x (+1 more) (9,000 chars)"),
    ("browser_navigate", {"url": "https://example.com"}, sized(12000),
     "[browser_navigate] https://example.com (12,000 chars)"),
    ("browser_click", {"ref": "@e5"}, sized(40), "[browser_click] clicked @e5 (40 chars)"),
    ("browser_type", {"ref": "@e3", "text": "hello"}, sized(40), "[browser_type] typed 'hello' into @e3 (40 chars)"),
    ("browser_scroll", {"direction": "up"}, sized(40), "[browser_scroll] scrolled up (40 chars)"),
    ("browser_snapshot", {"full": True}, sized(5000), "[browser_snapshot] full page snapshot (5,000 chars)"),
    ("browser_vision", {"question": "which button?"}, sized(90), "[browser_vision] 'which button?' (90 chars)"),
    ("vision_analyze", {"image_url": "a.png", "question": "describe the layout"}, sized(4200),
     "[vision_analyze] 'describe the layout' (4,200 chars)"),
    ("image_generate", {"prompt": "a red lamp"}, '{"success": true, "image": "https://example.com/1.png"}',
     "[image_generate] 'a red lamp' -> https://example.com/1.png (55 chars result)"),
    ("text_to_speech", {"text": "good morning"}, '{"file_path": "/out/1.mp3"}',
     "[text_to_speech] 'good morning' -> /out/1.mp3 (27 chars result)"),
    ("delegate_task", {"goal": "fix the auth bug"}, sized(2300),
     "[delegate_task] 'fix the auth bug' (2,300 chars result)"),
    ("memory", {"action": "store", "target": "preferences", "content": "likes tea"}, "ok",
     "[memory] store on preferences"),
    ("session_search", {"query": "last deploy"}, sized(700), "[session_search] query='last deploy' (700 chars result)"),
    ("todo", {"todos": TODOS}, "ok", "[todo] 3 items, 1 completed, now: 'Fix auth'"),
    ("clarify", {"question": "Which database?"}, '{"user_response": "the staging one"}',
     "[clarify] asked 'Which database?' -> 'the staging one'"),
    ("cronjob", {"action": "create", "name": "nightly", "schedule": "0 3 * * *"}, "done",
     "[cronjob] create nightly 0 3 * * * (4 chars result)"),
    ("send_message", {"target": "ops", "message": "deployed"}, "sent", "[send_message] to ops: 'deployed'"),
    # fault F2: the line must not read like a loaded skill
    ("skill_view", {"name": "pdf"}, sized(8500),
     "[skill_view] name=pdf (8,500 chars, body removed; call skill_view again to reload)"),
    ("skills_list", {"category": "media"}, sized(600), "[skills_list] listed category media (600 chars result)"),
    ("skill_manage", {"action": "edit", "name": "pdf"}, sized(60), "[skill_manage] edit pdf (60 chars result)"),
]  # fmt: skip

# spec: P1.3b
FAMILIES = [
    ("Bash", {"command": "npm test"}, "Exit code 1\nfailed\nbadly", "[Bash] ran `npm test` -> exit 1, 2 lines output"),
    ("Read", {"file_path": "/a/b.py", "offset": 2000, "limit": 50}, sized(900),
     "[Read] read /a/b.py from line 2,000 (900 chars)"),
    ("Write", {"file_path": "/a/b.py", "content": "x\ny"}, "ok", "[Write] wrote to /a/b.py (2 lines)"),
    ("Edit", {"file_path": "/a/b.py", "old_string": "x", "new_string": "y"}, sized(80),
     "[Edit] replace in /a/b.py (80 chars result)"),
    ("MultiEdit", {"file_path": "/a/b.py", "edits": [{}, {}]}, sized(80),
     "[MultiEdit] 2 edits in /a/b.py (80 chars result)"),
    ("Glob", {"pattern": "**/*.py", "path": "src"}, "src/a.py\nsrc/b.py",
     "[Glob] files search for '**/*.py' in src -> 2 matches"),
    ("Grep", {"pattern": "def main"}, "Found 3 files\na\nb\nc",
     "[Grep] content search for 'def main' in . -> 3 matches"),
    ("Grep", {"pattern": "def main"}, "No matches found", "[Grep] content search for 'def main' in . -> 0 matches"),
    ("WebFetch", {"url": "https://example.com", "prompt": "sum up"}, sized(700),
     "[WebFetch] https://example.com (700 chars)"),
    ("WebSearch", {"query": "python wheel"}, sized(700), "[WebSearch] query='python wheel' (700 chars result)"),
    ("Task", {"description": "find callers", "prompt": "..."}, sized(700), "[Task] 'find callers' (700 chars result)"),
    ("TodoWrite", {"todos": TODOS}, "ok", "[TodoWrite] 3 items, 1 completed, now: 'Fix auth'"),
    ("NotebookEdit", {"notebook_path": "n.ipynb", "new_source": "1", "edit_mode": "insert"}, sized(30),
     "[NotebookEdit] insert in n.ipynb (30 chars result)"),
    ("shell", {"command": ["bash", "-lc", "npm test"]},
     json.dumps({"output": "a\nb\n", "metadata": {"exit_code": 2, "duration_seconds": 1.0}}),
     "[shell] ran `npm test` -> exit 2, 2 lines output"),
    ("shell", {"command": ["git", "log", "a b"]}, "x", "[shell] ran `git log 'a b'` -> 1 lines output"),
    ("apply_patch", {"input": PATCH}, sized(90), "[apply_patch] patch in src/a.py, src/b.py (90 chars result)"),
    ("apply_patch", PATCH, sized(90), "[apply_patch] patch in src/a.py, src/b.py (90 chars result)"),
    ("update_plan", {"plan": [{"step": "Build", "status": "in_progress"}]}, "Plan updated",
     "[update_plan] 1 items, 0 completed, now: 'Build'"),
    ("execute_bash", {"command": "make"}, "done\n[The command completed with exit code 0.]",
     "[execute_bash] ran `make` -> exit 0, 1 lines output"),
    ("str_replace_editor", {"command": "view", "path": "/a.c", "view_range": [40, 80]}, sized(300),
     "[str_replace_editor] read /a.c from line 40 (300 chars)"),
    ("str_replace_editor", {"command": "create", "path": "/a.c", "file_text": "1\n2\n"}, "ok",
     "[str_replace_editor] wrote to /a.c (2 lines)"),
    ("str_replace_editor", {"command": "str_replace", "path": "/a.c", "old_str": "x"}, sized(300),
     "[str_replace_editor] str_replace in /a.c (300 chars result)"),
    ("str_replace_editor", {"command": "undo_edit", "path": "/a.c"}, sized(30),
     "[str_replace_editor] undo_edit in /a.c (30 chars result)"),
    ("browser", {"code": "goto('https://example.com')"}, sized(800),
     "[browser] `goto('https://example.com')` (800 chars)"),
    ("think", {"thought": "the parser\nis wrong"}, "noted", "[think] 'the parser is wrong'"),
    ("finish", {"message": "fixed"}, "", "[finish] 'fixed'"),
    ("bash", {"command": "ls"}, "a\nb", "[bash] ran `ls` -> 2 lines output"),
    ("open", {"path": "src/a.py", "line_number": 12}, sized(300), "[open] read src/a.py from line 12 (300 chars)"),
    ("edit", {"search": "x", "replace": "y"},
     "Text replaced.\n(Open file: /src/a.py)\n(Current directory: /src)\nbash-$",
     "[edit] replace in /src/a.py (70 chars result)"),
    ("goto", {"line_number": 99}, sized(300), "[goto] moved to line 99 (300 chars)"),
    ("scroll_up", {}, sized(300), "[scroll_up] moved up (300 chars)"),
    ("scroll_down", {}, sized(300), "[scroll_down] moved down (300 chars)"),
    ("search_file", {"search_term": "def", "file": "a.py"}, "Found 2 matches for \"def\" in a.py:\n1\n2",
     "[search_file] content search for 'def' in a.py -> 2 matches"),
    ("search_dir", {"search_term": "def", "dir": "src"}, "Found 5 matches",
     "[search_dir] content search for 'def' in src -> 5 matches"),
    ("find_file", {"file_name": "a.py", "dir": "src"}, "Found 1 matches",
     "[find_file] files search for 'a.py' in src -> 1 matches"),
    ("create", {"filename": "new.py"}, sized(60), "[create] created new.py (60 chars result)"),
    ("submit", {}, sized(60), "[submit] work handed in (60 chars result)"),
    ("run_shell_command", {"command": "ls"}, "Output: a\nError: (none)\nExit Code: 0\nSignal: (none)",
     "[run_shell_command] ran `ls` -> exit 0, 2 lines output"),
    ("read_many_files", {"paths": ["a", "b", "c", "d"]}, sized(300),
     "[read_many_files] read a, b, c (+1 more) (300 chars)"),
    ("replace", {"file_path": "a.py", "old_string": "x", "new_string": "y"}, sized(60),
     "[replace] replace in a.py (60 chars result)"),
    ("search_file_content", {"pattern": "x", "dir_path": "src"}, "Found 4 matches",
     "[search_file_content] content search for 'x' in src -> 4 matches"),
    ("list_directory", {"path": "src"}, "a\nb\n", "[list_directory] listed src (2 lines)"),
    ("google_web_search", {"query": "x y"}, sized(60), "[google_web_search] query='x y' (60 chars result)"),
    ("save_memory", {"fact": "likes tea"}, "ok", "[save_memory] store 'likes tea'"),
    ("mcp__files__read_file", {"path": "a.py"}, sized(60), "[mcp__files__read_file] read a.py from line 1 (60 chars)"),
    ("mcp__crm__get_user", {"id": 7}, sized(60), "[mcp__crm__get_user] id=7 (60 chars result)"),
]  # fmt: skip

# spec: P1.3, P1.3b (what cannot be read as the tool's own arguments gives the generic line)
ODD = [
    ("tool_name", {"arg1": "val1", "arg2": "val2"}, sized(1234),
     "[tool_name] arg1=val1 arg2=val2 (1,234 chars result)"),
    ("write_file", {"path": "a.json", "content": {"lamp": "amber"}}, "ok",
     '[write_file] path=a.json content={"lamp": "amber"} (2 chars result)'),
    ("terminal", [1, 2, 3], "ok", "[terminal] [1, 2, 3] (2 chars result)"),
    ("terminal", None, "ok", "[terminal] (2 chars result)"),
    ("terminal", 17, "ok", "[terminal] 17 (2 chars result)"),
    ("terminal", {}, "ok", "[terminal] (2 chars result)"),
    ("terminal", {"command": {"line": "ls"}}, "ok", '[terminal] command={"line": "ls"} (2 chars result)'),
    ("terminal", {"command": ["ls", 1]}, "ok", '[terminal] command=["ls", 1] (2 chars result)'),
    ("terminal", '{"command": "ls"}', "ok", "[terminal] ran `ls` -> 1 lines output"),
    ("read_file", "", "ok", "[read_file] (2 chars result)"),
    ("search_files", {"pattern": 17, "path": None}, "a", "[search_files] content search for '17' in . -> 1 matches"),
    ("delegate_task", {"goal": ["a", "b"]}, "ok", '[delegate_task] goal=["a", "b"] (2 chars result)'),
    (None, {}, "ok", "[tool] (2 chars result)"),
    (" \n", {"a": None, "b": True}, "ok", "[tool] b=true (2 chars result)"),
    ("fetch_row", {"sql": "select\n\t1"}, "ok", "[fetch_row] sql=select 1 (2 chars result)"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "arguments", "result", "line"), TABLE + FAMILIES + ODD)
def test_each_call_becomes_exactly_this_line(name: str | None, arguments: object, result: str, line: str) -> None:
    assert DIGESTS.digest(name, arguments, result) == line


def test_the_28_tools_of_the_specification_have_digests_of_their_own() -> None:
    # spec: P1.3
    assert len({name for name, *_ in TABLE}) == 28
    assert {name for name, *_ in TABLE} <= DIGESTS.names


def test_long_values_are_cut_where_they_identify_least() -> None:
    # spec: P1.3
    command = "echo " + "a" * 50_000
    line = DIGESTS.digest("terminal", {"command": command}, "ok")
    assert line.endswith("a...` -> 1 lines output") and len(line) < 160
    line = DIGESTS.digest("read_file", {"path": "/deep" * 60 + "/config.py"}, "ok")
    assert "/deep/config.py from line 1" in line and "read .../deep" not in line[:12] and len(line) < 180


def test_the_generic_line_shows_four_arguments_and_always_the_size() -> None:
    # spec: P1.3
    line = DIGESTS.digest("x" * 500, {f"key{number}" * 20: "v" * 500 for number in range(9)}, sized(5000))
    assert len(line) <= 300 and line.endswith("(5,000 chars result)") and "key4" not in line


EXIT_CODES = [
    ("out\n[exit code: 1]", 1, 1),
    ("out\n\n(exit code: 0)\n", 0, 1),
    ("Exit code 127\nsh: nope: not found", 127, 1),
    ("Exit code: 0\nWall time: 1.2 seconds\nOutput:\na\nb\nc\n", 0, 3),
    ("Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 2\nOutput:\na\n", 2, 1),
    ("a\nb\n[The command completed with exit code 0.]\n[Current working directory: /w]", 0, 2),
    ("a\n[Command finished with exit code 130]", 130, 1),
    ("a\nCommand failed with exit code 3: npm test", 3, 1),
    ("<returncode>1</returncode>\n<output>\nx\n</output>", 1, 3),
    ('{"returncode": 4, "stdout": "a\\nb", "stderr": ""}', 4, 2),
    ('{"exit_status": "5", "output": "a"}', 5, 1),
    ('{"output": "a\\n[exit code: 6]"}', 6, 1),
    ('{"exit_code": -9, "output": ""}', -9, 0),
    ("flake8.......Failed\n- hook id: flake8\n- exit code: 1\nmore", None, 4),
    ("the exit code of the program was 7", None, 1),
    ('{"exit_code": true, "output": "a"}', None, 1),
    ("", None, 0),
]


@pytest.mark.parametrize(("result", "code", "lines"), EXIT_CODES)
def test_exit_code_and_output_lines_are_read_from_where_hosts_write_them(
    result: str, code: int | None, lines: int
) -> None:
    # spec: P1.3
    said = "" if code is None else f"exit {code}, "
    assert DIGESTS.digest("terminal", {"command": "x"}, result) == f"[terminal] ran `x` -> {said}{lines} lines output"


def test_an_exit_code_in_the_middle_of_a_long_output_is_the_programs_own_text() -> None:
    # spec: P1.3
    result = f"{LINES_47}\nexit code: 3\n{LINES_47}"
    assert "exit" not in DIGESTS.digest("terminal", {"command": "x"}, result)


def test_users_add_and_replace_digests_with_one_decorator() -> None:
    # spec: P1.3b
    own = DIGESTS.copy()

    @own.register("deploy", "read_file")
    def deploy(call: Call) -> str:
        return f"deployed {call.need('service')}\nto {call.text('region', default='all')} ({call.result_lines} lines)"

    assert own.digest("deploy", {"service": "api"}, "a\nb") == "[deploy] deployed api to all (2 lines)"
    assert own.digest("mcp__ops__deploy", {"service": "api"}, "a") == "[mcp__ops__deploy] deployed api to all (1 lines)"
    assert own.digest("deploy", {"target": "api"}, "a") == "[deploy] target=api (1 chars result)"
    assert own.digest("read_file", {"service": "x"}, "a").startswith("[read_file] deployed x")
    assert DIGESTS.digest("read_file", {"path": "x"}, "a").startswith("[read_file] read x")
    assert "deploy" not in DIGESTS.names and digest_for == DIGESTS.register


@pytest.mark.parametrize("broken", [lambda call: 1 / 0, lambda call: None, lambda call: "", lambda call: [call]])
def test_a_digest_function_that_fails_or_says_nothing_gives_the_generic_line(broken: object) -> None:
    # spec: P1.3b
    own = DigestRegistry()
    own.register("odd")(broken)  # type: ignore[arg-type]
    assert own.digest("odd", {"a": 1}, "xyz") == "[odd] a=1 (3 chars result)"


def test_registering_without_a_name_says_what_to_do() -> None:
    with pytest.raises(TypeError, match=r"@register\('tool_name'"):
        DIGESTS.register(lambda call: "x")  # type: ignore[arg-type]


def test_accessors_give_plain_values_or_say_that_they_cannot() -> None:
    # spec: P1.3b
    call = Call.read("t", {"a": 5, "b": {"c": 1}, "d": "12", "e": ["x", 1, " "], "f": 2.0, "g": True}, None)
    assert (call.text("missing", "a"), call.text("g"), call.text("missing")) == ("5", "true", "")
    assert (call.integer("d"), call.integer("f"), call.integer("b", default=9), call.integer("g")) == (12, 2, 9, 0)
    assert (call.texts("e"), call.texts("d"), call.objects("e"), call.result) == (["x"], ["12"], [], "")
    with pytest.raises(Unreadable):
        call.text("b")
    with pytest.raises(Unreadable):
        call.need("missing")
