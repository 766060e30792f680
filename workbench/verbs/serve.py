"""`workbench serve`: the app in a browser of this machine."""

from __future__ import annotations

import argparse
import webbrowser

from workbench.errors import RequestError
from workbench.project import Project


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the flags of `serve`."""
    parser.add_argument("--port", type=int, metavar="N", help="the port (default: 8000, or a free one)")
    parser.add_argument("--read-only", action="store_true", help="the app changes no run, file or process")
    parser.add_argument("--open", action="store_true", help="open the browser too")
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = (
        "It listens on 127.0.0.1 only, and the printed address carries a key. From another machine:\n"
        "`ssh -L 8000:127.0.0.1:8000 HOST`, then open the address there. Ctrl-C ends it; runs go on."
    )


def run(args: argparse.Namespace, project: Project) -> int:
    """Serve until Ctrl-C and return 0.

    Raises:
        RequestError: The port is no port.
    """
    if args.port is not None and not 1 <= args.port <= 65535:
        raise RequestError(f"--port takes a number from 1 to 65535, not {args.port}.")
    from workbench.ui.serving import AppServer, find_port

    server = AppServer(project, ["--read-only"] if args.read_only else [], port=find_port(args.port))
    print(f"{server.address}\nCtrl-C ends it; runs go on.", flush=True)  # noqa: T201
    if args.open:
        webbrowser.open(server.address)
    server.serve()
    return 0
