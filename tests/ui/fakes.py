"""A project in files, runs in files, and stand-ins for processes: what the app's tests run against."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from workbench import durable
from workbench.catalog import Entry
from workbench.catalog.descriptions import description_path
from workbench.project import Project
from workbench.remote.frames import Frame
from workbench.remote.lines import encode_event, parse_event
from workbench.runs import EventWriter, Launch, ProcessIdentity, RunDirectory, RunState, StoredState
from workbench.runs.rehearsal import Rehearsal
from workbench.specs import RunSpec
from workbench.ui.app import WorkbenchApp
from workbench.ui.header import MachineLoad
from workbench.ui.jobs import Job, JobKind
from workbench.ui.playing import Ears
from workbench.ui.state import Remembered
from workbench.ui.usage import Usage

NOW = datetime(2026, 11, 28, 10, 42, tzinfo=UTC).timestamp()
"""The moment at which the app's tests happen."""

USAGE = Usage(0.91, 1.88, 700_000_000, 25_000_000, 212_000_000_000)
"""What a run takes of the machine in tests."""

LOAD = MachineLoad("lab-arm", 0.91, 5.2e9, 16e9)

ANT = '''"""A walking ant."""

from workbench.simulation import BatchEnv


class AntEnv(BatchEnv):
    """A four-legged robot walks forward.

    ## Rewards
    - *forward*: velocity along x.

    ## Episode End
    - *unhealthy*: the torso leaves 0.2 to 1.0 m.
    """
'''

CART_POLE = '''"""A pole on a cart."""

from workbench.simulation import BatchEnv


class CartPoleEnv(BatchEnv):
    """A cart keeps a pole upright."""
'''

BROKEN = '''"""A cup is poured."""

from workbench.simulation import BatchEnv


class PourCupEnv(BatchEnv):
    def observe(self)
        return None
'''

RECIPE = {
    "description": "Upright within a minute on two cores.",
    "n_envs": 32,
    "total_steps": 1_000_000,
    "stop_criteria": {"evaluation_return_mean": 1000, "consecutive": 2},
    "ppo": {"n_steps": 64, "batch_size": 256, "learning_rate": 0.001},
    "sac": {"learning_rate": 0.0005, "learning_starts": 1000},
}


def write_environments(project: Project, *, broken: bool = False) -> None:
    """Write two environments, a variant and a recipe into a project; with `broken` a module that cannot be read."""
    durable.write_text(project.envs / "ant_env.py", ANT)
    durable.write_text(project.envs / "cart_pole_env.py", CART_POLE)
    variant = {"description": "The ant without contacts in the observation.", "env_cfg": {}}
    durable.write_json(project.envs / "ant_env_no_contact.json", variant)
    durable.write_json(project.recipes / "cart_pole_env.train.json", RECIPE)
    if broken:
        durable.write_text(project.envs / "pour_cup_env.py", BROKEN)


def describe(entry: Entry, **changes: Any) -> None:
    """Put an entry's description into the cache, as the description process would."""
    description = {
        "env_id": entry.env_id,
        "name": entry.name,
        "kind": "batch",
        "docstring": "A four-legged robot walks forward.\n\n## Rewards\n- *forward*: velocity along x.",
        "observation": {
            "kind": "Box", "shape": [4], "dtype": "float64", "low": [None] * 4, "high": [None] * 4,
            "names": ["angular_vel", "linear_vel", "position", "vertical_ang"],
        },
        "action": {
            "kind": "Box", "shape": [1], "dtype": "float32", "low": [-3.0], "high": [3.0], "names": ["cart_force"],
        },
        "control_hz": 25.0,
        "simulation_hz": 50.0,
        "episode_steps": 1000,
        "reward_terms": ["upright"],
        "terminated": ["pole_angle"],
        "truncated": ["time_limit"],
        "config": [{"name": "frame_skip", "type": "int", "default": 2, "doc": "Steps of simulation."}],
        "model": {"nq": 2, "nv": 2, "nu": 1, "nbody": 3},
        "faults": [],
        "versions": {},
        **changes,
    }  # fmt: skip
    durable.write_json(description_path(entry), description)


class FakeDescriber:
    """Describes nothing unless told to; remembers what it was asked for."""

    def __init__(self, answer: Callable[[Entry], None] | None = None) -> None:
        self.asked: list[str] = []
        self._answer = answer

    async def describe(self, entries: Sequence[Entry]) -> None:
        self.asked += [entry.name for entry in entries]
        for entry in entries if self._answer is not None else ():
            assert self._answer is not None
            self._answer(entry)

    async def list_gymnasium(self) -> None:
        self.asked.append("gymnasium")


