"""Where settings come from: a YAML file, the environment. Out comes dotted key -> checked value.

YAML is an extra (`cli`), imported when a file is read.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from abridged.config.keys import checked, known_keys, parsed
from abridged.errors import SettingsError, shown

PREFIX = "ABRIDGED_"
MODELS = "models"
"""The section in which each model has settings of its own."""

Settings = dict[str, Any]


def from_file(file: Path) -> tuple[Settings, dict[str, Settings]]:
    """What a file says, of all and of single models. Raises `SettingsError`: the key, what is wrong, the place."""
    document = _document(file)
    of_models = cast("object", document.pop(MODELS, None) or {})
    if not isinstance(of_models, dict):
        raise SettingsError(str(file), MODELS, "a mapping of model names to settings is wanted")
    models = cast("dict[object, Any]", of_models)
    return _flat(document, str(file)), {str(name): _of_model(file, str(name), said) for name, said in models.items()}


def _of_model(file: Path, name: str, document: object) -> Settings:
    if not name:
        raise SettingsError(str(file), MODELS, "a model without a name")
    origin = f"{file}, {MODELS}.{name}"
    found = _flat({} if document is None else document, origin)
    for key in found:
        if not known_keys()[key].of_a_model:
            raise SettingsError(origin, key, f"it is the same for all models; put it outside of `{MODELS}`")
    return found


def variable(key: str) -> str:
    """The environment variable of a setting."""
    return PREFIX + key.upper().replace(".", "__")


def from_environment(environment: Mapping[str, str]) -> dict[str, tuple[Any, str]]:
    """Key -> value and the variable that says so. Raises `SettingsError`."""
    found: dict[str, tuple[Any, str]] = {}
    meant = {variable(key).replace("__", "_"): variable(key) for key in known_keys()}
    for name, text in environment.items():
        if name in meant:
            raise SettingsError(name, "", f"there is no such variable; did you mean {meant[name]}?")
        if not name.startswith(PREFIX) or "__" not in name:
            continue
        key = name.removeprefix(PREFIX).lower().replace("__", ".")
        known = known_keys().get(key)
        found[key] = (checked(key, parsed(text, known.types) if known else text, name), name)
    return found


def _document(file: Path) -> dict[str, Any]:
    try:
        text = file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise SettingsError(str(file), "", error.strerror or str(error)) from error
    except UnicodeDecodeError as error:
        raise SettingsError(str(file), "", "not UTF-8; save it as UTF-8") from error
    document = _parsed(text, file)
    if document is None:
        return {}
    if not isinstance(document, dict):
        raise SettingsError(str(file), "", "a mapping of sections is wanted, such as `compression:`")
    return cast("dict[str, Any]", document)


def _parsed(text: str, file: Path) -> object:
    try:
        from abridged.config.document import Unreadable, values_of
    except ImportError as missing:
        raise SettingsError(str(file), "", "to read it: pip install 'abridged[cli]'") from missing
    try:
        return values_of(text)
    except Unreadable as error:
        line = f", line {error.line}" if error.line else ""
        raise SettingsError(f"{file}{line}", error.key, error.problem) from error


def _flat(document: object, origin: str) -> Settings:
    return {key: checked(key, value, origin) for key, value in _leaves(document, "", origin)}


def _leaves(document: object, prefix: str, origin: str) -> Iterator[tuple[str, Any]]:
    if not isinstance(document, dict):
        raise SettingsError(origin, prefix.rstrip("."), f"{shown(document)} is not possible; it takes a mapping")
    for name, value in cast("dict[object, Any]", document).items():
        key = f"{prefix}{name}"
        if any(known.startswith(f"{key}.") for known in known_keys()):
            yield from _leaves({} if value is None else value, f"{key}.", origin)
        else:
            yield key, value
