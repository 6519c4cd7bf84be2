"""The page's part of `--backend board`: a real Chromium with 10,000 tasks, and with 20 tabs. See `measure`."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from statistics import median
from time import perf_counter
from typing import Any

from report import Table

DRAW_TARGET = 1_000  # ms
SCREEN_TARGET = 200  # ms
TASK_TARGET = 50  # ms of the main thread
TABS = 20
_SEEN_TIMEOUT = 30.0  # seconds
_BROWSERS = ("chromium", "chromium-browser", "google-chrome")
_MOVES = 40
_SHOWN = """([id, title]) => new Promise((done) => {
  const cards = () => [...document.querySelectorAll(`[data-id="${id}"]`)];
  const there = () => cards().some((card) => card.textContent.includes(title));
  if (there()) return done(performance.timeOrigin + performance.now());
  new MutationObserver((_, observer) => {
    if (there()) { observer.disconnect(); done(performance.timeOrigin + performance.now()); }
  }).observe(document.body, { subtree: true, childList: true, characterData: true });
})"""
# The longest task of the main thread, as the browser itself tells it; it tells of those over 50 ms only.
_WATCH = """() => {
  window.longest = 0;
  new PerformanceObserver((list) => {
    for (const task of list.getEntries()) window.longest = Math.max(window.longest, task.duration);
  }).observe({ entryTypes: ["longtask"] });
}"""

Call = Callable[[str, dict[str, Any]], Awaitable[str]]


@dataclass(frozen=True)
class PageResults:
    """Milliseconds; medians, but for the longest task."""

    draw: float
    on_screen: float
    longest_task: float
    tabs: float


async def measure(link: str, call: Call, ids: list[str], looked_at: str, times: int) -> PageResults | None:
    """Measure on the board at `link`, whose task `looked_at` is in sight; None without a browser.

    `ids` are tasks that an agent may move.
    """
    browser_path = next(filter(None, map(shutil.which, _BROWSERS)), None)
    if browser_path is None:
        return None
    from playwright.async_api import async_playwright

    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        context = await browser.new_context(viewport={"width": 1440, "height": 900})
        page = await context.new_page()
        await page.goto(link)
        await page.wait_for_selector("[data-id]")
        draws = []
        for _ in range(max(3, times // 5)):
            began = perf_counter()
            await page.reload(wait_until="commit")
            await page.wait_for_selector("[data-id]")
            draws.append((perf_counter() - began) * 1000)
        await page.wait_for_selector(".connection[data-connection=live]")
        took = [await _change(page, call, looked_at, f"Changed {number}") for number in range(times)]
        longest = await _longest_task(page, call, ids, looked_at)
        tabs = await _tabs(context, page, call, looked_at)
        await browser.close()
    return PageResults(median(draws), median(took), longest, tabs)


def table_of(results: PageResults | None) -> Table:
    """What is printed."""
    rows = [
        ("page drawn", "draw", DRAW_TARGET),
        ("an agent's change on screen", "on_screen", SCREEN_TARGET),
        (f"longest task of the main thread in {_MOVES} moves", "longest_task", TASK_TARGET),
        (f"a change on the last of {TABS} tabs", "tabs", None),
    ]
    return Table(
        "The page with 10,000 tasks, ms",
        ["", "took", "target"],
        [
            [name, _shown(getattr(results, field) if results else None), "" if target is None else str(target)]
            for name, field, target in rows
        ],
    )


def _shown(value: float | None) -> str:
    if value is None:
        return "no browser"
    return f"{value:.0f}" if value else "under 50"


async def _change(page: Any, call: Call, id_: str, title: str) -> float:
    """Milliseconds from a call to the frame that shows what it changed."""
    seen = asyncio.ensure_future(page.evaluate(_SHOWN, [id_, title]))
    await asyncio.sleep(0)
    began = await page.evaluate("performance.timeOrigin + performance.now()")
    await call("update_task", {"id": id_, "title": title})
    return float(await asyncio.wait_for(seen, _SEEN_TIMEOUT) - began)


async def _longest_task(page: Any, call: Call, ids: list[str], looked_at: str) -> float:
    """Of the main thread, while an agent moves tasks and a person moves a card with the keys; 0 if all were short."""
    await page.evaluate(_WATCH)
    for number in range(_MOVES):
        await call("move_to_stage", {"id": ids[number], "stage": ("Implement", "Verify")[number % 2]})
    await page.evaluate("(id) => document.querySelector(`[data-id='${id}'] .card__title`).focus()", looked_at)
    for key in ("Alt+ArrowDown", "Alt+ArrowRight", "Alt+End", "Alt+Home", "Alt+ArrowLeft"):
        await page.keyboard.press(key)
    await _change(page, call, looked_at, "After all moves")
    return float(await page.evaluate("window.longest"))


async def _tabs(context: Any, first: Any, call: Call, looked_at: str) -> float:
    """Milliseconds until a change is seen on the last of many tabs; requests of the first must still go through."""
    pages = [first]
    for _ in range(TABS - 1):
        page = await context.new_page()
        await page.goto(first.url.partition("#")[0])
        await page.wait_for_selector(".connection[data-connection=live]")
        pages.append(page)
    assert await first.evaluate("async () => (await fetch('/api/workspace')).ok")
    return await _change(pages[-1], call, looked_at, "On twenty tabs")
