"""Text that can be sent."""

import json

from hypothesis import given
from hypothesis import strategies as st

from lsp_mcp.toolsets.json_text import as_json, readable

ANY = st.text(st.characters(exclude_categories=()))  # halves of pairs among them


@given(ANY)
def test_any_text_can_be_sent(text: str) -> None:
    readable(text).encode()


@given(st.text())
def test_what_is_unicode_stays_as_it_is(text: str) -> None:
    assert readable(text) == text
    assert json.loads(as_json([text])) == [text]


def test_bytes_that_were_not_utf8_become_replacement_characters() -> None:
    assert readable(b"a\xffb".decode("utf-8", "surrogateescape")) == "a\ufffdb"
