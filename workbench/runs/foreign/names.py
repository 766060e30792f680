"""What other tools call their metrics, and what they are here; one table, and what is not in it keeps its own name.

Only what is the same quantity by the same formula is put under one name, so that curves of different tools can be laid
over each other. CleanRL's `losses/value_loss` (half of Stable-Baselines3's), `losses/entropy` (the other sign), and
the losses of its critics (summed otherwise for TD3) therefore stay what they are.
"""

from __future__ import annotations

import math

from workbench.runs.foreign.rows import EPISODE_LENGTH, EPISODE_RETURN

OURS: dict[str, str] = {
    # CleanRL's single files, `cleanrl/*.py`.
    "charts/episodic_return": EPISODE_RETURN,
    "charts/episodic_length": EPISODE_LENGTH,
    "charts/SPS": "time/fps",
    "charts/learning_rate": "train/learning_rate",
    "losses/policy_loss": "train/policy_gradient_loss",
    "losses/approx_kl": "train/approx_kl",
    "losses/clipfrac": "train/clip_fraction",
    "losses/explained_variance": "train/explained_variance",
    "losses/actor_loss": "train/actor_loss",
    "losses/alpha": "train/ent_coef",
    # Monitor files of Stable-Baselines3.
    "r": EPISODE_RETURN,
    "l": EPISODE_LENGTH,
}
"""Our name by theirs."""

SCORE, SCORE_LENGTH = "eval/mean_reward", "eval/mean_ep_length"
"""What Stable-Baselines3's `EvalCallback` writes; here an evaluation and no metric."""

TOTAL_STEPS = ("time/total_timesteps", "total_timesteps", "global_step", "timesteps", "step")
"""Columns that tell the step, the first that there is."""


def our_name(name: str) -> str:
    """Return what a metric of another tool is called here."""
    return OURS.get(name, name)


def number(text: str) -> float | None:
    """Return the number in a cell; NaN where there is one that is not finite, None where there is none."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else math.nan
