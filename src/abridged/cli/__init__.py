"""The command line. It stands on two packages that the library itself never needs, so they are imported here alone."""

import sys
from collections.abc import Sequence

_EXTRA = ("typer", "rich")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `abridged` with these arguments (default: the process's own) and return its exit code.

    0 = done, 2 = the arguments, the input or the output are wrong, 130 = interrupted, 141 = nobody reads on.
    """
    try:
        from abridged.cli.app import run

        return run(arguments)
    except ModuleNotFoundError as missing:
        if (missing.name or "").split(".")[0] not in _EXTRA:
            raise
        print('abridged: the command line needs an extra: pip install "abridged[cli]"', file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


__all__ = ["main"]
