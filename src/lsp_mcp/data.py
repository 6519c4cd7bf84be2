"""The location of the shipped data (`adapters/`, the Neovim plugin): in the wheel, or at the top of a checkout."""

from pathlib import Path


def data_folder(name: str) -> Path:
    """The folder `name` of the shipped data, in an installed wheel or in a checkout.

    Raises:
        FileNotFoundError: the installation is damaged: the folder is missing.
    """
    package = Path(__file__).resolve().parent
    for folder in (package / "_data" / name, package.parent.parent / name):
        if folder.is_dir():
            return folder
    raise FileNotFoundError(f"lsp-mcp's own folder {name!r} is missing beside {package}; reinstall lsp-mcp")


def plugin_folder() -> Path:
    """The folder of the Neovim plugin, with `lua/`, `doc/` and `plugin/`: in the wheel, or the checkout itself.

    Raises:
        FileNotFoundError: the installation is damaged: the plugin is missing.
    """
    package = Path(__file__).resolve().parent
    for folder in (package / "_data" / "nvim", package.parent.parent):
        if (folder / "lua" / "mcp-tools").is_dir():
            return folder
    raise FileNotFoundError(f"the Neovim plugin is missing beside {package}; reinstall lsp-mcp")
