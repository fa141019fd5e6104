"""Tools that run something: the command, the exit code where the result states one, the size of the output.

The words around the numbers never change ("1 lines output"): a digest is a fixed shape that programs may read back.
"""

from .reading import Call
from .registry import digest_for
from .wording import TARGET_CHARS, one_line


def _ended(call: Call) -> str:
    code = call.exit_code
    exited = "" if code is None else f"exit {code}, "
    return f"{exited}{call.output_lines:,} lines output"


@digest_for("terminal", "Bash", "bash", "execute_bash", "run_shell_command")
@digest_for("shell", "shell_command", "exec_command", "local_shell")
def ran(call: Call) -> str:
    return f"ran `{one_line(call.command, TARGET_CHARS)}` -> {_ended(call)}"


@digest_for("process")
def process(call: Call) -> str:
    what = one_line(call.need("action"))
    session = call.text("session_id", "pid")
    of_session = f" session={one_line(session)}" if session else ""
    state = call.answer("status", "state")
    now = f"{one_line(state)}, " if state else ""
    return f"{what}{of_session} -> {now}{_ended(call)}"


@digest_for("execute_code", "execute_ipython_cell")
def code(call: Call) -> str:
    return f"`{one_line(call.need('code'), TARGET_CHARS)}` ({call.output_lines:,} lines output)"
