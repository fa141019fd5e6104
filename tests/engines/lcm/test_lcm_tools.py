"""The tools of `lcm`: drop-in names, JSON below a ceiling, pages, odd arguments, no pattern that hangs (spec: E6)."""

import json
import time
from typing import Any

import pytest

from abridged import ContextSession
from abridged.archive import Archive
from abridged.archive.nodes import Nodes
from abridged.engines.lcm import LosslessEngine
from abridged.engines.lcm.exploring import explored, place_of, stand_in
from abridged.engines.lcm.patterns import SECONDS, Refused, pattern_of
from abridged.engines.recall import MOST_CHARACTERS
from abridged.testing import assistant, call, result, user

Message = dict[str, Any]
NAMES = [
    "lcm_grep", "lcm_describe", "lcm_expand", "lcm_expand_query", "lcm_load_session", "lcm_recent", "lcm_recall",
    "lcm_status", "lcm_doctor",
]  # fmt: skip


def talk(turns: int = 60) -> list[Message]:
    made: list[Message] = [{"role": "system", "content": "Careful."}, user("Look at all parts, 请检查配置文件。")]
    for n in range(turns):
        made += [
            assistant(f"Part {n} is next.", call(f"c{n}", "inspect_part", part=f"P-{n}")),
            result(f"c{n}", f"words of part {n}\n" * 20 + f"serial LAMP-{4_000 + 7 * n}, crew {n}\n" + "more\n" * 40),
        ]
    return [*made, assistant("Done."), user("Which serial had crew 7?")]


def engine_of(messages: list[Message], **more: Any) -> LosslessEngine:
    engine = LosslessEngine(16_000, minimum_context_length=0, **more)
    ContextSession.start("s", engine=engine, archive=Archive(), background=False).compress(messages)
    return engine


@pytest.fixture(scope="module")
def engine() -> LosslessEngine:
    return engine_of(talk())


def ask(engine: LosslessEngine, name: str, arguments: Any = None, **more: Any) -> dict[str, Any]:
    text = engine.handle_tool_call(name, more if arguments is None else arguments)
    assert len(text) <= MOST_CHARACTERS
    return json.loads(text)


def test_the_names_and_the_note(engine: LosslessEngine):
    assert [schema["name"] for schema in engine.get_tool_schemas()] == NAMES
    assert "lcm_expand gives the original messages" in json.dumps(engine.compress(talk()))
    assert LosslessEngine(recall=False).get_tool_schemas() == []
    assert "unknown tool" in engine.handle_tool_call("lcm_nothing", {})


def test_grep_by_words_and_by_pattern_is_grouped_by_block(engine: LosslessEngine):
    for query, mode in (("serial LAMP-4049", "text"), (r"LAMP-4049\b", "regex"), (r"lamp-40[4]9, crew \d+", "regex")):
        found = ask(engine, "lcm_grep", query=query, mode=mode)
        (group,) = [one for one in found["groups"] if one["node_id"]]
        (hit,) = group["hits"]
        assert "LAMP-4049" in hit["text"]
        assert ask(engine, "lcm_expand", place=hit["place"])["messages"][0]["message"]["content"].count("LAMP-4049")
        inside = ask(engine, "lcm_grep", query=query, mode=mode, node_id=group["node_id"])
        assert inside["groups"] == [group]
    assert ask(engine, "lcm_grep", query="配置文件")["count"] == 1
    assert "error" in ask(engine, "lcm_grep", query="x", node_id="n999")


@pytest.mark.parametrize(("query", "mode"), [("serial", "text"), ("serial LAMP", "regex"), (r"crew \d", "regex")])
def test_pages_of_grep_have_each_hit_once(engine: LosslessEngine, query: str, mode: str):
    seen: list[int] = []
    offset = 0
    while True:
        answer = ask(engine, "lcm_grep", query=query, mode=mode, limit=7, offset=offset)
        seen += [hit["place"] for group in answer["groups"] for hit in group["hits"]]
        if "next_offset" not in answer:
            break
        assert answer["next_offset"] > offset
        offset = answer["next_offset"]
    assert len(seen) == len(set(seen))
    assert len([place for place in seen if place > 1]) >= 60


@pytest.mark.parametrize(
    "pattern",
    ["(a+)+$", "(a|a)*b", "(a*)*", "((a?){20}){20}", r"(a)\1", "(?=a*)b", "x" * 500, "(", "[", "a{99999999999}",
     "a*a*a*a*b", "a?" * 30 + "a" * 30],
)  # fmt: skip
def test_a_pattern_that_could_hang_is_refused(engine: LosslessEngine, pattern: str):
    with pytest.raises(Refused):
        pattern_of(pattern)
    assert ask(engine, "lcm_grep", query=pattern, mode="regex")["error"].startswith("pattern: ")


@pytest.mark.parametrize(
    "pattern", [".*.*.*x9", "a*a*a*b", "a?a?a?a?a?a?a?a?b", "(?:ab|cd)e+", r"[a-z]+\s+[a-z]+!", "a+?b"]
)
def test_a_pattern_that_is_tried_ends(pattern: str):
    tried = pattern_of(pattern)
    started = time.monotonic()
    assert tried.search("a" * 400_000, time.monotonic() + SECONDS) is None
    assert time.monotonic() - started < SECONDS + 10


