"""`abridged archive`: every command, as a process of its own."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.cli.cli_sessions import long_session, run

from abridged import ContextCompressor, ContextSession


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """An archive with two sessions, one of them compacted and ended."""
    path = tmp_path / "archive.db"
    for name, turns in (("first-one", 60), ("second", 2)):
        engine = ContextCompressor(8_000, minimum_context_length=0)
        session = ContextSession.start(name, engine=engine, archive=str(path))
        messages = session.before_request(long_session(turns))
        if turns > 10:
            session.close(session.compress(messages))
    return path


def of(path: Path, *arguments: Any) -> dict[str, Any]:
    done = run("archive", *arguments, "--archive", path, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_sessions_are_listed(path: Path):
    rows = of(path, "ls")["sessions"]
    assert {row["session"]: row["messages"] for row in rows} == {"first-one": 241, "second": 9}
    plain = run("archive", "ls", ABRIDGED_ARCHIVE__PATH=str(path)).stdout.decode()
    assert "first-one" in plain
    assert "ended" in plain


def test_a_session_is_shown(path: Path):
    shown = of(path, "show", "first")
    assert shown["session"] == "first-one"
    assert shown["compactions"][0]["before"] == 241
    assert "[CONTEXT COMPACTION" in str(shown["messages"])
    plain = run("archive", "show", "first", "--archive", path).stdout.decode()
    assert "Compactions" in plain
    assert max(map(len, plain.splitlines())) <= 80


def test_words_are_found(path: Path):
    hits = of(path, "search", "target17", "--session", "first-one")["hits"]
    assert hits
    assert all("target17" in str(hit["message"]) or "target 17" in str(hit["message"]) for hit in hits)
    assert b"target17" in run("archive", "search", "target17", "--archive", path).stdout
    missing = run("archive", "search", "nowhere", "--archive", path)
    assert (missing.returncode, missing.stdout) == (1, b"nothing found\n")


def test_a_conversation_comes_back(path: Path, tmp_path: Path):
    out = tmp_path / "out.json"
    assert run("archive", "restore", "first", 1, "-o", out, "--archive", path).returncode == 0
    assert json.loads(out.read_text()) == long_session(60)
    exported = run("archive", "export", "second", "--archive", path)
    assert json.loads(exported.stdout) == long_session(2)


def test_nothing_is_forgotten_unless_asked(path: Path):
    assert of(path, "vacuum")["sessions_forgotten"] == 0
    assert of(path, "stats")["sessions"] == 2
    assert of(path, "vacuum", "--days", 0)["sessions_forgotten"] == 1
    assert of(path, "stats")["sessions"] == 1
    assert of(path, "ls")["sessions"][0]["session"] == "second"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("ls", "--archive", "nowhere.db"), "nowhere.db: there is no such file"),
        (("show", "zebra"), "there is no session zebra"),
        (("restore", "first", 9), "no compaction 9"),
    ],
)
def test_what_is_not_there_is_one_clear_line(path: Path, arguments: tuple[Any, ...], said: str):
    done = run("archive", *arguments, ABRIDGED_ARCHIVE__PATH=str(path))
    assert done.returncode == 2
    assert said in done.stderr.decode()
    assert done.stderr.count(b"\n") == 1


def test_a_file_that_is_no_archive(tmp_path: Path):
    path = tmp_path / "notes.txt"
    path.write_text("hello " * 300)
    done = run("archive", "ls", "--archive", path)
    assert done.returncode == 2
    assert b"not a database" in done.stderr
