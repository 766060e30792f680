"""The rewards, endings and goals of an environment, declared by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from workbench.errors import RequestError, SimulationError, WorkbenchError
from workbench.simulation.episodes import Floats
from workbench.simulation.noise import Noise
from workbench.simulation.terms.naming import SpecNames
from workbench.simulation.terms.registry import Stateful, Term
from workbench.simulation.terms.scene import Bools, Scene
from workbench.simulation.terms.staged import Staged
from workbench.simulation.terms.touching import add_touches

if TYPE_CHECKING:
    from workbench.simulation.batch_env import BatchEnv

Bounds = tuple[Sequence[float], Sequence[float]]
"""The lowest and the highest value of each number of a goal."""


class TermSet:
    """Terms over all copies of an environment, read once a step.

    Made in `load` and kept as `self.terms`: the environment then binds it, lets it go on with each step, begins it
    anew where episodes begin, and has it in its snapshots.

    Args:
        spec: The `MjSpec` that `load` returns, all of its parts attached; sensors for contacts are added to it.
        rewards: The reward terms, by the names they are told under; a predicate counts its weight where it holds.
        endings: The ways an episode ends by itself: predicates.
        watched: What is told as info besides: predicates or rewards.
        goals: Vectors that are drawn for each episode, each number uniform between its bounds.

    Raises:
        NotFoundError: A body or geom that contacts are asked of is not in the model.
        RequestError: A reward is among the endings, or a goal's bounds make no box.
    """

    goals: dict[str, Floats]
    """The goals of the current episodes (n, numbers), live; once the environment is made."""

    def __init__(
        self,
        spec: Any,
        *,
        rewards: Mapping[str, Term],
        endings: Mapping[str, Term] | None = None,
        watched: Mapping[str, Term] | None = None,
        goals: Mapping[str, Bounds] | None = None,
    ) -> None:
        if not isinstance(spec, mujoco.MjSpec):
            raise RequestError(
                f"terms are declared over an MjSpec, which sensors can still be added to, not over {spec!r}.",
                hint="`load_spec(find_asset(NAME))` gives one; `load` returns it.",
            )
        self._rewards, self._endings, self._watched = dict(rewards), dict(endings or {}), dict(watched or {})
        for name, term in self._all():
            if not isinstance(term, Term):
                raise RequestError(f"the term {name} must be what make_term or make_predicate gives, got {term!r}.")
        for name, term in self._endings.items():
            if term.kind != "bool":
                raise RequestError(
                    f"the ending {name} must be a predicate, and {term.entry.name} is a reward.",
                    hint="A number that is not zero would end every episode.",
                )
        self._bounds = {name: _box(name, bounds) for name, bounds in (goals or {}).items()}
        names = SpecNames(spec)
        add_touches(spec, [touch for name, term in self._all() for touch in _told(name, term.touches, names)])
        self.goals = {}
        self._scene: Scene | None = None
        self._readers: dict[str, dict[str, Stateful]] = {}
        self._values: dict[str, dict[str, NDArray[Any]]] = {}

    # ---- what an author reads

    def rewards(self) -> dict[str, Floats]:
        """Return the value of each reward (n,) in the last step."""
        return self._read("rewards")

    def endings(self) -> dict[str, Bools]:
        """Return for each ending which copies (n,) met it in the last step."""
        return self._read("endings")

    def watched(self) -> dict[str, NDArray[Any]]:
        """Return what is watched (n,), and as `<name>_phase` the stage of each staged reward."""
        return {**self._read("watched"), **{f"{name}_phase": phase for name, phase in self.phases().items()}}

    def phases(self) -> dict[str, NDArray[np.int64]]:
        """Return the stage (n,) that each copy is in, for every staged reward."""
        found = {}
        for name, reader in self._each():
            bare = getattr(reader, "of", reader)
            if isinstance(bare, Staged):
                found[name] = bare.phase.copy()
        return found

    # ---- what the environment does

    def bind(self, env: BatchEnv[Any]) -> None:
        """Find every name in the compiled model and take hold of the arrays.

        Raises:
            NotFoundError: A name is not in the model; the message has the nearest.
            RequestError: A term cannot be of this model.
        """
        n = env.n_envs
        self.goals = {name: np.zeros((n, len(low))) for name, (low, _) in self._bounds.items()}
        scene = self._scene = Scene(env, self.goals)
        self._readers = {
            "rewards": {name: _told(name, term.bind, scene, as_reward=True) for name, term in self._rewards.items()},
            "endings": {name: _told(name, term.bind, scene) for name, term in self._endings.items()},
            "watched": {name: _told(name, term.bind, scene) for name, term in self._watched.items()},
        }
        self._everywhere = np.ones(n, dtype=bool)
        self._values = {
            group: {name: np.zeros(n, dtype=bool if group == "endings" else np.float64) for name in readers}
            for group, readers in self._readers.items()
        }

    def begin(self, noise: Noise) -> None:
        """Draw the goals of the copies `noise.ids`, whose episodes begin, and forget the last ones."""
        scene = self._bound()
        for name, (low, high) in self._bounds.items():
            self.goals[name][noise.ids] = noise.uniform(low, high, len(low))
        scene.is_first[noise.ids] = True
        for _, reader in self._each():
            reader.begin(noise.ids)

    def advance(self, actions: NDArray[Any]) -> None:
        """Read every term after a step that was taken with `actions` (n, a)."""
        scene = self._bound()
        if scene.actions.shape != actions.shape:
            scene.previous_actions = np.zeros(actions.shape)
            scene.actions = np.zeros(actions.shape)
        scene.previous_actions[:] = scene.actions
        scene.actions[:] = actions
        self._values = {
            group: {name: np.array(reader.read(self._everywhere)) for name, reader in readers.items()}
            for group, readers in self._readers.items()
        }
        scene.is_first[:] = False

    def state(self) -> dict[str, NDArray[Any]]:
        """Return all that is remembered between steps, live."""
        scene = self._bound()
        found: dict[str, NDArray[Any]] = {"actions": scene.actions, "is_first": scene.is_first}
        found |= {f"goal {name}": goal for name, goal in self.goals.items()}
        for group, readers in self._readers.items():
            for name, reader in readers.items():
                found |= {f"{group} {name} {part}": array for part, array in reader.state().items()}
        return found

    def put_back(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Remember what `state` returned.

        Raises:
            ValueError: It is not of such terms.
        """
        scene = self._bound()
        scene.actions = np.array(state["actions"], dtype=np.float64)
        scene.previous_actions = np.zeros(scene.actions.shape)
        own = self.state()
        if own.keys() != state.keys():
            raise ValueError(f"terms {', '.join(sorted(own.keys() ^ state.keys()))}")
        for name, array in own.items():
            if array.shape != np.shape(state[name]):
                raise ValueError(f"{np.shape(state[name])} numbers of {name} where there are {array.shape}")
            array[...] = state[name]

    def _read(self, group: str) -> dict[str, NDArray[Any]]:
        self._bound()
        return dict(self._values[group])

    def _bound(self) -> Scene:
        if self._scene is None:
            raise SimulationError(
                "the terms are not bound to their environment.",
                hint="Make the TermSet in `load` and keep it as `self.terms`.",
            )
        return self._scene

    def _all(self) -> Iterator[tuple[str, Term]]:
        for group in (self._rewards, self._endings, self._watched):
            yield from group.items()

    def _each(self) -> Iterator[tuple[str, Stateful]]:
        for readers in self._readers.values():
            yield from readers.items()


def _told(name: str, call: Any, *arguments: Any, **keywords: Any) -> Any:
    """Call what may fail over the model, and say in which of the terms it did."""
    try:
        return call(*arguments, **keywords)
    except WorkbenchError as error:
        raise type(error)(f"the term {name} cannot be built: {error.message}", hint=error.hint) from error.__cause__


def _box(name: str, bounds: Any) -> tuple[Floats, Floats]:
    try:
        low, high = (np.array(bound, dtype=np.float64).reshape(-1) for bound in bounds)
        fits = len(low) == len(high) > 0 and np.isfinite([low, high]).all() and (low <= high).all()
    except (TypeError, ValueError):
        fits = False
    if not fits:
        raise RequestError(
            f"the goal {name} must be the lowest and the highest value of each of its numbers, got {bounds!r}.",
            hint="For example ([0.2, -0.3, 0.0], [0.6, 0.3, 0.5]).",
        )
    return low, high
