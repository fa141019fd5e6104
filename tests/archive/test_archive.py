"""The archive keeps every message letter for letter, once, whoever writes and whatever fails (spec: F3)."""

import json
import multiprocessing
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from tests.properties import strategies as given_by

from abridged.archive import Archive
from abridged.archive.owner import owner_name
from abridged.archive.schema import VERSIONS
from abridged.errors import ArchiveError, SessionBusy
from abridged.testing import assistant, call, result, user

Message = dict[str, Any]


def talk(turns: int = 5, name: str = "t") -> list[Message]:
    made: list[Message] = []
    for n in range(turns):
        made += [
            user(f"{name}: look at part {n}"),
            assistant(None, call(f"c{n}", "read_file", path=f"src/{name}/part_{n}.py")),
            result(f"c{n}", f"value_{name}_{n} = {n}"),
        ]
    return made


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "archive.db"


def test_a_session_comes_back_as_it_was(path: Path):
    with Archive(path) as archive:
        assert not archive.start("s", engine="compressor")
        archive.append("s", talk(3))
        archive.append("s", talk(5)[9:])
    with Archive(path) as again:
        assert again.start("s")
        assert again.transcript("s") == talk(5)
        assert again.live("s") == (talk(5), 0)
        (info,) = again.sessions()
        assert (info.id, info.messages, info.compactions, info.engine) == ("s", 15, 0, "")


def test_a_compaction_is_kept_with_both_sides(path: Path):
    with Archive(path) as archive:
        archive.start("s")
        archive.append("s", talk(5))
        after = [user("[summary]"), *talk(5)[12:]]
        assert archive.compact("s", talk(5), after, {"reason": ""}, follows=0, state={"guard": {"ineffective": 1}}) == 1
        archive.append("s", [user("more")])
        assert archive.live("s") == ([*after, user("more")], 1)
        assert archive.restore("s", 1) == talk(5)
        assert archive.transcript("s") == [*talk(5), user("more")]
        assert archive.state("s") == {"guard": {"ineffective": 1}}
        (compaction,) = archive.compactions("s")
        assert (compaction.messages_before, compaction.messages_after) == (15, 4)
        with pytest.raises(ArchiveError, match="no compaction 2"):
            archive.restore("s", 2)


def test_of_two_that_follow_the_same_one_the_second_is_refused(path: Path):
    with Archive(path) as archive:
        archive.start("s")
        archive.append("s", talk(2))
        archive.compact("s", talk(2), talk(1), {}, follows=0)
        with pytest.raises(SessionBusy):
            archive.compact("s", talk(2), talk(1), {}, follows=0, unsaid=[user("never")])
        assert archive.transcript("s") == talk(2)
        assert len(archive.compactions("s")) == 1


def test_a_lease_ends_by_itself(path: Path):
    with Archive(path) as archive:
        archive.start("s")
        archive.lease("s", "one", seconds=100)
        archive.lease("s", "one", seconds=0)
        archive.lease("s", "two")
        with pytest.raises(SessionBusy):
            archive.lease("s", "three")
        archive.release("s", "one")
        with pytest.raises(SessionBusy):
            archive.lease("s", "three")
        archive.release("s", "two")
        archive.lease("s", "three")


