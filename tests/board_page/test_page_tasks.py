"""Tasks, questions and texts as a person works with them on the page."""

from __future__ import annotations

import json

from playwright.sync_api import Page, expect

from board_page.boards import Agent, Board, card, column, delete, open_task, picture, skip_without_chromium

skip_without_chromium()

CONTENT = """\
# Plan

Some **bold** and *slanted* text, `code`, ~~gone~~ and [a link](https://example.com/a).

- [x] first
- [ ] second
  1. deeper

> quoted

```go
func main() { <-done }
```

| a | b |
|---|---|
| 1 | 2 |
"""


def test_an_empty_board_says_what_to_do(page: Page) -> None:
    expect(column(page, "Backlog")).to_contain_text("This board is empty.")
    expect(page.locator("#workspace")).to_contain_text("No agent is connected.")
    column(page, "Backlog").get_by_role("button", name="New task", exact=True).click()
    expect(page.get_by_role("dialog", name="New task")).to_be_visible()


def test_completing_a_task_that_lacks_something_asks_first(page: Page, ada: Agent) -> None:
    made = ada.call("create_task", title="Half done", description="- [x] first\n- [ ] second\n", stage="Implement")
    open_task(page, "Half done").get_by_role("button", name="Complete").click()
    asked = page.get_by_role("dialog", name="Complete it anyway?")
    expect(asked).to_contain_text(f"{made['id']} is not done: 1 checkbox of 2 is not ticked.")
    asked.get_by_role("button", name="Cancel").click()
    expect(
        page.get_by_role("status").or_(page.get_by_role("alert")).filter(has_text="not completed").first
    ).to_be_visible()
    assert ada.call("get_task", id=made["id"])["status"] == "pending"
    page.get_by_role("dialog").get_by_role("button", name="Complete").click()
    asked.get_by_role("button", name="Complete").click()
    expect(column(page, "Done").get_by_role("link", name="Half done")).to_be_attached()
    done = ada.call("get_task", id=made["id"])
    assert done["status"] == "completed"
    assert done["history"][-1]["message"].endswith("although 1 checkbox of 2 is not ticked")


def test_a_task_is_created_in_a_column_and_edited(page: Page, ada: Agent) -> None:
    page.get_by_role("button", name="New task in Implement").click()
    dialog = page.get_by_role("dialog", name="New task")
    dialog.get_by_role("button", name="Create task").click()
    expect(dialog.get_by_role("alert")).to_have_text("A task needs a title.")
    dialog.get_by_label("Title").fill("Written by hand")
    dialog.get_by_role("textbox", name="Description").fill(CONTENT)
    dialog.get_by_label("Tags").fill("one, two words,")
    dialog.get_by_role("button", name="Preview").click()
    expect(dialog.get_by_role("heading", name="Plan")).to_be_visible()
    dialog.get_by_role("button", name="Create task").click()
    expect(dialog).to_have_count(0)
    expect(column(page, "Implement").locator(".tag")).to_have_text(["one", "two words"])
    expect(page.get_by_role("link", name="Written by hand")).to_be_focused()

    dialog = open_task(page, "Written by hand")
    prose = dialog.locator(".prose")
    expect(prose.locator("strong")).to_have_text("bold")
    expect(prose.get_by_role("link", name="a link")).to_have_attribute("rel", "noopener noreferrer")
    expect(prose.get_by_role("checkbox")).to_have_count(2)
    expect(prose.get_by_role("checkbox").first).to_be_checked()
    expect(prose.locator("ul ol > li")).to_have_text("deeper")
    expect(prose.locator("pre")).to_have_text("func main() { <-done }")
    expect(prose.locator("td")).to_have_text(["1", "2"])
    expect(prose.locator("blockquote")).to_have_text("quoted")

    dialog.get_by_role("button", name="Edit").click()
    dialog = page.get_by_role("dialog", name="Edit task")
    dialog.get_by_label("Title").fill("Edited by hand")
    dialog.get_by_label("Tags").fill("two words, three")
    page.keyboard.press("Control+Enter")
    dialog = page.get_by_role("dialog", name="Edited by hand")
    dialog.get_by_text("History (2)").click()
    expect(dialog.locator(".history")).to_contain_text("title: Written by hand → Edited by hand")
    dialog.get_by_role("button", name="Complete").click()
    page.get_by_role("dialog", name="Complete it anyway?").get_by_role("button", name="Complete").click()
    expect(dialog.get_by_role("button", name="Reopen")).to_be_visible()
    expect(card(page, "Edited by hand")).to_contain_text("Completed")
    [found] = ada.call("list_tasks", stage="Done", text="Edited by hand")["tasks"]
    assert (found["title"], found["tags"], found["status"]) == ("Edited by hand", ["two words", "three"], "completed")


