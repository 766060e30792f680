"""One run from `run.json` to its end: its parts put together, its states, and what becomes of a failure."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from stable_baselines3.common.logger import KVWriter

from workbench.policies import Evaluation
from workbench.runs import RequestInbox, RunDirectory, RunState, StateFile
from workbench.runs.resuming import drop_order, take_order
from workbench.runs.state import BEAT_S, FOLDER_GONE
from workbench.simulation import EnvSource, make_sb3
from workbench.simulation.guard import NotFiniteError
from workbench.specs import amended
from workbench.training.anomalies import AnomalyError, of_environment
from workbench.training.background import Background, EventsInOrder
from workbench.training.circumstances import circumstances, differences
from workbench.training.cpus import choose_threads, runs_beside
from workbench.training.device import choose_device
from workbench.training.evaluations import ScorerApart, ScorerInTurn
from workbench.training.films import Films, is_filmed
from workbench.training.going_back import ROLLBACK, GoBackError, Wish, find_good, read_returns, rollbacks
from workbench.training.honest_best import HonestBest
from workbench.training.inheritance import Inheritance, read_inheritance
from workbench.training.keeper import CheckpointKeeper
from workbench.training.learner import OFF_POLICY_STEPS, Learner
from workbench.training.log import RunLog
from workbench.training.outputs import CsvOutput, EventOutput, TensorBoardOutput, rewrite_progress
from workbench.training.requests import StopSignal
from workbench.training.rescoring import Rescorer
from workbench.training.resumption import Place, find_place, tidy
from workbench.training.retention import discard
from workbench.training.simulator_warnings import SimulatorWarnings
from workbench.training.steering import RESUME, Steering, read_sets
from workbench.training.stopping import StopRule
from workbench.training.trainer import Ending, Trainer
from workbench.training.watch import Watch
from workbench.training.words import in_one_sentence

TOO_LATE = "the run has ended"


@dataclass(frozen=True)
class RunResult:
    """How a run ended."""

    run: RunDirectory
    """Where everything it wrote is."""
    state: RunState
    """`finished`, `stopped` or `failed`."""
    reason: str
    """Why it ended, in words."""
    steps: int
    """Steps it did, all copies together."""
    iterations: int
    """Iterations it did."""
    best: Path | None
    """The checkpoint with the best evaluation."""
    latest: Path | None
    """The newest checkpoint."""
    evaluation: Evaluation | None
    """The last evaluation."""


class Session:
    """Trains one run in this process and writes its folder.

    Args:
        run: A run directory with its `run.json`; nobody else carries it.
        log: Where a person can follow it.
        stop: Tells when a signal asked to stop.
        evaluates_apart: Play evaluations in a process of their own, which knows no more of environments than any new
            process does. Otherwise they are played here, in turn with the training. The scores are the same.
        off_policy_steps: Steps of an iteration of SAC and TD3, where one update's worth of steps is not more.
    """

    def __init__(
        self,
        run: RunDirectory,
        log: RunLog,
        stop: StopSignal | None = None,
        *,
        evaluates_apart: bool = False,
        off_policy_steps: int = OFF_POLICY_STEPS,
    ) -> None:
        self._run = run
        self._log = log
        self._stop = stop or StopSignal()
        self._evaluates_apart = evaluates_apart
        self._off_policy_steps = off_policy_steps
        self._state = StateFile(run.state_path)
        self._background = Background()
        self._events = EventsInOrder(run.events_path, self._background)
        self._inbox = RequestInbox(run, self._events)
        self._learner: Learner | None = None
        self._keeper: CheckpointKeeper | None = None

    def run(self) -> RunResult:
        """Train to the end and return how it ended; a failure is a result too, never an exception."""
        with self._beating():
            try:
                self._enter(RunState.STARTING)
                state, reason = self._train_through()
            except AnomalyError as anomaly:
                # Whoever found it has told of it.
                state, reason = RunState.FAILED, f"{anomaly}{self._last_good()}"
            except NotFiniteError as error:
                state, reason = self._fail_for(error)
            except KeyboardInterrupt:
                state, reason = RunState.STOPPED, f"interrupted{self._last_good()}"
            except Exception as error:
                self._log.trace(error)
                # A folder that is gone fails every write, whatever it was that was written.
                told = f"{in_one_sentence(error)}{self._last_good()}" if self._run.is_run() else FOLDER_GONE
                state, reason = RunState.FAILED, told
            self._close(state, reason)
        return self._result(state, reason)

    def _train_through(self) -> Ending:
        """Train to the end; where an anomaly sends the run back to a checkpoint, as if it were resumed there."""
        wish: Wish | None = None
        while True:
            try:
                return self._train(wish)
            except GoBackError as error:
                wish = error.wish
            # Whatever learnt is let go before its like is made again.
            self._learner = self._keeper = None
            gc.collect()
            self._go_back(wish)

    def _go_back(self, wish: Wish) -> None:
        """Make a checkpoint the newest one, and tell that the run goes on from there.

        Raises:
            AnomalyError: There is none to go on from.
            OSError: The disk is full or failed.
        """
        self._background = Background()
        self._events.follow(self._background)
        run, returns = self._run, read_returns(self._run)
        good = find_good(run, wish.until)
        if good is None:
            raise AnomalyError(f"{wish.message}; there is no checkpoint to go back to", wish.kind)
        for later in run.checkpoints():
            if later.steps > good.steps:
                discard(later)
        place = find_place(run)
        assert place is not None, "it was there just now"
        steps, trainer = place.checkpoint.steps, place.state["trainer"]
        counted = {} if wish.pauses else {"rollback": rollbacks(returns) + 1}
        self._events.append(
            "resumed",
            steps=steps,
            from_steps=steps,
            wall_s=wish.wall_s,
            episodes=trainer["metrics"]["episodes"],
            iteration=place.state["learner"]["iteration"],
            changed=[],
            back_from=wish.steps,
            because=wish.kind,
            stirred=len(returns) + 1,
            **counted,
        )
        changed = ""
        if wish.values:
            self._events.append("set", steps=steps, values=wish.values, old=wish.old or {}, by=ROLLBACK)
            changed = ", with " + ", ".join(
                f"{key} {value:g}" if isinstance(value, float) else f"{key} {value}"
                for key, value in wish.values.items()
            )
        self._log.say(f"goes back to {place.name}{changed}")

    def _train(self, back: Wish | None) -> Ending:
        record = self._run.record()
        order = take_order(self._run)
        place = self._find_place()
        sets = read_sets(self._run, order, 0 if place is None else place.state["trainer"].get("sets", 0))
        spec = amended(self._run.spec(), sets.begun_with)
        source = EnvSource.from_json(record.get("environment") or {})
        seed = int(spec.seed if spec.seed is not None else record["seed"])
        self._log.say(f"{spec.algorithm.upper()} on {source.env_id}, {spec.n_envs} copies, seed {seed}")
        parent = read_inheritance(self._run, spec) if place is None and spec.parent is not None else None
        threads = choose_threads(spec.n_envs, asked=spec.threads, beside=runs_beside(self._run))
        device, why = choose_device(spec)
        self._log.say(f"{threads.physics} physics, {threads.updates} update threads: {threads.reason}")
        self._log.say(f"networks on {device}: {why}")
        venv = make_sb3(source, spec.n_envs, seed, threads.physics)
        try:
            learner = self._learner = Learner(
                spec, venv, seed=seed, workers=threads.updates, off_policy_steps=self._off_policy_steps
            )
        except BaseException:
            venv.close()
            raise
        fields = {"seed": seed, "versions": record.get("versions") or {}, **_describe(venv)}
        scorer = ScorerApart(spec, self._run.log_path) if self._evaluates_apart else ScorerInTurn(spec)
        keeper = self._keeper = CheckpointKeeper(
            self._run, spec, source, learner, self._events, scorer, fields, self._background
        )
        rule = StopRule(spec)
        watch = Watch(self._run, spec, source, learner, venv, events=self._events, log=self._log)
        trainer = Trainer(
            self._run,
            Steering(spec, sets, (learner, keeper, rule, watch), venv, events=self._events, log=self._log),
            learner,
            venv,
            keeper,
            rule=rule,
            rescorer=Rescorer(self._run, spec, self._events),
            honest_best=HonestBest(self._run, self._events, scorer, self._log),
            watch=watch,
            inbox=self._inbox,
            log=self._log,
            stop=self._stop,
            enter=self._enter,
            place=place,
            waits=back.message if back is not None and back.pauses else "",
            warned=SimulatorWarnings(self._log),
        )
        torch_threads = torch.get_num_threads()
        try:
            # In a rollout, a second thread of torch spins against the simulator's own and halves the speed.
            torch.set_num_threads(1)
            tensorboard = TensorBoardOutput(self._run.path, 0 if place is None else place.checkpoint.steps + 1)
            outputs: list[KVWriter] = [
                EventOutput(self._events, trainer.context),
                CsvOutput(self._run.path / "progress.csv"),
                tensorboard,
            ]
            if is_filmed(spec, source.name, source.env_id):
                keeper.films = Films(self._run, spec, self._events, tensorboard.add_summary)
            if parent is None:
                learner.start(outputs)
            else:
                self._take_over(parent, learner, outputs, seed)
                trainer.count_episodes_from(parent.episodes)
            if back is None:
                self._tell_of(place, order)
            return trainer.run()
        finally:
            # Whatever ended the run: what was being written is whole before anything more is told.
            self._background.close()
            scorer.close()
            if keeper.films is not None:
                for line in keeper.films.close():
                    self._log.say(line)
            learner.close()
            torch.set_num_threads(torch_threads)

    def _find_place(self) -> Place | None:
        """Return where a run that was cut off goes on, its folder made what it was there; None where it begins."""
        place = find_place(self._run)
        if place is None:
            # An earlier start may have told others of steps before its first checkpoint was whole.
            rewrite_progress(self._run.path / "progress.csv", ())
            return None
        for reason in place.passed:
            self._log.say(reason)
        tidy(self._run, place)
        return place

    def _take_over(self, parent: Inheritance, learner: Learner, outputs: list[KVWriter], seed: int) -> None:
        """Start the learner as what a checkpoint of another run is, and tell of it."""
        assert self._keeper is not None
        parent.prepare(learner)
        learner.start(outputs, steps=parent.steps, iteration=parent.iteration)
        parent.pass_on(learner, seed)
        parent.pass_on_replay(learner)
        self._keeper.begin_replay()
        self._log.say(f"goes on from {parent.fork.reference}, {parent.steps} steps")
        for note in parent.notes:
            self._log.say(note)
        self._say_changed(parent.changed)
        self._events.append(
            "forked",
            steps=parent.steps,
            parent=parent.fork.reference,
            iteration=parent.iteration,
            episodes=parent.episodes,
            replay_rows=learner.replay_rows if learner.replay is not None else 0,
            changed=parent.changed,
            notes=parent.notes,
        )

    def _say_changed(self, changed: list[str]) -> None:
        for what in changed:
            self._log.say(f"{what}: numbers may differ in their last digits from here on")

    def _tell_of(self, place: Place | None, order: dict[str, Any]) -> None:
        steps = 0 if place is None else place.checkpoint.steps
        if place is not None:
            changed = differences(place.state["circumstances"], circumstances())
            self._say_changed(changed)
            trainer = place.state["trainer"]
            self._events.append(
                "resumed",
                steps=steps,
                from_steps=steps,
                wall_s=trainer["wall_s"],
                episodes=trainer["metrics"]["episodes"],
                iteration=place.state["learner"]["iteration"],
                changed=changed,
            )
            self._log.say(f"goes on from {place.name}")
        if order:
            self._events.append("set", steps=steps, values=order, by=RESUME)
            drop_order(self._run)

    def _close(self, state: RunState, reason: str) -> None:
        self._log.say(f"{state}: {reason}")
        # Where the disk is full neither may be written; whoever reads the folder then finds the log.
        with suppress(OSError):
            for request in self._inbox.take():
                self._inbox.answer(request, ok=False, reason=TOO_LATE)
        exit_code = 1 if state is RunState.FAILED else 0
        with suppress(OSError):
            self._events.append("state", state=str(state), reason=reason)
        with suppress(OSError):
            # The stream and the log are open, and reach a folder that was moved; a file of state would make a new one.
            if self._run.is_run():
                self._state.write(state, reason=reason, exit_code=exit_code)
        self._events.close()

    def _enter(self, state: RunState, reason: str = "") -> None:
        # The event first: a reader who finds the process gone believes the stream before the file.
        self._events.append("state", state=str(state), reason=reason)
        self._state.write(state, reason=reason)

    @contextmanager
    def _beating(self) -> Iterator[None]:
        """Show that this process lives, however long an iteration takes."""
        over = threading.Event()

        def beat() -> None:
            while not over.wait(BEAT_S):
                self._state.beat()

        thread = threading.Thread(target=beat, name="heartbeat", daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

    def _fail_for(self, error: NotFiniteError) -> Ending:
        anomaly = of_environment(error)
        # The reason is the state's too, where the disk is full.
        with suppress(OSError):
            self._events.append("anomaly", what=anomaly.kind, message=str(anomaly), action="stop", **anomaly.where)
        return RunState.FAILED, f"{anomaly}{self._last_good()}"

    def _last_good(self) -> str:
        latest = self._run.latest()
        return "" if latest is None else f"; the last checkpoint is {latest.path.name}"

    def _result(self, state: RunState, reason: str) -> RunResult:
        best, latest = self._run.best(), self._run.latest()
        return RunResult(
            run=self._run,
            state=state,
            reason=reason,
            steps=self._learner.steps if self._learner else 0,
            iterations=self._learner.iteration if self._learner else 0,
            best=best.path if best else None,
            latest=latest.path if latest else None,
            evaluation=self._keeper.evaluation if self._keeper else None,
        )


def _describe(venv: Any) -> dict[str, Any]:
    """Return what a checkpoint says of its environment that only the environment itself knows."""
    batch = getattr(venv, "env", None)
    if batch is None:
        period_s = getattr(venv.envs[0].unwrapped, "dt", None)
        known = isinstance(period_s, float) and period_s > 0
        return {"control_period_s": period_s if known else None, "observation_names": (), "action_names": ()}
    return {
        "control_period_s": batch.control_dt,
        "observation_names": tuple(batch.observation_names),
        "action_names": tuple(batch.action_names),
    }
