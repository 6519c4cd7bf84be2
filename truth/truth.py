"""`make truth`: are the answers true? Questions about other projects' code, judged by an independent oracle."""

from __future__ import annotations

import json
import signal
import sys
import tempfile
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path

import click
from examination import NUMBERS, examine
from rich.console import Console
from sources import trees
from tables import figures, markdown, table
from verdicts import Record


@click.command(help=__doc__)
@click.option("--backend", default="gopls", show_default=True, help="The language server.")
@click.option("--seed", "seeds", multiple=True, default=[1], help="Of all that is chosen at random; repeatable.")
@click.option("--tree", "names", multiple=True, help="Only this tree of sources.toml; repeatable.")
@click.option("--part", "parts", multiple=True, type=click.Choice(list(NUMBERS)), help="Only this part; repeatable.")
@click.option("--scale", default=1.0, show_default=True, help="How many times the usual number of questions.")
@click.option("--quick", is_flag=True, help="The smallest tree and a few questions: about a minute.")
@click.option("--json", "as_json", is_flag=True, help="The figures and all failures as JSON on stdout.")
@click.option("--markdown", "as_markdown", is_flag=True, help="The table as Markdown.")
@click.option("--log", type=click.Path(path_type=Path), help="Append each question with its verdict to this file.")
@click.option("--keep", type=click.Path(path_type=Path), help="Work in this folder, and leave it.")
def main(
    backend: str, seeds: tuple[int, ...], names: tuple[str, ...], parts: tuple[str, ...], scale: float, quick: bool,
    as_json: bool, as_markdown: bool, log: Path | None, keep: Path | None,
) -> None:  # fmt: skip
    """Exit status 1: an answer was wrong without a flag, or nothing could be asked."""
    console = Console(stderr=True, highlight=False, markup=False, emoji=False, soft_wrap=True)
    record = Record(console.print, log)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the table is printed then, too
    try:
        with ExitStack() as stack:
            folder = keep or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="lsp-mcp-truth-")))
            for tree in trees(backend, names)[: 1 if quick and not names else None]:
                examine(
                    tree, record, seeds=seeds, parts=parts or list(NUMBERS), scale=scale, quick=quick,
                    folder=folder.absolute(), say=lambda text: console.print(text, style="dim"),
                )  # fmt: skip
        if not record.counts:
            raise click.ClickException("nothing was asked: no tree has what these parts ask about")
    except RuntimeError as error:
        raise click.ClickException(str(error)) from error
    finally:  # questions until then count, however the run ended
        if as_json:
            whole = {
                "seeds": seeds,
                "calls": record.calls,
                "again": record.again,
                "figures": figures(record),
                "failures": [asdict(f) for f in record.failures],
            }
            print(json.dumps(whole, indent=1))
        elif as_markdown:
            print(markdown(record))
        else:
            Console(soft_wrap=True).print(table(record, f"{backend}, seeds {', '.join(map(str, seeds))}"))
    sys.exit(record.wrong > 0)


if __name__ == "__main__":
    main()