def test_a_task_is_deleted_only_after_a_second_thought(page: Page, ada: Agent) -> None:
    ada.task("To be deleted")
    dialog = open_task(page, "To be deleted")
    dialog.get_by_role("button", name="Delete…").click()
    page.get_by_role("button", name="Cancel").click()
    expect(dialog).to_be_visible()
    dialog.get_by_role("button", name="Delete…").click()
    page.get_by_role("button", name="Delete task").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(card(page, "To be deleted")).to_have_count(0)
    assert not ada.call("list_tasks", status="pending")["tasks"]


def test_what_was_written_is_not_thrown_away_unasked(page: Page, ada: Agent) -> None:
    ada.task("Half written")
    dialog = open_task(page, "Half written")
    dialog.get_by_role("button", name="Edit").click()
    page.get_by_label("Title").fill("Half writ")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Keep writing").click()
    expect(page.get_by_label("Title")).to_have_value("Half writ")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Discard").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(card(page, "Half written")).to_be_visible()


def test_two_who_change_the_same_text_see_both_and_the_person_chooses(page: Page, ada: Agent) -> None:
    id_ = ada.task("Contested")
    dialog = open_task(page, "Contested")
    for choice, mine, theirs in (("Keep mine", "Mine", "Theirs"), ("Take theirs", "Mine too", "Theirs too")):
        dialog.get_by_role("button", name="Edit").click()
        page.get_by_label("Title").fill(mine)
        ada.call("update_task", id=id_, title=theirs)
        expect(page.get_by_text(f"{ada.name} changed this task while you were writing.")).to_be_visible()
        page.get_by_role("button", name="Save").click()
        box = page.get_by_role("region", name="Two versions")
        expect(box).to_contain_text(f"{ada.name} changed the same text while you were writing")
        expect(box.get_by_role("region", name="Yours")).to_have_text(mine)
        expect(box.get_by_role("region", name="On the board")).to_have_text(theirs)
        picture(page, "conflict")
        box.get_by_role("button", name=choice).click()
        title = mine if choice == "Keep mine" else theirs
        dialog = page.get_by_role("dialog", name=title, exact=True)
        expect(dialog).to_be_visible()
        assert ada.call("get_task", id=id_)["title"] == title


def test_changes_of_different_things_are_both_kept_without_a_question(page: Page, ada: Agent) -> None:
    id_ = ada.task("Moved in between")
    open_task(page, "Moved in between").get_by_role("button", name="Edit").click()
    page.get_by_role("textbox", name="Description").fill("Mine")
    ada.call("move_to_stage", id=id_, stage="Verify")
    ada.call("update_task", id=id_, tags=["theirs"])
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("dialog", name="Moved in between").locator(".prose")).to_have_text("Mine")
    found = ada.call("get_task", id=id_)
    assert (found["description"], found["stage"], found["tags"]) == ("Mine", "Verify", ["theirs"])


def test_a_task_shows_what_it_depends_on_and_the_code_it_knows(page: Page, board: Board, ada: Agent) -> None:
    (board.root / "main.go").write_text("package main\n\nfunc main() {}\n")
    first = ada.task("Comes first")
    ada.task("Comes second", depends_on=[first], anchors=["go://main.go#3:6"])
    dialog = open_task(page, "Comes second")
    expect(dialog.locator(".anchor__place")).to_have_text("main.go:3")
    dialog.get_by_role("link", name="Comes first").click()
    dialog = page.get_by_role("dialog", name="Comes first")
    expect(dialog.get_by_role("heading", name="Needed by")).to_be_visible()
    dialog.get_by_role("link", name="Comes second").click()
    expect(page.get_by_role("dialog", name="Comes second")).to_be_visible()


def test_a_task_that_is_deleted_while_it_is_open_says_so(page: Page, ada: Agent) -> None:
    id_ = ada.task("Soon gone")
    dialog = open_task(page, "Soon gone")
    delete(page, id_)
    expect(dialog).to_contain_text("no longer on the board")


