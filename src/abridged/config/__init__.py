"""`config.yaml`: every setting, where it came from, and what is wrong with it (spec: C, E5).

Looked for as `--config`, then `.abridged/config.yaml` in the project's folder, then the user's own; environment
variables (`ABRIDGED_COMPRESSION__THRESHOLD_PERCENT`) come after it, and options of a command line win over all. An
unknown key is an error that names the nearest known one.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from abridged.budget import Budget, Settings
from abridged.config.keys import Key, checked, known_keys
from abridged.config.reading import MODELS, PREFIX, from_environment, from_file
from abridged.config.servers import is_local
from abridged.errors import ArchiveError, ConfigError, SettingsError, shown

FOLDER = ".abridged"
NAME = "config.yaml"
DEFAULT = "default"
OPTION = "the command line"
"""Origins that are no file and no variable."""

__all__ = [
    "DEFAULT", "FOLDER", "NAME", "Config", "Key", "Value", "find", "known_keys", "load", "template", "user_folder",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Value:
    """One setting as it is in force."""

    key: str
    value: Any
    origin: str
    """`default`, a file, an environment variable, or `the command line`."""


@dataclass(frozen=True, slots=True)
class Config:
    """All settings. Made by `load`; `values` tells where each came from."""

    values: Mapping[str, Value]
    file: Path | None = None
    """The file that was read; `None` = there is none."""
    models: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    """Model -> dotted key -> value: what is different for it."""
    folders: tuple[Path, ...] = ()
    """Where plugins may lie: beside the file, in the project's folder, in the user's own."""
    brought_along: bool = False
    """The file lies in the project's folder and nobody named it: it may have come with a clone."""

    def value(self, key: str, model: str | None = None) -> Value:
        """The value in force, for a model where one is named: a variable and an option go before all of a file."""
        own, usual = self.models.get(model or "", {}), self.values[key]
        if key in own and usual.origin != OPTION and not usual.origin.startswith(PREFIX):
            return Value(key, own[key], f"{self.file}, {MODELS}.{model}")
        return usual

    def get(self, key: str, model: str | None = None) -> Any:
        """The same without its origin."""
        return self.value(key, model).value

    def is_brought_along(self, key: str, model: str | None = None) -> bool:
        """Whether a value stands in a file that may have come with a clone, and nowhere else."""
        return self.brought_along and self.value(key, model).origin.startswith(str(self.file))

    def server(self, key: str, model: str | None = None) -> str | None:
        """The address of a server. Raises `SettingsError` for one elsewhere that only a project's file names.

        Keys and conversations go there: that is for the user to say.
        """
        address = self.get(key, model)
        if address and self.is_brought_along(key, model) and not is_local(address):
            advice = f"say so yourself: --config {self.file}, an option, a variable, or {user_folder() / NAME}"
            raise SettingsError(str(self.file), key, f"{address} is not on this machine; {advice}", address)
        return address

    def settings(self, model: str | None = None) -> Settings:
        """Everything under `compression` as settings. Raises `ConfigError` for what is out of range."""
        try:
            return Settings(**{entry.name: self.get(f"compression.{entry.name}", model) for entry in fields(Settings)})
        except ConfigError as error:
            raise self.located(f"compression.{error.parameter}", error, model) from error

    def budget(self, model: str | None = None) -> Budget:
        """The sizes that follow from the window. Raises `ConfigError` for a window that cannot be."""
        settings, window = self.settings(model), self.get("model.context_length", model)
        try:
            return Budget.derive(settings, window, self.get("model.max_output_tokens", model))
        except ConfigError as error:
            raise self.located(f"model.{error.parameter}", error, model) from error

    def located(self, key: str, error: ConfigError, model: str | None) -> ConfigError:
        """The error with the place where the setting stands; a command line knows it by its option's name."""
        origin = self.value(key, model).origin
        if origin in (OPTION, DEFAULT):
            return ConfigError(key, error.value, error.allowed)
        problem = f"{shown(error.value)} is not possible; it takes {error.allowed}"
        return SettingsError(origin, key, problem, error.value)

    def told(self, key: str, value: Any, origin: str, model: str | None = None) -> "Config":
        """With a value that somebody else told, where nobody has set one."""
        if self.value(key, model).origin != DEFAULT:
            return self
        return replace(self, values={**self.values, key: Value(key, value, origin)})

    @property
    def archive_path(self) -> Path:
        """Where the archive lies; a relative path of a file is relative to the project's folder.

        Raises `ArchiveError` for the home folder of somebody whom this machine does not know.
        """
        given = self.values["archive.path"]
        try:
            path = Path(given.value).expanduser()
        except RuntimeError as error:
            raise ArchiveError(
                given.value, "there is no such home folder; archive.path may name another place"
            ) from error
        if self.file is None or given.origin != str(self.file) or path.is_absolute():
            return path
        beside = self.file.absolute().parent
        return (beside.parent if beside.name == FOLDER else beside) / path


