"""What a session has said: each thing once, whatever a host does to its list; and a compression can be taken back."""

from pathlib import Path
from typing import Any

from abridged import ContextCompressor, ContextSession
from abridged.archive import Archive
from abridged.testing import assistant, call, result, user

Message = dict[str, Any]


def system(text: str) -> Message:
    return {"role": "system", "content": text}


def talk(turns: int) -> list[Message]:
    made: list[Message] = [system("You are careful."), user("Do not touch the schema. Build it.")]
    for n in range(turns):
        made += [
            assistant(f"Step {n}.", call(f"c{n}", "terminal", command=f"make part{n}")),
            result(f"c{n}", f"part{n} built, code LAMP-{400 + n}\n" + "word " * 150),
        ]
    return [*made, assistant("Built.")]


def session(archive: Archive | str | None = ":memory:", **options: Any) -> ContextSession:
    engine = ContextCompressor(16_000, minimum_context_length=0)
    return ContextSession.start("s", engine=engine, archive=archive, background=False, **options)


def said(archive: Archive | None) -> list[Message]:
    assert archive is not None
    return archive.transcript("s")


def test_a_system_prompt_that_changes_every_turn_is_no_change_of_the_history():
    one = session()
    messages = [system("It is 0:00."), user("Begin.")]
    for minute in range(40):
        messages[0] = system(f"It is {minute}:00.")
        assert one.before_request(messages) is messages
        messages = one.after_turn([*messages, assistant(f"{minute}"), user(f"next {minute}")])
    assert one.archive is not None
    assert one.archive.compactions("s") == []
    assert said(one.archive)[1:] == messages[1:]
    assert one.messages == messages


def test_what_a_host_takes_out_or_puts_in_says_nothing_twice():
    one = session()
    messages = one.before_request(talk(10))
    one.before_request([*messages[:4], *messages[6:]])
    one.before_request([*messages[:4], user("A word between."), *messages[6:]])
    told = said(one.archive)
    assert told == [*messages, user("A word between.")]
    assert one.archive is not None
    assert one.archive.live("s")[0] == one.messages == [*messages[:4], user("A word between."), *messages[6:]]


def test_a_compression_is_taken_back_with_all_that_came_after_it(tmp_path: Path):
    path = str(tmp_path / "a.db")
    one = session(path)
    messages = talk(40)
    shorter = one.compress(messages)
    assert len(shorter) < len(messages)
    more = [user("And now?"), assistant("Now this.")]
    one.after_turn([*shorter, *more])
    assert one.undo_compression() == [*messages, *more]
    assert one.undo_compression() is None
    again = session(path)
    assert again.messages == [*messages, *more]
    assert again.undo_compression() is None


def test_several_are_taken_back_one_by_one():
    one = session()
    first = talk(40)
    second = [*one.compress(first), user("More."), *talk(40)[2:]]
    third = one.compress(second)
    assert len(third) < len(second)
    assert one.undo_compression() == second
    assert one.undo_compression() == [*first, *second[-len(talk(40)) + 1 :]]
    assert one.undo_compression() is None


def test_what_was_taken_back_is_not_compressed_again_at_once():
    one = session()
    messages = talk(36)
    one.after_response({"prompt_tokens": 9_000})
    shorter = one.after_turn(messages)
    assert shorter is not messages
    back = one.undo_compression()
    assert back == messages
    assert one.before_request(back) is back
    one.after_response({"prompt_tokens": 9_000})
    assert one.after_turn(back) is back
    one.after_response({"prompt_tokens": 15_000})
    assert one.after_turn(back) is not back


def test_without_an_archive_nothing_is_taken_back():
    one = session(None)
    one.compress(talk(40))
    assert one.undo_compression() is None


def test_a_history_that_was_changed_since_is_left_alone():
    one = session()
    shorter = one.compress(talk(40))
    one.before_request([*shorter[:-2], user("Something else.")])
    assert one.undo_compression() is None


def test_a_new_system_prompt_does_not_hinder_taking_back():
    one = session()
    messages = talk(40)
    shorter = one.compress(messages)
    one.before_request([system("You are quick."), *shorter[1:]])
    assert one.undo_compression() == messages


def test_what_a_host_notes_is_there_after_a_restart(tmp_path: Path):
    path = str(tmp_path / "a.db")
    one = session(path)
    one.notes["pins"] = ["never push"]
    one.record([user("Hello.")])
    one.notes["pins"].append("never pull")
    one.record()
    again = session(path)
    assert (again.notes, again.messages) == ({"pins": ["never push", "never pull"]}, [user("Hello.")])
    again.reset()
    assert again.notes == {}


def test_how_full_it_is_follows_the_conversation_as_it_is_now():
    """hermes-webui#3133"""
    one = session()
    assert one.tokens == 0
    messages = talk(30)
    one.before_request(messages[:-1])
    one.after_response({"prompt_tokens": 7_000, "completion_tokens": 50})
    assert one.tokens == 7_050
    one.compress(messages)
    assert 0 < one.tokens < 5_000
