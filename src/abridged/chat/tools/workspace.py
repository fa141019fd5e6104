"""The folder in which an agent works: every path is inside it, whatever it is called and whatever it links to."""

import os
import stat
import uuid
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

MOST_READ = 20_000_000
"""Bytes of a file that is read whole."""
REDACTED = "[REDACTED]"
"""Stands for a value that is hidden."""
LEAST_SECRET = 8
"""Characters; a shorter value is no secret, and taking it out would break words."""
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
_FOLDER = os.O_DIRECTORY | os.O_NOFOLLOW | getattr(os, "O_PATH", os.O_RDONLY)


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
        secrets = self._secrets()
        return {name: value for name, value in os.environ.items() if name not in self._hidden and value not in secrets}

    def clean(self, text: str) -> str:
        """The text without the values that are hidden, and without halves of characters, which nobody can send."""
        for value in self._secrets():
            text = text.replace(value, REDACTED)
        return text.encode("utf-8", "replace").decode()

    def holds_secret(self, text: str) -> bool:
        return any(value in text for value in self._secrets())

    def _secrets(self) -> list[str]:
        """The longest first: one may be part of another."""
        return sorted((value for value in self._hidden.values() if len(value) >= LEAST_SECRET), key=len, reverse=True)

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
            with self._folder(path) as folder:
                found = os.open(path.name if path != self.root else ".", _READ, dir_fd=folder)
        except OSError as error:
            raise ToolError(f"{_short(text)}: {_why(error)}") from error
        mode = os.fstat(found).st_mode
        if stat.S_ISREG(mode):
            return found
        os.close(found)
        raise ToolError(f"{_short(text)}: {_no_file(mode)}")

    @contextmanager
    def _folder(self, path: Path, *, make: bool = False) -> Generator[int]:
        """A descriptor of the folder that a real path is in. A link on the way, made meanwhile, is not followed."""
        folder = os.open(self.root, _FOLDER)
        try:
            for part in path.relative_to(self.root).parts[:-1]:
                try:
                    inner = os.open(part, _FOLDER, dir_fd=folder)
                except FileNotFoundError:
                    if not make:
                        raise
                    with suppress(FileExistsError):
                        os.mkdir(part, dir_fd=folder)
                    inner = os.open(part, _FOLDER, dir_fd=folder)
                os.close(folder)
                folder = inner
            yield folder
        finally:
            os.close(folder)

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
        try:
            if path == self.root:
                raise ToolError(f"{_short(text)}: a folder")
            with self._folder(path, make=True) as folder:
                self._replace(folder, path.name, data, text)
        except OSError as error:
            raise ToolError(f"{_short(text)}: {_why(error)}") from error
        return path

    def _replace(self, folder: int, name: str, data: bytes, text: str) -> None:
        """The new file is whole before it takes the old one's place; a link that took it meanwhile is replaced."""
        mode: int | None = None
        with suppress(FileNotFoundError):
            mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
        if mode is not None and not (stat.S_ISREG(mode) or stat.S_ISLNK(mode)):
            raise ToolError(f"{_short(text)}: {_no_file(mode)}")
        keeps = mode is not None and stat.S_ISREG(mode)
        if keeps and not os.access(name, os.W_OK, dir_fd=folder):  # replacing it would be allowed, but is not meant
            raise ToolError(f"{_short(text)}: it may not be written")
        temporary = f".abridged-{uuid.uuid4().hex}"
        try:
            with os.fdopen(os.open(temporary, _NEW, 0o600 if keeps else 0o666, dir_fd=folder), "wb") as file:
                file.write(data)
                if mode is not None and keeps:
                    os.fchmod(file.fileno(), stat.S_IMODE(mode))
            os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary, dir_fd=folder)
            raise


def _no_file(mode: int) -> str:
    return "a folder" if stat.S_ISDIR(mode) else "no ordinary file"


def _short(text: str) -> str:
    return text if len(text) <= 120 else f"{text[:119]}…"


def _why(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error) or type(error).__name__
