"""What questions must know about lsp-mcp's own server, which knows syntax only: `SyntaxPlugin`."""

from __future__ import annotations

from lsp_mcp.backend import Scope
from lsp_mcp.gaps import Gap, news
from lsp_mcp.lsp.coverage import Coverage, SessionPlugin, Start
from lsp_mcp.servers.traits import Diagnostics, Documents, WordCheck

_FORM = Gap("unverified", "by syntax alone: no name or type was resolved", brief="by syntax alone", about="syntax")
_NAMES = news(
    "setup",
    "languages without an installed server were searched by syntax alone (see lsp-mcp doctor)",
    event=1,
)
_SAME_WORD = Gap("unverified", "syntactic: same word, not proven the same symbol", brief="syntactic", about="syntax")


class _SyntaxCoverage(Coverage):
    """It has every file of its languages, and knows nothing of what a word means."""

    async def gaps(self, scope: Scope) -> list[Gap]:
        """An outline is right, and so are definitions by name; what is about one symbol may be about several."""
        if scope.path is None:
            return [_NAMES]
        return [] if scope.reach == "text" else [_SAME_WORD if scope.use else _FORM]


class SyntaxPlugin(SessionPlugin):
    """It answers with all occurrences of a word in code, so that comparing them with the text finds nothing more."""

    documents = Documents(outlines_closed=True)
    diagnostics = Diagnostics(syntax_only=True)
    word_check = WordCheck(by_word=True)

    @property
    def finds_all_names(self) -> bool:
        """It parses each file that has the name."""
        return True

    def coverage(self, start: Start) -> Coverage:
        """See `SessionPlugin.coverage`."""
        return _SyntaxCoverage()
