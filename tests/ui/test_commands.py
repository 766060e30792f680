"""The rules of the registry, over the whole table."""

from __future__ import annotations

from collections import Counter

import pytest
from textual.keys import _character_to_key

from workbench.ui.commands import (
    ALWAYS_ALLOWED,
    BY_ID,
    COMMANDS,
    FOOTERS,
    SCREENS,
    bindings_for,
    commands_for,
    footer_for,
    show_key,
)

LEFT_ALONE = {
    "ctrl+a", "ctrl+b", "ctrl+h", "ctrl+i", "ctrl+j", "ctrl+k", "ctrl+m", "ctrl+s", "ctrl+z", "ctrl+backslash",
    "f10", "f11", "ctrl+pageup", "ctrl+pagedown", "delete", "backspace",
}  # fmt: skip


def test_ids_and_actions_are_unique() -> None:
    assert len({command.id for command in COMMANDS}) == len(COMMANDS)
    assert len({command.action for command in COMMANDS}) == len(COMMANDS)


@pytest.mark.parametrize("screen", SCREENS)
def test_no_key_means_two_things_on_one_screen(screen: str) -> None:
    keys = Counter(key for command in commands_for(screen) for key in command.keys)
    assert [key for key, count in keys.items() if count > 1] == []


def test_lower_case_looks_and_upper_case_acts() -> None:
    for command in COMMANDS:
        for key in command.keys:
            if len(key) == 1 and key.isalpha():
                acts = command.group == "act" or command.id == "move.last"
                assert key.isupper() == acts, command.id


def test_only_tasks_act_on_a_control_key() -> None:
    acting = [command for command in COMMANDS if command.group == "act" and any("+" in key for key in command.keys)]
    assert [command.id for command in acting] == ["task.go"]


def test_keys_of_multiplexers_and_terminals_are_left_alone() -> None:
    taken = {key for command in COMMANDS for key in command.keys}
    assert not taken & LEFT_ALONE
    assert not any(key.startswith("alt+") for key in taken)


def test_nothing_that_ends_a_run_is_on_a_lower_case_key() -> None:
    assert BY_ID["run.stop"].keys == ("S",)
    assert BY_ID["run.kill"].keys == ("K",)


@pytest.mark.parametrize("screen", FOOTERS)
def test_footers_name_commands_of_their_screen(screen: str) -> None:
    offered = {command.id for command in commands_for(screen.partition("/")[0])}
    assert {name for hint in FOOTERS[screen] for name in hint.ids} <= offered
    assert 5 <= len(FOOTERS[screen]) <= 15
    assert all(keys and label and action for keys, label, action in footer_for(screen))


@pytest.mark.parametrize("screen", [*SCREENS, "all", "app"])
def test_bindings_carry_id_tooltip_and_a_readable_key(screen: str) -> None:
    for binding in bindings_for(screen):
        assert not isinstance(binding, tuple)
        assert binding.id in BY_ID
        assert binding.tooltip
        assert binding.key_display


def test_key_names_are_those_textual_uses() -> None:
    for sign in "/:?!<>,.[](){}+=-;*":
        name = _character_to_key(sign)
        assert show_key(name) == sign


def test_palette_names_are_a_noun_and_a_verb() -> None:
    for command in COMMANDS:
        if command.palette is not None:
            noun, verb = command.palette.split(": ")
            assert noun[0].isupper() and verb[0].isupper()


def test_a_read_only_app_still_opens_and_copies() -> None:
    assert {"open.outside", "copy.command"} == ALWAYS_ALLOWED
