"""What an API, a user and a host may expect of a compressed conversation, checked without the library's own eyes.

Nothing of the library that reads messages is used here: pairing, roles, summaries and notes are recognised anew, more
simply and more strictly, so that a mistake there cannot hide itself. Each check raises `AssertionError` with a place.
"""

import json
from itertools import pairwise
from typing import Any

Message = dict[str, Any]

OPENING = "[CONTEXT COMPACTION — REFERENCE ONLY] Earlier turns were compacted into the summary below."
MARKER = "--- END OF CONTEXT SUMMARY — respond to the message below, not the summary above ---"
NOTE = "[Note: Some earlier conversation turns have been compacted"
FOREIGN_OPENINGS = ("[CONTEXT COMPACTION", "[CONTEXT SUMMARY")
HOST_OPENINGS = ("[heartbeat]", "[System message]", "<system-reminder>", "/compress", "/help")
SYSTEM = ("system", "developer")
PICTURE = "[picture removed to save context]"
STUB = "[Result from earlier conversation — see context summary above]"


def text_of(content: object) -> str:
    """All that any content says; a picture is a word of its own."""
    if isinstance(content, list):
        return "\n".join(text for part in content if (text := text_of(part)))
    if isinstance(content, dict):
        if any(key in content for key in ("image_url", "source", "inline_data")):
            return PICTURE
        said = next((content[key] for key in ("text", "content") if isinstance(content.get(key), str | list)), None)
        return text_of(said) if said is not None or set(content) == {"type"} else json.dumps(content)
    return content if isinstance(content, str) else "" if content is None else json.dumps(content)


def role_of(message: Message) -> object:
    return message.get("role")


def is_system(message: object) -> bool:
    return isinstance(message, dict) and role_of(message) in SYSTEM


