"""The fake server with what a server has that reads documents when they are opened. Run as `fake_server.py` is.

More actions for the rules of `textDocument/didOpen` and `didChange`:

    ["read"]                 publish diagnostics of that version: an error for each line that begins with `error`
    ["for", NAME, ACTIONS]   the actions if the document's file is called NAME

What follows FOLDER on the command line goes to the log as `arguments`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from fakes.fake_server import ACTIONS, Fake, Json, send


def read(_: Fake, message: Json) -> None:
    params = message["params"]
    document = params["textDocument"]
    text = params["contentChanges"][-1]["text"] if "contentChanges" in params else document["text"]
    nowhere = {"line": 0, "character": 0}
    errors = [
        {"range": {"start": nowhere, "end": nowhere}, "severity": 1, "message": f"{line}\nmore of it"}
        for line in text.split("\n")
        if line.startswith("error")
    ]
    warning = {"range": {"start": nowhere, "end": nowhere}, "severity": 2, "message": "only a warning"}
    params = {"uri": document["uri"], "version": document["version"], "diagnostics": [warning, *errors]}
    send({"method": "textDocument/publishDiagnostics", "params": params})


def only_for(fake: Fake, message: Json, name: str, actions: list[list[Any]]) -> None:
    if message["params"]["textDocument"]["uri"].rpartition("/")[2] == name:
        fake.do(actions, message)


if __name__ == "__main__":
    ACTIONS.update({"read": read, "for": only_for})
    server = Fake(Path(sys.argv[1]))
    server.log({"arguments": sys.argv[2:]})
    server.run()
