"""What `play` and `record` were asked to show: a checkpoint, an environment or a state recording, opened."""

from __future__ import annotations

import contextlib
import os
import re
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from workbench.errors import GraphicsError, NotFoundError, RequestError
from workbench.policies import Actor
from workbench.project import Project
from workbench.suggest import nearest
from workbench.viewer import states
from workbench.viewer.options import AgentChoice
from workbench.viewer.session import Session, has_mujoco_model
from workbench.viewer.states import StateRecording


@dataclass(frozen=True)
class Opening:
    """How a policy of another tool is opened."""

    normalizer: str | None = None
    """The file of what its observations go through, or `none`; None for the one that lies with it."""
    trust: bool = False
    """Whether what of its file is no data may be run."""


@dataclass(frozen=True)
class Target:
    """An environment and what acts in it, found but not yet opened."""

    source: Any
    """The `EnvSource` that the environment is made from."""
    agent: AgentChoice | Literal["recording"]
    """Who acts; in a recording everything is done already."""
    checkpoint: Path | None = None
    """The checkpoint's folder where the agent is a policy."""
    steps: int | None = None
    """The checkpoint's steps."""
    run: str | None = None
    """The short ID of the checkpoint's run."""
    recording: StateRecording | None = None
    """The states that are shown, where nothing is simulated."""
    opening: Opening = Opening()
    """How a policy of another tool is opened."""

    @property
    def name(self) -> str:
        """The environment's short name."""
        return str(self.source.name)

    @property
    def label(self) -> str:
        """What a file name or a title calls it: environment, run or agent, steps."""
        if self.recording is not None:
            parts = [self.recording.path.stem]
        else:
            parts = [self.name, self.run or self.agent, "" if self.steps is None else str(self.steps)]
        return "_".join(re.sub(r"[^A-Za-z0-9.-]+", "_", part) for part in parts if part)

    @property
    def title(self) -> str:
        """What the window calls it."""
        if self.recording is not None:
            return f"{self.name}, {self.recording.path.name}"
        if self.agent != "policy":
            return f"{self.name}, {self.agent}"
        acting = self.agent if self.steps is None else f"{self.steps:,} steps".replace(",", " ")
        return f"{self.name} {self.run}, {acting}" if self.run else f"{self.name}, {acting}"

    def open(self, *, seed: int, stochastic: bool) -> Session:
        """Make the environment and load what acts; the caller closes `session.env`.

        Raises:
            WorkbenchError: The environment or the policy cannot be opened.
        """
        from workbench.simulation import make_single
        from workbench.simulation.mjcf import route_warnings

        route_warnings()
        env = make_single(self.source)
        if self.recording is not None:
            from workbench.viewer.replay import Replay

            return Replay(env, self.recording, name=self.name)
        if not has_mujoco_model(env):
            env.close()
            env = _rendering(self.source)
        try:
            actor = self.actor(env, seed=seed, stochastic=stochastic)
        except BaseException:
            env.close()
            raise
        return Session(env, actor, seed=seed)

    def actor(self, env: Any, *, seed: int, stochastic: bool) -> Actor:
        """Load what acts in an environment that is open.

        Raises:
            WorkbenchError: The policy cannot be opened, or does not fit.
        """
        from workbench.policies import make_agent
        from workbench.policies.environments import facts_of
        from workbench.policies.fitting import require_fit
        from workbench.policies.loading import find_policy

        if self.agent == "recording":
            raise RequestError("nothing acts in a recording.")
        if self.checkpoint is None or self.agent != "policy":
            return make_agent(self.agent, env, seed=seed)
        facts = facts_of(env, self.name)
        found = find_policy(self.checkpoint, environment=self.source, normalizer=self.opening.normalizer)
        actor = found.open(facts=facts, trust=self.opening.trust, stochastic=stochastic, seed=seed)
        require_fit(actor.description, facts, f"{self.checkpoint} ({actor.description.title})")
        return actor

    def playing(self, checkpoint: Path) -> Target:
        """Return the same environment with another checkpoint acting in it.

        Raises:
            WorkbenchError: It is none.
        """
        from workbench.policies.loading import find_policy

        steps = find_policy(checkpoint, environment=self.source).steps
        return replace(self, agent="policy", checkpoint=checkpoint, steps=steps, run=_run_id(checkpoint))


