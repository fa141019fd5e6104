"""Stands above a command, and is a program: what the command starts stays below it, however it detaches itself.

On Linux whoever loses its parent becomes a child of this process. Elsewhere it does not, and the mark in the
environment has to do. It stays until nobody is below it. It uses the standard library alone, so that it starts at once.
"""

import ctypes
import os
import signal
import sys
from contextlib import suppress

_ADOPT_ORPHANS = 36
"""`PR_SET_CHILD_SUBREAPER`"""


def main() -> None:
    """Arguments: the pipe to tell how the command goes, and the command. Told: its process, and its exit code."""
    pipe, command = int(sys.argv[1]), sys.argv[2:]
    os.set_inheritable(pipe, False)
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_ADOPT_ORPHANS, 1, 0, 0, 0)
    child = os.fork()
    if not child:
        _become(command)
    _leave_the_output()
    with suppress(BrokenPipeError, ChildProcessError):
        os.write(pipe, b"%d\n" % child)
        while True:
            ended, status = os.wait()
            if ended == child:
                os.write(pipe, b"%d\n" % os.waitstatus_to_exitcode(status))


def _become(command: list[str]) -> None:
    """A session of its own: a command that signals its whole group does not hit its keeper."""
    os.setsid()
    for ignored in (signal.SIGPIPE, signal.SIGXFSZ):  # by this interpreter, which is not the command's business
        signal.signal(ignored, signal.SIG_DFL)
    try:
        os.execvp(command[0], command)
    except OSError as error:
        os.write(2, f"{command[0]}: {error.strerror}\n".encode())
    os._exit(127)


def _leave_the_output() -> None:
    """It ends when those end that write to it."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)


if __name__ == "__main__":
    main()
