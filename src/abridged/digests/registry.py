"""Which tool is digested how.

A digest is the bracketed tool name and what its function says about the call. It is always one line of at most 300
characters, whatever the call looked like: where a function says nothing, or fails, the generic line stands instead.
"""

from collections.abc import Callable, Mapping
from typing import TypeVar

from .reading import Call
from .wording import LINE_CHARS, argument_pairs, one_line, value_text

DigestFunction = Callable[[Call], str]
"""Says what a call did and how it ended, without the bracketed name. May raise: the generic line takes its place."""

_F = TypeVar("_F", bound=DigestFunction)


class DigestRegistry:
    """Tool names and the functions that digest their results. (spec: P1.3, P1.3b)"""

    def __init__(self, functions: Mapping[str, DigestFunction] | None = None) -> None:
        self._functions = dict(functions or {})

    @property
    def names(self) -> frozenset[str]:
        """The tool names that have a digest of their own."""
        return frozenset(self._functions)

    def copy(self) -> "DigestRegistry":
        """Return a registry with the same digests, to be changed without changing this one."""
        return DigestRegistry(self._functions)

    def register(self, *names: str) -> Callable[[_F], _F]:
        """Decorate a function that digests the results of these tools; a later one replaces an earlier one.

            @digests.register("deploy")
            def deploy(call: Call) -> str:
                return f"deployed {call.need('service')} ({call.size} result)"

        Raises `TypeError` where no name is given.
        """
        if not names or not all(isinstance(name, str) for name in names):
            raise TypeError("name the tools: @register('tool_name', ...)")

        def add(function: _F) -> _F:
            self._functions.update(dict.fromkeys(names, function))
            return function

        return add

    def digest(self, name: str | None, arguments: object, result: str) -> str:
        """Return the one line that stands for a tool result: at most 300 characters, never raises.

        `arguments` is what the call's arguments parsed to, of any type. (spec: P1.3)
        """
        return self.digest_call(Call.read(name, arguments, result))

    def digest_call(self, call: Call) -> str:
        """Like `digest`, for a call that was read already."""
        function = self._functions.get(call.name) or self._functions.get(call.tool)
        if function is None:
            return generic_digest(call)
        try:
            said = function(call)
            return one_line(f"[{call.name}] {said}", LINE_CHARS) if said.strip() else generic_digest(call)
        except Exception:  # a model wrote the arguments, a user perhaps the function: neither stops a compression
            return generic_digest(call)


def generic_digest(call: Call) -> str:
    """Return `[tool_name] arg1=val1 arg2=val2 (N chars result)`; never raises. (spec: P1.3)"""
    given = "" if call.given is None else one_line(value_text(call.given))
    shown = argument_pairs(call.arguments) or given
    head, tail = f"[{call.name}]", f"({call.size} result)"
    middle = one_line(shown, LINE_CHARS - len(head) - len(tail) - 2)
    return " ".join(filter(None, (head, middle, tail)))


DIGESTS = DigestRegistry()
"""The digests that every engine uses unless it is given others."""

digest_for = DIGESTS.register
"""The decorator for a digest of one's own: `@digest_for("deploy")`."""
