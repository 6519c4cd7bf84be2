"""The page for everybody: by keyboard, by screen reader, on a phone, in the dark, in any script."""

from __future__ import annotations

import importlib.resources
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from board_page.boards import Agent, Board, card, column, open_task, picture, skip_without_chromium, stop_clock

skip_without_chromium()

AXE = importlib.resources.files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8")
BROKEN_RULES = """async () => (await axe.run()).violations
  .map(rule => `${rule.id}: ${rule.nodes.map(node => node.html.slice(0, 150)).join(" ")}`)"""
AUDIT = Path(__file__).with_name("audit.js").read_text("utf-8")
PHONE: dict[str, Any] = {"viewport": {"width": 360, "height": 740}, "has_touch": True}
LONG = "An_identifier_without_any_place_to_break_" * 5


@pytest.fixture(scope="module", autouse=True)
def filled(shared_board: Board) -> Any:
    """A board with some of everything."""
    ada = shared_board.agent("ada")
    grace = shared_board.agent("grace")
    tasks = {
        "Cache forecasts for ten minutes": ("Implement", ["performance", "api"]),
        "Return 404 for unknown places": ("Implement", ["api", "bug"]),
        "Read the key from the environment": ("Prepare", ["config"]),
        "ترجمة رسائل الخطأ إلى العربية": ("Prepare", ["i18n"]),
        "Document the error codes": ("Verify", ["docs"]),
        "Choose a router": ("Done", ["decision"]),
        "Retry with backoff": ("Backlog", ["later"]),
        LONG: ("Backlog", [LONG[:60]]),
    }
    ids = {title: ada.task(title, stage=stage, tags=tags) for title, (stage, tags) in tasks.items()}
    ada.call("complete_task", id=ids["Choose a router"])
    ada.call("claim_task", id=ids["Cache forecasts for ten minutes"])
    (shared_board.root / "cache.go").write_text("package cache\n\nfunc Get() {}\n")
    ada.call(
        "update_task",
        id=ids["Cache forecasts for ten minutes"],
        description="## Why\n60 requests an hour, see [terms](https://example.com).\n\n- [x] measure\n- [ ] cache\n\n"
        "> stale is better than none\n\n```go\nfunc Get(place Place) (Forecast, bool)\n```\n\n|a|b|\n|-|-|\n|1|2|\n",
        depends_on=[ids["Choose a router"]],
        anchors=["go://cache.go#3:6"],
    )
    grace.call("notify_user", message="All tests pass.", level="success", taskId=ids["Document the error codes"])
    ada.call("notify_user", message="The upstream is slow.", level="warning")
    ada.call("notify_user", message="I have begun.")
    ada.call("create_standard", id="error-handling", content="# Errors", description="How errors are made")
    ada.call("create_snippet", title="Table test", content="`x`")
    options = [{"id": "5", "label": "5 minutes"}, {"id": "10", "label": "10 minutes"}]
    about = ids["Cache forecasts for ten minutes"]
    ada.call("ask_user", question="How long may it be cached?", options=options, taskId=about, priority="high")
    grace.call("ask_user", question="Which tone should the texts have?")
    agents = ada, grace
    yield agents


def audit(page: Page) -> list[str]:
    """What is wrong, by our own audit and by axe."""
    page.evaluate(AXE)
    return [*page.evaluate(AUDIT), *page.evaluate(BROKEN_RULES)]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everything_has_a_name_and_enough_contrast(board: Board, browser: Browser, scheme: Any) -> None:
    page = board.page(browser, color_scheme=scheme)
    stop_clock(page)
    ada = board.agent("linus")
    ada.task(f"Just changed {scheme}")
    expect(card(page, f"Just changed {scheme}")).to_have_attribute("data-glow", "write")
    page.clock.resume()
    assert audit(page) == []
    picture(page, scheme)
    open_task(page, "Cache forecasts for ten minutes")
    assert audit(page) == []
    picture(page, f"task_{scheme}")
    page.get_by_role("button", name="Edit").click()
    assert audit(page) == []
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Change the stage Backlog").click()
    assert audit(page) == []
    ground = page.evaluate("() => getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)")
    assert (max(ground) < 60) == (scheme == "dark")


def test_all_of_it_is_done_with_the_keyboard(page: Page) -> None:
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the board")).to_be_focused()
    page.keyboard.press("Enter")
    for _ in range(3):  # the buttons of the first column's head, then its card
        page.keyboard.press("Tab")
    expect(column(page, "Backlog").locator(".card__title").first).to_be_focused()
    assert page.evaluate("() => getComputedStyle(document.activeElement.closest('.card')).outlineStyle") == "solid"
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("link", name="Read the key from the environment")).to_be_focused()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="Read the key from the environment")
    expect(dialog.get_by_label("Stage")).to_be_visible()
    for _ in range(12):
        page.keyboard.press("Tab")
        assert page.evaluate(
            "() => document.activeElement === document.body || !!document.activeElement.closest('dialog')"
        )
    page.keyboard.press("Escape")
    expect(page.get_by_role("link", name="Read the key from the environment")).to_be_focused()

    page.get_by_role("button", name="New task", exact=True).focus()
    page.keyboard.press("Enter")
    page.keyboard.type("Typed only")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("link", name="Typed only")).to_be_focused()
    page.get_by_role("button", name="Standards and snippets").press("Enter")
    page.get_by_role("button", name="Keyboard").press("Enter")
    expect(page.get_by_role("dialog", name="Keyboard")).to_contain_text("move the card to the stage beside")


