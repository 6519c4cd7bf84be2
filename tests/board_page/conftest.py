"""One Chromium and one board for each module, and pages that nothing may be wrong on."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from board_page.boards import Agent, Board, browser_of, running_board


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    # Not for longer: Playwright has a running event loop in this thread, and no test elsewhere could run its own.
    with sync_playwright() as playwright, browser_of(playwright) as found:
        yield found


@pytest.fixture(scope="module")
def shared_board(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[Board]:  # ends before it
    with running_board(tmp_path_factory.mktemp("project")) as board:
        yield board


@pytest.fixture
def board(shared_board: Board) -> Iterator[Board]:
    """The module's board. Its pages and agents are the test's own; its tasks should have titles of their own."""
    yield shared_board
    assert shared_board.end_pages() == []


@pytest.fixture
def page(board: Board, browser: Browser) -> Page:
    return board.page(browser)


@pytest.fixture
def ada(board: Board) -> Agent:
    return board.agent("ada")


@pytest.fixture
def grace(board: Board) -> Agent:
    return board.agent("grace")
