"""Where settings come from: a YAML file, the environment. Out comes dotted key -> checked value.

YAML is an extra (`cli`), imported when a file is read.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from abridged.config.keys import checked, known_keys, parsed
from abridged.errors import SettingsError

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
    return (
        _flat(document, str(file)),
        {str(name): _flat(given or {}, f"{file}, {MODELS}.{name}") for name, given in models.items()},
    )


def from_environment(environment: Mapping[str, str]) -> dict[str, tuple[Any, str]]:
    """Key -> value and the variable that says so. Raises `SettingsError`."""
    found: dict[str, tuple[Any, str]] = {}
    for name, text in environment.items():
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
        import yaml
    except ImportError as missing:
        raise SettingsError(str(file), "", "to read it: pip install 'abridged[cli]'") from missing

    class Strict(yaml.SafeLoader):
        """One that takes no key twice: of two the second would win in silence."""

        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            seen: set[str] = set()
            for name, _ in node.value:
                if name.value in seen:
                    line = name.start_mark.line + 1
                    raise SettingsError(f"{file}, line {line}", name.value, "it stands there a second time")
                seen.add(name.value)
            return super().construct_mapping(node, deep)

    try:
        return yaml.load(text, Strict)  # a safe loader
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark else ""
        said = getattr(error, "problem", None) or " ".join(str(error).split())
        raise SettingsError(f"{file}{line}", "", f"no YAML: {said}") from error


def _flat(document: object, origin: str) -> Settings:
    return {key: checked(key, value, origin) for key, value in _leaves(document, "", origin)}


def _leaves(document: object, prefix: str, origin: str) -> Iterator[tuple[str, Any]]:
    if not isinstance(document, dict):
        raise SettingsError(origin, prefix.rstrip("."), f"{document!r} is not possible; it takes a mapping")
    for name, value in cast("dict[object, Any]", document).items():
        key = f"{prefix}{name}"
        if any(known.startswith(f"{key}.") for known in known_keys()):
            yield from _leaves({} if value is None else value, f"{key}.", origin)
        else:
            yield key, value
