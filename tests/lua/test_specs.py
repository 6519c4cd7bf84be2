"""The plugin's Lua specs, each file in a Neovim of its own: `*_spec.lua` in this folder.

Nothing of the user's counts: HOME and the XDG folders are empty ones. A spec finds real language servers in GOPLS and
CLANGD (their commands in JSON, not set where they are not installed), nvim-dap and debuggers in the variables of
`debugging.debuggers.environment`.
"""

import json
import os
import select
import signal
import subprocess
import tempfile
from pathlib import Path

import pytest
from inotify_simple import INotify, flags
from platformdirs import user_cache_path

from debugging import debuggers
from lsp_mcp.adapters import load_adapter
from lsp_mcp.errors import MissingProgramError
from lsp_mcp.programs import find_command
from nvim.neovims import NOT_INHERITED, find_nvim, skip_without_nvim

HERE = Path(__file__).parent
BOUND = 120  # seconds without another result: a hang, not a measurement

skip_without_nvim()


def environment(home: Path, runtime: Path) -> dict[str, str]:
    """The caller's, but for what is the user's or a surrounding Neovim's."""
    variables = {name: value for name, value in os.environ.items() if name not in NOT_INHERITED | {"ONLY"}}
    # Only what is compiled already is shared: gopls would begin with the standard library otherwise.
    variables.setdefault("GOCACHE", str(user_cache_path("go-build")))
    variables.setdefault("GOPLSCACHE", str(user_cache_path("gopls")))
    variables["HOME"] = str(home)
    for kind in ("CONFIG_HOME", "DATA_HOME", "CACHE_HOME", "STATE_HOME"):
        folder = home / kind.lower()
        folder.mkdir(mode=0o700)
        variables[f"XDG_{kind}"] = str(folder)
    variables["XDG_RUNTIME_DIR"] = str(runtime)
    # A fresh configuration folder would make gopls start its upload program, which outlives it.
    telemetry = home / "config_home" / "go" / "telemetry"
    telemetry.mkdir(parents=True)
    (telemetry / "mode").write_text("off 2026-01-01\n", "utf-8")
    return {**variables, "LC_ALL": "C.UTF-8", **servers(), **debuggers.environment()}


def servers() -> dict[str, str]:
    """The commands of the language servers that are installed, in JSON, by the names that specs know."""
    found = {}
    for name in ("gopls", "clangd"):
        try:
            found[name.upper()] = json.dumps(find_command(load_adapter(name)))
        except MissingProgramError:
            continue
    return found


@pytest.mark.parametrize("spec", sorted(HERE.glob("*_spec.lua")), ids=lambda spec: spec.name)
def test_spec(spec: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    command = [find_nvim(), "--clean", "-n", "-i", "NONE", "-l", str(HERE / "spec.lua"), str(spec)]
    with (
        (tmp_path / "output").open("w+b") as output,
        tempfile.TemporaryDirectory(prefix="nvim-") as runtime,  # in /tmp: the path of a socket must be short
    ):
        # A group of its own, so that nothing outlives a spec that hangs: debuggers, servers, bridges.
        process = subprocess.Popen(
            command,
            cwd=HERE.parent.parent,
            env=environment(home, Path(runtime)),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
        try:
            status = ended(process, Path(output.name))
        finally:
            kill_group(process.pid)
            process.wait()
        output.seek(0)
        said = output.read().decode("utf-8", "replace")
    assert status == "0", f"{' '.join(command)}\nended with {status}; it said:\n{said}"


def ended(process: subprocess.Popen[bytes], output: Path) -> str:
    """Its exit status, or for how long it has written nothing more to `output`."""
    with INotify() as inotify:
        inotify.add_watch(output, flags.MODIFY)
        with os.fdopen(os.pidfd_open(process.pid), "rb") as end:
            while True:
                ready, _, _ = select.select([inotify, end], [], [], BOUND)
                if end in ready:
                    return str(process.wait())
                if not ready:
                    return f"no further result within {BOUND} s"
                inotify.read()


def kill_group(leader: int) -> None:
    """End all that is left of a process group."""
    try:
        os.killpg(leader, signal.SIGKILL)
    except ProcessLookupError:
        return
