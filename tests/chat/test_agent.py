"""The agent's loop against a strict server: tools, questions, interruptions, faults; the conversation stays whole."""

import asyncio
import json
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from tests.chat.onlooker import Room, served
from tests.chat.server import Model
from tests.properties.validator import check_pairs

from abridged import ContextCompressor
from abridged.archive import Archive
from abridged.chat.agent import BROKEN_OFF, NO_RESULT, NOT_ANSWERED
from abridged.chat.view import Verdict
from abridged.engines.rag import RetrievingEngine

Make = Callable[..., Room]


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Make]:
    closing: list[Any] = []

    def make(*answers: Verdict, model: Model | None = None, **options: Any) -> Room:
        model = model or Model()
        context = served(model)
        closing.append(context)
        return Room(tmp_path, model, context.__enter__(), *answers, **options)

    yield make
    for context in closing:
        context.__exit__(None, None, None)


def roles(room: Room) -> list[str]:
    return [message["role"] for message in room.messages]


def test_a_turn(room: Make):
    one = room().play("Hello there")
    assert roles(one) == ["system", "user", "assistant"]
    assert one.view.heard == "You said: Hello there"
    assert one.archive is not None
    assert one.archive.transcript("s") == one.messages
    assert one.agent.used_tokens > 100
    ours, engines = ["terminal", "read_file", "write_file", "patch", "search_files"], ["recall_search", "recall_get"]
    assert one.server.tools == [*ours, *engines]


def test_a_tool_runs_when_the_user_allows_it(room: Make, tmp_path: Path):
    one = room(Verdict(True), yes=False).play("write")
    assert (tmp_path / "notes.txt").read_text() == "one\ntwo\n"
    assert "notes.txt" in one.view.questions[0].preview
    assert roles(one) == ["system", "user", "assistant", "tool", "assistant"]


def test_a_tool_does_not_run_when_the_user_refuses(room: Make, tmp_path: Path):
    one = room(Verdict(False, reason="use another name"), yes=False).play("write")
    assert not (tmp_path / "notes.txt").exists()
    assert "refused this: use another name" in one.messages[3]["content"]
    assert one.server.faults == []


def test_always_is_for_that_tool_alone(room: Make):
    one = room(Verdict(True, always=True), Verdict(False), yes=False).play("write a.txt", "write b.txt", "run true")
    assert [question.tool for question in one.view.questions] == ["write_file", "terminal"]


def test_what_needs_no_leave_is_not_asked_for(room: Make, tmp_path: Path):
    (tmp_path / "notes.txt").write_text("what is in it")
    one = room(yes=False).play("read notes.txt")
    assert one.view.questions == []
    assert "what is in it" in one.view.heard


def test_a_new_conversation_asks_again(room: Make):
    one = room(Verdict(True, always=True), Verdict(False), yes=False).play("run true", "run true", "/new", "run true")
    assert len(one.view.questions) == 2


def test_an_empty_answer_is_said_and_asked_for_again(room: Make):
    one = room().play("nothing")
    assert "the model gave no answer; /retry asks again" in one.view.said
    one.server.on_nothing = lambda rest: iter([{"content": "something"}])  # type: ignore[method-assign]
    one.play("/retry")
    assert [message["content"] for message in one.messages[1:]] == ["nothing", "something"]
    assert one.server.faults == []


def test_a_path_outside_is_refused_before_anybody_is_asked(room: Make):
    one = room(yes=False).play("write ../outside.txt")
    assert one.view.questions == []
    assert one.messages[3]["content"].startswith("error: ")


@pytest.mark.parametrize(
    ("line", "said"),
    [("call no_such_tool {}", "there is no tool no_such_tool; there are: terminal"), ("call terminal {", "no JSON"),
     ("call terminal []", "no JSON"), ("call terminal {}", "command")],
)  # fmt: skip
def test_a_wrong_call_is_a_result_that_says_so(line: str, said: str, room: Make):
    one = room().play(line)
    assert said in one.messages[3]["content"]
    assert one.server.faults == []
    assert roles(one)[-1] == "assistant"


