"""From what a person types to something that acts."""

from __future__ import annotations

import sys
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from workbench.errors import CheckpointError, NotFoundError, RequestError
from workbench.policies.actor import Policy, PolicyActor
from workbench.policies.checkpoint import RECORD_NAME, read_checkpoint, read_record
from workbench.policies.description import TITLES, Description, PolicyKind
from workbench.policies.environments import EnvironmentFacts, facts_in, find_environment, trained_in
from workbench.policies.opening.manifests import Told, read_manifest
from workbench.project import Project, open_project
from workbench.simulation import EnvSource

PROGRAMS = frozenset({".pt", ".pth", ".ts", ".jit"})
"""How files of torch end."""

Tell = Callable[[str], None]


@dataclass(frozen=True)
class FoundPolicy:
    """A policy that is there, not opened yet."""

    path: Path
    """The checkpoint's folder, or the file."""
    kind: PolicyKind
    """Who wrote it."""
    environment: EnvSource | None
    """Where it is to act: what was asked for, else where it was trained; None where neither is known."""
    steps: int | None = None
    """Environment steps it was trained for; None where that is not known."""
    normalizer: Path | None = None
    """The file of what its observations go through."""
    told: Told = field(default_factory=Told)
    """What the manifest beside it says, where it is one of our exports."""

    def open(
        self,
        *,
        facts: EnvironmentFacts | None = None,
        trust: bool = False,
        tell: Tell | None = None,
        stochastic: bool = False,
        seed: int | None = None,
    ) -> Policy:
        """Return what acts.

        Args:
            facts: Of the environment, where that is open already; a program needs them, and makes it otherwise.
            trust: Whether what cannot be read as data may be run.
            tell: Told what of it is run, before it is; stderr by default.
            stochastic: Sample actions instead of taking the policy's best.
            seed: Of the sampling; None draws one.

        Raises:
            CheckpointError: It is not whole, or cannot be opened without running what it holds.
            RequestError: It cannot do what is asked.
        """
        if self.kind == "workbench":
            actor = PolicyActor(read_checkpoint(self.path), stochastic=stochastic, seed=seed)
            if self.environment is not None:
                actor.description = replace(actor.description, environment=self.environment)
            return actor
        if self.kind == "sb3":
            from workbench.policies.opening.sb3_files import open_sb3

            return open_sb3(
                self.path,
                environment=self.environment,
                normalizer=self.normalizer,
                told=self.told,
                trust=trust,
                tell=tell or _warn,
                stochastic=stochastic,
                seed=seed,
            )
        return self._open_program(facts or self._facts(), trust=trust, stochastic=stochastic)

    def _open_program(self, facts: EnvironmentFacts, *, trust: bool, stochastic: bool) -> Policy:
        from workbench.policies.fitting import listed, require_fit
        from workbench.policies.opening import programs
        from workbench.policies.spaces import SpaceRecord

        spaces = facts.observation_space, facts.action_space
        if not all(isinstance(space, SpaceRecord) for space in spaces):
            raise CheckpointError(
                f"{self.path} is run on vectors of numbers, and the observations or actions of {facts.name} are of "
                "another kind."
            )
        run = (
            programs.open_onnx(self.path) if self.kind == "onnx" else programs.open_torchscript(self.path, trust=trust)
        )
        if run.inputs is not None and run.inputs != spaces[0].size:
            raise CheckpointError(
                f"{self.path} does not fit {facts.name}: it reads {run.inputs} numbers, and the observations of "
                f"{facts.name} are of shape {spaces[0].shape}{listed(facts.observation_names)}."
            )
        told = self.told
        known = Description(
            path=self.path,
            kind=self.kind,
            sha256=programs.file_digest(self.path),
            algorithm=told.algorithm,
            steps=self.steps,
            environment=self.environment,
            observation_space=told.observation_space or spaces[0],
            action_space=told.action_space or spaces[1],
            control_period_s=told.control_period_s,
            observation_names=told.observation_names,
            action_names=told.action_names,
            versions=told.versions,
        )
        if told.observation_space is not None:
            require_fit(known, facts, known.called)
        return programs.ProgramActor(run, known, stochastic=stochastic)

    def _facts(self) -> EnvironmentFacts:
        if self.environment is None:
            raise RequestError(
                f"{self.path} does not say what its actions are of.", hint="Name the environment with --env ID."
            )
        return facts_in(self.environment)


def load_policy(
    reference: str | Path,
    *,
    environment: str | EnvSource | None = None,
    normalizer: str | Path | None = None,
    trust: bool = False,
    stochastic: bool = False,
    seed: int | None = None,
    project: Project | None = None,
) -> Policy:
    """Return the actor of a policy: of a checkpoint, or of a file of another tool, which is not run.

    Args:
        reference: A checkpoint, a run directory, `RUN:best`, `RUN:latest`, `RUN:<steps>`, an environment's name, a
            `.zip` of Stable-Baselines3, a run folder of RL-Zoo, or a TorchScript or ONNX file.
        environment: Where it is to act, if not where it was trained; by name or ID.
        normalizer: The file of what its observations go through, if not the one that lies with it; `none` for none.
        trust: Whether what of a file cannot be read as data may be run.
        stochastic: Sample actions instead of taking the policy's best.
        seed: Of the sampling; None draws one.
        project: Where references are looked up; the current one by default.

    Raises:
        NotFoundError: The reference or the environment names nothing.
        CheckpointError: The policy is not whole, or cannot be opened without running what its file holds.
        RequestError: It is a program, and no environment is named.
    """
    found = find_policy(reference, environment=environment, normalizer=normalizer, project=project)
    return found.open(trust=trust, stochastic=stochastic, seed=seed)


