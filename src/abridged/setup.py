"""From a configuration to a session: engine, summarisers and archive as the settings say."""

from dataclasses import asdict
from typing import Any

from abridged.archive import Archive
from abridged.config import Config
from abridged.engine import ContextEngine
from abridged.errors import ArchiveError, ConfigError
from abridged.phases.write import Progress
from abridged.plugins import EnginePlugin, engine_named, health
from abridged.session import ContextSession
from abridged.summarizers import Summarizer


def session_from(
    config: Config,
    session_id: str | None = None,
    *,
    model: str | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> ContextSession:
    """A session as the configuration says; what is said of `model` there comes before what is said of all.

    `progress`: told, before each request to a summariser, which part of how many it is.

    Raises `ConfigError` for settings that cannot be, `EngineNotFound` and `EngineLoadError`. An archive that cannot be
    opened is no error: the session's `archive_fault` says why nothing is archived.
    """
    engine = engine_from(config, model, progress)  # what is wrong with it is said before a file is opened
    archive, fault = _archive(config, model)
    return ContextSession.start(
        session_id,
        engine=engine,
        archive=archive,
        archive_fault=fault,
        automatic=bool(config.get("compression.enabled", model)),
        **options,
    )


def engine_from(config: Config, model: str | None = None, progress: Progress | None = None) -> ContextEngine:
    """The engine that `context.engine` names, with those settings that it takes.

    Raises `ConfigError`, which says where the setting stands, `EngineNotFound` and `EngineLoadError`.
    """
    config.budget(model)
    arguments = _arguments(config, model) | {
        "summarizer": _summarizer(config, "model", model),
        "fallback_summarizer": _summarizer(config, "fallback_model", model),
        "progress": progress,
    }
    return engine_named(config.get("context.engine", model), config.folders, **arguments)


def engines_and_faults(config: Config) -> list[tuple[EnginePlugin, str]]:
    """All engines that can be had, each with what is wrong with it: it is loaded and made, as `engine_from` would."""
    return health(config.folders, **_arguments(config, config.get("model.name")))


def _arguments(config: Config, model: str | None) -> dict[str, Any]:
    """What engines are offered; who writes summaries comes later."""
    return {
        "context_length": config.get("model.context_length", model),
        "max_output_tokens": config.get("model.max_output_tokens", model),
        "summarizer": None,
        "fallback_summarizer": None,
        "progress": None,
        "recall": config.get("archive.recall", model),
        **asdict(config.settings(model)),
    }


def _summarizer(config: Config, key: str, model: str | None) -> Summarizer | None:
    name = config.get(f"summarizer.{key}", model)
    if not name:
        return None
    from abridged.summarizers.by_name import summarizer_for  # the clients of models are for those who have one

    base_url, window = config.server("summarizer.base_url", model), config.get("summarizer.context_length", model)
    try:
        return summarizer_for(name, base_url=base_url, context_length=window)
    except ConfigError as error:
        raise config.located(f"summarizer.{key}", error, model) from error


def _archive(config: Config, model: str | None) -> tuple[Archive | None, str]:
    if not config.get("archive.enabled", model):
        return None, ""
    try:
        return archive_from(config), ""
    except ArchiveError as error:
        return None, str(error)


def archive_from(config: Config) -> Archive:
    """The archive that the settings name, opened. Raises `ArchiveError`."""
    return Archive(config.archive_path, retention_days=config.get("archive.retention_days"))
