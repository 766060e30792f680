"""What the app knows of environments: the catalogue, and the descriptions as they arrive.

Discovery reads files in a thread; descriptions come from the catalogue's cache, and what is missing there a process of
its own writes, while the app goes on. Nothing of it blocks a key press, and a broken file is a row, not an error.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from workbench.catalog import Catalog, Description, Entry
    from workbench.errors import Problem
    from workbench.ui.app import WorkbenchApp

_LOOK_S = 0.5
"""How often to look for descriptions that have arrived while others are still being written."""


class Describer(Protocol):
    """Fills the caches that the terminal cannot fill itself; tests have one that does nothing."""

    async def describe(self, entries: Sequence[Entry]) -> object:
        """Describe these entries into the cache."""
        ...

    async def list_gymnasium(self) -> object:
        """Write the list of Gymnasium's IDs into the cache."""
        ...


class ProcessDescriber:
    """Asks the description process, at low priority."""

    async def describe(self, entries: Sequence[Entry]) -> object:
        """Describe these entries into the cache."""
        from workbench.catalog.descriptions import describe_in_background

        return await describe_in_background(entries)

    async def list_gymnasium(self) -> object:
        """Write the list of Gymnasium's IDs into the cache."""
        from workbench.catalog.descriptions import DESCRIBE
        from workbench.catalog.registry import registry_path

        process = await asyncio.create_subprocess_exec(
            *DESCRIBE,
            "--registry",
            str(registry_path()),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
        try:
            return await process.wait()
        except asyncio.CancelledError:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
            raise


class Library:
    """The catalogue of the project as it was last read.

    Args:
        app: Whose workers read, and whose screens are told.
        describer: What fills the caches of descriptions.
        read: What reads the catalogue.
    """

    def __init__(self, app: WorkbenchApp, describer: Describer, *, read: Callable[[], Catalog] | None = None) -> None:
        self.catalog: Catalog | None = None
        self.describing = False
        self._app = app
        self._describer = describer
        self._read_catalog = read or self._discover
        self._descriptions: dict[str, Description] = {}

    @property
    def entries(self) -> Sequence[Entry]:
        """Every environment and variant of the catalogues, broken ones included; empty until they have been read."""
        return () if self.catalog is None else self.catalog.entries

    def entry(self, name: str) -> Entry | None:
        """Return the entry of that short name or Gymnasium ID, Gymnasium's other IDs included."""
        if self.catalog is None:
            return None
        listed = (*self.catalog.entries, *self.catalog.gymnasium)
        return next((item for item in listed if name in (item.name, item.env_id)), None)

    def description(self, name: str) -> Description | None:
        """Return what is known of an entry beyond its files, or nothing yet."""
        return self._descriptions.get(name)

    @property
    def faults(self) -> dict[str, Sequence[Problem]]:
        """What descriptions tell to be wrong, by the short name of the environment; as an import that fails."""
        from workbench.catalog import fault_problems

        told = ((item, self._descriptions.get(item.name)) for item in self.entries if not item.broken)
        return {item.name: fault_problems(item, found) for item, found in told if found is not None and found.faults}

    def read(self) -> None:
        """Begin to read the folders again."""
        self._app.run_worker(
            self._read(), group="library", exclusive=True, exit_on_error=False, description="reading environments"
        )

    def want(self, entry: Entry) -> None:
        """Have one of Gymnasium's other IDs described: there are many, so each only when it is looked at."""
        if entry.origin == "gymnasium" and entry.name not in self._descriptions:
            self._app.run_worker(
                self._describe([entry]),
                group="describe-one",
                exclusive=True,
                exit_on_error=False,
                description=f"describing {entry.env_id}",
            )

    def close(self) -> None:
        """Stop reading; a description process that is running is ended."""
        for group in ("library", "describe-one"):
            self._app.workers.cancel_group(self._app, group)

    async def _read(self) -> None:
        self.catalog = await asyncio.to_thread(self._read_catalog)
        self._tell()
        usable = [item for item in self.entries if not item.broken]
        await self._describe(usable)
        if not self.catalog.registry.known:
            await self._describer.list_gymnasium()
            self.catalog = await asyncio.to_thread(self._read_catalog)
            self._tell()

    async def _describe(self, entries: Sequence[Entry]) -> None:
        """Take what the cache holds, have the rest described, and tell of each that arrives."""
        missing = await self._collect(entries)
        if not missing:
            return
        self.describing = True
        self._tell()
        try:
            await self._while(self._describer.describe(missing), missing)
        finally:
            self.describing = False
        await self._collect(missing)
        self._tell()

    async def _while(self, description: Awaitable[object], missing: Sequence[Entry]) -> None:
        work = asyncio.ensure_future(description)
        try:
            while not (await asyncio.wait([work], timeout=_LOOK_S))[0]:
                missing = await self._collect(missing)
        finally:
            work.cancel()
        await work

    def _discover(self) -> Catalog:
        """Read the folders, in a thread: there the first import of the catalogue holds nobody up."""
        from workbench.catalog import discover

        return discover(self._app.project)

    async def _collect(self, entries: Sequence[Entry]) -> list[Entry]:
        """Read these entries' descriptions from the cache; return those that have none."""
        found = await asyncio.to_thread(_read_descriptions, entries)
        fresh = {name: value for name, value in found.items() if value is not None}
        if fresh:
            self._descriptions |= fresh
            self._tell()
        return [item for item in entries if item.name not in fresh]

    def _tell(self) -> None:
        self._app.library_changed.publish(self)


def _read_descriptions(entries: Sequence[Entry]) -> dict[str, Description | None]:
    from workbench.catalog import read_description

    return {item.name: read_description(item) for item in entries}
