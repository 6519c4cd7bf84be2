"""What an agent can do, a person can do on the page too; and the person is told when an agent waits."""

from __future__ import annotations

import subprocess
from typing import Any

from playwright.sync_api import APIResponse, Browser, Page, Route, expect

from board_page.boards import (
    PERSON,
    Agent,
    Board,
    card,
    column,
    open_task,
    picture,
    skip_without_chromium,
    titles,
    undo,
)

skip_without_chromium()

# What the page tells the desktop and the loudspeaker, kept for the test to read.
TOLD = """
  window.told = [];
  window.Notification = class extends EventTarget {
    static permission = "default";
    static async requestPermission() { return (this.permission = "granted"); }
    constructor(title, options) { super(); window.told.push(`${title}: ${options.body}`); window.shown = this; }
    close() {}
  };
  const start = OscillatorNode.prototype.start;
  OscillatorNode.prototype.start = function (...at) { window.told.push("tone"); return start.apply(this, at); };
  document.hasFocus = () => false;
"""


def open_sidebar(page: Page) -> None:
    if not page.locator("#sidebar").is_visible():  # the browser keeps it open
        page.get_by_role("button", name="Standards and snippets").click()


def test_standards_and_snippets_are_written_changed_and_deleted(page: Page, ada: Agent) -> None:
    open_sidebar(page)
    page.get_by_role("button", name="New standard").click()
    page.get_by_label("Id").fill("naming")
    page.get_by_role("textbox", name="Text").fill("# Names\nShort.")
    page.keyboard.press("Control+Enter")
    page.get_by_role("button", name="naming").click()
    dialog = page.get_by_role("dialog", name="naming")
    expect(dialog.get_by_role("heading", name="Names")).to_be_visible()
    dialog.get_by_role("button", name="Edit").click()
    page.get_by_role("textbox", name="Text").fill("# Names\nMine")
    ada.call("update_standard", id="naming", content="# Names\nTheirs")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert")).to_contain_text(f"{ada.name} has changed it while you were writing")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("dialog", name="naming")).to_contain_text("Mine")
    assert "Mine" in str(ada.call("get_standard", id="naming"))
    page.get_by_role("button", name="Delete…").click()
    page.get_by_role("button", name="Delete standard").click()
    expect(page.get_by_role("button", name="naming")).to_have_count(0)

    page.get_by_role("button", name="New snippet").click()
    page.get_by_label("Title").fill("A loop")
    page.get_by_role("textbox", name="Tags").fill("go, loops")
    page.get_by_role("textbox", name="Text").fill("`for`")
    page.get_by_role("button", name="Create snippet").click()
    page.get_by_role("button", name="A loop").click()
    expect(page.get_by_role("dialog", name="A loop").locator("code")).to_have_text("for")
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="A loop")).to_be_focused()


def test_dependencies_and_code_are_edited_and_taken_back(page: Page, board: Board, ada: Agent) -> None:
    (board.root / "main.go").write_text("package main\n\nfunc first() {}\n\nfunc main() {\n\tfirst()\n}\n")
    first, second = ada.task("Needed before"), ada.task("Needs another")
    dialog = open_task(page, "Needs another")
    dialog.get_by_label("Depend on another task").fill("neded bef")
    dialog.get_by_role("button", name="Needed before").click()
    expect(dialog.get_by_role("link", name="Needed before")).to_be_visible()
    assert ada.call("get_task", id=second)["depends_on"] == [first]

    dialog.get_by_label("Anchor of another symbol").fill("go://main.go#5:1")
    dialog.get_by_role("button", name="Add").click()
    expect(dialog.locator(".anchor__symbol")).to_contain_text("func")
    dialog.get_by_role("button", name="Show the code").click()
    expect(dialog.locator(".code__line.is-meant")).to_contain_text("func main()")
    expect(dialog.locator(".anchor pre")).to_contain_text("first()")
    dialog.get_by_label("Anchor of another symbol").fill("main.go")
    dialog.get_by_role("button", name="Add").click()
    expect(dialog.get_by_role("alert")).to_contain_text("main.go names a file, not a symbol")

    page.keyboard.press("Escape")
    undo(page, "changed the code of Needs another")
    expect(page.locator(".toast")).to_be_visible()
    undo(page, "changed what Needs another depends on")
    found = ada.call("get_task", id=second)
    assert not found.get("depends_on") and not found.get("anchors")


