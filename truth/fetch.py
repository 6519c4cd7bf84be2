"""Downloads what `make truth` asks about: fetch.py BACKEND [TREE …], all of a backend if none is named."""

from __future__ import annotations

import sys

from sources import fetched, trees

if __name__ == "__main__":
    _, backend, *names = sys.argv
    try:
        for tree in trees(backend, names):
            fetched(tree)
    except RuntimeError as error:
        sys.exit(f"{backend}: {error}")
