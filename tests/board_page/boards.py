"""Real boards for tests of the page: a `lsp-mcp board` process, agents on WebSocket, and pages in real Chromium.

    with running_board(tmp_path) as board:
        ada = board.agent("ada")
        page = board.page(browser)
        ada.call("create_task", title="One")
        expect(card(page, "One")).to_be_visible()

What a page must never do is collected while it is open: `Page.complaints`. Each wait is for something to be seen.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect
from websockets.sync.client import ClientConnection, connect

from lsp_mcp.board.place import store_url
from lsp_mcp.board.store import Store, Transaction
from lsp_mcp.errors import MissingProgramError

BOUND = 60  # seconds for whatever is waited for: a hang, not a measurement
expect.set_options(timeout=BOUND * 1000)
PROGRAMS = ("chromium", "google-chrome", "chromium-browser", "google-chrome-stable")


def find_chromium() -> str:
    """The full path of Chromium or Chrome.

    Raises:
        MissingProgramError: there is none on PATH.
    """
    for name in PROGRAMS:
        if found := shutil.which(name):
            return found
    raise MissingProgramError("chromium is not on PATH; run: scripts/tools.sh chromium")


def skip_without_chromium() -> None:
    """Skip the whole module where Chromium is not installed."""
    try:
        find_chromium()
    except MissingProgramError as error:
        pytest.skip(f"chromium: {error}", allow_module_level=True)


PERSON = "Olive Oyl"  # who is at the page


class Agent:
    """One agent on WebSocket, as in docs/contracts/board.md."""

    def __init__(self, port: int, name: str) -> None:
        self._socket: ClientConnection = connect(f"ws://localhost:{port}", open_timeout=BOUND)
        self._number = 0
        self._request("initialize", {"protocolVersion": "2024-11-05", "clientInfo": {"name": "test", "version": "1"}})
        self._socket.send(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}))
        self.name = str(self.call("register_agent", preferredName=name)["agentName"])  # another may have that one

    def call(self, tool: str, **arguments: Any) -> Any:
        """What a tool answers."""
        answer = self._request("tools/call", {"name": tool, "arguments": arguments})
        text = answer["content"][0]["text"]
        assert not answer.get("isError"), text
        try:
            return json.loads(text)
        except ValueError:
            return text

    def news(self, tool: str, **arguments: Any) -> list[str]:
        """What the answer of a tool says beside it."""
        answer = self._request("tools/call", {"name": tool, "arguments": arguments})
        return [part["text"] for part in answer["content"][1:]]

    def task(self, title: str, **arguments: Any) -> str:
        """The id of a new task."""
        return str(self.call("create_task", title=title, **arguments)["id"])

    def close(self) -> None:
        self._socket.close()

    def _request(self, method: str, parameters: dict[str, Any]) -> Any:
        self._number += 1
        self._socket.send(json.dumps({"jsonrpc": "2.0", "id": self._number, "method": method, "params": parameters}))
        while True:
            answer = json.loads(self._socket.recv(timeout=BOUND))
            if answer.get("id") == self._number:
                return answer["result"]


class Board:
    """The board of a folder; `stop` and `start` it as often as needed, on one port."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.port = 0
        self.token = "a-token-of-the-tests"
        self._popen: subprocess.Popen[str] | None = None
        self._agents: list[Agent] = []
        self._pages: list[tuple[Page, list[str]]] = []
        self._context: BrowserContext | None = None  # the one that most pages are in
        self._cookies: dict[str, Any] = {}  # by token: a link is opened once, all other pages come in with its cookie

    @property
    def address(self) -> str:
        return f"http://localhost:{self.port}"

    def start(self) -> None:
        """Start its process, and wait until it answers."""
        program = str(Path(sys.executable).with_name("lsp-mcp"))
        command = [program, "board", "--no-open", "--as", PERSON, "--port", str(self.port)]
        self._popen = subprocess.Popen(
            [*command, "--workspace-root", str(self.root)],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "LSP_MCP_TOKEN": self.token},
        )
        assert self._popen.stdout
        for line in self._popen.stdout:
            if found := re.search(r"http://localhost:(\d+)/open", line):
                self.port = int(found[1])
            if "Ctrl-C" in line:
                break
        else:
            raise AssertionError(f"the board did not start: {self._popen.wait(BOUND)}")
        threading.Thread(target=self._popen.stdout.read, daemon=True).start()

    def stop(self) -> None:
        """End its process. Does nothing a second time."""
        if self._popen:
            self._popen.terminate()
            self._popen.wait(BOUND)
            self._popen = None

    def link(self, name: str | None = None) -> str:
        """A link that opens the page, once, for the person of that name."""
        body = json.dumps({"as": name}).encode()
        headers = {"Authorization": f"Bearer {self.token}"}
        request = urllib.request.Request(f"{self.address}/link", data=body, headers=headers, method="POST")
        with urllib.request.urlopen(request, timeout=BOUND) as answer:
            return str(json.load(answer)["link"])

    def agent(self, name: str) -> Agent:
        """A new agent of that name."""
        agent = Agent(self.port, name)
        self._agents.append(agent)
        return agent

    def page(self, browser: Browser, *, name: str | None = None, is_first_visit: bool = False, **options: Any) -> Page:
        """The page in a new window; with `options` in a browser of its own, with such a screen or such wishes."""
        context = self._context
        is_own = bool(options or name or is_first_visit)
        if is_own or not context:
            context = browser.new_context(**{"viewport": {"width": 1440, "height": 860}, **options})
            context.set_default_timeout(BOUND * 1000)
            if not is_first_visit:
                context.add_init_script("localStorage.setItem('introduced', 'true')")
        if not is_own:
            self._context = context
        page = context.new_page()
        self._pages.append((page, self._watch(page)))
        if cookies := None if name else self._cookies.get(self.token):
            context.add_cookies(cookies)
        page.goto(self.address if cookies else self.link(name))
        page.wait_for_selector(".column")
        if name is None:
            self._cookies[self.token] = context.cookies()
        page.wait_for_selector(".connection[data-connection=live]", state="attached")
        return page

    def write(self, work: Callable[[Transaction], Any]) -> None:
        """Change its database from this process; it should not run."""
        store = Store(store_url(self.root, None))
        store.write(work)
        store.close()

    def end_pages(self) -> list[str]:
        """Close all pages and agents; what was wrong on the pages."""
        complaints = [one for _, found in self._pages for one in found]
        for page, _ in self._pages:
            page.context.close() if page.context is not self._context else page.close()
        for agent in self._agents:
            agent.close()
        self._pages, self._agents = [], []
        return complaints

    def end(self) -> None:
        """End all of it."""
        try:
            self.end_pages()
            if self._context:
                self._context.close()
        finally:
            self.stop()

    def _watch(self, page: Page) -> list[str]:
        complaints: list[str] = []

        def said(kind: str, text: str) -> None:
            # A refusal or a lost connection is in the console too; tests that make one look at the page.
            if kind == "error" and "Failed to load resource" not in text:
                complaints.append(f"console: {text}")

        def dialog(shown: Any) -> None:
            complaints.append(f"a dialog of a script: {shown.message}")
            shown.dismiss()

        def asked(url: str) -> None:
            if urlsplit(url).scheme in ("http", "https", "ws") and not url.startswith(self.address):
                complaints.append(f"asked for {url}")

        page.on("console", lambda message: said(message.type, message.text))
        page.on("pageerror", lambda error: complaints.append(f"error: {error}"))
        page.on("dialog", dialog)
        page.on("request", lambda request: asked(request.url))
        return complaints