def user_folder() -> Path:
    """The user's own configuration folder."""
    return _at_home(os.environ.get("XDG_CONFIG_HOME") or "~/.config") / "abridged"


def _at_home(path: str | Path) -> Path:
    """With the home folder for `~`; as it is where nobody knows of one, as in some containers."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        return Path(path)


def find(explicit: str | Path | None = None, folder: Path | None = None) -> Path | None:
    """The file to read. Raises `SettingsError` where one is named that is not there.

    What lies where a file is looked for is read, or is an error when it is read: it is never passed over.
    """
    if explicit is not None:
        path = _at_home(explicit)
        if not _lies_there(path):
            raise SettingsError(str(explicit), "", "there is no such file; `abridged config init` writes one")
        return path
    places = ((folder or Path.cwd()) / FOLDER / NAME, user_folder() / NAME)
    return next((place for place in places if _lies_there(place)), None)


def _lies_there(path: Path) -> bool:
    """Whether anything does, also where nobody may look: reading it will say so."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return True


def load(
    explicit: str | Path | None = None,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
    options: Mapping[str, Any] | None = None,
) -> Config:
    """Read and check all of it. `options`: dotted key -> what a command line says, `None` = nothing; they win.

    Raises `ConfigError`: the key, the value, what it takes, and where it stands.
    """
    file = find(explicit, folder)
    values = {name: Value(name, key.default, DEFAULT) for name, key in known_keys().items()}
    models: dict[str, dict[str, Any]] = {}
    if file:
        of_all, models = from_file(file)
        values |= {name: Value(name, value, str(file)) for name, value in of_all.items()}
    of_file = Config(values, file, models)
    for model in (None, *models):  # what stands there is wrong also where a variable or an option goes before it
        of_file.settings(model)
    variables = from_environment(os.environ if environment is None else environment)
    values |= {name: Value(name, value, variable) for name, (value, variable) in variables.items()}
    given = {name: value for name, value in (options or {}).items() if value is not None}
    values |= {name: Value(name, _option(name, value), OPTION) for name, value in given.items()}
    places = ([file.parent] if file else []) + [(folder or Path.cwd()) / FOLDER, user_folder()]
    brought_along = file is not None and explicit is None and file.parent != user_folder()
    config = Config(values, file, models, tuple(dict.fromkeys(places)), brought_along)
    config.budget(config.get("model.name"))
    return config


def _option(name: str, value: Any) -> Any:
    """A value of the command line, which knows it by its option's name."""
    try:
        return checked(name, value, OPTION)
    except SettingsError as error:
        allowed = error.allowed.partition("it takes ")[2] or error.allowed
        raise ConfigError(name, value, allowed) from error


def template() -> str:
    """A commented file with every key at its default."""
    lines = ["# Settings of abridged. What is commented out is the default."]
    section = ""
    for name, key in known_keys().items():
        head, _, rest = name.partition(".")
        if head != section:
            lines += ["", f"{head}:"]
            section = head
        shown = {None: "null", True: "true", False: "false"}.get(key.default, key.default)
        lines.append(f"  # {rest}: {shown}  # {key.says}")
    lines += ["", f"# {MODELS}:  # what is different for one of them", "#   gpt-4o-mini:"]
    return "\n".join([*lines, "#     model: {context_length: 128000}", ""])
