"""Tools that look for something: in files, in the web, in earlier sessions. The query, and how much was found."""

from .reading import PATTERN_KEYS, Call
from .registry import digest_for
from .wording import one_line, short_path


def _searched(what: str, call: Call) -> str:
    pattern = one_line(call.need(*PATTERN_KEYS))
    place = short_path(call.text("path", "dir", "dir_path", "directory", "file", default="."))
    return f"{what} search for '{pattern}' in {place} -> {call.matches:,} matches"


@digest_for("search_files")
def search(call: Call) -> str:
    return _searched(one_line(call.text("target", default="content"), 20), call)


@digest_for("Grep", "grep", "search_file", "search_dir", "search_file_content")
def search_content(call: Call) -> str:
    return _searched("content", call)


@digest_for("Glob", "glob", "find_file")
def search_names(call: Call) -> str:
    return _searched("files", call)


@digest_for("web_search", "WebSearch", "websearch", "google_web_search", "session_search")
def query(call: Call) -> str:
    return f"query='{one_line(call.need('query', 'search_query'), 120)}' ({call.size} result)"