def test_a_literal_is_in_every_match():
    for pattern, text in (
        (r"LAMP-4049\b", "lamp-4049"), (r"colou?r", "color"), (r"ab*cdef", "acdef"), (r"foo.*bar", "foobar"),
        (r"\d+abc", "1abc"), (r"x{2}yzw", "xxyzw"), (r"a|bcd", "a"), (r"(?:abc)?d", "d"), (r"end$", "end"),
        (r"say \"hi\"", 'say "hi"'),
    ):  # fmt: skip
        tried = pattern_of(pattern)
        assert tried.regex.search(text)
        assert tried.literal in text, pattern
    assert pattern_of("LAMP-4049").literal == "lamp-4049"


def test_describe_a_block_and_a_message(engine: LosslessEngine):
    nodes = Nodes(engine._nodes.archive, "s")  # pyright: ignore
    for node in nodes.all():
        told = ask(engine, "lcm_describe", node_id=node.name)
        assert told["depth"] == node.depth and told["text"] == node.text
        assert told["messages"] == len(nodes.places(node.number)) > 0
        assert told["tokens"] < told["source_tokens"]
        parents = [one for one in nodes.all() if node.name in ask(engine, "lcm_describe", node_id=one.name)["children"]]
        assert [one.name for one in parents] == ([told["parent"]] if told["parent"] else [])
    told = ask(engine, "lcm_describe", place=3)
    assert told["role"] == "tool" and told["node_id"] == "n1"


def test_recall_recent_load_and_query(engine: LosslessEngine):
    found = ask(engine, "lcm_recall", query="which serial did crew 23 have")["found"]
    assert "LAMP-4161" in found[0]["text"] and found[0]["node_id"]
    few = ask(engine, "lcm_expand_query", query="serial crew", max_tokens=300)
    assert few["truncated"] and few["found"]
    recent = ask(engine, "lcm_recent", limit=3)["messages"]
    assert [one["text"] for one in recent][-1] == "Which serial had crew 7?"
    seen: list[int] = []
    after = -1
    while True:
        answer = ask(engine, "lcm_load_session", after_place=after, limit=50)
        seen += [one["place"] for one in answer["messages"]]
        if not answer.get("truncated"):
            break
        after = answer["next_after_place"]
    assert seen == list(range(len(talk())))


def test_status_and_doctor(engine: LosslessEngine):
    status = ask(engine, "lcm_status")
    assert status["messages"] == len(talk()) and status["nodes"] == sum(status["nodes_by_depth"].values()) > 0
    assert status["fallback_nodes"] == 0 and "last_noop_reason" in status
    assert ask(engine, "lcm_doctor")["healthy"] is True


ODD: list[Any] = [
    None, "", "x", -1, 0, 10**30, 1.5, True, [], {}, [1], {"a": 1}, "n1", "n" * 50, "\0", "\ud83d", '"', "* OR (", "-5",
    "٣", "9" * 5_000,
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_odd_arguments_never_raise(engine: LosslessEngine, name: str):
    for odd in [None, [], "x", 3]:
        ask(engine, name, odd or {})
        engine.handle_tool_call(name, odd)  # pyright: ignore[reportArgumentType]
    for key in ("query", "mode", "node_id", "place", "limit", "offset", "max_tokens", "after_place"):
        for odd in ODD:
            base = {"query": "serial", "node_id": "n1"}
            ask(engine, name, {**base, key: odd})
            ask(engine, name, {**base, "mode": "regex", key: odd})


def test_answers_stay_below_the_ceiling_whatever_the_messages_hold():
    messages = talk(30)
    messages[3:3] = [user("\0" * 30_000), assistant("\ud83d" * 9_000 + '"' * 20_000), user("界" * 40_000)]
    engine = engine_of(messages)
    for place in range(8):
        for name in NAMES:
            ask(engine, name, query="part", place=place, limit=200, max_tokens=16_000)
            ask(engine, name, query=".", mode="regex", place=place, limit=200, max_tokens=1)


def test_originals_of_one_long_message_come_in_parts():
    messages = talk(30)
    messages[3] = {**messages[3], "content": 'line with "quotes", 界 and \\ \0\n' * 4_000}
    engine = engine_of(messages)
    whole, offset = "", 0
    while True:
        answer = ask(engine, "lcm_expand", place=3, offset=offset, max_tokens=3_000)
        whole += answer.get("part", "")
        if "next_offset" not in answer:
            break
        offset = answer["next_offset"]
    assert json.loads(whole) == messages[3]


def test_what_stands_for_a_long_message_says_what_it_is():
    rows = "id,name,price\n" + "".join(f"{n},lamp {n},{n}.5\n" for n in range(500))
    code = "".join(f"def handler_{n}(request):\n    return {n}\n\nclass Part{n}:\n    pass\n" for n in range(300))
    data = json.dumps({"orders": [{"id": n, "total": 1.5} for n in range(900)], "next": None, "name": "x" * 50})
    assert explored(rows, 500).startswith("table of 500 rows; columns: id, name, price")
    assert "def handler_0(request):" in explored(code, 500)
    assert explored(data, 500) == (
        "JSON: object of 3 keys {orders: list of 900, the first: object of 2 keys {id: int, total: float}, next: null, "
        "name: text of 50}"
    )
    assert len(explored("word " * 10_000 + "src/app/main.py ", 600)) < 900
    light = stand_in({"role": "user", "content": data}, 12, 9_000, 500)
    assert place_of(light) == 12 and light["role"] == "user"
    assert place_of(user("[place 12]")) is None
