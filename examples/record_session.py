"""Record `session.json`: play the scripted session over the little project, and keep what really happened.

What people and the agent say is written in `recorded/*.txt`; what tools answer never is. Every result comes from a real
command, file or edit in a temporary folder, in a clean environment with fixed dates. A `@@ see` line in the script is a
claim that the recording has to prove, so that no text speaks of an output that did not occur.

    python examples/record_session.py            write session.json and print the counts
    python examples/record_session.py --check    record again and compare, measured seconds aside
"""

import difflib
import json
import os
import re
import subprocess
import sys
import sysconfig
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
SESSION = HERE / "session.json"
SCRIPTS = HERE / "recorded"
OUTPUT_LIMIT = 30_000  # characters of terminal output that an agent is shown, as agents commonly do
TOOLS = {
    "terminal": {"command": "a shell command, run in the repository"},
    "read_file": {"path": "file", "offset": "first line, from 1 (optional)", "limit": "number of lines (optional)"},
    "write_file": {"path": "file", "content": "the whole new text"},
    "patch": {"path": "file", "old_string": "text that occurs once", "new_string": "what stands there afterwards"},
    "search_files": {"pattern": "regular expression", "path": "folder or file"},
}
HOW_MADE = (
    "User and assistant texts were written by hand beforehand. Every tool result is the real output of a real command, "
    "read or edit, made by examples/record_session.py in a temporary folder that is shown as /workspace/shop."
)
Message = dict[str, Any]


@dataclass(frozen=True)
class Section:
    """One `@@ kind words` line of a script and the text below it."""

    kind: str
    words: str
    body: str
    place: str


def sections(file: Path) -> Iterator[Section]:
    for part in re.finditer(r"^@@ (\w+) ?(.*)\n((?:(?!@@ ).*\n)*)", file.read_text(encoding="utf-8"), re.MULTILINE):
        yield Section(part[1], part[2].strip(), part[3].strip("\n"), f"{file.name}: @@ {part[1]} {part[2]}")


