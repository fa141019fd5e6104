"""Engines by name: the built-in one, folders beside the configuration, and installed packages (spec: E5, E6).

A folder `plugins/context_engine/<name>/` holds an `__init__.py` with `register(ctx)` or with a subclass of
`ContextEngine`, and may hold a `plugin.yaml` with a `description`. A package has an entry point in `abridged.engines`.
Nothing is loaded before it is asked for. Whatever a plugin raises, be it the end of the program, becomes an error that
names the plugin and the cause; another engine never takes its place in silence.
"""

import importlib.util
import inspect
import os
import sys
import threading
import traceback
import zlib
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from abridged.engine import ContextEngine
from abridged.engines.compressor import ContextCompressor
from abridged.errors import ConfigError, EngineLoadError, EngineNotFound, told

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
        EnginePlugin("lcm", BUILT_IN, "summaries as a graph over the archive: each can be opened again", _lcm),
    ]
    for folder in {os.path.realpath(folder): folder for folder in folders}.values():
        found += _of_folder(folder / FOLDER)
    return found + _of_packages()


def engine_named(name: str | None, folders: Iterable[Path] = (), **arguments: Any) -> ContextEngine:
    """The engine of that name, made with those of the arguments that it takes; empty = the built-in one.

    Raises `EngineNotFound`, or `EngineLoadError` for one that is broken or not the only one of its name.
    """
    wanted = (name or "").strip() or DEFAULT_ENGINE
    all_of_them = engines(folders)
    fitting = [plugin for plugin in all_of_them if plugin.name == wanted]
    if not fitting:
        raise EngineNotFound(wanted, [plugin.name for plugin in all_of_them])
    _alone(fitting)
    return _made(fitting[0], arguments)


def health(folders: Iterable[Path] = (), **arguments: Any) -> list[tuple[EnginePlugin, str]]:
    """All engines and what is wrong with each, "" = nothing: it was loaded, and made with these arguments."""
    all_of_them = engines(folders)

    def fault(plugin: EnginePlugin) -> str:
        try:
            _made(plugin, arguments)
            _alone([other for other in all_of_them if other.name == plugin.name])
        except EngineLoadError as error:
            return str(error)
        return ""

    return [(plugin, fault(plugin)) for plugin in all_of_them]


def _alone(of_one_name: list[EnginePlugin]) -> None:
    if len(of_one_name) > 1:
        sources = ", ".join(one.source for one in of_one_name)
        raise EngineLoadError(of_one_name[0].name, f"there are {len(of_one_name)} of this name: {sources}")


def _made(plugin: EnginePlugin, arguments: dict[str, Any]) -> ContextEngine:
    """The engine, with all that a host reads of it right away. Raises `EngineLoadError`."""
    name, make = plugin.name, plugin.load()
    with _blamed(name, "cannot be made: ", (ConfigError,) if plugin.source == BUILT_IN else ()):
        engine = make(**_taken(make, arguments))
        if not isinstance(engine, ContextEngine):
            raise EngineLoadError(name, f"made a {type(engine).__name__}, which is no ContextEngine")
        if engine.name != name:
            raise EngineLoadError(name, f"calls itself {engine.name!r}")
        for attribute in ("context_length", "threshold_tokens"):
            size: object = getattr(engine, attribute)
            if not isinstance(size, int) or isinstance(size, bool):
                raise EngineLoadError(name, f"its {attribute} is {size!r}, and a number of tokens is wanted")
    return engine


@contextmanager
def _blamed(name: str, doing: str = "", passing: tuple[type[Exception], ...] = ()) -> Generator[None]:
    """Whatever is raised inside is an error of that plugin, with the line of its code that raised; `passing` is not."""
    try:
        yield
    except (KeyboardInterrupt, EngineLoadError, *passing):
        raise
    except BaseException as error:
        raise EngineLoadError(name, f"{doing}{told(error)}{_where(error)}") from error


def _where(error: BaseException) -> str:
    """Where in a plugin: the innermost place that belongs to one; a `SyntaxError` says so itself."""
    if isinstance(error, SyntaxError):
        return ""
    steps = [(Path(frame.f_code.co_filename), line) for frame, line in traceback.walk_tb(error.__traceback__)]
    inside = [(file.name, line) for file, line in steps if FOLDER.name in file.parts]
    return f" ({inside[-1][0]}, line {inside[-1][1]})" if inside else ""


