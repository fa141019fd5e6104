"""Who holds a session while he compresses it: a name that tells whether he is still there."""

import os
import socket
import uuid


def owner_name() -> str:
    """A name for who holds a session: this machine, this process, and a number of its own."""
    return f"{socket.gethostname()}/{os.getpid()}/{uuid.uuid4().hex}"


def is_gone(owner: str) -> bool:
    """Whether the process of that name was on this machine and is no more."""
    host, _, rest = owner.partition("/")
    number = rest.partition("/")[0]
    if os.name != "posix" or host != socket.gethostname() or not number.isdigit():
        return False
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False
