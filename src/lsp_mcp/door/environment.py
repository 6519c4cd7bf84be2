"""Which environment variables decide what daemon serves a client: `counted`; and what a daemon gets: `for_daemon`.

The files of `adapters/environment` name them, one for each server. They are plain lines, because a door has no time to
read TOML. All other variables, and all other programs on PATH, differ between clients that share a daemon.
"""

from __future__ import annotations

import fnmatch
import os
import sys
from collections.abc import Iterator, Mapping, Sequence

_COMMON = "lsp-mcp"  # the file of what counts for every server
_AUTOMATIC = {"auto", "nvim"}  # backends that stand for any server
_UNCOUNTED = ("LSP_MCP_TOKEN", "LSP_MCP_SHARED")
# Variables that no program below a daemon needs, and that differ between terminals; only where all others count.
_OF_A_TERMINAL = frozenset(
    {
        *("PWD", "OLDPWD", "SHLVL", "_", "TERM", "COLORTERM", "COLUMNS", "LINES", "WINDOWID", "WINDOW", "STY", "PS1"),
        *("DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "DESKTOP_STARTUP_ID", "LS_COLORS", "LESSOPEN", "LESSCLOSE"),
        *("NO_COLOR", "FORCE_COLOR", "CLICOLOR", "PAGER", "EDITOR", "VISUAL", "MANPAGER", "INVOCATION_ID"),
        *("JOURNAL_STREAM", "LSP_MCP_TOKEN", "NVIM", "NVIM_LISTEN_ADDRESS", "VSCODE_IPC_HOOK_CLI", "PROMPT_COMMAND"),
        *("VIM", "VIMRUNTIME", "MYVIMRC", "NVIM_LOG_FILE", "PATH"),
    }
)
_OF_TERMINALS = ("SSH_", "TERM_", "TMUX", "KITTY_", "ITERM_", "VTE_", "VSCODE_", "WT_", "KONSOLE_", "GNOME_TERMINAL_")
_OF_CLIENTS = ("CLAUDE", "CODEX_", "CURSOR_", "OPENCODE", "GEMINI_", "ANTHROPIC_", "OPENAI_", "MCP_", "npm_", "GIT_")
# What git reads to reach other machines, and of its user. Its other variables name one repository: in a hook, that of
# the commit. A daemon works in its own root.
_OF_GIT_ITSELF = (
    *("GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSH_VARIANT", "GIT_ASKPASS", "GIT_TERMINAL_PROMPT", "GIT_PROXY_COMMAND"),
    *("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"),
)


def counted(environment: Mapping[str, str], backends: Sequence[str] = ()) -> dict[str, str]:
    """What clients of one daemon have in common: variables by name, and `PROGRAM on PATH` with its resolved file.

    `backends` are the servers that were chosen by name; without any, all that are known may run.
    """
    rules = list(_rules(backends))
    if not rules:
        return _all(environment)
    kinds: dict[str, list[str]] = {"variable": [], "program": [], "whole": []}
    for kind, rest in rules:
        kinds[kind].append(rest)
    for name, _, values in (one.partition(" ") for one in kinds["whole"]):
        if environment.get(name) and environment[name] not in values.split():
            return _all(environment)
    names = {name for name in kinds["variable"] if "*" not in name}
    patterns = [name for name in kinds["variable"] if "*" in name]
    found = {
        name: value
        for name, value in environment.items()
        if name not in _UNCOUNTED and (name in names or any(fnmatch.fnmatchcase(name, one) for one in patterns))
    }
    folders = absolute_folders(environment.get("PATH", os.defpath))
    for program in dict.fromkeys(kinds["program"]):
        word = (environment.get(program[1:], "").split() or [""])[0] if program.startswith("$") else program
        if word and os.sep not in word and (file := _file(word, folders)):
            found[f"{program} on PATH"] = file
    return found


def for_daemon(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment of a new daemon: of one repository's variables none, and only absolute folders in PATH."""
    found = {name: value for name, value in environment.items() if not names_a_repository(name)}
    if "PATH" in found:
        found["PATH"] = os.pathsep.join(absolute_folders(found["PATH"]))
    return found


def names_a_repository(variable: str) -> bool:
    """Whether the environment variable tells git which repository, index or configuration to use."""
    return variable.startswith("GIT_") and variable not in _OF_GIT_ITSELF and not variable.startswith("GIT_SSL_")


def absolute_folders(path: str) -> list[str]:
    """The folders in the value of PATH. A relative one, or an empty one, would be looked for in a checkout."""
    return [folder for folder in path.split(os.pathsep) if os.path.isabs(folder)]


def _rules(backends: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Kind and rest of each line that concerns `backends`; none if one of them may read anything."""
    folder = _folder()
    names = os.listdir(folder) if folder else []
    own = _own_adapters()
    chosen = [one for one in backends if one not in _AUTOMATIC] if not _AUTOMATIC & set(backends) else []
    if not names or any(one not in names or one in own for one in chosen) or (own and not chosen):
        return
    for name in sorted({_COMMON, *(chosen or names)}):
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            for line in file:
                kind, _, rest = line.strip().partition(" ")
                if kind in ("variable", "program", "whole"):
                    yield kind, rest


def _folder() -> str:
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    top = os.path.dirname(os.path.dirname(package))
    places = (os.path.join(package, "_data", "adapters", "environment"), os.path.join(top, "adapters", "environment"))
    return next((place for place in places if os.path.isdir(place)), "")


def _own_adapters() -> set[str]:
    """The names of servers that the user describes: nobody knows what those read."""
    try:
        return {file[:-5] for file in os.listdir(own_adapters_folder()) if file.endswith(".toml")}
    except OSError:
        return set()


def own_adapters_folder() -> str:
    """Where `lsp_mcp.adapters` looks for the user's adapters; a test compares both."""
    home = os.path.expanduser("~")
    if sys.platform == "darwin":
        return os.path.join(home, "Library", "Application Support", "lsp-mcp/adapters")
    named = os.environ.get("XDG_CONFIG_HOME", "").strip()
    return os.path.join(named or os.path.join(home, ".config"), "lsp-mcp/adapters")


def _all(environment: Mapping[str, str]) -> dict[str, str]:
    passing = (*_OF_TERMINALS, *_OF_CLIENTS)
    found = {
        name: value
        for name, value in environment.items()
        if name not in (*_OF_A_TERMINAL, *_UNCOUNTED) and not name.startswith(passing)
    }
    return {**found, "PATH": os.pathsep.join(absolute_folders(environment.get("PATH", os.defpath)))}


def _file(program: str, folders: Sequence[str]) -> str:
    for folder in folders:
        path = os.path.join(folder, program)
        if os.access(path, os.X_OK) and os.path.isfile(path):
            return os.path.realpath(path)
    return ""
