"""`lsp-mcp --transport http --backend index`: one server for a team."""

from __future__ import annotations

import asyncio
from typing import NoReturn

from lsp_mcp.cli.options import ServerFlags
from lsp_mcp.errors import ConfigError
from lsp_mcp.index.place import store_url
from lsp_mcp.installed import install_command


def serve_for_team(port: int, flags: ServerFlags, most_requests: int, host: str) -> NoReturn:
    """Run until a signal comes.

    Raises:
        ConfigError: the flags, the address or the store cannot be used, or a package is missing.
    """
    flags.check()
    if flags.toolsets:
        other = flags.toolsets[0]
        raise ConfigError(f"--backend index on HTTP has the tools of the index alone; leave out --toolset {other}")
    try:
        from lsp_mcp.index.store import IndexStore
        from lsp_mcp.server.team import serve_team
    except ModuleNotFoundError as error:
        raise ConfigError(f"a team's server needs {error.name}; install it with: {install_command('team')}") from None
    from lsp_mcp.server.http import listen
    from lsp_mcp.server.json_log import log_as_json
    from lsp_mcp.server.offer import Served

    store = IndexStore(store_url(flags.index_store))
    served = Served(flags.running(), flags.settings(), flags.form, flags.response_format)
    log_as_json()
    asyncio.run(serve_team(served, store, listen(port, host), most_requests))
    raise AssertionError("unreachable")
