"""The server's instructions, which a model gets when it connects: `instructions`, under 2 KB."""

from __future__ import annotations

from collections.abc import Sequence

from lsp_mcp.toolsets.part import Joined

_MOST = 2_000  # bytes; Claude Code cuts what is longer than 2 KB
_KEPT = 4  # lines that are never left out
_ROOT_LENGTH = 300  # bytes of the workspace root's path; of a longer one, its end
_LINES: tuple[
    tuple[str, tuple[str, ...]], ...
] = (  # each with tools: included if one of them is offered; {} are the offered ones
    ("Semantic {languages} code navigation and editing through {backends}, in {root}.", ()),
    (
        "Use these tools for symbols: they find the exact uses of a symbol, through aliases, interfaces and packages, "
        "never in comments or strings. Use grep for text, messages and configuration.\n",
        ("find_symbol_references_by_anchor",),
    ),
    (
        "- Name a symbol as Type.Method or FILE:LINE, or by an anchor from an answer: SCHEME://FILE#LINE:CHAR, from 1, "
        "in characters; anchors survive edits. In compact answers, join a file's heading and a line:char.",
        ("find_symbol_references_by_anchor",),
    ),
    ("- Find: {}.", ("find_symbol_definitions_by_name", "list_symbols_in_file")),
    ("- Read whole declarations instead of slices of files: {}, many symbols at once.", ("read_symbol",)),
    ("- Uses: {}.", ("find_symbol_references_by_anchor", "find_calls", "find_implementations")),
    (
        "- Before you change a signature or behavior: {}: what to edit, which tests to run.",
        ("find_impact",),
    ),
    (
        "- Edit: {}; all files are written or none, apply=false previews.",
        ("edit_symbol", "refactor", "rename_symbol_by_anchor"),
    ),
    ("- After edits: {}, without a build.", ("check",)),
    ("- For other questions: {} (hover, definition …).", ("lsp_request",)),
    (
        "- Answers reflect the files on disk now. Trust `status: complete`; any other status names what is missing, "
        "which may be in files that don't matter to you.",
        (),
    ),
)

_NEOVIM = (
    "- The servers run in a Neovim: unsaved buffers take precedence over files, and status says so; edits go to its "
    "buffers. The tools without anchors (read, navigate, lsp_…) are its own, with the same positions. "
    "connection_id is needed only if several Neovims are connected, lsp_client_name only if several clients answer. A "
    "second text after an answer says what is missing, or that the answer is for unsaved text."
)


_LUA = (
    "- The nvim_… tools come from plugins of the running Neovim. With nvim_dap_…, debug with them, not "
    "with prints: nvim_dap_set_breakpoint, nvim_dap_run with wait_until_paused=true, nvim_dap_step_over, "
    "nvim_dap_evaluate; nvim_dap_program_output also works after the end. `pending`: still running, see "
    "nvim_dap_wait_until_paused."
)
_FROM_INDEX = (
    "Exact symbols of the repositories in an index store, each as of a commit, read only, without a language server. "
    "list_symbols_in_file file_path=. lists the repositories.",
    "- Answers are as of the indexed commits, which status names: a repository without an index may have more uses.",
)
_LUA_ALONE = "Tools of the Neovim that works in {root}."
_DEBUG = (
    "- Debug with debug_start instead of prints: name a program, a test or a configuration, and breakpoints as "
    "FILE:LINE or FILE:TEXT OF THE LINE. Each answer has location, source and variables; then debug_step, "
    "debug_evaluate, debug_continue. `running`: it has not stopped yet; `next` lists what you can do."
)
_DEBUG_ALONE = "Runs the programs of {root} under a debugger."


def instructions(
    languages: str,
    backends: str,
    root: str,
    tools: Sequence[str],
    *,
    through_neovim: bool = False,
    lua: bool = False,
    debug: bool = False,
    parts: Sequence[Joined] = (),
    from_index: bool = False,
) -> str:
    """The instructions for a workspace and the names of the tools that are offered.

    `lua`, `debug`: whether tools of a Neovim and of debuggers are offered; `parts` are those whose tools are.
    `from_index`: the index store answers alone. If the text is too long, the path is shortened first, then the longest
    lines are dropped.
    """
    shown = root.encode("utf-8", "replace")[-_ROOT_LENGTH:].decode("utf-8", "ignore")
    more = [line for offered, line in ((debug, _DEBUG), (lua, _LUA)) if offered]
    more += [part.instructions for part in parts]
    if more and not tools:
        first = _DEBUG_ALONE if debug else _LUA_ALONE if lua else parts[0].alone
        return "\n".join([first.format(root=shown), *more]) + "\n"
    lines: list[str] = []
    for line, about in _LINES:
        if named := [tool for tool in about if tool in tools]:
            lines.append(line.replace("{}", ", ".join(named)))
        elif not about:
            lines.append(line.format(languages=languages, backends=backends, root=shown))
    if from_index:
        lines = [_FROM_INDEX[0], *lines[1:-1], _FROM_INDEX[1]]
    if through_neovim:
        lines.append(_NEOVIM)
    return _fitting([*lines, *more])


def _fitting(lines: list[str]) -> str:
    """The lines, without the longest ones after the first few, until the rest is short enough."""
    while len("\n".join(lines).encode()) >= _MOST and len(lines) > _KEPT:
        lines.remove(max(lines[_KEPT:], key=len))
    return "\n".join(lines) + "\n"