def test_a_new_question_is_announced(page: Page, board: Board) -> None:
    board.agent("barbara").call("ask_user", question="Is anybody there?", options=[{"id": "y", "label": "I am"}])
    expect(page.locator("#announcer")).to_have_text("barbara asks: Is anybody there?")
    page.get_by_role("button", name="I am").click()
    expect(page.locator("#workspace .question__text")).not_to_contain_text(["Is anybody there?"])


def test_titles_stand_in_the_direction_of_their_script(page: Page) -> None:
    arabic = card(page, "ترجمة رسائل الخطأ إلى العربية").locator(".card__title")
    assert arabic.evaluate("node => getComputedStyle(node).direction") == "rtl"
    assert (
        card(page, "Retry with backoff").locator(".card__title").evaluate("node => getComputedStyle(node).direction")
        == "ltr"
    )


def test_nothing_is_wider_than_the_window(board: Board, browser: Browser) -> None:
    page = board.page(browser, viewport={"width": 320, "height": 740})
    too_wide = """list => [...list.querySelectorAll("*")]
      .filter(one => one.clientWidth > 1 && one.scrollWidth > one.clientWidth + 1)
      .filter(one => getComputedStyle(one).overflowX === "visible").map(one => one.className)"""
    for width in (320, 360, 768, 1024, 1440):
        page.set_viewport_size({"width": width, "height": 740})
        assert page.evaluate("() => document.documentElement.scrollWidth") <= width
        assert page.locator(".column__list").first.evaluate(too_wide) == []
        card(page, LONG).locator(".card__title").click()
        dialog = page.get_by_role("dialog", name=LONG)
        expect(dialog.locator(".task")).to_be_visible()
        assert dialog.evaluate("node => node.scrollWidth <= node.clientWidth && node.clientWidth <= innerWidth")
        page.keyboard.press("Escape")


def test_all_usual_stages_are_in_sight_beside_the_workspace(board: Board, browser: Browser) -> None:
    page = board.page(browser, viewport={"width": 1280, "height": 800})
    for width in (1280, 1440, 1600):
        page.set_viewport_size({"width": width, "height": 800})
        expect(page.locator("#workspace")).to_be_visible()
        for stage in ("Backlog", "Prepare", "Implement", "Verify", "Done"):
            expect(column(page, stage)).to_be_in_viewport(ratio=1)
        assert page.locator(".toolbar").evaluate("node => node.offsetHeight") < 70  # one line
    page.get_by_role("button", name="Show the stage Backlog").click()
    expect(page.get_by_role("link", name="Retry with backoff")).to_be_hidden()
    page.reload()
    expect(page.get_by_role("button", name="Show the stage Backlog")).to_have_attribute("aria-expanded", "false")
    page.get_by_role("button", name="Show the stage Backlog").click()
    expect(page.get_by_role("link", name="Retry with backoff")).to_be_visible()


def test_on_a_phone_everything_is_within_reach(board: Board, browser: Browser) -> None:
    page = board.page(browser, **PHONE)
    expect(page.locator(".toolbar .connection")).to_contain_text("Live")
    picture(page, "phone")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    assert audit(page) == []
    page.locator(".stages__list").get_by_role("button", name="Done").tap()
    expect(page.get_by_role("link", name="Choose a router")).to_be_in_viewport()
    expect(page.get_by_role("link", name="Retry with backoff")).not_to_be_in_viewport()
    column(page, "Verify").scroll_into_view_if_needed()  # as by a swipe
    expect(page.locator(".stages__list [aria-current]")).to_contain_text("Verify")
    page.get_by_role("button", name="Agent Workspace").tap()
    panel = page.get_by_role("complementary", name="Agent Workspace")
    expect(panel.get_by_role("button", name="5 minutes")).to_be_in_viewport()
    picture(page, "phone_workspace")
    page.get_by_role("button", name="Close the Agent Workspace").tap()
    expect(panel).to_be_hidden()
    page.get_by_role("button", name="Standards and snippets").tap()
    page.get_by_role("button", name="error-handling").tap()
    expect(page.get_by_role("dialog", name="error-handling")).to_be_in_viewport()
    page.get_by_role("button", name="Close", exact=True).tap()
    page.keyboard.press("Escape")
    page.get_by_role("link", name="Document the error codes").tap()
    dialog = page.get_by_role("dialog", name="Document the error codes")
    expect(dialog.get_by_label("Stage")).to_be_visible()
    picture(page, "phone_task")
    assert audit(page) == []


def test_an_agent_that_leaves_is_gone_from_the_workspace(page: Page, board: Board, filled: tuple[Agent, Agent]) -> None:
    leaving = board.agent("dennis")
    agents = page.locator("#workspace .agents")
    expect(agents).to_contain_text("dennis")
    leaving.close()
    expect(agents).not_to_contain_text("dennis")
