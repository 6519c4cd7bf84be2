"""`python -m lsp_mcp.daemon NAME ROOT [FLAG]...`: started by a door, with the listening socket as descriptor 3."""

import gc
import os
import sys

from lsp_mcp.door.place import LISTENER


def main() -> None:
    """Serve until no client has been connected for a while. Does not return."""
    # The daemon must not hold files of the door's client open.
    os.closerange(LISTENER + 1, os.sysconf("SC_OPEN_MAX"))
    name, root, *words = sys.argv[1:]
    os.chdir(root)
    gc.disable()  # until all is imported (`server.imports`): a tenth of the time until the first server starts
    from lsp_mcp.daemon.run import run

    run(name, root, words)


if __name__ == "__main__":
    main()
