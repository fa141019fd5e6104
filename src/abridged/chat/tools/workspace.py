"""The folder in which an agent works: every path is inside it, whatever it is called and whatever it links to."""

import os
import stat
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

MOST_READ = 20_000_000
"""Bytes of a file that is read whole."""
LEAST_SECRET = 8
"""Characters; a shorter value is no secret, and taking it out would break words."""


class ToolError(Exception):
    """A tool does not do it. The text is for the model, and says why or what is wanted."""


class Workspace:
    """`root`: the folder. `hidden`: environment variables that no command sees; their values never leave a tool."""

    def __init__(self, root: Path, hidden: Mapping[str, str] | None = None) -> None:
        self.root = root.resolve()
        self._hidden = dict(hidden or {})

    @property
    def environment(self) -> dict[str, str]:
        """What a command may see."""
        return {name: value for name, value in os.environ.items() if name not in self._hidden}

    def clean(self, text: str) -> str:
        """The text without the values that are hidden."""
        for value in self._hidden.values():
            if len(value) >= LEAST_SECRET:
                text = text.replace(value, "[REDACTED]")
        return text

    def path(self, text: str) -> Path:
        """The real path of a file inside. Raises `ToolError` for one outside, and for what is no path."""
        if not text.strip() or "\0" in text:
            raise ToolError("path: the name of a file in this folder is wanted")
        try:
            real = (self.root / Path(text).expanduser()).resolve()
            with suppress(FileNotFoundError, NotADirectoryError):
                real.lstat()
        except (OSError, RuntimeError, ValueError) as error:  # links in a circle, a name that is too long, no home
            raise ToolError(f"{_short(text)}: {_why(error)}") from error
        if real != self.root and not real.is_relative_to(self.root):
            raise ToolError(f"{_short(text)}: that is outside of {self.root}, and nothing outside is read or written")
        return real

    def name(self, path: Path) -> str:
        """A path as it is shown."""
        return str(path.relative_to(self.root))

    def open(self, text: str) -> int:
        """A descriptor to read a file by. What is no file, a pipe or a device say, is refused and never waited for."""
        path = self.path(text)
        try:
            found = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        except OSError as error:
            raise ToolError(f"{_short(text)}: {_why(error)}") from error
        mode = os.fstat(found).st_mode
        if stat.S_ISREG(mode) and self.path(text) == path:
            return found
        os.close(found)
        raise ToolError(f"{_short(text)}: {'a folder' if stat.S_ISDIR(mode) else 'no ordinary file'}")

    def read(self, text: str) -> bytes:
        """A whole file. Raises `ToolError` for one that is too large."""
        with os.fdopen(self.open(text), "rb") as file:
            data = file.read(MOST_READ + 1)
        if len(data) > MOST_READ:
            raise ToolError(f"{_short(text)}: larger than {MOST_READ:,} bytes; use a command for it")
        return data

    def write(self, text: str, data: bytes) -> Path:
        """Write a whole file, or leave the old one as it is; folders are made, and the file's mode stays."""
        path = self.path(text)
        temporary: Path | None = None
        try:
            if path.exists() and not path.is_file():
                raise ToolError(f"{_short(text)}: {'a folder' if path.is_dir() else 'no ordinary file'}")
            path.parent.mkdir(parents=True, exist_ok=True)
            descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=".abridged-")
            temporary = Path(name)
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
            temporary.chmod(stat.S_IMODE(path.stat().st_mode) if path.exists() else 0o666 & ~_umask())
            if self.path(text) != path:  # a link that was made meanwhile
                raise ToolError(f"{_short(text)}: it has changed meanwhile")
            temporary.replace(path)
        except OSError as error:
            raise ToolError(f"{_short(text)}: {_why(error)}") from error
        finally:
            with suppress(OSError):
                if temporary:
                    temporary.unlink()
        return path


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current


def _short(text: str) -> str:
    return text if len(text) <= 120 else f"{text[:119]}…"


def _why(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error) or type(error).__name__