def test_what_a_dead_process_held_is_free(path: Path):
    done = subprocess.run(
        [sys.executable, "-c", "from abridged.archive.owner import owner_name; print(owner_name())"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    with Archive(path) as archive:
        archive.start("s")
        archive.lease("s", done.stdout.strip())
        archive.lease("s", owner_name())
        with pytest.raises(SessionBusy):
            archive.lease("s", owner_name())


@given(given_by.wild_conversations())
def test_anything_comes_back_letter_for_letter(messages: list[Any]):
    given = [message for message in messages if isinstance(message, dict)]
    with Archive() as archive:
        archive.start("s")
        archive.append("s", given)
        assert json.dumps(archive.transcript("s")) == json.dumps(given)


def test_messages_that_are_equal_are_kept_once(path: Path):
    with Archive(path) as archive:
        for name in ("one", "two"):
            archive.start(name)
            archive.append(name, [*talk(3), *talk(3)])
        assert archive.stats()["messages"] == 36
        assert archive.stats()["contents"] == 9


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("part_3.py", [1]),
        ("value_t_2", [2]),
        ("part 4 look", [0]),
        ('"look at part 1"', [0]),
        ("src/t/part_0.py read_file", [1]),
        ("nowhere", []),
        ("", []),
        ('"', []),
        ("数据库", [0]),
        ("结构 数据", [0]),
    ],
)
def test_words_identifiers_and_chinese_are_found(query: str, found: list[int]):
    with Archive() as archive:
        archive.start("s")
        archive.append("s", [*talk(5), user("不要改动数据库结构。")])
        hits = archive.search(query)
        assert [hit.place % 3 for hit in hits] == found
        assert archive.search(query, session="other") == []


def test_what_ended_long_ago_may_be_forgotten(path: Path):
    with Archive(path) as archive:
        for name in ("old", "new"):
            archive.start(name)
            archive.append(name, talk(4, name))
            archive.compact(name, talk(4, name), talk(1, name), {}, follows=0)
        archive.end("old")
        assert archive.vacuum(ended_before=9e12) == 1
        assert [info.id for info in archive.sessions()] == ["new"]
        assert archive.search("value_old_2") == []
        assert len(archive.search("value_new_2")) == 1
        assert archive.restore("new", 1) == talk(4, "new")
        assert archive.stats()["contents"] == 12


def test_retention_is_a_setting(path: Path):
    with Archive(path, retention_days=0) as archive:
        for name in ("old", "new"):
            archive.start(name)
            archive.append(name, talk(2, name))
            archive.end(name)
        assert [info.id for info in archive.sessions()] == ["new"]
    with Archive(path) as archive:
        archive.end("new")
        assert [info.id for info in archive.sessions()] == ["new"]


@pytest.mark.parametrize("content", [b"not a database at all, but long enough to be read as one" * 40, b"\x00" * 4096])
def test_what_is_no_archive_is_said(path: Path, content: bytes):
    path.parent.mkdir()
    path.write_bytes(content)
    with pytest.raises(ArchiveError, match=r"archive\.db"):
        Archive(path)
    assert path.read_bytes() == content


def test_a_file_of_the_future_is_left_alone(path: Path):
    Archive(path).close()
    with sqlite3.connect(path) as raw:
        raw.execute(f"PRAGMA user_version = {len(VERSIONS) + 1}")
    raw.close()
    with pytest.raises(ArchiveError, match="newer version"):
        Archive(path)


def test_a_place_where_nothing_can_be_written(tmp_path: Path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(ArchiveError):
        Archive(tmp_path / "file" / "archive.db")


def _write(path: Path, number: int, sessions: int, compactions: int) -> None:
    with Archive(path) as archive:
        for n in range(compactions):
            name = f"p{number}-s{n % sessions}"
            archive.start(name)
            live, last = archive.live(name)
            archive.append(name, talk(2, f"{name}-{n}"))
            archive.compact(name, [*live, *talk(2, f"{name}-{n}")], [user(f"summary {n}")], {"n": n}, follows=last)


def test_several_processes_and_threads_write_one_file(path: Path):
    Archive(path).close()
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=_write, args=(path, number, 5, 60)) for number in range(2)]
    threads = [threading.Thread(target=_write, args=(path, number, 5, 60)) for number in (2, 3)]
    for worker in (*processes, *threads):
        worker.start()
    for worker in (*processes, *threads):
        worker.join(120)
    assert [process.exitcode for process in processes] == [0, 0]
    with Archive(path) as archive:
        assert archive.stats()["compactions"] == 240
        for info in archive.sessions():
            numbers = [compaction.number for compaction in archive.compactions(info.id)]
            assert numbers == list(range(1, 13))
            said = [json.dumps(message) for message in archive.transcript(info.id)]
            assert len(said) == len(set(said)) == 12 * 6
