"""Who does a task: `ours` with calls of lsp-mcp, `script` with a shell. Both give what an agent would have read."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mcp_client import McpClient


@dataclass
class Done:
    """What was done: how many calls, and what came back; `failed` has the errors."""

    calls: int = 0
    answers: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)

    @property
    def bytes(self) -> int:
        """How much an agent has read."""
        return sum(len(answer.encode()) for answer in (*self.answers, *self.failed))


async def ours(client: McpClient, calls: list[tuple[str, dict[str, Any]]], *, first_right: bool) -> Done:
    """The calls one after the other; with `first_right` only until one is no error."""
    done = Done()
    for tool, arguments in calls:
        done.calls += 1
        try:
            done.answers.append(await client.text(tool, arguments))
        except Exception as error:  # noqa: BLE001 (whatever a call ends with is what the agent reads)
            done.failed.append(str(error))
            continue
        if first_right:
            break
    return done


def script(root: Path, commands: list[str]) -> Done:
    """The commands one after the other, each a call of a shell."""
    done = Done()
    for command in commands:
        done.calls += 1
        ran = subprocess.run(command, shell=True, cwd=root, capture_output=True, text=True, check=False)
        done.answers.append(ran.stdout + ran.stderr)
    return done