def test_the_filter_understands_conditions_and_forgives_misspelling(page: Page, ada: Agent, grace: Agent) -> None:
    ada.task("Document the cache", tags=["docs"], stage="Verify", description="with a walrus")
    second = ada.task("Cache the documents", tags=["perf"], stage="Verify")
    grace.call("claim_task", id=second)
    shown, field = page.locator(".card__title"), page.get_by_label("Filter tasks by text")
    for query, found in {
        "stage:verify documnet": ["Document the cache", "Cache the documents"],
        "stage:verify tag:docs": ["Document the cache"],
        "stage:verify -tag:docs": ["Cache the documents"],
        f"agent:{grace.name} is:claimed cache": ["Cache the documents"],
        "stage:verify is:ready cch": ["Document the cache"],
        "walrus status:pending": ["Document the cache"],
        "walrus status:completed": [],
        'stage:verify "cache the"': ["Cache the documents"],
    }.items():
        field.fill(query)
        expect(shown, query).to_have_text(found)


def test_keys_filter_make_a_task_and_explain_themselves(page: Page) -> None:
    page.keyboard.press("/")
    expect(page.get_by_label("Filter tasks by text")).to_be_focused()
    page.keyboard.type("n?/")  # they are text here
    expect(page.get_by_label("Filter tasks by text")).to_have_value("n?/")
    page.get_by_label("Filter tasks by text").fill("")
    page.locator("#board").focus()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard and filter")).to_contain_text("is:blocked")
    page.keyboard.press("Escape")
    page.locator("#board").focus()
    page.keyboard.press("n")
    page.keyboard.type("By key")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("link", name="By key")).to_be_focused()
    undo(page, "created By key")
    expect(card(page, "By key")).to_have_count(0)


def test_several_cards_are_moved_and_tagged_together_and_taken_back(page: Page, ada: Agent) -> None:
    for title in ("One of three", "Two of three", "Three of three"):
        ada.task(title, stage="Prepare")
    expect(card(page, "Three of three")).to_be_visible()
    for title in ("Three of three", "One of three"):
        card(page, title).locator(".card__title").focus()
        page.keyboard.press("x")
    bar = page.get_by_role("region", name="Selected tasks")
    expect(bar).to_contain_text("2 tasks selected")
    bar.get_by_label("Tag for the selected tasks").fill("both")
    bar.get_by_label("Tag for the selected tasks").press("Enter")
    expect(card(page, "One of three").locator(".tag")).to_have_text("both")
    expect(card(page, "Three of three").locator(".tag")).to_have_text("both")
    bar.get_by_label("Move the selected tasks to").select_option("Implement")
    expect(titles(page, "Implement")).to_have_text(["One of three", "Three of three"])
    page.locator("#board").focus()
    undo(page, "moved 2 tasks")
    expect(titles(page, "Prepare")).to_have_text(["One of three", "Two of three", "Three of three"])
    page.keyboard.press("Escape")
    expect(bar).to_be_hidden()
    expect(column(page, "Implement").locator(".card")).to_have_count(0)


