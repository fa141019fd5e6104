"""Whoever brings a session's messages, however often and in whatever state: each is archived once, in order."""

import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abridged.archive import Archive
from abridged.archive.ingest import Ingest, mark
from abridged.summary.template import frame, merge_before

Message = dict[str, Any]


def user(text: str, **more: Any) -> Message:
    return {"role": "user", "content": text, **more}


def answer(text: str, **more: Any) -> Message:
    return {"role": "assistant", "content": text, **more}


def called(n: int) -> list[Message]:
    call = {"id": f"call_{n}", "type": "function", "function": {"name": "terminal", "arguments": f'{{"n": {n}}}'}}
    return [
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"call_{n}", "content": f"result {n}"},
    ]


def summary(n: int) -> str:
    return frame(f"## Goal\n- summary {n}")


@pytest.fixture
def archive() -> Archive:
    made = Archive()
    made.start("s")
    return made


def said(archive: Archive) -> list[Message]:
    return archive.transcript("s")


TALK = [user("begin"), *called(1), answer("one"), user("go on"), *called(2), answer("two"), user("go on"), answer("3")]


def test_replays_prefixes_and_other_holders_add_nothing(archive: Archive) -> None:
    one, two = Ingest(archive, "s"), Ingest(archive, "s")
    assert one.take(TALK[:5]) == 5
    assert two.take(TALK) == 5
    assert [one.take(TALK[:n]) for n in range(len(TALK) + 1)] == [0] * (len(TALK) + 1)
    assert one.take([dict(message) for message in TALK]) == 0
    assert said(archive) == TALK


def test_what_a_holder_notes_makes_no_difference(archive: Archive) -> None:
    ingest = Ingest(archive, "s")
    ingest.take(TALK)
    again = [{**message, "timestamp": n, "_db_persisted": True, "_x": 1} for n, message in enumerate(TALK)]
    again[2] = {**again[2], "content": "result 1\n\n[Tool loop warning: same_call; count=3; you did this before]"}
    again[1] = {**again[1], "content": None}
    again[3] = {**again[3], "content": " one\n"}
    again[0] = {**again[0], "content": "begin", "api_content": "begin"}
    tasks = "[Your active task list was preserved across context compression]\n- [ ] one"
    assert ingest.take([*again, user("x", _todo_snapshot_synthetic=True), user(tasks)]) == 0
    assert ingest.take([*again, user("new", timestamp=1.5, _db_persisted=True)]) == 1
    assert said(archive) == [*TALK, user("new")]


def test_the_same_words_said_again_are_said_again(archive: Archive) -> None:
    ingest = Ingest(archive, "s")
    ingest.take(TALK)
    live = [TALK[0], user(summary(1)), *TALK[-2:]]
    ingest.compacted(TALK, live, {})
    more = [user("go on"), answer("3"), user("go on"), answer("3")]
    assert [ingest.take([*live, *more[:n]]) for n in (1, 1, 4, 3)] == [1, 0, 3, 0]
    assert Ingest(archive, "s").take(TALK) == 0
    assert said(archive) == [*TALK, *more]


def test_a_summary_before_a_users_own_text_is_the_users_text_alone(archive: Archive) -> None:
    ingest = Ingest(archive, "s")
    ingest.take(TALK)
    merged = [{**TALK[-2], "content": merge_before(summary(1), TALK[-2]["content"])}, TALK[-1]]
    ingest.compacted(TALK, merged, {})
    apart = [user(summary(1)), *TALK[-2:]]
    assert ingest.take([*merged, user("new")]) == 1
    assert ingest.take([*apart, user("new")]) == 0
    assert said(archive) == [*TALK, user("new")]


def test_kept_messages_that_a_compaction_lightened_are_no_new_ones(archive: Archive) -> None:
    ingest = Ingest(archive, "s")
    ingest.take(TALK)
    light = [TALK[0], user(summary(1)), TALK[5], {**TALK[6], "content": "[terminal] ran"}, *TALK[7:]]
    ingest.compacted(TALK, light, {})
    assert ingest.take([*light, user("new")]) == 1
    assert ingest.take([user("put in by a host"), *light, user("new")]) == 1
    assert said(archive) == [*TALK, user("new"), user("put in by a host")]


def test_only_the_front_was_compacted_and_the_rest_joined_on(archive: Archive) -> None:
    ingest = Ingest(archive, "s")
    ingest.take(TALK)
    front = [TALK[0], answer(summary(1)), TALK[4]]
    ingest.compacted(TALK[:5], front, {})
    assert ingest.take([*front, *TALK[5:], user("new")]) == 1
    assert archive.live("s")[0] == [*front, *TALK[5:], user("new")]