class FakeLauncher:
    """Starts nothing; a test ends jobs with `finish`."""

    def __init__(self) -> None:
        self.jobs: list[Job] = []
        self.closed = False
        self.on_change: Callable[[Job], None] = lambda job: None

    def start(self, words: Sequence[str], *, kind: JobKind, title: str, detail: dict[str, str] | None = None) -> Job:
        job = Job(len(self.jobs) + 1, kind, title, tuple(words), detail=dict(detail or {}))
        self.jobs.append(job)
        return job

    def stop(self, job: Job) -> None:
        if job.state == "running":
            job.state = "stopped"

    def close(self) -> None:
        self.closed = True

    def finish(self, job: Job, *, exit_code: int = 0, tail: Sequence[str] = ()) -> None:
        """End a job, as its process would."""
        job.exit_code = exit_code
        job.tail = tuple(tail)
        job.state = "done" if exit_code == 0 else "failed"
        self.on_change(job)

    @property
    def commands(self) -> list[str]:
        """What was started, as a person would type it."""
        return [job.command_line for job in self.jobs]


class FakePlayer:
    """Plays nothing; keeps its orders, and tells what a test lets it tell.

    Args:
        words: What it was started with.
        ears: Who hears it.
        window: Whether it was to open a window.
    """

    def __init__(self, words: Sequence[str], ears: Ears, *, window: bool) -> None:
        self.words = tuple(words)
        self.window = window
        self.orders: list[dict[str, Any]] = []
        self.is_ended = False
        self._ears = ears
        self._state: dict[str, Any] = {
            "episode": 1, "seed": 0, "step": 0, "time_s": 0.0, "return": 0.0, "reward": 0.0, "terms": {}, "first": 0,
            "last": 0, "playing": True, "speed": 1.0, "agent": "random", "stochastic": False, "checkpoint": None,
            "age_s": None, "follow": False, "window": window, "preview": None, "theme": "dark", "ended": None,
        }  # fmt: skip

    def send(self, line: bytes) -> None:
        self.orders.append(json.loads(line))

    def end(self) -> None:
        self.is_ended = True

    def ready(self, *, run: RunDirectory | None = None, environment: str = "ant", **changes: Any) -> None:
        """Tell that it is there, and its first state."""
        self.tell(
            "ready",
            **{
                "version": 1, "title": environment, "environment": environment,
                "run": None if run is None else str(run.path), "period_s": 0.05, "limit": 1000, "seekable": True,
            },
        )  # fmt: skip
        self.state(**changes)

    def state(self, **changes: Any) -> None:
        """Tell its state, with some values changed for good; `return_` is told as `return`."""
        self._state |= {name.rstrip("_"): value for name, value in changes.items()}
        self.tell("state", **self._state)

    def tell(self, event: str, **values: Any) -> None:
        """Tell an event, as its process would."""
        parsed = parse_event(encode_event(event, **values))
        assert parsed is not None
        self._ears.heard(*parsed)

    def error(self, about: str, message: str, hint: str = "", *, fatal: bool = False) -> None:
        """Tell an error."""
        self.tell("error", about=about, message=message, hint=hint, fatal=fatal)

    def frame(self, frame: Frame) -> None:
        """Send a frame."""
        self._ears.framed(frame)

    def finish(self, code: int = 0, tail: Sequence[str] = ()) -> None:
        """End, as its process would."""
        self._ears.ended(code, tuple(tail))


class FakePlayers:
    """Starts fake players, and keeps them."""

    def __init__(self) -> None:
        self.all: list[FakePlayer] = []

    def __call__(self, words: Sequence[str], ears: Ears, *, window: bool) -> FakePlayer:
        self.all.append(FakePlayer(words, ears, window=window))
        return self.all[-1]

    @property
    def last(self) -> FakePlayer:
        """The newest one."""
        return self.all[-1]


class FakeQueue:
    """Takes launches as `workbench.runs.enqueue` does, makes their folders, and starts no supervisor."""

    def __init__(self, project: Project) -> None:
        self.launches: list[Launch] = []
        self._project = project

    def __call__(self, runs_root: Path, launches: Sequence[Launch]) -> list[RunDirectory]:
        made = []
        for launch in launches:
            self.launches.append(launch)
            made.append(
                fake_run(
                    self._project,
                    launch.short_name,
                    f"{len(self.launches):04x}",
                    state="queued",
                    algorithm=launch.spec.algorithm,
                    spec=launch.spec.model_dump(mode="json"),
                )
            )
        return made


