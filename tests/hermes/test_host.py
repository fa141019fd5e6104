"""Our engine in the real host: it is the one that is used, and the host's work is done to the end."""

import json
import sqlite3
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.chat.server import newest_word
from tests.hermes.conftest import SHIM, Host

from abridged.hermes.exchange import HOST_PREFIX
from abridged.hermes.install import MANIFEST
from abridged.hermes.install import SHIM as SHIM_TEXT
from abridged.plugins import DEFAULT_ENGINE, engines

SESSION = "20260101_000000_abcdef"
ABRIDGED = (sys.executable, "-c", "import sys; from abridged.cli import main; sys.exit(main())")


def is_used(host: Host, seen: dict[str, Any]) -> None:
    """No other engine took its place, and nobody had to say so."""
    assert seen["class"] == "abridged.hermes.engine.HermesEngine"
    assert (seen["engine"], seen["fault"], seen["error"]) == ("abridged", "", None)
    assert "falling back" not in host.stderr
    assert "ERROR" not in host.stderr, host.stderr
    assert not seen["in_transaction"]


def is_archived(host: Host, messages: int, session: str = SESSION) -> None:
    """One row a message, in order, and nothing left open."""
    with host.archive() as archive:
        rows = [json.dumps(message, sort_keys=True) for message in archive.transcript(session)]
        assert (len(rows), len(set(rows))) == (messages, messages)
        assert not [row for row in rows if "CONTEXT SUMMARY" in row or "_db_persisted" in row]
    with sqlite3.connect(host.home / "archive.db") as connection:
        assert connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()


def is_summarised(host: Host) -> None:
    """Every request was valid, and the later ones open with a summary that the host knows as one."""
    assert (host.model.faults, host.model.refused) == ([], 0)
    last = host.model.prompts[-1]
    texts = [str(message.get("content")) for message in last]
    assert sum(text.startswith(HOST_PREFIX) for text in texts) == 1
    assert newest_word(last) == "work", "the request is there, word for word, behind the summary"


@pytest.fixture(params=["user folder", "repository folder", "package"])
def installed(request: pytest.FixtureRequest, host: Host) -> Host:
    if request.param == "user folder":
        done = host.run(*ABRIDGED, "hermes", "install", "--home", host.home)
        assert "now uses abridged" in done.stdout, done.stdout + done.stderr
    elif request.param == "repository folder":
        request.getfixturevalue("in_repository")
        host.configure("abridged")
    else:
        host.path = request.getfixturevalue("package")
        host.configure("abridged", enabled=True)
    return host


def test_a_long_task_is_done_to_the_end(installed: Host) -> None:
    seen = installed.lead(["say", "work"], ["end"])
    is_used(installed, seen["say"])
    assert seen["say"]["answer"] == "All 40 parts were looked at."
    assert seen["say"]["count"] >= 3
    is_summarised(installed)
    is_archived(installed, 82)
    with installed.archive() as archive:
        assert len(archive.compactions(SESSION)) == seen["say"]["count"]
        assert archive.restore(SESSION, 1) == archive.transcript(SESSION, 0, len(archive.restore(SESSION, 1)))


@pytest.mark.parametrize("name", [one.name for one in engines() if one.name != DEFAULT_ENGINE])
def test_every_other_engine_by_its_name(host: Host, name: str) -> None:
    host.model.calls = 30
    done = host.run(*ABRIDGED, "hermes", "install", "--engine", name)
    assert f"now uses {name}" in done.stdout, done.stdout + done.stderr
    seen = host.lead(["say", "work"], ["resume"], ["say", "hello"], ["end"])
    assert (seen["say"]["engine"], seen["say"]["fault"]) == (name, "")
    assert seen["say"]["count"] >= 3
    assert (host.model.faults, host.model.refused, host.model.worked) == ([], 0, 30)
    is_archived(host, 64)


@pytest.fixture
def plugged(host: Host) -> Host:
    """By the user's folder, written by hand."""
    folder = host.home / "plugins" / "abridged"
    folder.mkdir(parents=True)
    for file in SHIM.iterdir():
        if file.is_file():
            (folder / file.name).write_text(file.read_text())
    host.configure("abridged", enabled=True)
    return host


