"""The methods of a type, and an interface that has some of them: `methods_of`, `with_interface`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from lsp_mcp.backend import Backend
from lsp_mcp.errors import ElsewhereError, RefusedError
from lsp_mcp.features.editing.relocating import declared_in
from lsp_mcp.requests.declaration import declaration
from lsp_mcp.requests.package_clause import package_clause
from lsp_mcp.syntax.declarations import Declared
from lsp_mcp.syntax.signatures import signatures_of
from lsp_mcp.text import Point, Text


class Method(Struct, frozen=True):
    """A method: its name's place, and what an interface says of it, with its comment."""

    name: str
    path: Path
    point: Point
    signature: str


class Methods(Struct, frozen=True):
    """The methods of the type that is `declared` in `text`; `spans` are their whole texts, by file."""

    text: Text
    declared: Declared
    methods: tuple[Method, ...]
    spans: tuple[tuple[Path, int, int], ...]

    def has_inside(self, path: Path, offset: int) -> bool:
        """Whether one of the methods is around that place."""
        return any(file == path and start <= offset < end for file, start, end in self.spans)


async def methods_of(backend: Backend, path: Path, point: Point) -> Methods:
    """The methods of the type named at `point`.

    Raises:
        RefusedError: an interface cannot be made of it.
    """
    packages = backend.plugin.renaming.packages
    text = await backend.documents.text(path)
    own = await declared_in(backend, path, text)
    offset = text.point_offset(point)
    declared = next((one for one in own.declared if any(n[0] == offset for n in one.names)), None) if own else None
    if own is None or declared is None or declared.receiver or packages is None or not packages.interface:
        raise ElsewhereError(
            "an interface is extracted from a type, at its declaration outside of functions.", "extract interface"
        )
    name = own.slice(next(one for one in declared.names if one[0] == offset))
    clause = package_clause(backend.plugin, path, text.content)
    found: dict[str, Method] = {}
    spans: list[tuple[Path, int, int]] = []
    files = [one for one in sorted(path.parent.iterdir()) if backend.plugin.language_of(one) and one.is_file()]
    for file in sorted(files, key=lambda one: one != path):
        there = text if file == path else await backend.documents.text(file)
        read = own if file == path else await declared_in(backend, file, there)
        other = package_clause(backend.plugin, file, there.content)
        if read is None or not other or not clause or other["name"] != clause["name"]:
            continue
        language = backend.plugin.language_of(file)
        functions = await signatures_of(there, language.id) if language else None
        for one in read.declared:
            if (
                one.receiver != name
                or functions is None
                or (function := functions.functions.get(one.names[0][0])) is None
            ):
                continue
            if "[" in there.content[one.span[0] : one.names[0][0]]:
                raise RefusedError(f"{name} is generic: write its interface with edit_symbol action=insert_after.")
            spans.append((file, *one.span))
            whole = declaration(there, there.offsets_span(*one.span), language)
            comment = there.content[there.point_offset(whole.span.start) : one.span[0]]
            end = function.body[0] if function.body else one.span[1]
            signature = f"{comment}{there.content[one.names[0][0] : end].rstrip()}"
            called = read.slice(one.names[0])
            found.setdefault(called, Method(called, file, there.offset_point(one.names[0][0]), signature))
    return Methods(text, declared, tuple(found.values()), tuple(spans))


def with_interface(backend: Backend, of: Methods, name: str, methods: Sequence[Method]) -> str:
    """The text of the type's file with an interface behind the type; at the end, if the type is one of a group."""
    packages = backend.plugin.renaming.packages
    assert packages
    made = packages.interface.format(name=name, methods="\n".join(one.signature for one in methods))
    content = of.text.content
    if of.declared.keyword:
        return f"{content.rstrip()}\n\n{made}\n"
    end = content.find("\n", of.declared.span[1])
    end = len(content) if end < 0 else end
    return f"{content[:end].rstrip()}\n\n{made}\n{content[end:]}"
