"""One tool call with its result, as digests and the ledger see it.

Foreign arguments and results are of any shape, so nothing here trusts one. An accessor either gives the plain value it
promises or raises `Unreadable`, which whoever asked the digest function turns into the generic line: no digest function
needs a guard. What costs time (parsing the result, looking for an exit code) is done once, when first asked for.
"""

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import cast

from .outcome import Ending, as_integer, ending_of
from .wording import TARGET_CHARS, as_object, line_count, one_line, value_text

_NAME_CHARS = 80
_PARSED_RESULT_CHARS = 200_000
_SHELLS = frozenset({"bash", "sh", "zsh", "dash", "cmd", "powershell", "pwsh"})
_SHELL_FLAGS = frozenset({"-c", "-lc", "-ic", "-lic", "/c", "-Command"})

COMMAND_KEYS = ("command", "cmd")
PATH_KEYS = (
    "path", "file_path", "filename", "filePath", "notebook_path", "absolute_path", "dir_path", "file", "file_name",
)  # fmt: skip
PATTERN_KEYS = ("pattern", "query", "search_term", "regex", "file_name", "search_query")
PATCH_KEYS = ("patch", "input", "diff", "patch_text")

_PATCHED_PATH = re.compile(
    r"^\*\*\* (?:(?:Update|Add|Delete) File|Move to):(.+)$|^\+\+\+ (?:b/)?(?!/dev/null)(\S+)", re.MULTILINE
)
_OPEN_FILE = re.compile(r"^\(Open file: (?!n/a)(.+)\)$", re.MULTILINE)
_OPEN_FILE_CHARS = 500
_FOUND = re.compile(r"(?:Found|Total:?) (\d{1,9})\b")


class Unreadable(ValueError):
    """An argument is missing, or no text where text was expected."""