def test_a_question_is_answered_with_an_option_or_in_words(page: Page, ada: Agent, grace: Agent) -> None:
    id_ = ada.task("Asked about")
    asked = ada.call("ask_user", question="In words?", taskId=id_)
    urgent = grace.call(
        "ask_user",
        question="Which one?",
        options=[{"id": "a", "label": "The first"}, {"id": "b", "label": "The second"}],
        allowFreeform=False,
        priority="high",
    )
    panel = page.locator("#workspace")
    expect(panel.locator(".question").first).to_contain_text("High priority")
    expect(panel.locator(".question__text")).to_have_text(["Which one?", "In words?"])
    expect(card(page, "Asked about")).to_contain_text("1 question")
    expect(page.locator(".toolbar__panel")).to_contain_text("2 waiting for you")
    picture(page, "questions")
    panel.get_by_role("button", name="The second").click()
    expect(panel.locator(".question")).to_have_count(1)  # the other one moves up before it is clicked on
    words = panel.get_by_role("article", name="In words?")
    words.get_by_role("textbox", name="Your answer").fill("Yes, these")
    words.get_by_role("button", name="Answer").click()
    expect(panel.get_by_text("No questions.")).to_be_visible()
    expect(card(page, "Asked about")).not_to_contain_text("question")
    panel.get_by_text("Answered (2)").click()
    expect(panel.locator(".answered__answer")).to_contain_text(["Yes, these", "The second"])
    assert "Yes, these" in json.dumps(ada.call("get_response", questionId=asked["questionId"]))
    assert "The second" in json.dumps(grace.call("get_response", questionId=urgent["questionId"]))


def test_a_question_about_a_task_is_answered_in_its_dialog_too(page: Page, ada: Agent) -> None:
    id_ = ada.task("With a question")
    ada.call("ask_user", question="Here?", taskId=id_, options=[{"id": "y", "label": "Yes, here"}])
    dialog = open_task(page, "With a question")
    dialog.get_by_role("button", name="Yes, here").click()
    expect(dialog.locator(".question")).to_have_count(0)
    expect(page.locator("#workspace").get_by_role("article", name="Here?")).to_have_count(0)


def test_the_timeline_has_what_agents_report(page: Page, ada: Agent) -> None:
    id_ = ada.task("Reported about")
    for level in ("info", "success", "warning"):
        ada.call("notify_user", message=f"A {level}", level=level, taskId=id_)
    entries = page.locator(".entry")
    expect(entries.locator(".entry__text")).to_have_text(["A warning", "A success", "A info"])
    expect(entries.locator(".entry__level")).to_have_text(["Warning: ", "Success: ", "Information: "])
    entries.first.get_by_role("link", name=id_).click()
    expect(page.get_by_role("dialog", name="Reported about")).to_be_visible()


def test_stages_are_made_changed_and_deleted(page: Page, ada: Agent) -> None:
    page.get_by_role("button", name="Add a stage").click()
    page.get_by_label("Name", exact=True).fill("Review")
    page.get_by_label("Place").select_option("After Implement")
    page.get_by_role("button", name="Create stage").click()
    expect(page.locator(".column__name")).to_have_text(["Backlog", "Prepare", "Implement", "Review", "Verify", "Done"])
    ada.task("In review", stage="Review")
    page.get_by_role("button", name="Change the stage Review").click()
    page.get_by_label("Name", exact=True).fill("Look at it")
    page.get_by_role("button", name="Save").click()
    expect(column(page, "Look at it").get_by_role("link", name="In review")).to_be_visible()
    page.get_by_role("button", name="Change the stage Look at it").click()
    page.get_by_role("button", name="Delete…").click()
    page.get_by_role("button", name="Delete stage").click()
    expect(column(page, "Backlog").get_by_role("link", name="In review")).to_be_visible()


def test_the_filter_is_in_the_address_and_survives_a_reload(page: Page, ada: Agent, grace: Agent) -> None:
    ada.task("Filter by text", description="with the word hippopotamus", tags=["animal"])
    second = ada.task("Filter by tag", tags=["animal", "zoo"])
    ada.task("Filter by agent")
    grace.call("claim_task", id=second)
    shown = page.locator(".card__title")
    page.get_by_label("Filter tasks by text").fill("hippopotamus")
    expect(shown).to_have_text(["Filter by text"])
    page.get_by_label("Filter tasks by text").fill("filter by")
    expect(shown).to_have_count(3)
    card(page, "Filter by text").get_by_role("button", name="animal").click()
    expect(shown).to_have_text(["Filter by text", "Filter by tag"])
    page.get_by_label("Filter by who works on it").select_option(grace.name)
    expect(shown).to_have_text(["Filter by tag"])
    page.reload()
    expect(shown).to_have_text(["Filter by tag"])
    expect(page.get_by_label("Filter tasks by text")).to_have_value("filter by")
    expect(column(page, "Done")).to_contain_text("No task in this stage matches the filter.")
    page.get_by_role("button", name="Remove the tag animal from the filter").click()
    page.get_by_label("Filter by who works on it").select_option("Nobody")
    expect(shown).to_have_text(["Filter by text", "Filter by agent"])
    page.get_by_role("button", name="Clear", exact=True).click()
    expect(column(page, "Backlog").get_by_role("link", name="Filter by tag")).to_be_visible()
    assert "#" not in page.url