def test_a_question_is_told_to_the_desktop_and_heard_once_that_is_wanted(
    board: Board, browser: Browser, ada: Agent
) -> None:
    page = board.page(browser, viewport={"width": 1100, "height": 800})
    page.add_init_script(TOLD)
    page.reload()
    expect(page.locator(".connection")).to_contain_text("Live")
    ada.call("ask_user", question="Before anything was chosen?")
    notices = page.get_by_role("region", name="Notices")
    expect(notices).to_contain_text(f"{ada.name} asks: Before anything was chosen?")  # the panel is closed
    page.get_by_role("button", name="Notify me").click()
    expect(page.get_by_text("An agent waits for you.")).to_have_count(0)
    ada.call("ask_user", question="Now?")
    expect(page).to_have_title(f"(2) {board.root.name} · Board")
    page.wait_for_function(
        "() => window.told.filter(one => one === 'tone').length >= 4"
    )  # one for trying, one for this
    told: list[Any] = page.evaluate("() => window.told")
    assert [one for one in told if one != "tone"] == [f"{ada.name} asks: Now?"]
    assert "%3E2%3C" in str(page.locator("link[rel=icon]").get_attribute("href"))  # >2<
    page.evaluate("() => window.shown.dispatchEvent(new Event('click'))")
    expect(page.get_by_role("article", name="Now?").get_by_role("textbox")).to_be_focused()
    page.reload()
    expect(page.locator(".connection")).to_contain_text("Live")
    expect(page.get_by_text("An agent waits for you.")).to_have_count(0)  # asked once


def test_a_question_is_dismissed_and_one_whose_asker_has_left_says_so(page: Page, board: Board, ada: Agent) -> None:
    leaving = board.agent("leaving")
    asked = ada.call("ask_user", question="Is this needed?")
    leaving.call("ask_user", question="Who reads this?")
    left = page.get_by_role("article", name="Who reads this?")
    expect(left).to_be_visible()
    expect(left.get_by_text("has left")).to_be_hidden()
    leaving.close()
    expect(left.get_by_text("has left")).to_be_visible()
    page.get_by_role("article", name="Is this needed?").get_by_role("button", name="Dismiss this question").click()
    expect(page.get_by_role("article", name="Is this needed?")).to_have_count(0)
    assert "dismissed" in ada.call("get_response", questionId=asked["questionId"])["answer"]


def test_what_is_blocked_is_seen_and_found_and_is_free_once_the_other_is_done(page: Page, ada: Agent) -> None:
    first = ada.task("Lay the ground", stage="Prepare")
    ada.task("Build on it", stage="Prepare", depends_on=[first])
    expect(card(page, "Build on it")).to_contain_text("Blocked by 1")
    page.get_by_label("Filter tasks by text").fill("is:blocked")
    expect(page.locator(".card__title")).to_have_text(["Build on it"])
    page.get_by_label("Filter tasks by text").fill("")
    ada.call("complete_task", id=first)
    expect(column(page, "Done").get_by_role("link", name="Lay the ground")).to_be_visible()
    expect(card(page, "Build on it")).not_to_contain_text("Blocked")
    page.get_by_role("link", name="Lay the ground").click()
    page.get_by_role("button", name="Reopen").click()
    expect(card(page, "Build on it")).to_contain_text("Blocked by 1")


def test_a_card_shows_the_whole_wait_and_it_shrinks_when_a_far_task_is_done(page: Page, ada: Agent) -> None:
    first = ada.task("Dig the pit", stage="Prepare")
    second = ada.task("Pour the concrete", stage="Prepare", depends_on=[first])
    third = ada.task("Raise the walls", stage="Prepare", depends_on=[second])
    ada.task("Lay the roof", stage="Prepare", depends_on=[third])
    expect(card(page, "Lay the roof")).to_contain_text("Blocked by 1 · 3 in all")
    expect(card(page, "Pour the concrete")).not_to_contain_text("in all")
    ada.call("complete_task", id=first)
    expect(card(page, "Lay the roof")).to_contain_text("Blocked by 1 · 2 in all")


def test_a_new_task_has_the_priority_that_is_chosen_in_its_form(page: Page, ada: Agent) -> None:
    page.get_by_role("button", name="New task in Prepare").click()
    form = page.get_by_role("dialog")
    form.get_by_label("Title").fill("Stop the leak")
    expect(form.get_by_label("Priority")).to_have_value("2")
    form.get_by_label("Priority").select_option("0")
    form.get_by_role("button", name="Create task").click()
    expect(card(page, "Stop the leak")).to_contain_text("P0")
    assert [task["priority"] for task in ada.call("list_tasks", text="Stop the leak")["tasks"]] == ["P0"]


