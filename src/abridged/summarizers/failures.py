"""What kind of failure an exception is: by its status, its class, and its words where these say too little.

No client is imported: the classes of the SDKs and of the HTTP libraries under them are known by their names.
"""

import re

from abridged.errors import FailureKind, SummarizerError
from abridged.overflow import overflow_of
from abridged.summary.redact import redact

DETAIL_CHARS = 200
_BY_STATUS: dict[int, FailureKind] = {
    401: "auth", 402: "rate_limit", 403: "auth", 404: "not_found", 408: "timeout", 413: "overflow", 429: "rate_limit",
    503: "not_found", 504: "timeout", 529: "rate_limit",
}  # fmt: skip
_BY_NAME: tuple[tuple[str, FailureKind], ...] = (
    ("Timeout", "timeout"),
    ("Authentication", "auth"),
    ("PermissionDenied", "auth"),
    ("RateLimit", "rate_limit"),
    ("BudgetExceeded", "rate_limit"),
    ("ContextWindowExceeded", "overflow"),
    ("NotFound", "not_found"),
    ("Connect", "network"),
    ("RemoteProtocol", "network"),
    ("ProtocolError", "network"),
    ("ServiceUnavailable", "network"),
    ("ReadError", "network"),
    ("WriteError", "network"),
    ("Transport", "network"),
    ("URLError", "network"),
    ("InternalServer", "network"),
)
"""Parts of class names, the first that fits."""
_UNKNOWN_MODEL = re.compile(
    r"model.{0,80}(?:does not exist|not found|not a valid|unknown|is not available|no longer)|"
    r"(?:unknown|invalid|no such) model",
    re.IGNORECASE | re.DOTALL,
)
_QUOTA = re.compile(r"insufficient.?(?:quota|credit|balance|funds)|billing|credit balance", re.IGNORECASE)


def failure_of(error: BaseException) -> SummarizerError:
    """The error as one of ours, its detail one short line without secrets; one of ours as it is."""
    if isinstance(error, SummarizerError):
        return error
    return SummarizerError(_kind(error), f"{type(error).__name__}: {first_line(error)}".rstrip(": "))


def first_line(error: BaseException) -> str:
    """What it says, cut to one short line, without secrets."""
    lines = redact(str(error)).strip().splitlines()
    return lines[0][:DETAIL_CHARS] if lines else ""


def _kind(error: BaseException) -> FailureKind:
    if overflow_of(error):
        return "overflow"
    status, text = getattr(error, "status_code", None), str(error)
    if isinstance(status, int):
        if status == 400:
            return "not_found" if _UNKNOWN_MODEL.search(text) else "rate_limit" if _QUOTA.search(text) else "other"
        return _BY_STATUS.get(status, "network" if status >= 500 else "other")
    names = [cls.__name__ for cls in type(error).__mro__]
    for part, kind in _BY_NAME:
        if any(part in name for name in names):
            return kind
    if isinstance(error, OSError):
        return "network"
    return "no_provider" if isinstance(error, RuntimeError) else "other"
