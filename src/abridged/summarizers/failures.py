"""What kind of failure an exception is: by its type and status, and by its words where a status says too little."""

import re

from abridged.errors import FailureKind, SummarizerError

_BY_STATUS: dict[int, FailureKind] = {
    401: "auth", 403: "auth", 402: "rate_limit", 404: "not_found", 408: "timeout", 413: "overflow", 429: "rate_limit",
    503: "not_found", 504: "timeout",
}  # fmt: skip
_OVERFLOW = re.compile(
    r"context.{0,20}(?:length|size|window|limit)|maximum context|too many (?:input )?tokens|prompt is too long|"
    r"exceed\w* .{0,40}(?:context|token limit|input)|input .{0,20}too (?:long|large)",
    re.IGNORECASE | re.DOTALL,
)
DETAIL_CHARS = 200


def failure_of(error: BaseException) -> SummarizerError:
    """The error as one of ours; one of ours as it is."""
    if isinstance(error, SummarizerError):
        return error
    return SummarizerError(_kind(error), f"{type(error).__name__}: {first_line(error)}")


def first_line(error: BaseException) -> str:
    """What it says, cut to one short line."""
    lines = str(error).strip().splitlines()
    return lines[0][:DETAIL_CHARS] if lines else ""


def _kind(error: BaseException) -> FailureKind:
    status = getattr(error, "status_code", None)
    if isinstance(status, int):
        if status in (400, 413, 422, 500) and _OVERFLOW.search(str(error)):
            return "overflow"
        return _BY_STATUS.get(status, "network" if status >= 500 else "other")
    if isinstance(error, TimeoutError):
        return "timeout"
    if isinstance(error, OSError):
        return "network"
    return "no_provider" if isinstance(error, RuntimeError) else "other"
