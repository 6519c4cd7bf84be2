"""Strings that name what a module exports (`syntax.exports`)."""

from __future__ import annotations

import pytest

from lsp_mcp.syntax.codes import code_of
from lsp_mcp.syntax.exports import bound_for_exports
from lsp_mcp.text import Text


@pytest.mark.parametrize(
    "code",
    [
        "__all__ = ['foo', 'bar']",
        "__all__: list[str] = ['foo']",
        "__all__ = 'foo', 'bar'",
        "__all__ = ('foo',)",
        "__all__ = ['foo'] + other.__all__",
        "__all__ = other.__all__ + ['foo'] + another.__all__",
        "__all__ += ['foo']",
        "__all__ += other.__all__ + ['foo']",
        "__all__.extend(['foo'])",
        "__all__.append('foo')",
        "__all__.remove('foo')",
    ],
)
def test_a_name_is_exported_by_each_form_that_type_checkers_read(code: str) -> None:
    text = Text(f"def foo(): ...\n\n\n{code}\n")
    start = text.content.index("foo", 8)
    found = code_of(text, "python")
    assert found is not None
    assert found.part(start) == "code"
    assert bound_for_exports(text, "python", [text.offsets_span(start, start + 3)]) == {
        text.offsets_span(start, start + 3): text.offsets_span(4, 7)
    }
