"""The process of a session, which its interface does not show."""

from typing import Any

from lsp_mcp.lsp.session import Session
from lsp_mcp.wire.process import Child


def launcher_of(session: Session) -> Any:
    """What starts the server of `session`: a `ProcessLauncher`."""
    return session._lifetime._launcher


def child_of(session: Session) -> Child:
    """The running server of `session`."""
    child = launcher_of(session)._child
    assert isinstance(child, Child)
    return child