def test_priority_checkboxes_comments_and_the_archive(page: Page, ada: Agent) -> None:
    id_ = ada.task("With everything", stage="Verify", description="- [ ] one\n- [x] two\n")
    expect(card(page, "With everything")).to_contain_text("1/2")
    dialog = open_task(page, "With everything")
    dialog.get_by_label("Priority").select_option("0")
    expect(card(page, "With everything").locator(".priority")).to_have_text("P0")
    dialog.get_by_role("checkbox", name="one").check()
    expect(card(page, "With everything")).to_contain_text("2/2")
    assert "- [x] one" in ada.call("get_task", id=id_)["description"]
    dialog.get_by_label("Your comment").fill("Please hurry")
    dialog.get_by_role("button", name="Comment").click()
    expect(dialog.locator(".comment")).to_contain_text("Please hurry")
    assert "Please hurry" in str(ada.call("get_task", id=id_))
    dialog.get_by_role("button", name="Complete").click()
    dialog.get_by_role("button", name="Archive").click()
    expect(card(page, "With everything")).to_have_count(0)
    page.keyboard.press("Escape")
    open_sidebar(page)
    page.get_by_role("button", name="Archive", exact=True).click()
    page.get_by_role("button", name="Bring back").click()
    expect(column(page, "Done").get_by_role("link", name="With everything")).to_be_attached()


def test_a_stage_gets_activities_that_agents_read(page: Page, ada: Agent) -> None:
    page.get_by_role("button", name="Change the stage Verify").click()
    page.get_by_role("button", name="Add an activity").click()
    page.get_by_label("Name of the activity").fill("Review")
    page.get_by_label("Prompt of the activity").fill("Read the whole diff.")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert "Read the whole diff." in str(ada.call("get_project_info"))


def test_commits_that_name_a_task_are_listed_with_their_diff(page: Page, board: Board, ada: Agent) -> None:
    def git(*words: str) -> None:
        author = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"]
        subprocess.run(["git", *author, *words], cwd=board.root, check=True, capture_output=True)

    id_ = ada.task("Has commits")
    git("init", "--initial-branch=main")
    (board.root / "greet.txt").write_text("hello\n")
    git("add", "greet.txt")
    git("commit", "-m", f"Greet\n\nTask: {id_}")
    git("commit", "--allow-empty", "-m", f"Another one\n\nTask: {id_}x")
    dialog = open_task(page, "Has commits")
    expect(dialog.locator(".commit")).to_have_count(1)
    expect(dialog.locator(".commit")).to_contain_text("greet.txt")
    dialog.get_by_role("button", name="Greet").click()
    expect(page.get_by_role("dialog", name="Greet").locator(".is-added")).to_have_text("+hello\n")


def test_an_overwritten_text_and_a_deleted_task_come_back(page: Page, ada: Agent) -> None:
    id_ = ada.task("Overwritten", description="The first text")
    ada.call("update_task", id=id_, description="Another")
    dialog = open_task(page, "Overwritten")
    expect(dialog.locator(".prose")).to_have_text("Another")
    dialog.get_by_text("History (2)").click()
    expect(dialog.locator(".history")).to_contain_text("The first text")
    dialog.get_by_role("button", name="Restore revision 1").click()
    expect(dialog.locator(".prose")).to_have_text("The first text")
    dialog.get_by_role("button", name="Delete…").click()
    page.get_by_role("button", name="Delete task").click()
    expect(card(page, "Overwritten")).to_have_count(0)
    open_sidebar(page)
    page.get_by_role("button", name="Trash", exact=True).click()
    page.get_by_role("listitem").filter(has_text="Overwritten").get_by_role("button", name="Restore").click()
    expect(card(page, "Overwritten")).to_be_visible()
    assert ada.call("get_task", id=id_)["description"] == "The first text"


