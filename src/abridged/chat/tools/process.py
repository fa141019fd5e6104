"""A process with bounds: in time, in what it may write, and in what it leaves behind, which is nothing.

It has a session of its own and no input. At its end its whole group is ended, and whatever left the group as well: all
that it ever started carries a mark in its environment, and whoever carries it is ended.
"""

import asyncio
import os
import signal
import subprocess
import threading
import time
import uuid
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import psutil

MARK = "ABRIDGED_COMMAND"
HEAD_BYTES, TAIL_BYTES = 12_000, 18_000
"""Of the output, what is kept of its beginning and its end."""
MOST_OUTPUT = 500_000_000
"""Bytes; who writes more is ended."""
GRACE_SECONDS = 1.0
"""Between the polite and the other signal."""
_LOOK_SECONDS = 0.02


@dataclass(frozen=True, slots=True)
class Finished:
    """How a process ended."""

    output: str
    """Standard output and error, as they came; the middle may be left out, which it says."""
    exit_code: int | None
    """`None` where it was ended."""
    ended: str = ""
    """Why it was ended; "" = it ended by itself."""


async def run(command: Sequence[str], folder: Path, environment: Mapping[str, str], seconds: float) -> Finished:
    """Run it, at most so long. A task that is cancelled returns when nothing of it is left. Raises `OSError`."""
    stop = threading.Event()
    work = asyncio.create_task(asyncio.to_thread(_run, command, folder, environment, seconds, stop))
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        stop.set()
        await asyncio.wait([work])
        raise


def _run(
    command: Sequence[str], folder: Path, environment: Mapping[str, str], seconds: float, stop: threading.Event
) -> Finished:
    mark = uuid.uuid4().hex
    process = subprocess.Popen(
        command, cwd=folder, env={**environment, MARK: mark}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, start_new_session=True,
    )  # fmt: skip
    output = _Ends()
    assert process.stdout is not None
    reader = threading.Thread(target=_read, args=(process.stdout, output), daemon=True)
    reader.start()
    try:
        ended = _wait(process, output, seconds, stop)
    finally:
        _end(process, mark)
        reader.join(GRACE_SECONDS)
    return Finished(output.text(), None if ended else process.returncode, ended)


def _wait(process: "subprocess.Popen[bytes]", output: "_Ends", seconds: float, stop: threading.Event) -> str:
    """Until it ends; why it has to be ended where it does not."""
    end = time.monotonic() + seconds
    while process.poll() is None:
        if stop.wait(_LOOK_SECONDS):
            return "interrupted"
        if time.monotonic() > end:
            return f"it did not end within {seconds:g} s"
        if output.count > MOST_OUTPUT:
            return f"it wrote more than {MOST_OUTPUT:,} bytes"
    return ""


def _read(stream: IO[bytes], output: "_Ends") -> None:
    with suppress(OSError, ValueError), stream:
        while chunk := os.read(stream.fileno(), 65_536):
            output.add(chunk)


def _end(process: "subprocess.Popen[bytes]", mark: str) -> None:
    """End the process, its group and all that carries the mark; first politely."""
    for way in (signal.SIGTERM, getattr(signal, "SIGKILL", signal.SIGTERM)):
        left = _left(process, mark)
        for one in left:
            with suppress(psutil.Error, OSError):
                one.send_signal(way)
        end = time.monotonic() + GRACE_SECONDS
        while left and time.monotonic() < end:
            time.sleep(_LOOK_SECONDS)
            left = _left(process, mark)
    process.wait()


def _left(process: "subprocess.Popen[bytes]", mark: str) -> list[psutil.Process]:
    """Who is still there; one that has died and waits for its parent is not."""
    process.poll()
    found: list[psutil.Process] = []
    for one in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            is_ours = os.getpgid(one.pid) == process.pid or one.environ().get(MARK) == mark
            if is_ours and one.status() != psutil.STATUS_ZOMBIE:
                found.append(one)
    return found


class _Ends:
    """The two ends of an output of any length."""

    def __init__(self) -> None:
        self.count = 0
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_bytes = 0

    def add(self, chunk: bytes) -> None:
        self.count += len(chunk)
        room = HEAD_BYTES - len(self._head)
        if room > 0:
            self._head += chunk[:room]
            chunk = chunk[room:]
        if chunk:
            self._tail.append(chunk)
            self._tail_bytes += len(chunk)
            while self._tail_bytes - len(self._tail[0]) >= TAIL_BYTES:
                self._tail_bytes -= len(self._tail.popleft())

    def text(self) -> str:
        tail = b"".join(self._tail)[-TAIL_BYTES:]
        left_out = self.count - len(self._head) - len(tail)
        head = bytes(self._head)
        if left_out <= 0:
            return (head + tail).decode("utf-8", "replace")
        between = f"\n[... {left_out:,} bytes left out ...]\n"
        return head.decode("utf-8", "ignore") + between + tail.decode("utf-8", "ignore")
