"""A board of 10,000 tasks. Times are printed (pytest -s), not judged."""

from __future__ import annotations

import statistics
import time
from pathlib import Path

import sqlalchemy as sa
from playwright.sync_api import Browser, Page, expect

from board_page.boards import Board, column, running_board, skip_without_chromium
from lsp_mcp.board import tables
from lsp_mcp.board.place import store_url
from lsp_mcp.board.store import Store, Transaction

skip_without_chromium()

MANY = 10_000
ROUNDS = 10
STAGES = ("backlog", "prepare", "implement", "verify", "done")
DRAWN = """() => new Promise(done => {
  const look = () => document.querySelectorAll(".card").length >= 25 ? done(performance.now()) : setTimeout(look, 5);
  look();
})"""
SEEN = """text => new Promise(done => {
  const observer = new MutationObserver(look);
  function look() {
    if (document.querySelector("[data-id=t-00000] .card__title").textContent !== text) return;
    observer.disconnect();
    requestAnimationFrame(() => done(Date.now()));
  }
  observer.observe(document.body, {subtree: true, childList: true, characterData: true});
  look();
})"""


def fill(root: Path) -> None:
    def work(at: Transaction) -> None:
        rows = [
            {
                "id": f"t-{number:05}",
                "title": f"Task {number} of many",
                "description": "text " * 20,
                "status": "pending",
                "stage": STAGES[number % len(STAGES)],
                "position": float(number),
                "tags": [f"tag {number % 40}"],
                "revision": 1,
                "created_at": at.now,
                "updated_at": at.now,
            }
            for number in range(MANY)
        ]
        at.connection.execute(sa.insert(tables.tasks), rows)

    store = Store(store_url(root, None))
    store.write(work)
    store.close()


def latency(board: Board, page: Page) -> list[float]:
    """Milliseconds from an agent's call to the frame that shows its change."""
    ada = board.agent("ada")
    found = []
    for number in range(ROUNDS):
        title = f"Changed {number}"
        begun = time.time()
        ada.call("update_task", id="t-00000", title=title)
        found.append(page.evaluate(SEEN, title) - begun * 1000)
    return found


def test_of_10_000_tasks_a_column_draws_what_is_looked_at(tmp_path: Path, browser: Browser) -> None:
    with running_board(tmp_path) as board:
        fill(tmp_path)
        page = board.page(browser)
        page.reload()
        drawn = page.evaluate(DRAWN)
        backlog = column(page, "Backlog")
        expect(backlog.locator(".column__count")).to_have_text("2,000")  # the rest has come
        cards = backlog.locator(".card")
        assert 5 <= cards.count() < 60
        cards.first.locator(".card__title").focus()
        for key, index in (("End", 1999), ("ArrowUp", 1998), ("Home", 0), ("ArrowDown", 1)):
            page.keyboard.press(key)
            expect(page.locator(".card__title:focus")).to_have_text(f"Task {index * 5} of many")
            expect(page.locator(".card__title:focus")).to_be_in_viewport()
            assert cards.count() < 60
        expect(backlog.locator(".card:has(:focus)")).to_have_attribute("aria-posinset", "2")
        expect(backlog.locator(".card:has(:focus)")).to_have_attribute("aria-setsize", "2000")
        page.keyboard.press("Home")

        expect(page.locator(".connection")).to_contain_text("Live")
        times = latency(board, page)
        print(f"\n{MANY:,} tasks are drawn {drawn:.0f} ms after the navigation began")
        print(f"an agent's change is on screen after {statistics.median(times):.0f} ms, at most {max(times):.0f} ms")

        page.get_by_label("Filter tasks by text").fill("Task 9999 ")
        expect(page.locator(".card__title")).to_have_text(["Task 9999 of many"])
