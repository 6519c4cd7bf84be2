"""typeHierarchy/supertypes, completed from the text: `Supertypes` (LSP 3.17)."""

from __future__ import annotations

from pathlib import Path

from lsp_mcp.adapters import Hierarchy
from lsp_mcp.backend import Backend, Json
from lsp_mcp.errors import PathError, RefusedError
from lsp_mcp.features.class_heads import ClassHeads
from lsp_mcp.features.places import position_params
from lsp_mcp.features.refusals import note
from lsp_mcp.gaps import Gap
from lsp_mcp.uris import uri_path


class Supertypes:
    """Asks one backend for the types directly above a type, for one answer.

    clangd 22 lists only bases that its index has, which instances of templates are not: of `struct Names : Set<int>` it
    lists none. The item of the type has the identifiers of all bases, and the server knows the one at each place where
    the text names a base. `unresolved` are the types with bases that are not found there either.
    """

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._rules = backend.adapter.hierarchy
        self.unresolved: dict[str, Path] = {}  # files of these types, by their names

    async def of(self, item: Json) -> list[Json]:
        """The items of the types directly above that of `item`. Raises the errors of `Backend.request`."""
        known: list[Json] = await self._backend.request("typeHierarchy/supertypes", {"item": item}) or []
        parents = self._parents(item)
        if not set(parents) - {self.identity(one) for one in known}:
            return known
        named = await self._named(item)
        found = {self.identity(one): one for one in (*known, *named)}
        missing = set(parents).difference(found)
        # In an instance, the text names the bases of the template.
        if missing and len(named) != len(parents):
            self.unresolved[str(item["name"])] = uri_path(item["uri"])
        return list(found.values()) if missing else [found[parent] for parent in parents]

    def identity(self, item: Json) -> object:
        """The identity of the symbol of `item`: the same at each of its declarations."""
        known = symbol_id(self._rules, item)
        return item_place(item) if known is None else known

    def gaps(self) -> list[Gap]:
        """The gaps of the supertypes found."""
        return [
            Gap(
                "not_searched",
                f"some bases of {name} ({path.name}): {self._backend.name} has no item for them",
                (path,),
            )
            for name, path in sorted(self.unresolved.items())
        ]

    def _parents(self, item: Json) -> list[object]:
        """The identities of the bases of `item`, as far as the item tells."""
        data = item.get("data")
        if not self._rules or not self._rules.bases_field or not isinstance(data, dict):
            return []
        return list(dict.fromkeys(one[self._rules.id_field] for one in data.get(self._rules.bases_field) or ()))

    async def _named(self, item: Json) -> list[Json]:
        """The items of the bases that the text of the type names, in their order."""
        assert self._rules
        backend, path = self._backend, uri_path(item["uri"])
        found: dict[object, Json] = {}
        try:
            text = await backend.open(path)
            head = text.position_point(item["selectionRange"]["start"], backend.encoding)
            for base in ClassHeads(self._rules).bases(text, backend.adapter.language_of(path), head):
                at = position_params(path, text, base, backend.encoding)
                for one in await backend.request("textDocument/prepareTypeHierarchy", at) or []:
                    found.setdefault(self.identity(one), one)
        except (PathError, RefusedError) as error:
            note(path, error)
        return list(found.values())


def symbol_id(rules: Hierarchy | None, item: Json) -> object | None:
    """The server's own identifier for the symbol of a hierarchy's `item`, the same in every file; None if unknown."""
    data = item.get("data")
    return data.get(rules.id_field) if rules and isinstance(data, dict) else None


def item_place(item: Json) -> tuple[Path, int, int]:
    """The position of the name of `item`, in the server's numbers."""
    start = item["selectionRange"]["start"]
    return uri_path(item["uri"]), start["line"], start["character"]


def is_instance(item: Json) -> bool:
    """Whether `item` is an instance of a template, which has the place of the template and another identity."""
    return "<" in str(item["name"])
