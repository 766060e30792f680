"""The app in a browser: one process of it for each page, on this machine only, behind a key.

A terminal in a browser can start processes, so nothing that merely reaches the port may use it: not another person on
a shared machine, not a page of another site. The first address carries a key; whoever brings it gets a cookie that
the browser sends to this address alone and never from another site.
"""

from __future__ import annotations

import contextlib
import re
import secrets
import shlex
import socket
import sys
from collections.abc import Awaitable, Callable, Sequence
from urllib.parse import quote

from aiohttp import web
from textual_serve.server import Server

from workbench.errors import WorkFailedError
from workbench.project import Project

HOST = "127.0.0.1"
"""The only address served; another machine comes through `ssh -L`."""

_FROM_ELSEWHERE = re.compile(rf"<link\b[^>]*\bhref=\"https?://(?!{re.escape(HOST)}[:/])[^>]*>")

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class AppServer(Server):
    """Serves the app of one project.

    Args:
        project: What the app shows.
        flags: Of the app: `--read-only`, `--plain`.
        port: Where it listens.
        key: What the first address must carry.
    """

    def __init__(self, project: Project, flags: Sequence[str], *, port: int, key: str | None = None) -> None:
        words = [sys.executable, "-m", "workbench", "--project", str(project.root), *flags]
        super().__init__(shlex.join(words), host=HOST, port=port, title="workbench")
        self.public_url = f"http://{HOST}:{port}"
        self.key = key or secrets.token_urlsafe(16)
        # Browsers keep one jar for all ports of a host.
        self.cookie = f"workbench_{port}"

    @property
    def address(self) -> str:
        """What to open in a browser."""
        return f"{self.public_url}/?key={quote(self.key)}"

    def initialize_logging(self) -> None:
        """Leave the terminal to what this command says itself."""

    async def on_startup(self, app: web.Application) -> None:
        """Say nothing: the command has told the address."""

    async def _make_app(self) -> web.Application:
        app = await super()._make_app()
        app.middlewares.append(self._guard)
        return app

    @web.middleware
    async def _guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Let only those in who brought the key, and load nothing from other machines."""
        if secrets.compare_digest(request.query.get("key", "").encode(), self.key.encode()):
            # Out of the address bar and the history.
            entry = web.Response(status=302, headers={"Location": "/"})
            entry.set_cookie(self.cookie, self.key, httponly=True, samesite="Strict")
            return entry
        if not secrets.compare_digest(request.cookies.get(self.cookie, "").encode(), self.key.encode()):
            return web.Response(status=403, text="Open the address that `workbench serve` printed; it carries a key.\n")
        response = await handler(request)
        if isinstance(response, web.Response) and response.content_type == "text/html" and response.text:
            response.text = _FROM_ELSEWHERE.sub("", response.text)
        return response


def find_port(wanted: int | None) -> int:
    """Return a port that is free.

    Args:
        wanted: This one and no other; None for 8000, or any other where that is taken.

    Raises:
        WorkFailedError: The port that was asked for is taken or not ours to use.
    """
    for port in (8000, 0) if wanted is None else (wanted,):
        with contextlib.closing(socket.socket()) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((HOST, port))
            except OSError as error:
                if wanted is None and port:
                    continue
                raise WorkFailedError(
                    f"port {port} of {HOST} cannot be used: {error.strerror}.",
                    hint="Without --port a free one is chosen.",
                ) from error
            return int(probe.getsockname()[1])
    raise AssertionError("a system that gives no port raises")