@dataclass(frozen=True)
class Call:
    """A tool call and its result.

    `name` is the tool's name as the model called it (`tool` where there was none), `arguments` the JSON object of its
    arguments (empty where they were anything else), `given` what they were instead, `result` the result's text.
    (spec: P1.3)
    """

    name: str
    arguments: Mapping[str, object]
    given: object
    result: str

    @classmethod
    def read(cls, name: object, arguments: object, result: object) -> "Call":
        """Make a call of whatever a message held; never raises. Arguments may be the object or its JSON text."""
        label = one_line(name, _NAME_CHARS) if isinstance(name, str) else ""
        text = result if isinstance(result, str) else "" if result is None else value_text(result)
        named = as_object(arguments)
        return cls(label or "tool", named or {}, arguments if named is None else None, text)

    @property
    def tool(self) -> str:
        """The tool's own name: `read_file` for `mcp__files__read_file`."""
        if self.name.startswith("mcp__"):
            return self.name.split("__", 2)[-1]
        return self.name

    def value(self, *keys: str) -> object:
        """Return the first of these arguments that has a value, else None."""
        for key in keys:
            found = self.arguments.get(key)
            if found is not None:
                return found
        return None

    def text(self, *keys: str, default: str = "") -> str:
        """Return the first of these arguments that has a value, as text; numbers and truth values become text.

        Raises `Unreadable` for an object or a list.
        """
        found = self.value(*keys)
        if found is None:
            return default
        if isinstance(found, str):
            return found
        if isinstance(found, bool):
            return str(found).lower()
        if isinstance(found, int | float):
            return str(found)
        raise Unreadable(keys)

    def need(self, *keys: str) -> str:
        """Like `text`, and raises `Unreadable` where there is none or it is blank."""
        found = self.text(*keys)
        if not found.strip():
            raise Unreadable(keys)
        return found

    def integer(self, *keys: str, default: int = 0) -> int:
        """Return the first of these arguments that has a value, as a whole number; `default` where it is none."""
        found = as_integer(self.value(*keys))
        return default if found is None else found

    def texts(self, *keys: str) -> list[str]:
        """Return an argument that lists texts; one text is a list of one. Other items are left out."""
        found = self.value(*keys)
        items = cast("list[object]", found) if isinstance(found, list) else [found]
        return [item for item in items if isinstance(item, str) and item.strip()]

    def objects(self, *keys: str) -> list[Mapping[str, object]]:
        """Return the objects in an argument that lists objects; other items are left out."""
        found = self.value(*keys)
        items = cast("list[object]", found) if isinstance(found, list) else []
        return [cast("dict[str, object]", item) for item in items if isinstance(item, dict)]

    @property
    def command(self) -> str:
        """The shell command line, also where it came as a list of words. Raises `Unreadable` where there is none."""
        words = self.value(*COMMAND_KEYS)
        if not isinstance(words, list):
            return self.need(*COMMAND_KEYS)
        line = self.texts(*COMMAND_KEYS)
        if len(line) != len(cast("list[object]", words)) or not line:
            raise Unreadable(COMMAND_KEYS)
        if len(line) == 3 and line[0].rpartition("/")[2] in _SHELLS and line[1] in _SHELL_FLAGS:
            return line[2]
        return shlex.join(line)

    @property
    def path(self) -> str:
        """The file or directory that the call is about: as its arguments say, else the open file that its result names.

        Raises `Unreadable` where there is none.
        """
        if self.value(*PATH_KEYS) is None and (opened := _OPEN_FILE.search(self.result[-_OPEN_FILE_CHARS:])):
            return opened[1]
        return self.need(*PATH_KEYS)

    @property
    def patched_paths(self) -> list[str]:
        """The files that a patch in the arguments touches, in the patch's order."""
        patch = self.value(*PATCH_KEYS, *COMMAND_KEYS) if self.arguments else self.given
        if isinstance(patch, list):
            patch = "\n".join(text for text in cast("list[object]", patch) if isinstance(text, str))
        found = _PATCHED_PATH.finditer(patch) if isinstance(patch, str) else ()
        return list(dict.fromkeys((match[1] or match[2]).strip() for match in found))

    @cached_property
    def payload(self) -> Mapping[str, object] | None:
        """The result as a JSON object, where it is one of at most 200,000 characters."""
        return as_object(self.result) if len(self.result) <= _PARSED_RESULT_CHARS else None

    @cached_property
    def ending(self) -> Ending:
        """Exit code and the output itself."""
        return ending_of(self.result, self.payload)

    @property
    def exit_code(self) -> int | None:
        """The exit code that the result states, from its JSON or from a line at one of its ends."""
        return self.ending.code

    @property
    def output_lines(self) -> int:
        """How many lines the program itself wrote, without the host's marks."""
        return line_count(self.ending.output)

    @property
    def result_chars(self) -> int:
        """Length of the result in characters."""
        return len(self.result)

    @property
    def result_lines(self) -> int:
        """How many lines the result has."""
        return line_count(self.result)

    @property
    def size(self) -> str:
        """The result's length for a reader: `1,200 chars`."""
        return f"{len(self.result):,} chars"

    @property
    def matches(self) -> int:
        """How many matches a search found: as its result says, else its lines that are not blank."""
        for key in ("total_count", "matches", "count", "total") if self.payload else ():
            found = (self.payload or {}).get(key)
            if isinstance(found, list):
                return len(cast("list[object]", found))
            if (number := as_integer(found)) is not None:
                return number
        if said := _FOUND.match(self.result):
            return int(said[1])
        if self.result.startswith("No ") and len(self.result) < TARGET_CHARS:
            return 0
        return sum(1 for line in self.result.split("\n") if line and not line.isspace())

    def answer(self, *keys: str) -> str:
        """Return the first of these values that a JSON result has as text, else an empty text."""
        found = next((value for key in keys if (value := (self.payload or {}).get(key))), "")
        return found if isinstance(found, str) else ""
