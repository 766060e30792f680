"""The run folders below a runs root, listed again only where a run came, went or was renamed."""

from __future__ import annotations

import time
from pathlib import Path

from workbench.runs.directory import FOREIGN_NAME, RunDirectory, folders_in, is_run_name, runs_in

_QUIET_NS = 2 * 10**9
"""A folder that was just changed may change again within the same tick of the file system's clock."""


class RunFolders:
    """All runs of a runs root, those of other tools too.

    Args:
        runs_root: The folder; it need not exist.
    """

    def __init__(self, runs_root: Path) -> None:
        self._roots = (runs_root, runs_root / FOREIGN_NAME)
        self._known: dict[Path, tuple[int, list[RunDirectory]]] = {}
        """What lay in each folder, and when that had last changed."""

    def runs(self) -> list[RunDirectory]:
        """Return every folder that is named like a run or holds one, in no order; the same objects while it stays."""
        folders = [folder for root in self._roots for folder in folders_in(root)]
        for gone in self._known.keys() - set(folders):
            del self._known[gone]
        return [run for folder in folders for run in self._in(folder)]

    def _in(self, folder: Path) -> list[RunDirectory]:
        try:
            changed = folder.stat().st_mtime_ns
        except OSError:
            return []
        known = self._known.get(folder)
        if known is not None and known[0] == changed:
            return known[1]
        paths = folders_in(folder)
        runs = list(runs_in(paths))
        # What becomes a run by what is written into it does not show here; such names are looked at every time.
        if abs(time.time_ns() - changed) > _QUIET_NS and all(is_run_name(path.name) for path in paths):
            self._known[folder] = (changed, runs)
        return runs
