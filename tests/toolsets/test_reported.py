"""What a caller was told in full is told again in a few words, and events once."""

from pathlib import Path

from lsp_mcp.gaps import Gap, news, status
from lsp_mcp.sessions.reported import Reported

A, B = Path("/w/a.go"), Path("/w/b.go")
ERRORS = Gap("syntax_error", "a.go may have more uses of X: expected ;", (A, B), brief="2 files with errors")


def told(reported: Reported, caller: str, *gaps: Gap) -> str:
    return status(*reported.take(caller, gaps))


def test_nothing_missing_is_complete() -> None:
    assert told(Reported(), "one") == "complete"


def test_a_gap_is_told_in_full_once_and_then_in_brief() -> None:
    reported = Reported()
    assert told(reported, "one", ERRORS) == ERRORS.text
    again = Gap("syntax_error", "a.go may have more uses of Y: expected ;", (A, B), brief="2 files with errors")
    assert told(reported, "one", again) == "as before: 2 files with errors"


def test_the_same_trouble_with_other_files_is_told_in_full() -> None:
    reported = Reported()
    told(reported, "one", ERRORS)
    other = Gap("syntax_error", "b.go may have more uses of X: expected ;", (B,), brief="1 file with errors")
    assert told(reported, "one", other) == other.text


def test_a_gap_without_a_brief_form_is_always_told() -> None:
    reported = Reported()
    indexing = Gap("indexing", "indexing 4/5")
    assert [told(reported, "one", indexing) for _ in range(2)] == ["indexing 4/5"] * 2


def test_each_caller_is_told_in_full() -> None:
    reported = Reported()
    told(reported, "one", ERRORS)
    assert told(reported, "two", ERRORS) == ERRORS.text


def test_an_event_is_told_once_to_each_caller_who_was_there() -> None:
    reported = Reported()
    told(reported, "one")
    told(reported, "two")
    restarted = news("restarted", "gopls restarted", event=1)
    assert [told(reported, "one", restarted) for _ in range(2)] == ["complete; gopls restarted", "complete"]
    assert told(reported, "two", restarted) == "complete; gopls restarted"
    assert told(reported, "later", restarted) == "complete", "it was news before this caller came"
    assert told(reported, "one", news("restarted", "gopls restarted", event=2)) == "complete; gopls restarted"


def test_news_do_not_make_an_answer_incomplete() -> None:
    assert told(Reported(), "one", news("unsaved", "for unsaved text in Neovim: a.go")).startswith("complete; ")


def test_what_is_remembered_is_bounded() -> None:
    reported = Reported()
    for number in range(2_000):
        told(reported, f"caller {number}", Gap("doubt", str(number)))
        told(reported, "one", Gap("doubt", str(number)))
    assert len(reported._seen) == 1_000
    assert max(map(len, reported._seen.values())) == 1_000


def test_a_later_client_hears_of_the_setup_but_not_of_restarts_before_it() -> None:
    first = Reported()
    happened = (news("restarted", "gopls restarted", event=1), news("setup", "changes are found by scans", event=1))
    assert told(first, "one", *happened) == "complete; gopls restarted; changes are found by scans"
    later = first.for_client()
    assert told(later, "one", *happened) == "complete; changes are found by scans"
    assert told(later, "one", news("restarted", "gopls restarted", event=2)) == "complete; gopls restarted"
