"""What a compression replaced is read back by the model itself: found by any words, whole, in bounds, never by default
where nobody can call a tool (spec: F3)."""

import json
import random
import threading
from pathlib import Path
from typing import Any

import pytest

from abridged import ContextCompressor, ContextSession
from abridged.archive import Archive
from abridged.archive.recall import PASSAGE_CHARS, Recall, passages
from abridged.engines.recall import MOST_CHARACTERS, NOTE
from abridged.testing import assistant, call, result, user

Message = dict[str, Any]


def talk(turns: int = 40) -> list[Message]:
    made: list[Message] = [{"role": "system", "content": "You are careful."}, user("Look at all parts.")]
    for n in range(turns):
        made += [
            assistant(f"Part {n} is next.", call(f"c{n}", "inspect_part", part=f"P-{n}")),
            result(
                f"c{n}",
                f"words of part {n}\n" * 20 + f"serial LAMP-{4_000 + 7 * n} tested by crew {n}\n" + "more\n" * 40,
            ),
        ]
    return [*made, assistant("All were looked at.")]


def session(**more: Any) -> ContextSession:
    engine = ContextCompressor(16_000, minimum_context_length=0, **more)
    return ContextSession.start("s", engine=engine, archive=Archive(), background=False)


def ask(one: ContextSession, name: str, **arguments: Any) -> dict[str, Any]:
    return json.loads(one.engine.handle_tool_call(name, arguments))


def compressed(**more: Any) -> tuple[ContextSession, list[Message], list[Message]]:
    one = session(**more)
    one.engine.get_tool_schemas()
    messages = talk()
    return one, messages, one.compress(messages)


def test_what_was_replaced_is_found_and_read_whole():
    one, messages, shorter = compressed()
    assert NOTE in json.dumps(shorter)
    assert messages[7]["content"] not in json.dumps(shorter)
    found = ask(one, "recall_search", query="which serial had crew 2")["found"]
    assert "LAMP-4014" in found[0]["text"]
    assert found[0]["call"].startswith("inspect_part")
    whole = ask(one, "recall_get", place=found[0]["place"])
    assert whole["text"] == messages[7]["content"]
    assert (whole["role"], "truncated" in whole) == ("tool", False)


def test_a_summary_names_the_tools_only_where_somebody_can_call_them():
    one = session()
    assert NOTE not in json.dumps(one.compress(talk()))
    one = session(recall=False)
    assert one.engine.get_tool_schemas() == []
    assert NOTE not in json.dumps(one.compress(talk()))
    alone = ContextCompressor(16_000)
    alone.on_session_start("s")
    assert alone.get_tool_schemas() == []
    assert "unknown tool" in alone.handle_tool_call("recall_search", {"query": "x"})


def test_the_note_stands_once_after_any_number_of_passes():
    one, _, shorter = compressed()
    for _ in range(3):
        shorter = one.compress([*shorter, *talk()[2:]])
        assert json.dumps(shorter).count(NOTE) == 1


@pytest.mark.parametrize(
    ("name", "arguments", "says"),
    [
        ("recall_search", {}, "query: words"),
        ("recall_search", {"query": "  "}, "query: words"),
        ("recall_search", {"query": 7}, "query: words"),
        ("recall_search", {"query": "zebra xylophone"}, "other words may fit"),
        ("recall_search", {"query": '""" OR ( NEAR * ^ -'}, "what"),
        ("recall_search", {"query": "part", "limit": "3"}, "found"),
        ("recall_search", {"query": "part", "limit": -3, "role": "nobody"}, "other words"),
        ("recall_search", {"query": "\ud800 part"}, "found"),
        ("recall_search", {"query": "x" * 50_000}, "other words"),
        ("recall_get", {}, "the number of a message"),
        ("recall_get", {"place": 10_000}, "the number of a message"),
        ("recall_get", {"place": "5", "offset": "3", "max_chars": 10}, "next_offset"),
        ("recall_get", {"place": True}, "the number of a message"),
        ("no_such_tool", {}, "unknown tool"),
    ],
)
def test_whatever_a_model_asks_the_answer_is_json_that_says_how_to_go_on(
    name: str, arguments: dict[str, Any], says: str
):
    one, _, _ = compressed()
    assert says in json.dumps(ask(one, name, **arguments))


