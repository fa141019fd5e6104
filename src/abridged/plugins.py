"""Engines by name: the built-in one, folders beside the configuration, and installed packages (spec: E5, E6).

A folder `plugins/context_engine/<name>/` holds an `__init__.py` with `register(ctx)` or with a subclass of
`ContextEngine`, and may hold a `plugin.yaml` with a `description`. A package has an entry point in `abridged.engines`.
Nothing is loaded before it is asked for, and whatever goes wrong names the plugin and the cause; another engine never
takes its place in silence.
"""

import importlib.util
import inspect
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, cast

from abridged.engine import ContextEngine
from abridged.engines.compressor import ContextCompressor
from abridged.errors import ConfigError, EngineLoadError, EngineNotFound

DEFAULT_ENGINE = "compressor"
BUILT_IN = "built in"
GROUP = "abridged.engines"
"""The entry points of installed packages."""
FOLDER = Path("plugins") / "context_engine"

Maker = Callable[..., ContextEngine]


@dataclass(frozen=True, slots=True)
class EnginePlugin:
    """An engine that can be had."""

    name: str
    source: str
    """`built in`, a folder, or a package."""
    description: str
    load: Callable[[], Maker]
    """Its class or factory. Raises `EngineLoadError`."""


class Context:
    """What `register(ctx)` is given."""

    def __init__(self) -> None:
        self.given: list[object] = []

    def register_context_engine(self, engine: object) -> None:
        """Hand over an engine, its class, or a function that makes one."""
        self.given.append(engine)

    def __getattr__(self, name: str) -> Callable[..., None]:
        """What else a host may let plugins register (commands, tools, hooks) is accepted and not used."""
        if not name.startswith("register_"):
            raise AttributeError(name)
        return lambda *_, **__: None


def engines(folders: Iterable[Path] = ()) -> list[EnginePlugin]:
    """All engines that can be had, the built-in one first; `folders` are those of the configuration."""
    found = [
        EnginePlugin(DEFAULT_ENGINE, BUILT_IN, "five phases, one structured summary", lambda: ContextCompressor),
        EnginePlugin("rag", BUILT_IN, "no summariser: what fits the newest request is brought back", _rag),
    ]
    for folder in folders:
        places = sorted((folder / FOLDER).iterdir()) if (folder / FOLDER).is_dir() else []
        found += [_of_folder(place) for place in places if place.is_dir() and not place.name.startswith((".", "__"))]
    return found + [_of_package(point) for point in entry_points(group=GROUP)]


def engine_named(name: str | None, folders: Iterable[Path] = (), **arguments: Any) -> ContextEngine:
    """The engine of that name, made with those of the arguments that it takes; empty = the built-in one.

    Raises `EngineNotFound`, or `EngineLoadError` for one that is broken or not the only one of its name.
    """
    wanted = (name or "").strip() or DEFAULT_ENGINE
    all_of_them = engines(folders)
    fitting = [plugin for plugin in all_of_them if plugin.name == wanted]
    if not fitting:
        raise EngineNotFound(wanted, [plugin.name for plugin in all_of_them])
    if len(fitting) > 1:
        raise EngineLoadError(wanted, f"there are {len(fitting)}: {', '.join(one.source for one in fitting)}")
    make = fitting[0].load()
    try:
        engine = make(**_taken(make, arguments))
    except Exception as error:
        if fitting[0].source == BUILT_IN and isinstance(error, ConfigError):
            raise
        raise EngineLoadError(wanted, f"cannot be made: {type(error).__name__}: {error}") from error
    if not isinstance(engine, ContextEngine):
        raise EngineLoadError(wanted, f"made a {type(engine).__name__}, which is no ContextEngine")
    if engine.name != wanted:
        raise EngineLoadError(wanted, f"calls itself {engine.name!r}")
    return engine


def _taken(make: Maker, arguments: dict[str, Any]) -> dict[str, Any]:
    parameters = inspect.signature(make).parameters
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
        return arguments
    return {name: value for name, value in arguments.items() if name in parameters}


def _rag() -> Maker:
    from abridged.engines.rag import RetrievingEngine  # SQLite is for who needs it

    return RetrievingEngine


# -- from a folder, from a package -------------------------------------------------------------------------------------


def _of_folder(folder: Path) -> EnginePlugin:
    return EnginePlugin(folder.name, str(folder), _description(folder), lambda: _from_folder(folder))


def _description(folder: Path) -> str:
    try:
        import yaml

        document: Any = yaml.safe_load((folder / "plugin.yaml").read_text(encoding="utf-8"))
        return str(document["description"])
    except Exception:  # a description is an ornament: one that cannot be read is none
        return ""


def _from_folder(folder: Path) -> Maker:
    name = folder.name
    if not (folder / "__init__.py").is_file():
        raise EngineLoadError(name, f"{folder} has no __init__.py")
    module_name = f"abridged_plugin_{name}"
    spec = importlib.util.spec_from_file_location(
        module_name, folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    if spec is None or spec.loader is None:
        raise EngineLoadError(name, f"{folder} cannot be read as Python")
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    try:
        spec.loader.exec_module(module)
        register = getattr(module, "register", None)
        given = _registered(register) if register else _subclasses(module)
    except EngineLoadError:
        raise
    except BaseException as error:  # also one that ends the program: a plugin may not
        sys.modules.pop(module_name, None)
        if isinstance(error, KeyboardInterrupt):
            raise
        raise EngineLoadError(name, f"{type(error).__name__}: {error}") from error
    return _one(name, given)


def _registered(register: Callable[[Context], object]) -> list[object]:
    context = Context()
    returned = register(context)
    return context.given or ([returned] if returned is not None else [])


def _subclasses(module: object) -> list[object]:
    found = [value for value in vars(module).values() if inspect.isclass(value) and issubclass(value, ContextEngine)]
    return [cls for cls in found if not inspect.isabstract(cls) and cls.__module__ == getattr(module, "__name__", "")]


def _of_package(point: EntryPoint) -> EnginePlugin:
    package = point.dist.name if point.dist else point.module

    def load() -> Maker:
        try:
            return _one(point.name, [point.load()])
        except EngineLoadError:
            raise
        except Exception as error:
            raise EngineLoadError(point.name, f"{type(error).__name__}: {error}") from error

    return EnginePlugin(point.name, f"package {package}", "", load)


def _one(name: str, given: list[object]) -> Maker:
    """The one engine that a plugin gave, as something that makes it."""
    if not given:
        raise EngineLoadError(name, "registers no engine and has no subclass of ContextEngine")
    if len(given) > 1:
        raise EngineLoadError(name, f"gives {len(given)} engines, and one is wanted")
    (engine,) = given
    if isinstance(engine, ContextEngine):
        return lambda: engine
    if inspect.isclass(engine) and not issubclass(engine, ContextEngine):
        raise EngineLoadError(name, f"gives {engine.__name__}, which is no ContextEngine")
    if not callable(engine):
        raise EngineLoadError(name, f"gives a {type(engine).__name__}, which is no engine")
    return cast("Maker", engine)
