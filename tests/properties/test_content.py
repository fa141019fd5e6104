"""What a compression may not lose, and what it may not keep: constraints, reasoning, secrets."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.properties import strategies as given_by
from tests.properties import validator
from tests.properties.validator import Message

from abridged import ContextCompressor

Options = dict[str, Any]

SECRETS = (
    "sk-ant-api03-Zx81kQvmT0pLw7Rr2Ub9",
    "ghp_Zx81kQvmT0pLw7Rr2Ub9Yc4Nd6",
    "AKIAZX81QVMT0PLW7RR2",
    "hunter2-correct-horse-9",
)
_SHAPES = (
    "export API_KEY={s}",
    "password: {s}",
    '{{"access_token": "{s}"}}',
    "Authorization: Bearer {s}",
    "postgres://app:{s}@db:5432/main",
)
leaks = st.builds(lambda shape, secret: shape.format(s=secret), st.sampled_from(_SHAPES), st.sampled_from(SECRETS))


def leaky_middle(leak: str, where: str) -> list[Message]:
    """Turns that carry a secret somewhere where it ends up in the summarised part."""
    call = {"id": "call_leak", "type": "function", "function": {"name": "terminal", "arguments": '{"command": "env"}'}}
    result = {"role": "tool", "tool_call_id": "call_leak", "content": "ok"}
    match where:
        case "user":
            return [{"role": "user", "content": f"Use this: {leak}"}, {"role": "assistant", "content": "Done."}]
        case "assistant":
            return [{"role": "user", "content": "go"}, {"role": "assistant", "content": f"I set {leak}"}]
        case "parts":
            return [
                {"role": "user", "content": [{"type": "text", "text": leak}]},
                {"role": "assistant", "content": "Done."},
            ]
        case "result":
            return [
                {"role": "assistant", "content": None, "tool_calls": [call]},
                {**result, "content": f"line\n{leak}\n"},
            ]
        case "summary":
            return [{"role": "user", "content": given_by.SUMMARIES[0].format(n=1).replace("- ask 1", f"- use {leak}")}]
        case _:
            body = {"name": "write_file", "arguments": {"path": "env.sh", "content": leak}}
            return [{"role": "assistant", "content": None, "tool_calls": [{**call, "function": body}]}, result]


@given(
    given_by.tidy_conversations(),
    given_by.tidy_conversations(),
    leaks,
    st.sampled_from(["user", "assistant", "parts", "result", "arguments", "summary"]),
    st.booleans(),
)
def test_no_secret_reaches_the_summary(
    first: list[Message], last: list[Message], leak: str, where: str, focus: bool
) -> None:
    # spec: P3.12
    tail = [message for message in last if message["role"] != "system"]
    messages = [*first, *leaky_middle(leak, where), *tail, {"role": "user", "content": "x " * 2_000}]
    engine = ContextCompressor(2_000, minimum_context_length=0, protect_first_n=1, protect_last_n=1)
    result = engine.compress(messages, focus_topic=leak if focus else None)
    for place in validator.summary_places(result):
        body = validator.text_of(result[place]["content"]).partition(validator.MARKER)[0]
        assert not any(secret in body for secret in SECRETS), where


@given(
    given_by.wild_conversations(),
    given_by.constraint_texts,
    given_by.tidy_conversations(),
    given_by.settings_of_engines,
)
def test_a_constraint_of_the_user_outlives_a_compression(
    first: list[Any], constraint: str, last: list[Message], options: Options
) -> None:
    """Word for word, in a message or in the summary, where the summary has some room: 1,000 tokens (spec: P3.9)."""
    tail = [message for message in last if message["role"] != "system"]
    messages = [*first, {"role": "user", "content": constraint}, {"role": "assistant", "content": "Understood."}, *tail]
    options = options | {"context_length": max(8_000, options["context_length"]), "min_summary_tokens": 2_000}
    result = ContextCompressor(**options).compress(messages)
    assert any(constraint in validator.text_of(one.get("content")) for one in result if isinstance(one, dict))


@given(given_by.wild_conversations(), given_by.settings_of_engines)
def test_reasoning_and_unknown_keys_stay_on_what_is_kept(messages: list[Any], options: Options) -> None:
    """Foreign messages stay foreign: a kept message has every key that it came with (spec: P4.1)."""
    marked = [{**one, "x_mark": place} if isinstance(one, dict) else one for place, one in enumerate(messages)]
    by_mark = {one["x_mark"]: one for one in marked if isinstance(one, dict)}
    for message in ContextCompressor(**options).compress(marked):
        source = by_mark.get(message.get("x_mark", -1))
        if source is not None:
            assert set(source) - {"tool_call_id"} <= set(message)
            assert message.get("reasoning_content") == source.get("reasoning_content")
