"""What `workbench` without a verb does: open the app."""

from __future__ import annotations

import argparse
import os
import sys

from workbench.errors import RequestError
from workbench.project import Project


def run(options: argparse.Namespace, project: Project) -> int:
    """Open the app on a project and return its exit code.

    Raises:
        RequestError: There is no terminal to draw on.
    """
    # In a browser Textual's own driver takes the place of a terminal.
    is_served = "TEXTUAL_DRIVER" in os.environ
    if not is_served and not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise RequestError("the app needs a terminal.", hint="`workbench --help` lists the verbs that need none.")
    from workbench.ui.app import WorkbenchApp

    app = WorkbenchApp(project, read_only=options.read_only, plain=options.plain or os.environ.get("TERM") == "dumb")
    if not is_served and app.wants_to_know_the_terminal:
        from workbench.ui.graphics.terminal import ask

        app.offered = ask()
    app.run()
    return app.return_code or 0
