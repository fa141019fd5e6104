"""The tools of the agent in the terminal, all inside one folder."""

from abridged.chat.tools.files import READ_FILE, WRITE_FILE
from abridged.chat.tools.patching import PATCH
from abridged.chat.tools.search import SEARCH_FILES
from abridged.chat.tools.terminal import TERMINAL
from abridged.chat.tools.tool import Tool
from abridged.chat.tools.workspace import ToolError, Workspace

TOOLS = (TERMINAL, READ_FILE, WRITE_FILE, PATCH, SEARCH_FILES)
"""All of them."""

__all__ = ["TOOLS", "Tool", "ToolError", "Workspace"]
