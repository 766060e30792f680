"""Reward terms and predicates by name, over all copies of an environment at once.

An environment declares them in `load`, where the sensors they need can still be added to the model, and answers with
what they gave:

    class PushEnv(BatchEnv[PushEnvConfig]):
        '''Push the puck to a goal that is another one in every episode.'''

        successes = ("arrived",)

        def load(self):
            spec = load_spec(find_asset("push.xml"))
            self.terms = TermSet(
                spec,
                goals={"goal": ([-0.3, -0.3, 0.02], [0.3, 0.3, 0.02])},
                rewards={
                    "reach": make_term("distance_neg", body_a="hand", body_b="puck", weight=0.5),
                    "push": make_term("end_effector_position_error", frame="puck", target="goal"),
                    "smooth": make_term("action_rate", weight=0.01),
                },
                endings={
                    "arrived": make_predicate("end_effector_at", frame="puck", target="goal", tol=0.02),
                    "fell": make_predicate("body_below_z", body="puck", z=-0.1),
                },
            )
            return spec

        def initial_state(self, noise):
            return self.model.qpos0 + noise.uniform(-0.1, 0.1, self.model.nq), noise.standard_normal(self.model.nv)

        def observe(self):
            return np.concatenate([self.qpos, self.qvel, self.terms.goals["goal"]], axis=1)

        def reward_terms(self, actions):
            return self.terms.rewards()

        def terminations(self):
            return self.terms.endings()

        def info(self):
            return self.terms.watched()

All terms are read once, after each step. What they tell of joints and floating bases is of the state after the step;
positions and orientations of bodies and sites, contacts and forces are, like everything `mj_step` derives, of the
state before its last simulation step. A name that the model does not have is an error when the environment is made,
with the nearest that it has.

`docs/terms.md` lists every name with its keywords.
"""

from __future__ import annotations

from workbench.simulation.terms import base as _base
from workbench.simulation.terms import bodies, contact, effector, effort, joints, particles
from workbench.simulation.terms.keywords import Body, Joint, Names, Number, Prefix, Tolerance
from workbench.simulation.terms.registry import (
    Reader,
    Stateful,
    Term,
    make_predicate,
    make_term,
    names,
    predicate_kind,
    register_predicate,
)
from workbench.simulation.terms.scene import Scene
from workbench.simulation.terms.term_set import TermSet

# Importing a module puts its terms into the registry.
_MODULES = (bodies, joints, contact, _base, particles, effort, effector)

__all__ = [
    "Body",
    "Joint",
    "Names",
    "Number",
    "Prefix",
    "Reader",
    "Scene",
    "Stateful",
    "Term",
    "TermSet",
    "Tolerance",
    "make_predicate",
    "make_term",
    "names",
    "predicate_kind",
    "register_predicate",
]