@contextmanager
def running_board(root: Path) -> Iterator[Board]:
    """A board that runs in the folder `root`; it, its pages and agents are gone at the end."""
    board = Board(root)
    try:
        board.start()
        yield board
        complaints = board.end_pages()
        assert not complaints, complaints
    finally:
        board.end()


# --- what is on a page -----------------------------------------------------------------------------


def card(page: Page, title: str) -> Locator:
    """The card with exactly that title."""
    return page.locator(".card").filter(has=page.get_by_role("link", name=title, exact=True))


def column(page: Page, stage: str) -> Locator:
    """The column of a stage."""
    return page.get_by_role("region", name=stage, exact=True)


def titles(page: Page, stage: str) -> Locator:
    """The titles of the cards in a column, in order."""
    return column(page, stage).locator(".card__title")


def open_task(page: Page, title: str) -> Locator:
    """The dialog of a task, opened by a click on its card."""
    card(page, title).locator(".card__title").click()
    dialog = page.get_by_role("dialog", name=title, exact=True)
    dialog.locator(".task").wait_for()
    return dialog


def stop_clock(page: Page) -> None:
    """What is shown for some seconds stays, until `page.clock.fast_forward` or `resume`.

    A clock is that of all pages of a browser: the page needs one of its own.
    """
    page.clock.install()
    page.clock.pause_at(datetime.now() + timedelta(hours=1))


def undo(page: Page, what: str) -> None:
    """Press Ctrl+Z, and wait until that is undone."""
    page.keyboard.press("Control+z")
    expect(page.locator("#announcer")).to_have_text(f"Undone: {what}")


def delete(page: Page, id_: str) -> None:
    """Delete a task as a page does: agents have no tool for it."""
    assert page.evaluate("async id => (await fetch(`/api/tasks/${id}`, {method: 'DELETE'})).ok", id_)


def picture(page: Page, name: str) -> None:
    """A picture of the page in the folder BOARD_SHOTS, if there is one, for people to look at."""
    if folder := os.environ.get("BOARD_SHOTS"):
        Path(folder).mkdir(parents=True, exist_ok=True)
        page.screenshot(path=Path(folder) / f"{name}.png")


@contextmanager
def browser_of(playwright: Any) -> Iterator[Browser]:
    """A headless Chromium."""
    with tempfile.TemporaryDirectory(prefix="chromium-") as home:
        browser = playwright.chromium.launch(
            executable_path=find_chromium(),
            args=["--no-sandbox"] if os.geteuid() == 0 else [],  # root has no sandbox to use
            env={**os.environ, "HOME": home},
        )
        try:
            yield browser
        finally:
            browser.close()
