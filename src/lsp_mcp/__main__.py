"""The command `lsp-mcp`, and `python -m lsp_mcp`: the door if a shared daemon can serve, else the full program."""

import os
import sys


def main() -> None:
    """Run the command. A client that shares a daemon is served without importing what the daemon has loaded."""
    try:
        from lsp_mcp.door.serve import serve

        status = serve(sys.argv[1:])
        if status is not None:
            sys.stdout.flush()
            os._exit(status)  # a thread may still be reading stdin
        from lsp_mcp.cli.main import main as command

        command(prog_name="lsp-mcp")
    except KeyboardInterrupt:  # during the imports; later, the command handles it
        sys.exit(130)


if __name__ == "__main__":
    main()
