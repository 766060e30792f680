"""The `film` events of a run: which checkpoints were filmed, and what kept others, or all of them, from it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

KIND = "film"


def failure_in_words(event: Mapping[str, Any]) -> str:
    """Return what could not be filmed and why, as a film event says it; empty where nothing went wrong."""
    failure = event.get("failure")
    if not isinstance(failure, str) or not failure:
        return ""
    checkpoint = event.get("checkpoint")
    return f"{checkpoint or 'no checkpoint'} {'could not be' if checkpoint else 'is'} filmed: {failure}"


def keeps_all(event: Mapping[str, Any]) -> bool:
    """Return whether what a film event says went wrong concerns every checkpoint from then on."""
    return bool(event.get("failure")) and not event.get("checkpoint")
