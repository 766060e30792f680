"""The life of a policy in Python: train, save, load, evaluate, export, close."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, TextIO

from workbench import durable
from workbench.catalog import Entry, discover
from workbench.errors import (
    ArgumentsError,
    BadCheckpointError,
    CheckpointError,
    NoCheckpointError,
    NotFoundError,
    NotTrainedError,
    Problem,
    ProblemsError,
    RequestError,
    UnsupportedAlgorithmError,
    WorkFailedError,
)
from workbench.policies import Evaluation, evaluate, load_policy, read_record
from workbench.policies.actor import Policy
from workbench.policies.checkpoint import RECORD_NAME, read_checkpoint
from workbench.policies.loading import find_checkpoint
from workbench.policies.scoring import read_claim
from workbench.project import Project, open_project
from workbench.runs import RunState
from workbench.runs.forking import fork_from
from workbench.specs import ALGORITHMS, RunSpec, compose, errors_of
from workbench.suggest import nearest_one
from workbench.training.inprocess import train

if TYPE_CHECKING:
    from workbench.policies.export import Exported, Format
    from workbench.training.session import RunResult

CHOSEN_APART = ("env_id", "algorithm", "seed", "device", "parent", "recipe", "base", "overrides")
"""Settings that are arguments of their own, or that nobody sets."""


class RLTrainer:
    """Trains one environment by one algorithm, in this process.

        with workbench.RLTrainer("cart_pole", "PPO", log_dir="runs") as trainer:
            trainer.train(max_iterations=20)
            trainer.save("checkpoints/cart_pole")
            trainer.export_policy("checkpoints/cart_pole.pt")

    What it trains is a run like any other: its folder has curves and checkpoints, and the app shows it where `log_dir`
    is the project's `runs`. Without a `log_dir` the run lies in a temporary folder that goes with `close()`, and only
    what was saved or exported stays.

    Args:
        env: A name, Gymnasium ID or unique prefix of an environment; its recipe is used where it has one.
        algorithm: `PPO`, `SAC` or `TD3`, in any case.
        seed: Of everything random; drawn, and recorded, where none is given.
        device: Where networks are trained: `auto`, `cpu`, `cuda`, `cuda:N` or `mps`.
        log_dir: The folder of runs.
        settings: Fields of the run by dotted key, as `--set` takes them: `{"n_envs": 8, "ppo.learning_rate": 1e-3}`.
        project: Where environments are found; the current one by default.
        echo: Where the lines of the runs' logs go too; `sys.stderr`, say.

    Raises:
        UnsupportedAlgorithmError: There is no such algorithm; a `ValueError`.
        NotFoundError: There is no such environment.
        ProblemsError: A file of the environment is broken.
    """

    def __init__(
        self,
        env: str,
        algorithm: str = "PPO",
        *,
        seed: int | None = None,
        device: str = "auto",
        log_dir: str | Path | None = None,
        settings: Mapping[str, Any] | None = None,
        project: Project | None = None,
        echo: TextIO | None = None,
    ) -> None:
        self.algorithm = _check_algorithm(algorithm)
        self._project = project or open_project()
        self._entry: Entry = discover(self._project).find(env)
        if self._entry.broken:
            raise ProblemsError(f"{self._entry.name} cannot be trained", errors_of(self._entry.problems))
        self._seed = seed
        self._device = device
        self._log_dir = None if log_dir is None else Path(log_dir).expanduser().absolute()
        self._settings = _nested(settings or {})
        self._echo = echo
        self._scratch: tempfile.TemporaryDirectory[str] | None = None
        self._checkpoint: Path | None = None
        self._result: RunResult | None = None
        self._is_closed = False

    @property
    def env_id(self) -> str:
        """Gymnasium ID of the environment."""
        return self._entry.env_id

    @property
    def result(self) -> RunResult:
        """How the last training ended.

        Raises:
            NotTrainedError: Nothing was trained yet; a `RuntimeError`.
        """
        if self._result is None:
            raise NotTrainedError("nothing was trained yet.", hint="Call train() first.")
        return self._result

    @property
    def checkpoint(self) -> Path:
        """The checkpoint it is at: the newest of the last training, or the one that was loaded.

        Raises:
            NotTrainedError: There is none yet, or the trainer is closed; a `RuntimeError`.
        """
        self._require_open()
        if self._checkpoint is None:
            raise NotTrainedError("there is no policy yet.", hint="Call train() or load() first.")
        return self._checkpoint

    @property
    def iterations(self) -> int:
        """Iterations behind its policy, over all trainings; 0 before the first."""
        return 0 if self._checkpoint is None else read_record(self._checkpoint).iteration

    def train(
        self,
        max_iterations: int | None = None,
        *,
        total_steps: int | None = None,
        checkpoint_dir: str | Path | None = None,
        checkpoint_every: int | None = None,
        keep_last: int | None = None,
    ) -> dict[str, Any]:
        """Train until a budget is spent or a goal of the recipe is reached; a second call goes on from the first.

        Args:
            max_iterations: Iterations in all, those before this call and before a loaded checkpoint included.
            total_steps: Steps in all, counted alike.
            checkpoint_dir: The folder of runs, instead of `log_dir`.
            checkpoint_every: Iterations between checkpoints; the recipe's where none is given.
            keep_last: Checkpoints kept beside the best, the last and the untrained; all where none is given.

        Returns:
            `iterations` and `steps` so far, `best_reward` (mean return of the best evaluation, None without one),
            `state`, `reason`, and the folders `run`, `best` and `latest`.

        Raises:
            ArgumentsError: An argument or setting is wrong, all of them listed, or `checkpoint_every` or `keep_last` is
                given and no folder that stays; a `ValueError`.
            WorkFailedError: The training failed; what it wrote until then stays, and it goes on from there.
            NotTrainedError: The trainer is closed; a `RuntimeError`.
        """
        self._require_open()
        folder = self._log_dir if checkpoint_dir is None else Path(checkpoint_dir).expanduser().absolute()
        counts = {
            "max_iterations": max_iterations,
            "total_steps": total_steps,
            "checkpoint_every": checkpoint_every,
            "keep_last": keep_last,
        }
        problems = [
            Problem(name, f"must be a whole number from 1, got {value!r}")
            for name, value in counts.items()
            if value is not None and (type(value) is not int or value < 1)
        ]
        problems += [
            Problem(name, "needs a folder that stays: give checkpoint_dir here, or log_dir to the trainer")
            for name in ("checkpoint_every", "keep_last")
            if counts[name] is not None and folder is None
        ]
        if problems:
            raise ArgumentsError(f"{self._entry.name} cannot be trained like this", problems)
        runs_root = self._scratch_runs() if folder is None else folder
        spec = self._compose(runs_root, max_iterations, total_steps, checkpoint_every, keep_last)
        result = train(spec, self._project, runs_root=runs_root, echo=self._echo)
        self._result = result
        self._checkpoint = result.latest or self._checkpoint
        if result.state is RunState.FAILED:
            raise WorkFailedError(f"the training failed: {result.reason}.", hint=f"{result.run.log_path} has the log.")
        claim = None if result.best is None else read_claim(result.best)
        return {
            "iterations": result.iterations,
            "steps": result.steps,
            "best_reward": None if claim is None else claim.mean,
            "state": str(result.state),
            "reason": result.reason,
            "run": result.run.path,
            "best": result.best,
            "latest": result.latest,
        }

    def save(self, path: str | Path, *, which: Literal["latest", "best"] = "latest") -> Path:
        """Copy a checkpoint to a folder of its own, which is there whole or not at all, and return that.

        Args:
            path: The folder; parents are made, and an earlier checkpoint there is replaced.
            which: Where the policy is now, or the best evaluation of the last training.

        Raises:
            NotTrainedError: There is no such checkpoint yet, or the trainer is closed; a `RuntimeError`.
            RequestError: Something other than a checkpoint is in the place.
            OSError: The folder cannot be written.
        """
        source = self.checkpoint if which == "latest" else self.result.best
        if source is None:
            raise NotTrainedError("there is no best checkpoint: none was evaluated.", hint="Save the latest.")
        target = Path(path).expanduser().absolute()
        is_taken = target.exists() and not (target.is_dir() and not any(target.iterdir()))
        if is_taken and not (target / RECORD_NAME).is_file():
            raise RequestError(f"{target} is there already, and is no checkpoint.", hint="Name another folder.")
        if source.resolve() == target.resolve():
            return target
        target.parent.mkdir(parents=True, exist_ok=True)
        aside = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}.", suffix=".part"))
        try:
            shutil.copytree(source, aside, dirs_exist_ok=True)
            aside.chmod(0o755)
            durable.replace_directory(aside, target)
        finally:
            shutil.rmtree(aside, ignore_errors=True)
        return target

    def load(self, path: str | Path) -> None:
        """Take up a checkpoint: what is trained, evaluated, saved and exported from here on goes on from it.

        Args:
            path: A checkpoint that was saved, or whatever else names one: `RUN:best`, a run's folder.

        Raises:
            NoCheckpointError: There is none; a `FileNotFoundError`.
            BadCheckpointError: It is not whole, or another algorithm or environment made it; a `ValueError`.
            NotTrainedError: The trainer is closed; a `RuntimeError`.
        """
        self._require_open()
        try:
            found = find_checkpoint(path, self._project)
        except NotFoundError as error:
            raise NoCheckpointError(error.message, hint=error.hint) from error
        try:
            record = read_checkpoint(found).record
        except CheckpointError as error:
            raise BadCheckpointError(error.message, hint=error.hint) from error
        faults = []
        if record.algorithm != self.algorithm:
            faults.append(f"{record.algorithm.upper()} made it, and this trainer is for {self.algorithm.upper()}")
        if record.environment.get("env_id") != self.env_id:
            faults.append(
                f"it was trained on {record.environment.get('env_id')}, and this trainer is for {self.env_id}"
            )
        if faults:
            raise BadCheckpointError(f"{found} does not fit: {'; '.join(faults)}.")
        self._checkpoint, self._result = found, None

    def evaluate(self, num_episodes: int = 10, *, seed: int | None = None, deterministic: bool = True) -> Evaluation:
        """Play the policy for some numbered episodes and return the scores.

        Args:
            num_episodes: How many.
            seed: The number of the first; by default 100 000, for no run chooses its best by those that follow.
            deterministic: Take the policy's best action instead of sampling.

        Raises:
            ArgumentsError: No whole number of episodes from 1 is asked for; a `ValueError`.
            NotTrainedError: There is no policy yet, or the trainer is closed; a `RuntimeError`.
            SimulationError: The environment failed.
        """
        if type(num_episodes) is not int or num_episodes < 1:
            wrong = Problem("num_episodes", f"must be a whole number from 1, got {num_episodes!r}")
            raise ArgumentsError("this cannot be evaluated", [wrong])
        keywords: dict[str, Any] = {} if seed is None else {"seed": seed}
        return evaluate(
            self.checkpoint, episodes=num_episodes, deterministic=deterministic, project=self._project, **keywords
        )

    def policy(self, *, stochastic: bool = False, seed: int | None = None) -> Policy:
        """Return what acts: `policy().act(observations)` gives an action a row, in the environment's units.

        Raises:
            NotTrainedError: There is no policy yet, or the trainer is closed; a `RuntimeError`.
        """
        return load_policy(self.checkpoint, stochastic=stochastic, seed=seed, project=self._project)

    def export(
        self,
        format: Format | str = "onnx",
        output: str | Path | None = None,
        *,
        sampling: bool = False,
        force: bool = False,
    ) -> Exported:
        """Write the policy into a folder from which it runs without workbench; see `workbench.export`.

        Raises:
            NotTrainedError: There is no policy yet, or the trainer is closed; a `RuntimeError`.
            RequestError: It cannot be written like this.
            WorkFailedError: The program acts otherwise than the policy, or the folder cannot be written.
        """
        from workbench.policies.export import export

        return export(self.checkpoint, format, output=output, sampling=sampling, force=force, project=self._project)

    def export_policy(self, path: str | Path) -> Path:
        """Write the policy as one TorchScript file, checked, and return where it is.

        It gives the best action, in the environment's units; normaliser and action map are inside.

        Args:
            path: The file; its folder is made, and an earlier file is replaced.

        Raises:
            NotTrainedError: There is no policy yet, or the trainer is closed; a `RuntimeError`.
            WorkFailedError: The program acts otherwise than the policy, or the file cannot be written.
        """
        source, target = self.checkpoint, Path(path).expanduser().absolute()
        if target.is_dir():
            raise RequestError(f"{target} is a folder.", hint=f"Name a file: {target / 'policy.pt'}.")
        from workbench.policies.export import export

        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}.", suffix=".part") as aside:
            exported = export(source, "torchscript", output=Path(aside) / "export", project=self._project)
            durable.write_bytes(target, exported.program.read_bytes())
        return target

    def close(self) -> None:
        """Let go of the policy and of the temporary folder; may be called again."""
        self._is_closed = True
        if self._scratch is not None:
            self._scratch.cleanup()
            self._scratch = None

    def __enter__(self) -> RLTrainer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _require_open(self) -> None:
        if self._is_closed:
            raise NotTrainedError("the trainer is closed.", hint="Make a new one, and load() a checkpoint.")

    def _scratch_runs(self) -> Path:
        if self._scratch is None:
            self._scratch = tempfile.TemporaryDirectory(prefix="workbench-")
        return Path(self._scratch.name)

    def _compose(
        self,
        runs_root: Path,
        max_iterations: int | None,
        total_steps: int | None,
        checkpoint_every: int | None,
        keep_last: int | None,
    ) -> RunSpec:
        fork = None if self._checkpoint is None else fork_from(self._checkpoint, runs_root)
        fields = dict(self._settings)
        if max_iterations is not None:
            criteria = fields.get("stop_criteria") or {}
            fields["stop_criteria"] = {**criteria, "training_iteration": max_iterations}
        own = {
            "total_steps": total_steps,
            "checkpoint_freq": checkpoint_every,
            "keep_last": keep_last,
            "seed": self._seed,
            "device": self._device,
            "parent": None if fork is None else fork.reference,
        }
        fields |= {name: value for name, value in own.items() if value is not None}
        composed = compose(self.env_id, algorithm=self.algorithm, recipe=self._entry.training, **fields)
        problems = errors_of(composed.problems)
        if composed.spec is not None and fork is not None:
            problems = [*problems, *fork.problems(composed.spec)]
        if composed.spec is None or problems:
            raise ArgumentsError(f"{self._entry.name} cannot be trained like this", problems)
        return composed.spec


def _check_algorithm(text: str) -> str:
    name = str(text).lower()
    if name in ALGORITHMS:
        return name
    known = ", ".join(item.upper() for item in ALGORITHMS)
    problem = Problem("algorithm", f"must be one of {known}, got {text!r}", nearest_one(name, ALGORITHMS))
    raise UnsupportedAlgorithmError(f"{text} is not supported", [problem])


def _nested(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings by dotted key as nested data."""
    nested: dict[str, Any] = {}
    problems = []
    for key, value in settings.items():
        top, _, rest = str(key).partition(".")
        if top in CHOSEN_APART:
            problems.append(Problem(key, "is no setting: it is an argument, or follows from load()"))
            continue
        given, before = {rest: value} if rest else value, nested.get(top, {})
        if top in nested and not (isinstance(given, Mapping) and isinstance(before, Mapping)):
            problems.append(Problem(key, "is given twice, as one value and as several"))
        else:
            nested[top] = {**before, **given} if isinstance(given, Mapping) else given
    if problems:
        raise ArgumentsError("these are no settings", problems)
    return nested
