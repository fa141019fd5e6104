"""Rules and pins stand in every prompt, word for word, and the prompt changes only when they do."""

from pathlib import Path

from abridged import ContextCompressor
from abridged.chat.instructions import MOST_CHARACTERS, Instructions
from abridged.testing import assistant, user

TALK = [user("Hello."), assistant("Hello.")]


def repository(folder: Path, **rules: str) -> Path:
    """A folder with a repository in it; rules by folder, `top` is the repository's own."""
    (folder / ".git").mkdir()
    inner = folder / "src" / "app"
    inner.mkdir(parents=True)
    for name, text in rules.items():
        place = {"top": folder, "src": folder / "src", "app": inner}[name]
        (place / "AGENTS.md").write_text(text)
    return inner


def test_rules_from_the_repository_down_to_the_folder(tmp_path: Path):
    """claude-code#4017, #19471"""
    (tmp_path / "AGENTS.md").write_text("of somebody else")
    outer = tmp_path / "project"
    outer.mkdir()
    text = Instructions(repository(outer, top="Never push.", app="Use tabs.")).text()
    assert "of somebody else" not in text
    assert text.index("Never push.") < text.index("Use tabs.")


def test_without_a_repository_only_the_folder_counts(tmp_path: Path):
    (tmp_path / "AGENTS.md").write_text("of somebody else")
    inner = tmp_path / "inner"
    inner.mkdir()
    assert Instructions(inner).rule_files == []


def test_a_changed_rule_is_in_the_next_prompt(tmp_path: Path):
    (tmp_path / "AGENTS.md").write_text("Use tabs.")
    instructions = Instructions(tmp_path)
    first = instructions.applied(TALK)
    assert first[1:] == TALK
    assert instructions.applied(first) is first
    (tmp_path / "AGENTS.md").write_text("Use spaces, always.")
    second = instructions.applied(first)
    assert "Use spaces, always." in second[0]["content"]
    assert len(second) == len(first)


def test_the_note_of_a_compaction_stays_and_is_no_change(tmp_path: Path):
    # spec: P4.1, T8
    instructions = Instructions(tmp_path)
    messages = instructions.applied([user("Begin."), *(assistant("word " * 300), user("Go on.")) * 40])
    shorter = ContextCompressor(16_000).compress(messages, force=True)
    assert shorter[0] != messages[0]
    assert instructions.applied(shorter) is shorter
    instructions.pins.append("Never touch the schema.")
    pinned = instructions.applied(shorter)
    assert "Never touch the schema." in pinned[0]["content"]
    assert "compacted" in pinned[0]["content"]
    assert instructions.applied(pinned) is pinned


def test_pins_word_for_word(tmp_path: Path):
    pins = ["  two\n  lines", "[Note: brackets]", "中文"]
    text = Instructions(tmp_path, list(pins)).applied(TALK)[0]["content"]
    assert all(pin in text for pin in pins)


def test_rules_that_cannot_be_used_are_named(tmp_path: Path):
    (tmp_path / "AGENTS.md").write_text("x" * (MOST_CHARACTERS + 1))
    instructions = Instructions(tmp_path)
    assert "xxx" not in instructions.text()
    assert "left out" in instructions.faults[0]


def test_rules_in_an_odd_encoding_do_not_stop_anything(tmp_path: Path):
    (tmp_path / "AGENTS.md").write_bytes(b"caf\xe9 \xff\n")
    assert "caf" in Instructions(tmp_path).text()
