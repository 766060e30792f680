"""The app in a browser: who may use it, and that the page shows it."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator

import aiohttp
import psutil
import pytest
import pytest_asyncio
from aiohttp import web

from workbench.cli import main
from workbench.errors import WorkFailedError
from workbench.project import Project
from workbench.ui.serving import HOST, AppServer, find_port

PATIENCE_S = 60


@pytest.fixture
def server(project: Project) -> AppServer:
    return AppServer(project, [], port=find_port(0), key="sesame")


@pytest_asyncio.fixture
async def browser(server: AppServer) -> AsyncIterator[aiohttp.ClientSession]:
    before = set(psutil.Process().children())
    runner = web.AppRunner(await server._make_app())
    await runner.setup()
    await web.TCPSite(runner, HOST, server.port).start()
    # The default jar takes no cookies from a bare address.
    jar = aiohttp.CookieJar(unsafe=True)
    try:
        async with aiohttp.ClientSession(server.public_url, cookie_jar=jar) as session:
            yield session
    finally:
        await runner.cleanup()
        # The app behind a page ends a moment after it; its pipes are closed by the loop that opened them.
        async with asyncio.timeout(PATIENCE_S):
            while set(psutil.Process().children()) - before:  # noqa: ASYNC110 - a process sets no event of ours
                await asyncio.sleep(0.02)


@pytest.mark.parametrize("path", ["/", "/ws", "/static/css/xterm.css", "/?key=wrong", "/download/x"])
async def test_who_has_no_key_gets_nothing(browser: aiohttp.ClientSession, path: str) -> None:
    async with browser.get(path) as answer:
        assert answer.status == 403
        assert "workbench serve" in await answer.text()


async def test_the_key_becomes_a_cookie_that_other_sites_cannot_use(
    server: AppServer, browser: aiohttp.ClientSession
) -> None:
    async with browser.get(server.address.removeprefix(server.public_url), allow_redirects=False) as answer:
        assert answer.headers["Location"] == "/"
        cookie = answer.headers["Set-Cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=Strict" in cookie


async def test_the_page_loads_nothing_from_other_machines(server: AppServer, browser: aiohttp.ClientSession) -> None:
    async with browser.get("/?key=sesame") as answer:
        page = await answer.text()
    links = [part.partition('"')[0] for part in page.split('href="')[1:]]
    assert any(link.endswith("xterm.css") for link in links)
    assert all(link.startswith((server.public_url, "/", "#")) for link in links)


async def test_the_app_is_drawn_in_the_page(browser: aiohttp.ClientSession) -> None:
    async with browser.get("/?key=sesame"):
        pass
    seen = b""
    async with browser.ws_connect("/ws?width=100&height=30") as page, asyncio.timeout(PATIENCE_S):
        while b"Environments" not in seen:
            message = await page.receive()
            assert message.type in (aiohttp.WSMsgType.BINARY, aiohttp.WSMsgType.TEXT), message
            seen += message.data if isinstance(message.data, bytes) else message.data.encode()


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.socket() as holder:
        holder.bind((HOST, 0))
        holder.listen()
        yield holder.getsockname()[1]


def test_a_taken_port_is_said(taken: int) -> None:
    with pytest.raises(WorkFailedError, match=f"port {taken}"):
        find_port(taken)


def test_a_number_that_is_no_port_is_refused(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--project", str(project.root), "--port", "70000"]) == 2
    assert "1 to 65535" in capsys.readouterr().err
