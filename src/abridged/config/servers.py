"""Where a server is: what is sent to this machine stays there, and needs no key."""

from urllib.parse import urlsplit

_LOCAL = frozenset({"localhost", "127.0.0.1", "::1", "0.0.0.0"})


def is_local(base_url: str | None) -> bool:
    """Whether a server is on this machine."""
    try:
        host = urlsplit(base_url).hostname if base_url else None
    except ValueError:  # no address at all
        return False
    return host is not None and (host in _LOCAL or host.startswith("127."))
