"""Reading, writing and patching: real files of every kind, and nothing outside of the folder."""

import os
import stat
import sys
import threading
import time
import tracemalloc
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tests.chat.tools.running import preview, use

from abridged.phases.prune import DUPLICATE, PICTURE, TRUNCATED
from abridged.phases.repair import STUB
from abridged.summary.template import END_MARKER, PREFIX, SYSTEM_NOTE


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project, beside something that is none of its business."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.txt").write_text("not yours")
    made = tmp_path / "project"
    made.mkdir()
    return made


WRITING: list[tuple[str, dict[str, Any]]] = [
    ("write_file", {"content": "taken over"}),
    ("patch", {"old": "not", "new": "all"}),
]
READING: list[tuple[str, dict[str, Any]]] = [("read_file", {}), ("search_files", {"pattern": "yours"})]


@pytest.mark.parametrize(("name", "more"), [*WRITING, *READING])
@pytest.mark.parametrize(
    "path",
    ["../outside/secret.txt", "{outside}/secret.txt", "link.txt", "folder/secret.txt", "folder/../folder/secret.txt",
     "a/../../outside/secret.txt", "chain.txt", "./././../outside/secret.txt", "~/secret.txt"],
)  # fmt: skip
def test_nothing_outside_is_read_or_written(
    path: str, name: str, more: dict[str, Any], folder: Path, monkeypatch: pytest.MonkeyPatch
):
    outside = folder.parent / "outside"
    monkeypatch.setenv("HOME", str(outside))
    (folder / "link.txt").symlink_to(outside / "secret.txt")
    (folder / "folder").symlink_to(outside)
    (folder / "chain.txt").symlink_to(folder / "folder" / "secret.txt")
    said = use(folder, name, path=path.format(outside=outside), **more)
    assert "outside of" in said
    assert (outside / "secret.txt").read_text() == "not yours"


def test_a_new_file_behind_a_link_is_outside_as_well(folder: Path):
    (folder / "out").symlink_to(folder.parent / "outside")
    assert "outside of" in use(folder, "write_file", path="out/new.txt", content="x")
    (folder / "dangling").symlink_to(folder.parent / "outside" / "made.txt")
    assert "outside of" in use(folder, "write_file", path="dangling", content="x")
    assert [path.name for path in (folder.parent / "outside").iterdir()] == ["secret.txt"]


def test_links_that_stay_inside_are_followed(folder: Path):
    (folder / "real.txt").write_text("one")
    (folder / "link.txt").symlink_to("real.txt")
    assert use(folder, "read_file", path="link.txt") == "one"
    use(folder, "write_file", path="link.txt", content="two")
    assert (folder / "link.txt").is_symlink()
    assert (folder / "real.txt").read_text() == "two"


def test_links_in_a_circle(folder: Path):
    (folder / "a").symlink_to("b")
    (folder / "b").symlink_to("a")
    assert use(folder, "read_file", path="a").startswith("error: a: ")


@pytest.mark.parametrize("swapped", ["sub", "sub/file.txt"])
def test_a_link_that_comes_and_goes_leads_nowhere(swapped: str, folder: Path):
    """The name is now what it should be and now a link out, as fast as it can be changed."""
    outside = folder.parent / "outside"
    (outside / "file.txt").write_text("not yours")
    (folder / "sub").mkdir()
    (folder / "sub" / "file.txt").write_text("ours")
    link, aside, place = folder / "link", folder / "aside", folder / swapped
    link.symlink_to(outside if swapped == "sub" else outside / "file.txt")
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            for one, other in ((place, aside), (link, place), (place, link), (aside, place)):
                with suppress(OSError):
                    one.rename(other)

    work = threading.Thread(target=swap)
    work.start()
    try:
        read = {use(folder, "read_file", path="sub/file.txt") for _ in range(60)}
        for _ in range(60):
            use(folder, "write_file", path="sub/file.txt", content="ours")
    finally:
        stop.set()
        work.join()
    assert not any("not yours" in said for said in read)
    assert (outside / "file.txt").read_text() == "not yours"
    assert sorted(path.name for path in outside.iterdir()) == ["file.txt", "secret.txt"]