def _taken(make: Maker, arguments: dict[str, Any]) -> dict[str, Any]:
    parameters = inspect.signature(make).parameters
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
        return arguments
    return {name: value for name, value in arguments.items() if name in parameters}


def _lcm() -> Maker:
    from abridged.engines.lcm import LosslessEngine

    return LosslessEngine


def _rag() -> Maker:
    from abridged.engines.rag import RetrievingEngine  # SQLite is for who needs it

    def make(**arguments: Any) -> ContextEngine:
        return RetrievingEngine(**{name: value for name, value in arguments.items() if name not in _OF_WRITERS})

    return make


_OF_WRITERS = ("summarizer", "fallback_summarizer", "progress", "recall")
"""What an engine without a summariser has no use for."""


# -- from a folder, from a package -------------------------------------------------------------------------------------


_LOADING = threading.RLock()
"""Sessions of several threads may want the same plugin, and it is loaded anew for each."""


def _of_folder(folder: Path) -> list[EnginePlugin]:
    """The plugins that lie in a folder; one that cannot be looked into is named as a broken one."""
    try:
        places = sorted(place for place in folder.iterdir() if place.is_dir())
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        return [EnginePlugin(folder.name, str(folder), "", _broken(folder.name, error.strerror or str(error)))]
    return [
        EnginePlugin(place.name, str(place), _description(place), lambda place=place: _from_folder(place))
        for place in places
        if not place.name.startswith((".", "__"))
    ]


def _broken(name: str, cause: str) -> Callable[[], Maker]:
    def load() -> Maker:
        raise EngineLoadError(name, cause)

    return load


def _description(folder: Path) -> str:
    try:
        import yaml

        document: Any = yaml.safe_load((folder / "plugin.yaml").read_text(encoding="utf-8"))
        said = document["description"]
    except Exception:  # a description is an ornament: one that cannot be read is none
        return ""
    return " ".join(said.split()) if isinstance(said, str) else ""


def _from_folder(folder: Path) -> Maker:
    name = folder.name
    with _LOADING, _blamed(name):
        if not (folder / "__init__.py").is_file():
            raise EngineLoadError(name, f"{folder} has no __init__.py")
        module = _executed(folder)
        register = getattr(module, "register", None)
        return _one(name, _registered(register) if register else _subclasses(module))


def _executed(folder: Path) -> ModuleType:
    """The folder as a package, from its files as they are now; nothing is left of one that fails."""
    readable = "".join(character if character.isalnum() else "_" for character in folder.name)
    name = f"abridged_plugin_{readable}_{zlib.crc32(os.fsencode(os.path.realpath(folder))):08x}"
    _forget(name)
    spec = importlib.util.spec_from_file_location(
        name, folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    if spec is None or spec.loader is None:
        raise EngineLoadError(folder.name, f"{folder} cannot be read as Python")
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        _forget(name)
        raise
    return module


def _forget(package: str) -> None:
    for name in [name for name in sys.modules if name == package or name.startswith(f"{package}.")]:
        del sys.modules[name]
    importlib.invalidate_caches()


def _registered(register: Callable[[Context], object]) -> list[object]:
    context = Context()
    returned = register(context)
    return context.given or ([returned] if returned is not None else [])


def _subclasses(module: ModuleType) -> list[object]:
    """Engines that the plugin defines, in whichever of its files; not those that it only imports to build on."""
    found = [value for value in vars(module).values() if inspect.isclass(value) and issubclass(value, ContextEngine)]
    own = [cls for cls in dict.fromkeys(found) if f"{cls.__module__}.".startswith(f"{module.__name__}.")]
    return [cls for cls in own if not inspect.isabstract(cls)]


def _of_packages() -> list[EnginePlugin]:
    try:
        return [_of_package(point) for point in entry_points(group=GROUP)]
    except Exception as error:  # one package whose metadata cannot be read hides all of them
        return [EnginePlugin(GROUP, "packages", "", _broken(GROUP, told(error)))]


def _of_package(point: EntryPoint) -> EnginePlugin:
    def load() -> Maker:
        with _LOADING, _blamed(point.name):
            return _one(point.name, [point.load()])

    package = point.dist.name if point.dist else point.value
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
