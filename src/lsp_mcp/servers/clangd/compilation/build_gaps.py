"""Gaps and news about a compilation database: `database_gaps`, `database_news`, `missing_files`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from lsp_mcp.adapters import Adapter
from lsp_mcp.gaps import Gap
from lsp_mcp.prose import first_few
from lsp_mcp.servers.clangd.compilation.chosen_database import ChosenDatabase
from lsp_mcp.servers.clangd.compilation.database import Database
from lsp_mcp.servers.clangd.rules import Compilation

_MERGED = 3  # databases that a command names

DisplayPath = Callable[[Path], str]


def database_gaps(
    adapter: Adapter, rules: Compilation, database: ChosenDatabase, display_path: DisplayPath
) -> list[Gap]:
    """The gaps caused by the lack of a usable database."""
    if database.now is None:
        text = f"no {rules.database}: covers only files that {adapter.name} opened, with guessed flags"
        return [Gap("not_loaded", text, brief=f"no {rules.database}")]
    if not database.now.problem:
        return []
    before = "uses the previous one" if database.used else "knows only files that were opened"
    text = f"{display_path(database.now.file)} {database.now.problem}; {adapter.name} {before}; make it again"
    return [Gap("not_loaded", text, (database.now.file,))]


def database_news(
    adapter: Adapter,
    rules: Compilation,
    root: Path,
    database: ChosenDatabase,
    below: Sequence[Path],
    display_path: DisplayPath,
) -> list[str]:
    """Which database the server uses, if that may be unexpected, or how to get one; `below`: all in the workspace."""
    used, texts = database.used, []
    if used and used.file != database.given and used.file.parent != root:
        others = first_few([display_path(file) for file in below if file != used.file])
        texts.append(f"{adapter.name} uses {display_path(used.file)}{f', not {others}' if others else ''}")
    if database.now is None and below:
        names = [display_path(file) for file in below]
        merged = f"jq -s add {' '.join(names[:_MERGED])}{' …' * (len(names) > _MERGED)} > {rules.database}"
        texts.append(
            f"{rules.database} is only deeper in {root}: {first_few(names)}; merge them ({merged}), name one with "
            "--compile-commands, or start lsp-mcp in the folder of one project"
        )
    elif database.now is None:
        texts.append(
            f"{rules.database} is not in {root}, its usual build folders or above; make one "
            f"({rules.how_to_get}) or name it with --compile-commands"
        )
    return texts


def missing_files(
    database: Database, there: Sequence[Path], rules: Compilation, display_path: DisplayPath
) -> list[str]:
    """The problems of a database of which only the files `there` exist."""
    shown = display_path(database.file)
    if not database.commands:
        return [f"{shown} is empty; make it again"]
    named = len(database.commands)
    if 2 * len(there) >= named:
        return []  # a missing file hides nothing
    example = min(set(database.commands).difference(there))
    how_many = "none of them exists" if not there else f"only {len(there):,} of them exist"
    return [
        f"{shown} names {named:,} file{'s' * (named > 1)}, and {how_many} (not {example}): made on another machine? "
        f"Make it again ({rules.how_to_get})"
    ]
