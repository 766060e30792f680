"""The watch of a run: what it looks for, what it saves of what it finds, and what is done then."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from workbench.runs import EventWriter, RunDirectory
from workbench.runs.anomalies import OBSERVATION_EXPLOSION, REWARD_COLLAPSE, play_command, window_name, windows
from workbench.simulation import EnvSource
from workbench.simulation.guard import NotFiniteError
from workbench.simulation.plain_tape import make_tape
from workbench.simulation.state_file import model_digest
from workbench.simulation.tape import Large
from workbench.specs import OnAnomaly, RunSpec
from workbench.training.anomalies import AnomalyError, of_environment
from workbench.training.going_back import GoBackError, Wish, halved_rate, read_returns, rollbacks
from workbench.training.learner import Learner
from workbench.training.log import RunLog
from workbench.training.stopping import EPISODES
from workbench.training.words import grouped

AT_FAULT = 8
"""Copies at fault whose steps are saved beside those that are watched."""


class Watch:
    """Looks after the iterations of a run.

    Args:
        run: The run.
        spec: What it was asked to do.
        source: Its environment.
        learner: What learns.
        venv: All copies of the environment, without a normaliser.
        events: The run's event stream.
        log: What a person reads.
    """

    def __init__(
        self,
        run: RunDirectory,
        spec: RunSpec,
        source: EnvSource,
        learner: Learner,
        venv: Any,
        *,
        events: EventWriter,
        log: RunLog,
    ) -> None:
        self._run = run
        self._spec = spec
        self._source = source
        self._learner = learner
        self._venv = venv
        self._events = events
        self._log = log
        bounds = spec.anomaly_watch
        self._tape = make_tape(venv, bounds.window_steps, bounds.env_indices, self._take_large)
        self._wall_s = 0.0
        self._iteration = 0
        self._best: float | None = None
        """The highest mean return at the end of an iteration."""
        self._episodes = 0
        self._down = 0
        """Iterations in a row that ended far below it."""
        self._good_until = 0
        """Steps at the end of the last iteration that did not."""
        self._lasting: set[str] = set()
        """Kinds that the last iteration had, and that are not told again until one passes without them."""
        self._now: dict[str, AnomalyError] = {}
        """What this iteration has and goes on after."""
        self.change(spec)

    def change(self, spec: RunSpec) -> None:
        """Look for what another spec says."""
        self._spec, bounds = spec, spec.anomaly_watch
        self._learner.checks_losses = bounds.check_losses
        # What cannot be learnt is left out where the run goes on after it; else nothing more is done.
        self._learner.skips_updates = spec.on_anomaly in ("continue", "pause")
        if self._tape is not None:
            limit = bounds.observation_limit if bounds.check_observations else None
            self._tape.limit_square = math.inf if limit is None else limit * limit
            self._tape.every = bounds.check_every_n_steps

    def state(self) -> dict[str, Any]:
        """Return what it has taken in, as plain data."""
        return {
            "best": self._best,
            "episodes": self._episodes,
            "down": self._down,
            "good_until": self._good_until,
            "lasting": sorted(self._lasting),
            "taken": 0 if self._tape is None else self._tape.taken,
        }

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Go on from what `state` returned."""
        self._best, self._episodes, self._down = state["best"], state["episodes"], state["down"]
        self._good_until, self._lasting = state["good_until"], set(state["lasting"])
        if self._tape is not None:
            # Which steps are looked at must not depend on where the run was cut off.
            self._tape.before = state.get("taken", 0)

    def iterate(self, wall_s: float) -> None:
        """Let the learner do one iteration.

        Args:
            wall_s: Seconds of active training so far.

        Raises:
            AnomalyError: Something was found that ends the run.
            GoBackError: Something was found after which it goes on from an earlier checkpoint.
        """
        self._wall_s, self._iteration, self._now = wall_s, self._learner.iteration + 1, {}
        try:
            self._learner.iterate()
        except NotFiniteError as error:
            self._meet(of_environment(error))
        except AnomalyError as anomaly:
            if anomaly.is_told:
                raise
            self._meet(anomaly)

    def conclude(self, episodes: int) -> str:
        """Look at what an iteration came to, and return why to wait for a person after it; empty where nobody need.

        Args:
            episodes: How many have ended so far.

        Raises:
            AnomalyError: Something was found that ends the run.
            GoBackError: Something was found after which it goes on from an earlier checkpoint.
        """
        if episodes > self._episodes:
            self._episodes = episodes
            self._look_at_return()
        self._lasting = set(self._now)
        return "; ".join(str(each) for kind, each in self._now.items() if self._action(kind) == "pause")

    def _look_at_return(self) -> None:
        """Compare the mean return with the best so far, once it is one of enough episodes."""
        bounds, learner = self._spec.anomaly_watch, self._learner
        mean = learner.mean_return
        if len(learner.model.ep_info_buffer or ()) < EPISODES or mean is None:
            return
        if self._best is None or mean > self._best:
            self._best = mean
        lost = (self._best - mean) / max(abs(self._best), bounds.collapse_baseline_floor)
        if lost < bounds.collapse_drop_fraction:
            self._down, self._good_until = 0, learner.steps
            return
        self._down += 1
        if bounds.check_reward_collapse and self._down == bounds.collapse_patience:
            iterations = f", {self._down} iterations in a row" if self._down > 1 else ""
            message = f"the mean return fell to {grouped(mean)} from {grouped(self._best)}{iterations}"
            self._meet(AnomalyError(message, REWARD_COLLAPSE, is_sound=True, value=mean, baseline=self._best))

    def _take_large(self, large: Large) -> None:
        """Take in an observation beyond the limit, in the middle of a step; once an iteration."""
        if OBSERVATION_EXPLOSION in self._now:
            return
        limit = self._spec.anomaly_watch.observation_limit
        env = getattr(self._venv, "env", None)
        names = (*getattr(env, "observation_names", ()), *getattr(env, "critic_names", ()))
        term = f"the observation {names[large.index] if names else f'[{large.index}]'}"
        where = f"{self._source.name}, copy {large.copy}, step {large.step}"
        self._meet(
            AnomalyError(
                f"{where}: {term} is {large.value:.6g}, beyond observation_limit {limit:g}",
                OBSERVATION_EXPLOSION,
                is_sound=True,
                environment=self._source.name,
                copy=large.copy,
                step=large.step,
                term=term,
                copies=[large.copy],
                value=large.value,
                baseline=limit,
            )
        )

    def _action(self, kind: str) -> OnAnomaly:
        wanted = self._spec.on_anomaly
        if kind != REWARD_COLLAPSE:
            return wanted
        return self._spec.anomaly_watch.on_collapse or ("continue" if wanted == "stop" else wanted)

    def _meet(self, anomaly: AnomalyError) -> None:
        """Tell of an anomaly, and do what is to be done.

        Raises:
            AnomalyError: It ends the run.
            GoBackError: The run goes on from an earlier checkpoint.
        """
        action, why = self._action(anomaly.kind), ""
        if action == "continue" and not anomaly.is_sound:
            action, why = "stop", "nothing is left to continue with"
        bounds = self._spec.anomaly_watch
        if action == "rollback" and (done := rollbacks(read_returns(self._run))) >= bounds.max_rollbacks:
            action, why = "stop", f"it went back {done} times already"
        if action == "continue" and anomaly.kind in self._lasting:
            self._now[anomaly.kind] = anomaly
            return
        self._tell(anomaly, action)
        if action == "stop":
            last = AnomalyError(f"{anomaly}; {why}" if why else str(anomaly), anomaly.kind)
            last.is_told = True
            raise last from anomaly
        if action == "rollback" or not anomaly.is_sound:
            raise GoBackError(self._wish(anomaly, pauses=action == "pause")) from anomaly
        self._now[anomaly.kind] = anomaly

    def _wish(self, anomaly: AnomalyError, *, pauses: bool) -> Wish:
        until = self._good_until if anomaly.kind == REWARD_COLLAPSE else self._learner.steps
        values, old = (None, None) if pauses else halved_rate(self._spec)
        return Wish(str(anomaly), anomaly.kind, until, self._learner.steps, self._wall_s, pauses, values, old)

    def _tell(self, anomaly: AnomalyError, action: OnAnomaly) -> None:
        event = {
            "what": anomaly.kind,
            "message": str(anomaly),
            "iteration": self._iteration,
            "action": action,
            **anomaly.where,
            **self._save(anomaly),
        }
        # A disk that is full must not hide what happened.
        with suppress(OSError):
            self._events.append("anomaly", steps=self._learner.steps, **event)
        self._log.say(f"anomaly: {anomaly}")
        if "window" in event:
            holds = play_command(self._run, event) or "actions, observations and rewards: there are no states"
            self._log.say(f"{event['window']} holds the last {event['window_rows']} moments: {holds}")

    def _save(self, anomaly: AnomalyError) -> dict[str, Any]:
        """Save the last steps of the copies that are watched or at fault, and return what the event says of that."""
        bounds, tape = self._spec.anomaly_watch, self._tape
        if tape is None or len(windows(self._run)) >= bounds.max_captures:
            return {}
        copies = [*anomaly.where.get("copies", ())[:AT_FAULT], *bounds.env_indices]
        window = tape.window(copies, anomaly.kind.replace("_", " "))
        if window is None:
            return {}
        name = window_name(self._run, self._learner.steps, anomaly.kind)
        value = anomaly.where.get("value")
        about: dict[str, Any] = {
            "environment": self._source.to_json(),
            "agent": "training",
            "anomaly": {
                "kind": anomaly.kind,
                "message": str(anomaly),
                "steps": self._learner.steps,
                "iteration": self._iteration,
                "value": value if not isinstance(value, float) or math.isfinite(value) else str(value),
            },
        }
        if window.has_states:
            about |= {"model": model_digest(tape.model), "period_s": _period_s(self._venv)}
        try:
            window.write(self._run.path / name, about)
        except OSError as error:
            self._log.say(f"{name} was not saved: {error.strerror or error}")
            return {}
        holds = "states" if window.has_states else "observations"
        return {
            "window": name,
            "window_holds": holds,
            "window_rows": len(window.arrays["step"]),
            "window_copies": window.copies,
        }


def _period_s(venv: Any) -> float | None:
    """Return the simulated seconds of a step, where they are known."""
    env = getattr(venv, "env", None)
    found = env.control_dt if env is not None else getattr(venv.envs[0].unwrapped, "dt", None)
    return float(found) if isinstance(found, float) and found > 0 else None