@pytest.mark.parametrize(
    ("path", "said"),
    [("", "wanted"), ("a\0b", "wanted"), ("x" * 5_000, "error: xxx"), (7, "a text is wanted"), (None, "is missing"),
     ("no/such.txt", "No such file"), ("\ud800", "error: ")],
)  # fmt: skip
def test_paths_that_are_none(path: Any, said: str, folder: Path):
    assert said in use(folder, "read_file", path=path)


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX")
def test_what_is_no_ordinary_file_is_never_waited_for(folder: Path):
    os.mkfifo(folder / "pipe")
    answers: list[str] = []

    def ask_all() -> None:
        for name, more in [*WRITING, ("read_file", dict[str, Any]())]:
            answers.append(use(folder, name, path="pipe", **more))

    work = threading.Thread(target=ask_all, daemon=True)
    work.start()
    work.join(10)
    assert len(answers) == 3
    assert all("no ordinary file" in answer for answer in answers)


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        (b"plain\ntext\n", "plain\ntext"),
        ("naïve 中文".encode(), "naïve 中文"),
        (b"\xef\xbb\xbfwith a mark", "with a mark"),
        ("two\nlines".encode("utf-16"), "two\nlines\n[encoded in utf-16-le]"),
        (b"\xfe\xff" + "big".encode("utf-16-be"), "big\n[encoded in utf-16-be]"),
        ("wide".encode("utf-32"), "wide\n[encoded in utf-32-le]"),
        (b"caf\xe9 \x80uro", "café €uro\n[encoded in cp1252]"),
        (b"odd \x81 byte", "odd \x81 byte\n[encoded in latin-1]"),
        (b"one\r\ntwo\r\n", "one\ntwo"),
        (b"", "[the file is empty]"),
        (b"\n\n", "\n"),
        (b"\x89PNG\r\n\x1a\n" + b"\0" * 100, "[PNG picture, 108 bytes: not shown]"),
        (b"%PDF-1.7 text", "[PDF document, 13 bytes: not shown]"),
        (b"text\0with nothing", "[binary file, 17 bytes: not shown]"),
        (bytes(range(1, 32)) * 3, "[binary file, 93 bytes: not shown]"),
        (b"\xff\xfe" + b"\x00\xd8" * 50, "[binary file, 102 bytes: not shown]"),
        (b"\x1b[31mred\x1b[0m\n", "\x1b[31mred\x1b[0m"),
    ],
)
def test_files_of_every_kind(data: bytes, shown: str, folder: Path):
    (folder / "file").write_bytes(data)
    assert use(folder, "read_file", path="file") == shown


def test_a_long_file_is_shown_in_parts(folder: Path):
    (folder / "long.txt").write_text("".join(f"line {n}\n" for n in range(1, 5_001)))
    shown = use(folder, "read_file", path="long.txt")
    assert shown.endswith("[lines 1-2000; more from offset=2001 on]")
    shown = use(folder, "read_file", path="long.txt", offset=4_999)
    assert shown == "line 4999\nline 5000\n[lines 4999-5000, the last ones]"
    assert use(folder, "read_file", path="long.txt", offset=9_000) == "[the file has 5000 lines]"
    assert use(folder, "read_file", path="long.txt", offset=3, limit=1).startswith("line 3\n[lines 3-3; more")


@pytest.mark.parametrize("chunk", [1, 2, 3, 7, 100])
@pytest.mark.parametrize(
    "data", [b"a\nbb\n\nccc\n\n", b"a\r\nbb\r\n\r\nccc", b"one\rtwo\r\nlonger than a chunk\n\nx", b"\n"]
)
def test_any_part_is_the_part_that_was_asked_for(
    chunk: int, data: bytes, folder: Path, monkeypatch: pytest.MonkeyPatch
):
    (folder / "file").write_bytes(data)
    monkeypatch.setattr("abridged.chat.tools.files.CHUNK_CHARACTERS", chunk)
    lines = data.decode().splitlines()
    for first in range(1, len(lines) + 1):
        shown = use(folder, "read_file", path="file", offset=first).split("\n")
        assert shown[: len(lines) - first + 1] == lines[first - 1 :]
        assert shown[len(lines) - first + 1 :] == (
            [f"[lines {first}-{len(lines)}, the last ones]"] if first > 1 else []
        )
        assert use(folder, "read_file", path="file", offset=first, limit=1).split("\n")[0] == lines[first - 1]
    assert use(folder, "read_file", path="file", offset=len(lines) + 1) == f"[the file has {len(lines)} lines]"


