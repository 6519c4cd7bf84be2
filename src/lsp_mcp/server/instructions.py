"""What a model is told of the whole server when it connects: `instructions`, under 2 KB."""

from __future__ import annotations

from collections.abc import Sequence

_MOST = 2_000  # bytes; Claude Code cuts what is longer than 2 KB
_KEPT = 4  # lines that are never left out
_ROOT_LENGTH = 300  # bytes of the workspace root's path; of a longer one, its end
_LINES = (  # each with the tool that must be offered for it to be told; empty: it always is
    ("", "Semantic {languages} code navigation and rename through a real language server ({backends}), in {root}."),
    (
        "find_symbol_references_by_anchor",
        "Prefer these tools to grep for symbols: they find exactly the uses of one symbol, through aliases, "
        "interfaces and packages, and never in comments or strings.\n",
    ),
    (
        "find_symbol_definitions_by_name",
        "- Don't know where it is: find_symbol_definitions_by_name. Know the file: list_symbols_in_file.",
    ),
    (
        "find_symbol_references_by_anchor",
        "- Every result has an anchor SCHEME://FILE#LINE:CHAR, from 1, in characters. Hand it to "
        "find_symbol_references_by_anchor, find_callers_by_anchor, find_callees_by_anchor, "
        "find_type_hierarchy_by_anchor or rename_symbol_by_anchor, or pass an unambiguous name such as Type.Method. "
        "In compact answers put a file's heading and a line:char together.",
    ),
    (
        "find_symbol_references_by_anchor",
        "- Anchors survive edits: one whose symbol moved is followed, one whose symbol is gone is refused with "
        "candidates.",
    ),
    ("", "- `status` is `complete`, or says what is missing (still indexing, capped, not searched). Trust `complete`."),
    ("", "- Answers are for what is on disk now, whoever changed it. No need to wait or refresh after an edit."),
    ("rename_symbol_by_anchor", "- rename_symbol_by_anchor writes all files or none; apply=false previews."),
    ("lsp_request", "- For what no other tool answers: lsp_request, any LSP request that changes nothing."),
)
_OTHERS = "- Extensions of the language server: {}."


_NEOVIM = (
    "- Servers are those of a running Neovim: unsaved buffers win over files, and status says so; edits go to its "
    "buffers. The tools without anchors (read, navigate, lsp_…) are its own; lines and characters count as here. "
    "connection_id is needed only if several Neovims are connected, lsp_client_name only if several clients answer. A "
    "second text after an answer says what it lacks, or that it is for unsaved text."
)


_LUA = (
    "- The nvim_… tools are offered by plugins of the running Neovim. If there are nvim_dap_…, debug with them, not "
    "with prints: nvim_dap_set_breakpoint, nvim_dap_run with wait_until_paused=true, nvim_dap_step_over, "
    "nvim_dap_evaluate; nvim_dap_program_output works after the end too. `pending`: it still runs, see "
    "nvim_dap_wait_until_paused."
)
_LUA_ALONE = "Tools of the Neovim that works in {root}."
_BOARD = (
    "- The project board is shared with other agents and with people who see it live. register_agent names you; take "
    "work with claim_task, keep what you find with add_to_task, end with complete_task. get_project_info lists the "
    "standards. ask_user returns at once: go on, or get_response with wait_seconds."
)
_BOARD_ALONE = "The project board of {root}."


def instructions(
    languages: str,
    backends: str,
    root: str,
    tools: Sequence[str],
    *,
    through_neovim: bool = False,
    lua: bool = False,
    board: bool = False,
) -> str:
    """The instructions for a workspace and the names of the tools that are offered.

    `lua`, `board`: whether those of a Neovim and of a board are, too. What would not fit is the path's problem, so
    that is cut, and then the longest lines.
    """
    shown = root.encode("utf-8", "replace")[-_ROOT_LENGTH:].decode("utf-8", "ignore")
    more = [line for offered, line in ((lua, _LUA), (board, _BOARD)) if offered]
    if more and not tools:
        first = _LUA_ALONE if lua else _BOARD_ALONE
        return "\n".join([first.format(root=shown), *more]) + "\n"
    lines = [line for tool, line in _LINES if not tool or tool in tools]
    names = "\n".join(lines)
    if others := [tool for tool in tools if tool not in names]:
        lines.append(_OTHERS.format(", ".join(others)))
    if through_neovim:
        lines.append(_NEOVIM)
    filled = [line.format(languages=languages, backends=backends, root=shown) for line in lines]
    return _fitting([*filled, *more])


def _fitting(lines: list[str]) -> str:
    """The lines, the longest of those behind the first few left out until what is left is short enough."""
    while len("\n".join(lines).encode()) >= _MOST and len(lines) > _KEPT:
        lines.remove(max(lines[_KEPT:], key=len))
    return "\n".join(lines) + "\n"
