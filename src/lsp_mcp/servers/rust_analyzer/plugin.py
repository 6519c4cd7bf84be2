"""What questions must know about rust-analyzer: `RustAnalyzerPlugin`. Facts were seen with the one of Rust 1.95."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from lsp_mcp.lsp.coverage import Coverage, SessionPlugin, Start
from lsp_mcp.servers.rust_analyzer.builds import VARIABLE, builds_with
from lsp_mcp.servers.rust_analyzer.cargo import CargoCoverage
from lsp_mcp.servers.rust_analyzer.conditions import conditions, hint
from lsp_mcp.servers.rust_analyzer.doc_tests import doc_tests
from lsp_mcp.servers.rust_analyzer.index_names import index_package, index_symbols
from lsp_mcp.servers.rust_analyzer.names import IMPLIED, MACRO_ITEMS, MENTIONS, RENAMING
from lsp_mcp.servers.traits import Documents, Examples, Reports, Symbols, WordCheck
from lsp_mcp.text import Point, Text

_OF_TRAIT = r"impl\b.*\sfor\s"
_MOST_READ = 5  # files whose conditions are read for one hint
_PUBLIC = re.compile(r"\bpub\b(?!\s*\()|^\s*macro_rules!")


class RustAnalyzerPlugin(SessionPlugin):
    """It knows few errors by itself, and does not say when those of its `cargo check` are all published."""

    documents = Documents(reads_closed_later=True)
    # A text of a procedural macro that it was shown, if only for a trial, makes it distrust all of them.
    reports = Reports(
        outdated_pattern=r"[Pp]roc-macros .* need to be rebuilt", update_request="rust-analyzer/rebuildProcMacros"
    )
    symbols = Symbols(omits_fields=True, implementing_pattern=_OF_TRAIT, macro_items=MACRO_ITEMS)
    # A path in code that is left out leads to what has that name in the module, of whatever kind.
    word_check = WordCheck(
        implied=IMPLIED,
        expand_request="rust-analyzer/expandMacro",
        expansion_field="expansion",
        absolute_pattern=r"\$(?P<path>crate(?:\s*::\s*\w+)*)\s*::\s*\Z",
        absolute_codes=(
            "\nmod lsp_mcp_path_{number} {{ use {path}::{name} as lsp_mcp_used; }}\n",
            "\nfn lsp_mcp_path_{number}() {{ let _ = {path}::{name}; }}\n",  # of a type
        ),
        inactive_code="inactive-code",
        condition_pattern=r"\bcfg(?:_attr)?\b",
        lists_implementations=True,
        own_alias_pattern=r"\bas\s+{name}\b",
        maker_pattern=r"(?:\w+\s*::\s*)*\w+\s*!",
        header_pattern=r"(?m)(?<![!\w])(?:impl|struct|enum|union|trait|type)\b[^{};!]*",
    )
    renaming = RENAMING
    mentions = MENTIONS

    def coverage(self, start: Start) -> Coverage:
        """See `SessionPlugin.coverage`."""
        return CargoCoverage(start, self.adapter.settings.values["cargo"]["cfgs"])

    def build_hint(self, places: Sequence[tuple[Path, Text, Point]]) -> str:
        """See `Plugin.build_hint`."""
        first = {path: (path, text, point) for path, text, point in reversed(places)}
        found = (condition for place in list(first.values())[:_MOST_READ] for condition in conditions(*place))
        return hint(list(dict.fromkeys(found)))

    def builds_at(self, places: Sequence[tuple[Path, Text, Point]]) -> Sequence[Mapping[str, str]]:
        """See `Plugin.builds_at`: with what `#[cfg]` names."""
        found = builds_with([conditions(*place) for place in places])
        return [{VARIABLE: build} if build else {} for build in found]

    def examples(self, path: Path, text: Text) -> Examples | None:
        """See `Plugin.examples`: doc tests."""
        return doc_tests(path, text)

    def declares_exported(self, name: str, before: str) -> bool:
        """See `Plugin.declares_exported`: what is `pub`, and members of traits."""
        owner, _, _ = name.rpartition(".")
        is_of_type = not owner or (owner.startswith("impl") and not re.match(_OF_TRAIT, owner))
        return not is_of_type or _PUBLIC.search(before) is not None

    def index_package(self, path: Path) -> str:
        """See `Plugin.index_package`."""
        return index_package(path)

    def index_symbols(self, path: Path, name: str, scopes: Sequence[str] = ()) -> Sequence[str]:
        """See `Plugin.index_symbols`."""
        return index_symbols(path, name, scopes)
