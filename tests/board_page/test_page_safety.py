"""Whatever agents write stays text: no script runs, nothing is loaded from elsewhere."""

from __future__ import annotations

import urllib.error
import urllib.request

import pytest
from playwright.sync_api import Page, expect

from board_page.boards import Agent, Board, card, open_task, skip_without_chromium

skip_without_chromium()

EVIL = (
    "<script>window.hacked = 1</script>",
    "<img src=x onerror='window.hacked = 2'>",
    "<svg onload=window.hacked=3>",
    '"><iframe srcdoc="<script>parent.hacked = 4</script>"></iframe>',
    "<a href='javascript:window.hacked=5'>click</a>",
    "[click](javascript:window.hacked=6)",
    "[click](JaVaScRiPt:window.hacked=7)",
    "[click](data:text/html,<script>opener.hacked=8</script>)",
    "[click](vbscript:hacked)",
    "<javascript:window.hacked=9>",
    "![image](https://example.com/spy.png)",
    "`<b>code</b>` **<i onclick=alert(1)>bold</i>**",
    "<style>body { display: none }</style>",
    "{{constructor.constructor('hacked=10')()}} ${window.hacked=11}",
    "&lt;script&gt;window.hacked=12&lt;/script&gt;",
)
FOREIGN = "#app :is(script, iframe, object, embed, svg:not(.icon), style, [onerror], [onload], [onclick])"


def nothing_ran(page: Page) -> None:
    assert page.evaluate("() => window.hacked") is None
    expect(page.locator(FOREIGN)).to_have_count(0)
    expect(page.locator("dialog :is(script, iframe, object, embed, svg:not(.icon), style, img)")).to_have_count(0)
    hrefs = page.locator("a").evaluate_all("all => all.map(one => one.protocol)")
    assert set(hrefs) <= {"http:", "https:", "mailto:"}


def test_no_text_of_an_agent_is_more_than_text(page: Page, board: Board) -> None:
    evil = board.agent("<img src=x onerror=hacked=20>")
    for number, text in enumerate(EVIL):
        title = f"{number} {text}"
        id_ = evil.task(title, description=text, tags=[text.replace(",", "")[:60]])
        evil.call("notify_user", message=text, level="warning", taskId=id_)
        evil.call("ask_user", question=title, options=[{"id": "o", "label": text}], taskId=id_)
    for number, text in enumerate(EVIL):
        expect(card(page, f"{number} {text}")).to_be_attached()
    everything = "\n\n".join(EVIL)
    id_ = evil.task(
        "All of it", description=f"# {everything}\n\n- {everything}\n\n> {everything}\n\n|{EVIL[1]}|\n|-|-|\n"
    )
    evil.call("claim_task", id=id_)
    evil.call("create_standard", id="evil", content=everything, description=EVIL[0])
    evil.call("create_snippet", title=EVIL[1], content=everything)
    evil.call("create_stage", name=EVIL[2][:60])
    expect(card(page, "All of it").locator(".fact--holder")).to_contain_text("<img src=x onerror=hacked=20>")
    expect(page.locator(".entry__text").last).to_have_text(EVIL[0])
    expect(page.locator(".question__text").first).to_have_text(f"0 {EVIL[0]}")
    expect(page.locator(".column__name").last).to_have_text(EVIL[2])
    nothing_ran(page)

    dialog = open_task(page, "All of it")
    prose = dialog.locator(".prose")
    expect(prose).to_contain_text("<script>window.hacked = 1</script>")
    for link in prose.get_by_role("link").all():
        assert (link.get_attribute("href") or "").startswith("https://example.com/")
        assert link.get_attribute("rel") == "noopener noreferrer"
    dialog.get_by_text("History (").click()
    nothing_ran(page)
    dialog.get_by_role("button", name="Edit").click()
    page.get_by_role("button", name="Preview").click()
    nothing_ran(page)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Standards and snippets").click()
    page.get_by_role("navigation", name="Texts for agents").get_by_role("button", name=EVIL[1]).click()
    nothing_ran(page)
    page.keyboard.press("Escape")
    page.get_by_label("Filter by tag").select_option(EVIL[0])
    expect(page.locator(".chip")).to_contain_text(EVIL[0])
    nothing_ran(page)


def test_the_policy_lets_no_script_in_even_if_the_page_had_a_hole(page: Page) -> None:
    blocked = page.evaluate(
        """() => new Promise(resolve => {
             document.addEventListener("securitypolicyviolation", event => resolve(event.effectiveDirective));
             const script = document.createElement("script");
             script.textContent = "window.hacked = 1";
             document.body.append(script);
           })"""
    )
    assert blocked == "script-src-elem"
    assert page.evaluate("() => window.hacked") is None


@pytest.fixture
def board(shared_board: Board, request: pytest.FixtureRequest) -> Board:
    """As everywhere; but where a test makes the policy say no, the browser's message about it is not a complaint."""

    def end() -> None:
        complaints = shared_board.end_pages()
        assert [one for one in complaints if "hole" not in request.node.name or "inline script" not in one] == []

    request.addfinalizer(end)
    return shared_board


def test_markdown_of_any_size_and_depth_is_shown_soon(page: Page, ada: Agent) -> None:
    for text in (
        "[" * 190_000,
        "*a" * 90_000,
        "> " * 50_000,
        "`" * 190_000,
        "- " * 50_000,
        " " * 190_000 + "#",
        "|" * 90_000 + "\n|-|",
    ):
        ada.task(f"Heavy {text[:4]}", description=text)
        expect(card(page, f"Heavy {text[:4]}".strip())).to_be_attached()
        dialog = open_task(page, f"Heavy {text[:4]}".strip())
        expect(dialog.locator(".prose, .hint").first).to_be_attached()
        page.keyboard.press("Escape")
        expect(dialog).to_have_count(0)


def test_without_a_link_there_is_no_page(board: Board) -> None:
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(board.address)
    assert refused.value.code == 401
    assert "lsp-mcp board --link" in refused.value.read().decode()
