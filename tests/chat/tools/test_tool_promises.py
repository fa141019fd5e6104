"""What holds for every tool: its arguments, and what may leave it."""

import asyncio
import os
import time
from pathlib import Path
from typing import Any

import pytest
from tests.chat.tools.running import BY_NAME, preview, use

from abridged.chat.tools import TOOLS, ToolError, Workspace

SECRET = "a-very-secret-value"
CALLS: dict[str, dict[str, Any]] = {
    "terminal": {"command": "cat .env"},
    "read_file": {"path": ".env"},
    "write_file": {"path": ".env", "content": "A=1\n"},
    "patch": {"path": ".env", "old": "A=1", "new": "A=2"},
    "search_files": {"pattern": "KEY"},
}


@pytest.fixture
def place(tmp_path: Path) -> Workspace:
    (tmp_path / ".env").write_text(f"A=1\nKEY={SECRET}\n")
    return Workspace(tmp_path, {"MY_KEY": SECRET, "LONGER": f"{SECRET}-and-more", "SHORT": "A", "EMPTY": ""})


@pytest.mark.parametrize("name", BY_NAME)
def test_an_argument_that_there_is_not(name: str, place: Workspace):
    said = use(place, name, **CALLS[name], mode=3)
    assert said.startswith("error: mode is no argument; there are: ")
    assert all(known in said for known in CALLS[name])


@pytest.mark.parametrize(("name", "text"), [("write_file", "content"), ("patch", "new"), ("terminal", "command")])
def test_a_text_that_is_null_is_missing(name: str, text: str, place: Workspace):
    before = (place.root / ".env").read_text()
    assert f"{text} is missing" in use(place, name, **{**CALLS[name], text: None})
    assert (place.root / ".env").read_text() == before


@pytest.mark.parametrize("name", BY_NAME)
def test_a_schema_says_what_a_tool_takes(name: str):
    schema = BY_NAME[name].schema
    assert schema["type"] == "function"
    assert schema["function"]["name"] == name
    assert set(CALLS[name]) <= set(schema["function"]["parameters"]["properties"])


def test_only_what_changes_something_is_asked_for():
    assert {tool.name for tool in TOOLS if tool.preview} == {"terminal", "write_file", "patch"}


@pytest.mark.parametrize("name", BY_NAME)
def test_a_hidden_value_leaves_no_tool(name: str, place: Workspace):
    show = BY_NAME[name].preview
    assert SECRET not in (show(place, CALLS[name]) if show else "")
    assert SECRET not in use(place, name, **CALLS[name])


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("patch", {"path": ".env", "old": f"KEY={SECRET[:-1]}!", "new": "x"}),
        ("read_file", {"path": SECRET}),
        ("search_files", {"pattern": f"(?P<{SECRET}>"}),
        ("search_files", {"pattern": "KEY|(a+)+$"}),
    ],
)
def test_a_hidden_value_is_in_no_refusal(
    name: str, arguments: dict[str, Any], place: Workspace, monkeypatch: pytest.MonkeyPatch
):
    (place.root / "trap.txt").write_text("a" * 40 + "b\n")
    monkeypatch.setattr("abridged.chat.tools.search.SECONDS", 0.5)
    said = use(place, name, **arguments)
    assert said.startswith("error: ")
    assert "[REDACTED]" in said
    assert SECRET not in said


def test_a_value_that_holds_another(place: Workspace):
    assert use(place, "terminal", command=f"echo {SECRET}-and-more") == "[REDACTED]\n[exit code: 0]"


def test_a_hidden_value_by_another_name(place: Workspace, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SAME_KEY", SECRET)
    assert use(place, "terminal", command="env | grep -c SAME_KEY") == "0\n[exit code: 1]"


def test_what_stands_for_a_hidden_value_does_not_replace_it(place: Workspace):
    assert "would replace it" in use(place, "write_file", path=".env", content="KEY=[REDACTED]\n")
    assert SECRET in (place.root / ".env").read_text()
    assert use(place, "write_file", path="log.py", content='print("[REDACTED]")\n').startswith("created")


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("read_file", {"path": "wide"}),
        ("read_file", {"path": "names"}),
        ("terminal", {"command": "cat wide"}),
        ("search_files", {"pattern": "x", "limit": 500}),
        ("search_files", {"glob": "*n", "limit": 500}),
    ],
)
def test_no_result_is_longer_than_it_may_be(name: str, arguments: dict[str, Any], tmp_path: Path):
    (tmp_path / "wide").write_text(("x" * 900 + "\n") * 300)
    (tmp_path / "names").mkdir()
    for number in range(300):
        (tmp_path / "names" / f"{number}{'n' * 200}").touch()
    said = use(tmp_path, name, **arguments)
    assert 15_000 < len(said) <= 30_000


@pytest.mark.parametrize("path", ["\ud800", "x\udfff/y"])
def test_half_a_character_is_sent_to_nobody(path: str, tmp_path: Path):
    for name in ("read_file", "write_file", "patch"):
        use(tmp_path, name, **{**CALLS[name], "path": path}).encode()


def test_names_that_are_no_utf8(tmp_path: Path):
    try:
        (tmp_path / os.fsdecode(b"caf\xe9.txt")).write_text("needle")
    except OSError:
        pytest.skip("this file system takes only utf-8")
    assert use(tmp_path, "read_file", path=".").encode() == b"caf?.txt"
    use(tmp_path, "search_files", pattern="needle").encode()


def test_the_loop_goes_on_meanwhile(tmp_path: Path):
    (tmp_path / "long.txt").write_bytes(b"a line\n" * 8_000_000)

    async def both() -> float:
        work = asyncio.create_task(BY_NAME["read_file"].run(Workspace(tmp_path), {"path": "long.txt", "offset": 10**7}))
        longest, last = 0.0, time.monotonic()
        while not work.done():
            await asyncio.sleep(0.01)
            longest, last = max(longest, time.monotonic() - last), time.monotonic()
        assert await work == "[the file has 8000000 lines]"
        return longest

    assert asyncio.run(both()) < 0.25


def test_a_folder_that_is_gone(tmp_path: Path):
    place = Workspace(tmp_path / "gone")
    for name, arguments in CALLS.items():
        if name != "write_file":
            assert use(place, name, **arguments).startswith("error: ")
    with pytest.raises(ToolError):
        preview(tmp_path, "patch", path="none", old="a", new="b")