def find_target(
    project: Project,
    text: str,
    *,
    agent: AgentChoice | None = None,
    env: str | None = None,
    opening: Opening = Opening(),
) -> Target:
    """Return what `text` names: an environment, else a checkpoint.

    Args:
        project: Where environments and runs are.
        text: An environment's name or ID, a reference to a checkpoint, or the path of a state recording.
        agent: Who acts; None for the policy of a checkpoint, and `random` in an environment.
        env: Another environment to play a policy in.
        opening: How a policy of another tool is opened.

    Raises:
        NotFoundError: There is neither; lists what is there.
        RequestError: The flags contradict each other.
    """
    from workbench.policies.environments import find_environment
    from workbench.policies.loading import find_policy
    from workbench.runs import resolve_checkpoint
    from workbench.runs.anomalies import find_window

    window = find_window(project.runs, text)
    text = text if window is None else str(window)
    if Path(text).suffix.lower() == states.SUFFIX:
        return _find_recording(Path(text), agent=agent, env=env)
    source = None if _is_reference(text) else _find_environment(project, text)
    if source is not None and agent != "policy":
        if env is not None:
            raise RequestError(
                f"--env names the environment to play a policy in, and {text} is an environment itself.",
                hint="Leave out --env, or add --agent policy.",
            )
        return Target(source, agent or "random")
    try:
        checkpoint = resolve_checkpoint(project, text)
    except NotFoundError as error:
        if source is None and not _is_path(text):
            raise NotFoundError(f"there is no environment and no run `{text}`.", hint=_near(project, text)) from error
        raise
    named = None if env is None else find_environment(env, project)
    found = find_policy(checkpoint, environment=named, normalizer=opening.normalizer, project=project)
    if found.environment is None:
        raise RequestError(f"{text} does not say what environment it was trained in.", hint="Name one with --env ID.")
    if agent is not None and agent != "policy":
        return Target(found.environment, agent)
    return Target(found.environment, "policy", checkpoint, found.steps, _run_id(checkpoint), opening=opening)


def target_of(checkpoint: Path) -> Target:
    """Return the policy of a checkpoint, in its own environment.

    Raises:
        CheckpointError: It is none, or not whole.
    """
    from workbench.policies import read_record
    from workbench.policies.environments import trained_in

    record = read_record(checkpoint)
    return Target(trained_in(record, checkpoint), "policy", checkpoint, record.steps, _run_id(checkpoint))


def _find_recording(path: Path, *, agent: AgentChoice | None, env: str | None) -> Target:
    from workbench.simulation import EnvSource

    if agent is not None or env is not None:
        flag = "--agent" if agent is not None else "--env"
        raise RequestError(
            f"{flag} changes nothing in {path}, a recording of what happened.", hint=f"Leave out {flag}."
        )
    recording = StateRecording.read(path)
    try:
        source = EnvSource.from_json(recording.about["environment"])
    except (KeyError, TypeError, ValueError) as error:
        raise RequestError(f"{path} does not say what environment it is of.") from error
    return Target(source, "recording", recording=recording)


def _is_reference(text: str) -> bool:
    """Tell whether `text` can only be a checkpoint: a path to one, or a run with a part of it.

    A folder that happens to have the name of an environment is not one.
    """
    path = Path(text)
    sealed = path.is_file() or any((path / name).is_file() for name in ("policy.json", "run.json"))
    return ":" in text.split("/")[0] or sealed or ("/" in text and path.exists())


def _is_path(text: str) -> bool:
    """Tell whether `text` is meant as a path, there or not, so that its miss is told as that of a path."""
    from workbench.runs.references import POLICY_SUFFIXES

    return _is_reference(text) or Path(text).suffix.lower() in POLICY_SUFFIXES or Path(text).is_dir()


def _find_environment(project: Project, text: str) -> Any | None:
    """Return the source of an environment of the catalogue or of Gymnasium's registry, or None."""
    from workbench.policies.environments import find_environment

    with contextlib.suppress(NotFoundError):
        return find_environment(text, project)
    return None


def _near(project: Project, text: str) -> str:
    """Return what to type instead of the name of an environment that does not exist."""
    import gymnasium

    from workbench.catalog import discover

    close = nearest(text, [*(entry.name for entry in discover(project).entries), *gymnasium.registry])
    if close:
        return f"Did you mean {' or '.join(close)}?"
    return "`workbench list` and `workbench runs` list them."


def _run_id(checkpoint: Path) -> str | None:
    from workbench.runs import RunDirectory

    run = RunDirectory(checkpoint.parent)
    return run.short_id if run.is_run() else None


def _draw_without_display() -> None:
    """Keep SDL, with which Gymnasium's own environments draw, from looking for a display that is not there.

    It would say so in the terminal, and with an empty choice of a driver it draws nothing at all. Pictures need none.
    """
    has_display = any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))
    if sys.platform.startswith("linux") and not has_display and not os.environ.get("SDL_VIDEODRIVER"):
        os.environ["SDL_VIDEODRIVER"] = "dummy"


def _rendering(source: Any) -> Any:
    """Make an environment without a MuJoCo model so that it renders itself."""
    from gymnasium.error import Error

    from workbench.simulation import make_single

    _draw_without_display()
    try:
        return make_single(source, render_mode="rgb_array")
    except (Error, ValueError, TypeError) as error:
        raise GraphicsError(
            f"{source.env_id} has no MuJoCo model and does not render itself: {error}",
            hint='Give it the render mode "rgb_array", or install what it asks for.',
        ) from error
