"""`search_files`: a regular expression over the files of the folder, in a process of its own.

A pattern that never comes to an end ends with that process, after its time.
"""

import json
import re
import sys
import warnings

from abridged.chat.tools import search_child
from abridged.chat.tools.process import run
from abridged.chat.tools.tool import Arguments, argument, parameters, tool
from abridged.chat.tools.workspace import ToolError, Workspace

SECONDS = 20.0
HITS, MOST_HITS = 200, 500
PATTERN_CHARACTERS = 5_000


async def _search(workspace: Workspace, arguments: Arguments) -> str:
    pattern, glob = argument(arguments, "pattern", str, ""), argument(arguments, "glob", str, "")
    if not pattern and not glob:
        raise ToolError("pattern or glob is wanted: what to look for, or which files to list")
    _check(pattern)
    path = workspace.path(argument(arguments, "path", str, "."))
    if not path.exists():
        raise ToolError(f"{workspace.name(path)}: there is no such file or folder")
    most = max(1, min(argument(arguments, "limit", int, HITS), MOST_HITS))
    wanted = {"root": str(workspace.root), "path": str(path), "pattern": pattern, "glob": glob, "most": most}
    command = [sys.executable, "-I", "-S", "-W", "ignore", search_child.__file__, json.dumps(wanted)]
    done = await run(command, workspace.root, workspace.environment, SECONDS)
    if done.ended:
        raise ToolError(f"it {done.ended}; a simpler pattern or a smaller path may do\n{done.output[:2_000]}")
    if done.exit_code:
        raise ToolError(f"the search failed: {done.output[-500:]}")
    return done.output.rstrip()


def _check(pattern: str) -> None:
    if len(pattern) > PATTERN_CHARACTERS:
        raise ToolError(f"pattern: longer than {PATTERN_CHARACTERS:,} characters")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "[[a]": what it may mean one day is no concern here
            re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise ToolError(f"pattern: no regular expression: {str(error)[:500]}") from error


SEARCH_FILES = tool(
    "search_files",
    "Find lines that match a regular expression (Python's) in the text files of this folder, or files by their names.",
    parameters(
        {},
        {
            "pattern": ("string", "The regular expression; empty: only the names of files are listed"),
            "path": ("string", "Where to look: a file or a folder; all of it unless said"),
            "glob": ("string", "Which files, such as *.py or src/**/test_*"),
            "limit": ("integer", f"How many hits, {HITS} unless said, {MOST_HITS} at most"),
        },
    ),
    _search,
)
