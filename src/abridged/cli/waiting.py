"""A sign of life on the terminal for work that takes longer than a second."""

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager

from rich.console import Console

PATIENCE = 1.0
"""Seconds without a word."""


@contextmanager
def waiting(what: str) -> Generator[Callable[[str], None]]:
    """Show `what` beside a spinner on standard error while the block runs long; nothing where that is no terminal.

    Yields a function that says something else instead.
    """
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda what: None
        return
    status = console.status(what)
    timer = threading.Timer(PATIENCE, status.start)
    timer.daemon = True
    timer.start()
    try:
        yield status.update
    finally:
        timer.cancel()
        timer.join()
        status.stop()
