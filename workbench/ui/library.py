"""What the app knows of environments: the catalogue, and the descriptions as they arrive.

Discovery reads files in a thread; descriptions come from the catalogue's cache, and what is missing there a process of
its own writes, while the app goes on. Nothing of it blocks a key press, and a broken file is a row, not an error.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

from workbench.catalog import Catalog, Entry, discover, read_description, request_descriptions_async

if TYPE_CHECKING:
    from workbench.ui.app import WorkbenchApp

Description = dict[str, Any]
Describe = Callable[[Sequence[Entry]], Awaitable[object]]


class Library:
    """The catalogue of the project as it was last read.

    Args:
        app: Whose workers read, and whose screens are told.
        describe: Fills the cache of descriptions for the entries given.
    """

    def __init__(self, app: WorkbenchApp, describe: Describe = request_descriptions_async) -> None:
        self.catalog: Catalog | None = None
        self.describing = False
        self._app = app
        self._describe = describe
        self._descriptions: dict[str, Description] = {}

    @property
    def entries(self) -> Sequence[Entry]:
        """Every environment and variant that is listed, broken ones included; empty until they have been read."""
        return () if self.catalog is None else self.catalog.entries

    def entry(self, name: str) -> Entry | None:
        """Return the entry of that short name."""
        return next((item for item in self.entries if item.name == name), None)

    def description(self, name: str) -> Description | None:
        """Return what is known of an entry beyond its files, or nothing yet."""
        return self._descriptions.get(name)

    def read(self) -> None:
        """Begin to read the folders again."""
        self._app.run_worker(
            self._read(), group="library", exclusive=True, exit_on_error=False, description="reading environments"
        )

    def close(self) -> None:
        """Stop reading; a description process that was started ends by itself."""
        self._app.workers.cancel_group(self._app, "library")

    async def _read(self) -> None:
        self.catalog = await asyncio.to_thread(discover, self._app.project)
        self._tell()
        await self._collect()
        missing = [item for item in self.entries if item.name not in self._descriptions and not item.broken]
        if not missing:
            return
        self.describing = True
        self._tell()
        try:
            await self._describe(missing)
        finally:
            self.describing = False
        await self._collect()

    async def _collect(self) -> None:
        found = await asyncio.to_thread(_cached, list(self.entries))
        self._descriptions = found
        self._tell()

    def _tell(self) -> None:
        self._app.library_changed.publish(self)


def _cached(entries: Sequence[Entry]) -> dict[str, Description]:
    """Return the descriptions that the cache holds for these entries."""
    found = {item.name: read_description(item) for item in entries}
    return {name: dict(value) for name, value in found.items() if value is not None}
