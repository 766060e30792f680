"""`python -m workbench.viewer TARGET`: a player that another program drives; see `docs/viewer-protocol.md`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from workbench.errors import WorkbenchError
from workbench.project import open_project
from workbench.viewer import options


def main(arguments: Sequence[str] | None = None) -> int:
    """Play under orders, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m workbench.viewer", description=__doc__)
    parser.add_argument("--project", metavar="DIR", help="the project folder (default: here)")
    options.add_play_arguments(parser)
    args = parser.parse_args(arguments)
    from workbench.simulation.graphics_choice import require_mujoco_loads

    try:
        require_mujoco_loads()
        from workbench.viewer import remote

        return remote.run(args, open_project(args.project))
    except WorkbenchError as error:
        print(f"workbench: {error}", file=sys.stderr)  # noqa: T201
        return error.exit_code
    except Exception as error:
        if os.environ.get("WORKBENCH_TRACEBACK"):
            raise
        print(f"workbench: {type(error).__name__}: {error}", file=sys.stderr)  # noqa: T201
        return 1


if __name__ == "__main__":
    sys.exit(main())
