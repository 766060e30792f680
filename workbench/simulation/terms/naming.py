"""Names that are not there, and the names of a model that is not compiled yet."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from workbench.errors import NotFoundError
from workbench.suggest import nearest

MOST_NAMES = 12
"""Names that an error lists where none is near."""


def missing(what: str, name: str, known: Iterable[str]) -> NotFoundError:
    """Return the error about a name that is not in the model, with the nearest that are."""
    names = list(dict.fromkeys(known))
    near = nearest(name, names)
    if near:
        return NotFoundError(f"there is no {what} {name} in the model.", hint=f"Nearest: {', '.join(near)}.")
    more = ", …" if len(names) > MOST_NAMES else ""
    there = f"There are {', '.join(names[:MOST_NAMES])}{more}." if names else "There is none with a name."
    return NotFoundError(f"there is no {what} {name} in the model.", hint=there)


class SpecNames:
    """The bodies and geoms of an `MjSpec`.

    Args:
        spec: The model, all of its parts attached.
    """

    def __init__(self, spec: Any) -> None:
        self._bodies = [body.name for body in spec.bodies if body.name]
        self._geoms = [geom.name for geom in spec.geoms if geom.name]

    def body(self, name: str) -> str:
        """Return the name of a body that exists."""
        if name not in self._bodies:
            raise missing("body", name, self._bodies)
        return name

    def geom(self, name: str) -> str:
        """Return the name of a geom that exists."""
        if name not in self._geoms:
            raise missing("geom", name, self._geoms)
        return name

    def bodies_with(self, prefix: str) -> list[str]:
        """Return the bodies whose names begin with a prefix; at least one."""
        found = [name for name in self._bodies if name.startswith(prefix)]
        if not found:
            raise missing("body that begins with", prefix, self._bodies)
        return found
