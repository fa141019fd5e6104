"""The search itself, run as a program: its one argument is JSON, its output is the hits, a line each.

It uses the standard library alone, so that it starts at once.
"""

import fnmatch
import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SKIPPED = frozenset({".git", ".hg", ".svn", "node_modules", ".venv", "venv", "__pycache__", ".mypy_cache", ".tox"})
MOST_BYTES = 5_000_000
"""Larger files are passed by."""
LINE_CHARACTERS = 300
_LINE_END = re.compile(r"\r\n|\r|\n")
"""As `read_file` counts them: other characters that could end a line do not."""


def files(root: Path, start: Path, glob: str) -> Iterator[Path]:
    """Files below `start`, in order; no link is followed."""
    if start.is_file():
        yield start
        return
    for folder, folders, names in os.walk(start):
        folders[:] = sorted(name for name in folders if name not in SKIPPED)
        for name in sorted(names):
            path = Path(folder) / name
            shown = path.relative_to(root).as_posix()
            if path.is_symlink() or not path.is_file():
                continue
            if is_wanted(name, shown, glob):
                yield path


def is_wanted(name: str, shown: str, glob: str) -> bool:
    """`**/` may stand for no folder at all."""
    return (
        not glob
        or any(fnmatch.fnmatch(one, glob) for one in (name, shown))
        or ("**/" in glob and fnmatch.fnmatch(shown, glob.replace("**/", "")))
    )


def lines(path: Path) -> list[str]:
    """The lines of a text file; none of another or a large one."""
    try:
        if path.stat().st_size > MOST_BYTES:
            return []
        data = path.read_bytes()
    except OSError:
        return []
    if b"\0" in data[:8_192]:
        return []
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("cp1252", "replace")
    return _LINE_END.split(text)


def hits(wanted: dict[str, Any]) -> Iterator[str]:
    root, pattern = Path(wanted["root"]), re.compile(wanted["pattern"])
    for path in files(root, Path(wanted["path"]), wanted["glob"]):
        shown = path.relative_to(root).as_posix()
        if not wanted["pattern"]:
            yield shown
            continue
        for number, line in enumerate(lines(path), 1):
            if pattern.search(line):
                yield f"{shown}:{number}: {line.strip()[:LINE_CHARACTERS]}"


def main() -> None:
    wanted = json.loads(sys.argv[1])
    sys.stdout.reconfigure(encoding="utf-8", errors="replace")  # type: ignore[union-attr]
    found = 0
    for hit in hits(wanted):
        found += 1
        if found > wanted["most"]:
            print(f"[more than {wanted['most']} hits: narrow it down]")
            return
        print(hit, flush=True)
    if not found:
        print("[nothing found]")


if __name__ == "__main__":
    main()
