"""Shell completion for `lsp-mcp …`: tools, their arguments, language servers, clients, daemons."""

from __future__ import annotations

from collections.abc import Iterable

import click
from click.shell_completion import CompletionItem, get_completion_class

VARIABLE = "_LSP_MCP_COMPLETE"  # set while a shell asks; lsp_mcp.door lets that pass
_BASH_ITEM = "COMPREPLY+=($value)"
_FISH_ITEM = "echo $metadata[2]"
_FISH_WITH_FLAG = """set -l flag (string match --regex -- '^--[^=]+=' (commandline -ct))
            echo "$flag$metadata[2]\""""


def script(program: click.Command, shell: str) -> str:
    """The script that makes `shell` complete `program`.

    In bash, `KEY=` is not followed by a space, and files are completed where nothing else matches. In fish, a comma
    does not end a description, and values are offered after `--FLAG=`. (click 8.5 does none of them.)
    """
    found = get_completion_class(shell)
    assert found
    source = found(program, {}, "lsp-mcp", VARIABLE).source()
    if shell == "bash":
        source = source.replace(_BASH_ITEM, f"{_BASH_ITEM}\n            [[ $value == *= ]] && compopt -o nospace")
        source = source.replace("complete -o nosort", "complete -o nosort -o default")
    if shell == "fish":
        source = source.replace('string split ","', 'string split --max 1 ","')
        # fish compares an offer with the whole word, which has the flag as well.
        source = source.replace(_FISH_ITEM, _FISH_WITH_FLAG)
    return source


def tool_names(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Tools by name, with their titles, and `list`."""
    from lsp_mcp.cli.call import known_tools

    found = [CompletionItem(tool.name, help=tool.title) for tool in known_tools().values()]
    return [one for one in [*found, CompletionItem("list")] if str(one.value).startswith(incomplete)]


def tool_arguments(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """`KEY=` for the tool's arguments that are not given yet; after `KEY=`, the values of an enumeration.

    Otherwise bash completes files. Bash splits `KEY=VALUE` into three words.
    """
    from lsp_mcp.cli.call import known_tools

    tool = known_tools().get(context.params.get("tool") or "")
    if tool is None:
        return []
    words = list(context.params.get("arguments") or ())
    key, equals, value = incomplete.partition("=")
    prefix = f"{key}="
    if not key and equals and words:
        key, prefix = words[-1], "="
    elif words and words[-1] == "=":
        key, value, prefix, equals = words[-2] if len(words) > 1 else "", incomplete, "", "="
    properties = tool.whole_schema.get("properties", {})
    if equals:
        choices = [str(one) for one in properties.get(key, {}).get("enum", ())]
        return [CompletionItem(f"{prefix}{one}") for one in choices if one.startswith(value)]
    given = {word.partition("=")[0] for word in words}
    return [CompletionItem(f"{name}=") for name in properties if name.startswith(key) and name not in given]


def daemon_roots() -> Iterable[str]:
    """The workspace roots of the running daemons."""
    from lsp_mcp.cli.daemon import roots

    return roots()


def server_names() -> Iterable[str]:
    """Language servers and debuggers."""
    from lsp_mcp.adapters import adapter_names
    from lsp_mcp.dap.adapter import debugger_names

    return [*adapter_names(), *debugger_names()]


def installable_names() -> Iterable[str]:
    """Language servers and debuggers that lsp-mcp can install."""
    from lsp_mcp.cli.install import installables

    return [adapter.name for adapter in installables()]


def setup_clients() -> Iterable[str]:
    """The clients that `setup` knows, and `print`."""
    from lsp_mcp.clients import client_names

    return [*client_names(), "print"]