def test_bytes_that_come_late(folder: Path):
    (folder / "late.txt").write_bytes(b"an ordinary line\n" * 5_000 + b"caf\xe9\n")
    shown = use(folder, "read_file", path="late.txt", offset=5_001)
    assert shown == "caf\ufffd\n[lines 5001-5001, the last ones]\n[\ufffd stands for bytes that are no utf-8]"
    assert "not all utf-8" in use(folder, "patch", path="late.txt", old="caf", new="x")


def test_a_line_without_end_is_cut(folder: Path):
    (folder / "wide.json").write_text("x" * 3_000_000 + "\nnext")
    shown = use(folder, "read_file", path="wide.json")
    assert len(shown) < 2_200
    assert "\nnext\n[1 lines were longer than 2,000 characters]" in shown


def test_a_large_file_takes_no_room(folder: Path):
    with (folder / "large.txt").open("wb") as file:
        for _ in range(100):
            file.write(b"a line of a hundred characters or so, again and again, until the file is large\n" * 12_500)
    tracemalloc.start()
    shown = use(folder, "read_file", path="large.txt", offset=500_000, limit=2)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert shown.startswith("a line")
    assert peak < 8_000_000
    assert "larger than" in use(folder, "patch", path="large.txt", old="a", new="b")


def test_a_folder_shows_its_names(folder: Path):
    (folder / "src").mkdir()
    (folder / "b.txt").write_text("")
    assert use(folder, "read_file", path=".") == "b.txt\nsrc/"
    assert use(folder, "read_file", path="src") == "[the folder is empty]"
    (folder / "circle").symlink_to("circle")
    assert use(folder, "read_file", path=".") == "b.txt\ncircle\nsrc/"


# -- writing -----------------------------------------------------------------------------------------------------------


