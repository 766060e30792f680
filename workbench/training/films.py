"""Films of a run's checkpoints, made by a process beside the training, which never waits for them.

A film that cannot be made is an event of the run, and a line that the process adds to its log; where nothing can be
drawn at all, that is one event and one line, and no more films are asked for. What is not filmed when the training
ends is filmed after it, by the same process.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from workbench.formatting import plural
from workbench.runs import EventWriter, RunDirectory, film_events
from workbench.runs.directory import steps_of
from workbench.specs import RunSpec
from workbench.storyboard.checkpoint_films import Clip, FilmOrder
from workbench.training.scoring_process import ScoringProcess

FILMING = "workbench.viewer.checkpoint_films"
"""The module that films; it draws, so nothing here may import it."""


class Films:
    """Has checkpoints filmed, one at a time, as a spec says.

    Args:
        run: The run.
        spec: What it was asked to do.
        events: Its event stream.
        add_summary: Puts a `Summary` into the run's TensorBoard at some steps.
        process: What films.
    """

    def __init__(
        self,
        run: RunDirectory,
        spec: RunSpec,
        events: EventWriter,
        add_summary: Callable[[Any, int], object],
        process: ScoringProcess | None = None,
    ) -> None:
        self._run = run
        self._spec = spec
        self._events = events
        self._add_summary = add_summary
        self._process = process or ScoringProcess(run.log_path, FILMING, "filming")
        self._orders: deque[FilmOrder] = deque()
        self._is_asked = False
        """Whether the process has been told of the first order."""
        self._is_over = False
        """Whether nothing can be drawn here."""
        self._count = 0

    @property
    def current(self) -> Path | None:
        """The checkpoint that is being filmed; it must stay."""
        orders = list(self._orders)
        return orders[0].checkpoint if orders else None

    def begin(self, checkpoint: Path) -> None:
        """Have a sealed checkpoint filmed when those before it are; another thread may call it."""
        spec = self._spec
        has_clips = spec.tensorboard_video and self._count % spec.tb_log_every == 0
        self._count += 1
        steps = steps_of(checkpoint)
        if not self._is_over:
            self._orders.append(
                FilmOrder(checkpoint, steps, spec.video_count, spec.eval_seed, spec.video_fps, has_clips)
            )

    def poll(self) -> list[str]:
        """Tell of the films that are made, order the next one, and return lines for the log."""
        lines: list[str] = []
        while self._orders:
            if not self._is_asked:
                self._process.ask(self._orders[0].to_json())
                self._is_asked = True
            answer = self._process.answer(0.0)
            if answer is None:
                break
            self._is_asked = False
            lines += self._tell(self._orders.popleft(), answer)
            if not self._orders:
                # The next checkpoint may be hours away.
                self._process.leave()
        return lines

    def close(self) -> list[str]:
        """Leave what is not made yet to the process, and return lines for the log; nothing is waited for."""
        lines = self.poll()
        if self._orders and self._run.is_run():
            for order in list(self._orders)[1:]:
                self._process.ask(order.to_json())
            count = plural(len(self._orders), "checkpoint", "checkpoints")
            lines.append(f"{count} still to film: process {self._process.pid} goes on with that")
            self._process.leave()
        self._process.close()
        self._is_over = True
        return lines

    def _tell(self, order: FilmOrder, answer: dict[str, Any]) -> list[str]:
        name = order.checkpoint.name
        if answer.get("gone"):
            return []
        if answer.get("no_graphics"):
            self._is_over = True
            self._orders.clear()
            # Of no checkpoint: it is so of all of them.
            self._events.append(film_events.KIND, failure=answer["reason"])
            return []
        if not answer["ok"]:
            self._events.append(film_events.KIND, checkpoint=name, of_steps=order.steps, failure=answer["reason"])
            return []
        self._events.append(film_events.KIND, checkpoint=name, of_steps=order.steps, files=answer["files"])
        for told in answer["clips"]:
            try:
                Clip.from_json(told).put(self._add_summary, order.steps)
            except OSError as error:
                return [f"{name} filmed, and not shown in TensorBoard: {error.strerror or error}"]
        return [f"{name} filmed"]


def is_filmed(spec: RunSpec, *names: str) -> bool:
    """Tell whether a spec asks for films of an environment, by any of its names."""
    return spec.video_on_checkpoint and any(fnmatchcase(name, spec.video_pattern) for name in names)