def test_resumed_compressed_by_hand_by_a_second_agent_and_begun_anew(plugged: Host) -> None:
    seen = plugged.lead(
        ["say", "work"], ["resume"], ["say", "hello"], ["compress", "the verdicts"], ["second"], ["say", "more"],
        ["new"], ["say", "hi"], ["end"],
    )  # fmt: skip
    is_used(plugged, seen["end"])
    assert seen["resume"]["count"] >= 3, "a resumed session knows of its compressions"
    assert seen["compress"]["after"] < seen["compress"]["before"]
    assert seen["compress"]["marked"] == 1
    assert seen["new"]["count"] == 0
    assert plugged.model.faults == []
    is_archived(plugged, 2 * 82 + 2)
    is_archived(plugged, 2, "20260102_000000_fedcba")


def test_a_host_that_goes_on_under_new_ids_has_one_session_here(plugged: Host) -> None:
    plugged.configure("abridged", enabled=True, compression={"in_place": False})
    seen = plugged.lead(["say", "work"], ["resume"], ["say", "hello"], ["compress"], ["end"])
    is_used(plugged, seen["end"])
    assert seen["say"]["session"] != SESSION
    assert plugged.model.faults == []
    is_archived(plugged, 84)
    with plugged.archive() as archive:
        others = [info for info in archive.sessions() if info.id != SESSION]
        assert {info.notes.get("continues") for info in others} == {SESSION}
        assert sum(info.messages for info in others) == 0


def test_the_tools_find_what_was_replaced(plugged: Host) -> None:
    asked = 'call recall_search {"query": "V-3-21"}'
    seen = plugged.lead(["say", "work"], ["resume"], ["say", asked])
    is_used(plugged, seen["say"])
    assert "verdict V-3-21" in seen["say"]["answer"]


def test_a_window_that_proves_smaller_than_told(plugged: Host) -> None:
    plugged.model.window = 40_000
    seen = plugged.lead(["say", "work"], ["end"])
    is_used(plugged, seen["end"])
    assert seen["say"]["answer"] == "All 40 parts were looked at."
    assert plugged.model.faults == []
    is_archived(plugged, 82)


def test_a_fault_in_our_own_configuration_is_said_and_stops_nobody(plugged: Host) -> None:
    plugged.ours(compression={"threshold_percent": 7})
    seen = plugged.lead(["say", "hello"])
    assert seen["say"]["class"] == "abridged.hermes.engine.HermesEngine"
    assert "threshold_percent" in seen["say"]["fault"]
    assert seen["say"]["answer"] == "You said: hello"


def test_the_hosts_own_command_uses_it(plugged: Host) -> None:
    done = plugged.run(plugged.python.with_name("hermes"), "-z", "work", "-t", "terminal,context_engine")
    assert "All 40 parts were looked at." in done.stdout, done.stdout + done.stderr
    is_summarised(plugged)
    with plugged.archive() as archive:
        (session,) = archive.sessions()
        assert session.compactions >= 3


def test_status_tells_what_is_used_and_why_nothing_is(plugged: Host) -> None:
    told = json.loads(plugged.run(*ABRIDGED, "hermes", "status", "--json").stdout)
    assert told["class"] == "abridged.hermes.engine.HermesEngine"
    assert (told["used"], told["threshold_tokens"]) == ("abridged", 54_400)
    plugged.configure("abridged")
    told = plugged.run(*ABRIDGED, "hermes", "status").stdout
    assert "None of ours" in told
    assert "not enabled" in told
    plugged.configure()
    assert "abridged hermes install" in plugged.run(*ABRIDGED, "hermes", "status").stdout
    plugged.path = Path("/nowhere")
    assert "pip install abridged" in plugged.run(*ABRIDGED, "hermes", "install").stderr


def test_the_shim_is_one_and_the_same() -> None:
    assert (SHIM / "__init__.py").read_text() == SHIM_TEXT
    assert (SHIM / "plugin.yaml").read_text() == MANIFEST
