"""What is no conversation is one clear line and exit code 2, and the output stays as it was."""

import json
from pathlib import Path

import pytest
from tests.cli.cli_sessions import assistant, user

from abridged.cli import main

GOOD = json.dumps(user("hello"))

BAD_INPUT = [
    (b"", "is empty"),
    (b" \n\n", "is empty"),
    (b"\xef\xbb\xbf", "is empty"),
    (b'[{"role": "user"}\n, oops]', "not JSON: Expecting value at line 2, column 3"),
    (b"hello", "not JSON: Expecting value at line 1, column 1"),
    (
        f"{GOOD}\n\n{{oops}}\n".encode(),
        "line 3 is not JSON: Expecting property name enclosed in double quotes at column 2",
    ),
    (f"{GOOD}\n[1]\n".encode(), "line 2 is a list, not an object"),
    (f"[{GOOD}, {GOOD}, 7]".encode(), "message 2 (the first is 0) is a number, not an object"),
    (f'{{"messages": [{GOOD}, null]}}'.encode(), "message 1 (the first is 0) is null, not an object"),
    (f'{{"messages": [{GOOD}, true]}}'.encode(), "message 1 (the first is 0) is a truth value, not an object"),
    (b'{"messages": "none"}', 'expected a list under "messages"; found a string'),
    (b'{"turns": [], "model": "x"}', "found an object with other keys: turns, model"),
    (b'"text"', "found a string"),
    (b"12.5", "found a number"),
    (b'[{"a": 1}, {"b": 2}]', 'not messages: none of the 2 objects has a "role"'),
    (b'[\n{"role": "user", "content": "\xff"}]', "not UTF-8: byte 0xff at line 2, byte 30"),
    (b'[{"role": "user", "content": ' + b"9" * 5000 + b"}]", "not JSON that can be read"),
    (b"[" * 100_000, "nested too deeply"),
]


@pytest.mark.parametrize("command", ["compress", "inspect"])
@pytest.mark.parametrize(("content", "said"), BAD_INPUT)
def test_bad_input_is_one_line_that_says_where_and_what(
    command: str, content: bytes, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "session.json"
    file.write_bytes(content)
    assert main([command, str(file)]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith(f"abridged: {file}: ")
    assert said in shown.err
    assert shown.err.count("\n") == 1


def test_bad_input_leaves_the_output_as_it_was(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "session.json"
    file.write_text("{oops")
    assert main(["compress", str(file), "-o", str(file)]) == 2
    assert file.read_text() == "{oops"
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--context-length", "0"], "--context-length 0: not possible; it takes a whole number from 1 on"),
        (["--max-output", "128000"], "--max-output 128000: not possible; it takes from 0 to below the window"),
        (["--threshold", "50"], "--threshold 50.0: not possible; it takes a number from 0.01 to 1.0"),
        (["--threshold", "nan"], "--threshold nan"),
        (["--protect-first", "-1"], "--protect-first -1"),
        (["--protect-last", "0"], "--protect-last 0"),
    ],
)
@pytest.mark.parametrize("command", ["compress", "inspect"])
def test_an_option_out_of_range_names_the_option_and_its_range(
    command: str, options: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    # spec: C
    assert main([command, "missing.json", *options]) == 2
    shown = capsys.readouterr()
    assert said in shown.err
    assert shown.err.count("\n") == 1


def test_a_missing_file_and_a_directory(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", str(tmp_path / "none.json")]) == 2
    assert capsys.readouterr().err == f"abridged: {tmp_path / 'none.json'}: no such file\n"
    assert main(["inspect", str(tmp_path)]) == 2
    assert capsys.readouterr().err == f"abridged: {tmp_path}: is a directory, not a file\n"
    assert main(["inspect", "zero\0byte"]) == 2
    assert "cannot be read" in capsys.readouterr().err


def test_an_unknown_option_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", "x.json", "--nope"]) == 2
    assert "--nope" in capsys.readouterr().err


@pytest.mark.parametrize(
    "content",
    [
        json.dumps([user("a"), assistant("b")]).encode(),
        json.dumps({"messages": [user("a"), assistant("b")]}).encode(),
        f"{json.dumps(user('a'))}\r\n\r\n{json.dumps(assistant('b'))}".encode(),
        b"\xef\xbb\xbf" + json.dumps([user("a"), assistant("b")], indent=4).encode(),
        # a line separator inside a string ends no line
        '{"role": "user", "content": "a\u2028b"}\n{"role": "assistant", "content": "c"}\n'.encode(),
    ],
)
def test_every_shape_is_read(content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "session"
    file.write_bytes(content)
    assert main(["inspect", str(file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["messages"] == 2


NESTED: object = "deep"
for _ in range(400):
    NESTED = {"content": [NESTED]}

ODD = [
    {"role": 5, "content": "x"},
    {"content": "no role"},
    {"role": "user", "content": 5},
    {"role": "user", "content": {"a": [1]}},
    {"role": "assistant", "content": None, "tool_calls": "none"},
    {"role": "assistant", "content": None, "tool_calls": [1, None, {"function": "f", "id": ["a"]}]},
    {"role": "tool", "content": None},
    {"role": "user", "content": "\x1b[31mred\x07 \u202e"},
    pytest.param(
        {"role": ["user"], "content": "x"},
    ),
    pytest.param(
        {"role": "user", "content": NESTED},
    ),
    pytest.param(
        {"role": "user", "content": [{"type": ["text"], "text": "x"}]},
    ),
]


@pytest.mark.parametrize("command", ["compress", "inspect"])
@pytest.mark.parametrize("message", ODD)
def test_odd_content_is_never_an_error(
    command: str, message: object, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # spec: P5.3
    file = tmp_path / "session.json"
    file.write_text(json.dumps([message, *([user("hello " * 200)] * 30)]))
    assert main([command, str(file), "--context-length", "4000"]) == 0
    shown = capsys.readouterr()
    assert "\x1b" not in shown.err
    assert "\x1b" not in shown.out