def test_an_answer_that_is_broken_off_stays_as_far_as_it_came(room: Make):
    one = room()
    one.view.on_text = lambda piece: one.conversation.interrupt() if one.view.heard.endswith("word3 ") else None
    one.play("slow", "Go on")
    assert "word3" in one.messages[2]["content"]
    assert BROKEN_OFF in one.messages[2]["content"]
    assert one.messages[-1]["content"] == "You said: Go on"
    assert one.server.faults == []
    assert "interrupted" in one.view.said


def test_a_command_that_is_broken_off_has_a_result_and_is_gone(room: Make):
    one = room()

    async def soon(room: Room) -> None:
        while not room.view.calls:
            await asyncio.sleep(0.05)
        await asyncio.sleep(0.3)
        room.conversation.interrupt()

    started = time.monotonic()
    one.play("run sleep 71.25", "Go on", during=soon)
    assert time.monotonic() - started < 15
    assert one.messages[3]["content"] == NO_RESULT
    check_pairs(one.messages)
    assert one.server.faults == []


def test_interrupted_while_a_question_is_open(room: Make, tmp_path: Path):
    one = room(yes=False)
    asked = asyncio.Event()

    async def ask(question: Any) -> Verdict:
        asked.set()
        await asyncio.sleep(3_600)
        return Verdict(True)

    async def soon(room: Room) -> None:
        await asked.wait()
        room.conversation.interrupt()

    one.view.ask = ask  # type: ignore[method-assign]
    one.play("write", "Go on", during=soon)
    assert not (tmp_path / "notes.txt").exists()
    assert one.server.faults == []
    assert one.messages[-1]["content"] == "You said: Go on"


def test_a_long_task_is_compressed_on_the_way(room: Make):
    one = room(model=Model(window=16_000, calls=60)).play("Never touch the billing schema.", "work")
    assert one.server.faults == []
    assert max(one.server.sizes) <= 16_000
    assert one.agent.session.engine.compression_count >= 2
    assert "All 60 parts were looked at." in one.view.heard
    assert "Never touch the billing schema." in json.dumps(one.server.prompts[-1])
    assert "% saved" in one.view.said
    assert one.agent.saved_tokens > 5_000
    assert one.view.works[-1] == ""


def test_a_window_that_is_smaller_than_said(room: Make):
    # spec: T6
    engine = ContextCompressor(64_000)
    one = room(model=Model(window=12_000, calls=40), engine=engine).play("work")
    assert "All 40 parts were looked at." in one.view.heard
    assert one.server.refused >= 1
    assert engine.context_length == 12_000
    assert one.server.faults == []
    assert "too long for the model" in one.view.said


def test_no_answer_and_once_more(room: Make):
    one = room()
    broken, one.server.pieces = one.server.pieces, lambda messages: iter_of_a_lost_connection()  # type: ignore
    one.play("Hello")
    assert one.conversation.failed
    assert "/retry asks again" in one.view.said
    one.server.pieces = broken  # type: ignore[method-assign]
    one.play("/retry")
    assert roles(one) == ["system", "user", "assistant"]
    assert not one.conversation.failed


def iter_of_a_lost_connection() -> Iterator[Any]:
    raise ConnectionAbortedError
    yield {}


def test_after_no_answer_another_word(room: Make):
    one = room()
    good, one.server.pieces = one.server.pieces, lambda messages: iter_of_a_lost_connection()  # type: ignore
    one.play("Hello")
    one.server.pieces = good  # type: ignore[method-assign]
    one.play("Are you there?")
    assert roles(one) == ["system", "user", "assistant", "user", "assistant"]
    assert one.messages[2]["content"] == NOT_ANSWERED
    assert one.server.faults == []


