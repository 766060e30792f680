"""Seeds as people write them: `1,2,3`, `1 2 3`, `1-5`."""

from __future__ import annotations

import re
import secrets

from workbench.errors import Problem

LARGEST_SEED = 2**32 - 1
MOST_SEEDS = 100

_LARGEST_DRAWN = 2**31


def read_seeds(text: str) -> tuple[list[int], Problem | None]:
    """Return the seeds in `text`, each once, and what is wrong with it."""
    seeds: list[int] = []
    for word in re.split(r"\s*,\s*|\s+", text.strip()):
        match = re.fullmatch(r"(\d{1,10})(?:-(\d{1,10}))?", word)
        if match is None:
            got = word or "nothing between commas"
            return [], Problem("seeds", f"must be whole numbers, as in 1,2,3 or 1-5, got {got}")
        first, last = int(match[1]), int(match[2] or match[1])
        if last < first:
            return [], Problem("seeds", f"must count upwards, got {word}", nearest=f"{last}-{first}")
        if last > LARGEST_SEED:
            return [], Problem("seeds", f"must be at most {LARGEST_SEED}, got {word}")
        if last - first >= MOST_SEEDS:
            return [], Problem("seeds", f"must be at most {MOST_SEEDS} at once, got {word}")
        seeds += range(first, last + 1)
    seeds = list(dict.fromkeys(seeds))
    if len(seeds) > MOST_SEEDS:
        return [], Problem("seeds", f"must be at most {MOST_SEEDS} at once, got {len(seeds)}")
    return seeds, None


def draw_seed() -> int:
    """Return a seed nobody chose; it is recorded with the run."""
    return secrets.randbelow(_LARGEST_DRAWN)
