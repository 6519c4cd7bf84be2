"""An answer that is passed through is cut to what a reader can take, and says so."""

from __future__ import annotations

import json
from typing import Any, cast

import pytest

from lsp_mcp.errors import RefusedError
from lsp_mcp.gaps import Gap, news
from lsp_mcp.sessions.sessions import Sessions
from lsp_mcp.toolsets.passing import PassedThrough, PassThrough


def fitted(result: Any, *gaps: Gap) -> PassedThrough:
    passed = PassedThrough(result, [*gaps, news("setup", "news")], lambda found: (found, ()), str)
    return PassThrough(cast(Sessions, None), 1).fitted(passed)


def size(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


@pytest.mark.parametrize("result", [None, [], {}, "x", [{"a": "ü" * 99_000}], {"items": ["x" * 90_000]}])
def test_what_a_reader_can_take_is_as_it_was(result: Any) -> None:
    passed = fitted(result)
    assert passed.result == result
    assert passed.status == "complete; news"


@pytest.mark.parametrize("wrap", [list, lambda items: {"isIncomplete": False, "items": items}])
def test_of_a_long_list_the_first_are_kept_and_the_status_says_how_many(wrap: Any) -> None:
    items = [{"n": n, "text": "😀" * 990} for n in range(300)]
    passed = fitted(wrap(items), Gap("indexing", "indexing 1/2"))
    kept = passed.result["items"] if isinstance(passed.result, dict) else passed.result
    assert kept == items[: len(kept)]
    assert size(kept) <= 101_000 < size(items[: len(kept) + 2])
    assert passed.status == f"indexing 1/2; capped at {len(kept)} of 300, more than 100,000 characters in all; news"
    if isinstance(passed.result, dict):
        assert passed.result["isIncomplete"] is False


def test_a_first_element_that_is_too_long_leaves_nothing() -> None:
    passed = fitted(["x" * 200_000, "y"])
    assert passed.result == []
    assert "capped at 0 of 2" in passed.status


@pytest.mark.parametrize("result", ["x" * 100_001, {"data": [1] * 100_000}, {"items": {"a": "x" * 100_001}}])
def test_what_has_no_first_elements_is_refused_with_its_size(result: Any) -> None:
    with pytest.raises(RefusedError, match=f"the answer has {size(result):,} characters, too many; ask about"):
        fitted(result)
