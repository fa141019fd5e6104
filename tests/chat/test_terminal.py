"""`abridged chat` as a person sees it: a real pseudo-terminal, a scripted server, the screen as it stands."""

import json
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.chat.onlooker import served
from tests.chat.server import Model
from tests.chat.terminal import Terminal, terminal

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a pseudo-terminal is needed")


class Place:
    """A folder, a home, a model."""

    def __init__(self, folder: Path, url: str, model: Model) -> None:
        self.folder, self.url, self.model = folder, url, model

    def chat(self, *arguments: str, **environment: str) -> Any:
        given = ["--model", "small", "--base-url", self.url, *arguments]
        window = {"ABRIDGED_MODEL__CONTEXT_LENGTH": str(self.model.window)}
        return terminal(given, self.folder, **window, **environment)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    model = Model()
    with served(model) as url:
        folder = tmp_path / "project"
        folder.mkdir()
        yield Place(folder, url, model)


def begin(one: Terminal) -> Terminal:
    one.wait("/help lists")
    return one


def test_a_long_task_with_everything_around_it(place: Place):
    with place.chat("--yes") as one:
        begin(one).say("Never touch the billing schema. Look at all parts.")
        one.wait("You said: Never touch")
        one.say("work")
        one.wait("All 120 parts were looked at", 120)
        text = one.text()
        assert text.count("verdict V-") >= 120
        assert "% saved" in text
        assert place.model.faults == []
        assert max(place.model.sizes) < 64_000
        assert "billing schema" in json.dumps(place.model.prompts[-1])

        one.say("/compress auth")
        one.wait("(?:nothing was compressed|compressed: [0-9,]+ → [0-9,]+ tokens)", times=2)
        one.say("/status")
        status = one.wait(r"session +[0-9a-f]{32}")
        assert "compressions" in status
        one.say("/model large 32000")
        one.wait("model large, window of 32,000 tokens")
        one.say("Who are you?")
        one.wait("You said: Who are you")
        assert place.model.models[-1] == "large"
        one.say("/recall verdict V-7-49")
        one.wait(r"tool +.*V-7-49")
        one.say("/new")
        one.wait("a new conversation", times=2)
        one.say("Hello again")
        one.wait("You said: Hello again")
        assert len(place.model.prompts[-1]) == 2
        one.say("/exit")
        assert one.end() == 0
    with place.chat("--resume") as again:
        assert "3 messages" in again.wait("session [0-9a-f]{8}")
        again.say("And now?")
        again.wait("You said: And now")
        assert [message["content"] for message in place.model.prompts[-1][1:]] == [
            "Hello again", "You said: Hello again", "And now?",
        ]  # fmt: skip
        again.type("\x04")
        assert again.end() == 0
    assert place.model.faults == []


def test_a_status_line_that_follows(place: Place):
    with place.chat() as one:
        begin(one)
        one.wait(r"0 of 64,000 tokens \(0 %\) · compresses at 54,400 · 0 compressions · small")
        one.say("Hello")
        one.wait("You said: Hello")
        one.wait(r"[1-9][0-9]+ of 64,000 tokens")


def test_ctrl_c_ends_the_turn_and_not_the_session(place: Place):
    with place.chat() as one:
        begin(one).say("slow")
        one.wait("word7")
        one.type("\x03")
        one.wait("interrupted")
        one.say("Still there?")
        one.wait("You said: Still there")
        assert "word7" in json.dumps(place.model.prompts[-1])
        one.type("\x03")
        one.wait("nothing is going on")
        one.type("half a line\x03")
        one.say("whole")
        one.wait("You said: whole")
    assert place.model.faults == []


def test_typing_while_the_model_answers(place: Place):
    with place.chat() as one:
        begin(one).say("slow")
        one.wait("word3")
        one.say("and then this")
        one.say("/status")
        one.wait("messages +")
        one.type("\x03")
        one.wait("You said: and then this")


def test_a_question_is_answered_in_the_same_line(place: Place):
    with place.chat() as one:
        begin(one).say("write")
        one.wait(r"allow\?")
        assert "notes.txt" in one.text()
        one.say("not this way")
        one.wait("refused this: not this way")
        assert not (place.folder / "notes.txt").exists()
        one.say("write")
        one.wait(r"allow\?.*\n(?:.*\n)*.*allow\?")
        one.say("a")
        one.wait("It gave", times=2)
        assert (place.folder / "notes.txt").exists()
        one.say("write other.txt")
        one.wait("It gave", times=3)
        assert (place.folder / "other.txt").exists()


def test_what_is_typed_when_a_question_comes_is_set_aside(place: Place):
    with place.chat() as one:
        begin(one).say("write")
        one.type("half a thought")
        one.wait(r"allow\?")
        one.say("y")
        one.wait("It gave")
        one.wait("› half a thought")
        one.say(", whole")
        one.wait("You said: half a thought, whole")


def test_text_of_a_model_is_no_instruction_to_the_terminal(place: Place):
    with place.chat() as one:
        begin(one).say("escape")
        one.wait("before .*after")
        assert "/help lists" in one.text()
        assert one.screen.title == ""