def test_a_file_is_written_whole_and_keeps_its_mode(folder: Path):
    assert use(folder, "write_file", path="a/b/run.sh", content="one\n") == "created a/b/run.sh: 1 lines, 4 bytes"
    (folder / "a/b/run.sh").chmod(0o751)
    assert use(folder, "write_file", path="a/b/run.sh", content="é\n").startswith("wrote over a/b/run.sh")
    assert stat.S_IMODE((folder / "a/b/run.sh").stat().st_mode) == 0o751
    assert (folder / "a/b/run.sh").read_bytes() == "é\n".encode()
    assert [path.name for path in (folder / "a/b").iterdir()] == ["run.sh"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [({"path": "x"}, "content is missing"), ({"path": "x", "content": 3}, "a text is wanted"),
     ({"path": ".", "content": ""}, "a folder"), ({"path": "file/x", "content": ""}, "error: file/x: "),
     ({"path": "x", "content": "\ud800"}, "cannot write")],
)  # fmt: skip
def test_what_cannot_be_written(arguments: dict[str, Any], said: str, folder: Path):
    (folder / "file").write_text("")
    assert said in use(folder, "write_file", **arguments)
    assert sorted(path.name for path in folder.iterdir()) == ["file"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_a_file_that_may_not_be_written(folder: Path):
    (folder / "x").write_text("one")
    (folder / "x").chmod(0o400)
    assert "may not be written" in use(folder, "write_file", path="x", content="two")
    assert (folder / "x").read_text() == "one"


def test_a_new_file_has_the_usual_mode(folder: Path):
    use(folder, "write_file", path="new.txt", content="x")
    (folder / "usual.txt").touch()
    assert (folder / "new.txt").stat().st_mode == (folder / "usual.txt").stat().st_mode


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written(folder: Path):
    folder.chmod(0o500)
    try:
        assert "Permission denied" in use(folder, "write_file", path="x", content="")
    finally:
        folder.chmod(0o700)


@pytest.mark.parametrize("stands_in", [DUPLICATE, STUB, PICTURE, PREFIX, END_MARKER, SYSTEM_NOTE])
def test_what_stands_for_a_result_is_no_text_of_a_file(stands_in: str, folder: Path):
    """hermes-agent#16223"""
    assert "read the file again" in use(folder, "write_file", path="x", content=f"one\n  {stands_in}\n")
    assert "read the file again" in use(folder, "write_file", path="x", content=f"see {stands_in} there")
    (folder / "code.py").write_text("X = 1\n")
    assert "read the file again" in use(folder, "patch", path="code.py", old="X = 1", new=stands_in)
    assert use(folder, "write_file", path="source.py", content=f'MARK = "{stands_in}"\n').startswith("created")


def test_arguments_that_were_cut_are_no_text_of_a_file(folder: Path):
    assert "read the file again" in use(folder, "write_file", path="x", content="x = 1\n" * 30 + TRUNCATED)
    assert use(folder, "write_file", path="x", content=f'CUT = "{TRUNCATED}"\n').startswith("created")
    (folder / "log.txt").write_text(f"a\nb{TRUNCATED}\nc\n")
    assert use(folder, "patch", path="log.txt", old=f"b{TRUNCATED}\nc", new=f"b{TRUNCATED}\nd").startswith("changed")


@pytest.mark.parametrize("size", [3, 50_000])
def test_a_large_change_is_shown_in_part(size: int, folder: Path):
    lines = [f"{number % 700}\n" for number in range(size)]
    (folder / "old.txt").write_text("".join(["same\n"] * 100 + lines + ["same\n"] * 100))
    started = time.monotonic()
    after = "".join(["same\n"] * 100 + [f"{line[::-1]}x\n" for line in lines] + ["same\n"] * 100)
    shown = preview(folder, "write_file", path="old.txt", content=after)
    assert time.monotonic() - started < 2
    assert len(shown.splitlines()) < 45
    assert "-0\n" in shown
    assert "99" in shown.splitlines()[1 if size > 3 else 2]  # two lines before the first that differs


def test_ends_of_lines_are_a_change(folder: Path):
    (folder / "x").write_bytes(b"a\r\nb\r\n")
    assert preview(folder, "write_file", path="x", content="a\nb\n") == "x: only ends of lines would change"
    (folder / "x").write_bytes(b"a\nb\n")
    assert preview(folder, "write_file", path="x", content="a\nb\n") == "x: nothing would change"


def test_the_user_sees_what_would_be_written(folder: Path):
    assert preview(folder, "write_file", path="new.txt", content="one\ntwo") == "new file new.txt\n+one\n+two"
    (folder / "old.txt").write_text("one\ntwo\n")
    shown = preview(folder, "write_file", path="old.txt", content="one\nthree\n")
    assert "-two\n+three" in shown
    assert len(preview(folder, "write_file", path="x", content="line\n" * 1_000).splitlines()) < 45
    (folder / "picture.png").write_bytes(b"\x89PNG\0")
    assert "PNG picture" in preview(folder, "write_file", path="picture.png", content="x")


# -- patching ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "old", "new", "after"),
    [
        (b"one two three", "two", "2", b"one 2 three"),
        (b"a\r\nb\r\nc\r\n", "a\nb\n", "x\ny\n", b"x\r\ny\r\nc\r\n"),
        (b"a\r\nb\r\n", "b\r\n", "", b"a\r\n"),
        (b"a\nb\nc\r\n", "a\nb\n", "x\n", b"x\nc\r\n"),
        (b"a\nb\n", "a\r\nb\r\n", "x\r\n", b"x\n"),
        (b"a\rb\rc\r", "a\nb\n", "x\n", b"x\rc\r"),
        (b"\xef\xbb\xbfmark", "mark", "word", b"\xef\xbb\xbfword"),
        ("two".encode("utf-16"), "two", "zwei", "zwei".encode("utf-16")),
        (b"caf\xe9", "café", "thé", b"th\xe9"),
        (b"no end of line", "line", "it", b"no end of it"),
        ("中文 text".encode(), "中文", "文中", "文中 text".encode()),
    ],
)
def test_one_text_for_another_and_nothing_else(data: bytes, old: str, new: str, after: bytes, folder: Path):
    (folder / "file").write_bytes(data)
    assert use(folder, "patch", path="file", old=old, new=new).startswith("changed file: ")
    assert (folder / "file").read_bytes() == after


@pytest.mark.parametrize(
    ("data", "arguments", "said"),
    [
        (b"a b a", {"old": "a", "new": "c"}, "is in it 2 times"),
        (b"def one():\n    pass\n", {"old": "def once():", "new": "x"}, "line 1 is nearest: 'def one():'"),
        (b"x", {"old": "something else entirely", "new": "y"}, "read the file again"),
        (b"x", {"old": "", "new": "y"}, "old is empty"),
        (b"x", {"old": "x", "new": "x"}, "the same"),
        (b"x", {"old": "x"}, "new is missing"),
        (b"caf\xe9", {"old": "caf", "new": "中"}, "cp1252 cannot write"),
        (b"a\0b", {"old": "a", "new": "b"}, "no text"),
    ],
)
def test_what_cannot_be_patched(data: bytes, arguments: dict[str, Any], said: str, folder: Path):
    (folder / "file").write_bytes(data)
    assert said in use(folder, "patch", path="file", **arguments)
    assert (folder / "file").read_bytes() == data