class WithTools(ContextCompressor):
    """Offers tools of its own."""

    def get_tool_schemas(self) -> list[dict[str, Any]]:
        bare = {"name": "look_back", "description": "Look back", "parameters": {"type": "object", "properties": {}}}
        return [bare, {"type": "function", "function": {**bare, "name": "break"}}, {**bare, "name": "terminal"}]

    def handle_tool_call(self, name: str, args: dict[str, Any], **kwargs: Any) -> str:
        if name == "break":
            raise RuntimeError("it broke")
        return json.dumps({"looked": name, "for": args, "messages": len(kwargs["messages"])})


def test_the_tools_of_an_engine(room: Make):
    # spec: E3
    one = room(engine=WithTools(64_000)).play('call look_back {"x": 1}', "call break {}")
    assert one.server.tools.count("terminal") == 1
    assert {"look_back", "break"} <= set(one.server.tools)
    assert json.loads(one.messages[3]["content"]) == {"looked": "look_back", "for": {"x": 1}, "messages": 3}
    assert "it broke" in one.messages[7]["content"]


class Broken(ContextCompressor):
    def compress(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("no luck")

    def get_tool_schemas(self) -> list[dict[str, Any]]:
        raise RuntimeError("no tools")


def test_a_broken_engine_does_not_stop_a_conversation(room: Make):
    one = room(engine=Broken(64_000)).play("Hello", "/compress", "And now?")
    assert "engine compressor: RuntimeError: no luck" in one.view.said
    assert one.messages[-1]["content"] == "You said: And now?"
    assert "its tools cannot be had: no tools" in one.view.said


def test_switched_off_is_off_on_every_path(room: Make):
    """hermes-studio#1790, Roo-Code#7811"""
    model = Model(window=12_000, calls=40)
    engine = ContextCompressor(12_000, minimum_context_length=0)
    one = room(model=model, engine=engine, automatic=False).play("work")
    assert engine.compression_count == 0
    assert one.conversation.failed
    assert "switched off" in one.view.said
    one.play("/compress", "Hello")
    assert engine.compression_count == 1
    assert one.messages[-1]["content"] == "You said: Hello"


def test_a_session_is_resumed_with_all_that_it_knew(room: Make):
    archive = Archive()
    model = Model(window=16_000, calls=40)
    first = room(model=model, archive=archive).play("work", "/pin Never push.")
    again = room(model=model, archive=archive)
    assert again.messages == first.messages
    assert again.agent.instructions.pins == ["Never push."]
    assert again.agent.saved_tokens == first.agent.saved_tokens > 0
    assert "Never push." in again.play("Hello").server.prompts[-1][0]["content"]


def test_the_prefix_changes_only_when_something_is_compressed(room: Make):
    # spec: T8
    one = room(model=Model(window=16_000, calls=40)).play("Begin", "work")
    prompts = one.server.prompts
    breaks = sum(after[: len(before)] != before for before, after in pairwise(prompts))
    assert breaks == one.agent.session.engine.compression_count > 0


def test_a_result_is_cut_to_what_the_window_allows(room: Make):
    one = room(model=Model(window=8_000)).play("run seq 100000")
    assert len(one.messages[3]["content"]) < 9_000
    assert "left out" in one.messages[3]["content"]
    assert one.server.refused == 0


def test_an_engine_that_retrieves_does_so_for_each_word_of_the_user(room: Make):
    # spec: E6
    engine = RetrievingEngine(16_000, minimum_context_length=0)
    one = room(model=Model(window=16_000, calls=40), engine=engine).play("work", "Which verdict did part 7 get?")
    assert engine.compression_count >= 1
    last = one.server.prompts[-1]
    assert "verdict V-7-49" in last[-1]["content"]
    assert last[-1]["content"].endswith("Which verdict did part 7 get?")
    assert one.messages[-2]["content"] == "Which verdict did part 7 get?"
    assert one.server.faults == []
    assert {"rag_search", "rag_get", "rag_neighbors", "rag_status"} <= set(one.server.tools)
