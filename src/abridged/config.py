"""`config.yaml`: every setting, where it came from, and what is wrong with it (spec: C, E5).

Looked for as `--config`, then `.abridged/config.yaml` in the project's folder, then the user's own; environment
variables (`ABRIDGED_COMPRESSION__THRESHOLD_PERCENT`) come last and win. An unknown key is an error that names the
nearest known one. YAML is an extra (`cli`), imported when a file is read.
"""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any, cast

from abridged.budget import Settings
from abridged.errors import ConfigError

PREFIX = "ABRIDGED_"
FOLDER = ".abridged"
NAME = "config.yaml"
DEFAULT_ENGINE = "compressor"
OPTION = "the command line"
"""The origin of what an option says."""

_NONE = type(None)
_KEYS: dict[str, tuple[tuple[type, ...], object, str]] = {
    "context.engine": ((str,), DEFAULT_ENGINE, "who keeps the conversation small; `abridged engines` lists all"),
    "model.name": ((str, _NONE), None, "who is talked to in `abridged chat`"),
    "model.base_url": ((str, _NONE), None, "its OpenAI-compatible server; none = OpenAI's own"),
    "model.context_length": ((int,), 128_000, "tokens of the model's window"),
    "model.max_output_tokens": ((int, _NONE), None, "tokens of it that are reserved for the answer"),
    "compression.enabled": ((bool,), True, "false = nothing is ever compressed by itself"),
    "summarizer.model": (
        (str, _NONE),
        None,
        "who writes: gpt-4o-mini, claude-..., litellm/...; none = by rule",
    ),
    "summarizer.base_url": ((str, _NONE), None, "an OpenAI-compatible server"),
    "summarizer.context_length": ((int, _NONE), None, "tokens of that model's window"),
    "summarizer.fallback_model": ((str, _NONE), None, "who is asked when the first one fails"),
    "chat.yes": ((bool,), False, "whether tools write and run without asking"),
    "chat.tools": ((bool,), True, "whether the model has tools at all"),
    "archive.enabled": ((bool,), True, "whether what is said is kept"),
    "archive.path": ((str,), "~/.local/share/abridged/archive.db", "where"),
    "archive.retention_days": (
        (int, float, _NONE),
        None,
        "days until ended sessions are forgotten; none = never",
    ),
}
"""Key -> the types that it takes, its default, and what it says; those of `compression` come from `Settings`."""


@dataclass(frozen=True, slots=True)
class Value:
    """One setting as it is in force."""

    key: str
    value: Any
    origin: str
    """`default`, a file, or an environment variable."""


@dataclass(frozen=True, slots=True)
class Config:
    """All settings. Made by `load`; `values` tells where each came from."""

    values: Mapping[str, Value]
    file: Path | None = None
    """The file that was read; `None` = there is none."""
    models: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    """Model -> dotted key -> value: what is different for it."""

    def get(self, key: str, model: str | None = None) -> Any:
        """The value in force, for a model where one is named; an option of the command line is before all."""
        special = self.models.get(model or "", {})
        value = self.values[key]
        return special[key] if key in special and value.origin != OPTION else value.value

    def settings(self, model: str | None = None) -> Settings:
        """Everything under `compression` as settings. Raises `ConfigError` for what is out of range."""
        return Settings(**{entry.name: self.get(f"compression.{entry.name}", model) for entry in fields(Settings)})

    @property
    def folders(self) -> tuple[Path, ...]:
        """Where plugins may lie: beside the file, and in the user's own folder."""
        own = user_folder()
        return (self.file.parent, own) if self.file and self.file.parent != own else (own,)


def user_folder() -> Path:
    """The user's own configuration folder."""
    base = os.environ.get("XDG_CONFIG_HOME") or "~/.config"
    return Path(base).expanduser() / "abridged"


def find(explicit: str | Path | None = None, folder: Path | None = None) -> Path | None:
    """The file to read. Raises `ConfigError` where one is named that is not there."""
    if explicit is not None:
        path = Path(explicit).expanduser()
        if not path.is_file():
            raise ConfigError("config", str(explicit), "a file that is there")
        return path
    places = ((folder or Path.cwd()) / FOLDER / NAME, user_folder() / NAME)
    return next((place for place in places if place.is_file()), None)