def test_the_nearest_line_is_not_looked_for_for_long(folder: Path):
    (folder / "x").write_text("".join(f"{n:09d} {'abcdef' * 60} {n * 7919 % 99991}\n" for n in range(20_000)))
    started = time.monotonic()
    said = use(folder, "patch", path="x", old="".join(reversed("abcdef" * 60)) + " 000", new="y")
    assert "is not in it" in said
    assert time.monotonic() - started < 4


def test_everywhere_when_it_is_asked_for(folder: Path):
    (folder / "file").write_text("a b a\na")
    assert use(folder, "patch", path="file", old="a", new="c", all=True) == "changed file: 3 places"
    assert (folder / "file").read_text() == "c b c\nc"


# -- searching ---------------------------------------------------------------------------------------------------------


def tree(folder: Path) -> Path:
    for name, text in {
        "src/app.py": "import os\nneedle = 1\n",
        "src/test_app.py": "def test_needle(): ...\n",
        "readme.md": "# Needle\n",
        ".git/config": "needle",
        "node_modules/x/index.js": "needle",
        "data.bin": "needle\0",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (folder / "odd").mkdir()
    (folder / "odd/marked.txt").write_bytes(b"\xef\xbb\xbfmarked\n")
    (folder / "odd/latin.txt").write_bytes(b"caf\xe9\n")
    (folder / "odd/feed.txt").write_bytes("a\fb\u2028c\nbelow\n".encode())
    return folder


@pytest.mark.parametrize(
    ("arguments", "hits"),
    [
        ({"pattern": "needle"}, ["src/app.py:2: needle = 1", "src/test_app.py:1: def test_needle(): ..."]),
        ({"pattern": "(?i)needle", "glob": "*.md"}, ["readme.md:1: # Needle"]),
        ({"pattern": "needle", "path": "src/app.py"}, ["src/app.py:2: needle = 1"]),
        ({"glob": "test_*"}, ["src/test_app.py"]),
        ({"glob": "src/**/*.py"}, ["src/app.py", "src/test_app.py"]),
        ({"pattern": "[[n]eedle ="}, ["src/app.py:2: needle = 1"]),
        ({"pattern": "^marked"}, ["odd/marked.txt:1: marked"]),
        ({"pattern": "café"}, ["odd/latin.txt:1: café"]),
        ({"pattern": "below"}, ["odd/feed.txt:2: below"]),
        ({"glob": "src/*.py"}, ["src/app.py", "src/test_app.py"]),
        ({"pattern": "no such thing"}, ["[nothing found]"]),
        ({"pattern": "e", "limit": 1}, ["readme.md:1: # Needle", "[more than 1 hits: narrow it down]"]),
    ],
)
def test_finding(arguments: dict[str, Any], hits: list[str], folder: Path):
    assert use(tree(folder), "search_files", **arguments).splitlines() == hits


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "pattern or glob"),
        ({"pattern": "a" * 200_000}, "longer than"),
        ({"pattern": "("}, "no regular expression"),
        ({"pattern": "x", "path": "no"}, "no such"),
    ],
)
def test_what_cannot_be_looked_for(arguments: dict[str, Any], said: str, folder: Path):
    assert said in use(folder, "search_files", **arguments)


def test_a_pattern_that_never_comes_to_an_end(folder: Path, monkeypatch: pytest.MonkeyPatch):
    (folder / "trap.txt").write_text("a" * 40 + "b\n")
    monkeypatch.setattr("abridged.chat.tools.search.SECONDS", 0.5)
    assert "timed out after 0.5 s" in use(folder, "search_files", pattern="(a+)+$")


def test_no_link_leads_out(folder: Path):
    (folder / "out").symlink_to(folder.parent / "outside")
    (folder / "file.txt").symlink_to(folder.parent / "outside" / "secret.txt")
    assert use(folder, "search_files", pattern="yours") == "[nothing found]"
