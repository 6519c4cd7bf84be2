"""Cards are moved with the mouse, with keys and from a list; where they land is the same everywhere."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import APIResponse, Browser, Page, Route, expect

from board_page.boards import (
    Agent,
    Board,
    card,
    column,
    delete,
    open_task,
    running_board,
    skip_without_chromium,
    titles,
)

skip_without_chromium()


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[tuple[Board, Agent, Page]]:
    root: Path = tmp_path_factory.mktemp("project")
    with running_board(root) as board:
        yield board, board.agent("ada"), board.page(browser)


@pytest.fixture
def three(own: tuple[Board, Agent, Page]) -> Iterator[tuple[Agent, Page]]:
    """A page with A, B and C in the first column and nothing else."""
    _, ada, page = own
    for title in "ABC":
        ada.task(title)
    expect(titles(page, "Backlog")).to_have_text(["A", "B", "C"])
    yield ada, page
    for one in ada.call("list_tasks")["tasks"]:
        delete(page, one["id"])
    expect(page.locator(".card")).to_have_count(0)


def order(page: Page, ada: Agent, stage: str, *cards: str) -> None:
    """Check that a column has these, on the page and on the board."""
    expect(titles(page, stage)).to_have_text(cards)
    assert [one["title"] for one in ada.call("list_tasks", stage=stage)["tasks"]] == list(cards)


@contextmanager
def moving(page: Page) -> Iterator[None]:
    """What is done here moves one card: the board has said yes to it at the end."""
    with page.expect_response(lambda response: response.url.endswith("/move")) as said:
        yield
    assert said.value.ok, said.value.text()


def drag(page: Page, title: str, to: str, below: str | None = None) -> None:
    """Drag a card into a column: on the upper half of `below`, or behind all."""
    with moving(page):
        if below:
            card(page, title).drag_to(card(page, below), target_position={"x": 60, "y": 4})
        else:
            scroller = column(page, to).locator(".column__scroller")
            box = scroller.bounding_box()
            assert box
            card(page, title).drag_to(scroller, target_position={"x": 60, "y": box["height"] - 10})


def test_a_card_is_dragged_into_another_column(three: tuple[Agent, Page]) -> None:
    ada, page = three
    drag(page, "B", "Verify")
    order(page, ada, "Backlog", "A", "C")
    order(page, ada, "Verify", "B")
    drag(page, "C", "Verify", below="B")
    order(page, ada, "Verify", "C", "B")


def test_a_card_is_dragged_within_its_column(three: tuple[Agent, Page]) -> None:
    ada, page = three
    drag(page, "C", "Backlog", below="A")
    order(page, ada, "Backlog", "C", "A", "B")
    drag(page, "C", "Backlog")
    order(page, ada, "Backlog", "A", "B", "C")


def test_a_card_is_moved_with_keys_keeps_the_focus_and_is_announced(three: tuple[Agent, Page]) -> None:
    ada, page = three
    page.get_by_role("link", name="A", exact=True).focus()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("link", name="B", exact=True)).to_be_focused()
    for key, stage, cards in (
        ("Alt+ArrowUp", "Backlog", ["B", "A", "C"]),
        ("Alt+End", "Backlog", ["A", "C", "B"]),
        ("Alt+ArrowRight", "Prepare", ["B"]),
        ("Alt+ArrowRight", "Implement", ["B"]),
        ("Alt+ArrowLeft", "Prepare", ["B"]),
        ("Alt+ArrowLeft", "Backlog", ["B", "A", "C"]),
        ("Alt+ArrowDown", "Backlog", ["A", "B", "C"]),
    ):
        with moving(page):
            page.keyboard.press(key)
        order(page, ada, stage, *cards)
        expect(page.get_by_role("link", name="B", exact=True)).to_be_focused()
        place = f"B: {stage}, {cards.index('B') + 1} of {len(cards)}."
        expect(page.locator("#announcer")).to_have_text(place)


def test_a_card_is_moved_from_its_dialog(three: tuple[Agent, Page]) -> None:
    ada, page = three
    dialog = open_task(page, "A")
    with moving(page):
        dialog.get_by_label("Stage").select_option("Done")
    order(page, ada, "Done", "A")
    page.keyboard.press("Escape")
    expect(page.get_by_role("link", name="A", exact=True)).to_be_focused()


def test_what_is_read_while_a_card_is_moved_does_not_take_it_back(three: tuple[Agent, Page]) -> None:
    ada, page = three
    id_ = ada.call("list_tasks")["tasks"][0]["id"]
    column(page, "Backlog").evaluate(
        """node => new MutationObserver((all) => all.forEach((one) => one.addedNodes.forEach((added) => {
            if (added.matches?.(".card")) node.dataset.cameBack = "yes";
        }))).observe(node, {childList: true, subtree: true})"""
    )
    moves: list[Route] = []
    reads: list[tuple[Route, APIResponse]] = []

    def hold_back(move: Route) -> None:
        moves.append(move)

    def read_first(read: Route) -> None:
        if reads:
            return read.continue_()
        reads.append((read, read.fetch()))
        return moves[0].continue_()

    page.route("**/move", hold_back)
    page.route(f"**/api/cards?ids={id_}*", read_first)
    with moving(page):
        page.get_by_role("link", name="A", exact=True).focus()
        page.keyboard.press("Alt+ArrowRight")
        expect(titles(page, "Prepare")).to_have_text(["A"])
        ada.call("update_task", id=id_, tags=["changed"])
    read, from_before = reads[0]
    read.fulfill(response=from_before)
    expect(column(page, "Prepare").locator(".card")).to_contain_text("changed")
    order(page, ada, "Prepare", "A")
    expect(column(page, "Backlog")).not_to_have_attribute("data-came-back", "yes")
    page.unroute_all()


def test_a_move_that_is_refused_is_taken_back_and_explained(three: tuple[Agent, Page]) -> None:
    ada, page = three
    page.route("**/move", lambda route: route.fulfill(status=503, json={"error": "the disk is full"}))
    page.get_by_role("link", name="A", exact=True).focus()
    page.keyboard.press("Alt+ArrowRight")
    expect(page.get_by_role("alert")).to_contain_text("the disk is full")
    order(page, ada, "Backlog", "A", "B", "C")
    expect(page.get_by_role("link", name="A", exact=True)).to_be_focused()
    page.unroute("**/move")
    page.get_by_role("button", name="Dismiss").click()


def test_the_focus_goes_to_a_neighbor_when_its_card_is_deleted(three: tuple[Agent, Page]) -> None:
    ada, page = three
    page.get_by_role("link", name="B", exact=True).focus()
    [id_] = [one["id"] for one in ada.call("list_tasks")["tasks"] if one["title"] == "B"]
    delete(page, id_)
    expect(page.get_by_role("link", name="C", exact=True)).to_be_focused()
