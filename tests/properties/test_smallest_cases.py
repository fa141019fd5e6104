"""What the generated conversations found, each as small as it gets."""

from typing import Any

from tests.properties import validator
from tests.properties.validator import Message

from abridged import ContextCompressor
from abridged.phases.prune import PruneSettings, prune
from abridged.testing import assistant, call, result, user

PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
LONG = "Then the parser was opened again. " * 200


def compressed(messages: list[Message], **options: Any) -> list[Message]:
    """The messages after one compression by an engine with a window of 2,000 tokens; it must have done something."""
    small = {"minimum_context_length": 0, "protect_first_n": 0, "protect_last_n": 1, "min_summary_tokens": 50}
    engine = ContextCompressor(2_000, **(small | options))
    light = engine.compress(messages)
    assert engine.report.compressed, engine.report.reason
    return light


def test_a_short_room_for_wide_letters_ends() -> None:
    """A line of Chinese that must be cut to a few tokens: it once never became short enough, and the engine hung."""
    # spec: P3.4
    wide = "请检查第0个模块的配置文件，然后运行测试。" * 33
    compressed([user("a"), assistant(wide), user("b"), assistant("")], min_summary_tokens=300)


def test_a_picture_of_the_newest_request_stays() -> None:
    # spec: P2.5
    asked = [{"type": "text", "text": "What is in this?"}, PICTURE]
    light = compressed([user("hi"), assistant("ok"), user(asked), assistant(LONG), assistant("done")])
    assert any(PICTURE in message["content"] for message in light if isinstance(message["content"], list))


def test_blank_parts_are_no_request() -> None:
    # spec: P2.5, P2.5b
    blank = user([{"type": "text", "text": ""}])
    light = compressed([user("hi"), assistant("ok"), user("delete b.py"), assistant(LONG), blank])
    assert validator.newest_request(light) == "delete b.py"


def test_an_anchored_request_makes_no_pair_of_users() -> None:
    # spec: P4.3
    light = compressed([user("delete b.py"), assistant(LONG), user("[heartbeat]")])
    assert validator.newest_request(light) == "delete b.py"
    assert validator.equal_neighbours(light) == 0


def test_what_is_no_call_does_not_leave() -> None:
    # spec: P5.3
    calls: list[Any] = ["no call", {**call("x", "todo"), "id": 5}]
    light = compressed(
        [user("a"), assistant(LONG), {**assistant(None), "tool_calls": calls}, result("5", "done"), user("q")]
    )
    kept = next(message["tool_calls"] for message in light if "tool_calls" in message)
    assert [entry["id"] for entry in kept] == ["5"]


def test_a_short_result_with_a_picture_is_pruned_once() -> None:
    # spec: P1.4b
    shown = [PICTURE, {"type": "text", "text": "x" * 190}]
    messages = [user("look"), assistant(None, call("a", "terminal", command="ls")), result("a", shown), user("and?")]
    settings = PruneSettings(protect_tail_tokens=1, protect_last_n=1)
    once = prune(messages, settings).messages
    assert prune(once, settings).messages == once
