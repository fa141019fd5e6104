"""What the clients of models share: the SDK and the key."""

import os
from collections.abc import Mapping
from importlib import import_module
from typing import Any
from urllib.parse import urlsplit

from abridged.errors import SummarizerError

NO_KEY = "none"
"""What is sent to a server on this machine: the SDKs want something."""
_LOCAL = frozenset({"localhost", "127.0.0.1", "::1", "0.0.0.0"})


def sdk(name: str) -> Any:
    """The SDK of a provider. Raises `SummarizerError` of the kind `no_provider` with what to install."""
    try:
        return import_module(name)
    except ImportError as missing:
        raise SummarizerError("no_provider", f"pip install 'abridged[{name}]': {missing}") from missing


def is_local(base_url: str | None) -> bool:
    """Whether a server is on this machine."""
    host = urlsplit(base_url).hostname if base_url else None
    return host is not None and (host in _LOCAL or host.startswith("127."))


def variable_for(base_url: str | None, usual: str, others: Mapping[str, str]) -> str:
    """The environment variable that holds the key for a server."""
    host = (urlsplit(base_url).hostname or "") if base_url else ""
    return next((name for domain, name in others.items() if host == domain or host.endswith(f".{domain}")), usual)


def key_for(base_url: str | None, usual: str, others: Mapping[str, str]) -> str:
    """The key from the environment. Raises `SummarizerError` of the kind `auth` with the variable's name."""
    variable = variable_for(base_url, usual, others)
    key = os.environ.get(variable, "").strip()
    if key or is_local(base_url):
        return key or NO_KEY
    raise SummarizerError("auth", f"no key: set {variable}")
