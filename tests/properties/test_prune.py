"""Pruning: once is enough, nothing that came in changes, and the newest copy of a result stays whole."""

import copy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.properties import strategies as given_by
from tests.properties import validator

from abridged.phases.prune import DUPLICATE, PruneSettings, prune
from abridged.phases.repair import repair

settings_of_pruning = st.builds(
    PruneSettings,
    protect_tail_tokens=st.sampled_from([1, 100, 1_000]),
    protect_last_n=st.sampled_from([1, 3, 8]),
    protect_first_n=st.integers(0, 3),
)


@given(given_by.wild_conversations(), settings_of_pruning)
def test_pruning_is_idempotent_and_pure(messages: list[Any], settings: PruneSettings) -> None:
    """Once pruned, a list is lighter and its boundary further to the front; nothing more is found before that."""
    # spec: P1.1, P1.4b
    sound = repair(messages).messages
    before = copy.deepcopy(sound)
    once = prune(sound, settings)
    assert sound == before
    again = prune(once.messages, settings)
    assert again.messages == once.messages
    assert again.count == 0


@given(given_by.wild_conversations(), settings_of_pruning)
def test_pruning_keeps_roles_pairs_and_json(messages: list[Any], settings: PruneSettings) -> None:
    # spec: P1.4
    sound = repair(messages).messages
    pruned = prune(sound, settings).messages
    assert len(pruned) == len(sound)
    validator.check_pairs(pruned)
    validator.check_kept(pruned, sound)


@given(given_by.wild_conversations(), settings_of_pruning)
def test_the_protected_ends_lose_nothing_but_duplicates(messages: list[Any], settings: PruneSettings) -> None:
    # spec: P1.2, P1.5, P2.1
    sound = repair(messages).messages
    done = prune(sound, settings)
    for place, (light, message) in enumerate(zip(done.messages, sound, strict=True)):
        if place < settings.protect_first_n:
            assert light is message
        if place >= done.boundary:
            assert light is message or light["content"] == DUPLICATE
    assert len(sound) - done.boundary >= min(settings.protect_last_n, len(sound))


@given(given_by.wild_conversations(), settings_of_pruning)
def test_a_marked_duplicate_has_a_later_copy(messages: list[Any], settings: PruneSettings) -> None:
    """What is called the same content as a more recent call is found further back in the original (spec: P1.2)."""
    sound = repair(messages).messages
    for place, light in enumerate(prune(sound, settings).messages):
        if light.get("content") == DUPLICATE and sound[place]["content"] != DUPLICATE:
            later = [message.get("content") for message in sound[place + 1 :] if message.get("role") == "tool"]
            assert sound[place]["content"] in later
            assert len(sound[place]["content"]) >= settings.min_chars
