"""How a call ended, read from its result: exit code, the output itself, failed or not.

A result is looked at near its two ends only, where hosts write what happened, never all through: the middle is the
program's own text, and long.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

from .wording import as_object

_EDGE_CHARS = 300

_EXIT_KEYS = ("exit_code", "returncode", "exit_status", "exitCode", "return_code")
_OUTPUT_KEYS = ("output", "stdout", "stderr")

# A whole line that says how a process ended: "[exit code: 1]", "Exit code 1", "Process exited with code 2",
# "[The command completed with exit code 0.]", "<returncode>0</returncode>". Lists ("- exit code: 1") are not meant.
_EXIT_LINE = re.compile(
    r"^[\[(<*_ \t]{0,4}"
    r"(?:(?:the )?(?:command|process|script|program|tool|shell|execution)\b[a-z ]{0,40}?)?"
    r"(?:(?:exit|return)[ _-]?(?:code|status)|exited with(?: exit)?(?: code| status)?)"
    r"[ \t:=>]{0,3}(-?\d{1,10})\b[^\n]*",
    re.IGNORECASE | re.MULTILINE,
)
_OUTPUT_FOLLOWS = "\nOutput:\n"

_FAILURE_OPENER = re.compile(
    r"\s*(?:[\[<(*`]{0,3}(?:[A-Za-z_.]*(?:Error|Exception)|ERROR|FATAL|error|fatal)[\])*`]{0,3}(?:[: ]|$)"
    r"|Traceback \(|<tool_use_error>|No replacement was performed|Your proposed edit has introduced"
    r"|apply_patch verification failed)"
)
_SUCCESS_OPENER = re.compile(
    r"\s*(?:success|ok\b|done\b|file created|the file \S+ has been|updated |wrote |(?:text )?replaced\b)", re.IGNORECASE
)
_TRACEBACK = "Traceback (most recent call last)"
_LAST_ERROR = re.compile(r"^[A-Za-z_.]*(?:Error|Exception)\b", re.MULTILINE)
_FAILURE_WORDS = frozenset({"error", "failed", "failure", "fail"})
_SUCCESS_WORDS = frozenset({"success", "ok", "succeeded"})


class Ending(NamedTuple):
    """`code` is None where the result does not say; `output` is the program's own text without the host's marks."""

    code: int | None
    output: str


def ending_of(result: str, payload: Mapping[str, object] | None) -> Ending:
    """Read how a process ended from its result, or from the result's JSON object where it is one."""
    if payload is None:
        return _ending_of_text(result)
    outputs = [text for key in _OUTPUT_KEYS if isinstance(text := payload.get(key), str)]
    output = "\n".join(filter(None, outputs)) if outputs else result
    code = exit_code_in(payload)
    return Ending(code, output) if code is not None or not outputs else _ending_of_text(output)


def exit_code_in(payload: Mapping[str, object] | None) -> int | None:
    """Return the exit code that a JSON result names, at its top or in its `metadata`."""
    for place in (payload, as_object((payload or {}).get("metadata"))):
        for key in _EXIT_KEYS if place else ():
            code = as_integer(place.get(key)) if place else None
            if code is not None:
                return code
    return None


def as_integer(value: object) -> int | None:
    """Return a whole number that came as a number or as its digits; None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    if isinstance(value, str) and len(value) <= 20:
        try:
            return int(value)
        except ValueError:
            return None
    return None


def _ending_of_text(text: str) -> Ending:
    head, tail_start = text[:_EDGE_CHARS], max(0, len(text) - _EDGE_CHARS)
    edges = (head + text[tail_start:]).lower()
    if "exit" not in edges and "return" not in edges:
        return Ending(None, text)
    closing = list(_EXIT_LINE.finditer(text, tail_start))[-1:]
    mark = _EXIT_LINE.match(head) or (closing[0] if closing else _EXIT_LINE.search(head))
    if mark is None:
        return Ending(None, text)
    follows = text.find(_OUTPUT_FOLLOWS, mark.end(), mark.end() + _EDGE_CHARS)
    if follows >= 0:
        return Ending(int(mark[1]), text[follows + len(_OUTPUT_FOLLOWS) :])
    if mark.start() == 0 or not closing:
        return Ending(int(mark[1]), text[mark.end() :].lstrip("\r\n"))
    return Ending(int(mark[1]), text[: mark.start()].rstrip("\r\n"))


def failure_of(result: str, payload: Mapping[str, object] | None, exit_code: int | None) -> bool | None:
    """Return True for a failure, False for a clear success, None where the result does not tell."""
    if exit_code:
        return True
    said = _said_by(payload) if payload else _said_by_opening(result)
    if exit_code == 0 and not (payload and said):  # a program that prints "Error" and ends with 0 did not fail
        return False
    return said


def _said_by(payload: Mapping[str, object]) -> bool | None:
    success, status = payload.get("success", payload.get("ok")), payload.get("status")
    word = status.lower() if isinstance(status, str) else ""
    if success is False or word in _FAILURE_WORDS or payload.get("error"):
        return True
    error_flag = payload.get("is_error", payload.get("isError"))
    if error_flag is True:
        return True
    return False if success is True or error_flag is False or word in _SUCCESS_WORDS else None


def _said_by_opening(result: str) -> bool | None:
    head, tail_start = result[:_EDGE_CHARS], max(0, len(result) - _EDGE_CHARS)
    if _FAILURE_OPENER.match(head):
        return True
    # A program that talks first and dies of a Python error later: its last lines name the error.
    if _TRACEBACK in result and _LAST_ERROR.search(result, tail_start):
        return True
    return False if _SUCCESS_OPENER.match(head) else None
