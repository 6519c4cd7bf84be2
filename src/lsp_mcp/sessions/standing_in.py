"""Whether the present call takes answers by syntax alone where a server cannot answer yet: `by_syntax`.

Only a caller that asks for it gets them: they are not proven to be about one symbol, and say so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

from lsp_mcp.adapters import Adapter, adapter_names, load_adapter
from lsp_mcp.backend import Backend
from lsp_mcp.gaps import Gap
from lsp_mcp.prose import and_list
from lsp_mcp.sessions.choosing import parsed_alone

_wished: ContextVar[bool] = ContextVar("by_syntax", default=False)


@contextmanager
def by_syntax(wished: bool) -> Iterator[None]:
    """For the time of a call: the syntactic server answers where another one has not loaded, or has failed."""
    token = _wished.set(wished)
    try:
        yield
    finally:
        _wished.reset(token)


def needs_stand_in(backend: Backend) -> bool:
    """Whether this call takes an answer by syntax in place of that of `backend`."""
    return _wished.get() and backend.state() != "running"


def stood_in(adapter: Adapter) -> Gap:
    """What an answer lacks whose files of that server were searched by syntax alone."""
    languages = and_list(adapter.language_names)
    text = f"syntactic: {adapter.name} has not loaded, so {languages} may declare more, such as by macros"
    return Gap("unverified", text, brief=f"syntactic: {languages}", about=adapter.name)


def stand_ins() -> Sequence[Adapter]:
    """The adapters that answer by syntax, for all languages that they parse."""
    return parsed_alone(load_adapter(name) for name in adapter_names())