def test_agents_are_named_and_given_tasks_and_are_told(page: Page, ada: Agent, grace: Agent) -> None:
    id_ = ada.task("To be given")
    ada.call("claim_task", id=id_)
    dialog = open_task(page, "To be given")
    holder = dialog.get_by_label("Worked on by")
    holder.select_option(grace.name)
    expect(holder.locator("option:checked")).to_have_text(grace.name)
    expect(card(page, "To be given").locator(".fact--holder")).to_contain_text(grace.name)
    assert ada.news("list_ready_tasks") == [f"{PERSON} gave {id_} (To be given) to {grace.name}: stop working on it"]
    assert grace.news("get_task", id=id_) == [f"{PERSON} gave you {id_} (To be given): work on it"]
    dialog.get_by_label("Your comment").fill("Begin with the tests")
    dialog.get_by_role("button", name="Comment").click()
    expect(dialog).to_contain_text("Begin with the tests")
    assert grace.news("get_task", id=id_) == [f"{PERSON} commented on {id_}: Begin with the tests"]
    holder.select_option("Nobody")
    expect(card(page, "To be given").locator(".fact--holder")).to_have_count(0)
    assert grace.call("get_task", id=id_).get("claimed_by") is None
    dialog.get_by_role("button", name="Edit").click()
    page.get_by_label("Branch").fill("fix/it")
    page.get_by_role("button", name="Save").click()
    expect(dialog.get_by_text("fix/it", exact=True)).to_be_visible()
    page.keyboard.press("Escape")
    page.get_by_label("Filter tasks by text").fill("fix/it")  # it is nowhere on the card
    expect(page.locator(".card__title")).to_have_text(["To be given"])
    page.get_by_label("Filter tasks by text").fill("")

    if page.locator("#workspace").is_hidden():  # other tests of the module may have opened it
        page.locator("#board").focus()
        page.keyboard.press("w")
    page.get_by_role("button", name=f"Rename {ada.name}", exact=True).click()  # "ada-2" may be about to leave
    page.get_by_role("textbox", name="Name").fill(grace.name)
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text(f"another agent is called {grace.name}")
    page.get_by_role("textbox", name="Name").fill("lovelace")
    page.get_by_role("button", name="Rename", exact=True).click()
    expect(page.get_by_role("dialog")).to_have_count(0)  # the keys below are not for it
    names = page.locator("#workspace .agent__name")
    expect(names.get_by_text("lovelace", exact=True)).to_be_visible()
    assert ada.news("get_project_info") == [f"{PERSON} renamed you: you are lovelace now"]
    ada.call("add_to_task", id=id_, content="x")
    assert grace.call("get_task", id=id_)["history"][-1]["who"] == "lovelace"
    undo(page, f"renamed {ada.name}")
    expect(names.get_by_text(ada.name, exact=True)).to_be_visible()


def test_the_last_change_is_undone_even_if_its_answer_is_late(page: Page, ada: Agent) -> None:
    first, second = ada.task("Asked for first"), ada.task("Answered late")
    held: list[tuple[Route, APIResponse]] = []
    page.route("**/links", lambda route: held.append((route, route.fetch())))
    dialog = open_task(page, "Answered late")
    dialog.get_by_label("Depend on another task").fill("Asked for first")
    dialog.get_by_role("button", name="Asked for first").click()
    expect(dialog.get_by_role("link", name="Asked for first")).to_be_visible()
    assert ada.call("get_task", id=second)["depends_on"] == [first]
    page.keyboard.press("Escape")
    page.keyboard.press("Control+z")
    [(route, answer)] = held
    route.fulfill(response=answer)
    page.unroute("**/links")
    expect(page.locator("#announcer")).to_have_text("Undone: changed what Answered late depends on")
    assert not ada.call("get_task", id=second).get("depends_on")


def test_to_undo_twice_undoes_two_changes(page: Page, ada: Agent) -> None:
    id_ = ada.task("Changed first", stage="Prepare")
    card(page, "Changed first").locator(".card__title").focus()
    page.keyboard.press("Alt+ArrowRight")
    expect(titles(page, "Implement")).to_have_text(["Changed first"])
    page.keyboard.press("n")
    page.keyboard.type("Made second")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("link", name="Made second")).to_be_focused()
    undo(page, "created Made second")
    undo(page, "moved Changed first")
    expect(card(page, "Made second")).to_have_count(0)
    expect(column(page, "Prepare").get_by_role("link", name="Changed first")).to_be_visible()
    assert ada.call("get_task", id=id_)["stage"] == "Prepare"