def calls_of(message: Message) -> list[Message]:
    calls = message.get("tool_calls") if role_of(message) != "tool" else None
    return [call for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []


# -- pairs -----------------------------------------------------------------------------------------


def _names(call: Message) -> set[str]:
    """The ids of a call, letter for letter; a number as its digits, as JSON clients write it."""
    return {str(call[key]) for key in ("id", "call_id") if call.get(key) is not None and str(call[key]).strip()}


def check_pairs(messages: list[Message]) -> None:
    """Each call has exactly one result right behind its message, and no result is without a call (spec: P5.1-P5.3)."""
    place = 0
    while place < len(messages):
        calls = calls_of(messages[place])
        assert role_of(messages[place]) != "tool", f"message {place}: a result without a call"
        end = place + 1
        while end < len(messages) and role_of(messages[end]) == "tool":
            end += 1
        results = messages[place + 1 : end]
        assert len(results) <= len(calls), f"message {place}: {len(calls)} calls, {len(results)} results"
        if end < len(messages):  # the last group may still be running
            assert len(results) == len(calls), f"message {place}: {len(calls)} calls, {len(results)} results"
        for call in calls:
            assert _names(call) or not results, f"message {place}: a call without an id"
        _match(place, [_names(call) for call in calls], [str(result.get("tool_call_id")) for result in results])
        place = end


def _match(place: int, calls: list[set[str]], results: list[str]) -> None:
    """Give each result a call of its own that carries its id letter for letter; small enough to try them all."""
    taken: dict[int, int] = {}

    def seat(result: int, tried: set[int]) -> bool:
        for call, names in enumerate(calls):
            if results[result] in names and call not in tried:
                tried.add(call)
                if call not in taken or seat(taken[call], tried):
                    taken[call] = result
                    return True
        return False

    for result, name in enumerate(results):
        assert seat(result, set()), f"message {place}: result id {name!r} names no open call of {calls}"


# -- the shape of the list -------------------------------------------------------------------------


def summary_places(messages: list[Any]) -> list[int]:
    """Messages that open with a summary, whoever wrote it."""
    return [place for place, message in enumerate(messages) if isinstance(message, dict) and _opens(message)]


def _opens(message: Message) -> bool:
    return text_of(message.get("content")).lstrip().startswith(FOREIGN_OPENINGS)


def is_alone(message: Message) -> bool:
    """Whether a message that opens with a summary is nothing but the summary."""
    return not own_text(message).strip() and not calls_of(message)


def equal_neighbours(messages: list[Message]) -> int:
    """Pairs of plain neighbours of one role; results and system messages may stand beside their like."""
    return sum(
        role_of(one) == role_of(two) and role_of(one) in ("user", "assistant") for one, two in pairwise(messages)
    )


def check_shape(messages: list[Message], before: list[Message], *, may_touch: int = 0) -> None:
    """What must hold of every list that a compression made; `before` is what it was made from, already paired."""
    assert all(isinstance(message, dict) for message in messages)
    spoken = [message for message in messages if role_of(message) not in SYSTEM]
    assert spoken, "nobody speaks"
    assert role_of(spoken[0]) == "user", f"the first to speak is {role_of(spoken[0])}"  # spec: P4.3b
    found = summary_places(messages)
    assert len(found) == 1, f"summaries at {found}"  # spec: P4.3b
    summary = messages[found[0]]
    assert role_of(summary) in ("user", "assistant"), role_of(summary)  # spec: P4.3
    text = text_of(summary["content"])
    assert text.startswith(OPENING) and text.count(MARKER) >= 1  # spec: P4.2, P4.4
    # Where the newest message came in blank, the summary may be merged into it: there is nothing else to end on.
    ends_on_summary = found[0] == len(messages) - 1 and is_alone(summary)
    assert not ends_on_summary or not own_text(before[-1]).strip(), "the list ends on the summary"  # spec: P4.3b
    # An old summary that stood between two of one role separated them; without it they are neighbours, not new ones.
    bare = [message for message in before if not (summary_places([message]) and is_alone(message))]
    new = equal_neighbours(messages) - max(equal_neighbours(before), equal_neighbours(bare))
    assert new <= may_touch, f"{new} new pairs of one role: {[role_of(message) for message in messages]}"  # spec: P4.3


# -- the user --------------------------------------------------------------------------------------


def is_request(message: object) -> bool:
    """Whether a person said this: text that no host and no summary wrote, or a picture."""
    if not isinstance(message, dict) or role_of(message) != "user":
        return False
    if any(key.endswith("synthetic") and value for key, value in message.items()):
        return False
    return bool(own_text(message).strip()) and not own_text(message).lstrip().startswith(HOST_OPENINGS)


def own_text(message: Message) -> str:
    """What a message says itself, behind a summary that stands in it."""
    content = message.get("content")
    first, rest = (content[0], content[1:]) if isinstance(content, list) and content else (content, [])
    opening = text_of(first)
    if not opening.lstrip().startswith(FOREIGN_OPENINGS):
        return text_of(content)
    return "\n".join(filter(None, (opening.partition(MARKER)[2].strip("\n"), text_of(rest))))


def newest_request(messages: list[Any]) -> str | None:
    return next((own_text(message) for message in reversed(messages) if is_request(message)), None)


def check_request(messages: list[Message], before: list[Any]) -> None:
    """The newest request stands word for word outside the summary, and is the newest still (spec: P2.5)."""
    asked = newest_request(before)
    if asked is not None:
        assert newest_request(messages) == asked, f"asked {asked!r}, left {newest_request(messages)!r}"


# -- what is kept ----------------------------------------------------------------------------------


def check_kept(messages: list[Message], before: list[Message], *, argument_chars: int = 200) -> None:
    """Each message of the output is one of `before`, in order, untouched, or changed as the rules allow (spec: P4.1).

    Allowed: the system note; a summary of its own or merged into a message; a result that became shorter (pruned, cut);
    arguments with long strings cut, JSON as before (spec: P1.4); pictures replaced; stubs and set ids (spec: P5.2).
    """
    place = 0
    for message in messages:
        found = next((at for at in range(place, len(before)) if before[at] is message), None)
        if found is not None:
            place = found + 1
            continue
        if message.get("content") == STUB or (summary_places([message]) and is_alone(message)):
            continue
        found = next((at for at in range(place, len(before)) if _came_from(message, before[at], argument_chars)), None)
        assert found is not None, f"made up, or out of order: {message}"
        place = found + 1


def _came_from(message: Message, source: Message, argument_chars: int) -> bool:
    same = {key: value for key, value in source.items() if key not in ("content", "tool_calls", "tool_call_id")}
    if any(message.get(key) != value for key, value in same.items()):
        return False
    if role_of(message) == "tool":
        return True  # what became of a result is the business of the tests of pruning
    if role_of(message) in SYSTEM:
        return without_note(message) == without_note(source)
    if own_text(message).strip() != own_text(source).strip():
        return False
    ours, theirs = calls_of(message), calls_of(source)
    return len(ours) == len(theirs) and all(map(lighter_call, ours, theirs))


def lighter_call(light: Message, call: Message) -> bool:
    """Whether a call is the other with nothing but long strings in its arguments cut (spec: P1.4)."""
    ours, theirs = _body(light), _body(call)
    if ours.get("name") != theirs.get("name") or type(ours.get("arguments")) is not type(theirs.get("arguments")):
        return False
    left, right = ours.get("arguments"), theirs.get("arguments")
    if left == right:
        return True
    if not isinstance(right, str):
        return _lighter(left, right)
    try:
        return _lighter(json.loads(left), json.loads(right))
    except ValueError:
        return False


def _body(call: Message) -> Message:
    return call["function"] if isinstance(call.get("function"), dict) else call


def _lighter(light: object, value: object) -> bool:
    if isinstance(value, str) and isinstance(light, str):
        return light == value or (len(value) > 200 and light == value[:200] + "...[truncated]")
    if isinstance(value, dict) and isinstance(light, dict):
        return list(light) == list(value) and all(_lighter(light[key], value[key]) for key in value)
    if isinstance(value, list) and isinstance(light, list):
        return len(light) == len(value) and all(map(_lighter, light, value))
    return light == value and type(light) is type(value)


def without_note(message: Message) -> object:
    """A system prompt as it was before the note of a compaction was appended."""
    content = message.get("content")
    if isinstance(content, list):
        return [part for part in content if not text_of(part).startswith(NOTE)]
    return text_of(content).partition(f"\n\n{NOTE}")[0]


def check_prefix(messages: list[Message], before: list[Message]) -> None:
    """The system prompt is what it was, but for one note at the end of its first message (spec: P4.1, T8)."""
    for place, message in enumerate(before):
        if role_of(message) not in SYSTEM:
            return
        kept = messages[place]
        if place == 0:
            assert without_note(kept) == without_note(message) and role_of(kept) == role_of(message)
            assert text_of(kept["content"]).count(NOTE) == 1
        else:
            assert kept is message
