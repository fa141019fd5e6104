"""A process with bounds: in time, in what it may write, and in what it leaves behind, which is nothing.

It has a session of its own and no input. At its end everything that it ever started is ended as well: what is below its
keeper, what is in its group, and what carries its mark in the environment. What cannot be ended is counted.
"""

import asyncio
import io
import os
import selectors
import signal
import subprocess
import sys
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

from abridged.chat.tools import keeper

MARK = "ABRIDGED_COMMAND"
HEAD_BYTES, TAIL_BYTES = 11_000, 18_000
"""Of the output, what is kept of its beginning and its end."""
MOST_OUTPUT = 500_000_000
"""Bytes; who writes more is ended."""
GRACE_SECONDS = 1.0
"""Between the polite and the other signal."""
KILL_SECONDS = 5.0
"""For the other one: what multiplies faster than it is found takes more than one."""
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
    left: int = 0
    """Processes that could not be ended."""


async def run(command: Sequence[str], folder: Path, environment: Mapping[str, str], seconds: float) -> Finished:
    """Run it, at most so long. A task that is cancelled returns when nothing of it is left. Raises `OSError`."""
    stop = threading.Event()
    loop = asyncio.get_running_loop()
    work = loop.run_in_executor(None, _run, command, folder, environment, seconds, stop)
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        stop.set()
        while not work.done():  # whoever is impatient and cancels again waits all the same
            with suppress(asyncio.CancelledError):
                await asyncio.wait([work])
        work.exception()
        raise


def _run(
    command: Sequence[str], folder: Path, environment: Mapping[str, str], seconds: float, stop: threading.Event
) -> Finished:
    mark = uuid.uuid4().hex
    reads, tells = os.pipe()
    with io.FileIO(reads) as told:
        try:
            process = subprocess.Popen(
                [sys.executable, "-I", "-S", keeper.__file__, str(tells), *command],
                cwd=folder, env={**environment, MARK: mark}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, start_new_session=True, pass_fds=(tells,),
            )  # fmt: skip
        finally:
            os.close(tells)
        kept = _Kept(process, mark, told)
        output, enough = _Ends(), threading.Event()
        assert process.stdout is not None
        reader = threading.Thread(target=_read, args=(process.stdout, output, enough), daemon=True)
        reader.start()
        try:
            ended = _wait(kept, output, seconds, stop)
        finally:
            left = _end(kept)
            reader.join(GRACE_SECONDS)
            enough.set()
            reader.join(GRACE_SECONDS)
    return Finished(output.text(), None if ended else kept.exit_code, ended, left)


class _Kept:
    """A command below its keeper."""

    def __init__(self, process: "subprocess.Popen[bytes]", mark: str, told: io.FileIO) -> None:
        os.set_blocking(told.fileno(), False)
        self.process = process
        self.group = 0
        """0 = it has not begun."""
        self.exit_code = -int(signal.SIGKILL)
        """Unless the keeper says something else: somebody ended the keeper."""
        self._mark = mark
        self._told = told
        self._said = b""

    def is_over(self) -> bool:
        chunk = self._told.read(100)
        self._said += chunk or b""
        numbers = [int(line) for line in self._said.split(b"\n")[:-1]]
        self.group = numbers[0] if numbers else 0
        self.exit_code = numbers[1] if len(numbers) > 1 else self.exit_code
        return len(numbers) > 1 or chunk == b""

    def left(self) -> set[psutil.Process]:
        """Who is still there; one that has died and waits for its parent is not."""
        found = {one for one in psutil.process_iter() if self._is_ours(one)}
        with suppress(psutil.Error):
            found.update(psutil.Process(self.process.pid).children(recursive=True))
        return {one for one in found if one.pid != self.process.pid and _is_alive(one)}

    def _is_ours(self, one: psutil.Process) -> bool:
        with suppress(psutil.Error, OSError):
            return (self.group and os.getpgid(one.pid) == self.group) or one.environ().get(MARK) == self._mark
        return False


def _is_alive(one: psutil.Process) -> bool:
    with suppress(psutil.Error):
        return one.status() not in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)
    return False


def _age(one: psutil.Process) -> tuple[float, int]:
    with suppress(psutil.Error):
        return one.create_time(), one.pid
    return 0.0, one.pid


def _wait(kept: _Kept, output: "_Ends", seconds: float, stop: threading.Event) -> str:
    """Until it ends; why it has to be ended where it does not."""
    end = time.monotonic() + seconds
    while not kept.is_over():
        if stop.wait(_LOOK_SECONDS):
            return "interrupted"
        if time.monotonic() > end:
            return f"timed out after {seconds:g} s"
        if output.count > MOST_OUTPUT:
            return f"ended: it wrote more than {MOST_OUTPUT:,} bytes"
    return ""


def _read(stream: IO[bytes], output: "_Ends", enough: threading.Event) -> None:
    """Until the last one that writes is gone, or it is enough."""
    with suppress(OSError, ValueError), stream, selectors.DefaultSelector() as ready:
        ready.register(stream, selectors.EVENT_READ)
        while not enough.is_set():
            if ready.select(0.1):
                chunk = os.read(stream.fileno(), 65_536)
                if not chunk:
                    return
                output.add(chunk)


def _end(kept: _Kept) -> int:
    """End the command and all that it started, first politely; how many could not be ended."""
    end = time.monotonic() + KILL_SECONDS
    while not kept.group and not kept.is_over() and time.monotonic() < end:
        time.sleep(_LOOK_SECONDS)  # one that begins just now would be missed
    kill = getattr(signal, "SIGKILL", signal.SIGTERM)
    _signal_all(kept, signal.SIGTERM, GRACE_SECONDS)
    _signal_all(kept, kill, KILL_SECONDS)
    with suppress(subprocess.TimeoutExpired):
        kept.process.wait(GRACE_SECONDS)  # it goes by itself when nobody is below it
    kept.process.kill()
    kept.process.wait()
    return _signal_all(kept, kill, GRACE_SECONDS)


def _signal_all(kept: _Kept, way: int, seconds: float) -> int:
    """Signal whoever is left, and whoever appears meanwhile, until nobody is; how many are."""
    end = time.monotonic() + seconds
    signalled: set[psutil.Process] = set()
    while left := kept.left():
        for one in sorted(left - signalled, key=_age):  # a shell that outlived its child would tell of it
            with suppress(psutil.Error, OSError):
                one.send_signal(way)
        signalled |= left
        if time.monotonic() > end:
            return len(left)
        time.sleep(_LOOK_SECONDS)
    return 0


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
