"""Which numbers episodes have: an episode's number alone fixes how it begins, so it must be clear what each was for.

A run claims its scores on `eval_seed` and what follows, and chooses by them. What a score is to be worth more than a
claim is made on others. Loads nothing.
"""

from __future__ import annotations

SEED = 100_000
"""The first number where a person names none: no run counts so far."""
PUBLISHED = 77_000
"""The first number of the episodes that returns are published on: no run claims or settles its best on them."""


def after_claims(eval_seed: int, eval_episodes: int) -> int:
    """Return the first number behind the episodes on which a run claims its scores."""
    return eval_seed + eval_episodes
