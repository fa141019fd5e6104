"""Every command, with what it is for and with what people type by mistake."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.chat.onlooker import Room, served
from tests.chat.server import Model

from abridged.archive import Archive
from abridged.chat.commands import COMMANDS, command_in, unknown

LONG = ("Never touch the billing schema.", "work")

CASES: dict[str, list[tuple[tuple[str, ...], str]]] = {
    "compress": [
        ((*LONG, "/compress"), r"compressed: [\d,]+ → [\d,]+ tokens"),
        ((*LONG, "/compress auth"), r"compressed: [\d,]+ → [\d,]+ tokens"),
        (("/compress",), r"nothing was compressed: "),
        (("Hello", "/compress"), r"nothing was compressed: "),
    ],
    "undo-compression": [
        ((*LONG, "/compress", "/undo-compression"), r"taken back: \d+ messages, [\d,]+ tokens; nothing is compressed"),
        (("/undo-compression",), "there is no compression to take back"),
    ],
    "new": [(("Hello", "/new"), "a new conversation"), (("/pin One.", "/new"), "conversation; 1 pinned text stays")],
    "reset": [(("/pin One.", "/reset", "/pin"), "(?s)without pins.*nothing is pinned")],
    "retry": [(("/retry",), "say something first"), (("Hello", "/retry"), "say something first")],
    "pin": [
        (("/pin",), "nothing is pinned"),
        (("/pin Use tabs.", "/pin"), "1. Use tabs."),
        (("/pin  two   blanks ", "/pin"), "1. two   blanks"),
    ],
    "unpin": [
        (("/pin One.", "/unpin 1"), "no longer pinned: One."),
        (("/unpin 1",), r"which one\?"),
        (("/pin One.", "/unpin one"), r"which one\?"),
        (("/unpin",), r"which one\?"),
    ],
    "model": [
        (("/model",), "(?s)model small, window of 16,000.*the server has: large, small"),
        (("/model large",), r"model large, window of 16,000 tokens \(as before"),
        (("/model large 8000",), "model large, window of 8,000 tokens$"),
        (("/model large 8,000",), "model large, window of 8,000 tokens$"),
        (("/model large lots",), "lots: not a number of tokens"),
        (("/model large 0",), "0: not a number of tokens"),
    ],
    "status": [(("Hello", "/status"), r"(?s)session +s\n.*tokens +[\d,]+ used.*archive +:memory:")],
    "history": [
        (("/history",), "nothing was said yet"),
        (("Hello", "/history"), r"(?s)0  system .*1  user .*Hello.*2  assistant .*You said: Hello"),
        ((*LONG, "/history"), r"… \d+ earlier ones: /history all"),
        ((*LONG, "/compress", "/history all"), r"\[summary of what was said before\]"),
    ],
    "recall": [
        (("Hello", "/recall hello"), r"user +Hello"),
        ((*LONG, "/compress", "/recall verdict V-2-14"), r"tool .*verdict V-2-14"),
        (("/recall",), r"what\? /recall WORDS"),
        (("/recall unheard",), "nothing with unheard"),
        (('Hello', '/recall "'), "nothing with|what"),
    ],
    "help": [(("/help",), r"(?s)/compress \[TOPIC\].*Ctrl-C")],
    "exit": [],
}  # fmt: skip


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Room]:
    model = Model(window=16_000, calls=16)
    with served(model) as url:
        yield Room(tmp_path, model, url)


def test_every_command_is_here():
    assert CASES.keys() == COMMANDS.keys()


@pytest.mark.parametrize(
    ("lines", "said"), [pytest.param(*case, id=" ".join(case[0])[-40:]) for cases in CASES.values() for case in cases]
)
def test_what_a_command_says(lines: tuple[str, ...], said: str, room: Room):
    room.play(*lines)
    assert re.search(said, room.view.said, re.MULTILINE), room.view.said
    assert room.server.faults == []
    assert not [text for _, text in room.view.words if text.startswith("this went wrong")]


@pytest.mark.parametrize("name", [name for name, one in COMMANDS.items() if name != "exit"])
@pytest.mark.parametrize(
    "argument", ["", "x", "1", "-1", '"', "\x00", "a" * 3_000, "中文", "'; DROP TABLE words; --", "* OR NEAR("]
)
def test_no_argument_ends_the_session(name: str, argument: str, room: Room):
    room.play("Hello", f"/{name} {argument}", "Still there?")
    assert room.messages[-1]["content"] == "You said: Still there?"
    assert "this went wrong" not in room.view.said


@pytest.mark.parametrize(
    ("line", "is_command"),
    [("/help", True), ("/HELP", True), ("/nope", True), ("/ help", True), ("/etc/hosts is wrong", False),
     ("what is /help", False), ("//", False), ("/", True)],
)  # fmt: skip
def test_what_is_a_command(line: str, is_command: bool):
    assert (command_in(line) is not None) == is_command


def test_a_typo_names_the_nearest():
    assert unknown("compres") == "no command /compres; did you mean /compress?"
    assert unknown("zzz") == "no command /zzz; /help lists them"


def test_pins_are_in_every_prompt_word_for_word(room: Room):
    room.play("/pin Never touch the   billing schema.", *LONG, "/compress", "/new", "Hello")
    said = room.server.prompts
    assert len(said) > 10
    assert all("Never touch the   billing schema." in prompt[0]["content"] for prompt in said)
    assert all("billing schema" not in str(message) for message in said[-1][1:])


def test_a_new_conversation_knows_nothing_of_the_old_one(room: Room):
    room.play(*LONG, "/new", "Hello")
    assert [message["content"] for message in room.messages[1:]] == ["Hello", "You said: Hello"]
    assert room.agent.session.engine.compression_count == 0
    assert room.agent.saved_tokens == 0
    assert room.archive is not None
    old, new = sorted(room.archive.sessions(), key=lambda one: one.started)
    assert (old.ended is not None, new.ended) == (True, None)


def test_another_model_and_its_window(room: Room):
    room.play(*LONG, "/model large 8000", "Hello")
    assert room.server.models[-1] == "large"
    assert room.server.sizes[-1] < 8_000
    assert room.agent.session.engine.compression_count >= 1


def test_without_an_archive_they_say_so(tmp_path: Path):
    model = Model()
    with served(model) as url:
        one = Room(tmp_path, model, url, archive=Archive())
        one.archive.close() if one.archive else None
        one.play("Hello", "/recall x", "/undo-compression", "/status", "/new", "Hello again")
    assert "nothing is archived any more" in one.view.said
    assert "cannot be taken back: " in one.view.said
    assert one.messages[-1]["content"] == "You said: Hello again"
