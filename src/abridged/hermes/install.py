"""What an installation writes into the host's folder: a plan first, and nothing of the host's own is lost.

The host's `config.yaml` is changed where it has to be and nowhere else: comments, order and everything unknown stay as
they are. What cannot be changed that way is left alone, with the words to write by hand.
"""

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from abridged.conversation.text import as_fields, as_list
from abridged.errors import AbridgedError
from abridged.hermes.home import PLUGIN, named_in_host

SHIM = '''"""Engines of abridged for this host; which one is what `context.engine` in config.yaml names."""

from abridged.hermes import register

__all__ = ["register"]
'''
MANIFEST = f"""name: {PLUGIN}
version: 0.1.0
description: Keeps long conversations inside the context window, and archives what leaves it.
"""


class InstallError(AbridgedError):
    """The host's folder is not as it has to be: says what to do."""


@dataclass(frozen=True, slots=True)
class Change:
    """One file as it will be."""

    path: Path
    before: str | None
    """`None` = there is none."""
    after: str
    says: str

    @property
    def is_needed(self) -> bool:
        return self.before != self.after


def plan(home: Path, engine: str) -> list[Change]:
    """All files that make our `engine` the host's. Raises `InstallError`."""
    if not home.is_dir():
        raise InstallError(f"{home}: there is no such folder; run `hermes` once, or name the host's folder with --home")
    name = named_in_host(engine)
    config, folder = home / "config.yaml", home / "plugins" / PLUGIN
    text = _read(config)
    return [
        Change(folder / "plugin.yaml", _read(folder / "plugin.yaml"), MANIFEST, "what the plugin is"),
        Change(folder / "__init__.py", _read(folder / "__init__.py"), SHIM, "imports abridged.hermes"),
        Change(config, text, configured(text or "", name), f"context.engine: {name}, plugins.enabled: {PLUGIN}"),
    ]


def _read(path: Path) -> str | None:
    try:
        with path.open(encoding="utf-8", newline="") as file:  # line ends stay as they are
            return file.read()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise InstallError(f"{path}: cannot be read: {error}") from error


def configured(text: str, engine: str) -> str:
    """A host's configuration with that engine and our plugin enabled. Raises `InstallError`."""
    yaml = _yaml()
    by_hand = f"write it by hand: `context: {{engine: {engine}}}` and `plugins: {{enabled: [{PLUGIN}]}}`"
    try:
        wanted = as_fields(yaml.safe_load(text) or {})
        if wanted is None:
            raise InstallError(f"config.yaml is no mapping of sections; {by_hand}")
        if PLUGIN in _names(wanted, "disabled"):
            raise InstallError(f"config.yaml lists {PLUGIN} under plugins.disabled; take it out there first")
        changed = _set_engine(text, engine)
        if PLUGIN not in _names(wanted, "enabled"):
            changed = _add_plugin(changed)
        result = yaml.safe_load(changed)
    except yaml.YAMLError as error:
        raise InstallError(f"config.yaml is no YAML: {error}") from error
    except (_CannotEdit, IndexError) as error:
        raise InstallError(f"config.yaml cannot be changed without loss; {by_hand}") from error
    enabled = _names(wanted, "enabled")
    enabled = enabled if PLUGIN in enabled else [PLUGIN, *enabled]
    wanted["context"] = {**(as_fields(wanted.get("context")) or {}), "engine": engine}
    wanted["plugins"] = {**(as_fields(wanted.get("plugins")) or {}), "enabled": enabled}
    if result != wanted:
        raise InstallError(f"config.yaml cannot be changed without loss; {by_hand}")
    return changed


def _names(config: dict[str, Any], key: str) -> list[Any]:
    return list(as_list((as_fields(config.get("plugins")) or {}).get(key)) or [])


# -- changing a text where its YAML stands ---------------------------------------------------------------------------


class _CannotEdit(Exception):
    """The text has a shape that is not worth the risk."""


def _set_engine(text: str, engine: str) -> str:
    section = _child(_root(text), "context")
    if section is None:
        return _appended(text, f"context:\n  engine: {engine}")
    found = _child(section[1], "engine")
    if found is None:
        return _inserted(text, section, f"engine: {engine}")
    value = found[1]
    if value.start_mark.index == value.end_mark.index:  # `engine:` with nothing behind it
        return f"{text[: value.start_mark.index]} {engine}{text[value.end_mark.index :]}"
    if value.id != "scalar":
        raise _CannotEdit
    return text[: value.start_mark.index] + engine + text[value.end_mark.index :]


def _add_plugin(text: str) -> str:
    section = _child(_root(text), "plugins")
    if section is None:
        return _appended(text, f"plugins:\n  enabled:\n    - {PLUGIN}")
    found = _child(section[1], "enabled")
    if found is None:
        return _inserted(text, section, f"enabled: [{PLUGIN}]")
    value = found[1]
    if value.id == "scalar":  # null
        return (
            f"{text[: found[0].end_mark.index]}: [{PLUGIN}]{text[max(value.end_mark.index, _behind(text, found[0])) :]}"
        )
    if value.id != "sequence":
        raise _CannotEdit
    if value.flow_style:
        start = value.start_mark.index + 1
        return f"{text[:start]}{PLUGIN}{', ' if value.value else ''}{text[start:]}"
    first = value.value[0].start_mark.index
    dash = text.rindex("-", 0, first)
    indent = text[text.rfind("\n", 0, dash) + 1 : dash]
    return f"{text[:dash]}- {PLUGIN}{_line_end(text)}{indent}{text[dash:]}"


def _yaml() -> Any:
    """YAML is an extra, imported when a file is changed; its nodes have no types."""
    return importlib.import_module("yaml")


def _root(text: str) -> Any:
    yaml = _yaml()
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    if root is not None and (root.id != "mapping" or root.flow_style):
        raise _CannotEdit
    return root


def _child(node: Any, key: str) -> tuple[Any, Any] | None:
    """A key of a mapping and its value, as nodes."""
    if node is None or node.id != "mapping":
        return None
    pairs: Sequence[tuple[Any, Any]] = node.value
    return next((pair for pair in pairs if pair[0].value == key), None)


def _inserted(text: str, section: tuple[Any, Any], entry: str) -> str:
    """With one more entry at the front of a section."""
    key, value = section
    if value.id == "scalar":  # null
        end = max(value.end_mark.index, _behind(text, key))
        return f"{text[: key.end_mark.index]}:{_line_end(text)}  {entry}{text[end:]}"
    if value.id != "mapping":
        raise _CannotEdit
    if value.flow_style:
        start = value.start_mark.index + 1
        return f"{text[:start]}{entry}{', ' if value.value else ''}{text[start:]}"
    start = value.value[0][0].start_mark.index
    indent = " " * value.value[0][0].start_mark.column
    return f"{text[:start]}{entry}{_line_end(text)}{indent}{text[start:]}"


def _behind(text: str, key: Any) -> int:
    """The place behind a key's colon."""
    return text.index(":", key.end_mark.index) + 1


def _appended(text: str, section: str) -> str:
    end = _line_end(text)
    gap = "" if not text or text.endswith("\n") else end
    return text + gap + section.replace("\n", end) + end


def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"
