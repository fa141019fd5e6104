"""One informative line per tool result, and what each call did. (spec: P1.3, P1.3b)"""

from . import files, media, people, planning, search, shell, skills, web
from .actions import Action, ActionKind, action_of, action_of_call
from .reading import Call
from .registry import DIGESTS, DigestFunction, DigestRegistry, digest_for

FAMILIES = (files, media, people, planning, search, shell, skills, web)
"""The modules that filled `DIGESTS`, one per tool family."""

__all__ = [
    "DIGESTS",
    "FAMILIES",
    "Action",
    "ActionKind",
    "Call",
    "DigestFunction",
    "DigestRegistry",
    "action_of",
    "action_of_call",
    "digest_for",
]
