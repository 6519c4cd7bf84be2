"""What others do is on every open page at once, and what was missed is told."""

from __future__ import annotations

import re

from playwright.sync_api import APIResponse, Browser, Page, Route, expect

from board_page.boards import Agent, Board, card, column, open_task, skip_without_chromium, stop_clock, titles
from lsp_mcp.board import tasks

skip_without_chromium()


def test_two_agents_and_two_pages_see_the_same(board: Board, browser: Browser, ada: Agent, grace: Agent) -> None:
    one, other = board.page(browser), board.page(browser)
    first = ada.task("Made by ada", tags=["new"])
    second = grace.task("Made by grace", stage="Verify")
    for page in (one, other):
        expect(card(page, "Made by ada").get_by_text("new")).to_be_visible()
        expect(column(page, "Verify").get_by_role("link", name="Made by grace")).to_be_visible()
        expect(page.locator("#workspace .agent")).to_have_text([f"{ada.name}test", f"{grace.name}test"])

    open_task(one, "Made by ada").get_by_label("Stage").select_option("Verify")
    expect(column(other, "Verify").get_by_role("link", name="Made by ada")).to_be_visible()
    assert grace.call("get_task", id=first)["stage"] == "Verify"

    grace.call("claim_task", id=first)
    grace.call("complete_task", id=second)
    for page in (one, other):
        expect(card(page, "Made by ada").locator(".fact--holder")).to_contain_text(grace.name)
        expect(card(page, "Made by grace")).to_contain_text("Completed")
    expect(one.get_by_role("dialog")).to_contain_text("Worked on by")
    expect(one.get_by_role("dialog").get_by_label("Worked on by").locator("option:checked")).to_have_text(grace.name)

    grace.call("register_agent", preferredName="hopper")
    expect(card(other, "Made by ada").locator(".fact--holder")).to_contain_text("hopper")


def test_a_read_glows_and_a_write_glows_more_and_both_say_whose_they_are(
    board: Board, browser: Browser, ada: Agent, grace: Agent
) -> None:
    id_ = ada.task("Looked at")
    page = board.page(browser, viewport={"width": 1440, "height": 860})
    stop_clock(page)
    looked_at = card(page, "Looked at")
    grace.call("get_task", id=id_)
    expect(looked_at).to_have_attribute("data-glow", "read")
    expect(looked_at.locator(".actor")).to_have_text(f"{grace.name} reads this")
    read = looked_at.evaluate("node => getComputedStyle(node).boxShadow")

    ada.call("add_to_task", id=id_, content="More.")
    expect(looked_at).to_have_attribute("data-glow", "write")
    expect(looked_at.locator(".actor")).to_have_text(f"{ada.name} changed this")
    assert looked_at.evaluate("node => getComputedStyle(node).boxShadow") != read
    grace.call("get_project_info")
    expect(column(page, "Backlog")).to_have_attribute("data-glow", "read")
    expect(column(page, "Backlog").locator(".column__head .actor")).to_have_text(f"{grace.name} reads this")

    page.clock.fast_forward(10_000)
    expect(page.locator("[data-glow]")).to_have_count(0)
    expect(page.locator(".actor:visible")).to_have_count(0)


def test_who_wants_less_motion_gets_none(board: Board, browser: Browser, ada: Agent) -> None:
    page = board.page(browser, reduced_motion="reduce")
    stop_clock(page)
    ada.task("Without motion")
    found = card(page, "Without motion")
    expect(found).to_have_attribute("data-glow", "write")
    assert found.evaluate("node => getComputedStyle(node).transitionDuration") in ("0s", "1e-05s")


def test_what_a_person_writes_stays_while_others_change_the_board(page: Page, ada: Agent, grace: Agent) -> None:
    ada.call("ask_user", question="What should it be called?")
    field = page.locator("#workspace").get_by_role("article", name="What should it be called?").get_by_role("textbox")
    field.press_sequentially("Som")
    grace.call("ask_user", question="And how big?", priority="high")
    ada.task("Something else")
    expect(page.locator("#workspace .question").first).to_contain_text("And how big?")
    expect(card(page, "Something else")).to_be_visible()
    page.keyboard.type("ething")
    expect(field).to_have_value("Something")
    expect(field).to_be_focused()


def test_a_comment_that_is_being_written_stays_while_others_comment(page: Page, ada: Agent) -> None:
    id_ = ada.task("Talked about")
    dialog = open_task(page, "Talked about")
    dialog.get_by_label("Your comment").press_sequentially("I ag")
    ada.call("add_to_task", id=id_, content="I have begun.", as_comment=True)
    expect(dialog.locator(".comment")).to_have_text(re.compile("I have begun."))
    page.keyboard.type("ree")
    dialog.get_by_role("button", name="Comment").click()
    expect(dialog.locator(".comment").last).to_contain_text("I agree")
    expect(dialog.get_by_label("Your comment")).to_have_value("")


