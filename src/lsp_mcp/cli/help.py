"""Help that shows a command's own options before the server options."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from typing import Any

import click

from lsp_mcp.errors import CallerError, LspMcpError
from lsp_mcp.visible import shortened, visible_lines

_INTERRUPTED = 130  # as shells have it
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EIO)
PORT = click.IntRange(0, 65535)
json_flag = click.option("--json", "as_json", is_flag=True, help="JSON, for scripts.")


class ServerOption(click.Option):
    """A flag about which servers run and how: every command accepts it, and lists it if it matters there."""


class _Ordered(click.Command):
    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """See `click.Command`."""
        parameters = [one for one in self.get_params(ctx) if isinstance(one, click.Option)]
        for title, is_theirs in (("Options", False), ("Server options", True)):
            of_title = (one for one in parameters if isinstance(one, ServerOption) is is_theirs)
            if records := [record for one in of_title if (record := one.get_help_record(ctx))]:
                with formatter.section(title):
                    formatter.write_dl(records)


class OrderedCommand(_Ordered):
    """A command with such help."""


class OrderedGroup(_Ordered, click.Group):
    """A group with such help, whose commands have it too."""

    command_class = OrderedCommand
    group_class = type  # of its own class

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """See `click.Group`."""
        _Ordered.format_options(self, ctx, formatter)
        self.format_commands(ctx, formatter)


class Commands(OrderedGroup):
    """Shows this program's own errors as messages, not as tracebacks."""

    def invoke(self, ctx: click.Context) -> Any:
        """Exit status 2 for wrong arguments, 130 after an interrupt, 1 for any other failure."""
        if os.environ.get("NO_COLOR"):
            ctx.color = False  # click ignores it
        try:
            return super().invoke(ctx)
        except LspMcpError as error:
            click.echo(visible_lines(f"lsp-mcp: {error}"), err=True)
            ctx.exit(2 if isinstance(error, CallerError) else 1)
        except KeyboardInterrupt:
            ctx.exit(_INTERRUPTED)
        except OSError as error:
            if error.errno == errno.ENAMETOOLONG:
                click.echo(f"lsp-mcp: {shortened(str(error.filename))}: {error.strerror}", err=True)
                ctx.exit(2)
            if error.errno not in _FULL:
                raise
            with contextlib.suppress(OSError):
                click.echo(f"lsp-mcp: the output cannot be written: {error.strerror}", err=True)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what is left of it is not tried again
            ctx.exit(1)
        except click.NoSuchOption as error:
            ours = {name for parameter in self.params for name in parameter.opts}
            if error.ctx is None or error.ctx is ctx or error.option_name not in ours:
                raise
            raise click.UsageError(f"`{error.ctx.info_name}` does not take {error.option_name}.", error.ctx) from None


def working(what: str) -> contextlib.AbstractContextManager[object]:
    """Shows `what` on a terminal's stderr while the block runs; silent elsewhere."""
    if not sys.stderr.isatty():
        return contextlib.nullcontext()
    waiting: contextlib.AbstractContextManager[object] = console(stderr=True).status(f"{what} …")
    return waiting


def console(*, stderr: bool = False, **options: Any) -> Any:
    """A rich console that respects NO_COLOR as click does here: no escape sequences for bold or dim text either."""
    from rich.console import Console

    return Console(stderr=stderr, color_system=None if os.environ.get("NO_COLOR") else "auto", **options)