def find_policy(
    reference: str | Path,
    *,
    environment: str | EnvSource | None = None,
    normalizer: str | Path | None = None,
    project: Project | None = None,
) -> FoundPolicy:
    """Return the policy that a reference names, with where it is to act, without opening it; see `load_policy`.

    Raises:
        NotFoundError: The reference or the environment names nothing.
        CheckpointError: What it names is no policy.
    """
    path = find_checkpoint(reference, project)
    kind = kind_of(path)
    if normalizer is not None and kind != "sb3":
        raise RequestError(
            f"--normalizer is for files of Stable-Baselines3, and {path} is of {TITLES[kind]}.",
            hint="Leave it out.",
        )
    if isinstance(environment, str):
        environment = find_environment(environment, project)
    if kind == "workbench":
        record = read_record(path)
        return FoundPolicy(path, kind, environment or trained_in(record, path), record.steps)
    if kind == "sb3":
        return _find_sb3(path, environment, normalizer, project)
    return _find_program(path, kind, environment, project)


def find_checkpoint(reference: str | Path, project: Project | None = None) -> Path:
    """Return the folder or the file of the policy that a reference names.

    Raises:
        NotFoundError: The reference names nothing; what is there, and what to type, is said.
    """
    path = Path(reference).expanduser()
    if (path / RECORD_NAME).is_file():
        return path
    from workbench.runs import resolve_checkpoint

    return resolve_checkpoint(project or open_project(), str(reference))


def kind_of(path: Path) -> PolicyKind:
    """Return who wrote a policy, by what its file holds.

    Raises:
        CheckpointError: It is none that can be opened here.
    """
    if path.is_dir() or not path.exists():
        return "workbench"
    if path.suffix.lower() == ".onnx":
        return "onnx"
    suffix = path.suffix.lower()
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except (OSError, zipfile.BadZipFile, ValueError):
        names = []
    if any("/code/" in name for name in names):
        return "torchscript"
    if suffix == ".zip" or "policy.pth" in names:
        return "sb3"
    if suffix in PROGRAMS:
        raise CheckpointError(
            f"{path} holds no program: it is weights alone, or no file of torch.",
            hint="Save a policy with torch.jit.script or torch.jit.trace, or name the .zip of Stable-Baselines3.",
        )
    raise CheckpointError(
        f"{path} is no policy that can be opened.",
        hint="Those are checkpoints, .zip of Stable-Baselines3, run folders of RL-Zoo, TorchScript (.pt) and .onnx.",
    )


def _find_program(path: Path, kind: PolicyKind, environment: EnvSource | None, project: Project | None) -> FoundPolicy:
    from workbench.policies.opening.programs import file_digest

    told = read_manifest(path, file_digest(path))
    return FoundPolicy(path, kind, environment or _exported_from(told, path, project), told.steps, told=told)


def _exported_from(told: Told, path: Path, project: Project | None) -> EnvSource | None:
    if not told.env_id:
        return None
    return replace(_trained_in(told.env_id, path, project), env_cfg=told.env_cfg)


def _find_sb3(
    path: Path, environment: EnvSource | None, normalizer: str | Path | None, project: Project | None
) -> FoundPolicy:
    from workbench.policies.opening.archive import Archive
    from workbench.policies.opening.normalizer import find_normalizer
    from workbench.policies.opening.sb3_files import steps_of
    from workbench.policies.opening.zoo import read_zoo

    archive = Archive(path)
    told, zoo = read_manifest(path, archive.sha256), read_zoo(path)
    if environment is None and zoo is not None:
        zoo.require_bare(path)
        own = _trained_in(zoo.env_id, path, project)
        environment = replace(own, env_cfg={**own.env_cfg, **zoo.env_kwargs})
    elif environment is None and told.env_id:
        environment = _exported_from(told, path, project)
    elif environment is None:
        env_id = _told_by_mirror(path, project)
        environment = None if not env_id else _trained_in(env_id, path, project)
    if normalizer is not None:
        file = None if str(normalizer) == "none" else Path(normalizer).expanduser()
    else:
        file = find_normalizer(path, None if zoo is None else zoo.folder)
        if file is None and zoo is not None and zoo.normalizes:
            raise CheckpointError(
                f"{path} was trained on normalised observations, and there is no vecnormalize.pkl in {zoo.folder}.",
                hint="--normalizer FILE names it.",
            )
    return FoundPolicy(path, "sb3", environment, steps_of(archive), file, told)


def _trained_in(env_id: str, path: Path, project: Project | None) -> EnvSource:
    try:
        return find_environment(env_id, project)
    except NotFoundError as error:
        raise NotFoundError(
            f"{path} was trained in {env_id}, which is not installed here.",
            hint=f"{error.hint} --env ID plays it in another one that it fits.",
        ) from None


def _told_by_mirror(path: Path, project: Project | None) -> str:
    """Return the environment of the foreign run whose policy this is, as far as that run tells it."""
    from workbench.runs.directory import foreign_directories
    from workbench.runs.foreign.origin import policies_of

    for run in foreign_directories((project or open_project()).runs):
        saved = policies_of(run)
        if path in (saved.best, saved.latest, *(one for _, one in saved.by_steps)):
            spec = run.record().get("spec")
            return str(spec.get("env_id") or "") if isinstance(spec, dict) else ""
    return ""


def _warn(text: str) -> None:
    sys.stderr.write(f"workbench: {text}\n")