def test_a_button_that_is_pressed_while_what_is_around_it_changes_is_clicked(page: Page, ada: Agent) -> None:
    id_ = ada.task("Pressed", description="The first text")
    ada.call("update_task", id=id_, description="Another")
    dialog = open_task(page, "Pressed")
    dialog.get_by_text("History (2)").click()
    dialog.get_by_role("button", name="Restore revision 1").hover()
    page.mouse.down()
    ada.call("update_task", id=id_, tags=["new"])
    expect(dialog.locator(".tag")).to_have_text("new")
    page.mouse.up()
    expect(dialog.locator(".prose")).to_have_text("The first text")
    expect(dialog.get_by_text("History (4)")).to_be_visible()


def test_a_dialog_shows_the_newest_even_if_an_older_answer_comes_later(page: Page, ada: Agent) -> None:
    id_ = ada.task("Version one")
    dialog = page.get_by_role("dialog")
    open_task(page, "Version one")
    held: list[tuple[Route, APIResponse]] = []
    page.route(f"**/api/tasks/{id_}", lambda route: held.append((route, route.fetch())))
    for title in ("Version two", "Version three"):
        ada.call("update_task", id=id_, title=title)
        expect(page.locator(".card__title", has_text=title)).to_be_attached()
    page.evaluate("() => new Promise(requestAnimationFrame)")  # the dialog has asked by now
    while held:
        route, answer = held.pop()
        with page.expect_request_finished(lambda request, asked=route.request: request == asked):
            route.fulfill(response=answer)
    page.unroute_all()
    expect(dialog.get_by_text("History (3)")).to_be_attached()
    expect(dialog.get_by_role("heading", name="Version three")).to_be_visible()


def test_many_changes_at_once_are_all_shown(page: Page, ada: Agent) -> None:
    for number in range(70):
        ada.task(f"One of many {number}", stage="Prepare")
    expect(column(page, "Prepare").locator(".column__count")).to_have_text("70")
    there = ada.call("list_tasks", stage="Done")["total"]
    ada.call("delete_stage", stage="Prepare", move_tasks_to="Done")
    expect(column(page, "Prepare")).to_have_count(0)
    expect(column(page, "Done").locator(".column__count")).to_have_text(str(70 + there))


def test_twenty_tabs_all_live_and_leave_room_for_requests(board: Board, browser: Browser, ada: Agent) -> None:
    pages = [board.page(browser) for _ in range(20)]
    ada.task("For twenty", stage="Implement")
    for page in pages:
        expect(card(page, "For twenty")).to_be_visible()
    open_task(pages[0], "For twenty").get_by_label("Stage").select_option("Verify")
    expect(column(pages[-1], "Verify").get_by_role("link", name="For twenty")).to_be_visible()


def test_a_browser_without_shared_workers_sees_the_same(board: Board, browser: Browser, ada: Agent) -> None:
    page = board.page(browser, viewport={"width": 1300, "height": 800})
    page.add_init_script("delete window.SharedWorker")
    page.reload()
    expect(page.locator(".connection")).to_contain_text("Live")
    ada.task("Without a worker")
    expect(card(page, "Without a worker")).to_be_visible()


def test_a_server_that_does_not_answer_is_not_waited_for(page: Page, ada: Agent) -> None:
    ada.task("Not answered")
    dialog = open_task(page, "Not answered")
    page.route("**/api/tasks/*", lambda _: None if _.request.method == "PATCH" else _.continue_())
    page.evaluate("() => { AbortSignal.timeout = () => AbortSignal.abort(new DOMException('', 'TimeoutError')); }")
    dialog.get_by_role("button", name="Complete").click()
    expect(page.get_by_role("alert")).to_contain_text("Whether your change was stored is not known")
    page.unroute_all()


def test_after_a_restart_the_page_comes_back_and_tells_what_it_missed(page: Page, board: Board, ada: Agent) -> None:
    known = titles(page, "Verify").all_text_contents()
    ada.task("Before", stage="Verify")
    expect(card(page, "Before")).to_be_attached()  # what is under way when the connection goes would count as missed
    sign = page.locator(".connection")
    expect(sign).to_contain_text("Live")
    board.stop()
    expect(sign).to_contain_text("Not connected")
    for title in ("Missed one", "Missed two"):
        board.write(lambda at, title=title: tasks.create(at, title, stage="Verify"))
    board.start()
    expect(sign).to_contain_text("Live")
    notice = page.get_by_role("status").filter(has_text="2 changes while you were away")
    expect(notice).to_be_visible()
    expect(titles(page, "Verify")).to_have_text([*known, "Before", "Missed one", "Missed two"])
    notice.locator("summary").click()
    notice.get_by_role("button", name="Missed one").click()
    expect(page.get_by_role("dialog", name="Missed one")).to_be_visible()
    board.agent("grace").task("Afterwards")
    expect(card(page, "Afterwards")).to_be_attached()


def test_a_page_that_is_signed_out_says_how_to_come_in_and_then_goes_on(page: Page, board: Board) -> None:
    board.stop()
    board.token = "another-token-of-the-tests"
    board.start()
    expect(page.locator(".connection")).to_contain_text("Signed out")
    expect(page.get_by_role("alert")).to_contain_text(f"lsp-mcp board --link --port {board.port} in {board.root}")
    other = page.context.new_page()
    other.goto(board.link())
    other.wait_for_selector(".column")
    expect(page.locator(".connection")).to_contain_text("Live")
    expect(page.get_by_role("alert")).to_have_count(0)
