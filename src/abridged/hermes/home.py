"""Where the host lives and what its configuration says of engines. Read only.

The host's own engine is called `compressor`, so ours of that name goes there by the name `abridged`; every other engine
keeps its name.
"""

import os
from pathlib import Path
from typing import Any, cast

from abridged.config import Config, load
from abridged.conversation.text import as_fields
from abridged.plugins import DEFAULT_ENGINE

PLUGIN = "abridged"
"""The plugin's name in the host, and the name of our `compressor` there."""


def host_home(explicit: str | Path | None = None) -> Path:
    """The host's folder: the one that is named, else `$HERMES_HOME`, else `~/.hermes`."""
    return Path(explicit or os.environ.get("HERMES_HOME") or "~/.hermes").expanduser()


def named_in_host(engine: str) -> str:
    """What one of our engines is called in the host's configuration."""
    return PLUGIN if engine == DEFAULT_ENGINE else engine


def named_by_us(host_name: str) -> str:
    """The other way round."""
    return DEFAULT_ENGINE if host_name == PLUGIN else host_name


def host_config(home: Path) -> dict[str, Any]:
    """The host's `config.yaml`; {} where there is none or it cannot be read: its owner says so, in better words."""
    try:
        import yaml

        document: object = yaml.safe_load((home / "config.yaml").read_text(encoding="utf-8-sig"))
    except Exception:
        return {}
    return as_fields(document) or {}


def our_config(
    home: str | Path | None = None, file: str | Path | None = None, options: dict[str, Any] | None = None
) -> Config:
    """Ours: `abridged/config.yaml` in the host's folder where it is, else as everywhere. Raises `ConfigError`."""
    beside = host_home(home) / "abridged" / "config.yaml"
    return load(file or (beside if beside.is_file() else None), options=options)


def chosen_engine(config: dict[str, Any]) -> str:
    """What `context.engine` names; "" where nothing does."""
    section = config.get("context")
    name = cast("dict[str, Any]", section).get("engine") if isinstance(section, dict) else None
    return name.strip() if isinstance(name, str) else ""


def enabled_plugins(config: dict[str, Any]) -> list[str]:
    """What `plugins.enabled` lists."""
    section = config.get("plugins")
    names = cast("dict[str, Any]", section).get("enabled") if isinstance(section, dict) else None
    return [str(name) for name in cast("list[object]", names)] if isinstance(names, list) else []
