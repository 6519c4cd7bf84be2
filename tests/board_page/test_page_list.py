"""The tasks as a list: sorted, grouped, and saved as views that everybody sees."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from board_page.boards import Agent, Board, card, picture, running_board, skip_without_chromium
from board_page.test_page_access import audit

skip_without_chromium()


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[tuple[Board, Agent]]:  # ends before it
    root: Path = tmp_path_factory.mktemp("project")
    with running_board(root) as board:
        ada = board.agent("ada")
        soon = (date.today() + timedelta(days=3)).isoformat()
        some: dict[str, dict[str, Any]] = {
            "Bake": {"priority": "P1", "due": "2020-01-01", "tags": ["kitchen"]},
            "Clean": {"priority": "P3", "tags": ["kitchen", "home"]},
            "Apply": {"stage": "Verify", "due": soon},
            "Drive": {"stage": "Done"},
        }
        for title, more in some.items():
            ada.task(title, **more)
        ada.call("claim_task", id=ada.call("list_tasks", text="Clean")["tasks"][0]["id"])
        yield board, ada


@pytest.fixture
def page(own: tuple[Board, Agent], browser: Browser) -> Iterator[Page]:
    board, _ = own
    yield board.page(browser, color_scheme="light")


def rows(page: Page) -> Locator:
    return page.locator(".list__link")


def test_the_list_is_sorted_by_its_heads_and_grouped_and_stays_so(page: Page, own: tuple[Board, Agent]) -> None:
    _, ada = own
    page.get_by_role("button", name="List", exact=True).click()
    expect(rows(page)).to_have_text(["Bake", "Clean", "Apply", "Drive"])
    due = page.get_by_role("columnheader", name="Due")
    due.get_by_role("button").click()
    expect(due).to_have_attribute("aria-sort", "ascending")
    expect(rows(page)).to_have_text(["Bake", "Apply", "Clean", "Drive"])
    due.get_by_role("button").press("Enter")
    expect(due).to_have_attribute("aria-sort", "descending")
    expect(rows(page)).to_have_text(["Apply", "Bake", "Clean", "Drive"])  # those without a date stay last
    expect(due.get_by_role("button")).to_be_focused()
    page.get_by_role("columnheader", name="Title").get_by_role("button").click()
    expect(rows(page)).to_have_text(["Apply", "Bake", "Clean", "Drive"])
    for group, heads in {
        "By tag": ["home 1 task", "kitchen 2 tasks", "No tag 2 tasks"],
        "By due date": ["Overdue 1 task", "Within a week 1 task", "No date 2 tasks"],
        "By who works on it": [f"{ada.name} 1 task", "Nobody 3 tasks"],
        "By priority": ["P1 1 task", "P2 2 tasks", "P3 1 task"],
        "By stage": ["Backlog 2 tasks", "Verify 1 task", "Done 1 task"],
    }.items():
        page.get_by_label("Group the list").select_option(label=group)
        expect(page.locator(".list__group")).to_have_text(heads)
    assert audit(page) == []
    picture(page, "list")
    page.reload()
    expect(page.locator(".list__group")).to_have_count(3)
    expect(page.get_by_role("columnheader", name="Title")).to_have_attribute("aria-sort", "ascending")
    page.get_by_role("button", name="Board", exact=True).click()
    expect(card(page, "Bake")).to_be_visible()
    expect(page.locator(".list")).to_have_count(0)


def test_a_task_is_opened_from_the_list_which_is_filtered_and_follows_changes(
    page: Page, own: tuple[Board, Agent]
) -> None:
    _, ada = own
    page.get_by_role("button", name="List", exact=True).click()
    page.get_by_label("Filter tasks by text").fill("is:overdue")
    expect(rows(page)).to_have_text(["Bake"])
    page.get_by_role("link", name="Bake", exact=True).press("Enter")
    page.get_by_role("dialog", name="Bake").get_by_label("Priority").select_option("0")
    page.keyboard.press("Escape")
    expect(page.get_by_role("link", name="Bake", exact=True)).to_be_focused()
    expect(page.locator(".list__priority .priority")).to_have_text("P0")
    page.get_by_label("Filter tasks by text").fill("")
    id_ = ada.task("Eat", stage="Verify")
    expect(rows(page)).to_have_text(["Bake", "Clean", "Apply", "Eat", "Drive"])
    ada.call("update_task", id=id_, title="Eat out")
    expect(rows(page)).to_have_text(["Bake", "Clean", "Apply", "Eat out", "Drive"])


def test_a_view_is_saved_for_everybody_shown_by_a_click_and_deleted(
    page: Page, own: tuple[Board, Agent], browser: Browser
) -> None:
    board, _ = own
    bob = board.page(browser, name="Bob")
    page.get_by_label("Filter tasks by text").fill("tag:kitchen")
    page.get_by_role("button", name="List", exact=True).click()
    page.get_by_role("columnheader", name="Title").get_by_role("button").click()
    page.get_by_role("button", name="Save view…").click()
    page.get_by_label("Name, for everybody on this board").fill("In the kitchen")
    page.get_by_role("button", name="Save", exact=True).click()
    mine = page.get_by_role("button", name="In the kitchen", exact=True)
    expect(mine).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_role("button", name="Save view…")).to_be_hidden()
    theirs = bob.get_by_role("button", name="In the kitchen", exact=True)
    theirs.click()
    expect(rows(bob)).to_have_text(["Bake", "Clean"])
    expect(bob.get_by_label("Filter tasks by text")).to_have_value("tag:kitchen")
    expect(bob.get_by_role("columnheader", name="Title")).to_have_attribute("aria-sort", "ascending")
    bob.get_by_label("Filter tasks by text").fill("")
    expect(theirs).to_have_attribute("aria-pressed", "false")
    bob.get_by_role("button", name="Delete the view In the kitchen").click()
    bob.get_by_role("button", name="Delete view", exact=True).click()
    expect(mine).to_have_count(0)
    expect(page).to_have_url(re.compile("tag%3Akitchen.*view=list"))


def test_a_long_list_shows_more_on_demand(page: Page, own: tuple[Board, Agent]) -> None:
    _, ada = own
    made = page.evaluate(
        """async () => { const ids = [];
        for (let n = 0; n < 230; n += 1) {
            const body = JSON.stringify({title: `Many ${n}`});
            ids.push((await (await fetch("/api/tasks", {method: "POST", body})).json()).id);
        }
        return ids; }"""
    )
    page.get_by_role("button", name="List", exact=True).click()
    page.get_by_label("Filter tasks by text").fill("many")
    expect(rows(page)).to_have_count(200)
    page.get_by_role("button", name="Show more (30 left)").click()
    expect(rows(page)).to_have_count(230)
    assert ada.call("list_tasks", text="Many", limit=1)["total"] == len(made)
