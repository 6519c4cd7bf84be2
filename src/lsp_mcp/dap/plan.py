"""The program to debug and how: `Plan`, from the caller's arguments and the facts about the debugger."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from lsp_mcp.dap.adapter import Break, DebugAdapter, filled

Json = dict[str, Any]


@dataclass(frozen=True)
class Plan:
    """One start of a debugger; starting it again is a restart."""

    adapter: DebugAdapter
    command: tuple[str, ...]  # of the adapter; empty to connect to a running one
    title: str  # for people: what runs
    request: Literal["launch", "attach"]
    arguments: Json  # of the request, without `env` and what input needs
    cwd: Path
    env: Mapping[str, str] = field(default_factory=dict)  # of the program, as the caller gave it
    stdin: str | None = None  # its whole input; None: none
    open_input: bool = False  # it may be sent input while it runs
    break_on: Break = "uncaught"
    address: tuple[str, int] | None = None  # of a debug adapter that listens
    remarks: tuple[str, ...] = ()
    is_core: bool = False  # a core file: nothing runs
    own_configuration: bool = False  # the arguments are the user's own, of a file
    just_started: bool = field(default=True, compare=False)

    @property
    def in_terminal(self) -> bool:
        """Whether the program is started by us, for its input or since the adapter knows too little of it."""
        adapter = self.adapter
        wants = self.open_input or (self.stdin is not None and adapter.stdin == "terminal") or adapter.always_terminal
        return self.request == "launch" and bool(adapter.terminal) and wants and adapter.stdin != "adapter"

    def final_arguments(self, stdin_file: Path | None) -> Json:
        """The arguments of the request."""
        arguments = {**self.arguments}
        if self.request == "launch" and not self.own_configuration:
            arguments["env"] = {**self.adapter.env, **self.env}
        if self.request == "launch" and stdin_file is not None and self.adapter.stdin_file and not self.in_terminal:
            arguments |= filled(self.adapter.stdin_file, {"stdin_file": str(stdin_file)})
        if self.in_terminal:
            arguments |= self.adapter.terminal
        return arguments

    def again(self) -> Plan:
        """The plan for starting the program once more."""
        return replace(self)
