"""What is told of runs that are followed, beside how far they are."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest

from workbench.runs.directory import RunDirectory
from workbench.runs.events import EventWriter
from workbench.runs.state import StateFile
from workbench.runs.states import RunState
from workbench.runs.store import RunStore
from workbench.verbs.following import Interrupts, follow

WHY = "no picture can be drawn without a display"
SAID = f"no checkpoint is filmed: {WHY}"


@pytest.fixture
def runs(tmp_path: Path) -> list[RunDirectory]:
    """Two runs that this process carries."""
    record = {"spec": {"algorithm": "ppo", "env_id": "workbench/CartPole-v0"}}
    made = [RunDirectory.create(tmp_path, "ppo", "cart_pole", files={"run.json": record}) for _ in range(2)]
    for run in made:
        StateFile(run.state_path).write(RunState.RUNNING)
    return made


class Terminal(io.StringIO):
    """A terminal that keeps what it was sent."""

    def isatty(self) -> bool:
        return True


def warn(run: RunDirectory) -> None:
    with EventWriter(run.events_path) as writer:
        writer.append("film", failure=WHY)


def end(run: RunDirectory) -> None:
    StateFile(run.state_path).write(RunState.FINISHED, reason="steps", exit_code=0)


def followed(runs: list[RunDirectory], screen: io.StringIO, *scenes: Callable[[], object]) -> str:
    """Follow runs while one thing after the other happens, and return what the screen was sent."""
    left = list(scenes)
    follow(runs, RunStore(runs[0].runs_root), Interrupts(), screen, sleep=lambda _: left.pop(0)() and None)
    assert not left
    return screen.getvalue()


@pytest.mark.parametrize("screen", [io.StringIO, Terminal])
def test_what_goes_wrong_beside_the_training_is_said_once(
    runs: list[RunDirectory], screen: Callable[[], io.StringIO]
) -> None:
    first, second = runs
    said = followed(
        runs, screen(), lambda: warn(first), lambda: warn(second), lambda: warn(first), lambda: end(first),
        lambda: end(second),
    )  # fmt: skip
    assert said.count(f"cart_pole {first.short_id}: {SAID}\n") == said.count(SAID) == 1


def test_what_comes_with_the_end_is_said_too(runs: list[RunDirectory]) -> None:
    assert SAID in followed(runs[:1], io.StringIO(), lambda: (warn(runs[0]), end(runs[0])))


def test_a_resumed_run_says_again_only_what_is_so_again(runs: list[RunDirectory]) -> None:
    [run] = runs[:1]

    def go_on() -> None:
        with EventWriter(run.events_path) as writer:
            writer.append("resumed", from_steps=0)

    warn(run)
    assert SAID not in followed([run], io.StringIO(), lambda: None, go_on, lambda: end(run))
    StateFile(run.state_path).write(RunState.RUNNING)
    assert followed([run], io.StringIO(), go_on, lambda: warn(run), lambda: end(run)).count(SAID) == 1


def test_runs_tells_of_it_where_one_run_is_asked_for(
    runs: list[RunDirectory], capsys: pytest.CaptureFixture[str]
) -> None:
    from workbench.cli import main

    first, second = runs
    warn(first)
    words = ["runs", "--project", str(first.runs_root.parent), "-o", str(first.runs_root)]
    assert main([*words, first.name]) == 0
    assert f"cart_pole {first.short_id}: {SAID}\n" in capsys.readouterr().err
    assert main([*words, second.name]) == 0
    assert main(words) == 0
    assert SAID not in capsys.readouterr().err
