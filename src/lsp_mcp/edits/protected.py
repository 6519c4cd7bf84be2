"""Names that no edit touches unless the user allows it: data for `edits.policy`.

The list has files that make a program run automatically, before anyone has reviewed the change: when a folder is
entered, opened in an editor, given to an agent, or inspected with version control. Each name means a file or a folder
with its whole content, anywhere below the workspace root.

Not on the list, on purpose:
- `.gitignore`, `.gitattributes`, `.gitmodules`, `.editorconfig`: they do not make anything run.
- Build files, package manifests, tests and `.github/`: they run when someone builds or pushes, after a review of the
  change, and contain source code in which people rename symbols.
- `AGENTS.md`, `CLAUDE.md`, rules: texts that agents write with their own tools anyway.
- `compile_flags.txt`: flags only; clangd loads no plugins. `.clangd` and a compilation database can name a compiler,
  which a clangd with `--query-driver` runs.
- `.config`: people edit too many files in it (a repository of dotfiles). Use another root than a home folder.
"""

from __future__ import annotations

from collections.abc import Mapping

PROTECTED: Mapping[str, tuple[str, ...]] = {  # what it is → names of files and folders; `*` as in a shell
    "version control data": (
        *(".git", ".hg", ".svn", ".jj", ".bzr", ".sl", "_darcs", ".pijul", ".repo", "_fossil_", ".fslckout"),
        *(".gitconfig", ".hgrc"),
    ),
    "a hook of version control": (
        *(".husky", ".githooks", ".git-hooks", ".hooks", ".overcommit.yml", ".pre-commit-config.y*ml"),
        *("lefthook*.y*ml", ".lefthook*", "lefthook*.toml", "lefthook*.json", "prek.toml"),
    ),
    "an editor's configuration": (
        *(".nvim.lua", ".nvimrc", ".exrc", "_exrc", ".vimrc", "_vimrc", ".gvimrc", "_gvimrc", ".vim", ".nvim"),
        *(".lvimrc", ".vimrc.local", ".local.vimrc", ".lazy.lua", ".neoconf.json", ".nlsp-settings", ".nvim-dap*"),
        *(".dir-locals.el", ".dir-locals-2.el", ".emacs", ".emacs.d", ".helix", ".kakrc", ".zed", ".fleet", ".idea"),
        *(".vscode", ".vs", "*.code-workspace", ".sublime-project", "*.sublime-project", ".theia"),
        *(".devcontainer", ".devcontainer.json", ".gitpod.yml", ".idx", ".replit", ".vimspector.json"),
        *(".ycm_extra_conf.py",),
        *(".clangd", ".ccls", "compile_commands.json", ".luarc.json", ".luarc.jsonc", ".cargo"),
    ),
    "an agent's configuration": (
        *(".mcp.json", "mcp.json", ".claude", ".claude.json", ".cursor", ".windsurf", ".codeium", ".copilot"),
        *("opencode.json", "opencode.jsonc", ".opencode", ".gemini", ".codex", ".aider*", ".continue", ".cline"),
        *(".roo", ".kilocode", ".augment", ".amazonq", ".kiro", ".junie", ".goose", "crush.json", ".crush*"),
        *(".qwen", ".factory", ".agent", ".agents", ".amp", ".trae", ".openhands"),
    ),
    "configuration of a shell or session": (
        *(".envrc", ".env", ".direnv", ".direnvrc", "direnvrc", ".autoenv*"),
        *(".mise*", "mise.toml", "mise.*.toml", ".tool-versions", ".venv", ".virtualenv"),
        *(".profile", ".bashrc", ".bash_*", ".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".kshrc"),
        *(".cshrc", ".tcshrc", ".login", ".xinitrc", ".xprofile", ".xsession*", ".ssh"),
    ),
    "lsp-mcp's own": (".lsp-mcp",),
}

# Folders of dependencies' sources under every language server; an adapter names more (`dependency_folder_names`).
DEPENDENCY_FOLDERS = ("node_modules", "site-packages", "dist-packages")
