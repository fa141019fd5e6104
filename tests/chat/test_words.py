"""What a terminal is given: no control characters, and lists in columns."""

import pytest

from abridged.chat.words import printable, table, wrapped


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain\ttext\nand more", "plain\ttext\nand more"),
        ("a\x1b[2Jb\x1b]0;title\x07c", "a[2Jb]0;titlec"),
        ("\x9b31mred\x9d8;;x\x9c", "31mred8;;x"),
        ("one\r\ntwo\rthree\x08\x7f\x00", "one\ntwothree"),
        ("中文 🙂 é", "中文 🙂 é"),
    ],
)
def test_text_of_others_is_no_instruction_to_a_terminal(text: str, shown: str):
    assert printable(text) == shown


def test_columns(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", "40")
    shown = table([("name", "a value that is rather long for so narrow a terminal"), ("n", "short")])
    assert shown.splitlines() == [
        "name  a value that is rather long for", "      so narrow a terminal", "n     short",
    ]  # fmt: skip
    assert wrapped("") == ""
    assert wrapped("one\n\ntwo") == "one\n\ntwo"