def test_a_long_message_is_read_in_parts_that_make_it_whole():
    one = session()
    text = "".join(f"line {n} of the log, value {n * 37}\n" for n in range(3_000))
    one.record([user("Look."), assistant(None, call("c", "cat", path="log")), result("c", text)])
    got, offset = "", 0
    while True:
        part = ask(one, "recall_get", place=2, offset=offset)
        got += part["text"]
        if not part.get("truncated"):
            break
        offset = part["next_offset"]
    assert got == text


def test_no_answer_is_larger_than_its_ceiling():
    one = session()
    one.record([user("Look."), *(result(f"c{n}", "\u4e2d needle " * 5_000) for n in range(30))])
    answer = one.engine.handle_tool_call("recall_search", {"query": "needle", "limit": 20})
    assert len(answer) <= MOST_CHARACTERS
    assert "did not fit" in json.loads(answer)["truncated"]


@pytest.mark.parametrize(
    "words", ["deploy the lantern to harbour", "harbour lantern", "部署", "灯塔 部署", "LAMP-4", "harb/lamp.py"]
)
def test_words_in_any_form_and_of_any_script(words: str):
    archive = Archive()
    archive.start("s")
    archive.append("s", [user("filler words here")] * 1 + [assistant(f"note {n} of the day") for n in range(50)])
    archive.append(
        "s", [assistant("We deployed the lanterns of the harbours, 灯塔已部署, LAMP-42 in src/harb/lamp.py")]
    )
    archive.append("s", [assistant(f"note {n} of the night") for n in range(50)])
    assert Recall(archive).find(words, "s")[0].place == 51


def test_only_of_this_session_and_only_before_a_place():
    archive = Archive()
    for name in ("s", "t"):
        archive.start(name)
        archive.append(name, [user(f"the needle of {name}"), assistant("more of the needle")])
    recall = Recall(archive)
    assert {one.session for one in recall.find("needle", "s")} == {"s"}
    assert [one.place for one in recall.find("needle", "s", before=1)] == [0]
    assert [one.role for one in recall.find("needle", "s", roles=("assistant",))] == ["assistant"]


def test_the_index_follows_what_is_said_and_survives_cleaning_up():
    archive = Archive()
    archive.start("s")
    recall = Recall(archive)
    assert recall.find("first", "s") == []
    for n in range(5):
        archive.append("s", [user(f"word{n} is said")])
        assert recall.find(f"word{n}", "s")[0].place == n
    archive.start("gone")
    archive.append("gone", [user("word of another")])
    recall.find("word", "gone")
    archive.end("gone")
    archive.vacuum(ended_before=1e12)
    assert recall.find("word3", "s")[0].place == 3


def test_a_result_knows_its_call_even_when_it_came_later():
    archive = Archive()
    archive.start("s")
    recall = Recall(archive)
    archive.append("s", [assistant(None, call("c", "read_map", path="harbour.map"))])
    recall.find("x", "s")
    archive.append("s", [result("c", "depth 12")])
    (found,) = [one for one in recall.find("harbour depth", "s") if one.role == "tool"]
    assert found.header == 'read_map {"path": "harbour.map"}'


@pytest.mark.parametrize("seed", range(20))
def test_passages_cover_every_letter_and_stay_small(seed: int):
    dice = random.Random(seed)
    text = "".join(
        dice.choice(["a" * dice.randrange(2_500), " ", "\n", ",", "word ", "中"]) for _ in range(dice.randrange(60))
    )
    covered, before = 0, -1
    for start, end in passages(text):
        assert start <= covered + 1
        assert before < start < end <= start + PASSAGE_CHARS
        assert not text[covered:start].strip()
        covered, before = end, start
    assert not text[covered:].strip()


def test_many_who_ask_at_once_index_everything_once(tmp_path: Path):
    path = str(tmp_path / "a.db")
    with Archive(path) as archive:
        archive.start("s")
        archive.append("s", [user(f"needle number {n}") for n in range(2_500)])
    archives = [Archive(path) for _ in range(4)]
    together = threading.Barrier(4)

    def ask_together(archive: Archive) -> None:
        together.wait()
        Recall(archive).find("needle", "s")

    threads = [threading.Thread(target=ask_together, args=(archive,)) for archive in archives]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with archives[0].look() as look:
        (count,) = look.execute("SELECT count(*) FROM passages").fetchone()
    assert count == 2_500
    for archive in archives:
        archive.close()
