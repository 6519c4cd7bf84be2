"""Done means proven on the page, too; columns are in order of urgency, and finished tasks make no wall."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from board_page.boards import (
    Agent,
    Board,
    card,
    column,
    delete,
    open_task,
    picture,
    running_board,
    skip_without_chromium,
    titles,
)
from board_page.test_page_access import audit

skip_without_chromium()


def test_the_page_asks_for_the_proof_that_a_task_requires_and_says_what_is_none(page: Page, ada: Agent) -> None:
    id_ = ada.task("Prove it", stage="Verify", required_proof=["make test"])
    expect(card(page, "Prove it")).to_contain_text("requires proof")
    dialog = open_task(page, "Prove it")
    expect(dialog.locator(".properties")).to_contain_text("Requires: make test")
    dialog.get_by_role("button", name="Complete").click()
    asked = page.get_by_role("dialog", name="Is it proven?")
    expect(asked).to_contain_text("it requires as proof: make test => 0")
    expect(asked.get_by_label("Proof")).to_be_focused()
    picture(page, "proof")
    page.keyboard.type("make test => 1")
    page.keyboard.press("Enter")
    again = page.get_by_role("alert").filter(has_text="proves nothing")
    expect(again).to_be_visible()
    asked.get_by_label("Proof").fill("make test => 0")
    asked.get_by_role("button", name="Complete", exact=True).click()
    expect(dialog.get_by_role("button", name="Reopen")).to_be_focused()
    expect(dialog.locator(".proofs")).to_have_text("make test => 0")
    assert ada.call("get_task", id=id_)["proof"] == ["make test => 0"]


def test_several_proofs_are_asked_for_one_after_the_other(page: Page, ada: Agent) -> None:
    id_ = ada.task("Prove it twice", stage="Verify", required_proof=["make test", "link"], description="- [ ] box")
    card(page, "Prove it twice").drag_to(column(page, "Done").locator(".column__scroller"))
    asked = page.get_by_role("dialog", name="Is it proven?")
    assert audit(page) == []
    for proof in ("make test => 0", "nothing", "https://ci.example/1"):
        asked.get_by_role("textbox").fill(proof)
        asked.get_by_role("textbox").press("Enter")
        if proof == "make test => 0":
            expect(asked).to_contain_text("Given: make test => 0")
        if proof == "nothing":
            expect(asked.get_by_role("alert")).to_contain_text("is not a proof")
    anyway = page.get_by_role("dialog", name="Complete it anyway?")
    expect(anyway).to_contain_text("1 checkbox of 1 is not ticked")
    with page.expect_response(lambda answer: answer.request.method != "GET"):
        anyway.get_by_role("button", name="Complete").click()
    expect(column(page, "Done").get_by_role("link", name="Prove it twice")).to_be_visible()
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert ada.call("get_task", id=id_)["proof"] == ["make test => 0", "https://ci.example/1"]


def test_the_focus_is_on_reopen_after_a_task_was_completed_anyway(page: Page, ada: Agent) -> None:
    ada.task("Half done, done", stage="Verify", description="- [ ] one")
    dialog = open_task(page, "Half done, done")
    dialog.get_by_role("button", name="Complete").click()
    page.get_by_role("dialog", name="Complete it anyway?").get_by_role("button", name="Complete").click()
    expect(dialog.get_by_role("button", name="Reopen")).to_be_focused()


def test_a_new_task_waits_for_others_is_due_and_requires_a_proof(page: Page, ada: Agent) -> None:
    first = ada.task("Comes before")
    expect(card(page, "Comes before")).to_be_visible()
    page.get_by_role("button", name="New task in Prepare").click()
    form = page.get_by_role("dialog", name="New task")
    form.get_by_label("Title").fill("Comes after")
    form.get_by_label("Depend on another task").fill("comes bef")
    form.get_by_label("Depend on another task").press("Enter")
    expect(form.get_by_role("group", name="Depends on").locator(".links")).to_have_text("Comes before")
    form.get_by_label("Due").fill("2020-02-29")
    form.get_by_label("Required proof").fill("commit, make test")
    form.get_by_role("button", name="Create task").click()
    expect(card(page, "Comes after")).to_contain_text("Blocked by 1")
    expect(card(page, "Comes after")).to_contain_text("Overdue: Feb 29, 2020")
    [listed] = ada.call("list_tasks", text="Comes after")["tasks"]
    assert (listed["blocked_by"], listed["due"]) == ([first], "2020-02-29, overdue")
    assert listed["required_proof"] == ["commit", "make test"]


def test_a_due_date_is_set_shown_found_and_taken_away(page: Page, ada: Agent) -> None:
    id_ = ada.task("Has a day", stage="Verify", due=(date.today() + timedelta(days=1)).isoformat())
    expect(card(page, "Has a day")).to_contain_text("Due tomorrow")
    dialog = open_task(page, "Has a day")
    dialog.get_by_label("Due").fill("2021-03-04")
    expect(dialog.locator(".properties")).to_contain_text("Overdue: Mar 4, 2021")
    page.keyboard.press("Escape")
    page.get_by_label("Filter tasks by text").fill("is:overdue has")
    expect(page.locator(".card__title")).to_have_text(["Has a day"])
    page.get_by_label("Filter tasks by text").fill("")
    assert ada.call("get_task", id=id_)["due"] == "2021-03-04"
    open_task(page, "Has a day").get_by_label("Due").fill("")
    expect(card(page, "Has a day")).not_to_contain_text("Overdue")


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[tuple[Board, Agent, Page]]:
    root: Path = tmp_path_factory.mktemp("project")
    with running_board(root) as board:
        yield board, board.agent("ada"), board.page(browser)


@pytest.fixture
def empty(own: tuple[Board, Agent, Page]) -> Iterator[tuple[Agent, Page]]:
    """A page of a board without tasks."""
    _, ada, page = own
    yield ada, page
    page.keyboard.press("Escape")
    page.get_by_label("Filter tasks by text").fill("")
    for one in ada.call("list_tasks")["tasks"]:
        delete(page, one["id"])
    expect(page.locator(".card")).to_have_count(0)


def test_a_column_has_the_most_urgent_first_and_cards_move_among_equals(empty: tuple[Agent, Page]) -> None:
    ada, page = empty
    for title, priority in (("usual", "P2"), ("later", "P4"), ("now", "P0"), ("also usual", "P2")):
        ada.task(title, priority=priority)
    expect(titles(page, "Backlog")).to_have_text(["now", "usual", "also usual", "later"])
    assert [one["title"] for one in ada.call("list_tasks")["tasks"]] == ["now", "usual", "also usual", "later"]
    page.get_by_role("link", name="also usual", exact=True).focus()
    page.keyboard.press("Alt+ArrowUp")
    expect(titles(page, "Backlog")).to_have_text(["now", "also usual", "usual", "later"])
    page.keyboard.press("Alt+ArrowUp")
    expect(page.locator("#announcer")).to_contain_text("The task above has a higher priority")
    with page.expect_response(lambda response: response.url.endswith("/move")) as moved:
        card(page, "later").drag_to(card(page, "now"), target_position={"x": 60, "y": 4})
    assert moved.value.ok
    expect(titles(page, "Backlog")).to_have_text(["now", "also usual", "usual", "later"])
    with page.expect_response(lambda response: response.request.method == "PATCH") as changed:
        open_task(page, "later").get_by_label("Priority").select_option("1")
    assert changed.value.ok
    expect(titles(page, "Backlog")).to_have_text(["now", "later", "also usual", "usual"])
    assert [one["title"] for one in ada.call("list_tasks")["tasks"]] == ["now", "later", "also usual", "usual"]


def test_done_shows_the_last_ten_and_all_when_that_is_wanted_or_one_is_looked_for(empty: tuple[Agent, Page]) -> None:
    ada, page = empty
    for number in range(13):
        ada.call("complete_task", id=ada.task(f"finished {number}"))
    last = [f"finished {number}" for number in range(12, -1, -1)]
    expect(titles(page, "Done")).to_have_text(last[:10])
    expect(column(page, "Done").locator(".column__count")).to_have_attribute("title", "13 tasks")
    picture(page, "done")
    page.get_by_label("Filter tasks by text").fill("finished")
    expect(titles(page, "Done")).to_have_count(13)
    page.get_by_label("Filter tasks by text").fill("")
    expect(titles(page, "Done")).to_have_count(10)
    column(page, "Done").get_by_role("button", name="Show all 13").click()
    expect(titles(page, "Done")).to_have_text(last)
    expect(page.get_by_role("link", name=last[10], exact=True)).to_be_focused()
    card(page, last[0]).drag_to(card(page, last[4]), target_position={"x": 60, "y": 4})
    expect(page.locator(".toast")).to_contain_text("Done has the last completed task first")
    expect(titles(page, "Done")).to_have_text(last)


def test_a_column_of_one_task_says_so(empty: tuple[Agent, Page]) -> None:
    ada, page = empty
    ada.task("alone")
    expect(column(page, "Backlog").locator(".column__count")).to_have_attribute("title", "1 task")


def test_the_workspace_does_not_open_while_nothing_is_in_it(empty: tuple[Agent, Page]) -> None:
    ada, page = empty  # an agent is connected, and nothing was said
    workspace = page.get_by_role("complementary", name="Agent Workspace")
    expect(workspace).to_be_hidden()
    page.locator("#board").focus()
    page.keyboard.press("w")
    expect(workspace).to_be_visible()
    page.reload()
    expect(page.locator(".connection")).to_contain_text("Live")
    expect(workspace).to_be_hidden()
    ada.call("notify_user", message="Something to read")
    expect(workspace).to_be_visible()
