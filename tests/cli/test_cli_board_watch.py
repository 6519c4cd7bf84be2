"""`lsp-mcp board watch`: what a person sees in a terminal while agents work on the same board."""

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from cli.cli_helpers import respects_interrupts
from lsp_mcp.board import talk
from lsp_mcp.board.place import store_url
from lsp_mcp.board.store import Actor, Store


def test_questions_answers_and_notifications_are_told_as_they_come(project: Path) -> None:
    store = Store(store_url(project, None))
    agent = Actor("Builder", "a-1")
    waiting = store.write(lambda at: talk.ask(at, "Which port?", priority="high"), agent)
    command = [sys.executable, "-m", "lsp_mcp", "board", "watch", "--json", "--workspace-root", str(project)]
    respects: dict[str, Any] = {"preexec_fn": respects_interrupts}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **respects) as process:
        assert process.stdout

        def told() -> dict[str, Any]:
            assert process.stdout
            return json.loads(process.stdout.readline())

        try:
            first = told()
            assert (first["event"], first["who"], first["question"]) == ("question", "Builder", "Which port?")
            store.write(lambda at: talk.notify(at, "Tests pass", level="success"), agent)
            assert told() == {
                "event": "notification",
                "who": "Builder",
                "message": "Tests pass",
                "level": "success",
                "task": None,
            }
            store.write(lambda at: talk.answer(at, waiting["id"], text="8080"))
            assert told() == {"event": "answered", "id": waiting["id"], "question": "Which port?"}
            process.send_signal(signal.SIGINT)
            assert process.wait(30) == 0
        finally:
            process.kill()
            store.close()
