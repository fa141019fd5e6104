"""A session as the configuration says: every section of it has its effect (spec: C, E5)."""

from pathlib import Path

import pytest

from abridged import ContextCompressor
from abridged.config import Config, load
from abridged.errors import ConfigError, EngineLoadError, EngineNotFound
from abridged.setup import engines_and_faults, session_from
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


def test_every_built_in_engine_can_be_had_by_its_name(tmp_path: Path):
    settings = "model: {context_length: 9000}\nsummarizer: {model: a, base_url: 'http://localhost:1/v1'}\n"
    given = config(tmp_path, settings)
    names = [one.name for one, _ in engines_and_faults(given) if one.source == "built in"]
    assert len(names) > 1
    for name in names:
        session = session_from(config(tmp_path, f"context: {{engine: {name}}}\n{settings}"), name)
        assert (session.engine.name, session.engine.context_length) == (name, 9_000)
        messages = [user("go"), *(assistant(f"word {n} " * 300) for n in range(60)), user("on")]
        assert len(session.compress(messages)) < len(messages)
        assert session.engine_fault == ""


BROKEN = """
from abridged import ContextCompressor

class Broken(ContextCompressor):
    name = "broken"

    def compress(self, messages, *args, **more):
        {does}
"""


@pytest.mark.parametrize("does", ["raise OSError('at work')", "raise SystemExit(0)", "return None", "return ['text']"])
def test_a_conversation_survives_an_engine_of_the_settings_that_fails(does: str, tmp_path: Path):
    place = tmp_path / "plugins" / "context_engine" / "broken"
    place.mkdir(parents=True)
    (place / "__init__.py").write_text(BROKEN.format(does=does))
    session = session_from(config(tmp_path, "context: {engine: broken}\nmodel: {context_length: 9000}"), "s")
    messages = session.before_request([user("go"), assistant("word " * 900)])
    session.after_response({"prompt_tokens": 8_900})
    assert session.after_turn(messages) is messages
    assert session.compress(messages) is messages
    assert session.engine_fault.startswith("engine broken: ")
    session.close(messages)
    assert session.archive is not None
    assert session.archive.transcript("s") == messages


def test_an_engine_that_cannot_be_had_is_never_another_one(tmp_path: Path):
    place = tmp_path / "plugins" / "context_engine" / "broken"
    place.mkdir(parents=True)
    given = config(tmp_path, "context: {engine: broken}")
    with pytest.raises(EngineLoadError, match=r"'broken': .* has no __init__\.py"):
        session_from(given, "s")
    assert not (tmp_path / "archive.db").exists()
    assert [fault != "" for one, fault in engines_and_faults(given) if one.name == "broken"] == [True]


def test_a_window_that_cannot_be_is_located_for_the_model_that_is_meant(tmp_path: Path):
    given = config(tmp_path, "models: {tiny: {model: {context_length: 500, max_output_tokens: 900}}}")
    assert session_from(given, "s").engine.context_length == 128_000
    with pytest.raises(ConfigError, match=r"config\.yaml, models\.tiny: model\.max_output_tokens: 900 is not possible"):
        session_from(given, "s", model="tiny")


def test_a_home_that_nobody_knows_stops_no_session(tmp_path: Path):
    (tmp_path / "config.yaml").write_text("archive: {path: ~nobody-of-that-name/a.db}\n")
    session = session_from(load(tmp_path / "config.yaml", environment={}), "s")
    assert (session.archive, "there is no such home folder" in session.archive_fault) == (None, True)


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
