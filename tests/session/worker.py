"""An agent that works through numbered turns in a process of its own, so that it can be killed at any moment.

    python -m tests.session.worker ARCHIVE TURNS [DIE]

With DIE it kills itself before the statement of that number in the transactions of its compactions. Goes on where the
archive says that it was, and says so with the number of each turn that is done.
"""

import os
import signal
import sys
from typing import Any

from abridged import ContextCompressor, ContextSession
from abridged.testing import assistant, call, result, user

Message = dict[str, Any]
SESSION = "worker"
FIRST: list[Message] = [{"role": "system", "content": "Be careful."}, user("Go through the parts. Never skip one.")]


def turn(number: int) -> list[Message]:
    """What turn `number` adds."""
    text = f"part {number} has value V-{number}\n" + f"row {number} of the listing, all is well\n" * 30
    return [assistant(f"Now part {number}.", call(f"c{number}", "read_part", part=number)), result(f"c{number}", text)]


def engine() -> ContextCompressor:
    return ContextCompressor(8_000, minimum_context_length=0, protect_last_n=4, frequency_limit=10_000)


class Death:
    """Comes before a statement of a transaction in which a compaction is written."""

    def __init__(self, number: int) -> None:
        self.left = number
        self.seen: list[str] = []

    def __call__(self, statement: str) -> None:
        self.seen = [] if statement.startswith("BEGIN") else [*self.seen, statement]
        if any("FROM compactions" in one or "INTO compactions" in one for one in self.seen):
            self.left -= 1
            if self.left < 0:
                os.kill(os.getpid(), signal.SIGKILL)


def main() -> None:
    path, turns = sys.argv[1], int(sys.argv[2])
    compressor = engine()
    session = ContextSession.start(SESSION, engine=compressor, archive=path)
    assert session.archive is not None
    if len(sys.argv) > 3:
        session.archive._connection.set_trace_callback(Death(int(sys.argv[3])))
    done = (len(session.archive.transcript(SESSION)) - len(FIRST)) // 2
    messages = session.messages or list(FIRST)
    for number in range(max(0, done), turns):
        messages = session.before_request(messages)
        session.after_response({"prompt_tokens": compressor.estimate(messages)})
        messages = session.after_turn([*messages, *turn(number)])
        assert not session.archive_fault, session.archive_fault
        print(number, flush=True)
    print("done", flush=True)


if __name__ == "__main__":
    main()