def test_a_history_that_was_cut_and_goes_on_differently(archive: Archive) -> None:
    ingest = Ingest(archive, "s")
    ingest.take(TALK)
    assert ingest.take([*TALK[:4], user("something else"), answer("else")]) == 2
    assert ingest.take([*TALK[:4], user("something else"), answer("else"), user("on")]) == 1
    assert said(archive) == [*TALK, user("something else"), answer("else"), user("on")]


def test_a_session_that_was_forgotten_begins_anew(archive: Archive) -> None:
    ingest = Ingest(archive, "s")
    ingest.take(TALK)
    archive.end("s")
    archive.vacuum(ended_before=1e12)
    archive.start("s")
    assert ingest.take(TALK) == len(TALK)
    assert said(archive) == TALK


def test_marks_tell_tools_and_arguments_apart() -> None:
    one, other = called(1), called(2)
    assert len({mark(message) for message in [*one, *other]}) == 4
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    assert mark(user("x")) != mark({"role": "user", "content": [{"type": "text", "text": "x"}, picture]})
    assert mark(user("x")) == mark({"role": "user", "content": [{"type": "text", "text": "x"}]})
    assert mark(user("\ud800")) != mark(user("\ud801"))


def test_two_who_compress_at_the_same_moment_both_do(tmp_path: Path) -> None:
    """As two processes: each with a connection of its own, on the same messages."""
    archives = [Archive(tmp_path / "a.db") for _ in range(4)]
    archives[0].start("s")
    start = threading.Barrier(len(archives))

    def work(archive: Archive) -> None:
        ingest = Ingest(archive, "s")
        start.wait()
        for n in range(1, len(TALK) + 1):
            ingest.take(TALK[:n])
        ingest.compacted(TALK, [user(summary(1)), *TALK[-2:]], {})

    threads = [threading.Thread(target=work, args=(archive,)) for archive in archives]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert archives[0].transcript("s") == TALK
    assert len(archives[0].compactions("s")) == len(archives)
    for archive in archives:
        archive.close()


# -- any sequence of what can happen -----------------------------------------------------------------------------------


@dataclass
class World:
    """One conversation, and those who hold it."""

    said: list[Message] = field(default_factory=list[Message])
    live: list[Message] = field(default_factory=list[Message])
    number: int = 0

    def say(self, choice: int) -> None:
        new = [user(f"do {choice % 3}")] if choice % 2 else called(len(self.said))
        self.said += new
        self.live += new

    def compact(self, ingest: Ingest, head: int, tail: int, front: int) -> None:
        """Keeps a head and a tail of all but the last `front` messages; the rest is joined on as it is."""
        front = front if front < len(self.live) else 0
        work, rest = self.live[: len(self.live) - front], self.live[len(self.live) - front :]
        if len(work) < 3:
            return
        self.number += 1
        head, tail = min(head, len(work) - 2), max(1, min(tail, len(work) - 2))
        kept = [*work[:head], user(summary(self.number)), *work[max(head, len(work) - tail) :]]
        ingest.compacted(work, kept, {})
        self.live = [*kept, *rest]


STEP = st.tuples(
    st.sampled_from(["say", "say", "say", "live", "stale", "replay", "part", "compact", "restart"]),
    st.integers(0, 7), st.integers(0, 6), st.integers(0, 1),
)  # fmt: skip


@given(st.lists(STEP, max_size=40))
def test_rows_are_the_distinct_messages_in_order(steps: list[tuple[str, int, int, int]]) -> None:
    """Prefixes, replays from the start, compactions by either of two holders, restarts."""
    archive = Archive()
    archive.start("s")
    holders = [Ingest(archive, "s"), Ingest(archive, "s")]
    world = World()
    stale: list[Message] = []
    for step, one, two, which in steps:
        ingest = holders[which]
        match step:
            case "say":
                world.say(one)
            case "live":
                ingest.take([{**message, "timestamp": one} for message in world.live])
                stale = list(world.live)
            case "stale":
                ingest.take(stale)
            case "replay":
                ingest.take(world.live)
                ingest.take(world.said)
            case "part":
                ingest.take(world.live)
                ingest.take(world.said[: len(world.said) * one // 7])
            case "compact":
                ingest.take(world.live)
                world.compact(ingest, one % 4, two + 1, two % 3)
            case _:
                holders[which] = Ingest(archive, "s")
    holders[0].take(world.live)
    assert archive.transcript("s") == world.said
