"""Messages on their way from the host to an engine and back.

The engine gets copies without what the host noted on them; the host gets copies of its own messages wherever the engine
kept them, and never a mark that says a new list is stored already.

A summary opens with words by which the host knows that nobody said it, and stands in a message of its own wherever it
would stand in a user's: what the user said stays what the user said.
"""

from abridged.archive.ingest import as_said, is_task_list
from abridged.conversation.roles import is_real_user, newest_user
from abridged.conversation.text import Message, as_fields, as_list
from abridged.summary.template import END_MARKER, PREFIX, find_summary

HOST_PREFIX = "[CONTEXT SUMMARY]:"
"""By this every version of the host knows a summary, whoever wrote it."""
STORED = "_db_persisted"
"""The host's note that it has stored a message. On a new list it would make it lose the message."""
SUMMARY_FLAG = "_compressed_summary"
_OURS = PREFIX[PREFIX.index("]") + 1 :].strip()
"""What our opening says behind its name."""


class Exchange:
    """One list of messages, there and back."""

    def __init__(self, messages: list[Message]) -> None:
        self._given = [part for message in messages if not is_task_list(message) for part in _apart(message)]
        self.messages = [dict(as_said(message)) for message in self._given]
        """For the engine."""
        self._own = {id(mine): theirs for mine, theirs in zip(self.messages, self._given, strict=True)}

    def back(self, result: list[Message]) -> list[Message]:
        """For the host. The newest request of a user is in it, whatever the engine did."""
        out: list[Message] = []
        for message in result:
            out += self._returned(message)
        newest = newest_user(self._given)
        if newest is None or not is_real_user(self._given[newest]):
            return out
        request = self._given[newest]
        if any(one.get("role") == "user" and _same_text(one.get("content"), request.get("content")) for one in out):
            return out
        place = next((index + 1 for index, one in enumerate(out) if one.get(SUMMARY_FLAG)), 0)
        return [*out[:place], _fresh(request), *out[place:]]

    def _returned(self, message: Message) -> list[Message]:
        theirs = self._own.get(id(message))
        if theirs is not None:
            found = find_summary(theirs)
            return [{**_fresh(theirs), **({SUMMARY_FLAG: True} if found else {})}]
        found = find_summary(message)
        if found is None:
            return [_fresh(message)]
        if found.rest is None or message.get("role") != "user":
            return [{**_fresh(message), "content": _opened(message.get("content")), SUMMARY_FLAG: True}]
        return [_summary_of(message), self._unmerged(found.rest)]

    def _unmerged(self, rest: Message) -> Message:
        """The user's own message, as the host holds it where it is one of the host's."""
        for theirs in self._given:
            if theirs.get("role") == "user" and _same_text(theirs.get("content"), rest.get("content")):
                return _fresh(theirs)
        return _fresh(rest)


def _apart(message: Message) -> list[Message]:
    """A summary and the user's text behind it, which a host makes one message of before it sends them."""
    found = find_summary(message) if message.get("role") == "user" else None
    if found is None or found.rest is None:
        return [message]
    return [_summary_of(message), {key: value for key, value in found.rest.items() if key != SUMMARY_FLAG}]


def _summary_of(message: Message) -> Message:
    return {"role": "user", "content": _opened(message.get("content"), alone=True), SUMMARY_FLAG: True}


def _fresh(message: Message) -> Message:
    return {key: value for key, value in message.items() if key != STORED}


def _opened(content: object, *, alone: bool = False) -> object:
    """The content of a summary with the opening that the host knows; `alone`: without what follows the summary."""
    parts = as_list(content)
    if parts is not None:
        fields = as_fields(parts[0]) or {}
        first = _opened(fields.get("text", parts[0]), alone=alone)
        return first if alone else [{**fields, "text": first} if fields else first, *parts[1:]]
    text = str(content)
    if alone and END_MARKER in text:
        text = text[: text.index(END_MARKER) + len(END_MARKER)]
    if text.startswith(PREFIX):
        return f"{HOST_PREFIX} REFERENCE ONLY. {_OURS}{text[len(PREFIX) :]}"
    return text if text.startswith(HOST_PREFIX) else f"{HOST_PREFIX} {text}"


def _same_text(one: object, two: object) -> bool:
    return one == two or (isinstance(one, str) and isinstance(two, str) and one.strip() == two.strip())
