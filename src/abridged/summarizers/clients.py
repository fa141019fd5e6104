"""What the clients of models share: the model, the SDK and the key."""

import os
from collections.abc import Mapping
from importlib import import_module
from typing import Any
from urllib.parse import urlsplit

from abridged.config.servers import is_local
from abridged.errors import SummarizerError
from abridged.summarizers.protocol import SummaryRequest

NO_KEY = "none"
"""What is sent to a server on this machine: the SDKs want something."""


class ModelClient:
    """A model behind an SDK; `_new_client` opens one.

    `base_url`: the server, `None` = the provider's own. `api_key`: else it is read from the environment.
    `context_length`: the model's window in tokens, where it is known. `client`: one that is ready, and is left open.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        context_length: int | None = None,
        client: Any = None,
        name: str | None = None,
    ) -> None:
        self.model = model
        self.name = name or model
        self.base_url = base_url
        self.context_length = context_length
        self._api_key = api_key
        self._client = client

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.model!r}, base_url={self.base_url!r})"

    def _client_for(self, request: SummaryRequest) -> Any:
        """A client for one request, closed when the request is over or nobody waits for it any more."""
        if self._client is not None:
            return self._client
        client = self._new_client()
        request.cancel.on_cancel(client.close)
        return client

    def _new_client(self) -> Any:
        raise NotImplementedError


def sdk(name: str) -> Any:
    """The SDK of a provider. Raises `SummarizerError` of the kind `no_provider` with what to install."""
    try:
        return import_module(name)
    except ImportError as missing:
        raise SummarizerError("no_provider", f"pip install 'abridged[{name}]': {missing}") from missing


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