def test_several_lines_at_once(place: Place):
    with place.chat() as one:
        begin(one).type("\x1b[200~one\ntwo\x1b[201~")
        one.say("")
        one.wait("You said: one")
        assert place.model.prompts[-1][-1]["content"] == "one\ntwo"


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_a_terminal_that_goes_away_leaves_nothing_running(name: str, place: Place):
    mark = f"6{os.getpid()}.125"
    with place.chat("--yes") as one:
        begin(one).say(f"run sleep {mark}")
        one.wait("running terminal")
        one.read(0.5)
        one.process.kill(getattr(signal, name))
        one.end()
    assert not [line for line in processes() if f"sleep {mark}" in line]
    with place.chat("--resume") as again:
        again.wait("session [0-9a-f]{8}")
        again.say("/history")
        again.wait("no result: the turn was interrupted")
    assert place.model.faults == []


def processes() -> list[str]:
    import psutil

    return [" ".join(one.info["cmdline"] or []) for one in psutil.process_iter(["cmdline"])]


def test_killed_in_the_middle_it_goes_on_where_it_was(place: Place):
    place.model.calls = 25
    with place.chat("--yes") as one:
        begin(one).say("work")
        one.wait("verdict V-9-63")
        one.process.kill(signal.SIGKILL)
        one.end()
    with place.chat("--resume", "--yes") as again:
        again.wait("session [0-9a-f]{8}")
        again.say("/recall verdict V-8-56")
        again.wait(r"tool +.*V-8-56")
        again.say("work")
        again.wait("All 25 parts were looked at", 120)
    assert place.model.faults == []


def test_a_server_that_goes_and_comes_back(tmp_path: Path):
    model = Model()
    with served(model) as url, Place(tmp_path / "project", url, model).chat() as one:
        begin(one).say("Hello")
        one.wait("You said: Hello")
        port = int(url.rpartition(":")[2].removesuffix("/v1"))
        gone = model.server
        assert gone is not None
        gone.shutdown()
        gone.server_close()
        one.say("Are you there?")
        one.wait("cannot reach .*is the server running")
        with served(model, port):
            one.say("/retry")
            one.wait("You said: Are you there")
        assert model.faults == []


def test_what_a_compression_did_and_that_it_can_be_undone(tmp_path: Path):
    model = Model(window=16_000, calls=40)
    with served(model) as url, Place(tmp_path / "project", url, model).chat("--yes") as one:
        begin(one).say("work")
        one.wait("compressed: [0-9,]+ → [0-9,]+ tokens")
        one.wait("All 40 parts")
        one.say("/undo-compression")
        one.wait("taken back: [0-9]+ messages")
        one.say("Hello")
        one.wait("You said: Hello")
        assert model.faults == []


def test_a_terminal_that_shows_lines_and_no_more(place: Place):
    with place.chat(TERM="dumb") as one:
        one.wait("each line is a turn")
        one.say("slow")
        one.wait("word5")
        one.type("\x03")
        one.wait("interrupted")
        one.say("Still there?")
        one.wait("You said: Still there")
        one.type("\x03")
        assert one.end() in (0, 130)
    assert place.model.faults == []


def test_lists_fit_a_narrow_terminal(place: Place):
    with place.chat() as one:
        begin(one)
        one.process.setwinsize(30, 60)
        one.screen.resize(30, 60)
        one.read(0.3)
        one.say("/help")
        one.wait("leave; `abridged chat")
        assert "\n                        is kept in most detail" in one.text()


def test_while_it_compresses_one_sees_for_how_long_and_types_on(tmp_path: Path):
    """hermes-agent#61042, #73468"""
    model, writer = Model(window=16_000, calls=12), Model(window=1_000_000)
    writer.pause = 4.0
    with served(model) as url, served(writer) as other:
        settings = {"ABRIDGED_SUMMARIZER__MODEL": "writer", "ABRIDGED_SUMMARIZER__BASE_URL": other}
        with Place(tmp_path / "project", url, model).chat("--yes", **settings) as one:
            begin(one).say("work")
            one.wait("All 12 parts")
            one.say("/compress")
            one.wait("compressing: summary, part 1 of 1 [1-3] s")
            one.say("typed meanwhile")
            one.wait("comes next, when this is done")
            one.wait(r"compressed: [0-9,]+ → [0-9,]+ tokens.*(\n.*)?by a model")
            one.wait("You said: typed meanwhile")
            assert "compressing" not in one.rows()[-1]

            before = len(model.prompts[-1])
            one.say("/compress")
            one.wait("compressing: summary", times=1)
            one.read(0.5)
            one.type("\x03")
            one.wait("interrupted")
            one.say("Still there?")
            one.wait("You said: Still there")
            assert len(model.prompts[-1]) == before + 2
    assert model.faults == []


@pytest.mark.parametrize("columns", [48, 30])
def test_a_question_is_seen_in_a_narrow_terminal(columns: int, place: Place):
    with place.chat() as one:
        begin(one)
        one.process.setwinsize(20, columns)
        one.screen.resize(20, columns)
        one.read(0.3)
        one.say("write")
        one.wait("allow[?] ›")
        assert any(row.startswith("allow? ›") for row in one.rows())
        assert any("notes.txt" in row for row in one.rows())


def test_a_command_at_a_question_is_a_command(place: Place):
    with place.chat() as one:
        begin(one).say("write")
        one.wait("allow[?]")
        one.say("/status")
        one.wait("messages +")
        one.say("y")
        one.wait("It gave")
        one.say("write other.txt")
        one.wait("allow[?]", times=2)
        one.say("/exit")
        assert one.end() == 0
    assert not (place.folder / "other.txt").exists()
