"""What holds for every call, whatever a model, a host or a network made of it."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abridged.digests import DIGESTS, Call, action_of, action_of_call

KEYS = [
    "command", "cmd", "code", "path", "file_path", "content", "pattern", "query", "url", "urls", "todos", "plan",
    "patch", "action", "name", "question", "goal", "tasks", "edits", "view_range", "offset", "prompt", "ref",
    "input", "message",
]  # fmt: skip
texts = st.one_of(
    st.text(st.characters(exclude_categories=())),  # lone surrogates and every kind of line break included
    st.sampled_from(
        ["view", "create", "a\u2028b", "x\r\ny", "*** Begin Patch\n*** Update File: a", "+++ b/\x0bc", "exit code 1"]
    ),
)
leaves = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), texts)
values = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(KEYS) | texts, inner, max_size=4)
    ),
    max_leaves=8,
)
arguments = st.one_of(values, st.dictionaries(st.sampled_from(KEYS), values, max_size=6))
names = st.one_of(
    st.none(), texts, st.sampled_from(sorted(DIGESTS.names)), st.just("mcp__a__terminal"), st.just("mcp__")
)
results = st.one_of(
    texts,
    st.dictionaries(
        st.sampled_from(["exit_code", "output", "error", "metadata", "matches", "status", "success", "count"]),
        st.recursive(
            st.one_of(st.none(), st.booleans(), st.integers(), texts), lambda inner: st.lists(inner, max_size=2)
        ),
        max_size=4,
    ).map(json.dumps),
    st.sampled_from(["{" * 50_000, '{"a":' * 50_000, "{", '{"exit_code": 1' + "0" * 5000 + "}", "x\n" * 3000]),
)


@given(names, arguments, results)
def test_a_digest_is_one_bounded_line_and_never_raises(name: str | None, given_arguments: object, result: str) -> None:
    # spec: P1.3b
    line = DIGESTS.digest(name, given_arguments, result)
    assert len(line) <= 300
    assert len(line.splitlines()) == 1
    assert line.startswith("[")


@given(names, arguments, results)
def test_an_action_never_raises_and_a_shared_call_gives_the_same(
    name: str | None, given_arguments: object, result: str
) -> None:
    # spec: P1.3b
    call = Call.read(name, given_arguments, result)
    line = DIGESTS.digest_call(call)
    assert action_of_call(call) == action_of(name, given_arguments, result)
    assert line == DIGESTS.digest(name, given_arguments, result)


@given(
    st.one_of(st.none(), st.integers(), st.lists(st.integers())), st.one_of(st.none(), st.integers(), st.lists(texts))
)
def test_names_and_results_of_a_wrong_type_are_tolerated(name: object, result: object) -> None:
    # spec: P1.3b
    call = Call.read(name, {}, result)
    assert DIGESTS.digest_call(call).startswith("[tool] ")
    assert action_of_call(call).kind == "other"


def test_a_value_that_cannot_be_written_is_named_by_its_kind() -> None:
    # spec: P1.3b
    circle: list[object] = []
    circle.append(circle)
    assert DIGESTS.digest("t", {"a": circle, "b": 10**5000}, "") == "[t] a=<list> b=<int> (0 chars result)"
    assert DIGESTS.digest("read_file", {"path": 10**5000}, "") == "[read_file] path=<int> (0 chars result)"
    assert action_of("read_file", {"path": 10**5000}, "").target == ""


def test_the_odd_arguments_of_the_field_case() -> None:
    # spec: P1.3b
    case = Path("../shared/field/cases/07-odd-argument-types-do-not-crash.json")
    if not case.exists():
        pytest.skip("the field cases are not beside the project")
    messages = json.loads(case.read_text(encoding="utf-8"))["messages"]
    calls = next(message["tool_calls"] for message in messages if message.get("tool_calls"))
    lines = [DIGESTS.digest(call["function"]["name"], call["function"]["arguments"], "x" * 600) for call in calls]
    assert len(lines) == 9 and all(len(line) <= 300 for line in lines)
    assert lines[7] == "[terminal] ran `ls` -> 1 lines output"