def test_the_claim_of_an_agent_that_has_left_is_shown_as_lapsed_at_once_and_the_task_counts_as_ready(
    page: Page, board: Board
) -> None:
    leaving = board.agent("short-lived")
    id_ = leaving.task("Half done", stage="Prepare")
    leaving.call("claim_task", id=id_)
    leaving.call("add_to_task", id=id_, content="Only one.", as_comment=True)
    expect(card(page, "Half done")).to_contain_text(f"worked on by {leaving.name}")
    expect(card(page, "Half done").get_by_title("1 comment")).to_have_text("1 comment")
    leaving.close()
    expect(card(page, "Half done")).to_contain_text(f"claim lapsed: {leaving.name}")
    page.get_by_label("Filter tasks by text").fill("is:ready half done")
    expect(page.locator(".card__title")).to_have_text(["Half done"])
    page.get_by_role("link", name="Half done").click()
    expect(page.get_by_label("Worked on by")).to_contain_text(f"{leaving.name} (gone; the claim has lapsed)")
    page.get_by_role("button", name="Close", exact=True).click()
    page.get_by_label("Filter tasks by text").fill("")


def test_people_are_told_apart_by_name_and_mentioned_and_given_tasks(
    page: Page, board: Board, browser: Browser, ada: Agent
) -> None:
    id_ = ada.task("Who does what", stage="Prepare")
    expect(page.get_by_role("button", name=f"You are {PERSON}")).to_have_text("OO")
    bob = board.page(browser, name="Bob")
    expect(bob.get_by_role("button", name="You are Bob")).to_be_visible()
    dialog = open_task(bob, "Who does what")
    dialog.get_by_label("Your comment").fill(f"@{PERSON} is this yours? @{ada.name} wait")
    dialog.get_by_role("button", name="Comment", exact=True).click()
    expect(dialog.locator(".comment")).to_contain_text("Bob(you)")
    dialog.get_by_label("Worked on by").select_option(label=PERSON)
    assert f"Bob mentions you on {id_}" in " ".join(ada.news("get_task", id=id_))
    expect(card(page, "Who does what")).to_contain_text(f"worked on by {PERSON}")
    expect(card(page, "Who does what").locator(".avatar")).to_have_text("OO")
    page.get_by_label("Filter by who works on it").select_option(PERSON)
    expect(page.locator(".card__title")).to_have_text(["Who does what"])
    page.get_by_label("Filter by who works on it").select_option("Anybody")
    mine = open_task(page, "Who does what")
    expect(mine.locator(".comment")).to_contain_text("Bob")
    expect(mine.locator(".comment")).not_to_contain_text("(you)")
    page.keyboard.press("Escape")
    workspace = page.get_by_role("complementary", name="Agent Workspace")
    expect(workspace.get_by_role("heading", name="For you", exact=True)).to_be_visible()
    expect(workspace).to_contain_text(f"Bob gave you {id_}")
    expect(workspace).to_contain_text(f"Bob mentions you on {id_}")
    expect(workspace.locator(".person")).to_contain_text(["Bob", PERSON])
    picture(page, "people")
    picture(bob, "people-bob")


def test_the_first_visit_says_under_which_name_the_page_acts_and_offers_another(board: Board, browser: Browser) -> None:
    page = board.page(browser, is_first_visit=True)
    expect(page.get_by_text(f"You are {PERSON} on this board")).to_be_visible()
    page.get_by_role("button", name="Change", exact=True).click()
    page.get_by_label("Your name on this board").fill("Wimpy")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("button", name="You are Wimpy")).to_be_visible()
    page.reload()
    expect(page.get_by_role("button", name="You are Wimpy")).to_be_visible()
    expect(page.get_by_text("on this board: others see")).to_have_count(0)
