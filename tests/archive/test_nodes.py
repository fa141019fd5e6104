"""The graph of summaries in the archive: links hold, nothing is in two nodes, older files get it (spec: F3)."""

import sqlite3
from pathlib import Path

import pytest

from abridged.archive import Archive
from abridged.archive.nodes import Nodes, Text
from abridged.archive.schema import VERSIONS
from abridged.errors import ArchiveError


def nodes(archive: Archive | None = None) -> Nodes:
    archive = archive or Archive()
    archive.start("s")
    archive.append("s", [{"role": "user", "content": str(n)} for n in range(20)])
    return Nodes(archive, "s")


TEXT = Text("short", 1, 10, 3)


def test_leaves_and_nodes_of_nodes():
    graph = nodes()
    assert [graph.add_leaf(TEXT, range(n, n + 5)) for n in (0, 5, 10)] == [1, 2, 3]
    first, second, third = graph.roots()
    assert graph.add_condensed(TEXT, [first, second]) == 4
    assert [node.name for node in graph.roots()] == ["n4", "n3"]
    top = graph.get(4)
    assert top is not None and (top.depth, top.first, top.last, top.kind) == (1, 0, 9, "condensed")
    assert graph.places(4) == list(range(10))
    assert graph.children(4) == [first, second] and graph.parent(1) == 4 and graph.parent(4) is None
    assert graph.leaf_of(7) == 2 and graph.leaf_of(17) is None
    assert graph.covered() == {place: 1 + place // 5 for place in range(15)}
    assert third.earliest <= third.latest
    assert graph.faults() == []


def test_nothing_is_in_two_nodes():
    graph = nodes()
    graph.add_leaf(TEXT, range(5))
    assert graph.add_leaf(TEXT, range(4, 8)) is None
    assert graph.add_leaf(TEXT, [8, 9]) == 2
    pair = graph.roots()
    assert graph.add_condensed(TEXT, pair) == 3
    assert graph.add_condensed(TEXT, pair) is None
    assert len(graph.all()) == 3


def test_a_text_is_written_again_only_where_it_was_a_fallback():
    graph = nodes()
    graph.add_leaf(Text("by rule", 1, 10, 3, True), [0])
    graph.add_leaf(Text("good", 1, 10, 1), [1])
    for number in (1, 2):
        graph.rewrite(number, Text("again", 2, 10, 1))
    assert [(node.text, node.fallback) for node in graph.all()] == [("again", False), ("good", False)]
    stale = graph.roots()
    graph.rewrite(1, Text("never", 2, 10, 1))
    assert graph.add_condensed(TEXT, stale) == 3


def test_links_need_what_they_link():
    graph = nodes()
    with pytest.raises(ArchiveError, match="FOREIGN KEY"):
        graph.add_leaf(TEXT, [0, 99])
    with pytest.raises(ArchiveError, match="CHECK"):
        graph.add_leaf(Text("no shorter", 10, 10, 3), [0])
    assert graph.all() == [] and graph.covered() == {}
    graph.add_leaf(TEXT, [0])
    with graph.archive.change() as change:
        change.execute("DELETE FROM sessions WHERE id = 's'")
    assert graph.all() == [] and graph.covered() == {}


def test_a_file_of_version_2_gets_the_tables_and_keeps_its_messages(tmp_path: Path):
    path = tmp_path / "old.db"
    raw = sqlite3.connect(path)
    for statements in VERSIONS[:2]:
        for statement in statements:
            raw.execute(statement)
    raw.execute("PRAGMA user_version = 2")
    raw.execute("INSERT INTO sessions (id, started, last) VALUES ('old', 1, 1)")
    raw.commit()
    raw.close()
    with Archive(path) as archive:
        assert archive.session("old") is not None
        assert nodes(archive).add_leaf(TEXT, [0]) == 1
    with Archive(path) as archive:
        assert Nodes(archive, "s").get(1) is not None
