"""Run by the host's interpreter, as a text: which engine an agent would get, found as the host itself finds it.

Prints one JSON object. It must not need this package: that it cannot be imported there is one of the answers.
"""

import copy
import importlib
import importlib.metadata
import json
import logging
from typing import Any


def probe() -> dict[str, Any]:
    """What an agent would get, and why."""
    logging.disable(logging.CRITICAL)
    found: dict[str, Any] = {"importable": _is_importable()}
    try:
        found["host"] = importlib.metadata.version("hermes-agent")
        config: dict[str, Any] = importlib.import_module("hermes_cli.config").load_config()
        name = str(_section(config, "context").get("engine") or "compressor")
        found["configured"] = found["used"] = name
        if name == "compressor":
            return {**found, "source": "the host's own"}
        engine, source = _engine(name, found)
        if engine is None:
            return {**found, "used": "compressor", "source": "the host's own, for want of another"}
        window = int(_section(config, "model").get("context_length") or 256_000)
        engine.update_model(model="", context_length=window)
        kind = type(engine)  # pyright: ignore[reportUnknownVariableType]
        numbers = {"context_length": engine.context_length, "threshold_tokens": engine.threshold_tokens}
        fault = getattr(engine, "fault", "")
        return {**found, "source": source, "class": f"{kind.__module__}.{kind.__name__}", "fault": fault, **numbers}
    except Exception as error:
        return {**found, "fault": f"{type(error).__name__}: {error}"}


def _is_importable() -> bool:
    try:
        importlib.import_module("abridged.hermes")
    except Exception:
        return False
    return True


def _section(config: dict[str, Any], name: str) -> dict[str, Any]:
    section = config.get(name)
    return dict(section) if isinstance(section, dict) else {}  # pyright: ignore[reportUnknownArgumentType]


def _engine(name: str, found: dict[str, Any]) -> tuple[Any, str]:
    engine = importlib.import_module("plugins.context_engine").load_context_engine(name)
    if engine is not None:
        return engine, f"the host's folder plugins/context_engine/{name}"
    plugins = importlib.import_module("hermes_cli.plugins")
    offered = plugins.get_plugin_context_engine()
    loaded = getattr(plugins.get_plugin_manager(), "_plugins", {}).get("abridged")
    found["plugin"] = (getattr(loaded, "error", None) or "loaded") if loaded else "not found"
    if offered is None or offered.name != name:
        return None, ""
    where = getattr(getattr(loaded, "manifest", None), "source", "") if loaded else ""
    return copy.deepcopy(offered), f"a plugin ({where or 'unknown'})"


if __name__ == "__main__":
    print("\n" + json.dumps(probe()))