def load(
    explicit: str | Path | None = None,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
    options: Mapping[str, Any] | None = None,
) -> Config:
    """Read and check all of it. `options`: dotted key -> what the command line says, `None` = nothing; they win.

    Raises `ConfigError`: the key, the value, what it takes, and where it stands.
    """
    file = find(explicit, folder)
    values = {key: Value(key, default, "default") for key, (_, default, _) in known_keys().items()}
    models: dict[str, Mapping[str, Any]] = {}
    if file:
        document = _read(file)
        given = cast("object", document.pop("models", None) or {})
        values |= {key: Value(key, value, str(file)) for key, value in _flat(document, str(file)).items()}
        if not isinstance(given, dict):
            raise ConfigError("models", given, f"a mapping of model names ({file})")
        for model, different in cast("dict[str, Any]", given).items():
            models[str(model)] = _flat(different, f"{file}, models.{model}")
    values |= _from_environment(os.environ if environment is None else environment)
    for key, value in (options or {}).items():
        if value is not None:
            values[key] = Value(key, _checked(key, value, OPTION), OPTION)
    config = Config(values, file, models)
    config.settings()
    for model in models:
        config.settings(model)
    return config


def known_keys() -> dict[str, tuple[tuple[type, ...], object, str]]:
    """Every key that a file may have: its types, its default, what it says."""
    found = dict(_KEYS)
    for entry in fields(Settings):
        default = cast("object", entry.default)
        found[f"compression.{entry.name}"] = (_types(default), default, "")
    return found


def _types(default: object) -> tuple[type, ...]:
    if default is None:
        return (int, _NONE)
    return (int, float) if isinstance(default, float) else (type(default),)


def _read(file: Path) -> dict[str, Any]:
    try:
        import yaml
    except ImportError as missing:
        raise ConfigError("config", str(file), "the extra first: pip install 'abridged[cli]'") from missing
    try:
        document: object = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        where = getattr(error, "problem_mark", None)
        line = f", line {where.line + 1}" if where else ""
        said = getattr(error, "problem", None) or getattr(error, "strerror", None) or str(error)
        raise ConfigError("config", f"{file}{line}", f"YAML ({said})") from error
    if document is None:
        return {}
    if not isinstance(document, dict):
        raise ConfigError("config", str(file), "a mapping of sections")
    return cast("dict[str, Any]", document)


def _flat(document: object, origin: str) -> dict[str, Any]:
    """Dotted key -> checked value."""
    found: dict[str, Any] = {}
    for key, value in _leaves(document, "", origin):
        found[key] = _checked(key, value, origin)
    return found


def _leaves(document: object, prefix: str, origin: str) -> Iterable[tuple[str, Any]]:
    if not isinstance(document, dict):
        raise ConfigError(prefix.rstrip(".") or "config", document, f"a mapping ({origin})")
    for name, value in cast("dict[object, Any]", document).items():
        key = f"{prefix}{name}"
        if any(known.startswith(f"{key}.") for known in known_keys()):
            yield from _leaves({} if value is None else value, f"{key}.", origin)
        else:
            yield key, value


def _checked(key: str, value: Any, origin: str) -> Any:
    keys = known_keys()
    if key not in keys:
        near = get_close_matches(key, keys, 1, 0.5)
        raise ConfigError(key, value, f"no such key ({origin})" + (f"; did you mean {near[0]}?" if near else ""))
    types, _, _ = keys[key]
    if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
        wanted = " or ".join("none" if kind is _NONE else _NAMES[kind] for kind in types)
        raise ConfigError(key, value, f"{wanted} ({origin})")
    return value


_NAMES = {str: "a text", int: "a whole number", float: "a number", bool: "true or false"}


def _from_environment(environment: Mapping[str, str]) -> dict[str, Value]:
    found: dict[str, Value] = {}
    keys = known_keys()
    for name, text in environment.items():
        if not name.startswith(PREFIX) or "__" not in name:
            continue
        key = name.removeprefix(PREFIX).lower().replace("__", ".")
        found[key] = Value(key, _checked(key, _parsed(text, keys.get(key, ((str,), None, ""))[0]), name), name)
    return found


def _parsed(text: str, types: tuple[type, ...]) -> Any:
    """A text of the environment as the type that is wanted; as it is where it is none."""
    low = text.strip().lower()
    if bool in types and low in ("true", "false", "1", "0", "yes", "no"):
        return low in ("true", "1", "yes")
    if _NONE in types and low in ("", "none", "null"):
        return None
    for kind in (int, float):
        if kind in types:
            try:
                return kind(text)
            except ValueError:
                continue
    return text


def template() -> str:
    """A commented file with every key at its default."""
    lines = ["# Settings of abridged. What is commented out is the default.", ""]
    section = ""
    for key, (_, default, says) in sorted(known_keys().items(), key=lambda pair: pair[0].split(".")[0]):
        name, _, rest = key.partition(".")
        if name != section:
            lines += ["", f"{name}:"]
            section = name
        shown = {None: "null", True: "true", False: "false"}.get(cast("Any", default), default)
        lines.append(f"  # {rest}: {shown}" + (f"  # {says}" if says else ""))
    lines += ["", "# models:", "#   gpt-4o-mini:", "#     model: {context_length: 128000}", ""]
    return "\n".join(lines)
