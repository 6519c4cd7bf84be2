"""Where an encoder may get values of a type, and so read and write their fields by name: `encoded_at`."""

from __future__ import annotations

from pathlib import Path

from lsp_mcp.backend import Backend
from lsp_mcp.features.renaming.carriers import carriers, using
from lsp_mcp.features.renaming.encoder_input import EncoderInput, Taken, calling
from lsp_mcp.remembered import RememberedOf
from lsp_mcp.requests.places import Place
from lsp_mcp.servers.traits import Encoder

_MOST_KEPT = 20_000  # types
_TAKEN: RememberedOf[Backend, str, int, Taken] = RememberedOf(_MOST_KEPT)


async def encoded_at(backend: Backend, name: str, encoder: Encoder, type_name: str, home: Path) -> Place | None:
    """Where the encoder called `name` may get a value that has one of the type `type_name`, of the folder `home`, in
    it; None: it gets none.

    Raises:
        UnavailableError: see `Backend.request`.
    """
    taken = await _taken(backend, name, encoder)
    every = [*taken.types.values(), *taken.anything.values()]
    if not every:
        return None
    having = await carriers(backend, type_name, home)
    if having is None:
        return every[0]
    if known := [place for word, place in taken.types.items() if word in having]:
        return known[0]
    mentioning = await using(backend, having)
    if near := [place for path, place in taken.anything.items() if path in mentioning]:
        return near[0]
    # One file puts a value of the one type into the other.
    holding = [place for word, place in taken.holders.items() if mentioning & await using(backend, {word: None})]
    return holding[0] if holding else None


async def _taken(backend: Backend, name: str, encoder: Encoder) -> Taken:
    """What the encoder gets; anything in all files that call it, if that was not found out in time."""
    kept, generation = _TAKEN.for_owner(backend), backend.generation
    if (taken := kept.get(name, generation)) is None:
        taken = await EncoderInput(backend, name, encoder).taken()
        kept.put(name, generation, taken, 1 + len(taken.types))
    if not taken.is_whole:
        for path, text, at in await calling(backend, name, encoder):
            taken.anything.setdefault(path, Place(path, text.offsets_span(at, at), text))
    return taken
