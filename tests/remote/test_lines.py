from __future__ import annotations

import json
from pathlib import Path
from typing import get_args

import pytest

from workbench.errors import RequestError
from workbench.remote import declaration, document, lines
from workbench.viewer.options import AgentChoice

PAGE = Path(__file__).parents[2] / "docs" / "viewer-protocol.md"


def test_the_page_is_the_one_made_from_the_declaration() -> None:
    assert PAGE.read_text() == document.document()


def test_the_page_names_every_command_event_and_value() -> None:
    page = PAGE.read_text()
    for message in (*declaration.COMMANDS, *declaration.EVENTS):
        assert f"**`{message.name}`**" in page
        assert all(f"`{value.name}`" in page for value in message.values)


def test_agents_are_those_of_the_command_line() -> None:
    assert get_args(AgentChoice) == declaration.AGENTS


@pytest.mark.parametrize(
    ("line", "name", "values"),
    [
        ('{"do": "play"}', "play", {}),
        ('{"do": "step"}', "step", {"n": 1}),
        (b'{"do": "step", "n": -3}\n', "step", {"n": -3}),
        ('{"do": "skip", "seconds": -1}', "skip", {"seconds": -1}),
        ('{"do": "speed", "value": 0.25}', "speed", {"value": 0.25}),
        ('{"do": "checkpoint", "which": 4096}', "checkpoint", {"which": 4096}),
        ('{"do": "checkpoint", "which": "7f3a:best"}', "checkpoint", {"which": "7f3a:best"}),
        ('{"do": "agent", "name": "sweep"}', "agent", {"name": "sweep"}),
        ('{"do": "preview"}', "preview", {"on": True, "width": 80, "height": 48, "fps": 15}),
    ],
)
def test_a_command_is_read_with_every_value_filled_in(line: str | bytes, name: str, values: dict[str, object]) -> None:
    assert lines.parse_command(line) == lines.Command(name, values)


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("", "is not JSON"),
        ("play", "is not JSON"),
        (b"\xff\xfe", "is not JSON"),
        ("[" * 40_000, "is not JSON"),
        ('"play"', "is not an object"),
        ("{}", "has no `do`"),
        ('{"do": 3}', "no command `3`"),
        ('{"do": "paly"}', "no command `paly`"),
        ('{"do": "play", "n": 1}', "`play` has no value `n`"),
        ('{"do": "speed"}', "`speed` needs `value`: number from 0.25 to 8"),
        ('{"do": "speed", "value": 9}', "not `9`"),
        ('{"do": "speed", "value": true}', "not `true`"),
        ('{"do": "speed", "value": NaN}', "not `NaN`"),
        ('{"do": "speed", "value": "2"}', "number from 0.25 to 8"),
        ('{"do": "step", "n": 1.5}', "whole number"),
        ('{"do": "seed", "value": -1}', "from 0 to 2147483647"),
        ('{"do": "window", "on": 1}', "true or false"),
        ('{"do": "agent", "name": "ppo"}', "policy, zero, random or sweep"),
        ('{"do": "checkpoint", "which": -4}', "steps, or text"),
        ('{"do": "pull", "body": "a", "to": [0, 0, 1e300]}', "[x, y, z], each from -10000 to 10000 for `to`"),
        ('{"do": "pull", "body": "a", "to": [0, NaN, 0]}', "[x, y, z], each from"),
        ('{"do": "pull", "body": "a", "to": null}', "[x, y, z], each from"),
        ('{"do": "pose", "joint": "a", "value": 1e12}', "number from -10000 to 10000"),
        ('{"do": "seek", "step": ' + "9" * 5000 + "}", "is not JSON"),
        (" " * 70_000, "at most 65536 bytes"),
    ],
)
def test_a_line_that_is_no_command_says_what_is_wrong(line: str | bytes, sentence: str) -> None:
    with pytest.raises(RequestError) as refused:
        lines.parse_command(line)
    assert sentence in refused.value.message
    assert len(refused.value.message) < 250


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ('{"do": "speed", "value": HUGE}', "number from 0.25 to 8"),
        ('{"do": "skip", "seconds": -HUGE}', "number from -3600 to 3600"),
        ('{"do": "seek", "step": HUGE}', "whole number from 0"),
        ('{"do": "checkpoint", "which": HUGE}', "steps, or text"),
        ('{"do": "pull", "body": "a", "to": [0, 0, HUGE]}', "[x, y, z]"),
    ],
)
def test_a_number_beyond_every_float_is_refused(line: str, sentence: str) -> None:
    with pytest.raises(RequestError) as refused:
        lines.parse_command(line.replace("HUGE", "1" + "0" * 400))
    assert sentence in refused.value.message


def test_a_misspelt_command_is_told_what_is_close() -> None:
    with pytest.raises(RequestError) as refused:
        lines.parse_command('{"do": "checkpiont", "which": 1}')
    assert refused.value.hint == "Did you mean checkpoint?"


def test_a_command_is_checked_before_it_is_sent() -> None:
    assert json.loads(lines.encode_command("step", n=-2)) == {"do": "step", "n": -2}
    with pytest.raises(RequestError, match="no value"):
        lines.encode_command("step", m=2)


def test_an_event_comes_back_as_it_was_told() -> None:
    line = lines.encode_event("error", about="window", message="no display.", hint="", fatal=False)
    assert line.endswith(b"\n")
    told = {"about": "window", "message": "no display.", "hint": "", "fatal": False}
    assert lines.parse_event(line) == ("error", told)


def test_numbers_that_are_not_finite_are_told_as_null() -> None:
    line = lines.encode_event(
        "episode",
        episode=1, seed=0, length=3, reason="", agent="zero", checkpoint=None, **{"return": float("nan")},
    )  # fmt: skip
    parsed = lines.parse_event(line)
    assert parsed is not None
    assert parsed[1]["return"] is None


def test_an_event_with_other_values_than_declared_is_a_defect() -> None:
    with pytest.raises(KeyError):
        lines.encode_event("closed")
    with pytest.raises(KeyError):
        lines.encode_event("closed", reason="quit", code=0)


@pytest.mark.parametrize("line", ["", "glfw: hello", "[]", '{"event": "closed"}', '{"event": "nothing"}'])
def test_a_line_that_is_no_event_is_passed_over(line: str) -> None:
    assert lines.parse_event(line) is None
