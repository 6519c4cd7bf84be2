"""The debuggers that tests drive, and nvim-dap, the plugin through which Neovim drives them.

    from debugging.debuggers import environment, init_lua, skip_without

    skip_without("dlv", "nvim_dap")  # at the top of a module
    ...
    async with neovim(tmp_path, env=environment(), extra_lua=init_lua()) as nv: ...

Programs to debug are in `tests/fixtures/debugging/`; its README names the bugs and the lines.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from lsp_mcp.errors import MissingProgramError

PROGRAMS = Path(__file__).parent.parent / "fixtures" / "debugging"
OLDEST_DLV = (1, 26)
BOUND = 20  # seconds for a program that only says its version: a hang, not a measurement
BUILD_BOUND = 60  # seconds for a compiler
# Found by `nvim_dap`; the plugin is in no package registry, so scripts/tools.sh cannot get it.
NVIM_DAP_REASON = "nvim-dap: it is in no package registry; set NVIM_DAP_PATH to a checkout, or install the plugin"

# nvim-dap puts a free port for `${port}`. By default each adapter leads a process group. In Neovim's own, one signal
# ends them all, whatever a test did; debugpy (1.8) leaves it nevertheless, and so does what it debugs.
_ADAPTERS = r"""
if vim.env.NVIM_DAP_PATH then
  vim.opt.runtimepath:append(vim.env.NVIM_DAP_PATH)
  local dap = require('dap')
  if vim.env.DEBUGPY_PYTHON then
    dap.adapters.python = {
      type = 'executable',
      command = vim.env.DEBUGPY_PYTHON,
      args = { '-m', 'debugpy.adapter' },
      options = { detached = false },
    }
  end
  if vim.env.DLV then
    dap.adapters.go = {
      type = 'server',
      port = '${port}',
      executable = { command = vim.env.DLV, args = { 'dap', '-l', '127.0.0.1:${port}' }, detached = false },
    }
  end
  if vim.env.LLDB_DAP then
    dap.adapters.lldb = { type = 'executable', command = vim.env.LLDB_DAP, options = { detached = false } }
  end
end
"""


# --- finding ---------------------------------------------------------------------------------------
# Each returns a full path, or raises MissingProgramError with the way to get it.


@functools.cache
def nvim_dap() -> Path:
    """The folder of nvim-dap: NVIM_DAP_PATH, or where Neovim's own package folders have it."""
    if named := os.environ.get("NVIM_DAP_PATH"):
        folders = [Path(named)]
    else:
        data = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
        packs = data / "nvim" / "site" / "pack"
        folders = [*packs.glob("*/start/nvim-dap"), *packs.glob("*/opt/nvim-dap")]
    found = next((folder for folder in folders if (folder / "lua" / "dap.lua").is_file()), None)
    if found is None:
        raise MissingProgramError(f"it is not in NVIM_DAP_PATH, {named}" if named else "it is not on Neovim's packpath")
    return found.resolve()


@functools.cache
def debugpy_python() -> str:
    """The Python that has debugpy: the one that runs the tests, where debugpy is a development dependency."""
    if importlib.util.find_spec("debugpy") is None:
        raise MissingProgramError(f"{sys.executable} has no debugpy; run: scripts/tools.sh debugpy")
    return sys.executable


@functools.cache
def dlv() -> str:
    """Delve, the debugger of Go. It builds what it debugs, so Go is needed, too."""
    found = _on_path("dlv", "scripts/tools.sh dlv")
    _on_path("go", "scripts/tools.sh dlv")
    printed = _printed(found, "version")
    version = re.search(r"^Version: (\d+)\.(\d+)", printed, re.M)
    if version is None or (int(version[1]), int(version[2])) < OLDEST_DLV:
        oldest = ".".join(map(str, OLDEST_DLV))
        raise MissingProgramError(f"{found} is older than {oldest}, the oldest that will do; run: scripts/tools.sh dlv")
    return found


@functools.cache
def lldb_dap() -> str:
    """LLDB's adapter, for C and C++.

    Its exit status says nothing: 19.1.7, also as Debian built it, ends with SIGABRT after it did all that it was asked.
    Asked to disconnect before anything was launched, it does not end at all.
    """
    found = _on_path("lldb-dap", "scripts/tools.sh lldb_dap")
    _printed(found, "--help")
    return found


@functools.cache
def cxx() -> str:
    """A C++ compiler: g++ or clang++."""
    for name in ("g++", "clang++"):
        if found := shutil.which(name):
            return found
    raise MissingProgramError("neither g++ nor clang++ is on PATH; install one from your system's packages")


_FINDERS = {"nvim_dap": nvim_dap, "debugpy": debugpy_python, "dlv": dlv, "lldb_dap": lldb_dap, "cxx": cxx}


def _on_path(program: str, get: str) -> str:
    found = shutil.which(program)
    if found is None:
        raise MissingProgramError(f"{program} is not on PATH; run: {get}")
    return found


def _printed(*command: str) -> str:
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=BOUND, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        raise MissingProgramError(f"{command[0]} does not run: {error}") from error
    return ran.stdout


# --- for tests -------------------------------------------------------------------------------------


def skip_without(*names: str) -> None:
    """Skip the whole module, or the test that calls it, where one of them is not installed.

    The names are those of the functions above, `debugpy` for debugpy_python. With CI=true a missing one is a failure,
    except nvim-dap: a test that needs it has `nvim_dap` in its id, which allowed_skips.toml names.
    """
    for name in sorted(names, key="nvim_dap".__eq__):  # it last: what must be there is seen to be missing
        if (missing := _missing(name)) is None:
            continue
        if name == "nvim_dap":
            pytest.skip(f"{NVIM_DAP_REASON} ({missing})", allow_module_level=True)
        if os.environ.get("CI") == "true":
            pytest.fail(f"{missing}. With CI=true a missing debugger is a failure.", pytrace=False)
        pytest.skip(f"{name}: {missing}", allow_module_level=True)


def _missing(name: str) -> str | None:
    """What is missing and how to get it; None if it is there."""
    try:
        _FINDERS[name]()
    except MissingProgramError as error:
        return str(error)
    return None


def environment() -> dict[str, str]:
    """NVIM_DAP_PATH, DEBUGPY_PYTHON, DLV and LLDB_DAP: those that are found."""
    variables = {"NVIM_DAP_PATH": nvim_dap, "DEBUGPY_PYTHON": debugpy_python, "DLV": dlv, "LLDB_DAP": lldb_dap}
    found = {}
    for variable, find in variables.items():
        try:
            found[variable] = str(find())
        except MissingProgramError:
            pass
    return found


def init_lua(*more: str) -> str:
    """Lua that puts nvim-dap on the runtimepath and tells it of the adapters `python`, `go` and `lldb`, then `more`.

    What is where comes from `environment()` at run time; an adapter that is not there is not configured.
    """
    return "\n".join([_ADAPTERS, *more])


def build_cpp(folder: Path, source: Path = PROGRAMS / "cpp" / "hall.cpp") -> Path:
    """The program of `source` in `folder`, compiled for debugging.

    Raises:
        MissingProgramError: there is no compiler.
    """
    program = folder / source.stem
    command = [cxx(), "-std=c++17", "-g", "-O0", "-pthread", str(source), "-o", str(program)]
    subprocess.run(command, check=True, timeout=BUILD_BOUND)
    return program
