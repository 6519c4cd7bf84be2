"""Shell completion of values from a list of names: `of_names`."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import click
from click.shell_completion import CompletionItem

Complete = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def of_names(names: Callable[[], Iterable[str]]) -> Complete:
    """Completes with the `names` that are not on the line yet."""

    def complete(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
        given = context.params.get(parameter.name or "") or ()
        return [CompletionItem(name) for name in names() if name.startswith(incomplete) and name not in given]

    return complete