class Workspace:
    """A temporary folder with the project in it; every tool of the agent is one method that returns its result."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "shop"
        self._shown_as = {
            str(self.root): "/workspace/shop",
            str(folder): "/workspace",
            sysconfig.get_path("stdlib"): "/usr/lib/python3",
            sys.base_prefix: "/usr",
        }
        self._environment = _environment(folder)
        self._minutes = 0

    def create(self, script: Path) -> None:
        """Write the project file by file, with a history."""
        self.root.mkdir()
        self.terminal("git init --quiet --initial-branch main")
        for section in sections(script):
            if section.kind == "file":
                self.write_file(section.words, section.body + "\n" if section.body else "")
            elif section.kind == "commit":
                self.terminal(f"git add -A && git commit -m '{section.words}'")

    def terminal(self, command: str) -> Message:
        self._minutes += 3
        date = f"2026-11-30T{8 + self._minutes // 60:02d}:{self._minutes % 60:02d}:00Z"
        done = subprocess.run(
            ["/bin/sh", "-c", command],
            cwd=self.root,
            env=self._environment | {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=120,
            check=False,
        )
        return {"exit_code": done.returncode, "output": _shorten(self._scrub(done.stdout.decode()))}

    def read_file(self, path: str, offset: int = 1, limit: int = 2000) -> Message:
        lines = (self.root / path).read_text(encoding="utf-8").splitlines()
        shown = [f"{number:>4}|{line}" for number, line in enumerate(lines, start=1)][offset - 1 : offset - 1 + limit]
        return {"path": path, "total_lines": len(lines), "content": "\n".join(shown)}

    def write_file(self, path: str, content: str) -> Message:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content, encoding="utf-8")
        return {"success": True, "path": path, "bytes_written": len(content.encode())}

    def patch(self, path: str, old_string: str, new_string: str) -> Message:
        before = (self.root / path).read_text(encoding="utf-8")
        if (count := before.count(old_string)) != 1:
            return {"success": False, "error": f"old_string occurs {count} times in {path}, it must occur once"}
        after = before.replace(old_string, new_string)
        (self.root / path).write_text(after, encoding="utf-8")
        diff = difflib.unified_diff(before.splitlines(), after.splitlines(), f"a/{path}", f"b/{path}", lineterm="")
        return {"success": True, "diff": "\n".join(diff)}

    def search_files(self, pattern: str, path: str) -> Message:
        start = self.root / path
        files = [start] if start.is_file() else sorted(file for file in start.rglob("*") if file.is_file())
        matches = [
            {"path": str(file.relative_to(self.root)), "line": number, "content": line}
            for file in files
            if ".git" not in file.parts and file.suffix != ".db"
            for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1)
            if re.search(pattern, line)
        ]
        return {"total_count": len(matches), "matches": matches}

    def _scrub(self, text: str) -> str:
        for real, shown in self._shown_as.items():
            text = text.replace(real, shown)
        return text


def _environment(folder: Path) -> dict[str, str]:
    """Nothing of the machine or its user; `python` is this interpreter under a name that shows no path."""
    for name in ("bin", "home", "tmp"):
        (folder / name).mkdir()
    wrapper = folder / "bin" / "python"
    wrapper.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    wrapper.chmod(0o755)
    identity = {"NAME": "Recorder", "EMAIL": "recorder@example.invalid"}
    return {
        "PATH": os.pathsep.join([str(folder / "bin"), "/usr/bin", "/bin"]),
        "HOME": str(folder / "home"),
        "TMPDIR": str(folder / "tmp"),
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "NO_COLOR": "1",
        "COLUMNS": "100",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
        "PYTHONWARNINGS": "ignore::ResourceWarning",  # newer versions speak of open connections at moments of chance
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        **{f"GIT_{who}_{key}": value for who in ("AUTHOR", "COMMITTER") for key, value in identity.items()},
    }


def _shorten(output: str) -> str:
    if len(output) <= OUTPUT_LIMIT:
        return output
    head, tail = OUTPUT_LIMIT * 2 // 3, OUTPUT_LIMIT // 3
    return f"{output[:head]}\n[... {len(output) - head - tail} characters left out ...]\n{output[-tail:]}"


class Play:
    """Turns the sections of the script into messages, and calls the tools on the way."""

    def __init__(self, workspace: Workspace) -> None:
        self.messages: list[Message] = []
        self._workspace = workspace
        self._calls = 0
        self._assistant: Message = {}
        self._results: list[Message] = []
        self._last_result = ""

    def run(self, script: Path) -> None:
        pending_patch: Section | None = None
        for section in sections(script):
            if section.kind in ("system", "user", "assistant"):
                self._speak(section)
            elif section.kind == "see":
                if section.words not in self._last_result:
                    raise SystemExit(f"{section.place}: not in the last result:\n{self._last_result[-3000:]}")
            elif section.kind == "patch":
                pending_patch = section
            elif section.kind == "with" and pending_patch:
                self._call(pending_patch, {"old_string": pending_patch.body, "new_string": section.body})
            else:
                self._call(section, {})
        self._close_turn()

    def _speak(self, section: Section) -> None:
        self._close_turn()
        self._assistant = {"role": section.kind, "content": section.body}
        self.messages.append(self._assistant)

    def _close_turn(self) -> None:
        self.messages += self._results
        self._results = []

    def _call(self, section: Section, extra: Message) -> None:
        name, (arguments, expected) = section.kind, _arguments(section)
        arguments |= extra
        result = getattr(self._workspace, name)(**arguments)
        text = json.dumps(result, ensure_ascii=False)
        self._last_result = str(result.get("output", text))
        if result.get("exit_code", 0) != expected or result.get("success") is False:
            raise SystemExit(f"{section.place}: exit code {expected} was expected\n{self._last_result[-3000:]}")
        self._calls += 1
        call_id = f"call_{self._calls:03d}"
        function = {"name": name, "arguments": json.dumps(arguments, ensure_ascii=False)}
        calls = self._assistant.setdefault("tool_calls", [])
        calls.append({"id": call_id, "type": "function", "function": function})
        self._assistant["content"] = self._assistant["content"] or None  # as the API gives a turn of calls only
        self._results.append({"role": "tool", "tool_call_id": call_id, "content": text})


def _arguments(section: Section) -> tuple[Message, int]:
    """The arguments that a section stands for, and the exit code that the script expects."""
    words = section.words.split()
    if section.kind == "terminal":
        return {"command": section.body}, int(words[0].removeprefix("exit=")) if words else 0
    if section.kind == "read_file":
        return {"path": words[0], **dict(zip(("offset", "limit"), map(int, words[1:]), strict=False))}, 0
    if section.kind == "write_file":
        return {"path": words[0], "content": section.body + "\n"}, 0
    if section.kind == "search_files":
        return {"pattern": section.body, "path": words[0]}, 0
    if section.kind == "patch":
        return {"path": words[0]}, 0
    raise SystemExit(f"{section.place}: there is no such section")


def record() -> list[Message]:
    """Play the whole script in a temporary folder and return the messages."""
    with tempfile.TemporaryDirectory() as folder:
        workspace = Workspace(Path(folder).resolve())
        workspace.create(SCRIPTS / "project.txt")
        play = Play(workspace)
        for script in sorted(SCRIPTS.glob("play_*.txt")):
            play.run(script)
        return play.messages


def validate(messages: list[Message]) -> None:
    """Every call is answered once, right behind the message that makes it, and its arguments are JSON."""
    waiting: list[str] = []
    for position, message in enumerate(messages):
        if message["role"] == "tool":
            if not waiting or waiting.pop(0) != message["tool_call_id"]:
                raise SystemExit(f"message {position}: a result without its call")
            continue
        if waiting:
            raise SystemExit(f"message {position}: unanswered calls {waiting}")
        for call in message.get("tool_calls", []):
            json.loads(call["function"]["arguments"])
            waiting.append(call["id"])
    if waiting:
        raise SystemExit(f"unanswered calls {waiting}")


def render(messages: list[Message]) -> str:
    """JSON with one message in each line."""
    meta = {
        "title": "A day's work on a small shop program",
        "how_made": HOW_MADE,
        "date": "2026-12-01",
        "python": f"{sys.version_info.major}.{sys.version_info.minor}",  # tracebacks and test output follow the version
        "tools": TOOLS,
    }
    lines = ",\n".join(json.dumps(message, ensure_ascii=False) for message in messages)
    return f'{{"meta": {json.dumps(meta, ensure_ascii=False)},\n"messages": [\n{lines}\n]}}\n'


def without_timings(text: str) -> str:
    """The text with all numbers of three decimals made equal: only measured seconds are written like that."""
    return re.sub(r" *\d+\.\d{3}", " 0.000", text)


def counts(messages: list[Message]) -> str:
    calls = [call["function"] for message in messages for call in message.get("tool_calls", [])]
    roles = Counter(message["role"] for message in messages)
    names = Counter(call["name"] for call in calls)
    characters = sum(len(message["content"] or "") for message in messages)
    characters += sum(len(call["arguments"]) for call in calls)
    return (
        f"{len(messages)} messages {dict(roles)}\n{len(calls)} calls {dict(names)}\n"
        f"{characters:,} characters, {characters // 4:,} tokens by characters / 4"
    )


def check(text: str) -> int:
    """Compare a new recording with the one in the file, line by line; the exit code is 0 when they agree."""
    recorded, new = (without_timings(each).splitlines() for each in (SESSION.read_text(encoding="utf-8"), text))
    for number, (old_line, new_line) in enumerate(zip_longest(recorded, new, fillvalue=""), start=1):
        if old_line != new_line:
            print(f"{SESSION.name}, line {number} differs from a new recording")
            return 1
    print(f"{SESSION.name} is what the script records, measured seconds aside")
    return 0


def main() -> int:
    messages = record()
    validate(messages)
    text = render(messages)
    if "--check" in sys.argv[1:]:
        return check(text)
    SESSION.write_text(text, encoding="utf-8")
    print(counts(messages))
    print(f"{SESSION.name}: {len(text.encode()):,} bytes")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
