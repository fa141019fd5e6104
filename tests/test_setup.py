"""A session as the configuration says: every section of it has its effect (spec: C, E5)."""

from pathlib import Path

import pytest

from abridged import ContextCompressor
from abridged.config import Config, load
from abridged.errors import ConfigError, EngineNotFound
from abridged.setup import session_from
from abridged.summarizers.openai import OpenAISummarizer
from abridged.testing import assistant, user


def config(folder: Path, text: str) -> Config:
    (folder / "config.yaml").write_text(f"{text}\narchive: {{path: '{folder}/archive.db'}}\n")
    return load(folder / "config.yaml", environment={})


def test_settings_reach_the_engine(tmp_path: Path):
    session = session_from(
        config(tmp_path, "model: {context_length: 40000, max_output_tokens: 4000}\ncompression: {protect_last_n: 6}"),
        "s",
    )
    engine = session.engine
    assert isinstance(engine, ContextCompressor)
    assert (engine.context_length, engine.budget.max_output_tokens, engine.settings.protect_last_n) == (
        40_000,
        4_000,
        6,
    )
    assert session.archive is not None
    assert session.archive.path == f"{tmp_path}/archive.db"


def test_a_model_has_its_own(tmp_path: Path):
    given = config(tmp_path, "models: {tiny: {model: {context_length: 9000}, compression: {protect_last_n: 3}}}")
    engine = session_from(given, "s", model="tiny").engine
    assert isinstance(engine, ContextCompressor)
    assert (engine.context_length, engine.settings.protect_last_n) == (9_000, 3)


def test_summarisers_are_made_by_name(tmp_path: Path):
    given = config(
        tmp_path, "summarizer: {model: a, fallback_model: b, base_url: 'http://localhost:1/v1', context_length: 7000}"
    )
    engine = session_from(given, "s").engine
    assert isinstance(engine, ContextCompressor)
    first, second = engine._ladder._rungs
    assert isinstance(first, OpenAISummarizer)
    assert isinstance(second, OpenAISummarizer)
    assert (first.model, second.model, first.context_length) == ("a", "b", 7_000)


def test_off_is_off_on_every_path(tmp_path: Path):
    session = session_from(config(tmp_path, "compression: {enabled: false}\nmodel: {context_length: 9000}"), "s")
    messages = [user("go"), *(assistant("word " * 900) for _ in range(60))]
    assert session.before_request(messages) is messages
    session.after_response({"prompt_tokens": 8_999})
    assert session.after_turn(messages) is messages
    recovery = session.recover(ValueError("prompt is too long"), messages)
    assert (recovery.action, "switched off" in recovery.reason) == ("give up", True)
    assert len(session.compress(messages)) < len(messages)


def test_what_cannot_be_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    with pytest.raises(EngineNotFound, match="lmc"):
        session_from(config(tmp_path, "context: {engine: lmc}"))
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ConfigError, match="OPENAI_API_KEY"):
        session_from(config(tmp_path, "summarizer: {model: gpt-4o-mini}"))
    (tmp_path / "archive.db").write_bytes(b"no database at all" * 300)
    assert "not a database" in session_from(config(tmp_path, ""), "s").archive_fault


def test_without_an_archive(tmp_path: Path):
    (tmp_path / "config.yaml").write_text("archive: {enabled: false}\n")
    session = session_from(load(tmp_path / "config.yaml", environment={}), "s")
    assert (session.archive, session.archive_fault) == (None, "")