def fake_run(
    project: Project,
    name: str = "ant",
    short_id: str = "7f3a",
    *,
    state: str = "running",
    algorithm: str = "ppo",
    spec: dict[str, Any] | None = None,
    seed: int = 1,
    started: float = NOW - 934,
    reason: str = "",
    returns: Sequence[float] = (),
    total_steps: int = 15_000_000,
    events: Iterable[dict[str, Any]] = (),
    log: str = "",
    alive: bool = True,
    group: str | None = None,
) -> RunDirectory:
    """Write a run's folder: run.json, state.json, and events with one return every tenth of the way.

    Args:
        project: Where.
        name: Short name of its environment.
        short_id: Last four hex digits of its name.
        state: What state.json says; with `alive` false a running one shows as crashed.
        algorithm: Lower case.
        spec: The whole spec; else one with `seed` and `total_steps`.
        seed: Of the run.
        started: When it was made, unix seconds.
        reason: Why it is in this state.
        returns: Mean training returns, one a metrics event.
        total_steps: The budget.
        events: More events, as fields with `kind`.
        log: What output.log holds.
        alive: Whether the process in state.json is one that lives: this one.
        group: Id shared by runs that differ in seed.
    """
    stamp = datetime.fromtimestamp(started, UTC).strftime("%Y%m%d-%H%M%S")
    run = RunDirectory(project.runs / algorithm.upper() / f"{name}_{stamp}_{short_id}")
    run.path.mkdir(parents=True)
    env_id = f"workbench/{''.join(word.capitalize() for word in name.split('_'))}-v0"
    spec = spec or {
        "env_id": env_id, "algorithm": algorithm, "seed": seed, "total_steps": total_steps, "tags": [], "group": group,
    }  # fmt: skip
    record = {
        "format": 1,
        "spec": spec,
        "environment": {"env_id": env_id, "name": name, "module": None, "class_name": None, "env_cfg": {}},
        "command": ["workbench", "train", name, "--algorithm", algorithm],
        "seed": spec.get("seed"),
        "group": group,
        "created": started,
        "host": ProcessIdentity.current().host,
    }
    durable.write_json(run.spec_path, record)
    me = ProcessIdentity.current()
    carried = state not in ("queued",)
    stored = StoredState(
        RunState(state),
        reason,
        (me.pid if alive else 2**22 + 1) if carried else None,
        me.started if carried else None,
        me.host,
        heartbeat=NOW,
        updated=NOW,
    )
    durable.write_json(run.state_path, stored.to_json())
    if returns or events:
        with EventWriter(run.events_path) as stream:
            for place, value in enumerate(returns, start=1):
                share = place / max(10, len(returns))
                stream.append(
                    "metrics",
                    steps=int(share * total_steps),
                    time=started + share * (NOW - started),
                    wall_s=share * (NOW - started),
                    episodes=place * 10,
                    iteration=place,
                    values={"rollout/ep_rew_mean": value, "time/fps": 9800.0},
                )
            for event in events:
                fields = dict(event)
                stream.append(fields.pop("kind"), **fields)
    if log:
        durable.write_text(run.log_path, log)
    return run


MEASURED = Rehearsal(
    steps_per_s=9800.0,
    collection_share=0.7,
    seconds=1530.0,
    iterations=458,
    memory_bytes=700_000_000,
    replay_bytes=0,
    checkpoint_bytes=700_000,
    checkpoints=60,
    disk_bytes=42_000_000,
)
"""What a dry run finds in tests."""


class FakeRehearsal:
    """Measures nothing; remembers what it was asked for."""

    def __init__(self, answer: Rehearsal | str = MEASURED) -> None:
        self.answer = answer
        self.asked: list[RunSpec] = []

    async def __call__(self, spec: RunSpec, environment: Mapping[str, Any], start: tuple[int, int]) -> Rehearsal | str:
        self.asked.append(spec)
        return self.answer


class FakePainter:
    """Paints one colour, or nothing; remembers what it was asked for."""

    def __init__(self, colour: tuple[int, int, int] | None = None) -> None:
        self.colour = colour
        self.asked: list[str] = []

    async def __call__(self, project: Project, entry: Entry, path: Path, *, dark: bool) -> None:
        from PIL import Image

        self.asked.append(entry.name)
        if self.colour is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            Image.new("RGB", (40, 30), self.colour).save(path)


def make_app(project: Project, **options: Any) -> WorkbenchApp:
    """Return an app on a project that starts no process, knows one moment only, and remembers nothing."""
    launcher = options.pop("launcher", None) or FakeLauncher()
    players = options.pop("players", None) or FakePlayers()
    app = WorkbenchApp(
        project,
        launcher=launcher,
        clock=options.pop("clock", lambda: NOW),
        load=lambda: LOAD,
        enqueue=options.pop("enqueue", None) or FakeQueue(project),
        describer=options.pop("describer", None) or FakeDescriber(),
        rehearse=options.pop("rehearse", None) or FakeRehearsal(),
        painter=options.pop("painter", None) or FakePainter(),
        remembered=options.pop("remembered", None) or Remembered(project.root / ".remembered.json"),
        settings_file=options.pop("settings_file", None) or project.root / ".settings.toml",
        **options,
    )
    if isinstance(launcher, FakeLauncher):
        launcher.on_change = app.job_changed
    app.start_player = players
    app.make_meter = lambda: lambda pid, folder: USAGE
    return app
