"""A reward in stages: each copy goes through them in order, forward only, with a bonus for each one done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from workbench.errors import RequestError
from workbench.simulation.episodes import Floats
from workbench.simulation.terms.keywords import Kind
from workbench.simulation.terms.naming import SpecNames
from workbench.simulation.terms.registry import Stateful, Term, Values, entry, make_predicate, predicate_kind
from workbench.simulation.terms.scene import Bools, Scene
from workbench.simulation.terms.touching import Touch

Stage = tuple[Term, Term | None, float]
"""The reward, the gate to the next stage, and the bonus for passing it."""

_KEYS = ("reward", "advance_when", "bonus")


def _stages(given: Any) -> tuple[Stage, ...]:
    if not isinstance(given, list | tuple) or not given:
        raise ValueError
    return tuple(_stage(index, stage, index == len(given) - 1) for index, stage in enumerate(given))


def _stage(index: int, given: Any, is_last: bool) -> Stage:
    at = f"staged_reward: stage {index}"
    if not isinstance(given, Mapping):
        raise RequestError(f"{at} must be a mapping of {', '.join(_KEYS)}, got {given!r}.")
    unknown = [str(key) for key in given if key not in _KEYS]
    if unknown:
        raise RequestError(f"{at} has no {', '.join(unknown)}; it has {', '.join(_KEYS)}.")
    if "reward" not in given:
        raise RequestError(f"{at} has no reward.")
    reward = _term(f"{at}: reward", given["reward"])
    gate = given.get("advance_when")
    if gate is None and not is_last:
        raise RequestError(f"{at} is not the last and needs advance_when, a predicate that opens the next stage.")
    opened = None if gate is None else _term(f"{at}: advance_when", gate)
    if opened is not None and opened.kind != "bool":
        raise RequestError(
            f"{at}: advance_when must be a predicate, and {opened.entry.name} is a reward: a number opens no gate."
        )
    bonus = given.get("bonus", 0.0)
    if isinstance(bonus, bool) or not isinstance(bonus, int | float) or not np.isfinite(bonus):
        raise RequestError(f"{at}: bonus must be a finite number, got {bonus!r}.")
    return reward, opened, float(bonus)


def _term(at: str, given: Any) -> Term:
    if isinstance(given, Term):
        return given
    if not isinstance(given, Mapping) or "predicate" not in given:
        raise RequestError(f'{at} must be a term or a mapping like {{"predicate": "body_above_z", …}}, got {given!r}.')
    keywords = {str(key): value for key, value in given.items() if key != "predicate"}
    predicate_kind(given["predicate"])
    try:
        return make_predicate(given["predicate"], **keywords)
    except RequestError as error:
        raise type(error)(f"{at}: {error.message}", hint=error.hint) from None


Stages = Annotated[
    Sequence[Mapping[str, Any]],
    Kind("a list, not empty, of stages {reward, advance_when, bonus}", _stages),
]


def _touches(names: SpecNames, values: Values) -> Sequence[Touch]:
    terms = [term for stage in values["stages"] for term in stage[:2] if term is not None]
    return [touch for term in terms for touch in term.touches(names)]


@entry("float", touches=_touches)
def staged_reward(scene: Scene, stages: Stages) -> Stateful:
    """The reward of the stage a copy is in; where `advance_when` holds, `bonus` once, and on to the next for good."""
    return Staged(scene, stages)  # type: ignore[arg-type]


class Staged(Stateful):
    """The stages of every copy.

    Args:
        scene: What the terms read.
        stages: In order.
    """

    def __init__(self, scene: Scene, stages: Sequence[Stage]) -> None:
        self.phase = np.zeros(scene.n_envs, dtype=np.int64)
        """The stage each copy is in (n,), live."""
        self._rewards = [reward.bind(scene, as_reward=True) for reward, _, _ in stages]
        self._gates = [None if gate is None else gate.bind(scene) for _, gate, _ in stages[:-1]]
        self._bonuses = [bonus for _, _, bonus in stages]

    def read(self, active: Bools) -> Floats:
        """Return the rewards (n,), and let those go on whose gate is open."""
        gained = np.zeros(len(self.phase))
        opened = np.zeros(len(self.phase), dtype=bool)
        before = self.phase.copy()
        for index, reward in enumerate(self._rewards):
            here = before == index
            np.copyto(gained, reward.read(active & here), where=here)
            gate = self._gates[index] if index < len(self._gates) else None
            if gate is not None:
                passing = here & active & gate.read(active & here)
                gained[passing] += self._bonuses[index]
                opened |= passing
        self.phase[opened] += 1
        return gained

    def begin(self, ids: NDArray[np.intp]) -> None:
        """Put copies back to the first stage, and all that is nested."""
        self.phase[ids] = 0
        for part in self._parts():
            part.begin(ids)

    def state(self) -> dict[str, NDArray[Any]]:
        """Return the phases and what the parts remember, live."""
        found = {"phase": self.phase}
        for index, part in enumerate(self._parts()):
            found |= {f"{index}.{name}": array for name, array in part.state().items()}
        return found

    def _parts(self) -> list[Stateful]:
        return [*self._rewards, *(gate for gate in self._gates if gate is not None)]
